//! Chains, trees, stars, grids and dumbbells, built straight into a network.

use crate::arena::{LinkId, NodeId};
use crate::error::SimError;
use crate::link::LinkConfig;
use crate::network::Network;

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
        let nodes = self.add_nodes(count)?;
        for pair in nodes.windows(2) {
            self.connect(pair[0], pair[1], link)?;
        }
        Ok(nodes)
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
        let mut nodes = vec![self.add_node()?];
        let mut level = nodes.clone();
        for _ in 0..depth {
            let mut next = Vec::new();
            for &parent in &level {
                for _ in 0..children {
                    let child = self.add_node()?;
                    self.connect(parent, child, link)?;
                    next.push(child);
                }
            }
            nodes.extend(&next);
            level = next;
        }
        Ok(nodes)
    }

    /// Adds a grid, row by row.
    ///
    /// # Errors
    /// As [`Network::connect`].
    pub fn grid(&mut self, columns: usize, rows: usize, link: &LinkConfig) -> Result<Vec<NodeId>, SimError> {
        let nodes = self.add_nodes(columns * rows)?;
        for row in 0..rows {
            for column in 0..columns {
                let here = nodes[row * columns + column];
                if column + 1 < columns {
                    self.connect(here, nodes[row * columns + column + 1], link)?;
                }
                if row + 1 < rows {
                    self.connect(here, nodes[(row + 1) * columns + column], link)?;
                }
            }
        }
        Ok(nodes)
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
