//! A plan as a simulated network.

use engine::{FaceConfig, RateLimit, SharingConfig};
use packet::Dialect;
use packet::time::Duration;
use sim::{Clock, CoDel, CoDelAction, LinkConfig, LinkId, Network, NodeId, Queue};

use super::error::SimulationError;
use super::processor::{held, processor};
use crate::experiment::model::Forwarder;
use crate::experiment::plan::{
    Arena, ClockPlan, LinkIndex, LinkKind, LinkPlan, NodeIndex, NodePlan, Plan, SimulatedLink,
};
use crate::order::Simultaneous;

/// The header of an Ethernet frame, which its MTU does not count.
const ETHERNET_BYTES: u32 = 14;

/// Bytes below NDNLPv2: as the experiment says, or those of a real link: Ethernet, IP and UDP; IP and TCP
/// with timestamps; Ethernet alone.
pub(super) fn overhead_bytes(link: &LinkPlan) -> u32 {
    let real = || {
        ETHERNET_BYTES
            + match link.kind {
                LinkKind::Udp => 20 + 8,
                LinkKind::Tcp => 20 + 32,
                LinkKind::Ether => 0,
            }
    };
    link.simulated.overhead_bytes.unwrap_or_else(real)
}

/// What the link sends at once when it was idle: nothing, or what a real one does.
pub(super) fn bucket_bytes(link: &LinkPlan) -> u32 {
    if link.simulated.token_bucket { link.bucket_bytes() } else { 0 }
}

/// Interests that a face with a rate limit may send at once; the daemon's own default.
const INTEREST_BURST: u32 = 1000;

/// The network of a plan.
pub(super) struct Built {
    pub(super) network: Network,
    pub(super) nodes: Arena<NodeIndex, NodeId>,
    pub(super) links: Arena<LinkIndex, LinkId>,
}

/// `order` is that of what happens at one instant.
pub(super) fn build(plan: &Plan, seed: u64, order: Simultaneous) -> Result<Built, SimulationError> {
    let mut network = Network::new(seed);
    network.set_simultaneous_order(order.of_network(seed));
    network.record(super::trace::config(&plan.recording.trace));
    let mut nodes = Arena::default();
    for node in &plan.nodes {
        configure(&mut network, node)?;
        let id = network.add_node()?;
        if let Some(clock) = node.clock {
            set_clock(&mut network, id, clock)?;
        }
        nodes.push(id);
    }
    let mut links = Arena::default();
    for link in &plan.links {
        let ends: Vec<NodeId> = link.ends().filter_map(|end| nodes.get(end).copied()).collect();
        links.push(network.connect_all(&ends, &self::link(link, plan)?)?);
    }
    for ((index, node), id) in plan.nodes.indexed().zip(&nodes) {
        if let Some(processor) = processor(plan, index, node, &links) {
            network.set_processor(*id, processor)?;
        }
    }
    super::trace::capture(&mut network, &plan.recording.trace, &links)?;
    for hop in &plan.routing.hops {
        let ends = nodes.get(hop.node).zip(plan.next_node(hop).and_then(|towards| nodes.get(towards)));
        if let Some((from, to)) = ends {
            network.add_route(*from, hop.prefix.as_str(), *to, u64::from(hop.cost))?;
        }
    }
    Ok(Built { network, nodes, links })
}

/// Gives every face that a node has by now the limits of its forwarder.
pub(super) fn limit_faces(network: &mut Network, node: NodeId, forwarder: &Forwarder) {
    let interest_rate = forwarder
        .max_interests_per_second_per_face
        .map(|rate| RateLimit { per_second: (rate.0.round() as u32).max(1), burst: INTEREST_BURST });
    let (max_pending, now) = (forwarder.max_pending_per_face, network.now());
    if interest_rate.is_none() && max_pending.is_none() {
        return;
    }
    network.change_engine(node, |engine| {
        let faces: Vec<_> = engine.faces().map(|(id, config)| (id, *config)).collect();
        for (id, config) in faces {
            engine.configure_face(now, id, FaceConfig { max_pending, interest_rate, ..config });
        }
    });
}

/// The settings of a node's forwarder, for the node that is added next.
fn configure(network: &mut Network, node: &NodePlan) -> Result<(), SimulationError> {
    let strategy = node.forwarder.strategy.as_deref().unwrap_or("best-route");
    let strategy = strategy.parse::<engine::StrategySpec>()?;
    let eviction: Option<engine::EvictionPolicy> =
        node.forwarder.eviction.as_deref().map(str::parse).transpose()?;
    let placement: Option<engine::CachePlacement> =
        node.forwarder.placement.as_deref().map(str::parse).transpose()?;
    network.engines(|config| {
        config.content_store.placement = placement.unwrap_or_default();
        config.content_store.eviction = eviction.unwrap_or_default();
        if let Some(limit) = node.forwarder.max_pending {
            config.max_pending = limit;
        }
        let entries = node.forwarder.store_entries();
        config.content_store.max_entries = entries.max(1);
        config.content_store.max_bytes = node.forwarder.store_bytes();
        config.content_store.admit = entries > 0;
        config.content_store.serve = entries > 0;
        config.default_strategy = strategy;
    });
    Ok(())
}

fn set_clock(network: &mut Network, node: NodeId, plan: ClockPlan) -> Result<(), SimulationError> {
    let clock = Clock {
        offset: Duration::from_nanos(plan.offset_ns),
        drift_nanos_per_second: plan.drift_ns_per_second,
        tick: Duration::from_nanos(plan.tick_ns),
    };
    network.set_clock(node, clock)?;
    if plan.of_engine {
        network.set_engine_clock(node, clock)?;
    }
    Ok(())
}

fn link(link: &LinkPlan, plan: &Plan) -> Result<LinkConfig, SimulationError> {
    let SimulatedLink { rate_control, frames, reliable, .. } = &link.simulated;
    let control = rate_control
        .as_ref()
        .map(|(method, max_held)| method.parse::<engine::RateMethod>().map(|method| (method, *max_held)));
    let mut config = LinkConfig {
        rate_bits_per_second: link.rate_bps,
        bucket_bytes: bucket_bytes(link),
        overhead_bytes: overhead_bytes(link),
        metric: link.metric,
        rate_control: control.transpose()?,
        ..LinkConfig::ideal()
    }
    .delay(held(plan, link, link.delay_ns))
    .queue(queue(link))
    .loss(link.loss);
    config.impairment.duplicate = link.simulated.duplicate;
    config.impairment.reorder = link.simulated.reorder;
    config.impairment.reorder_delay = Duration::from_nanos(link.simulated.reorder_delay_ns);
    config.impairment.jitter = Duration::from_nanos(link.simulated.jitter_ns);
    config.face.dialect = plan.dialect;
    config.face.sharing = link.is_sharing().then_some(SharingConfig::LOCAL);
    match &link.ndnlp1 {
        Some(ndnlp1) => Ok(config.framed(ndnlp1.config())),
        None if *frames => Ok(config.framed(::link::v2::Config {
            transport_mtu_bytes: Some(link.mtu as usize),
            reliability: reliable.then(::link::v2::ReliabilityConfig::default),
            parity: link.is_sharing().then(::link::v2::ParityConfig::default),
            ..::link::v2::Config::default()
        })),
        None if link.is_sharing() && plan.dialect == Dialect::Ndn && config.queue.codel.is_none() => {
            Ok(config.framed(multicast_service()))
        }
        None => Ok(config),
    }
}

/// What runs at the ends of a link that nodes share, as on a real multicast face: no packet is cut, and what
/// single receivers missed is rebuilt. Marks come from the link's queue alone.
fn multicast_service() -> ::link::v2::Config {
    ::link::v2::Config {
        parity: Some(::link::v2::ParityConfig::default()),
        fragmentation: None,
        congestion_marking: None,
        ..::link::v2::Config::default()
    }
}

/// By packets or bytes where the experiment says so, and else for so many full frames.
fn queue(link: &LinkPlan) -> Queue {
    let given = &link.simulated;
    let queue = match (given.queue_packets, given.queue_bytes) {
        (None, None) => Queue::bytes(u64::from(link.queue) * u64::from(link.mtu + ETHERNET_BYTES)),
        (packets, bytes) => Queue {
            max_packets: packets.unwrap_or(u32::MAX),
            max_bytes: bytes.unwrap_or(u64::MAX),
            ..Queue::UNLIMITED
        },
    };
    let codel = given.codel.map(|codel| CoDel {
        target: Duration::from_nanos(codel.target_ns),
        interval: Duration::from_nanos(codel.interval_ns),
        action: if codel.mark { CoDelAction::Mark } else { CoDelAction::Drop },
    });
    Queue { mark_above_bytes: given.mark_above_bytes, codel, ..queue }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// [`crate::driver`] has the same test.
    #[test]
    fn a_content_store_is_as_large_as_on_real_forwarders() {
        let experiment = Experiment::parse("t", "t.toml", &testkit::experiment::stores())
            .unwrap_or_else(|wrong| panic!("{wrong}"));
        let Built { mut network, nodes, .. } =
            build(&experiment.plans("sim").unwrap()[0], 1, Simultaneous::Planned).unwrap();
        let mut stores = Vec::new();
        for node in nodes {
            network.change_engine(node, |engine| {
                let config = engine.content_store_config();
                stores.push((config.max_entries, config.max_bytes));
            });
        }
        let usual = (1 << 20, 64 << 20);
        assert_eq!(stores, [usual, (70, 3 << 20), usual]);
    }
}
