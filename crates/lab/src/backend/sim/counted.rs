//! What the simulator counted: of the network as a whole, and of each consumer.

use packet::time::Instant;
use sim::{
    Consumer, FileFetcher, Flooder, FlooderReport, LinkDropReason, TransferConsumer, VerifiedFetcher,
    WorkloadConsumer,
};

use super::consumers::PlacedConsumer;
use super::network::Built;
use crate::analysis::{ConsumerCounts, NetworkCounts};
use crate::experiment::plan::{Activity, ConsumerKind, ConsumerPlan, Plan};

/// Everything that was counted by now.
pub(super) fn count(plan: &Plan, built: &Built, consumers: &[PlacedConsumer]) -> NetworkCounts {
    let network = &built.network;
    let mut counts = NetworkCounts {
        trace_hash: format!("{:016x}", network.trace().hash()),
        seconds: network.now().as_nanos() as f64 / 1e9,
        hops: network.hops(),
        consumers: consumers.iter().filter_map(|placed| consumer(plan, built, *placed)).collect(),
        ..NetworkCounts::default()
    };
    for engine in network.nodes().filter_map(|node| network.engine(node)) {
        counts.cache_hits += engine.counters().cache_hits;
        counts.cache_misses += engine.content_store_counters().misses;
        counts.engine_drops += engine.counters().drops.total();
        counts.nacks_sent += engine.counters().nacks_sent;
    }
    for of_end in network.links().filter_map(|link| network.link_counters(link).ok()).flatten() {
        counts.link_drops += LinkDropReason::ALL.iter().map(|&reason| of_end.dropped(reason)).sum::<u64>();
    }
    counts
}

/// What a consumer did whose workload says what it asks for.
fn of_workload(
    application: &WorkloadConsumer,
    kind: &ConsumerKind,
    counts: ConsumerCounts,
) -> ConsumerCounts {
    let report = application.report();
    ConsumerCounts {
        kind: "workload".to_owned(),
        asked: report.asked,
        received: report.received,
        bytes: report.packet_bytes,
        mean_delay_ms: report.mean_delay().as_secs_f64() * 1000.0,
        nacks: report.nacks,
        failed: report.failed,
        // One that never ends keeps nobody waiting for its end.
        is_complete: has_limit(kind).then(|| application.is_done()),
        ended_s: application.is_done().then(|| seconds(report.last_answer)),
        ..counts
    }
}

/// Whether a workload is over after so many items.
fn has_limit(kind: &ConsumerKind) -> bool {
    matches!(kind, ConsumerKind::Workload { spec, .. }
        if spec.split('/').any(|parameter| parameter.starts_with("limit~")))
}

/// Whether all that was ordered was answered or given up; nothing where there is no end to it.
fn is_all_answered(said: &ConsumerPlan, application: &Consumer) -> Option<bool> {
    match (&said.kind, said.items) {
        // What it asks for is stated by number, too.
        (ConsumerKind::Batches(batches), None) => {
            let ordered = batches.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
            Some(application.report().asked >= ordered && application.outstanding() == 0)
        }
        (_, items) => items.map(|_| application.is_done()),
    }
}

fn consumer(plan: &Plan, built: &Built, placed: PlacedConsumer) -> Option<ConsumerCounts> {
    let network = &built.network;
    let workload = plan.workloads.get(placed.workload)?;
    let Activity::Consume(said) = &workload.does else { return None };
    let counts = ConsumerCounts {
        workload: workload.name.clone(),
        node: plan.node_name(placed.node).to_owned(),
        ..ConsumerCounts::default()
    };
    let id = placed.application;
    if let Some(application) = network.application::<Consumer>(id) {
        let report = application.report();
        return Some(ConsumerCounts {
            kind: "consumer".to_owned(),
            asked: report.received + report.failed + application.outstanding() as u64,
            received: report.received,
            bytes: report.packet_bytes,
            mean_delay_ms: report.mean_delay().as_secs_f64() * 1000.0,
            repeated: report.timeouts,
            nacks: report.nacks,
            failed: report.failed,
            is_complete: is_all_answered(said, application),
            ended_s: (said.items.is_some() && application.is_done()).then(|| seconds(report.last_answer)),
            ..counts
        });
    }
    if let Some(application) = network.application::<WorkloadConsumer>(id) {
        return Some(of_workload(application, &said.kind, counts));
    }
    if let Some(application) = network.application::<TransferConsumer>(id) {
        let is_complete = said.items.map(|_| application.completed_at().is_some());
        let counts = ConsumerCounts { ended_s: application.completed_at().map(seconds), ..counts };
        let bytes = application.packet_bytes();
        return Some(of_transfer(application.transfer()?, "transfer", bytes, is_complete, counts));
    }
    if let Some(application) = network.application::<FileFetcher>(id) {
        let is_complete = Some(application.completed_at().is_some());
        let counts = ConsumerCounts { ended_s: application.completed_at().map(seconds), ..counts };
        let Some(fetcher) = application.fetcher() else {
            return Some(ConsumerCounts { kind: "file".to_owned(), is_complete, ..counts });
        };
        let bytes = fetcher.progress().content_bytes;
        return Some(of_transfer(fetcher.transfer(), "file", bytes, is_complete, counts));
    }
    if let Some(application) = network.application::<VerifiedFetcher>(id) {
        let is_complete = Some(application.completed_at().is_some());
        let refused = application.refused();
        let ended_s = application.completed_at().map(seconds);
        let counts = ConsumerCounts { ended_s, refused, ..counts };
        let Some(fetch) = application.fetch() else {
            return Some(ConsumerCounts { kind: "file".to_owned(), is_complete, ..counts });
        };
        let bytes = application.content_bytes();
        return Some(of_transfer(fetch.fetcher().transfer(), "file", bytes, is_complete, counts));
    }
    let FlooderReport { sent, received, nacks } = network.application::<Flooder>(id)?.report();
    let kind = "flood".to_owned();
    Some(ConsumerCounts { kind, asked: sent, received, nacks, ..counts })
}

fn seconds(at: Instant) -> f64 {
    at.as_nanos() as f64 / 1e9
}

fn of_transfer(
    transfer: &flow::Transfer,
    kind: &str,
    bytes: u64,
    is_complete: Option<bool>,
    counts: ConsumerCounts,
) -> ConsumerCounts {
    let counted = *transfer.counters();
    ConsumerCounts {
        kind: kind.to_owned(),
        asked: counted.data + counted.failures,
        received: counted.data,
        bytes,
        mean_delay_ms: transfer.round_trip().smoothed().unwrap_or_default().as_secs_f64() * 1000.0,
        repeated: counted.repeated,
        nacks: counted.nacks_congestion + counted.nacks_no_route,
        failed: counted.failures,
        is_complete,
        ..counts
    }
}
