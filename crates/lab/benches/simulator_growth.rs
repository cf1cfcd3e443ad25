//! How the cost of a hop in the simulator grows with packets under way, nodes and links.
//!
//! `cargo bench -p cairn-lab --bench simulator_growth` prints the table; with `-- --out "$PWD/docs/figures"`
//! it writes it as CSV and draws it as SVG, too. `… -- --large` adds 10,000 nodes with 1,000 consumers for a
//! minute. A hop is an Interest or a Data that crosses one link; times are those that the process was on a
//! processor.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when its own network is wrong"
)]

use std::path::Path;
use std::sync::Arc;

use allocator::Mimalloc;
use cairn_lab::figure::{Axis, LineChart, Series};
use formats::csv;
use packet::random::{Random, Zipf};
use packet::time::Duration;
use sim::topology::Topology;
use sim::{AppId, Consumer, LinkConfig, Network, Producer, Queue};
use testkit::counting_allocator::CountingAllocator;
use testkit::stopwatch::Stopwatch;

#[global_allocator]
static ALLOCATOR: CountingAllocator<Mimalloc> = CountingAllocator::new(Mimalloc);

/// What was measured at one size.
struct Point {
    /// What grows.
    what: &'static str,
    /// How many of them there are.
    count: usize,
    nodes: usize,
    links: usize,
    hops: u64,
    nanos_per_hop: f64,
    bytes_per_node: f64,
}

const PACKETS: &str = "packets under way";
const NODES: &str = "nodes";
const LINKS: &str = "links";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let out = arguments.iter().position(|word| word == "--out").and_then(|place| arguments.get(place + 1));
    let mut points: Vec<Point> =
        [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536].into_iter().map(chain).collect();
    // Small graphs run for longer, for the system accounts for processors in steps of milliseconds.
    let seconds = |nodes: usize| 20 * (1_000 / nodes as u64).clamp(1, 100);
    let sizes = [10, 30, 100, 300, 1_000, 3_000, 10_000];
    points.extend(sizes.map(|nodes| graph(NODES, nodes, 2, nodes / 10, seconds(nodes))));
    points.extend([1, 2, 4, 8, 16, 32].map(|links_each| graph(LINKS, 1_000, links_each, 100, 20)));
    show(&points);
    if arguments.iter().any(|word| word == "--large") {
        println!("\n10,000 nodes, 1,000 consumers of a Zipf catalogue, 60 s");
        show(&[graph(NODES, 10_000, 2, 1_000, 60)]);
    }
    if let Some(folder) = out {
        write(&points, Path::new(folder));
    }
}

fn show(points: &[Point]) {
    println!(
        "{:18} {:>7} {:>7} {:>7} {:>9} {:>9} {:>8}",
        "what grows", "count", "nodes", "links", "hops", "ns a hop", "kB/node"
    );
    for point in points {
        println!(
            "{:18} {:7} {:7} {:7} {:9} {:9.0} {:8.1}",
            point.what,
            point.count,
            point.nodes,
            point.links,
            point.hops,
            point.nanos_per_hop,
            point.bytes_per_node / 1e3
        );
    }
}

/// Four forwarders in a row, with so many Interests or Data of distinct names under way.
fn chain(window: usize) -> Point {
    let exchanges = (window as u64 * 4).clamp(50_000, 300_000);
    let make = || {
        let mut network = Network::new(1);
        network.engines(|config| config.content_store.max_entries = 1_000);
        let nodes = network.chain(4, &LinkConfig::ideal().mbps(10_000.0).millis(1)).expect("a chain");
        network.add_producer(nodes[3], "/data", Producer::new(1_000)).expect("a producer");
        let asks = Consumer::window("/data", window).expect("a consumer").limit(exchanges);
        network.add_application(nodes[0], asks).expect("a consumer");
        network.route_shortest_paths().expect("routes");
        network
    };
    measure(PACKETS, window, make, |network| {
        let quiet = network.run_until_quiet(Duration::from_secs(1_000_000)).expect("time passes");
        assert!(quiet && network.hops() == exchanges * 6);
    })
}

/// A scale-free graph in which consumers ask ten times a second for objects of a catalogue.
fn graph(what: &'static str, nodes: usize, links_each: usize, consumers: usize, seconds: u64) -> Point {
    let mut asking: Vec<AppId> = Vec::new();
    let make = || {
        let mut network = Network::new(1);
        network.engines(|config| config.content_store.max_entries = 100);
        let mut random = Random::from_seed(7);
        let topology = Topology::barabasi_albert(nodes, links_each, &mut random).expect("a graph");
        let link = LinkConfig::ideal().mbps(100.0).millis(5).queue(Queue::packets(100));
        let ids = topology.build(&mut network, &link).expect("a network");
        let catalogue = Arc::new(Zipf::new(10_000, 0.8, 0.0).expect("a catalogue"));
        let mut any = || ids.as_slice()[random.below(ids.len() as u64) as usize];
        for number in 0..10 {
            let prefix = format!("/site/{number}");
            network.add_producer(any(), &prefix, Producer::new(1_000)).expect("a producer");
        }
        for number in 0..consumers.max(1) {
            let prefix = format!("/site/{}", number % 10);
            let asks = Consumer::zipf(&prefix, catalogue.clone(), 10.0).expect("a consumer");
            asking.push(network.add_application(any(), asks).expect("a consumer"));
        }
        network.route_shortest_paths().expect("routes");
        network
    };
    let mut point = measure(what, nodes, make, |network| {
        network.run_for(Duration::from_secs(seconds)).expect("time passes");
    });
    if what == LINKS {
        point.count = point.links;
    }
    point
}

fn measure(
    what: &'static str,
    count: usize,
    make: impl FnOnce() -> Network,
    run: impl FnOnce(&mut Network),
) -> Point {
    let (mut network, built) = ALLOCATOR.count(make);
    let stopwatch = Stopwatch::start();
    let ((), grown) = ALLOCATOR.count(|| run(&mut network));
    let nanos = stopwatch.nanos();
    let nodes = network.node_count();
    Point {
        what,
        count,
        nodes,
        links: network.link_count(),
        hops: network.hops(),
        nanos_per_hop: nanos / network.hops() as f64,
        bytes_per_node: (built.held_bytes + grown.held_bytes) as f64 / nodes as f64,
    }
}

fn write(points: &[Point], folder: &Path) {
    let names = ["what_grows", "count", "nodes", "links", "hops", "ns_per_hop", "bytes_per_node"];
    let rows = points.iter().map(|point| {
        let Point { what, count, nodes, links, hops, .. } = point;
        let [count, nodes, links, hops] =
            [*count as u64, *nodes as u64, *links as u64, *hops].map(|n| n.to_string());
        let (nanos, bytes) = (format!("{:.1}", point.nanos_per_hop), format!("{:.0}", point.bytes_per_node));
        [(*what).to_owned(), count, nodes, links, hops, nanos, bytes]
    });
    let csv = csv::to_string(std::iter::once(names.map(str::to_owned)).chain(rows));
    let series = |what: &str| Series {
        label: what.to_owned(),
        points: points
            .iter()
            .filter(|point| point.what == what)
            .map(|point| (point.count as f64, point.nanos_per_hop))
            .collect(),
    };
    let chart = LineChart {
        title: "What an Interest or a Data over one link costs the simulator".into(),
        x: Axis::new("how many packets under way, nodes, or links", "").logarithmic(),
        y: Axis::new("processor time", "ns a hop").with_zero(),
        series: [PACKETS, NODES, LINKS].map(series).into(),
    };
    std::fs::create_dir_all(folder).expect("a folder for figures");
    for (file, text) in [("simulator-growth.csv", csv), ("simulator-growth.svg", chart.to_svg())] {
        std::fs::write(folder.join(file), text).expect("a file that can be written");
    }
}
