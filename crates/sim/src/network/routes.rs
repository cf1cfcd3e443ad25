//! Routes from where everything is.

use std::collections::BTreeMap;

use engine::FaceId;
use packet::Name;

use crate::arena::{LinkId, NodeId};
use crate::core::Link;
use crate::error::SimError;
use crate::network::Network;
use crate::node::Peer;
use crate::paths::{Graph, RouteSelection, Step};

impl Network {
    /// Adds routes along a shortest path from every node to every prefix of every application, by the metrics
    /// of the links that are up. Where several nodes serve a prefix, the nearest counts. Call it again
    /// after a change, after [`Network::clear_routes`] where old routes are to go.
    ///
    /// # Errors
    /// A table of routes that is full.
    pub fn route_shortest_paths(&mut self) -> Result<(), SimError> {
        self.route(RouteSelection::Shortest)
    }

    /// Adds routes by all neighbours that are nearer to a server of the prefix, with the length of the whole
    /// way as the cost: all paths on which every hop comes nearer, for strategies that choose among
    /// several. A node as near as the next counts as nearer if its number is smaller, so that equals can
    /// serve each other and no packet can run in a circle.
    ///
    /// # Errors
    /// A table of routes that is full.
    pub fn route_all_paths(&mut self) -> Result<(), SimError> {
        self.route(RouteSelection::AllLoopFree)
    }

    fn route(&mut self, selection: RouteSelection) -> Result<(), SimError> {
        let mut servers: BTreeMap<Vec<u8>, (Name, Vec<NodeId>)> = BTreeMap::new();
        for (application, attachment) in self.applications.iter().zip(self.core.attachments.iter()) {
            for prefix in application.prefixes() {
                let key = prefix.canonical().to_vec();
                servers.entry(key).or_insert_with(|| (prefix, Vec::new())).1.push(attachment.node);
            }
        }
        let graph = graph(self);
        // Many prefixes on one node share one search.
        let mut by_home: BTreeMap<Vec<NodeId>, Vec<Name>> = BTreeMap::new();
        for (prefix, mut nodes) in servers.into_values() {
            nodes.sort_unstable();
            nodes.dedup();
            by_home.entry(nodes).or_default().push(prefix);
        }
        for (nodes, prefixes) in by_home {
            for route in graph.routes_to(&nodes, selection) {
                let dialect = self.core.links[route.by.link].config.face.dialect;
                let now = self.core.now;
                let node = &mut self.core.nodes[route.from];
                if node.engine.is_none() {
                    continue;
                }
                for prefix in &prefixes {
                    node.add_route(now, dialect, prefix, route.by.face, route.cost)?;
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
        let distances = graph(self).distances_to(&[to]);
        distances.get(from).copied().filter(|&distance| distance != u64::MAX)
    }
}

/// The links that are up, by node and face.
fn graph(network: &Network) -> Graph<NodeId, Exit> {
    let core = &network.core;
    let mut graph = Graph::new(core.nodes.len());
    for (number, link) in core.links.indexed().filter(|(_, link)| link.is_up) {
        let Link { ends, config, .. } = link;
        for from in ends {
            for to in ends.iter().filter(|to| to.node != from.node) {
                let port = core.nodes[from.node].ports.get(from.face);
                if port.is_some_and(|port| matches!(port.peer, Peer::Channel { .. })) {
                    let by = Exit { face: from.face, link: number };
                    graph.add(from.node, Step { to: to.node, by, metric: config.metric.into() });
                }
            }
        }
    }
    graph
}

/// By what a packet leaves a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Exit {
    face: FaceId,
    link: LinkId,
}
