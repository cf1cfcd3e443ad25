//! Our own topologies. Whatever is read is a topology with distinct names that can be built, and TOML that
//! says what JSON says means the same.

#![no_main]

use std::collections::BTreeSet;

use cairn_fuzz::topology::check;
use sim::topology::{NamedLink, NamedNode, Topology, TopologyNodeId};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let [toml, json] = [Topology::read_toml(text), Topology::read_json(text)];
    for topology in [toml, json].into_iter().flatten() {
        check(&topology);
        let names: BTreeSet<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names.len(), topology.nodes.len(), "two nodes of one name");
        check_again(&topology);
    }
});

/// What a topology says in names is the topology again.
fn check_again(topology: &Topology) {
    let name = |node: TopologyNodeId| topology.nodes[node].name.clone();
    let nodes: Vec<NamedNode> = topology
        .nodes
        .iter()
        .map(|node| {
            let (x, y) = node.position.unzip();
            NamedNode { name: node.name.clone(), x, y }
        })
        .collect();
    let links: Vec<NamedLink> = topology
        .links
        .iter()
        .map(|link| NamedLink {
            from: name(link.from),
            to: name(link.to),
            rate: link.rate_bits_per_second,
            delay: link.delay,
            metric: link.metric,
            queue_packets: link.queue_packets,
            loss: link.loss,
        })
        .collect();
    assert_eq!(Topology::of_names(&nodes, &links).as_ref(), Ok(topology));
}
