//! What came of a run, in numbers; and of several runs, with how sure that is.

use lab::stats::{Estimate, fairness};
use packet::time::Duration;
use sim::{Consumer, FileFetcher, LinkDropReason, Network, TransferConsumer};

use super::build::Built;

/// The outcome of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) seed: u64,
    /// Over every packet: two runs with the same number did the same.
    pub(super) hash: u64,
    pub(super) metrics: Vec<(&'static str, f64)>,
    pub(super) consumers: Vec<Row>,
}

/// What one consumer did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) node: String,
    pub(super) what: &'static str,
    pub(super) received: u64,
    pub(super) megabits_per_second: f64,
    pub(super) mean_delay_ms: f64,
    pub(super) repeated: u64,
    pub(super) nacks: u64,
    pub(super) failed: u64,
}

/// Adds up what a network did in `duration`.
pub(super) fn outcome(built: &Built, seed: u64, duration: Duration) -> Outcome {
    let network = &built.network;
    let seconds = duration.as_secs_f64().max(1e-9);
    let rows: Vec<Row> = built
        .consumers
        .iter()
        .filter_map(|(id, node)| row(network, *id, seconds).map(|row| Row { node: node.clone(), ..row }))
        .collect();
    let sum = |value: fn(&Row) -> f64| rows.iter().map(value).sum::<f64>();
    let received = sum(|row| row.received as f64);
    let (mut hits, mut misses, mut engine_drops, mut nacks_sent) = (0, 0, 0, 0);
    for engine in network.nodes().filter_map(|node| network.engine(node)) {
        hits += engine.counters().cache_hits;
        misses += engine.content_store_counters().misses;
        engine_drops += engine.counters().drops.total();
        nacks_sent += engine.counters().nacks_sent;
    }
    let mut link_drops = 0;
    for counters in network.links().filter_map(|link| network.link_counters(link).ok()).flatten() {
        link_drops += LinkDropReason::ALL.iter().map(|&reason| counters.dropped(reason)).sum::<u64>();
    }
    let delays = rows.iter().map(|row| row.mean_delay_ms * row.received as f64).sum::<f64>();
    let share =
        |part: u64, rest: u64| if part + rest == 0 { 0.0 } else { part as f64 / (part + rest) as f64 };
    let metrics = vec![
        ("received", received),
        ("Mbit/s", sum(|row| row.megabits_per_second)),
        ("delay_ms", if received == 0.0 { 0.0 } else { delays / received }),
        ("repeated", sum(|row| row.repeated as f64)),
        ("nacks", sum(|row| row.nacks as f64)),
        ("failed", sum(|row| row.failed as f64)),
        ("cache_hits", share(hits, misses)),
        ("link_drops", link_drops as f64),
        ("engine_drops", engine_drops as f64),
        ("nacks_sent", nacks_sent as f64),
        ("fairness", fairness(&rows.iter().map(|row| row.megabits_per_second).collect::<Vec<_>>())),
        ("hops", network.hops() as f64),
    ];
    Outcome { seed, hash: network.trace().hash(), metrics, consumers: rows }
}

fn row(network: &Network, id: sim::AppId, seconds: f64) -> Option<Row> {
    let megabits = |bytes: u64| bytes as f64 * 8.0 / 1e6 / seconds;
    let node = String::new();
    if let Some(report) = network.application::<Consumer>(id).map(Consumer::report) {
        return Some(Row {
            node,
            what: "consumer",
            received: report.received,
            megabits_per_second: megabits(report.packet_bytes),
            mean_delay_ms: report.mean_delay().as_secs_f64() * 1000.0,
            repeated: report.timeouts,
            nacks: report.nacks,
            failed: report.failed,
        });
    }
    let of_transfer = |transfer: &flow::Transfer, what, bytes| {
        let counters = *transfer.counters();
        Row {
            node: String::new(),
            what,
            received: counters.data,
            megabits_per_second: megabits(bytes),
            mean_delay_ms: transfer.round_trip().smoothed().unwrap_or_default().as_secs_f64() * 1000.0,
            repeated: counters.repeated,
            nacks: counters.nacks_congestion + counters.nacks_no_route,
            failed: counters.failures,
        }
    };
    if let Some(consumer) = network.application::<TransferConsumer>(id) {
        return Some(of_transfer(consumer.transfer()?, "transfer", consumer.packet_bytes()));
    }
    if let Some(fetch) = network.application::<FileFetcher>(id) {
        let fetcher = fetch.fetcher()?;
        return Some(of_transfer(fetcher.transfer(), "file", fetcher.progress().content_bytes));
    }
    None
}

/// A mean, and the half width of its 95 % confidence interval (Student's t; zero where there is one value
/// only).
pub(super) fn mean(values: &[f64]) -> (f64, f64) {
    Estimate::of(values).map_or((0.0, 0.0), |estimate| (estimate.mean, estimate.half95.unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_an_interval_that_shrinks_with_the_values() {
        assert_eq!(mean(&[]), (0.0, 0.0));
        assert_eq!(mean(&[3.0]), (3.0, 0.0));
        let (middle, half) = mean(&[1.0, 2.0, 3.0]);
        // Deviation 1, three values: 4.303 / sqrt(3).
        assert!((middle - 2.0).abs() < 1e-12 && (half - 4.303 / 3f64.sqrt()).abs() < 1e-9);
    }
}
