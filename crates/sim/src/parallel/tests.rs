//! However many cores are at work, all that can be seen of a network is the same.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::Arc;

use engine::{FaceConfig, SharingConfig};
use link::v2;
use packet::random::{Random, Zipf};
use packet::time::{Duration, Instant};

use super::partition::Partition;
use crate::application::{Application, Consumer, Context, Producer};
use crate::arena::{NodeId, PartId};
use crate::error::SimError;
use crate::events::simultaneous::SimultaneousOrder;
use crate::link::{CoDel, Faults, LinkConfig, Queue};
use crate::network::Network;
use crate::network::cores::Cores;
use crate::node::clock::Clock;
use crate::node::cpu_share::{CpuQuota, CpuShare};
use crate::node::processor::{FaceTimes, KindTimes, ProcessorConfig};
use crate::node::waking::{KindWaking, Waking};
use crate::swarm;
use crate::trace::TraceConfig;

/// Cores that are used however little there is to do.
pub(crate) fn eager(count: usize) -> Cores<Network> {
    Cores { count, worth_it: 0, ..Cores::default() }
}

/// Many nodes in step: equal links, equal consumers that begin at once, so that much happens at the same
/// instants, in different parts.
fn in_step(network: &mut Network) -> Result<(), SimError> {
    let link = LinkConfig::ideal().mbps(50.0).millis(2).queue(Queue::packets(20));
    let nodes = network.grid(5, 4, &link)?;
    for (place, prefix) in [(7, "/a"), (12, "/b")] {
        network.add_producer(nodes[place], prefix, Producer::new(700))?;
    }
    network.route_all_paths()?;
    for node in [0, 4, 15, 19] {
        for prefix in ["/a", "/b"] {
            network.add_application(nodes[node], Consumer::window(prefix, 6)?)?;
        }
    }
    Ok(())
}

/// All that a network can do which draws randomness, loses, changes and restarts.
fn in_disorder(network: &mut Network) -> Result<(), SimError> {
    let impairment = Faults {
        loss: 0.02,
        duplicate: 0.02,
        reorder: 0.05,
        reorder_delay: Duration::from_millis(3),
        jitter: Duration::from_millis(1),
        ..Faults::NONE
    };
    let bad = LinkConfig { impairment, ..LinkConfig::ideal().mbps(20.0).millis(2) };
    let queue = Queue { codel: Some(CoDel::RFC_8289), ..Queue::packets(30) };
    let managed = LinkConfig::ideal().mbps(5.0).millis(4).queue(queue);
    let mut nodes = network.grid(4, 2, &bad)?;
    nodes.extend(network.grid(4, 2, &managed)?);
    for (a, b, link) in [(3, 8, &bad), (5, 13, &managed), (7, 11, &managed)] {
        network.connect(nodes[a], nodes[b], link)?;
    }
    // Three that share a link and its answers, and what they hold back goes on over links that may be cut.
    let sharing = FaceConfig { sharing: Some(SharingConfig::LOCAL), ..FaceConfig::remote() };
    network.connect_all(&[nodes[0], nodes[5], nodes[6]], &LinkConfig { face: sharing, ..bad.clone() })?;
    let service = v2::Config { transport_mtu_bytes: Some(1_400), ..v2::Config::default() };
    network.connect(nodes[1], nodes[6], &LinkConfig { framing: Some(service.into()), ..bad.clone() })?;
    let host = network.add_host();
    network.connect(host, nodes[12], &managed)?;
    network.add_application(host, Consumer::window("/c", 4)?)?;
    network.add_application(nodes[6], Consumer::window("/b", 3)?)?;
    let fast = Clock { drift_nanos_per_second: 40_000, ..Clock::PERFECT };
    network.set_engine_clock(nodes[10], fast)?;
    for (place, prefix) in [(3, "/a"), (8, "/b"), (14, "/c")] {
        network.add_producer(nodes[place], prefix, Producer::new(800))?;
    }
    network.route_all_paths()?;
    let catalogue = Arc::new(Zipf::new(500, 0.9, 0.0)?);
    for (place, prefix) in [(0, "/a"), (4, "/b"), (10, "/c"), (15, "/a")] {
        let consumer = Consumer::zipf(prefix, catalogue.clone(), 400.0)?.lifetime(Duration::from_millis(200));
        network.add_application(nodes[place], consumer)?;
    }
    network.set_processor(nodes[9], ProcessorConfig::uniform(Duration::from_micros(300)))?;
    network.set_processor(nodes[10], sleeping_processor())?;
    network.set_clock(nodes[4], Clock { tick: Duration::from_millis(10), ..Clock::PERFECT })?;
    for &node in &nodes {
        network.set_strategy(node, "/", "asf")?;
    }
    let (victim, neighbour) = (nodes[5], nodes[13]);
    network.at(Instant::from_millis(1_100), move |network| network.restart(victim).unwrap_or_default());
    let link = network.links().nth(2).ok_or(SimError::TooFewEnds)?;
    network.at(Instant::from_millis(700), move |network| drop(network.take_down(link)));
    network.at(Instant::from_millis(1_500), move |network| drop(network.bring_up(link)));
    network.at(Instant::from_millis(1_600), move |network| {
        drop(network.reconfigure(link, |config| config.delay = Duration::from_micros(100)));
    });
    network.at(Instant::from_millis(1_200), move |network| network.restart(neighbour).unwrap_or_default());
    Ok(())
}

/// Half a core, for the applications of a node, that costs time to be woken up.
fn sleeping_processor() -> ProcessorConfig {
    let micros = Duration::from_micros;
    let waking = Waking::new([(Duration::ZERO, Duration::ZERO), (micros(3_000), micros(40))]);
    let quota = CpuQuota { period: micros(2_000), runtime: micros(1_000) };
    let times = FaceTimes {
        arriving: KindTimes { interest: micros(90), data: micros(60), nack: micros(90) },
        leaving: KindTimes { interest: micros(5), data: micros(7), nack: micros(5) },
        arriving_asleep: KindWaking { interest: waking.clone(), data: waking.clone(), nack: waking.clone() },
        leaving_asleep: KindWaking { interest: waking.clone(), data: waking.clone(), nack: waking.clone() },
        latency: micros(30),
    };
    ProcessorConfig {
        applications: Some(times),
        answer_asleep: waking,
        share: CpuShare::Quotas(vec![(Instant::ZERO, Some(quota))]),
        ..ProcessorConfig::uniform(micros(20))
    }
}

/// All that can be seen of a run, and how many events several cores had.
fn seen(
    build: fn(&mut Network) -> Result<(), SimError>,
    cores: Cores<Network>,
    trace: TraceConfig,
    order: SimultaneousOrder,
) -> Result<(String, u64), SimError> {
    let mut network = Network::new(11);
    network.set_simultaneous_order(order);
    build(&mut network)?;
    network.cores = cores;
    network.record(trace);
    for step in 1..=9 {
        network.run_until(Instant::from_millis(step * 217))?;
    }
    let mut states = String::new();
    for node in network.nodes() {
        let occupancy = network.take_occupancy(node);
        let counters = network.engine(node).map(|engine| engine.counters());
        let use_of = network.processor_use(node);
        writeln!(states, "{node} {occupancy:?} {counters:?} {use_of:?}").unwrap_or_default();
    }
    for link in network.links() {
        writeln!(states, "{link} {:?}", network.link_counters(link)?).unwrap_or_default();
    }
    let trace = network.trace();
    let tables = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        trace.packets,
        trace.delays,
        trace.values,
        trace.drops,
        trace.faces,
        trace.nodes,
        trace.links,
        trace.engine_drops,
    );
    let reports: Vec<_> = network.applications::<Consumer>().map(|(_, consumer)| consumer.report()).collect();
    let all = format!(
        "{:016x} {} {} {} {} {} {:?}\n{states}\n{}",
        trace.hash(),
        trace.steps(),
        network.hops(),
        network.core.queue.turns(),
        network.packets_under_way(),
        network.may_depend_on_ties(),
        reports,
        tables.replace("), ", "),\n"),
    );
    Ok((all, network.events_on_several_cores()))
}

#[test]
fn everything_that_can_be_seen_is_the_same_on_any_number_of_cores() -> Result<(), SimError> {
    for build in [in_step, in_disorder] {
        for trace in [TraceConfig::complete(Duration::from_millis(100)), TraceConfig::default()] {
            let planned = SimultaneousOrder::Planned;
            let (alone, shared) = seen(build, Cores::default(), trace.clone(), planned)?;
            assert_eq!(shared, 0);
            for count in [2, 3, 5] {
                let (together, shared) = seen(build, eager(count), trace.clone(), planned)?;
                assert!(shared > 10_000, "{count} cores had {shared} events");
                let differing = alone.lines().zip(together.lines()).find(|(a, b)| a != b);
                assert_eq!(differing, None, "{count} cores");
                assert!(alone == together);
            }
        }
    }
    Ok(())
}

#[test]
fn the_order_of_one_instant_is_kept_on_any_number_of_cores_and_makes_a_difference() -> Result<(), SimError> {
    let trace = TraceConfig::complete(Duration::from_millis(100));
    for build in [in_step, in_disorder] {
        let (planned, _) = seen(build, Cores::default(), trace.clone(), SimultaneousOrder::Planned)?;
        let mut others = 0;
        for order in (2..6).map(SimultaneousOrder::Drawn) {
            let (alone, _) = seen(build, Cores::default(), trace.clone(), order)?;
            others += u32::from(alone != planned);
            for count in [2, 3] {
                let (together, shared) = seen(build, eager(count), trace.clone(), order)?;
                assert!(shared > 10_000, "{count} cores had {shared} events");
                let differing = alone.lines().zip(together.lines()).find(|(a, b)| a != b);
                assert_eq!(differing, None, "{count} cores, {order:?}");
            }
        }
        assert!(others > 0, "no order that was drawn is another one than the planned");
    }
    Ok(())
}

#[test]
fn records_that_are_thinned_out_or_find_no_room_are_the_same_ones() -> Result<(), SimError> {
    let trace = TraceConfig {
        one_in: 7,
        max_records: Some(500),
        ..TraceConfig::complete(Duration::from_millis(100))
    };
    let order = SimultaneousOrder::Planned;
    let (alone, _) = seen(in_disorder, Cores::default(), trace.clone(), order)?;
    assert!(alone == seen(in_disorder, eager(3), trace, order)?.0);
    Ok(())
}

#[test]
fn random_networks_that_fail_and_heal_do_the_same_on_three_cores() {
    let mut shared = 0;
    for seed in 0..24 {
        let alone = swarm::run(seed).map_err(|failure| failure.to_string());
        let together = swarm::run_on(seed, eager(3));
        assert_eq!(alone, together.result.map_err(|failure| failure.to_string()), "seed {seed}");
        shared += u64::from(together.events_on_several_cores > 0);
    }
    assert!(shared > 8, "only {shared} networks were divided");
}

#[test]
fn where_little_happens_one_core_is_left_alone() -> Result<(), SimError> {
    let mut network = Network::new(1);
    let nodes = network.chain(4, &LinkConfig::ideal().millis(5))?;
    network.add_producer(nodes[3], "/video", Producer::new(100))?;
    network.add_application(nodes[0], Consumer::window("/video", 2)?)?;
    network.route_shortest_paths()?;
    network.set_cores(NonZeroUsize::MIN.saturating_add(1));
    network.run_for(Duration::from_secs(20))?;
    let events = network.events_on_several_cores();
    assert!(events > 0 && events < 5_000, "{events} of some 50,000 events");
    Ok(())
}

#[test]
fn links_that_are_short_or_shared_join_their_nodes_in_one_part() -> Result<(), SimError> {
    let mut network = Network::new(1);
    let nodes = network.add_nodes(6)?;
    let (short, long) = (LinkConfig::ideal(), LinkConfig::ideal().millis(3));
    network.connect(nodes[0], nodes[1], &short)?;
    network.connect_all(&[nodes[1], nodes[2], nodes[3]], &long)?;
    assert!(Partition::of(&network, 2).is_none(), "nothing joins the two that are left");
    network.connect(nodes[3], nodes[4], &long)?;
    network.connect(nodes[4], nodes[5], &LinkConfig::ideal().millis(7))?;
    let partition = Partition::of(&network, 2).ok_or(SimError::TooFewEnds)?;
    let parts: [Vec<NodeId>; 2] = [PartId(0), PartId(1)].map(|part| partition.nodes_of(part).collect());
    let whole = |nodes: &[NodeId]| parts.iter().any(|part| nodes.iter().all(|node| part.contains(node)));
    assert!(whole(&nodes[..4]), "{parts:?}");
    assert!(!whole(&nodes), "{parts:?}");
    assert!([3, 7].map(Duration::from_millis).contains(&partition.lookahead()));
    Ok(())
}

/// Panics after a while.
struct Faulty(u32);

impl Application for Faulty {
    fn start(&mut self, context: &mut Context<'_>) {
        context.wake_after(Duration::from_millis(1));
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        self.0 -= 1;
        assert!(self.0 > 0, "this application has a fault");
        context.wake_after(Duration::from_millis(1));
    }
}

#[test]
fn an_application_that_panics_ends_the_run_whichever_part_it_is_in() {
    for node in 0..2 {
        let run = move || -> Result<(), SimError> {
            let mut network = Network::new(Random::from_seed(1).next_u64());
            let nodes = network.chain(2, &LinkConfig::ideal().millis(5))?;
            network.add_application(nodes[node], Faulty(50))?;
            network.cores = eager(2);
            network.run_for(Duration::from_secs(1))
        };
        let ended = std::panic::catch_unwind(run);
        assert!(ended.is_err(), "node {node}: the panic was lost");
    }
}
