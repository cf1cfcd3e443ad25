//! How long the shortest path takes, by the delays of its links alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::experiment::plan::{Change, LinkIndex, NodeIndex, Plan};

/// The least delay that a link has at any time.
fn least_ns(plan: &Plan, place: LinkIndex, delay_ns: u64) -> u64 {
    let later = plan.events.iter().filter_map(|event| match event.change {
        Change::LinkChange { link, delay_ns, .. } if link == place => delay_ns,
        _ => None,
    });
    later.fold(delay_ns, u64::min)
}

/// The delay of the shortest way between two nodes, one way; nothing where there is none.
pub(super) fn delay_ns(plan: &Plan, from: NodeIndex, to: NodeIndex) -> Option<u64> {
    let mut neighbours: Vec<Vec<(NodeIndex, u64)>> = vec![Vec::new(); plan.nodes.len()];
    for (place, link) in plan.links.indexed() {
        let delay_ns = least_ns(plan, place, link.delay_ns);
        for [a, b] in link.pairs() {
            for (one, other) in [(a, b), (b, a)] {
                neighbours.get_mut(one.0)?.push((other, delay_ns));
            }
        }
    }
    let mut known = vec![false; plan.nodes.len()];
    let mut open = BinaryHeap::from([Reverse((0u64, from))]);
    while let Some(Reverse((ns, node))) = open.pop() {
        if node == to {
            return Some(ns);
        }
        let is_known = known.get_mut(node.0)?;
        if std::mem::replace(is_known, true) {
            continue;
        }
        let next = neighbours.get(node.0).into_iter().flatten();
        open.extend(next.map(|(other, delay_ns)| Reverse((ns.saturating_add(*delay_ns), *other))));
    }
    None
}
