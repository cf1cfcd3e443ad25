//! What a hop costs: an Interest or a Data that crosses one link.
//!
//! `cargo bench -p cairn-sim --bench network` prints the tables; times are those that the process was on a
//! processor.
//! `… -- hops`, `cores`, `idle`, `caches` and `cache-networks` run one part. `cores` takes the time of day,
//! which it is about. `… -- instructions N` lets a chain exchange `N` names and does nothing else, so that
//! the difference between two numbers under valgrind is what exchanges execute.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when its own network is wrong"
)]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use allocator::Mimalloc;
use cairn_sim::arena::Arena;
use cairn_sim::topology::{Topology, TopologyLink, TopologyNode, TopologyNodeId};
use cairn_sim::{AppId, CacheNetwork, Consumer, LinkConfig, Network, NodeId, Producer, study_cache};
use engine::EvictionPolicy;
use packet::random::{Random, Zipf};
use packet::time::Duration;
use testkit::counting_allocator::CountingAllocator;
use testkit::stopwatch::Stopwatch;

#[global_allocator]
static ALLOCATOR: CountingAllocator<Mimalloc> = CountingAllocator::new(Mimalloc);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "instructions") {
        let exchanges = arguments.get(place + 1).and_then(|word| word.parse().ok()).unwrap_or(10_000);
        return instructions(exchanges);
    }
    let parts = ["hops", "cores", "idle", "caches", "cache-networks"];
    let all = !arguments.iter().any(|argument| parts.contains(&argument.as_str()));
    let chosen = |part: &str| all || arguments.iter().any(|argument| argument == part);
    if chosen("hops") {
        hops();
    }
    if chosen("cores") {
        cores();
    }
    if chosen("idle") {
        idle();
    }
    if chosen("caches") {
        caches();
    }
    if chosen("cache-networks") {
        cache_networks();
    }
}

/// What the chain is made of.
#[derive(Clone, Copy)]
struct Chain {
    /// Whether consumer and producer are applications at the end of a link, or run on nodes of their own.
    hosts: bool,
    window: usize,
    cached: u32,
}

/// consumer – router – router – producer.
fn chain(shape: Chain, limit: u64) -> (Network, AppId) {
    let mut network = Network::new(1);
    network.engines(|config| config.content_store.max_entries = shape.cached);
    let link = LinkConfig::ideal().mbps(10_000.0).millis(1);
    let routers = network.add_nodes(2).expect("nodes");
    let end = |network: &mut Network| -> NodeId {
        if shape.hosts { network.add_host() } else { network.add_node().expect("a node") }
    };
    let (asking, answering) = (end(&mut network), end(&mut network));
    for (a, b) in [(asking, routers[0]), (routers[0], routers[1]), (routers[1], answering)] {
        network.connect(a, b, &link).expect("a link");
    }
    network.add_producer(answering, "/data", Producer::new(1000)).expect("a producer");
    let asks = Consumer::window("/data", shape.window).expect("a consumer").limit(limit);
    let consumer = network.add_application(asking, asks).expect("a consumer");
    network.route_shortest_paths().expect("routes");
    (network, consumer)
}

fn hops() {
    println!("chain consumer - router - router - producer, distinct names, content of 1000 bytes, one core");
    println!("{:56} {:>10} {:>12} {:>8}", "", "ns a hop", "hops/s", "allocs");
    for (what, shape) in [
        ("hosts at the ends, no content store", Chain { hosts: true, window: 256, cached: 0 }),
        ("hosts at the ends, content stores of 1,000", Chain { hosts: true, window: 256, cached: 1000 }),
        ("four forwarders, no content store", Chain { hosts: false, window: 256, cached: 0 }),
        ("four forwarders, content stores of 1,000", Chain { hosts: false, window: 256, cached: 1000 }),
        (
            "four forwarders, stores of 1,000, window of 10,000",
            Chain { hosts: false, window: 10_000, cached: 1000 },
        ),
    ] {
        let exchanges = 300_000;
        let mut best = f64::MAX;
        let mut allocations = 0.0;
        for _ in 0..5 {
            let (mut network, consumer) = chain(shape, exchanges);
            let start = Stopwatch::start();
            let (quiet, counts) = ALLOCATOR.count(|| network.run_until_quiet(Duration::from_secs(1_000_000)));
            let nanos = start.nanos();
            assert!(quiet.expect("time passes"));
            assert_eq!(network.consumer(consumer).expect("a consumer").received, exchanges);
            assert_eq!(network.hops(), exchanges * 6);
            best = best.min(nanos / network.hops() as f64);
            allocations = counts.allocations as f64 / network.hops() as f64;
        }
        println!("{what:56} {best:10.1} {:12.0} {allocations:8.2}", 1e9 / best);
    }
}

/// What nodes hold that do nothing yet.
fn idle() {
    println!("\n100,000 nodes of a scale-free graph with two links a node, nothing on its way");
    let topology = Topology::barabasi_albert(100_000, 2, &mut Random::from_seed(7)).expect("a graph");
    let (network, counts) = ALLOCATOR.count(|| {
        let mut network = Network::new(1);
        topology.build(&mut network, &LinkConfig::ideal().millis(5)).expect("a network");
        network
    });
    println!("{:.1} kB for each", counts.held_bytes as f64 / 1000.0 / network.node_count() as f64);
}

/// A scale-free network in which a tenth of the nodes ask for objects of a catalogue.
fn busy_graph() -> Network {
    let mut network = Network::new(1);
    network.engines(|config| config.content_store.max_entries = 100);
    let topology = Topology::barabasi_albert(1_000, 2, &mut Random::from_seed(1)).expect("a network");
    let link = LinkConfig::ideal().mbps(10_000.0).millis(5);
    let nodes = topology.build(&mut network, &link).expect("a network");
    let catalogue = Arc::new(Zipf::new(10_000, 0.8, 0.0).expect("a catalogue"));
    network.add_producer(nodes[TopologyNodeId(0)], "/data", Producer::new(1000)).expect("a producer");
    for &node in nodes.iter().skip(5).step_by(10) {
        let consumer = Consumer::zipf("/data", catalogue.clone(), 1_000.0).expect("a consumer");
        network.add_application(node, consumer).expect("a consumer");
    }
    network.route_shortest_paths().expect("routes");
    network
}

/// One network on one core and on two, in turns: the time of day, and that both did the same.
fn cores() {
    println!("\none network on one core and on two, in turns; seconds of the time of day, best of five");
    println!("{:56} {:>8} {:>8} {:>8} {:>12}", "", "one", "two", "times", "hops");
    let chain_of = |window| move || chain(Chain { hosts: false, window, cached: 1000 }, u64::MAX).0;
    type Build = Box<dyn Fn() -> Network>;
    let networks: [(&str, Build, u64); 3] = [
        ("four forwarders, window of 1,000, links of 1 ms", Box::new(chain_of(1_000)), 1_500),
        ("four forwarders, window of 10,000, links of 1 ms", Box::new(chain_of(10_000)), 300),
        ("scale-free graph of 1,000 nodes, links of 5 ms", Box::new(busy_graph), 2_000),
    ];
    for (what, build, millis) in networks {
        let run = |cores| {
            let mut network = build();
            network.set_cores(NonZeroUsize::new(cores).expect("a core"));
            let start = Instant::now();
            network.run_for(Duration::from_millis(millis)).expect("time passes");
            (start.elapsed().as_secs_f64(), (network.trace().hash(), network.hops()))
        };
        let (mut one, mut two, mut hops) = (f64::MAX, f64::MAX, 0);
        for _ in 0..5 {
            let (alone, together) = (run(1), run(2));
            assert_eq!(alone.1, together.1, "{what}");
            (one, two, hops) = (one.min(alone.0), two.min(together.0), alone.1.1);
        }
        println!("{what:56} {one:8.2} {two:8.2} {:8.2} {hops:12}", one / two);
    }
}

/// Requests through eviction policies, without packets.
fn caches() {
    println!("\ncatalogue of 1,000,000 objects (Zipf 0.8), caches without packets");
    println!("{:>10} {:>10} {:>10} {:>14}", "policy", "capacity", "hit ratio", "requests/s");
    let catalogue = Zipf::new(1_000_000, 0.8, 0.0).expect("a catalogue");
    for capacity in [100, 1_000, 10_000, 100_000] {
        for policy in EvictionPolicy::ALL {
            let mut random = Random::from_seed(1);
            let requests = 10_000_000;
            let start = Stopwatch::start();
            let report = study_cache(&catalogue, policy, capacity, requests / 4, requests, &mut random);
            let rate = (requests + requests / 4) as f64 * 1e9 / start.nanos();
            println!("{:>10} {capacity:10} {:10.4} {rate:14.0}", policy.as_str(), report.hit_ratio());
        }
    }
}

/// Requests through networks of caches, without packets.
fn cache_networks() {
    println!(
        "\n100 routers (scale-free, two links each), 100,000 objects (Zipf 0.8), room for 1 %, LRU, one core"
    );
    println!("{:>18} {:>10} {:>10} {:>14}", "placement", "hit ratio", "links", "requests/s");
    let mut topology = Topology::barabasi_albert(100, 2, &mut Random::from_seed(1)).expect("a network");
    let routers: Vec<TopologyNodeId> = topology.nodes.ids().collect();
    let mut attached = |routers: &[TopologyNodeId]| -> Vec<TopologyNodeId> {
        routers.iter().map(|router| attach(&mut topology, *router)).collect()
    };
    let (receivers, sources) = (attached(&routers), attached(&routers[..10]));
    let mut capacities = Arena::filled(&topology.nodes, 0);
    capacities.iter_mut().take(routers.len()).for_each(|capacity| *capacity = 10);
    let catalogue = Zipf::new(100_000, 0.8, 0.0).expect("a catalogue");
    for word in ["everywhere", "leave-copy-down", "prob-cache~10", "probability~0.2", "most-central", "edge"]
    {
        let network = CacheNetwork {
            topology: topology.clone(),
            capacities: capacities.clone(),
            receivers: receivers.clone(),
            sources: sources.clone(),
            placement: word.parse().expect("a placement"),
            eviction: EvictionPolicy::Lru,
        };
        let requests = 4_000_000;
        let start = Stopwatch::start();
        let report = network.study(&catalogue, requests / 4, requests, &mut Random::from_seed(1));
        let rate = (requests + requests / 4) as f64 * 1e9 / start.nanos();
        let report = report.expect("requests");
        println!("{word:>18} {:10.4} {:10.2} {rate:14.0}", report.hit_ratio(), report.mean_hops());
    }
}

/// One more node, with a link to a router.
fn attach(topology: &mut Topology, router: TopologyNodeId) -> TopologyNodeId {
    let place = topology.nodes.push(TopologyNode::default());
    topology.links.push(TopologyLink::between(router, place));
    place
}

fn instructions(exchanges: u64) {
    let (mut network, _) = chain(Chain { hosts: false, window: 256, cached: 1000 }, exchanges);
    network.run_until_quiet(Duration::from_secs(1_000_000)).expect("time passes");
    println!("{} hops", network.hops());
}
