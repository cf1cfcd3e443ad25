//! Graphs drawn at random.

use packet::random::Random;
use packet::time::Duration;

use super::{Topology, TopologyLink, TopologyNode, TopologyNodeId};
use crate::arena::Arena;
use crate::error::SimError;

impl Topology {
    /// Waxman's random graph ("Routing of multipoint connections", JSAC 1988): nodes lie anywhere in a
    /// square, and two at a distance `d` are joined with a probability of `alpha * exp(-d / (beta * L))`,
    /// where `L` is the diagonal. The delay of a link is in proportion to its length, `diagonal_delay`
    /// for the whole diagonal.
    ///
    /// What is not connected to the largest part is then joined to it, each part by the shortest link there
    /// is, so that the graph is connected.
    ///
    /// # Errors
    /// Parameters outside of 0.0..=1.0, or no nodes.
    pub fn waxman(
        nodes: usize,
        alpha: f64,
        beta: f64,
        diagonal_delay: Duration,
        random: &mut Random,
    ) -> Result<Topology, SimError> {
        check_count(nodes)?;
        for (what, value) in [("alpha", alpha), ("beta", beta)] {
            if !(value > 0.0 && value <= 1.0) {
                return Err(SimError::OutOfRange { what, value, must: "above 0 and at most 1" });
            }
        }
        let positions: Vec<(f64, f64)> = (0..nodes).map(|_| (random.unit(), random.unit())).collect();
        let mut topology = Topology { nodes: named(&positions), links: Vec::new() };
        let diagonal = std::f64::consts::SQRT_2;
        let link = |from: usize, to: usize| {
            let delay = Duration::from_secs_f64(
                distance(positions[from], positions[to]) / diagonal * diagonal_delay.as_secs_f64(),
            );
            TopologyLink { delay: Some(delay), ..between(from, to) }
        };
        for to in 1..nodes {
            for from in 0..to {
                let share = distance(positions[from], positions[to]) / (beta * diagonal);
                if random.chance(alpha * libm::exp(-share)) {
                    topology.links.push(link(from, to));
                }
            }
        }
        loop {
            let components = topology.components();
            let Some(stray) = components.iter().copied().filter(|&component| component > 0).min() else {
                return Ok(topology);
            };
            let pairs = (0..nodes).filter(|&from| components[TopologyNodeId(from)] == 0).flat_map(|from| {
                let components = &components;
                (0..nodes)
                    .filter(move |&to| components[TopologyNodeId(to)] == stray)
                    .map(move |to| (from, to))
            });
            let length =
                |&(from, to): &(usize, usize)| (distance(positions[from], positions[to]) * 1e15) as u64;
            match pairs.min_by_key(length) {
                Some((from, to)) => topology.links.push(link(from.min(to), from.max(to))),
                None => return Ok(topology),
            }
        }
    }

    /// Barabási and Albert's random graph ("Emergence of scaling in random networks", Science 1999): each new
    /// node is joined to `links_each` of those before it, chosen with a probability in proportion to
    /// their number of links. Connected.
    ///
    /// # Errors
    /// No links for each, or fewer nodes than one more than that.
    pub fn barabasi_albert(
        nodes: usize,
        links_each: usize,
        random: &mut Random,
    ) -> Result<Topology, SimError> {
        check_count(nodes)?;
        if links_each == 0 || nodes <= links_each {
            let value = links_each as f64;
            return Err(SimError::OutOfRange { what: "links for each node", value, must: "1 to nodes - 1" });
        }
        let mut links = Vec::new();
        // Every end of every link, so that a uniform draw is one in proportion to the number of links.
        let mut ends: Vec<usize> = Vec::new();
        for to in 1..=links_each {
            for from in 0..to {
                links.push(between(from, to));
                ends.extend([from, to]);
            }
        }
        for to in links_each + 1..nodes {
            let mut chosen: Vec<usize> = Vec::new();
            while chosen.len() < links_each {
                let from = ends[random.below(ends.len() as u64) as usize];
                if !chosen.contains(&from) {
                    chosen.push(from);
                }
            }
            for from in chosen {
                links.push(between(from, to));
                ends.extend([from, to]);
            }
        }
        let node = |number| TopologyNode { name: format!("node-{number}"), position: None };
        Ok(Topology { nodes: (0..nodes).map(node).collect(), links })
    }
}

fn check_count(nodes: usize) -> Result<(), SimError> {
    if (1..=super::MAX_NODES).contains(&nodes) {
        Ok(())
    } else {
        let value = nodes as f64;
        Err(SimError::OutOfRange { what: "the number of nodes", value, must: "1 to 1,000,000" })
    }
}

/// A link between the nodes at these places.
fn between(from: usize, to: usize) -> TopologyLink {
    TopologyLink::between(TopologyNodeId(from), TopologyNodeId(to))
}

fn named(positions: &[(f64, f64)]) -> Arena<TopologyNodeId, TopologyNode> {
    let node = |(number, position): (usize, &(f64, f64))| TopologyNode {
        name: format!("node-{number}"),
        position: Some(*position),
    };
    positions.iter().enumerate().map(node).collect()
}

fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (x, y) = (a.0 - b.0, a.1 - b.1);
    // The square root is exact on every machine, which `hypot` is not.
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waxman_graphs_are_connected_and_prefer_short_links() {
        for (seed, alpha, beta) in [(1, 0.4, 0.2), (2, 0.05, 0.05), (3, 1.0, 1.0)] {
            let mut random = Random::from_seed(seed);
            let topology =
                Topology::waxman(120, alpha, beta, Duration::from_millis(40), &mut random).unwrap();
            assert!(topology.is_connected());
            let position = |node: TopologyNodeId| topology.nodes[node].position.unwrap();
            let length = |link: &TopologyLink| distance(position(link.from), position(link.to));
            let mean = topology.links.iter().map(length).sum::<f64>() / topology.links.len() as f64;
            // Two points of the unit square are 0.52 apart in the mean.
            assert!(mean < 0.47, "{mean}");
            assert!(topology.links.iter().all(|link| link.delay.unwrap() <= Duration::from_millis(40)));
        }
        assert!(Topology::waxman(10, 0.0, 0.5, Duration::ZERO, &mut Random::from_seed(1)).is_err());
    }

    #[test]
    fn scale_free_graphs_have_hubs_and_the_right_number_of_links() {
        let topology = Topology::barabasi_albert(2000, 2, &mut Random::from_seed(1)).unwrap();
        assert!(topology.is_connected());
        assert_eq!(topology.links.len(), 3 + 2 * 1997);
        let mut degrees = Arena::filled(&topology.nodes, 0);
        for link in &topology.links {
            degrees[link.from] += 1;
            degrees[link.to] += 1;
        }
        degrees.sort_unstable();
        assert_eq!(degrees.first(), Some(&2));
        // A uniform choice would leave the largest near 20; preference makes it some 2 * sqrt(2000) = 90.
        let most = degrees.last().copied().unwrap();
        assert!(most > 50, "{most}");
        assert!(Topology::barabasi_albert(2, 2, &mut Random::from_seed(1)).is_err());
    }
}
