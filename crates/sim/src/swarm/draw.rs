//! Drawing a network.

use engine::{
    ContentStoreConfig, EngineConfig, EvictionPolicy, FaceConfig, RateLimit, RateMethod, UnsolicitedPolicy,
};
use link::v1;
use link::v2::{Config as ServiceConfig, ReliabilityConfig};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Dialect, Name};

use super::Broken;
use crate::application::{CheckedConsumer, CheckedProducer, Produce};
use crate::arena::{AppId, Arena, LinkId, NodeId};
use crate::dialect::request::Request;
use crate::link::{CoDel, CoDelAction, Faults, Framing, LinkConfig, Queue};
use crate::network::Network;
use crate::node::clock::Clock;
use crate::node::processor::ProcessorConfig;

/// A network, and what is known of it from outside.
pub(super) struct World {
    pub(super) network: Network,
    pub(super) random: Random,
    /// For what was not always drawn, so that a seed's network stays what it was.
    extras: Random,
    /// What everybody speaks.
    pub(super) dialect: Dialect,
    /// Which links of CCNx carry frames.
    frames: Random,
    /// Links flip bits and do not notice, so Data may be anything.
    pub(super) hostile: bool,
    pub(super) nodes: Vec<NodeId>,
    /// How much later than they count on applications of each node may be answered.
    lateness: Arena<NodeId, Duration>,
    pub(super) links: Vec<LinkId>,
    pub(super) producers: Vec<Produce>,
    pub(super) consumers: Vec<AppId>,
    /// Routes that lead astray or around in circles, while there are faults.
    pub(super) stray_routes: Vec<(NodeId, Name, NodeId)>,
}

/// Of all Interests.
const MAX_LIFETIME: Duration = Duration::from_millis(4100);

pub(super) fn pick<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize].clone()
}

pub(super) fn millis(random: &mut Random, below: u64) -> Duration {
    Duration::from_millis(random.below(below))
}

impl World {
    pub(super) fn draw(seed: u64) -> Result<World, Broken> {
        let mut random = Random::derive(seed, 0x0073_7761_726d);
        let network = Network::new(random.next_u64());
        let mut extras = Random::derive(seed, 0x6578_7472_6173);
        let mut world = World {
            network,
            random,
            dialect: if extras.chance(0.15) { Dialect::Ccnx } else { Dialect::Ndn },
            hostile: extras.chance(0.1),
            extras,
            frames: Random::derive(seed, 0x6672_616d_6573),
            nodes: Vec::new(),
            lateness: Arena::default(),
            links: Vec::new(),
            producers: Vec::new(),
            consumers: Vec::new(),
            stray_routes: Vec::new(),
        };
        world.draw_nodes()?;
        world.draw_links()?;
        world.draw_producers()?;
        world.draw_routes()?;
        world.draw_consumers()?;
        Ok(world)
    }

    fn draw_nodes(&mut self) -> Result<(), Broken> {
        for _ in 0..3 + self.random.below(22) {
            let random = &mut self.random;
            self.network.engines(|config| draw_engine(random, config));
            let node = self.network.add_node()?;
            let mut lateness = Duration::ZERO;
            if self.random.chance(0.2) {
                let time = Duration::from_micros(self.random.below(300));
                let max_waiting = pick(&mut self.random, &[5, 50, 1000]);
                // A lifetime begins when the Interest's turn has come.
                lateness += time * u64::from(max_waiting);
                let config = ProcessorConfig { max_waiting, ..ProcessorConfig::uniform(time) };
                self.network.set_processor(node, config)?;
            }
            if self.random.chance(0.3) {
                let tick = pick(
                    &mut self.random,
                    &[Duration::ZERO, Duration::from_millis(1), Duration::from_millis(50)],
                );
                let drift_nanos_per_second = self.random.below(200_001) as i64 - 100_000;
                let offset = millis(&mut self.random, 1000);
                let clock = Clock { offset, drift_nanos_per_second, tick };
                self.network.set_clock(node, clock)?;
                // The engine's time and the application's go by ticks, and apart by a ten-thousandth.
                lateness += tick * 2 + MAX_LIFETIME / 10_000;
                if self.random.chance(0.5) {
                    self.network.set_engine_clock(node, clock)?;
                }
            }
            self.nodes.push(node);
            self.lateness.push(lateness);
        }
        Ok(())
    }

    /// A tree, some links besides, and perhaps a segment that several share.
    fn draw_links(&mut self) -> Result<(), Broken> {
        let nodes = self.nodes.clone();
        for (earlier, &node) in nodes.iter().enumerate().skip(1) {
            let other = pick(&mut self.random, &nodes[..earlier]);
            self.join(&[other, node])?;
        }
        for _ in 0..self.random.below(nodes.len() as u64) {
            let (a, b) = (pick(&mut self.random, &nodes), pick(&mut self.random, &nodes));
            let joined = self.network.face_towards(a, b).is_ok();
            if a != b && !joined {
                self.join(&[a, b])?;
            }
        }
        if self.random.chance(0.3) {
            let mut members: Vec<NodeId> = (0..4).map(|_| pick(&mut self.random, &nodes)).collect();
            members.sort_unstable();
            members.dedup();
            if members.len() > 2 {
                self.join(&members)?;
            }
        }
        Ok(())
    }

    fn join(&mut self, nodes: &[NodeId]) -> Result<(), Broken> {
        let mut config = draw_link(&mut self.random);
        config.face.dialect = self.dialect;
        if self.dialect == Dialect::Ccnx {
            config.framing = draw_framing_of_ccnx(&mut self.frames).filter(|_| nodes.len() == 2);
        }
        config.impairment.corrupt = self.draw_corruption();
        self.links.push(self.network.connect_all(nodes, &config)?);
        Ok(())
    }

    /// How many frames of a link arrive with a flipped bit.
    pub(super) fn draw_corruption(&mut self) -> f64 {
        if self.hostile && self.extras.chance(0.3) { self.extras.unit() * 0.1 } else { 0.0 }
    }

    /// How applications are seen by their nodes.
    fn application_face(&self) -> FaceConfig {
        FaceConfig { dialect: self.dialect, ..FaceConfig::local() }
    }

    fn draw_producers(&mut self) -> Result<(), Broken> {
        for number in 0..1 + self.random.below(3) {
            let home = pick(&mut self.random, &self.nodes);
            let produce = Produce {
                content_bytes: pick(&mut self.random, &[0, 100, 2000, 8000]),
                freshness: pick(
                    &mut self.random,
                    &[Duration::ZERO, Duration::from_millis(500), Duration::from_secs(60)],
                ),
                reply_delay: pick(&mut self.extras, &[Duration::ZERO, Duration::from_millis(30)]),
                dialect: self.dialect,
                ..Produce::new(name(&format!("/p{number}"))?)
            };
            let face = self.application_face();
            self.network.add_application_with(home, CheckedProducer::new(produce.clone()), face)?;
            self.producers.push(produce);
        }
        Ok(())
    }

    /// The ways that lead somewhere, and some that lead astray or around in circles.
    fn draw_routes(&mut self) -> Result<(), Broken> {
        match self.random.chance(0.5) {
            true => self.network.route_all_paths()?,
            false => self.network.route_shortest_paths()?,
        }
        for link in self.links.clone() {
            for node in self.network.ends(link)? {
                if !self.random.chance(0.2) {
                    continue;
                }
                let ends = self.network.ends(link)?;
                let towards = pick(&mut self.random, &ends);
                let prefix = pick(&mut self.random, &self.producers).prefix;
                if towards != node {
                    let cost = 100 + self.random.below(10);
                    self.network.add_route(node, &prefix, towards, cost)?;
                    self.stray_routes.push((node, prefix, towards));
                }
            }
        }
        Ok(())
    }

    fn draw_consumers(&mut self) -> Result<(), Broken> {
        for _ in 0..1 + self.random.below(4) {
            let node = pick(&mut self.random, &self.nodes);
            let random = &mut self.random;
            let mut consumer = CheckedConsumer::new(self.dialect, pick(random, &[1, 4, 16]));
            consumer.lateness = self.lateness.get(node).copied().unwrap_or_default();
            for _ in 0..10 + random.below(30) {
                let prefix = pick(random, &self.producers).prefix;
                let name = name(&format!("{prefix}/{}", random.below(30)))?;
                let request = Request {
                    can_be_prefix: random.chance(0.2),
                    must_be_fresh: random.chance(0.2),
                    lifetime: Duration::from_millis(100 + random.below(4000)),
                    attempts: 1 + random.below(4) as u32,
                    hop_limit: random.chance(0.1).then(|| 1 + random.below(30) as u8),
                    ..Request::new(name)
                };
                consumer.request(Instant::ZERO + millis(random, 5000), request);
            }
            let face = self.application_face();
            self.consumers.push(self.network.add_application_with(node, consumer, face)?);
        }
        Ok(())
    }
}

pub(super) fn name(uri: &str) -> Result<Name, Broken> {
    Ok(crate::into_name::IntoName::into_name(uri)?)
}

fn draw_engine(random: &mut Random, config: &mut EngineConfig) {
    config.max_pending = pick(random, &[16, 64, 1 << 20]);
    config.max_dead_nonces = pick(random, &[64, 1 << 16]);
    config.max_lifetime = pick(random, &[Duration::from_secs(3600), Duration::from_secs(1)]);
    config.default_hop_limit = pick(random, &[None, Some(64)]);
    config.content_store = ContentStoreConfig {
        max_entries: pick(random, &[0, 1, 10, 1000]),
        max_bytes: pick(random, &[1000, 20_000, 1 << 20]),
        eviction: pick(random, &EvictionPolicy::ALL),
        unsolicited: pick(random, &[UnsolicitedPolicy::DropAll, UnsolicitedPolicy::AdmitAll]),
        ..ContentStoreConfig::default()
    };
}

/// How bad a link is, this time.
pub(super) fn draw_impairment(random: &mut Random) -> Faults {
    let mut chance = |probability: f64, most: f64| match random.chance(probability) {
        true => random.unit() * most,
        false => 0.0,
    };
    Faults {
        loss: chance(0.7, 0.3),
        duplicate: chance(0.4, 0.3),
        reorder: chance(0.4, 0.3),
        reorder_delay: Duration::from_millis(chance(0.8, 50.0) as u64),
        jitter: Duration::from_millis(chance(0.4, 20.0) as u64),
        corrupt: 0.0,
    }
}

fn draw_framing_of_ccnx(random: &mut Random) -> Option<Framing> {
    let config = v1::Config {
        mtu_bytes: pick(random, &[Some(500), Some(1500), None]),
        request_acks: random.chance(0.5),
        timings: v1::Timings {
            retransmit_time: pick(random, &[Duration::from_millis(1000), Duration::from_millis(100)]),
            ..v1::Timings::PAPER
        },
        ..v1::Config::default()
    };
    random.chance(0.4).then(|| config.into())
}

fn draw_link(random: &mut Random) -> LinkConfig {
    let mut queue =
        pick(random, &[Queue::UNLIMITED, Queue::packets(20), Queue::bytes(50_000), Queue::codel(100)]);
    if random.chance(0.3) {
        queue = queue.mark_above(5_000);
    }
    if let Some(codel) = &mut queue.codel {
        codel.action = pick(random, &[CoDelAction::Drop, CoDelAction::Mark]);
        codel.target = pick(random, &[CoDel::RFC_8289.target, Duration::from_millis(1)]);
    }
    let framing = random.chance(0.4).then(|| {
        Framing::from(ServiceConfig {
            transport_mtu_bytes: pick(random, &[Some(500), Some(1500), Some(8800), None]),
            reliability: random.chance(0.5).then(ReliabilityConfig::default),
            ..ServiceConfig::default()
        })
    });
    let face = FaceConfig {
        send_pit_tokens: random.chance(0.3),
        max_pending: pick(random, &[None, Some(8), Some(100)]),
        interest_rate: pick(random, &[None, Some(RateLimit { per_second: 50, burst: 20 })]),
        ..FaceConfig::remote()
    };
    LinkConfig {
        rate_bits_per_second: pick(random, &[None, Some(2_000_000), Some(100_000_000)]),
        delay: millis(random, 30),
        queue,
        overhead_bytes: pick(random, &[0, 14]),
        impairment: draw_impairment(random),
        metric: 1 + random.below(3) as u32,
        face,
        framing,
        rate_control: random
            .chance(0.2)
            .then(|| (pick(random, &[RateMethod::Hobhis, RateMethod::Mircc]), pick(random, &[0, 5, 100]))),
        bucket_bytes: pick(random, &[0, 0, 3000]),
    }
}
