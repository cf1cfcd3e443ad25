//! Routes that nobody wrote down: along shortest paths to whoever answers for a prefix.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::plan::{Hop, LinkPlan, NodeIndex};

/// Which of the ways to a producer become routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ways {
    /// None but those that are written down.
    Static,
    /// One that is shortest.
    Shortest,
    /// By every neighbour that is nearer, with the length of the way as the cost. Of neighbours as near, the
    /// one that comes first among the nodes is nearer, so that nothing runs in a circle.
    All,
}

/// Who answers for which prefix.
pub(super) type Homes = BTreeMap<String, Vec<NodeIndex>>;

/// A link seen from a node.
#[derive(Clone, Copy)]
struct Step {
    to: NodeIndex,
    link: usize,
    metric: u64,
}

/// The next hops of every node towards every prefix. Where several nodes answer for one the nearest counts.
pub(super) fn hops(nodes: usize, links: &[LinkPlan], homes: &Homes, ways: Ways) -> Vec<Hop> {
    if ways == Ways::Static {
        return Vec::new();
    }
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); nodes];
    for (number, link) in links.iter().enumerate() {
        let [a, b] = link.between;
        for (from, to) in [(a, b), (b, a)] {
            if let Some(steps) = steps.get_mut(from) {
                steps.push(Step { to, link: number, metric: link.metric.into() });
            }
        }
    }
    let mut hops = Vec::new();
    for (prefix, nodes) in homes {
        let distances = distances(&steps, nodes);
        let distance = |node: NodeIndex| distances.get(node).copied().unwrap_or(u64::MAX);
        for (node, steps) in steps.iter().enumerate() {
            let here = distance(node);
            let is_nearer = |step: &&Step| {
                let there = distance(step.to);
                here > 0 && there != u64::MAX && (there, step.to) < (here, node)
            };
            let length = |step: &Step| distance(step.to).saturating_add(step.metric);
            let nearer = steps.iter().filter(is_nearer);
            let chosen: Vec<&Step> = match ways {
                Ways::Shortest => nearer.min_by_key(|step| length(step)).into_iter().collect(),
                Ways::All => nearer.collect(),
                Ways::Static => Vec::new(),
            };
            hops.extend(chosen.into_iter().map(|step| Hop {
                prefix: prefix.clone(),
                node,
                link: step.link,
                cost: u32::try_from(length(step)).unwrap_or(u32::MAX),
            }));
        }
    }
    hops
}

/// From every node to the nearest of `homes`. Links are as long in both directions.
fn distances(steps: &[Vec<Step>], homes: &[NodeIndex]) -> Vec<u64> {
    let mut distances = vec![u64::MAX; steps.len()];
    let mut heap = BinaryHeap::new();
    for &home in homes {
        if let Some(distance) = distances.get_mut(home) {
            *distance = 0;
            heap.push(Reverse((0, home)));
        }
    }
    while let Some(Reverse((distance, node))) = heap.pop() {
        if distances.get(node).is_none_or(|known| distance > *known) {
            continue;
        }
        for step in steps.get(node).map(Vec::as_slice).unwrap_or_default() {
            let longer = distance.saturating_add(step.metric);
            if let Some(known) = distances.get_mut(step.to).filter(|known| longer < **known) {
                *known = longer;
                heap.push(Reverse((longer, step.to)));
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    /// A ring of five: from `a` to `c` by `b`, or by `e` and `d`.
    fn ring(routes: &str, metric: u32) -> Vec<String> {
        let links = "[link.a-b]\n[link.b-c]\nmetric = METRIC\n[link.c-d]\n[link.d-e]\n[link.a-e]\n";
        let nodes = "[node]\na = {}\nb = {}\nc = {}\nd = {}\ne = {}\n";
        let text = format!(
            "title = 't'\nduration = '9 s'\nroutes = '{routes}'\n{nodes}{links}[content.x]\nprefix = '/x'\n\
             at = 'c'\nsize = '1 kB'\n"
        );
        let text = text.replace("METRIC", &metric.to_string());
        let experiment = Experiment::parse("t", "t.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("netns").unwrap_or_default().remove(0);
        let name = |node| plan.node_name(node).to_owned();
        let mut words: Vec<String> = plan
            .hops
            .iter()
            .map(|hop| {
                let to = plan.links.get(hop.link).map_or(0, |link| link.other(hop.node));
                format!("{}>{} {}", name(hop.node), name(to), hop.cost)
            })
            .collect();
        words.sort();
        words
    }

    #[test]
    fn shortest_paths_lead_by_the_fewest_links_or_the_least_metric() {
        assert_eq!(ring("shortest", 1), ["a>b 2", "b>c 1", "d>c 1", "e>d 2"]);
        assert_eq!(ring("shortest", 9), ["a>e 3", "b>a 4", "d>c 1", "e>d 2"]);
        assert_eq!(ring("static", 1), Vec::<String>::new());
    }

    #[test]
    fn all_paths_go_to_every_nearer_neighbour_and_never_in_a_circle() {
        // `a` and `e` are as near to `c`; the first of them serves the other.
        assert_eq!(ring("all", 1), ["a>b 2", "b>c 1", "d>c 1", "e>a 3", "e>d 2"]);
    }
}
