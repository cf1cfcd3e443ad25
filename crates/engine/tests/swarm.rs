//! Random networks, faults, restarts; then everything heals, and must work and come to rest.
//!
//! A seed draws a topology, its links and their faults, every node's tables and strategy, and who asks for what. While the
//! faults last nothing is promised but that nobody gets what was not asked for. Then the network heals: it must fall silent,
//! every name must be had, byte for byte as its producer made it, no Interest may be left pending, and all counters must
//! agree with each other.
//!
//! `CAIRN_SWARM_SEEDS` says how many seeds to try, `CAIRN_SWARM_SEED` which one comes first.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use engine::{
    EngineConfig, EvictionPolicy, FaceConfig, Outgoing, RateLimit, StrategySpec, UnsolicitedPolicy,
};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Dialect, Name};
use testkit::network::{
    ConsumerId, Framed, ImpairmentConfig, LinkConfig, LinkId, Medium, Network, NodeId, Outcome, Produce,
    ReliabilityConfig, Request, Sent,
};

/// Enough for every kind of world, few enough for every run of the tests.
const DEFAULT_SEEDS: u64 = 30;

fn number_from_environment(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} wants a number, not `{text}`")),
        Err(_) => default,
    }
}

#[test]
fn every_drawn_network_heals_delivers_and_falls_silent() {
    let first = number_from_environment("CAIRN_SWARM_SEED", 0);
    let seeds = number_from_environment("CAIRN_SWARM_SEEDS", DEFAULT_SEEDS);
    let mut fetched = 0;
    for seed in first..first + seeds {
        fetched += named(seed, || World::draw(seed).live()).fetched;
    }
    // A single world may be one in which nothing is fetched.
    assert!(seeds < 10 || fetched >= 10 * seeds, "a swarm that fetches nothing tests nothing: {fetched}");
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    for seed in 1_000_000..1_000_005 {
        let [one, other] = [(); 2].map(|()| named(seed, || World::draw(seed).live()));
        assert_eq!(one, other, "seed {seed}");
        assert!(one.steps > 100, "seed {seed}: {one:?}");
    }
}

/// Says which seed it was, however the run failed.
fn named<T>(seed: u64, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        eprintln!("swarm: seed {seed} failed; run it again with: cargo xtask swarm --seeds 1 --seed {seed}");
        resume_unwind(panic)
    })
}

/// What came of a run.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    fetched: u64,
    steps: u64,
    hash: u64,
}

/// What can be asked for.
struct Target {
    prefix: String,
    names: u64,
}

struct World {
    random: Random,
    network: Network,
    nodes: Vec<NodeId>,
    links: Vec<LinkId>,
    /// Which nodes have a link, each pair once in each direction.
    neighbours: Vec<(usize, usize)>,
    targets: Vec<Target>,
    consumers: Vec<ConsumerId>,
    ways: Vec<(NodeId, String, NodeId)>,
    detours: Vec<(NodeId, String, NodeId)>,
    /// Frames with flipped bits arrive: Data may be anything.
    hostile: bool,
    /// What everybody speaks. CCNx travels by ideal links only.
    dialect: Dialect,
}

fn pick<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize].clone()
}

fn millis(random: &mut Random, below: u64) -> Duration {
    Duration::from_millis(random.below(below))
}

impl World {
    fn draw(seed: u64) -> Self {
        let mut random = Random::derive(seed, 0);
        let hostile = random.chance(0.1);
        let dialect = if random.chance(0.15) { Dialect::Ccnx } else { Dialect::Ndn };
        let mut world = World {
            network: Network::new(random.next_u64()),
            random,
            nodes: Vec::new(),
            links: Vec::new(),
            neighbours: Vec::new(),
            targets: Vec::new(),
            consumers: Vec::new(),
            ways: Vec::new(),
            detours: Vec::new(),
            hostile,
            dialect,
        };
        world.draw_nodes();
        world.draw_links();
        world.draw_producers();
        world.draw_consumers();
        world
    }

    fn draw_nodes(&mut self) {
        for _ in 0..3 + self.random.below(18) {
            let random = &mut self.random;
            let node = self.network.add_node_with(|config| draw_engine(random, config));
            self.nodes.push(node);
        }
    }

    /// A tree, and some links and a segment besides.
    fn draw_links(&mut self) {
        let count = self.nodes.len() as u64;
        for node in 1..count {
            let other = self.random.below(node);
            self.join(&[other as usize, node as usize]);
        }
        for _ in 0..self.random.below(count) {
            let (a, b) = (self.random.below(count), self.random.below(count));
            if a != b && !self.neighbours.contains(&(a as usize, b as usize)) {
                self.join(&[a as usize, b as usize]);
            }
        }
        if self.random.chance(0.3) {
            let mut members: Vec<usize> = (0..4).map(|_| self.random.below(count) as usize).collect();
            members.sort_unstable();
            members.dedup();
            if members.len() > 2 {
                self.join(&members);
            }
        }
    }

    fn join(&mut self, members: &[usize]) {
        let medium = match self.dialect {
            Dialect::Ndn => draw_medium(&mut self.random, self.hostile),
            Dialect::Ccnx => Medium::ideal(millis(&mut self.random, 30)),
        };
        let config = FaceConfig {
            send_pit_tokens: self.random.chance(0.3),
            max_pending: pick(&mut self.random, &[None, Some(8), Some(100)]),
            interest_rate: pick(&mut self.random, &[None, Some(RateLimit { per_second: 50, burst: 20 })]),
            dialect: self.dialect,
            ..FaceConfig::remote()
        };
        let nodes: Vec<NodeId> = members.iter().map(|&member| self.nodes[member]).collect();
        self.links.push(self.network.connect_all(&nodes, medium, config));
        for &from in members {
            self.neighbours.extend(members.iter().filter(|&&to| to != from).map(|&to| (from, to)));
        }
    }

    /// Producers, the shortest ways to them, and some ways that lead astray or around in circles.
    fn draw_producers(&mut self) {
        for number in 0..1 + self.random.below(3) {
            let prefix = format!("/p{number}");
            let home = self.random.below(self.nodes.len() as u64) as usize;
            let produce = Produce {
                freshness: pick(
                    &mut self.random,
                    &[Duration::ZERO, Duration::from_millis(500), Duration::from_secs(60)],
                ),
                content_bytes: pick(&mut self.random, &[0, 100, 2000, 8000]),
                reply_delay: pick(&mut self.random, &[Duration::ZERO, Duration::from_millis(30)]),
                dialect: self.dialect,
                ..Produce::default()
            };
            self.network.add_producer(self.nodes[home], &prefix, produce);
            let distances = self.distances_from(home);
            for &(from, to) in &self.neighbours.clone() {
                if distances[to] < distances[from] {
                    self.network.add_route(self.nodes[from], &prefix, self.nodes[to], distances[to]);
                    self.ways.push((self.nodes[from], prefix.clone(), self.nodes[to]));
                } else if from != home && self.random.chance(0.3) {
                    self.network.add_route(self.nodes[from], &prefix, self.nodes[to], 100 + distances[to]);
                    self.detours.push((self.nodes[from], prefix.clone(), self.nodes[to]));
                }
            }
            self.targets.push(Target { prefix, names: 5 + self.random.below(40) });
        }
    }

    fn distances_from(&self, home: usize) -> Vec<u64> {
        let mut distances = vec![u64::MAX; self.nodes.len()];
        distances[home] = 0;
        for round in 0..self.nodes.len() as u64 {
            for &(from, to) in &self.neighbours {
                if distances[from] == round && distances[to] > round + 1 {
                    distances[to] = round + 1;
                }
            }
        }
        distances
    }

    fn draw_consumers(&mut self) {
        for _ in 0..1 + self.random.below(4) {
            let node = pick(&mut self.random, &self.nodes);
            let consumer = self
                .network
                .add_consumer_with(node, FaceConfig { dialect: self.dialect, ..FaceConfig::local() });
            self.network.set_window(consumer, pick(&mut self.random, &[1, 4, 16]));
            for _ in 0..10 + self.random.below(30) {
                let random = &mut self.random;
                let target = &self.targets[random.below(self.targets.len() as u64) as usize];
                let uri = format!("{}/{}", target.prefix, random.below(target.names));
                let request = Request {
                    can_be_prefix: random.chance(0.2),
                    must_be_fresh: random.chance(0.2),
                    lifetime: Duration::from_millis(100 + random.below(4000)),
                    retries: random.below(4) as u32,
                    hop_limit: random.chance(0.1).then(|| 1 + random.below(30) as u8),
                    ..Request::from(uri.as_str())
                };
                let at = Instant::ZERO + millis(random, 5000);
                self.network.ask_at(consumer, at, request);
            }
            self.consumers.push(consumer);
        }
    }

    fn live(mut self) -> Summary {
        self.disturb();
        self.heal();
        self.fall_silent();
        let fetched = if self.hostile { 0 } else { self.fetch_everything() };
        self.fall_silent();
        let trace = self.network.trace();
        Summary { fetched, steps: trace.steps(), hash: trace.hash() }
    }

    fn disturb(&mut self) {
        let names: Vec<StrategySpec> =
            engine::strategy_names().map(|name| StrategySpec::from_name(&name).unwrap()).collect();
        for &node in &self.nodes {
            let spec = pick(&mut self.random, &names);
            self.network.set_strategy(node, "/", &spec).unwrap();
        }
        for _ in 0..20 {
            match self.random.below(10) {
                0 => {
                    let node = pick(&mut self.random, &self.nodes);
                    self.network.node(node).check_conservation().unwrap();
                    self.network.restart(node);
                    let spec = pick(&mut self.random, &names);
                    self.network.set_strategy(node, "/", &spec).unwrap();
                }
                1 | 2 => self.network.take_down(pick(&mut self.random, &self.links)),
                3 | 4 => self.network.bring_up(pick(&mut self.random, &self.links)),
                5 => {
                    let bad = draw_impairment(&mut self.random);
                    self.network.set_impairment(pick(&mut self.random, &self.links), &bad);
                }
                _ => {}
            }
            self.network.run_for(millis(&mut self.random, 500)).unwrap();
            self.check_deliveries();
        }
    }

    /// Perfect links, all up, and no way that leads astray.
    fn heal(&mut self) {
        for &link in &self.links {
            self.network.bring_up(link);
            self.network.set_impairment(link, &ImpairmentConfig::default());
        }
        for (from, prefix, to) in &self.detours {
            self.network.remove_route(*from, prefix, *to);
        }
        // A strategy that learns routes by flooding needs them to be announced, by all nodes on the way.
        let routed: StrategySpec = "best-route".parse().unwrap();
        let learning = "/localhost/nfd/strategy/self-learning".parse::<Name>().unwrap();
        for &node in &self.nodes {
            let engine = self.network.node(node).engine();
            let learns = engine
                .strategies(Dialect::Ndn)
                .any(|(_, name)| learning.as_ref().is_prefix_of(name.as_ref()));
            if learns {
                self.network.set_strategy(node, "/", &routed).unwrap();
            }
        }
        // On a segment a detour may have been by the same face as the way.
        for (from, prefix, to) in &self.ways {
            self.network.add_route(*from, prefix, *to, 0);
        }
    }

    fn fall_silent(&mut self) {
        self.network.run_until_quiet(Duration::from_secs(600)).unwrap();
        self.check_deliveries();
        for (id, node) in self.network.nodes() {
            node.check_conservation().unwrap_or_else(|problem| panic!("{id:?}: {problem}"));
            let sizes = node.engine().table_sizes();
            assert_eq!(sizes.pending, 0, "{id:?}: Interests are pending though nothing is to come");
            let config = node.engine().content_store_config();
            assert!(sizes.cached <= config.max_entries && sizes.cached_bytes <= config.max_bytes, "{id:?}");
            for (face, _) in node.engine().faces() {
                assert_eq!(node.engine().face_pending(face), Some(0), "{id:?}, face {face}");
            }
        }
    }

    fn fetch_everything(&mut self) -> u64 {
        let mut asked = Vec::new();
        for &consumer in &self.consumers {
            self.network.set_window(consumer, 4);
            let names: Vec<_> =
                self.network.requests(consumer).map(|(request, _)| request.name.clone()).collect();
            for name in names {
                // Patient enough for the tightest rate limit.
                let nack_delay = Duration::from_millis(300);
                let request = Request { nack_delay, ..Request::new(name).retries(60) };
                asked.push((consumer, self.network.ask(consumer, request)));
            }
        }
        self.network.record_packets();
        self.network.run_until(Network::all_done, Duration::from_secs(3600)).unwrap();
        for &(consumer, request) in &asked {
            let outcome = self.network.outcome(consumer, request);
            if !matches!(outcome, Some(Outcome::Fetched(_))) {
                let (wanted, _) = self.network.requests(consumer).nth(request.0).unwrap();
                panic!("{consumer:?} {outcome:?} {}\n{}", wanted.name, self.last_packets(&wanted.name));
            }
        }
        asked.len() as u64
    }

    /// The last packets about a name, and by whom they were sent.
    fn last_packets(&self, name: &Name) -> String {
        let about = |sent: &&Sent| match &sent.packet {
            Outgoing::Interest(interest) | Outgoing::Nack(interest, _) => interest.name() == name.as_ref(),
            Outgoing::Data(data) => data.name() == name.as_ref(),
        };
        let line = |sent: &Sent| {
            let what = match &sent.packet {
                Outgoing::Interest(interest) => {
                    format!("interest {:08x}", interest.nonce().map_or(0, |n| n.0))
                }
                Outgoing::Nack(interest, reason) => {
                    format!("nack {:08x} {reason}", interest.nonce().map_or(0, |n| n.0))
                }
                Outgoing::Data(_) => "data".to_owned(),
            };
            format!("{} node {} face {}: {what}", sent.at, sent.node.0, sent.face)
        };
        let lines: Vec<String> = self.network.trace().sent().iter().filter(about).map(line).collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// At any time: nobody got what was not asked for, or what the producer did not make.
    fn check_deliveries(&self) {
        for &consumer in &self.consumers {
            assert!(self.network.unasked(consumer).is_empty(), "{:?}", self.network.unasked(consumer));
            for (request, outcome) in self.network.requests(consumer) {
                if let Some(Outcome::Fetched(fetched)) = outcome
                    && !self.hostile
                {
                    assert!(
                        self.network.is_genuine(&fetched.data),
                        "{:?} was changed on the way",
                        request.name
                    );
                }
            }
        }
    }
}

fn draw_engine(random: &mut Random, config: &mut EngineConfig) {
    config.max_pending = pick(random, &[16, 64, 1 << 20]);
    config.max_dead_nonces = pick(random, &[64, 1 << 16]);
    config.max_lifetime = pick(random, &[config.max_lifetime, Duration::from_secs(1)]);
    config.default_hop_limit = pick(random, &[None, Some(64)]);
    let store = &mut config.content_store;
    store.max_entries = pick(random, &[0, 1, 10, 1000]);
    store.max_bytes = pick(random, &[1000, 20_000, 1 << 20]);
    store.eviction = pick(random, &[EvictionPolicy::Lru, EvictionPolicy::S3Fifo, EvictionPolicy::Sieve]);
    store.unsolicited = pick(random, &[UnsolicitedPolicy::DropAll, UnsolicitedPolicy::AdmitAll]);
}

fn draw_impairment(random: &mut Random) -> ImpairmentConfig {
    let mut chance = |probability: f64, most: f64| match random.chance(probability) {
        true => random.unit() * most,
        false => 0.0,
    };
    ImpairmentConfig {
        loss: chance(0.7, 0.3),
        duplicate: chance(0.4, 0.3),
        reorder: chance(0.4, 0.3),
        corrupt: chance(0.3, 0.1),
        delay: Duration::from_millis(chance(0.8, 50.0) as u64),
        jitter: Duration::from_millis(chance(0.4, 20.0) as u64),
        reorder_delay: Duration::from_millis(chance(0.8, 50.0) as u64),
        rate_bits_per_second: (chance(0.2, 1.0) > 0.0).then_some(5_000_000),
        queue_limit_bytes: 50_000,
    }
}

fn draw_medium(random: &mut Random, hostile: bool) -> Medium {
    if random.chance(0.2) {
        return Medium::ideal(millis(random, 30));
    }
    let service = LinkConfig {
        transport_mtu_bytes: pick(random, &[Some(500), Some(1500), Some(8800), None]),
        reliability: random.chance(0.5).then(ReliabilityConfig::default),
        ..LinkConfig::default()
    };
    Medium::Framed(Box::new(Framed {
        service,
        impairment: draw_impairment(random),
        without_checksum: hostile,
    }))
}
