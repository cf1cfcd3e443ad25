//! Where a share of a processor is kept too coarsely to show what is expected.

use super::super::data::CaseData;
use super::evaluation::Evaluation;
use crate::backend::machine::cgroup::standstill_ns;
use crate::backend::sim::least_part_of_a_core;
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::{Activity, NodeIndex, NodePlan, Plan};

/// A forwarder may stand still for so small a part of a round trip: then a slow processor and one that is
/// away are alike.
const SHORT: f64 = 0.1;

/// Why an expectation is not testable with the shares of its cases; nothing where it is.
pub(super) fn reason(
    evaluation: &Evaluation<'_>,
    here: &CaseData,
    expect: &Expect,
    measure: &Measure,
) -> Option<String> {
    let is_virtual = evaluation.run.record.is_virtual();
    let others = expect.others().into_iter().filter_map(|(_, text)| text.parse::<Measure>().ok());
    let measures: Vec<Measure> = others.chain([measure.clone()]).collect();
    measures.iter().filter_map(|measure| of_case(evaluation.case(here, measure)?, is_virtual)).next()
}

/// The longest standstill of a case, when it is not short against a round trip.
fn of_case(case: &CaseData, is_virtual: bool) -> Option<String> {
    let (still_ns, node) = longest(&case.plan, is_virtual)?;
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
fn longest(plan: &Plan, is_virtual: bool) -> Option<(u64, &str)> {
    let each = plan.nodes.indexed().filter_map(|(index, node)| {
        let cores = if is_virtual { least_simulated(plan, index, node) } else { least(plan, index, node) };
        Some((standstill_ns(cores?, node.cpu_period_ns), node.name.as_str()))
    });
    each.filter(|(still_ns, _)| *still_ns > 0).max()
}

/// The least that a real forwarder has of a core: its share, or what a load leaves of it.
fn least(plan: &Plan, index: NodeIndex, node: &NodePlan) -> Option<f64> {
    let loads = plan.workloads.iter().filter(|workload| workload.at == index).filter_map(|workload| {
        let Activity::Load { cpu, .. } = workload.does else { return None };
        (cpu > 0.0).then(|| node.cpu.unwrap_or(1.0) * (1.0 - cpu))
    });
    plan.shares(index).chain(loads).reduce(f64::min)
}

/// The same in virtual time, where a share is a quota with a profile alone, and else slower work.
fn least_simulated(plan: &Plan, index: NodeIndex, node: &NodePlan) -> Option<f64> {
    node.costs.as_ref().map(|_| least_part_of_a_core(plan, index))
}

/// The shortest round trip of a workload in seconds, without what waits on the way: a standstill makes queues
/// long, and a round trip that is long because of it must not make it look short. It is the shortest that
/// pings have timed, and for downloads what links on their path take for one Interest and one Data. What a
/// flood asks for never comes back: what counts there is the time after which it is asked for again.
fn round_trip(case: &CaseData) -> Option<f64> {
    let plan = &case.plan;
    let trips = plan.workloads.iter().filter_map(|workload| match workload.does {
        Activity::Load { .. }
        | Activity::Register(_)
        | Activity::Consume(_)
        | Activity::Program(_)
        | Activity::Flood { until: 0, .. } => None,
        Activity::Ping { .. } => Some(case.estimate(&format!("{}.rtt", workload.name), "min")?.mean / 1e3),
        Activity::Flood { refresh_ns, lifetime_ns, .. } => {
            Some(refresh_ns.unwrap_or(lifetime_ns) as f64 / 1e9)
        }
        Activity::Download { content, .. } | Activity::Traffic { content, .. } => {
            let content = plan.contents.get(content)?;
            empty_path_s(plan, workload.at, &content.prefix, content.segment_bytes)
        }
    });
    trips.reduce(f64::min)
}

/// What the links from a node along its routes take for an Interest and a Data packet when nothing else is on
/// them, in seconds.
fn empty_path_s(plan: &Plan, from: NodeIndex, prefix: &str, segment_bytes: u32) -> Option<f64> {
    let (mut at, mut took_s) = (from, 0.0);
    for _ in 0..plan.nodes.len() {
        let here = plan.routing.hops.iter().filter(|hop| hop.node == at && covers(&hop.prefix, prefix));
        let Some(hop) = here.max_by_key(|hop| (hop.prefix.len(), std::cmp::Reverse(hop.cost))) else { break };
        let link = plan.links.get(hop.link)?;
        let bits = f64::from(segment_bytes) * 8.0;
        took_s += 2.0 * link.delay_ns as f64 / 1e9 + link.rate_bps.map_or(0.0, |rate| bits / rate as f64);
        at = hop.behind.unwrap_or_else(|| link.other(at));
    }
    (at != from).then_some(took_s)
}

/// Is a route for names below a prefix?
fn covers(route: &str, prefix: &str) -> bool {
    let route = route.trim_end_matches('/');
    prefix.strip_prefix(route).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::plan::{LinkIndex, NodeCosts};
    use crate::experiment::profile::{LinkCost, Profile};

    #[test]
    fn a_simulated_node_stands_still_for_its_share_with_a_profile_alone() {
        let row = testkit::experiment::ROW.replacen("\nb = {}", "\nb = { cpu = '25 %' }", 1);
        let text = format!("title = 't'\nduration = '9 s'\n{row}");
        let experiment = Experiment::parse("t", "t.toml", &text).unwrap();
        let mut plan = experiment.plans("sim").unwrap().remove(0);
        assert_eq!(longest(&plan, false), Some((3_000_000, "b")));
        assert_eq!(longest(&plan, true), None);
        let costs = [(LinkIndex(0), LinkCost::default())];
        let node = &mut plan.nodes[NodeIndex(1)];
        node.costs = NodeCosts::of(&costs, &Profile::default(), 0);
        assert_eq!(longest(&plan, true), Some((3_000_000, "b")));
        plan.nodes[NodeIndex(1)].capacity = vec![(0, 1.0), (1_000_000_000, 0.5)];
        assert_eq!(longest(&plan, true), Some((7_000_000, "b")), "half of it from a second on");
    }

    #[test]
    fn a_path_takes_what_its_links_do_and_nothing_of_what_waits_on_them() {
        let head = "title = 't'\nduration = '9 s'\n[defaults.link]\nrate = '32.768 Mbit/s'\ndelay = '5 ms'\n";
        let text = format!("{head}{}", testkit::experiment::ROW);
        let plan = Experiment::parse("t", "t.toml", &text).unwrap().plans("netns").unwrap().remove(0);
        // 4,096 bytes take 1 ms on each of two links, which are 5 ms long each way.
        let took_s = empty_path_s(&plan, NodeIndex(0), "/small/file", 4096).unwrap();
        assert!((took_s - 0.022).abs() < 1e-9, "{took_s}");
        assert_eq!(empty_path_s(&plan, NodeIndex(0), "/smaller", 4096), None, "there is no route for it");
    }
}
