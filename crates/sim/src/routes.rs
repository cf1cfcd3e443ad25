//! Routes from where everything is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use engine::FaceId;
use packet::{Dialect, Name};

use crate::arena::{Id, NodeId};
use crate::core::Link;
use crate::error::SimError;
use crate::network::Network;
use crate::node::Peer;

/// Which of the ways to a producer become routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ways {
    /// One that is shortest.
    Shortest,
    /// By every neighbour that is nearer to the producer, so that no choice of routes leads around in a
    /// circle.
    AllLoopFree,
}

/// A link seen from a node: the face there, and the neighbour at its other end.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: NodeId,
    to: NodeId,
    face: FaceId,
    metric: u64,
    dialect: Dialect,
}

impl Network {
    /// Adds routes along a shortest path from every node to every prefix of every application, by the metrics
    /// of the links that are up. Where several nodes serve a prefix, the nearest counts. Call it again
    /// after a change, after [`Network::clear_routes`] where old routes are to go.
    ///
    /// # Errors
    /// A table of routes that is full.
    pub fn route_shortest_paths(&mut self) -> Result<(), SimError> {
        self.route(Ways::Shortest)
    }

    /// Adds routes by all neighbours that are nearer to a server of the prefix, with the length of the whole
    /// way as the cost: all paths on which every hop comes nearer, for strategies that choose among
    /// several. A node as near as the next counts as nearer if its number is smaller, so that equals can
    /// serve each other and no packet can run in a circle.
    ///
    /// # Errors
    /// A table of routes that is full.
    pub fn route_all_paths(&mut self) -> Result<(), SimError> {
        self.route(Ways::AllLoopFree)
    }

    fn route(&mut self, ways: Ways) -> Result<(), SimError> {
        let mut servers: BTreeMap<Vec<u8>, (Name, Vec<NodeId>)> = BTreeMap::new();
        for (application, attachment) in self.applications.values().zip(self.core.attachments.values()) {
            for prefix in application.prefixes() {
                let key = prefix.canonical().to_vec();
                servers.entry(key).or_insert_with(|| (prefix, Vec::new())).1.push(attachment.node);
            }
        }
        let graph = Graph::of(self);
        // Many prefixes on one node share one search.
        let mut by_home: BTreeMap<Vec<NodeId>, Vec<Name>> = BTreeMap::new();
        for (prefix, mut nodes) in servers.into_values() {
            nodes.sort_unstable();
            nodes.dedup();
            by_home.entry(nodes).or_default().push(prefix);
        }
        for (nodes, prefixes) in by_home {
            let distances = graph.distances_to(&nodes);
            for step in graph.choose(&distances, ways) {
                let cost = distances[step.to.index()].saturating_add(step.metric);
                for prefix in &prefixes {
                    let now = self.core.now;
                    let node = &mut self.core.nodes[step.from];
                    if node.engine.is_some() {
                        node.add_route(now, step.dialect, prefix, step.face, cost)?;
                    }
                }
            }
        }
        for node in self.core.nodes.ids() {
            self.settle(node);
        }
        Ok(())
    }

    /// The length of the shortest path between nodes, by the metrics of links that are up; `None` if there is
    /// none.
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u64> {
        let distances = Graph::of(self).distances_to(&[to]);
        distances.get(from.index()).copied().filter(|&distance| distance != u64::MAX)
    }
}

struct Graph {
    /// By node they lead away from.
    steps: Vec<Vec<Step>>,
}

impl Graph {
    fn of(network: &Network) -> Self {
        let core = &network.core;
        let mut steps: Vec<Vec<Step>> = core.nodes.values().map(|_| Vec::new()).collect();
        for Link { ends, config, .. } in core.links.values().filter(|link| link.is_up) {
            for from in ends {
                for to in ends.iter().filter(|to| to.node != from.node) {
                    let port = core.nodes[from.node].ports.get(from.face);
                    if !port.is_some_and(|port| matches!(port.peer, Peer::Channel { .. })) {
                        continue;
                    }
                    steps[from.node.index()].push(Step {
                        from: from.node,
                        to: to.node,
                        face: from.face,
                        metric: config.metric.into(),
                        dialect: config.face.dialect,
                    });
                }
            }
        }
        Graph { steps }
    }

    /// From every node to the nearest of `homes`. Links have the same metric in both directions.
    fn distances_to(&self, homes: &[NodeId]) -> Vec<u64> {
        let mut distances = vec![u64::MAX; self.steps.len()];
        let mut heap = BinaryHeap::new();
        for &home in homes {
            if let Some(distance) = distances.get_mut(home.index()) {
                *distance = 0;
                heap.push(Reverse((0, home)));
            }
        }
        while let Some(Reverse((distance, node))) = heap.pop() {
            if distance > distances[node.index()] {
                continue;
            }
            for step in &self.steps[node.index()] {
                let longer = distance.saturating_add(step.metric);
                if longer < distances[step.to.index()] {
                    distances[step.to.index()] = longer;
                    heap.push(Reverse((longer, step.to)));
                }
            }
        }
        distances
    }

    /// The steps that become routes.
    fn choose(&self, distances: &[u64], ways: Ways) -> Vec<Step> {
        let mut chosen = Vec::new();
        for steps in &self.steps {
            let nearer = |step: &&Step| {
                let (here, there) = (distances[step.from.index()], distances[step.to.index()]);
                here > 0 && there != u64::MAX && (there, step.to) < (here, step.from)
            };
            let length = |step: &&Step| distances[step.to.index()].saturating_add(step.metric);
            match ways {
                Ways::Shortest => chosen.extend(steps.iter().filter(nearer).min_by_key(length)),
                Ways::AllLoopFree => {
                    let mut best: BTreeMap<FaceId, Step> = BTreeMap::new();
                    for step in steps.iter().filter(nearer) {
                        let known = best.entry(step.face).or_insert(*step);
                        if length(&step) < length(&&*known) {
                            *known = *step;
                        }
                    }
                    chosen.extend(best.into_values());
                }
            }
        }
        chosen
    }
}
