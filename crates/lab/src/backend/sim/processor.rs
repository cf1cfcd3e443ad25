//! A node's processor: what its work takes, what of a core it has and when, and how late its timers are.

use packet::time::{Duration, Instant};
use sim::{CpuQuota, CpuShare, FaceTimes, KindTimes, KindWaking, LinkId, ProcessorConfig, Waking};

use crate::backend::machine::cgroup::{period_ns, quota_ns};
use crate::experiment::plan::{
    Activity, Arena, LinkIndex, LinkPlan, NodeIndex, NodePlan, Plan, UseCosts, WakingCurve,
};

/// The processor of a node: its service time, its share, and what competing loads leave of it and when. One
/// whose work takes no time needs none.
pub(super) fn processor(
    plan: &Plan,
    index: NodeIndex,
    node: &NodePlan,
    links: &Arena<LinkIndex, LinkId>,
) -> Option<ProcessorConfig> {
    if node.costs.is_none() && node.service_time_ns == 0 && node.data_service_time_ns == 0 {
        return None;
    }
    let cores = cores(plan, index, node);
    let times_stated = ProcessorConfig {
        max_waiting: node.service_queue,
        data_time: Duration::from_nanos(node.data_service_time_ns),
        ..ProcessorConfig::uniform(Duration::from_nanos(node.service_time_ns))
    };
    let Some(costs) = &node.costs else {
        let thousandths = |cores: f64| ((cores * 1000.0).round() as u32).max(1);
        let list = cores.iter().map(|&(at, cores)| (at, thousandths(cores))).collect();
        return Some(ProcessorConfig { share: CpuShare::Slowed(list), ..times_stated });
    };
    let of_links = costs.links.iter().filter_map(|(link, costs)| Some((*links.get(*link)?, times(costs))));
    let quotas = cores.iter().map(|&(at, cores)| (at, quota(cores, node, costs.idle_percent))).collect();
    Some(ProcessorConfig {
        links: of_links.collect(),
        applications: Some(times(&costs.applications)),
        answer_time: Duration::from_nanos(costs.answer_ns),
        answer_asleep: waking(&costs.answer_asleep),
        share: CpuShare::Quotas(quotas),
        ..times_stated
    })
}

/// How long a load takes until it is busy anew.
fn turn_ns(busy_ns: u64, idle_ns: u64) -> u64 {
    (busy_ns + idle_ns).max(1_000_000)
}

/// The least that a node's processor can do at any moment, as a part of a core.
pub(crate) fn least_part_of_a_core(plan: &Plan, index: NodeIndex) -> f64 {
    let cores = plan.nodes.get(index).map(|node| cores(plan, index, node)).unwrap_or_default();
    cores.into_iter().map(|(_, part)| part).fold(1.0, f64::min)
}

/// What a node's processor can do at a moment, as a part of a core: its share, what of that it has then, and
/// what a competing load leaves of it.
pub(super) fn part_of_a_core(plan: &Plan, index: NodeIndex, at_ns: u64) -> f64 {
    let node = plan.nodes.get(index);
    let steps = node.map_or(&[][..], |node| &node.capacity);
    let capacity = steps.iter().rev().find(|(from_ns, _)| *from_ns <= at_ns).map_or(1.0, |(_, part)| *part);
    let share = plan.share_at(index, at_ns).unwrap_or(1.0).min(1.0) * capacity;
    let left = plan.workloads.iter().filter(|workload| workload.at == index).filter_map(|workload| {
        let Activity::Load { cpu, busy_ns, idle_ns } = workload.does else { return None };
        let since_ns = at_ns.checked_sub(workload.start_ns)?;
        (since_ns % turn_ns(busy_ns, idle_ns) < busy_ns).then_some(1.0 - cpu)
    });
    left.fold(share, |share, left| share * left)
}

/// What a node's forwarder takes without packets, as a profile says it.
pub(super) fn idle_percent(plan: &Plan, node: NodeIndex) -> f64 {
    plan.nodes.get(node).and_then(|node| node.costs.as_ref()).map_or(0.0, |costs| costs.idle_percent)
}

/// What of a core a node's forwarder has, and from when on.
fn cores(plan: &Plan, index: NodeIndex, node: &NodePlan) -> Vec<(Instant, f64)> {
    let mut changes_ns = vec![0];
    changes_ns.extend(node.capacity.iter().map(|(at_ns, _)| *at_ns));
    changes_ns.extend(plan.later_shares(index).map(|(at_ns, _)| at_ns));
    for workload in plan.workloads.iter().filter(|workload| workload.at == index) {
        let Activity::Load { busy_ns, idle_ns, .. } = workload.does else { continue };
        let mut at_ns = workload.start_ns;
        while at_ns < plan.schedule.duration_ns {
            changes_ns.extend([at_ns, at_ns + busy_ns]);
            at_ns += turn_ns(busy_ns, idle_ns);
        }
    }
    changes_ns.sort_unstable();
    changes_ns.dedup();
    changes_ns
        .into_iter()
        .map(|at_ns| (Instant::from_nanos(at_ns), part_of_a_core(plan, index, at_ns)))
        .collect()
}

/// However much a forwarder takes for itself, this part of what it has is left for packets.
const MIN_FOR_PACKETS: f64 = 0.1;

/// What of a core is left for packets where a forwarder has so much and takes some without any.
pub(super) fn left_for_packets(cores: f64, idle_percent: f64) -> f64 {
    (cores - idle_percent / 100.0).max(cores * MIN_FOR_PACKETS)
}

/// How the kernel keeps a share of a processor; nothing for a whole core. What the forwarder takes without
/// packets comes out of it, too.
fn quota(cores: f64, node: &NodePlan, idle_percent: f64) -> Option<CpuQuota> {
    if cores >= 1.0 {
        return None;
    }
    let [period_ns, quota_ns] = [period_ns, quota_ns].map(|of| of(cores, node.cpu_period_ns));
    let kept = quota_ns as f64 / period_ns as f64;
    let runtime_ns = period_ns as f64 * left_for_packets(kept, idle_percent);
    let [period, runtime] = [period_ns, runtime_ns as u64].map(Duration::from_nanos);
    Some(CpuQuota { period, runtime })
}

fn waking(curve: &[[u64; 2]]) -> Waking {
    Waking::new(
        curve.iter().map(|[slept, takes]| (Duration::from_nanos(*slept), Duration::from_nanos(*takes))),
    )
}

/// A Nack is an Interest that is on its way back.
fn times(costs: &UseCosts) -> FaceTimes {
    let kinds = |[interest, data]: [u64; 2]| {
        let [interest, data] = [interest, data].map(Duration::from_nanos);
        KindTimes { interest, data, nack: interest }
    };
    let asleep = |[interest, data]: &[WakingCurve; 2]| {
        let [interest, data] = [interest, data].map(|curve| waking(curve));
        KindWaking { nack: interest.clone(), interest, data }
    };
    FaceTimes {
        arriving: kinds(costs.arriving_ns),
        leaving: kinds(costs.leaving_ns),
        arriving_asleep: asleep(&costs.arriving_asleep),
        leaving_asleep: asleep(&costs.leaving_asleep),
        latency: Duration::from_nanos(costs.latency_ns),
    }
}

/// How long a link holds a frame with this delay: with a profile so much longer as timers are late.
pub(super) fn held(plan: &Plan, link: &LinkPlan, delay_ns: u64) -> Duration {
    let costs = link.ends().filter_map(|end| plan.nodes.get(end)?.costs.as_ref());
    let late_ns = costs.map(|costs| costs.timer_ns).max().filter(|_| delay_ns > 0);
    Duration::from_nanos(delay_ns.saturating_add(late_ns.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::plan::NodeCosts;
    use crate::experiment::profile::{LinkCost, Profile};

    const TEXT: &str = "title = 't'
duration = '10 s'
[node]
a = { cpu = '50 %' }
b = {}
[link]
a-b = {}
[content.c]
prefix = '/c'
at = 'b'
size = '1 kB'
[load.l]
at = 'a'
cpu = '90 %'
busy = '1 s'
idle = '2 s'
start = '1 s'
";

    fn plan(text: &str) -> Plan {
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        experiment.plans("sim").unwrap_or_default().pop().unwrap_or_else(|| panic!("one case"))
    }

    #[test]
    fn a_share_is_a_quota_as_the_kernel_gives_it_and_a_load_leaves_a_smaller_one() {
        let plan = plan(&TEXT.replace("10 s", "5 s"));
        let found: Vec<_> = cores(&plan, NodeIndex(0), &plan.nodes[NodeIndex(0)])
            .into_iter()
            .map(|(at, cores)| (at.as_nanos() / 1_000_000_000, (cores * 1000.0).round()))
            .collect();
        assert_eq!(found, [(0, 500.0), (1, 50.0), (2, 500.0), (4, 50.0), (5, 500.0)]);
        let millis = |cores, cpu_period_ns, idle_percent| {
            let node = NodePlan { cpu_period_ns, ..plan.nodes[NodeIndex(0)].clone() };
            let quota = quota(cores, &node, idle_percent)?;
            Some([quota.period, quota.runtime].map(Duration::as_millis))
        };
        assert_eq!([millis(0.5, None, 0.0), millis(0.05, None, 0.0)], [Some([2, 1]), Some([20, 1])]);
        assert_eq!(millis(0.25, Some(100_000_000), 0.0), Some([100, 25]));
        assert_eq!(millis(0.25, Some(100_000_000), 3.0), Some([100, 22]), "it takes 3 ms for itself");
        assert_eq!(millis(0.0625, Some(2_000_000), 0.0), Some([2, 1]), "no quota is shorter");
        let least = quota(0.005, &plan.nodes[NodeIndex(0)], 0.63).map(|quota| quota.runtime.as_nanos());
        assert_eq!(least, Some(100_000), "a tenth of a millisecond, whatever it takes for itself");
        assert_eq!(millis(1.0, None, 0.0), None, "a whole core");
    }

    #[test]
    fn a_competing_load_takes_from_a_share_while_it_is_busy() {
        let plan = plan(TEXT);
        let at = |seconds: f64| part_of_a_core(&plan, NodeIndex(0), (seconds * 1e9) as u64);
        assert_eq!((at(0.5), at(2.5), part_of_a_core(&plan, NodeIndex(1), 0)), (0.5, 0.5, 1.0));
        for busy in [1.0, 1.9, 4.5, 7.2] {
            assert!((at(busy) - 0.05).abs() < 1e-12, "{busy} s: {}", at(busy));
        }
    }

    #[test]
    fn a_node_has_the_part_of_its_share_that_its_capacity_leaves_it() {
        let steps =
            "cpu = '50 %', capacity = [{ at = '2 s', part = '20 %' }, { at = '3 s', part = '100 %' }]";
        let plan = plan(&TEXT.replace("cpu = '50 %'", steps));
        let at = |seconds: u64| part_of_a_core(&plan, NodeIndex(0), seconds * 1_000_000_000);
        assert_eq!([at(0), at(2), at(3)], [0.5, 0.1, 0.5]);
        let changes = cores(&plan, NodeIndex(0), &plan.nodes[NodeIndex(0)]);
        let at_2_s = changes.iter().find(|(at, _)| *at == Instant::from_millis(2000));
        assert_eq!(at_2_s.map(|(_, part)| *part), Some(0.1), "the end of a load gives it no more");
    }

    #[test]
    fn a_share_that_an_event_changes_is_another_from_then_on() {
        let event = "[[event]]\nat = '3 s'\naction = 'cpu-change'\nnode = 'b'\ncpu = '10 %'\n\
                     [[event]]\nat = '6 s'\naction = 'cpu-change'\nnode = 'b'\ncpu = '100 %'\n";
        let plan = plan(&format!("{TEXT}{event}"));
        let b = NodeIndex(1);
        let found: Vec<_> = cores(&plan, b, &plan.nodes[b])
            .into_iter()
            .map(|(at, cores)| (at.as_nanos() / 1_000_000_000, cores))
            .collect();
        assert_eq!(found, [(0, 1.0), (3, 0.1), (6, 1.0)]);
        assert_eq!(least_part_of_a_core(&plan, b), 0.1);
    }

    #[test]
    fn a_link_with_a_delay_holds_frames_so_much_longer_as_timers_are_late() {
        let mut plan = plan(TEXT);
        let link = plan.links[LinkIndex(0)].clone();
        let micros = |plan: &Plan, delay_ns| held(plan, &link, delay_ns).as_nanos() / 1000;
        assert_eq!(micros(&plan, 2_000_000), 2_000, "without a profile");
        let profile = Profile { timer_us: 70.0, ..Profile::default() };
        let costs = [(LinkIndex(0), LinkCost::default())];
        plan.nodes[NodeIndex(1)].costs = NodeCosts::of(&costs, &profile, 0);
        assert_eq!([micros(&plan, 2_000_000), micros(&plan, 0)], [2_070, 0]);
    }
}
