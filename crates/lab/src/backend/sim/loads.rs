//! What a competing load leaves of a processor whose speed changes by itself, too.

use std::borrow::Cow;

use crate::experiment::plan::{Activity, NodeIndex, Plan, Workload};

/// When a load is busy, and what it leaves then.
#[derive(Debug, Clone, Copy)]
struct Busy {
    start_ns: u64,
    busy_ns: u64,
    cycle_ns: u64,
    left: f64,
}

impl Busy {
    fn of(workload: &Workload) -> Option<Self> {
        let Activity::Load { cpu, busy_ns, idle_ns } = workload.does else { return None };
        let cycle_ns = busy_ns.saturating_add(idle_ns).max(1_000_000);
        Some(Busy { start_ns: workload.start_ns, busy_ns, cycle_ns, left: 1.0 - cpu })
    }

    fn leaves(self, at_ns: u64) -> f64 {
        let since_ns = at_ns.checked_sub(self.start_ns);
        if since_ns.is_some_and(|since_ns| since_ns % self.cycle_ns < self.busy_ns) { self.left } else { 1.0 }
    }

    /// When it begins and ceases to be busy, until a moment.
    fn edges(self, until_ns: u64) -> impl Iterator<Item = u64> {
        let next = move |at_ns: &u64| at_ns.checked_add(self.cycle_ns);
        let begins = std::iter::successors(Some(self.start_ns), next).take_while(move |at| *at < until_ns);
        begins.flat_map(move |at_ns| [at_ns, at_ns.saturating_add(self.busy_ns)])
    }
}

/// The part of its share that a node's processor has, from which moments on: what its `capacity` is then, and
/// of that what the load leaves. Nothing where one of them alone says it.
fn parts(plan: &Plan, index: NodeIndex) -> Option<Vec<(u64, f64)>> {
    let capacity = plan.nodes.get(index).map_or(&[][..], |node| &node.capacity);
    // There is one at most at a node.
    let load = plan.workloads.iter().filter(|workload| workload.at == index).find_map(Busy::of)?;
    if capacity.is_empty() {
        return None;
    }
    let of_load = load.edges(plan.schedule.duration_ns);
    let mut edges: Vec<u64> = capacity.iter().map(|(at_ns, _)| *at_ns).chain(of_load).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut steps = capacity.iter().peekable();
    let mut now = 1.0;
    let part = |at_ns| {
        while let Some((_, part)) = steps.next_if(|(from_ns, _)| *from_ns <= at_ns) {
            now = *part;
        }
        (at_ns, now * load.leaves(at_ns))
    };
    Some(edges.into_iter().map(part).collect())
}

/// The plan of a network whose processors are as fast as all that is said of them together makes them: where
/// a node has both, with what its load leaves among the steps of its capacity. Such a load has nothing left
/// to take.
pub(super) fn among_capacities(plan: &Plan) -> Cow<'_, Plan> {
    let found = plan.nodes.indices().filter_map(|index| Some((index, parts(plan, index)?)));
    let found: Vec<(NodeIndex, Vec<(u64, f64)>)> = found.collect();
    if found.is_empty() {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    for (index, capacity) in found {
        if let Some(node) = plan.nodes.get_mut(index) {
            node.capacity = capacity;
        }
        for workload in plan.workloads.iter_mut().filter(|workload| workload.at == index) {
            if matches!(workload.does, Activity::Load { .. }) {
                workload.start_ns = plan.schedule.duration_ns;
            }
        }
    }
    Cow::Owned(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const SECOND: u64 = 1_000_000_000;

    /// Steps in seconds of a node with this capacity and these loads.
    fn steps(capacity: &str, loads: &str) -> Option<Vec<(f64, f64)>> {
        let text = format!(
            "title = 't'\nduration = '6 s'\n[node]\na = {{ service_time = '1 us', capacity = {capacity} }}\nb = {{}}\n\
             [link]\na-b = {{}}\n[content.c]\nprefix = '/c'\nat = 'b'\nsize = '1 kB'\n{loads}"
        );
        let experiment = Experiment::parse("t", "t.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("sim").unwrap().remove(0);
        let found = parts(&plan, NodeIndex(0))?;
        let in_thousandths = |part: f64| (part * 1000.0).round() / 1000.0;
        Some(found.into_iter().map(|(at, part)| (at as f64 / SECOND as f64, in_thousandths(part))).collect())
    }

    #[test]
    fn a_load_takes_its_part_of_what_a_capacity_leaves_and_gives_back_no_more_than_that() {
        let load = "[load.l]\nat = 'a'\ncpu = '90 %'\nbusy = '1 s'\nidle = '2 s'\nstart = '1 s'\n";
        let capacity = "[{ at = '0 s', part = '20 %' }, { at = '4500 ms', part = '100 %' }]";
        let all = [(0.0, 0.2), (1.0, 0.02), (2.0, 0.2), (4.0, 0.02), (4.5, 0.1), (5.0, 1.0)];
        assert_eq!(steps(capacity, load).unwrap(), all);
        assert_eq!(steps("[]", load), None, "it is alone");
        assert_eq!(steps(capacity, ""), None);
    }
}
