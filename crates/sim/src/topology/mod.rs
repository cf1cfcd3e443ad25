//! Networks of many nodes: built from a rule, drawn at random, or read from other people's files.
//!
//! A [`Topology`] is a plain graph with what is known of its nodes and links. It becomes part of a network
//! with [`Topology::build`]; what the graph does not say about a link comes from a [`LinkConfig`] beside it.
//!
//! ```
//! use cairn_sim::topology::Topology;
//! use cairn_sim::{LinkConfig, Network};
//!
//! let text = "router\nA NA 1 1\nB NA 2 2\nlink\nA B 10Mbps 1 5ms 100\n";
//! let topology = Topology::read_ndnsim(text)?;
//! let mut network = Network::new(1);
//! let nodes = topology.build(&mut network, &LinkConfig::ideal())?;
//! assert_eq!(network.link_config(cairn_sim::LinkId(0))?.rate_bits_per_second, Some(10_000_000));
//! assert_eq!(topology.find("B").map(|node| nodes[node]), Some(cairn_sim::NodeId(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod centrality;
mod components;
mod gml;
mod graphml;
mod minindn;
mod named;
mod ndnsim;
mod random;
mod regular;
mod rocketfuel;
mod xml;
mod zoo;

use std::collections::BTreeMap;

use packet::time::Duration;
use thiserror::Error;

pub(crate) use components::components;
pub use named::{NamedLink, NamedNode, NamedTopologyError};
pub use regular::Dumbbell;

use crate::arena::{Arena, NodeId};
use crate::error::SimError;
use crate::link::{LinkConfig, Queue};
use crate::network::Network;

crate::ids! {
    /// A node's place in [`Topology::nodes`].
    #[derive(Default)]
    pub TopologyNodeId(usize);
}

/// A graph of nodes and links between two of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The nodes.
    pub nodes: Arena<TopologyNodeId, TopologyNode>,
    /// The links.
    pub links: Vec<TopologyLink>,
}

/// A node of a [`Topology`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyNode {
    /// What it is called.
    pub name: String,
    /// Where it is, if that is known: plane coordinates, or longitude and latitude in degrees.
    pub position: Option<(f64, f64)>,
}

/// A link of a [`Topology`]. What is `None` is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyLink {
    /// One end.
    pub from: TopologyNodeId,
    /// The other.
    pub to: TopologyNodeId,
    /// Bits a second.
    pub rate_bits_per_second: Option<u64>,
    /// One way.
    pub delay: Option<Duration>,
    /// For routing.
    pub metric: Option<u32>,
    /// Packets that may wait.
    pub queue_packets: Option<u32>,
    /// Probability that a packet is lost.
    pub loss: Option<f64>,
}

impl TopologyLink {
    /// A link of which nothing is known.
    pub fn between(from: TopologyNodeId, to: TopologyNodeId) -> Self {
        TopologyLink { from, to, ..TopologyLink::default() }
    }
}

/// Why a file of a topology cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct TopologyError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

impl TopologyError {
    fn new(line: usize, problem: impl Into<String>) -> Self {
        TopologyError { line, problem: problem.into() }
    }
}

/// Nodes and links that a file may have.
const MAX_NODES: usize = 1_000_000;
const MAX_LINKS: usize = 10_000_000;

impl Topology {
    /// Adds all nodes and links to a network: the nodes, in order. What is not known of a link is taken from
    /// `otherwise`.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn build(
        &self,
        network: &mut Network,
        otherwise: &LinkConfig,
    ) -> Result<Arena<TopologyNodeId, NodeId>, SimError> {
        let nodes: Arena<_, NodeId> = Arena::from(network.add_nodes(self.nodes.len())?);
        for link in &self.links {
            let (Some(&from), Some(&to)) = (nodes.get(link.from), nodes.get(link.to)) else {
                return Err(SimError::TooFewEnds);
            };
            network.connect(from, to, &link.config(otherwise))?;
        }
        Ok(nodes)
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<TopologyNodeId> {
        self.nodes.position(|node| node.name == name)
    }

    /// Whether there is a way from every node to every other.
    pub fn is_connected(&self) -> bool {
        self.components().iter().all(|&component| component == 0)
    }

    /// The graph without all that is not connected to its largest part.
    pub fn largest_component(&self) -> Topology {
        let components = self.components();
        let mut sizes = BTreeMap::new();
        for &component in &components {
            *sizes.entry(component).or_insert(0usize) += 1;
        }
        // Of equal ones the first.
        let largest = sizes.iter().max_by_key(|(component, size)| (**size, usize::MAX - **component));
        let Some((&largest, _)) = largest else { return Topology::default() };
        let mut places = Arena::filled(&self.nodes, None);
        let mut nodes: Arena<TopologyNodeId, TopologyNode> = Arena::default();
        for (place, node) in self.nodes.indexed() {
            if components.get(place) == Some(&largest) {
                let new = nodes.push(node.clone());
                if let Some(place) = places.get_mut(place) {
                    *place = Some(new);
                }
            }
        }
        let place = |old: TopologyNodeId| places.get(old).copied().flatten();
        let kept = self.links.iter().filter_map(|link| {
            Some(TopologyLink { from: place(link.from)?, to: place(link.to)?, ..link.clone() })
        });
        Topology { links: kept.collect(), nodes }
    }

    /// For each node the number of the part it is in, counted from 0 in the order of their first nodes.
    fn components(&self) -> Arena<TopologyNodeId, usize> {
        components(&self.neighbours())
    }

    /// The neighbours of each node, one as often as there are links to it.
    fn neighbours(&self) -> Arena<TopologyNodeId, Vec<TopologyNodeId>> {
        let mut neighbours = Arena::filled(&self.nodes, Vec::new());
        for &TopologyLink { from, to, .. } in &self.links {
            if from.0 < neighbours.len() && to.0 < neighbours.len() {
                neighbours[from].push(to);
                neighbours[to].push(from);
            }
        }
        neighbours
    }
}

impl TopologyLink {
    /// How the link behaves, with what is not known from `otherwise`.
    pub fn config(&self, otherwise: &LinkConfig) -> LinkConfig {
        let mut config = otherwise.clone();
        config.rate_bits_per_second = self.rate_bits_per_second.or(config.rate_bits_per_second);
        config.delay = self.delay.unwrap_or(config.delay);
        config.metric = self.metric.unwrap_or(config.metric);
        if let Some(packets) = self.queue_packets {
            config.queue = Queue { max_packets: packets, ..config.queue };
        }
        config.impairment.loss = self.loss.unwrap_or(config.impairment.loss);
        config
    }
}

/// Collects nodes by name while a file is read.
#[derive(Default)]
struct Collector {
    topology: Topology,
    places: BTreeMap<String, TopologyNodeId>,
}

impl Collector {
    /// A node that must be new.
    fn node(
        &mut self,
        line: usize,
        name: &str,
        position: Option<(f64, f64)>,
    ) -> Result<TopologyNodeId, TopologyError> {
        if self.places.contains_key(name) {
            return Err(TopologyError::new(line, format!("node {name:?} is there twice")));
        }
        if self.topology.nodes.len() >= MAX_NODES {
            return Err(TopologyError::new(line, format!("more than {MAX_NODES} nodes")));
        }
        let place = self.topology.nodes.push(TopologyNode { name: name.to_owned(), position });
        self.places.insert(name.to_owned(), place);
        Ok(place)
    }

    /// A node that may be new.
    fn any_node(&mut self, line: usize, name: &str) -> Result<TopologyNodeId, TopologyError> {
        match self.places.get(name) {
            Some(&place) => Ok(place),
            None => self.node(line, name, None),
        }
    }

    /// A node that must be known.
    fn known(&self, line: usize, name: &str) -> Result<TopologyNodeId, TopologyError> {
        let missing = || TopologyError::new(line, format!("there is no node {name:?}"));
        self.places.get(name).copied().ok_or_else(missing)
    }

    fn link(&mut self, line: usize, link: TopologyLink) -> Result<(), TopologyError> {
        if link.from == link.to {
            return Err(TopologyError::new(line, "a link from a node to itself"));
        }
        if self.topology.links.len() >= MAX_LINKS {
            return Err(TopologyError::new(line, format!("more than {MAX_LINKS} links")));
        }
        self.topology.links.push(link);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_is_kept_with_its_links() {
        let node = |name: &str| TopologyNode { name: name.to_owned(), position: None };
        let link = |(a, b)| TopologyLink::between(TopologyNodeId(a), TopologyNodeId(b));
        let topology = Topology {
            nodes: ["a", "b", "c", "d", "e"].map(node).into_iter().collect(),
            links: [(0, 3), (1, 2), (2, 4)].map(link).to_vec(),
        };
        assert!(!topology.is_connected());
        let kept = topology.largest_component();
        assert!(kept.is_connected());
        let names: Vec<&str> = kept.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "e"]);
        assert_eq!(kept.links, [(0, 1), (1, 2)].map(link));
        assert_eq!(Topology::default().largest_component(), Topology::default());
    }
}
