//! How central nodes are.

use std::collections::VecDeque;

use super::Topology;

impl Topology {
    /// For each node, on how many of the shortest paths between two others it lies; of several as short
    /// between the same two each counts in part. Every link has the length 1. After Brandes, "A Faster
    /// Algorithm for Betweenness Centrality", 2001.
    pub fn betweenness(&self) -> Vec<f64> {
        let count = self.nodes.len();
        let mut neighbours = vec![Vec::new(); count];
        for link in &self.links {
            if link.from < count && link.to < count {
                neighbours[link.from].push(link.to);
                neighbours[link.to].push(link.from);
            }
        }
        let mut betweenness = vec![0.0; count];
        for source in 0..count {
            from_source(source, &neighbours, &mut betweenness);
        }
        // Each pair was seen from both of its ends.
        betweenness.iter_mut().for_each(|value| *value /= 2.0);
        betweenness
    }
}

fn from_source(source: usize, neighbours: &[Vec<usize>], betweenness: &mut [f64]) {
    let count = neighbours.len();
    let (mut distance, mut paths) = (vec![usize::MAX; count], vec![0.0; count]);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
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
    let mut dependency = vec![0.0; count];
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
        assert_eq!(Topology::chain(5).betweenness(), [0.0, 3.0, 4.0, 3.0, 0.0]);
        let star = Topology::tree(4, 1).betweenness();
        assert_eq!(star, [6.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn paths_as_short_count_in_parts() {
        let node = |name: &str| TopologyNode { name: name.to_owned(), position: None };
        let ring = Topology {
            nodes: ["a", "b", "c", "d"].map(node).to_vec(),
            links: [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(a, b)| TopologyLink::between(a, b)).to_vec(),
        };
        assert_eq!(ring.betweenness(), [0.5; 4]);
    }
}
