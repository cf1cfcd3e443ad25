//! What must hold of every topology that was read, whatever the file.

use packet::time::Duration;
use sim::topology::Topology;
use sim::{LinkConfig, LinkId, Network};

/// Checks a topology, and builds it if it is small.
pub fn check(topology: &Topology) {
    for link in &topology.links {
        assert!(
            link.from.0 < topology.nodes.len() && link.to.0 < topology.nodes.len(),
            "{link:?} leads nowhere"
        );
        assert_ne!(link.from, link.to);
        assert!(link.loss.is_none_or(|loss| (0.0..=1.0).contains(&loss)), "{link:?}");
        assert!(link.rate_bits_per_second.is_none_or(|rate| rate > 0), "{link:?}");
    }
    for node in &topology.nodes {
        assert!(node.position.is_none_or(|(x, y)| x.is_finite() && y.is_finite()), "{node:?}");
    }
    let largest = topology.largest_component();
    assert!(largest.is_connected());
    assert!(largest.nodes.len() <= topology.nodes.len() && largest.links.len() <= topology.links.len());
    assert_eq!(largest.nodes.is_empty(), topology.nodes.is_empty());
    assert_eq!(largest.largest_component(), largest, "the largest part of a whole is the whole");
    if topology.is_connected() {
        assert_eq!(&largest, topology);
    }
    if topology.nodes.len() <= 4 {
        build(topology);
    }
}

/// Builds the network and looks whether each link is what the topology says.
fn build(topology: &Topology) {
    let mut network = Network::new(1);
    let otherwise = LinkConfig::ideal().mbps(1.0).delay(Duration::from_millis(7));
    let nodes = topology.build(&mut network, &otherwise).expect("what was read can be built");
    assert_eq!((nodes.len(), network.link_count()), (topology.nodes.len(), topology.links.len()));
    for (number, link) in (0..).zip(&topology.links) {
        let ends = network.ends(LinkId(number)).expect("the link is there");
        assert_eq!(ends, [nodes[link.from], nodes[link.to]]);
        let config = network.link_config(LinkId(number)).expect("the link is there");
        assert_eq!(config.delay, link.delay.unwrap_or(otherwise.delay));
        assert_eq!(config.rate_bits_per_second, link.rate_bits_per_second.or(otherwise.rate_bits_per_second));
    }
}
