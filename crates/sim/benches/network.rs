//! What a hop costs: an Interest or a Data that crosses one link.
//!
//! `cargo bench -p cairn-sim` prints the tables; times are those that the process was on a processor. `… -- hops`, `growth`, `graph`, `caches` run one part. `… -- instructions N` lets a
//! chain exchange `N` names and does nothing else, so that the difference between two numbers under valgrind is what exchanges
//! execute.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when its own network is wrong"
)]

use std::sync::Arc;

use engine::EvictionPolicy;
use mimalloc::MiMalloc;
use packet::random::Random;
use packet::time::Duration;
use sim::topology::Topology;
use sim::{AppId, Consumer, LinkConfig, Network, NodeId, Producer, Queue, Zipf, study_cache};
use testkit::counting_allocator::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator<MiMalloc> = CountingAllocator::new(MiMalloc);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "instructions") {
        let exchanges = arguments.get(place + 1).and_then(|word| word.parse().ok()).unwrap_or(10_000);
        return instructions(exchanges);
    }
    let parts = ["hops", "growth", "graph", "caches"];
    let all = !arguments.iter().any(|argument| parts.contains(&argument.as_str()));
    let chosen = |part: &str| all || arguments.iter().any(|argument| argument == part);
    if chosen("hops") {
        hops();
    }
    if chosen("growth") {
        growth();
    }
    if chosen("graph") {
        graph(10_000, 1_000, 60);
    }
    if chosen("caches") {
        caches();
    }
}

/// Measures the time this process was on a processor, so that others on the machine matter little; the time of day, where the
/// system does not tell.
struct Stopwatch {
    time: std::time::Instant,
    on_processor: Option<u64>,
}

impl Stopwatch {
    fn start() -> Self {
        Stopwatch { time: std::time::Instant::now(), on_processor: Self::on_processor() }
    }

    fn on_processor() -> Option<u64> {
        std::fs::read_to_string("/proc/self/schedstat").ok()?.split(' ').next()?.parse().ok()
    }

    fn nanos(&self) -> f64 {
        match (self.on_processor, Self::on_processor()) {
            (Some(before), Some(now)) => (now - before) as f64,
            _ => self.time.elapsed().as_nanos() as f64,
        }
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

/// How the cost of a hop grows with what there is of everything.
fn growth() {
    println!("\nwith packets under way: chain of four forwarders, stores of 1,000");
    println!("{:>16} {:>10} {:>12}", "window", "ns a hop", "hops/s");
    for window in [1, 16, 256, 4_096, 65_536] {
        let exchanges = (window as u64 * 4).clamp(50_000, 300_000);
        let (mut network, _) = chain(Chain { hosts: false, window, cached: 1000 }, exchanges);
        let start = Stopwatch::start();
        assert!(network.run_until_quiet(Duration::from_secs(1_000_000)).expect("time passes"));
        let nanos = start.nanos() / network.hops() as f64;
        println!("{window:16} {nanos:10.1} {:12.0}", 1e9 / nanos);
    }
    println!(
        "\nwith nodes: scale-free graphs with two links a node, a tenth of the nodes asks 10 times a second"
    );
    for nodes in [100, 1_000, 10_000] {
        graph(nodes, nodes / 10, 20);
    }
}

/// A random graph in which consumers ask for objects of a catalogue: time, and memory for each node.
fn graph(nodes: usize, consumers: usize, seconds: u64) {
    let start = Stopwatch::start();
    let ((mut network, asking), counts) = ALLOCATOR.count(|| {
        let mut network = Network::new(1);
        network.engines(|config| config.content_store.max_entries = 100);
        let mut random = Random::from_seed(7);
        let topology = Topology::barabasi_albert(nodes, 2, &mut random).expect("a graph");
        let link = LinkConfig::ideal().mbps(100.0).millis(5).queue(Queue::packets(100));
        let ids = topology.build(&mut network, &link).expect("a network");
        let catalogue = Arc::new(Zipf::new(10_000, 0.8, 0.0).expect("a catalogue"));
        let mut any = || ids[random.below(ids.len() as u64) as usize];
        for number in 0..10 {
            let prefix = format!("/site/{number}");
            network.add_producer(any(), &prefix, Producer::new(1000)).expect("a producer");
        }
        let asking: Vec<AppId> = (0..consumers)
            .map(|number| {
                let prefix = format!("/site/{}", number % 10);
                let asks = Consumer::zipf(&prefix, catalogue.clone(), 10.0).expect("a consumer");
                network.add_application(any(), asks).expect("a consumer")
            })
            .collect();
        network.route_shortest_paths().expect("routes");
        (network, asking)
    });
    let built = counts.held_bytes;
    let building = start.nanos() / 1e9;
    let start = Stopwatch::start();
    let (outcome, counts) = ALLOCATOR.count(|| network.run_for(Duration::from_secs(seconds)));
    outcome.expect("time passes");
    let running = start.nanos() / 1e9;
    let received: u64 =
        asking.iter().filter_map(|id| network.consumer(*id)).map(|report| report.received).sum();
    let hops = network.hops();
    println!(
        "{nodes:6} nodes, {} links, {consumers} consumers, {seconds} s: built in {building:.2} s, run in {running:.2} s",
        network.link_count()
    );
    println!(
        "       {received} answers, {hops} hops, {:.1} ns a hop; memory for each node {:.1} kB built, {:.1} kB after",
        running * 1e9 / hops as f64,
        built as f64 / nodes as f64 / 1e3,
        (built + counts.held_bytes) as f64 / nodes as f64 / 1e3
    );
}

/// Requests through eviction policies, without packets.
fn caches() {
    println!("\ncatalogue of 1,000,000 objects (Zipf 0.8), caches without packets");
    println!("{:>10} {:>10} {:>10} {:>14}", "policy", "capacity", "hit ratio", "requests/s");
    let catalogue = Zipf::new(1_000_000, 0.8, 0.0).expect("a catalogue");
    for capacity in [10_000, 100_000] {
        for policy in EvictionPolicy::ALL {
            let mut random = Random::from_seed(1);
            let requests = 10_000_000;
            let start = Stopwatch::start();
            let report = study_cache(&catalogue, policy, capacity, requests / 4, requests, &mut random);
            let rate = (requests + requests / 4) as f64 / start.nanos() / 1e9;
            println!("{:>10} {capacity:10} {:10.4} {rate:14.0}", policy.as_str(), report.hit_ratio());
        }
    }
}

fn instructions(exchanges: u64) {
    let (mut network, _) = chain(Chain { hosts: false, window: 256, cached: 1000 }, exchanges);
    network.run_until_quiet(Duration::from_secs(1_000_000)).expect("time passes");
    println!("{} hops", network.hops());
}
