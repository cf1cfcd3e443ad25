//! What a node with an engine takes of memory before anything happens.

#![allow(clippy::expect_used, reason = "a test stops when its own network is wrong")]

use std::alloc::System;

use cairn_sim::topology::Topology;
use cairn_sim::{LinkConfig, Network};
use packet::random::Random;
use testkit::counting_allocator::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);

/// Bytes that a node of a scale-free graph with two links a node holds, its links included.
fn bytes_for_each(nodes: usize) -> i64 {
    let topology = Topology::barabasi_albert(nodes, 2, &mut Random::from_seed(7)).expect("a graph");
    let (network, counts) = ALLOCATOR.count(|| {
        let mut network = Network::new(1);
        topology.build(&mut network, &LinkConfig::ideal().millis(5)).expect("a network");
        let quiet = network.run_until_quiet(packet::time::Duration::from_secs(60)).expect("time passes");
        assert!(quiet, "nothing is on its way in a network without applications");
        network
    });
    assert_eq!(network.node_count(), nodes);
    counts.held_bytes / nodes as i64
}

// The only test of this file, for the allocator counts what all threads do.
#[test]
fn an_idle_node_holds_less_than_20_kilobytes_however_many_there_are() {
    let few = bytes_for_each(500);
    let many = bytes_for_each(5_000);
    println!("bytes for each of 500 and of 5,000 idle nodes: {few} and {many}");
    assert!(few < 20_000 && many < 20_000, "{few} and {many} bytes for each node");
}
