//! How central nodes are.

use std::collections::VecDeque;

use super::{Topology, TopologyNodeId};
use crate::arena::Arena;

impl Topology {
    /// For each node, on how many of the shortest paths between two others it lies; of several as short
    /// between the same two each counts in part. Every link has the length 1. After Brandes, "A Faster
    /// Algorithm for Betweenness Centrality", 2001.
    pub fn betweenness(&self) -> Arena<TopologyNodeId, f64> {
        let neighbours = self.neighbours();
        let mut betweenness = Arena::filled(&self.nodes, 0.0);
        for source in self.nodes.ids() {
            from_source(source, &neighbours, &mut betweenness);
        }
        // Each pair was seen from both of its ends.
        betweenness.iter_mut().for_each(|value| *value /= 2.0);
        betweenness
    }
}

fn from_source(
    source: TopologyNodeId,
    neighbours: &Arena<TopologyNodeId, Vec<TopologyNodeId>>,
    betweenness: &mut Arena<TopologyNodeId, f64>,
) {
    let (mut distance, mut paths) = (Arena::filled(neighbours, usize::MAX), Arena::filled(neighbours, 0.0));
    let mut before: Arena<TopologyNodeId, Vec<TopologyNodeId>> = Arena::filled(neighbours, Vec::new());
    (distance[source], paths[source]) = (0, 1.0);
    let (mut waiting, mut order) = (VecDeque::from([source]), Vec::new());
    while let Some(node) = waiting.pop_front() {
        order.push(node);
        for &next in &neighbours[node] {
            if distance[next] == usize::MAX {
                distance[next] = distance[node] + 1;
                waiting.push_back(next);
            }
            if distance[next] == distance[node] + 1 {
                paths[next] += paths[node];
                before[next].push(node);
            }
        }
    }
    let mut dependency = Arena::filled(neighbours, 0.0);
    for node in order.into_iter().rev().filter(|node| *node != source) {
        for &previous in &before[node] {
            dependency[previous] += paths[previous] / paths[node] * (1.0 + dependency[node]);
        }
        betweenness[node] += dependency[node];
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TopologyLink, TopologyNode};
    use super::*;

    #[test]
    fn who_lies_between_many_is_central_and_leaves_are_not() {
        // In a chain of n a node with a on one side and b on the other lies between a * b pairs.
        assert_eq!(Topology::chain(5).betweenness().as_slice(), [0.0, 3.0, 4.0, 3.0, 0.0]);
        let star = Topology::tree(4, 1).betweenness();
        assert_eq!(star.as_slice(), [6.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn paths_as_short_count_in_parts() {
        let node = |name: &str| TopologyNode { name: name.to_owned(), position: None };
        let link = |(a, b)| TopologyLink::between(TopologyNodeId(a), TopologyNodeId(b));
        let ring = Topology {
            nodes: ["a", "b", "c", "d"].map(node).into_iter().collect(),
            links: [(0, 1), (1, 2), (2, 3), (3, 0)].map(link).to_vec(),
        };
        assert_eq!(ring.betweenness().as_slice(), [0.5; 4]);
    }
}
