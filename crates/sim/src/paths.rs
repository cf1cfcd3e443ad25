//! Shortest paths in any graph, and which of them become routes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::arena::{Arena, Id};

/// Which of the paths to a home become routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteSelection {
    /// One that is shortest.
    Shortest,
    /// By every neighbour that is nearer, so that no choice of routes leads around in a circle. Of neighbours
    /// as near, the one with the smaller number is nearer.
    AllLoopFree,
}

/// A step from a node to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<Node, Exit> {
    /// The neighbour.
    pub to: Node,
    /// By what a packet leaves. One that leads to several neighbours becomes at most one route.
    pub by: Exit,
    /// Length, the same in both directions.
    pub metric: u64,
}

/// A step that becomes a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route<Node, Exit> {
    /// The node that forwards.
    pub from: Node,
    /// By what a packet leaves.
    pub by: Exit,
    /// Length of the whole path.
    pub cost: u64,
}

/// Nodes, which have numbers of their kind, and the steps that lead away from each.
#[derive(Clone, Debug)]
pub struct Graph<Node, Exit> {
    steps: Arena<Node, Vec<Step<Node, Exit>>>,
}

impl<Node: Id + Ord, Exit: Copy + Ord> Graph<Node, Exit> {
    /// So many nodes, and no step between any.
    pub fn new(nodes: usize) -> Self {
        Graph { steps: (0..nodes).map(|_| Vec::new()).collect() }
    }

    /// Adds a step; one that leads away from no node of the graph is none.
    pub fn add(&mut self, from: Node, step: Step<Node, Exit>) {
        if let Some(steps) = self.steps.get_mut(from) {
            steps.push(step);
        }
    }

    /// The routes of every node towards `homes`, of which the nearest counts.
    pub fn routes_to(&self, homes: &[Node], selection: RouteSelection) -> Vec<Route<Node, Exit>> {
        let distances = self.distances_to(homes);
        let distance = |node: Node| distances.get(node).copied().unwrap_or(u64::MAX);
        let mut chosen = Vec::new();
        for (from, steps) in self.steps.indexed() {
            let here = distance(from);
            let is_nearer = |step: &&Step<Node, Exit>| {
                let there = distance(step.to);
                here > 0 && there != u64::MAX && (there, step.to) < (here, from)
            };
            let route = |step: &Step<Node, Exit>| Route {
                from,
                by: step.by,
                cost: distance(step.to).saturating_add(step.metric),
            };
            let nearer = steps.iter().filter(is_nearer).map(route);
            match selection {
                RouteSelection::Shortest => chosen.extend(nearer.min_by_key(|route| route.cost)),
                RouteSelection::AllLoopFree => {
                    let mut best: BTreeMap<Exit, Route<Node, Exit>> = BTreeMap::new();
                    for route in nearer {
                        let known = best.entry(route.by).or_insert(route);
                        if route.cost < known.cost {
                            *known = route;
                        }
                    }
                    chosen.extend(best.into_values());
                }
            }
        }
        chosen
    }

    /// From every node to the nearest of `homes`, by Dijkstra's algorithm; `u64::MAX` where no path leads to
    /// any.
    pub fn distances_to(&self, homes: &[Node]) -> Arena<Node, u64> {
        let mut distances = Arena::filled(&self.steps, u64::MAX);
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
            for step in self.steps.get(node).map(Vec::as_slice).unwrap_or_default() {
                let longer = distance.saturating_add(step.metric);
                if let Some(known) = distances.get_mut(step.to).filter(|known| longer < **known) {
                    *known = longer;
                    heap.push(Reverse((longer, step.to)));
                }
            }
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::NodeId;

    /// A square of nodes 0 to 3; the exit of a step is the number of its side. Side 2 is `metric` long.
    fn square(metric: u64) -> Graph<NodeId, u8> {
        let mut graph = Graph::new(4);
        for (by, (a, b)) in (0..).zip([(0, 1), (1, 2), (2, 3), (3, 0)]) {
            let (a, b) = (NodeId(a), NodeId(b));
            let metric = if by == 2 { metric } else { 1 };
            graph.add(a, Step { to: b, by, metric });
            graph.add(b, Step { to: a, by, metric });
        }
        graph
    }

    #[test]
    fn distances_go_around_what_is_long_and_not_where_nothing_leads() {
        let distances = |metric, homes: &[u32]| -> Vec<u64> {
            let homes: Vec<NodeId> = homes.iter().copied().map(NodeId).collect();
            square(metric).distances_to(&homes).into_iter().collect()
        };
        assert_eq!(distances(1, &[2]), [2, 1, 0, 1]);
        assert_eq!(distances(9, &[2]), [2, 1, 0, 3]);
        assert_eq!(distances(9, &[2, 3]), [1, 1, 0, 0]);
        assert_eq!(distances(1, &[]), [u64::MAX; 4]);
        assert_eq!(square(1).routes_to(&[NodeId(7)], RouteSelection::AllLoopFree), []);
    }

    #[test]
    fn loop_free_routes_are_those_on_which_every_hop_comes_nearer() {
        let costs = |by| -> Vec<(u32, u8, u64)> {
            let routes = square(1).routes_to(&[NodeId(2)], by);
            routes.iter().map(|route| (route.from.0, route.by, route.cost)).collect()
        };
        assert_eq!(costs(RouteSelection::Shortest), [(0, 0, 2), (1, 1, 1), (3, 2, 1)]);
        assert_eq!(costs(RouteSelection::AllLoopFree), [(0, 0, 2), (0, 3, 2), (1, 1, 1), (3, 2, 1)]);
    }

    #[test]
    fn an_exit_to_several_neighbours_becomes_one_route_at_the_least_cost() {
        let mut graph = Graph::new(4);
        for (a, b, by, metric) in [(0, 1, 0, 3), (0, 2, 0, 1), (1, 3, 1, 1), (2, 3, 1, 1)] {
            let (a, b) = (NodeId(a), NodeId(b));
            graph.add(a, Step { to: b, by, metric });
            graph.add(b, Step { to: a, by, metric });
        }
        let routes = graph.routes_to(&[NodeId(3)], RouteSelection::AllLoopFree);
        let of_first: Vec<u64> =
            routes.iter().filter(|route| route.from == NodeId(0)).map(|route| route.cost).collect();
        assert_eq!(of_first, [2]);
    }
}
