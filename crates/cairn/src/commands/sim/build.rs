//! From a scenario to a network that is ready to run.

use std::path::Path;
use std::sync::Arc;

use engine::{ContentStoreConfig, EvictionPolicy};
use flow::{FetchConfig, PublicationConfig, TransferConfig};
use packet::random::{Random, Zipf};
use packet::time::{Duration, Instant};
use sim::{
    AppId, Clock, CoDel, CoDelAction, Flooder, LinkConfig, LinkId, Network, NodeId, ProcessorConfig,
    TraceConfig,
};

use super::Failure;
use super::quantity::{NodeRef, NodeSet};
use super::scenario::{
    Consumer, ConsumerKind, Event, EventAction, Gap, Link, Node, Producer, Routes, Scenario,
};
use super::topology::{self, Nodes};

/// A network, and who is who in it.
pub(super) struct Built {
    pub(super) network: Network,
    pub(super) consumers: Vec<(AppId, String)>,
}

/// Builds the network of a scenario for one seed.
pub(super) fn build(scenario: &Scenario, folder: &Path, seed: u64) -> Result<Built, Failure> {
    let mut network = Network::new(seed);
    configure_engines(&mut network, scenario)?;
    let link = link_config(&LinkConfig::ideal(), &scenario.link)?;
    let bottleneck = link_config(&link, &scenario.bottleneck)?;
    let nodes = topology::build(&mut network, &scenario.topology, &link, &bottleneck, folder, seed)?;
    if let Some(strategy) = &scenario.engine.strategy {
        network
            .set_strategy_everywhere("/", strategy)
            .map_err(|error| format!("engine.strategy: {error}"))?;
    }
    for (place, node) in scenario.node.iter().enumerate() {
        change_nodes(&mut network, &nodes, node, seed).map_err(|error| format!("node.{place}: {error}"))?;
    }
    for (place, producer) in scenario.producer.iter().enumerate() {
        add_producers(&mut network, &nodes, producer, seed)
            .map_err(|error| format!("producer.{place}: {error}"))?;
    }
    let mut consumers = Vec::new();
    for (place, consumer) in scenario.consumer.iter().enumerate() {
        add_consumers(&mut network, &nodes, consumer, seed, &mut consumers)
            .map_err(|error| format!("consumer.{place}: {error}"))?;
    }
    match scenario.routes {
        Routes::Shortest => network.route_shortest_paths()?,
        Routes::All => network.route_all_paths()?,
        Routes::Static => {}
    }
    for (place, route) in scenario.route.iter().enumerate() {
        let (node, towards) = (nodes.find(&route.node)?, nodes.find(&route.towards)?);
        network
            .add_route(node, &route.prefix, towards, route.cost)
            .map_err(|error| format!("route.{place}: {error}"))?;
    }
    for (place, event) in scenario.event.iter().enumerate() {
        plan(&mut network, &nodes, event).map_err(|error| format!("event.{place}: {error}"))?;
    }
    record(&mut network, &nodes, scenario)?;
    Ok(Built { network, consumers })
}

fn configure_engines(network: &mut Network, scenario: &Scenario) -> Result<(), Failure> {
    let engine = &scenario.engine;
    let eviction = match &engine.eviction {
        Some(word) => {
            Some(word.parse::<EvictionPolicy>().map_err(|error| format!("engine.eviction: {error}"))?)
        }
        None => None,
    };
    network.engines(|config| {
        let store = &mut config.content_store;
        store.max_entries = engine.cache_packets.unwrap_or(store.max_entries);
        store.max_bytes = engine.cache_bytes.map_or(store.max_bytes, |size| size.0);
        store.eviction = eviction.unwrap_or(store.eviction);
        config.max_pending = engine.max_pending.unwrap_or(config.max_pending);
    });
    Ok(())
}

fn link_config(base: &LinkConfig, link: &Link) -> Result<LinkConfig, Failure> {
    let mut config = base.clone();
    config.rate_bits_per_second = link.rate.map(|rate| rate.0).or(config.rate_bits_per_second);
    config.delay = link.delay.map_or(config.delay, |span| span.0);
    config.queue.max_packets = link.queue_packets.unwrap_or(config.queue.max_packets);
    config.queue.max_bytes = link.queue_bytes.map_or(config.queue.max_bytes, |size| size.0);
    config.queue.mark_above_bytes = link.mark_above.map(|size| size.0).or(config.queue.mark_above_bytes);
    if let Some(codel) = &link.codel {
        config.queue.codel = Some(CoDel {
            target: codel.target.map_or(CoDel::RFC_8289.target, |span| span.0),
            interval: codel.interval.map_or(CoDel::RFC_8289.interval, |span| span.0),
            action: if codel.mark { CoDelAction::Mark } else { CoDelAction::Drop },
        });
    }
    if let Some(control) = &link.rate_control {
        let method = control.method.parse().map_err(|error| format!("link.rate_control.method: {error}"))?;
        config.rate_control = Some((method, control.max_held.unwrap_or(100)));
    }
    config.overhead_bytes = link.overhead.map_or(config.overhead_bytes, |size| size.0 as u32);
    config.metric = link.metric.unwrap_or(config.metric);
    let impairment = &mut config.impairment;
    for (key, value, place) in [
        ("loss", link.loss, &mut impairment.loss),
        ("duplicate", link.duplicate, &mut impairment.duplicate),
        ("reorder", link.reorder, &mut impairment.reorder),
    ] {
        *place = value.unwrap_or(*place);
        if !(0.0..=1.0).contains(place) {
            return Err(format!("link.{key} is {place}, but a probability lies between 0 and 1").into());
        }
    }
    impairment.reorder_delay = link.reorder_delay.map_or(impairment.reorder_delay, |span| span.0);
    impairment.jitter = link.jitter.map_or(impairment.jitter, |span| span.0);
    if config.rate_control.is_some() && config.rate_bits_per_second.is_none() {
        return Err("link.rate_control needs link.rate: it divides what the link carries".into());
    }
    if let Some(mtu) = link.mtu {
        let reliable = link.reliable.unwrap_or(false);
        config.framing = Some(Box::new(link::v2::Config {
            transport_mtu_bytes: Some(mtu.0 as usize),
            reliability: reliable.then(link::v2::ReliabilityConfig::default),
            ..link::v2::Config::default()
        }));
    } else if link.reliable.is_some() {
        return Err("link.reliable needs link.mtu: only links with frames can repair losses".into());
    }
    Ok(config)
}

/// The nodes of a set. Those drawn at random depend on the seed and on `salt`.
fn choose(nodes: &Nodes, set: &NodeSet, seed: u64, salt: u64) -> Result<Vec<NodeId>, Failure> {
    match set {
        NodeSet::One(NodeRef::Name(word)) if word == "all" => Ok(nodes.ids.clone()),
        NodeSet::One(node) => Ok(vec![nodes.find(node)?]),
        NodeSet::Several(several) => several.iter().map(|node| nodes.find(node)).collect(),
        NodeSet::Random { random } => {
            let mut pool = nodes.ids.clone();
            let mut draws = Random::derive(seed, salt);
            let mut chosen = Vec::new();
            while chosen.len() < *random && !pool.is_empty() {
                chosen.push(pool.swap_remove(draws.below(pool.len() as u64) as usize));
            }
            Ok(chosen)
        }
    }
}

fn change_nodes(network: &mut Network, nodes: &Nodes, node: &Node, seed: u64) -> Result<(), Failure> {
    for id in choose(nodes, &node.nodes, seed, 0x6e6f_6465)? {
        if let Some(strategy) = &node.strategy {
            network.set_strategy(id, "/", strategy)?;
        }
        if let Some(max_entries) = node.cache_packets {
            network.change_engine(id, |engine| {
                let store = ContentStoreConfig { max_entries, ..*engine.content_store_config() };
                engine.configure_content_store(store);
            });
        }
        if node.tick.is_some() || node.clock_offset.is_some() || node.drift_ppm.is_some() {
            let clock = Clock {
                offset: node.clock_offset.map_or(Duration::ZERO, |span| span.0),
                drift_nanos_per_second: (node.drift_ppm.unwrap_or(0.0) * 1000.0) as i64,
                tick: node.tick.map_or(Duration::ZERO, |span| span.0),
            };
            network.set_clock(id, clock)?;
            if node.engine_clock {
                network.set_engine_clock(id, clock)?;
            }
        }
        if node.interest_time.is_some() || node.data_time.is_some() || !node.capacity.is_empty() {
            let interest_time = node.interest_time.map_or(Duration::ZERO, |span| span.0);
            let capacity =
                node.capacity.iter().map(|step| (Instant::ZERO + step.at.0, (step.percent * 10.0) as u32));
            network.set_processor(
                id,
                ProcessorConfig {
                    interest_time,
                    data_time: node.data_time.map_or(interest_time, |span| span.0),
                    nack_time: interest_time,
                    max_waiting: node.max_waiting.unwrap_or(1000),
                    capacity: capacity.collect(),
                },
            )?;
        }
    }
    Ok(())
}

fn add_producers(
    network: &mut Network,
    nodes: &Nodes,
    producer: &Producer,
    seed: u64,
) -> Result<(), Failure> {
    for id in choose(nodes, &producer.nodes, seed, 0x7072_6f64)? {
        if let Some(size) = producer.file {
            let mut random = Random::derive(seed, 0x6669_6c65);
            let content: Vec<u8> = (0..size.0).map(|_| random.next_u64() as u8).collect();
            let config = PublicationConfig::new(producer.prefix.parse()?, 1, size.0, trust::Signer::digest());
            network.add_application(id, sim::Publisher::new(config, content)?)?;
            continue;
        }
        let mut application = match (producer.packet, producer.content) {
            (Some(_), Some(_)) => return Err("packet and content exclude each other".into()),
            (Some(packet), None) => sim::Producer::of_packet_size(packet.0 as usize),
            (None, content) => sim::Producer::new(content.map_or(1000, |size| size.0 as usize)),
        };
        if let Some(freshness) = producer.freshness {
            application = application.freshness(freshness.0);
        }
        if let Some(delay) = producer.reply_delay {
            application = application.reply_delay(delay.0);
        }
        network.add_producer(id, &producer.prefix, application)?;
    }
    Ok(())
}

fn add_consumers(
    network: &mut Network,
    nodes: &Nodes,
    consumer: &Consumer,
    seed: u64,
    consumers: &mut Vec<(AppId, String)>,
) -> Result<(), Failure> {
    let catalogue = match consumer.kind {
        ConsumerKind::Zipf => Some(Arc::new(Zipf::new(
            consumer.objects.ok_or("objects is missing: a catalogue needs it")?,
            consumer.exponent.unwrap_or(0.8),
            consumer.shift.unwrap_or(0.0),
        )?)),
        _ => None,
    };
    for id in choose(nodes, &consumer.nodes, seed, 0x636f_6e73)? {
        let application = add_consumer(network, id, consumer, catalogue.clone())?;
        consumers.push((application, nodes.name(id).to_owned()));
    }
    Ok(())
}

fn add_consumer(
    network: &mut Network,
    node: NodeId,
    consumer: &Consumer,
    catalogue: Option<Arc<Zipf>>,
) -> Result<AppId, Failure> {
    let prefix = &consumer.prefix;
    let rate = || consumer.rate.ok_or("rate is missing: Interests a second");
    let start = consumer.start.map_or(Duration::ZERO, |span| span.0);
    let stop = consumer.stop.map_or(Duration::MAX, |span| span.0);
    let mut application = match consumer.kind {
        ConsumerKind::Rate => sim::Consumer::constant_rate(prefix, rate()?)?,
        ConsumerKind::Window => {
            sim::Consumer::window(prefix, consumer.window.ok_or("window is missing: Interests at once")?)?
        }
        ConsumerKind::Batch => {
            sim::Consumer::batches(prefix, consumer.batch.iter().map(|batch| (batch.at.0, batch.count)))?
        }
        ConsumerKind::Zipf => sim::Consumer::zipf(prefix, catalogue.ok_or("objects is missing")?, rate()?)?,
        ConsumerKind::Transfer => {
            let mut application =
                sim::TransferConsumer::new(prefix, transfer_config(consumer)?)?.start_at(start);
            if let Some(items) = consumer.items {
                application = application.items(items);
            }
            if let Some(lifetime) = consumer.lifetime {
                application = application.lifetime(lifetime.0);
            }
            return Ok(network.add_application(node, application)?);
        }
        ConsumerKind::File => {
            let config = FetchConfig { transfer: transfer_config(consumer)?, ..FetchConfig::default() };
            let application = sim::FileFetcher::new(prefix, config)?.start_at(start);
            return Ok(network.add_application(node, application)?);
        }
        ConsumerKind::Flood => {
            let mut application = Flooder::new(prefix, rate()?)?.between(start, stop);
            if let Some(lifetime) = consumer.lifetime {
                application = application.lifetime(lifetime.0);
            }
            return Ok(network.add_application(node, application)?);
        }
    };
    application = application.start_at(start).stop_at(stop);
    application = match consumer.gap {
        Gap::Even => application,
        Gap::Uniform => application.gap(sim::Gap::Uniform),
        Gap::Exponential => application.gap(sim::Gap::Exponential),
    };
    if let Some(items) = consumer.items {
        application = application.limit(items);
    }
    if let Some(lifetime) = consumer.lifetime {
        application = application.lifetime(lifetime.0);
    }
    if let Some(attempts) = consumer.attempts {
        application = application.attempts(attempts);
    }
    Ok(network.add_application(node, application)?)
}

fn transfer_config(consumer: &Consumer) -> Result<TransferConfig, Failure> {
    let mut config = TransferConfig::default();
    if let Some(controller) = &consumer.controller {
        config.controller = controller.parse().map_err(|error| format!("controller: {error}"))?;
    }
    if let Some(attempts) = consumer.attempts {
        config.max_attempts = attempts;
    }
    Ok(config)
}

fn find_link(network: &Network, nodes: &Nodes, pair: &[NodeRef; 2]) -> Result<LinkId, Failure> {
    let ids = [nodes.find(&pair[0])?, nodes.find(&pair[1])?];
    let joins = |link: &LinkId| network.ends(*link).is_ok_and(|ends| ids.iter().all(|id| ends.contains(id)));
    let found = network.links().find(joins);
    found.ok_or_else(|| format!("no link joins {} and {}", pair[0], pair[1]).into())
}

fn plan(network: &mut Network, nodes: &Nodes, event: &Event) -> Result<(), Failure> {
    let at = Instant::ZERO + event.at.0;
    if event.action == EventAction::Restart {
        let node = nodes.find(event.node.as_ref().ok_or("node is missing: which one is to restart")?)?;
        network.at(at, move |network| network.restart(node).unwrap_or_default());
        return Ok(());
    }
    let pair = event.link.as_ref().ok_or("link is missing: the two nodes that it joins")?;
    let link = find_link(network, nodes, pair)?;
    let (rate, delay, loss) = (event.rate, event.delay, event.loss);
    match event.action {
        EventAction::LinkDown => {
            network.at(at, move |network| network.take_down(link).unwrap_or_default());
        }
        EventAction::LinkUp => network.at(at, move |network| network.bring_up(link).unwrap_or_default()),
        EventAction::LinkChange | EventAction::Restart => network.at(at, move |network| {
            let change = |config: &mut LinkConfig| {
                config.rate_bits_per_second = rate.map(|rate| rate.0).or(config.rate_bits_per_second);
                config.delay = delay.map_or(config.delay, |span| span.0);
                config.impairment.loss = loss.unwrap_or(config.impairment.loss);
            };
            network.reconfigure(link, change).unwrap_or_default();
        }),
    }
    Ok(())
}

fn record(network: &mut Network, nodes: &Nodes, scenario: &Scenario) -> Result<(), Failure> {
    let trace = &scenario.trace;
    network.record(TraceConfig {
        sample_every: trace.sample.map(|span| span.0),
        packets: trace.packets,
        delays: trace.delays,
        values: trace.values,
        drops: trace.drops,
        one_in: trace.one_in.unwrap_or(1),
        max_records: Some(trace.max_records.unwrap_or(10_000_000)),
    });
    for (place, capture) in scenario.capture.iter().enumerate() {
        let link =
            find_link(network, nodes, &capture.link).map_err(|error| format!("capture.{place}: {error}"))?;
        network.capture(link, capture.max_frames.unwrap_or(100_000))?;
    }
    Ok(())
}
