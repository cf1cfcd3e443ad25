//! Chains, trees, stars, grids and dumbbells: as graphs, and built straight into a network.

use crate::arena::{LinkId, NodeId};
use crate::error::SimError;
use crate::link::LinkConfig;
use crate::network::Network;

use super::{Topology, TopologyLink, TopologyNode, TopologyNodeId};

impl Topology {
    /// Nodes without links, called `node-0` and so on.
    fn of_numbered(count: usize) -> Self {
        let nodes = (0..count).map(|number| TopologyNode { name: format!("node-{number}"), position: None });
        Topology { nodes: nodes.collect(), links: Vec::new() }
    }

    /// Nodes in a row.
    pub fn chain(count: usize) -> Self {
        let mut topology = Topology::of_numbered(count);
        topology.links = (1..count).map(|number| between(number - 1, number)).collect();
        topology
    }

    /// A tree: its root first, then level by level, each node with so many children. `depth` counts levels of
    /// links. A star is a tree of one level.
    pub fn tree(children: usize, depth: usize) -> Self {
        let (mut links, mut level, mut count) = (Vec::new(), vec![0], 1);
        for _ in 0..depth {
            let mut next = Vec::new();
            for &parent in &level {
                for _ in 0..children {
                    links.push(between(parent, count));
                    next.push(count);
                    count += 1;
                }
            }
            level = next;
        }
        Topology { links, ..Topology::of_numbered(count) }
    }

    /// A grid, row by row.
    pub fn grid(columns: usize, rows: usize) -> Self {
        let mut topology = Topology::of_numbered(columns.saturating_mul(rows));
        for row in 0..rows {
            for column in 0..columns {
                let here = row * columns + column;
                if column + 1 < columns {
                    topology.links.push(between(here, here + 1));
                }
                if row + 1 < rows {
                    topology.links.push(between(here, here + columns));
                }
            }
        }
        topology
    }

    /// So many nodes on each side of two routers: `router-0`, `router-1`, then `left-0` and so on, then
    /// `right-0` and so on. The link between the routers comes first.
    pub fn dumbbell(pairs: usize) -> Self {
        let sides = [("router", 2), ("left", pairs), ("right", pairs)];
        let names = sides.into_iter().flat_map(|(side, count)| {
            (0..count).map(move |number| TopologyNode { name: format!("{side}-{number}"), position: None })
        });
        let mut topology = Topology { nodes: names.collect(), links: vec![between(0, 1)] };
        for pair in 0..pairs {
            topology.links.push(between(2 + pair, 0));
            topology.links.push(between(1, 2 + pairs + pair));
        }
        topology
    }
}

/// A link between the nodes at these places.
fn between(from: usize, to: usize) -> TopologyLink {
    TopologyLink::between(TopologyNodeId(from), TopologyNodeId(to))
}

/// Pairs of nodes on both sides of a bottleneck.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// On the left side, one for each pair.
    pub left: Vec<NodeId>,
    /// On the right side, one for each pair.
    pub right: Vec<NodeId>,
    /// The two in the middle, left and right.
    pub routers: [NodeId; 2],
    /// The link between those.
    pub bottleneck: LinkId,
}

impl Network {
    /// Adds nodes in a row; `nodes[0]` and the last are its ends.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn chain(&mut self, count: usize, link: &LinkConfig) -> Result<Vec<NodeId>, SimError> {
        Ok(Topology::chain(count).build(self, link)?.into_iter().collect())
    }

    /// Adds a hub, which comes first, and so many nodes around it.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn star(&mut self, leaves: usize, link: &LinkConfig) -> Result<Vec<NodeId>, SimError> {
        self.tree(leaves, 1, link)
    }

    /// Adds a tree: its root first, then level by level, each node with so many children. `depth` counts
    /// levels of links.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn tree(
        &mut self,
        children: usize,
        depth: usize,
        link: &LinkConfig,
    ) -> Result<Vec<NodeId>, SimError> {
        Ok(Topology::tree(children, depth).build(self, link)?.into_iter().collect())
    }

    /// Adds a grid, row by row.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn grid(&mut self, columns: usize, rows: usize, link: &LinkConfig) -> Result<Vec<NodeId>, SimError> {
        Ok(Topology::grid(columns, rows).build(self, link)?.into_iter().collect())
    }

    /// Adds so many nodes on each side of two routers with a bottleneck between.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn dumbbell(
        &mut self,
        pairs: usize,
        side: &LinkConfig,
        bottleneck: &LinkConfig,
    ) -> Result<Dumbbell, SimError> {
        let routers = [self.add_node()?, self.add_node()?];
        let middle = self.connect(routers[0], routers[1], bottleneck)?;
        let (left, right) = (self.add_nodes(pairs)?, self.add_nodes(pairs)?);
        for (&node, &other) in left.iter().zip(&right) {
            self.connect(node, routers[0], side)?;
            self.connect(routers[1], other, side)?;
        }
        Ok(Dumbbell { left, right, routers, bottleneck: middle })
    }
}
