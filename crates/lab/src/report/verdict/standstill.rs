//! Where a share of a processor is kept too coarsely to show what is expected.

use super::super::data::CaseData;
use super::judge::Court;
use crate::backend::netns::cgroup::standstill_ns;
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Activity;

/// A forwarder may stand still for so small a part of a round trip: then a slow processor and one that is
/// away are alike.
const SHORT: f64 = 0.1;

/// Why an expectation is not testable with the shares of its cases on real forwarders; nothing where it is.
pub(super) fn reason(
    court: &Court<'_>,
    here: &CaseData,
    expect: &Expect,
    measure: &Measure,
) -> Option<String> {
    if court.run.record.is_virtual() {
        return None;
    }
    let others = expect.others().into_iter().filter_map(|(_, text)| text.parse::<Measure>().ok());
    let measures: Vec<Measure> = others.chain([measure.clone()]).collect();
    measures.iter().filter_map(|measure| of_case(court.case(here, measure)?)).next()
}

/// The longest standstill of a case, when it is not short against a round trip.
fn of_case(case: &CaseData) -> Option<String> {
    let (still_ns, node) = longest(case)?;
    let round_trip_s = round_trip(case)?;
    let still_s = still_ns as f64 / 1e9;
    (still_s > SHORT * round_trip_s).then(|| {
        format!(
            "with its share `{node}` stands still for {:.1} ms at a time, which is not short against a round trip of {:.1} ms",
            still_s * 1e3,
            round_trip_s * 1e3
        )
    })
}

/// For how long the node stands still that does so longest, and which.
fn longest(case: &CaseData) -> Option<(u64, String)> {
    let plan = &case.plan;
    let own = plan
        .nodes
        .iter()
        .filter_map(|node| Some((standstill_ns(node.cpu?, node.cpu_period_ns), node.name.clone())));
    let loads = plan.workloads.iter().filter_map(|workload| {
        let Activity::Load { cpu, .. } = workload.does else { return None };
        let node = plan.nodes.get(workload.at)?;
        let left = node.cpu.unwrap_or(1.0) * (1.0 - cpu);
        (cpu > 0.0).then(|| (standstill_ns(left, node.cpu_period_ns), node.name.clone()))
    });
    own.chain(loads).filter(|(still_ns, _)| *still_ns > 0).max()
}

/// The shortest mean round trip of a workload, in seconds: as pings time it, or by Little's law what is
/// pending at the consumer divided by what it sends on in a second.
fn round_trip(case: &CaseData) -> Option<f64> {
    let mean = |key: String| Some(case.estimate(&key, "mean")?.mean);
    let trips = case.plan.workloads.iter().filter_map(|workload| match workload.does {
        Activity::Load { .. } | Activity::Consume(_) => None,
        Activity::Ping { .. } | Activity::Traffic { .. } => {
            Some(case.estimate(&format!("{}.rtt", workload.name), "median")?.mean / 1e3)
        }
        Activity::Flood { until: 0, .. } => None,
        _ => {
            let node = case.plan.node_name(workload.at);
            let (pending, sent) = (mean(format!("{node}.pending"))?, mean(format!("{node}.propagated"))?);
            (sent > 0.0).then(|| pending / sent)
        }
    });
    trips.fold(None, |least: Option<f64>, trip| Some(least.map_or(trip, |least| least.min(trip))))
}
