//! What was counted of measures that are parts of a whole, or in proportion to one: how well few repeats know
//! them depends on how many were counted.

use std::collections::BTreeMap;

use super::data::{NodeData, RepeatData};
use super::network::{ConsumerCounts, NetworkCounts};
use super::prefixes::PrefixCounts;
use super::round_trips::{decided_until, never_begun};
use super::served;
use super::window::Window;
use super::workloads::{Transfer, TransferTable};
use crate::experiment::plan::Plan;
use crate::stats::Counted;

/// What is a part of a whole, or in proportion to one, of workloads, contents, prefixes and the network.
const QUANTITIES: &[&str] = &[
    "finished",
    "unfinished",
    "loss",
    "retransmissions",
    "nacks",
    "satisfied",
    "refused",
    "timed_out",
    "hits",
    "object_hits",
    "cache_hits",
];

/// Is a measure one whose counts are noted? Those of nodes are series.
pub(crate) fn is_counted(plan: &Plan, subject: &str, quantity: &str) -> bool {
    plan.node(subject).is_none() && QUANTITIES.contains(&quantity)
}

type Parts = BTreeMap<String, Counted>;

/// The counts of each such measure, by its name without a summary.
pub(super) fn of(plan: &Plan, data: &RepeatData, window: Window) -> Parts {
    let mut parts = Parts::new();
    for (name, table) in &data.transfers {
        of_transfers(name, &table.within(window), &mut parts);
    }
    for (name, table) in &data.pings {
        let table = table.within(window);
        let (sent, answered) = (table.sent() as u64, table.round_trips().len() as u64);
        put(&mut parts, name, "finished", answered, sent);
        let missing = never_begun(plan, data, name, window);
        put(&mut parts, name, "unfinished", sent.saturating_sub(answered) + missing, sent + missing);
        let Counted { part, whole } = table.lost(decided_until(plan, data, name));
        put(&mut parts, name, "loss", part + missing, whole + missing);
    }
    data.prefixes.iter().for_each(|counts| of_prefix(counts, &mut parts));
    served::objects(plan, data, window).into_iter().for_each(|(name, Counted { part, whole })| {
        put(&mut parts, &name, "object_hits", part, whole);
    });
    if let Some(Counted { part, whole }) = lookups(data) {
        put(&mut parts, "network", "cache_hits", part, whole);
    }
    // Virtual time knows it better.
    data.network.iter().for_each(|network| of_network(network, &mut parts));
    parts
}

/// Of nothing there is no part.
fn put(parts: &mut Parts, subject: &str, quantity: &str, part: u64, whole: u64) {
    if whole > 0 && part <= whole {
        parts.insert(format!("{subject}.{quantity}"), Counted { part, whole });
    }
}

fn of_transfers(name: &str, table: &TransferTable, parts: &mut Parts) {
    let (all, complete) = (table.transfers.len() as u64, table.complete() as u64);
    put(parts, name, "finished", complete, all);
    put(parts, name, "unfinished", all - complete, all);
    put(parts, name, "loss", all - complete, all);
    let sum = |count: fn(&Transfer) -> u64| table.transfers.iter().map(count).sum::<u64>();
    let sent = sum(|transfer| transfer.sent);
    put(parts, name, "retransmissions", sum(|transfer| transfer.repeated), sent);
    put(parts, name, "nacks", sum(|transfer| transfer.nacks), sent);
}

fn of_prefix(counts: &PrefixCounts, parts: &mut Parts) {
    let PrefixCounts { prefix, asked, satisfied, refused, timed_out, hits } = counts;
    for (quantity, part) in [("satisfied", satisfied), ("refused", refused), ("timed_out", timed_out)] {
        put(parts, prefix, quantity, *part, *asked);
    }
    hits.iter().for_each(|hits| put(parts, prefix, "hits", *hits, *satisfied));
}

fn of_network(network: &NetworkCounts, parts: &mut Parts) {
    for (name, counts) in network.by_consumer() {
        let sum = |count: fn(&ConsumerCounts) -> u64| counts.iter().map(|one| count(one)).sum();
        let (asked, received, failed): (u64, u64, u64) =
            (sum(|one| one.asked), sum(|one| one.received), sum(|one| one.failed));
        put(parts, name, "finished", received, asked);
        put(parts, name, "unfinished", asked.saturating_sub(received), asked);
        put(parts, name, "loss", failed, asked);
        // Each of these is of an Interest that was sent, and those that were sent again were sent, too.
        let repeated: u64 = sum(|one| one.repeated);
        put(parts, name, "retransmissions", repeated, asked + repeated);
        put(parts, name, "nacks", sum(|one| one.nacks), asked + repeated);
    }
    put(parts, "network", "cache_hits", network.cache_hits, network.cache_hits + network.cache_misses);
}

/// Lookups in all content stores that found something, where every node tells.
fn lookups(data: &RepeatData) -> Option<Counted> {
    let sum = |column: &str| -> Option<u64> {
        let last = |node: &NodeData| node.store.column(column).last().map(|count| *count as u64);
        data.nodes.iter().map(last).sum()
    };
    let (hits, misses) = (sum("hits")?, sum("misses")?);
    Some(Counted { part: hits, whole: hits + misses })
}
