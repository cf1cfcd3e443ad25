//! Routes that nobody wrote down: along shortest paths to whoever answers for a prefix.

use std::collections::BTreeMap;

use sim::paths::{Graph, RouteSelection, Step};

use crate::experiment::plan::{Hop, Links, NodeIndex};

/// Who answers for which prefix.
pub(super) type ProducersByPrefix = BTreeMap<String, Vec<NodeIndex>>;

/// The next hops of every node towards every prefix. Where several nodes answer for one the nearest counts.
pub(super) fn hops(
    nodes: usize,
    links: &Links,
    producers: &ProducersByPrefix,
    ways: RouteSelection,
) -> Vec<Hop> {
    let mut graph = Graph::new(nodes);
    for (index, link) in links.indexed() {
        for [a, b] in link.pairs() {
            for (from, to) in [(a, b), (b, a)] {
                let by = (index, link.shared.is_some().then_some(to));
                graph.add(from, Step { to, by, metric: link.metric.into() });
            }
        }
    }
    let mut hops = Vec::new();
    for (prefix, nodes) in producers {
        hops.extend(graph.routes_to(nodes, ways).into_iter().map(|route| Hop {
            prefix: prefix.clone(),
            node: route.from,
            link: route.by.0,
            behind: route.by.1,
            cost: u32::try_from(route.cost).unwrap_or(u32::MAX),
        }));
    }
    hops
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
            .routing
            .hops
            .iter()
            .map(|hop| {
                let to = plan.links[hop.link].other(hop.node);
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
