//! A node with random faces, routes and traffic in both dialects, and a slow model that says what it may
//! send.

use std::collections::{BTreeMap, BTreeSet};

use cairn_engine::*;
use packet::ccnx::{ContentObjectFields, InterestFields, Scope, SignedInfo, Ticks};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, EncodeError, Interest, LinkHeader, LinkType, NackReason, Name, Packet};

/// Parts of names; prefixes of routes are cut from the same.
const PREFIXES: &[&str] = &["/a", "/a/b", "/c", "/localhost/x", "/localhop/y", "/"];

/// What a run did, for comparison with another run, and to see that enough was tried.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) log: Vec<String>,
    pub(crate) interests_sent: u64,
    pub(crate) data_sent: u64,
    pub(crate) nacks_sent: u64,
    pub(crate) satisfied: u64,
    pub(crate) unsatisfied: u64,
    pub(crate) joined: u64,
    pub(crate) cache_hits: u64,
    pub(crate) nacks_received: u64,
    pub(crate) events: u64,
}

/// Reasons for which an Interest that arrives goes no further than the pipeline.
const AT_THE_DOOR: &[DropReason] = &[
    DropReason::UnknownFace,
    DropReason::WrongDialect,
    DropReason::HopLimitZero,
    DropReason::Scope,
    DropReason::DuplicateNonce,
    DropReason::InterestRate,
    DropReason::NoRoomForField,
    DropReason::TooManyVariants,
];

pub(crate) struct World {
    engine: Engine,
    now: Instant,
    random: Random,
    /// Strategies that flood may send to faces without routes.
    floods: bool,
    faces: BTreeMap<FaceId, FaceConfig>,
    next_face: u32,
    routes: BTreeMap<(bool, Name), BTreeSet<FaceId>>,
    /// Who ever asked for a name.
    askers: BTreeMap<(bool, Name), Vec<Requester>>,
    /// Interests sent, to be answered perhaps.
    asked: Vec<(FaceId, Interest)>,
    outcome: Outcome,
}

/// Somebody who asked for a name.
struct Requester {
    face: FaceId,
    nonce: u32,
    is_local: bool,
}

/// The call that made the node send.
#[derive(Clone, Copy)]
enum Cause<'a> {
    Interest(FaceId, &'a Interest),
    Data(FaceId),
    Other,
}

impl World {
    /// Runs `steps` random steps, then lets everything end.
    pub(crate) fn run(strategy: &str, seed: u64, steps: usize) -> Outcome {
        let mut random = Random::derive(seed, 77);
        let mut config = EngineConfig::seeded(seed).unwrap();
        config.default_strategy = strategy.parse().unwrap();
        config.content_store.serve = random.chance(0.5);
        config.default_hop_limit = random.chance(0.2).then_some(3);
        let mut world = World {
            engine: Engine::new(config).unwrap(),
            now: Instant::from_secs(random.below(100)),
            random,
            floods: strategy == "self-learning",
            faces: BTreeMap::new(),
            next_face: 256,
            routes: BTreeMap::new(),
            askers: BTreeMap::new(),
            asked: Vec::new(),
            outcome: Outcome::default(),
        };
        for _ in 0..2 + world.random.below(6) {
            world.add_face();
        }
        for _ in 0..world.random.below(12) {
            world.add_route();
        }
        for _ in 0..steps {
            world.step();
        }
        world.come_to_rest();
        world.outcome
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..45 => self.receive_interest(),
            45..65 => self.receive_data(),
            65..73 => self.receive_nack(),
            73..93 => {
                let span = Duration::from_nanos(self.random.below(150_000_000));
                self.wait(span);
            }
            93..95 => self.add_route(),
            95 => self.remove_route(),
            96 => self.add_face(),
            97 => self.remove_face(),
            // What was asked goes unanswered.
            _ => drop(self.some_asked()),
        }
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        while self.engine.next_deadline() <= end {
            self.now = self.now.max(self.engine.next_deadline());
            self.engine.advance(self.now);
            self.check(Cause::Other);
        }
        self.now = end;
        self.engine.advance(self.now);
        self.check(Cause::Other);
    }

    fn come_to_rest(&mut self) {
        self.wait(Duration::from_secs(20));
        let sizes = self.engine.table_sizes();
        assert_eq!(sizes.pending, 0, "every pending Interest ends");
        for &face in self.faces.keys() {
            assert_eq!(self.engine.face_pending(face), Some(0), "no face waits for ever");
        }
        assert_eq!(self.engine.next_deadline(), Instant::NEVER);
        let counters = *self.engine.counters();
        assert_eq!(counters.pending_created, counters.satisfied + counters.unsatisfied);
        let outcome = &mut self.outcome;
        assert_eq!(counters.interests_sent, outcome.interests_sent);
        assert_eq!(counters.data_sent, outcome.data_sent);
        assert_eq!(counters.nacks_sent, outcome.nacks_sent);
        outcome.satisfied = counters.satisfied;
        outcome.unsatisfied = counters.unsatisfied;
        outcome.joined = counters.pending_joined;
        outcome.cache_hits = counters.cache_hits;
        outcome.events = std::iter::from_fn(|| self.engine.poll_event()).count() as u64;
    }

    fn receive_interest(&mut self) {
        let from = self.some_face();
        // Mostly in the language of the face.
        let speaks = self.faces.get(&from).map_or(Dialect::Ndn, |config| config.dialect);
        let dialect = if self.random.chance(0.03) { other(speaks) } else { speaks };
        let name = self.some_name();
        let nonce =
            if self.random.chance(0.1) { self.random.below(4) as u32 } else { self.random.next_u32() };
        let lifetime = Duration::from_millis(20 + self.random.below(3000));
        let interest = match dialect {
            Dialect::Ndn => {
                let mut builder = InterestBuilder::new(name).nonce(nonce).lifetime(lifetime);
                builder = builder.can_be_prefix(self.random.chance(0.3));
                builder = builder.must_be_fresh(self.random.chance(0.2));
                if let Some(&hops) = [0, 1, 2, 64, 128, 255].get(self.random.below(12) as usize) {
                    builder = builder.hop_limit(hops);
                }
                builder.build().unwrap()
            }
            Dialect::Ccnx => {
                let scope = Scope::new(self.random.below(10)).filter(|scope| scope.number() <= 2);
                let nonce = nonce.to_be_bytes();
                let fields = InterestFields {
                    scope,
                    nonce: Some(&nonce),
                    lifetime: Some(Ticks::from_duration(lifetime)),
                    ..InterestFields::default()
                };
                Interest::decode_ccnx(fields.encode(&name).unwrap().into()).unwrap()
            }
        };
        let is_local = self.faces.get(&from).is_some_and(|config| config.scope == FaceScope::Local);
        let nonce = interest.nonce().unwrap().0;
        self.askers.entry(key(&interest)).or_default().push(Requester { face: from, nonce, is_local });
        let hashes = self.engine.hasher().hash(dialect, interest.name().components());
        let header = LinkHeader { non_discovery: self.random.chance(0.3), ..LinkHeader::default() };
        let before = *self.engine.counters();
        self.engine.receive(
            Arrival { now: self.now, face: from, hashes: &hashes, header: &header },
            Packet::Interest(interest.clone()),
        );
        let after = *self.engine.counters();
        let at_the_door = |counters: &EngineCounters| -> u64 {
            AT_THE_DOOR.iter().map(|&reason| counters.drops.get(reason)).sum()
        };
        let taken = |counters: &EngineCounters| {
            counters.cache_hits + counters.pending_created + counters.pending_joined + at_the_door(counters)
        };
        assert_eq!(
            taken(&after) - taken(&before),
            1,
            "one thing becomes of an Interest: {before:?} {after:?}"
        );
        self.check(Cause::Interest(from, &interest));
    }

    fn receive_data(&mut self) {
        let Some((face, interest)) = self.some_asked() else { return };
        let from = if self.random.chance(0.1) { self.some_face() } else { face };
        let mut name = interest.name().to_name();
        if interest.can_be_prefix() && self.random.chance(0.5) {
            name = name.with(packet::Component::generic(b"more")).unwrap();
        }
        let data = match interest.dialect() {
            Dialect::Ndn => DataBuilder::new(name)
                .freshness(Duration::from_millis(self.random.below(2) * 500))
                .build_with_digest()
                .unwrap(),
            Dialect::Ccnx => {
                let fields = ContentObjectFields {
                    name: (&name).into(),
                    signed_info: SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0)),
                    content: b"hi",
                };
                let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap();
                Data::decode_ccnx(wire.into()).unwrap()
            }
        };
        let hashes = self.engine.hasher().hash(data.dialect(), data.name().components());
        let announcement = self.random.chance(0.5).then(|| Buffer::from(b"announcement".to_vec()));
        let header = LinkHeader { prefix_announcement: announcement, ..LinkHeader::default() };
        self.engine.receive(
            Arrival { now: self.now, face: from, hashes: &hashes, header: &header },
            Packet::Data(data),
        );
        self.check(Cause::Data(from));
    }

    fn receive_nack(&mut self) {
        let Some((face, interest)) = self.some_asked() else { return };
        let reason =
            [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute, NackReason::Unspecified]
                [self.random.below(4) as usize];
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        self.engine.receive(Arrival::bare(self.now, face, &hashes), Packet::Nack(interest.clone(), reason));
        self.outcome.nacks_received += 1;
        self.check(Cause::Other);
    }

    fn add_face(&mut self) {
        let config = FaceConfig {
            dialect: if self.random.chance(0.3) { Dialect::Ccnx } else { Dialect::Ndn },
            scope: if self.random.chance(0.25) { FaceScope::Local } else { FaceScope::NonLocal },
            link_type: match self.random.below(6) {
                0 => LinkType::MultiAccess,
                1 => LinkType::AdHoc,
                _ => LinkType::PointToPoint,
            },
            send_pit_tokens: self.random.chance(0.5),
            ..FaceConfig::remote()
        };
        let face = FaceId(self.next_face);
        self.next_face += 1;
        self.engine.add_face(self.now, face, config).unwrap();
        self.faces.insert(face, config);
    }

    fn remove_face(&mut self) {
        let face = self.some_face();
        self.engine.remove_face(face);
        self.faces.remove(&face);
        for hops in self.routes.values_mut() {
            hops.remove(&face);
        }
        self.check(Cause::Other);
    }

    /// To any face, even one that speaks the other language.
    fn add_route(&mut self) {
        let face = self.some_face();
        if !self.faces.contains_key(&face) {
            return;
        }
        let dialect = if self.random.chance(0.3) { Dialect::Ccnx } else { Dialect::Ndn };
        let prefix = self.some_prefix();
        let hop = NextHop { face, cost: self.random.below(3) };
        let announcement = self.random.chance(0.5).then(|| Buffer::from(b"stored".to_vec()));
        self.routes.entry((dialect == Dialect::Ccnx, prefix.clone())).or_default().insert(face);
        self.engine.add_learned_route(self.now, dialect, prefix.as_ref(), hop, announcement).unwrap();
        self.check(Cause::Other);
    }

    fn remove_route(&mut self) {
        let (face, prefix) = (self.some_face(), self.some_prefix());
        for dialect in [Dialect::Ndn, Dialect::Ccnx] {
            let existed = self.engine.remove_route(dialect, prefix.as_ref(), face);
            let hops = self.routes.get_mut(&(dialect == Dialect::Ccnx, prefix.clone()));
            assert_eq!(existed, hops.is_some_and(|hops| hops.remove(&face)));
        }
    }

    /// A face that exists, or rarely one that does not, or does not any more.
    fn some_face(&mut self) -> FaceId {
        if self.faces.is_empty() || self.random.chance(0.01) {
            return FaceId(256 + self.random.below(40) as u32);
        }
        let place = self.random.below(self.faces.len() as u64) as usize;
        *self.faces.keys().nth(place).unwrap()
    }

    fn some_prefix(&mut self) -> Name {
        PREFIXES[self.random.below(PREFIXES.len() as u64) as usize].parse().unwrap()
    }

    fn some_name(&mut self) -> Name {
        let number = self.random.below(3);
        self.some_prefix().with(packet::Component::generic(number.to_string().as_bytes())).unwrap()
    }

    /// One of the last Interests sent.
    fn some_asked(&mut self) -> Option<(FaceId, Interest)> {
        let back = self.random.below(self.asked.len().min(8) as u64) as usize;
        self.asked.iter().rev().nth(back).cloned()
    }

    /// Takes what the node sends and holds it against the rules.
    fn check(&mut self, cause: Cause<'_>) {
        while let Some(transmit) = self.engine.poll_transmit() {
            let face = transmit.face;
            let (packet, header) = transmit.into_parts();
            let Some(target) = self.faces.get(&face).copied() else { panic!("{face} does not exist") };
            match &packet {
                Packet::Interest(interest) => {
                    self.outcome.interests_sent += 1;
                    self.outcome.log.push(format!("{face} {:?} {:?}", interest.wire(), header));
                    self.check_interest(cause, face, target, interest);
                    self.asked.push((face, interest.clone()));
                }
                Packet::Data(data) => {
                    self.outcome.data_sent += 1;
                    self.outcome.log.push(format!("{face} {:?} {:?}", data.wire(), header));
                    assert_eq!(target.dialect, data.dialect());
                    let back = matches!(cause, Cause::Data(from) if from == face);
                    assert!(!back || target.link_type == LinkType::AdHoc, "Data went back to {face}");
                    assert!(target.scope == FaceScope::Local || !is_under(data.name(), "/localhost"));
                }
                Packet::Nack(interest, reason) => {
                    self.outcome.nacks_sent += 1;
                    self.outcome.log.push(format!("{face} {:?} {reason}", interest.wire()));
                    assert_eq!(target.link_type, LinkType::PointToPoint, "a Nack on a shared link");
                    assert_eq!(target.dialect, Dialect::Ndn);
                    let nonce = interest.nonce().unwrap().0;
                    let asked = self.askers[&key(interest)]
                        .iter()
                        .any(|asker| asker.face == face && asker.nonce == nonce);
                    assert!(asked, "a Nack for what {face} never asked");
                }
            }
        }
    }

    fn check_interest(&self, cause: Cause<'_>, face: FaceId, target: FaceConfig, interest: &Interest) {
        assert_eq!(target.dialect, interest.dialect());
        if let Cause::Interest(from, arrived) = cause {
            assert!(from != face || target.link_type == LinkType::AdHoc, "an Interest went back to {face}");
            if let Some(hops) = arrived.hop_limit() {
                assert_eq!(interest.hop_limit(), Some(hops - 1));
            }
        }
        let local_asker = self.askers[&key(interest)].iter().any(|asker| asker.is_local);
        let scope = interest.ccnx().and_then(|view| view.scope()).map(Scope::number);
        assert_ne!(scope, Some(0), "an Interest for the forwarder alone was sent to {face}");
        if target.scope == FaceScope::NonLocal {
            assert_ne!(interest.hop_limit(), Some(0));
            assert!(!is_under(interest.name(), "/localhost"));
            assert!(local_asker || !is_under(interest.name(), "/localhop"));
            assert_ne!(scope, Some(1));
            assert!(local_asker || scope != Some(2));
        }
        match self.next_hops(interest) {
            Some(hops) => assert!(hops.contains(&face), "no route leads to {face}"),
            None => assert!(self.floods && target.scope == FaceScope::NonLocal, "flooded to {face}"),
        }
    }

    fn next_hops(&self, interest: &Interest) -> Option<&BTreeSet<FaceId>> {
        let name = interest.name();
        self.routes
            .iter()
            .filter(|((ccnx, prefix), hops)| {
                *ccnx == (interest.dialect() == Dialect::Ccnx)
                    && !hops.is_empty()
                    && prefix.as_ref().is_prefix_of(name)
            })
            .max_by_key(|((_, prefix), _)| prefix.as_ref().component_count())
            .map(|(_, hops)| hops)
    }
}

fn key(interest: &Interest) -> (bool, Name) {
    (interest.dialect() == Dialect::Ccnx, interest.name().to_name())
}

fn is_under(name: packet::NameRef<'_>, prefix: &str) -> bool {
    prefix.parse::<Name>().unwrap().as_ref().is_prefix_of(name)
}

fn other(dialect: Dialect) -> Dialect {
    match dialect {
        Dialect::Ndn => Dialect::Ccnx,
        Dialect::Ccnx => Dialect::Ndn,
    }
}
