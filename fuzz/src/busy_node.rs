//! One engine with a few faces, a handful of names, and neighbours that do whatever they like.
//!
//! However that goes: nobody gets Data they did not ask for or gets it twice, nothing for this host only
//! leaves or enters it, no Interest goes back to where it alone came from, limits hold, counters agree with
//! what was seen, every pending Interest ends one way or another, and in the end nothing is pending.

mod packets;
mod second_store;

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use engine::{
    Arrival, ContentStoreConfig, Engine, EngineConfig, EvictionPolicy, FaceConfig, FaceId, FaceScope,
    NextHop, RateControlConfig, RateLimit, RateMethod, SharingConfig, StrategySpec, Transmit,
    UnsolicitedPolicy, strategy_names,
};
use packet::time::{Duration, Instant};
use packet::{
    CachePolicy, Data, Dialect, Interest, LinkHeader, LinkType, NackReason, NameRef, Packet, PitToken,
};

pub use packets::{AnyData, AnyInterest, AnyName};
use second_store::{Store, StoreOperation};

/// An engine that hands out more packets than this for one that came in never stops.
const MAX_TRANSMITS_A_STEP: usize = 10_000;
/// Faces that operations speak of; the first of them exist from the start.
const FACES: u8 = 6;

/// What the node is like, and what happens to it, in this order.
#[derive(Debug, Arbitrary)]
pub struct Plan {
    limits: Limits,
    faces: [AnyFace; 4],
    operations: Vec<Operation>,
}

#[derive(Debug, Arbitrary)]
struct Limits {
    max_pending: u8,
    max_prefixes: u8,
    max_cached: u8,
    max_dead_nonces: u8,
    eviction: u8,
    default_hop_limit: Option<u8>,
    region: Option<AnyName>,
    strategy: u8,
}

#[derive(Debug, Arbitrary)]
struct AnyFace {
    origin: Option<u8>,
    speaks_ccnx: bool,
    is_local: bool,
    link_type: u8,
    send_pit_tokens: bool,
    max_pending: Option<u8>,
    interests_per_second: Option<u8>,
    rate_control: Option<AnyRateControl>,
    shares: bool,
}

#[derive(Debug, Arbitrary)]
struct AnyRateControl {
    mircc: bool,
    kilobits_per_second: u16,
    overhead_bytes: u8,
    max_held: u8,
}

#[derive(Debug, Arbitrary)]
enum Operation {
    Interest {
        face: u8,
        interest: AnyInterest,
        link: AnyHeader,
    },
    Data {
        face: u8,
        data: AnyData,
        link: AnyHeader,
    },
    /// Answers one of the Interests that were sent by a face.
    Reply {
        which: u8,
        data: AnyData,
        link: AnyHeader,
    },
    /// Sends one of the Interests that were sent by a face back.
    Refuse {
        which: u8,
        reason: u8,
    },
    /// One of the Interests that were sent by a face comes back by another: a loop.
    ComeBack {
        which: u8,
        face: u8,
    },
    Nack {
        face: u8,
        interest: AnyInterest,
        reason: u8,
    },
    LetTimePass {
        millis: u16,
    },
    AddRoute {
        prefix: AnyName,
        ccnx: bool,
        face: u8,
        cost: u8,
    },
    RemoveRoute {
        prefix: AnyName,
        ccnx: bool,
        face: u8,
    },
    SetStrategy {
        prefix: AnyName,
        ccnx: bool,
        strategy: u8,
    },
    UnsetStrategy {
        prefix: AnyName,
        ccnx: bool,
    },
    AddFace {
        config: AnyFace,
    },
    RemoveFace {
        face: u8,
    },
    ConfigureFace {
        face: u8,
        config: AnyFace,
    },
    ConfigureStore {
        max_cached: u8,
        eviction: u8,
        admit: bool,
        serve: bool,
        unsolicited: u8,
    },
    EraseCached {
        prefix: AnyName,
        ccnx: bool,
        limit: u8,
    },
    Store(StoreOperation),
}

#[derive(Debug, Arbitrary)]
struct AnyHeader {
    pit_token_bytes: u8,
    next_hop_face: Option<u8>,
    no_cache: bool,
    non_discovery: bool,
    announces: bool,
}

/// Carries out a plan, checking after every step.
pub fn run(plan: &Plan) {
    let mut node = Node::new(plan);
    for operation in &plan.operations {
        node.step(operation);
        node.settle();
    }
    node.come_to_rest();
}

struct Node {
    engine: Engine,
    now: Instant,
    limits: EngineConfig,
    faces: BTreeMap<FaceId, FaceTraffic>,
    /// Interests that came in by faces that are gone.
    departed: Vec<Interest>,
    /// Interests sent by faces, and with what; the latest last.
    sent: Vec<(FaceId, Interest, LinkHeader)>,
    next_face: u32,
    totals: Totals,
    store: Store,
}

/// What passed through one face.
struct FaceTraffic {
    config: FaceConfig,
    /// Interests that came in, and whether they asked for a next hop.
    asked: Vec<(Interest, bool)>,
}

/// What was seen of the engine as a whole.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    interests_sent: u64,
    data_sent: u64,
    nacks_sent: u64,
}

impl Limits {
    fn config(&self) -> EngineConfig {
        let config = EngineConfig::seeded(1).expect("the default strategy exists");
        EngineConfig {
            max_pending: u32::from(self.max_pending) + 1,
            max_prefixes: u32::from(self.max_prefixes) + 1,
            max_dead_nonces: u32::from(self.max_dead_nonces) + 1,
            default_hop_limit: self.default_hop_limit,
            producer_regions: self.region.iter().map(|name| name.to_name(Dialect::Ndn)).collect(),
            content_store: store_config(self.max_cached, self.eviction),
            default_strategy: strategy(self.strategy),
            ..config
        }
    }
}

fn store_config(max_cached: u8, eviction: u8) -> ContentStoreConfig {
    ContentStoreConfig {
        max_bytes: u64::from(max_cached) * 300,
        max_entries: u32::from(max_cached),
        eviction: EvictionPolicy::ALL[usize::from(eviction) % EvictionPolicy::ALL.len()],
        ..ContentStoreConfig::default()
    }
}

fn strategy(which: u8) -> StrategySpec {
    let names: Vec<_> = strategy_names().collect();
    StrategySpec::from_name(&names[usize::from(which) % names.len()]).expect("a strategy without parameters")
}

fn dialect(ccnx: bool) -> Dialect {
    if ccnx { Dialect::Ccnx } else { Dialect::Ndn }
}

fn reason(which: u8) -> NackReason {
    [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute, NackReason::Unspecified]
        [usize::from(which % 4)]
}

impl AnyFace {
    fn config(&self) -> FaceConfig {
        FaceConfig {
            dialect: dialect(self.speaks_ccnx),
            scope: if self.is_local { FaceScope::Local } else { FaceScope::NonLocal },
            link_type: [LinkType::PointToPoint, LinkType::MultiAccess, LinkType::AdHoc]
                [usize::from(self.link_type % 3)],
            send_pit_tokens: self.send_pit_tokens,
            max_pending: self.max_pending.map(u32::from),
            interest_rate: self
                .interests_per_second
                .map(|rate| RateLimit { per_second: rate.into(), burst: rate.into() }),
            rate_control: self.rate_control.as_ref().map(AnyRateControl::config),
            origin: self.origin.map(u64::from),
            sharing: self.shares.then_some(SharingConfig::LOCAL),
        }
    }
}

impl AnyRateControl {
    fn config(&self) -> RateControlConfig {
        RateControlConfig {
            method: if self.mircc { RateMethod::Mircc } else { RateMethod::Hobhis },
            bits_per_second: u64::from(self.kilobits_per_second) * 1000,
            overhead_bytes: self.overhead_bytes.into(),
            max_held: self.max_held.into(),
        }
    }
}

impl AnyHeader {
    fn header(&self) -> LinkHeader {
        let token = vec![9; usize::from(self.pit_token_bytes) % (PitToken::MAX_BYTES + 1)];
        LinkHeader {
            pit_token: PitToken::new(&token).expect("not too long"),
            next_hop_face: self.next_hop_face.map(|face| face_id(face).0.into()),
            cache_policy: self.no_cache.then_some(CachePolicy::NoCache),
            non_discovery: self.non_discovery,
            prefix_announcement: self.announces.then(|| packet::Buffer::copy_from(&[6, 0])),
            ..LinkHeader::default()
        }
    }
}

fn face_id(which: u8) -> FaceId {
    FaceId(FaceId::LAST_RESERVED.0 + 1 + u32::from(which % FACES))
}

impl Node {
    fn new(plan: &Plan) -> Self {
        let limits = plan.limits.config();
        let engine = Engine::new(limits.clone()).expect("the strategies exist");
        let mut node = Node {
            engine,
            now: Instant::from_secs(1),
            limits,
            faces: BTreeMap::new(),
            departed: Vec::new(),
            sent: Vec::new(),
            next_face: face_id(0).0,
            totals: Totals::default(),
            store: Store::default(),
        };
        for face in &plan.faces {
            node.add_face(face);
        }
        node
    }

    fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Interest { face, interest, link } => {
                let face = face_id(*face);
                if let Some(interest) = interest.build(self.dialect_of(face)) {
                    self.receive_interest(face, interest, link.header());
                }
            }
            Operation::Data { face, data, link } => {
                let face = face_id(*face);
                if let Some(data) = data.build(self.dialect_of(face), None) {
                    self.receive_data(face, &data, &link.header());
                }
            }
            Operation::Reply { which, data, link } => {
                let Some((face, interest, header)) = self.pick_sent(*which) else { return };
                if let Some(data) = data.build(interest.dialect(), Some(&interest)) {
                    let header = LinkHeader { pit_token: header.pit_token, ..link.header() };
                    self.receive_data(face, &data, &header);
                }
            }
            Operation::Refuse { which, reason: why } => {
                let Some((face, interest, _)) = self.pick_sent(*which) else { return };
                self.receive_nack(face, &interest, reason(*why));
            }
            Operation::ComeBack { which, face } => {
                let Some((_, interest, _)) = self.pick_sent(*which) else { return };
                self.receive_interest(face_id(*face), interest, LinkHeader::default());
            }
            Operation::Nack { face, interest, reason: why } => {
                let face = face_id(*face);
                if let Some(interest) = interest.build(self.dialect_of(face)) {
                    self.receive_nack(face, &interest, reason(*why));
                }
            }
            Operation::Store(operation) => self.operate_store(operation),
            Operation::LetTimePass { millis } => self.now += Duration::from_millis((*millis).into()),
            _ => self.manage(operation),
        }
    }

    /// What the node's owner does to it.
    fn manage(&mut self, operation: &Operation) {
        let engine = &mut self.engine;
        match operation {
            Operation::AddRoute { prefix, ccnx, face, cost } => {
                let hop = NextHop { face: face_id(*face), cost: (*cost).into() };
                let dialect = dialect(*ccnx);
                // A full table refuses.
                let _ = engine.add_route(self.now, dialect, prefix.to_name(dialect).as_ref(), hop);
            }
            Operation::RemoveRoute { prefix, ccnx, face } => {
                let dialect = dialect(*ccnx);
                let name = prefix.to_name(dialect);
                engine.remove_route(dialect, name.as_ref(), face_id(*face));
                assert!(!engine.remove_route(dialect, name.as_ref(), face_id(*face)), "removed twice");
            }
            Operation::SetStrategy { prefix, ccnx, strategy: which } => {
                let dialect = dialect(*ccnx);
                // A full table refuses.
                let _ = engine.set_strategy(dialect, prefix.to_name(dialect).as_ref(), &strategy(*which));
            }
            Operation::UnsetStrategy { prefix, ccnx } => {
                let dialect = dialect(*ccnx);
                engine.unset_strategy(dialect, prefix.to_name(dialect).as_ref());
            }
            Operation::AddFace { config } => self.add_face(config),
            Operation::RemoveFace { face } => {
                let seen = self.faces.remove(&face_id(*face));
                assert_eq!(engine.remove_face(face_id(*face)).is_some(), seen.is_some());
                self.departed
                    .extend(seen.into_iter().flat_map(|seen| seen.asked).map(|(interest, _)| interest));
            }
            Operation::ConfigureFace { face, config } => {
                let id = face_id(*face);
                let Some(seen) = self.faces.get_mut(&id) else {
                    assert!(!engine.configure_face(self.now, id, config.config()));
                    return;
                };
                // What a face is stays; what it may do changes.
                let FaceConfig { dialect, scope, link_type, .. } = seen.config;
                seen.config = FaceConfig { dialect, scope, link_type, ..config.config() };
                assert!(engine.configure_face(self.now, id, seen.config));
            }
            Operation::ConfigureStore { max_cached, eviction, admit, serve, unsolicited } => {
                self.limits.content_store = ContentStoreConfig {
                    admit: *admit,
                    serve: *serve,
                    unsolicited: [UnsolicitedPolicy::DropAll, UnsolicitedPolicy::AdmitAll]
                        [usize::from(unsolicited % 2)],
                    ..store_config(*max_cached, *eviction)
                };
                engine.configure_content_store(self.limits.content_store);
            }
            Operation::EraseCached { prefix, ccnx, limit } => {
                let dialect = dialect(*ccnx);
                let before = engine.table_sizes().cached as usize;
                let prefix = prefix.to_name(dialect);
                let (erased, _) = engine.erase_cached(dialect, prefix.as_ref(), (*limit).into(), 0);
                assert!(erased <= usize::from(*limit));
                assert_eq!(engine.table_sizes().cached as usize, before - erased);
            }
            _ => unreachable!("packets and time are no management"),
        }
    }

    fn add_face(&mut self, face: &AnyFace) {
        let id = FaceId(self.next_face);
        self.next_face += 1;
        self.engine.add_face(self.now, id, face.config()).expect("a new number");
        self.faces.insert(id, FaceTraffic { config: face.config(), asked: Vec::new() });
    }

    /// What the face speaks; something for one that does not exist.
    fn dialect_of(&self, face: FaceId) -> Dialect {
        self.faces.get(&face).map_or(Dialect::Ndn, |face| face.config.dialect)
    }

    fn pick_sent(&self, which: u8) -> Option<(FaceId, Interest, LinkHeader)> {
        let index = usize::from(which).checked_rem(self.sent.len())?;
        self.sent.iter().rev().nth(index).cloned()
    }

    fn receive_interest(&mut self, face: FaceId, interest: Interest, header: LinkHeader) {
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        if let Some(seen) = self.faces.get_mut(&face) {
            let told = header.next_hop_face.is_some();
            seen.asked.push((interest.clone(), told));
        }
        let intruder = self.is_intruder(face, interest.name());
        let before = self.accepted();
        self.engine.receive(
            Arrival { now: self.now, face, hashes: &hashes, header: &header },
            Packet::Interest(interest),
        );
        assert!(!intruder || self.accepted() == before, "an Interest for another host only was taken");
    }

    fn receive_data(&mut self, face: FaceId, data: &Data, header: &LinkHeader) {
        let hashes = self.engine.hasher().hash(data.dialect(), data.name().components());
        let intruder = self.is_intruder(face, data.name());
        let before = self.accepted();
        self.engine
            .receive(Arrival { now: self.now, face, hashes: &hashes, header }, Packet::Data(data.clone()));
        assert!(!intruder || self.accepted() == before, "Data for another host only was taken");
    }

    /// Whether a packet with this name may not come from this face: it is for the other host only.
    fn is_intruder(&self, face: FaceId, name: NameRef<'_>) -> bool {
        let is_remote = self.faces.get(&face).is_some_and(|seen| seen.config.scope == FaceScope::NonLocal);
        is_remote && name.component(0).is_some_and(|first| first.value == b"localhost")
    }

    /// What changes when the engine does anything with a packet.
    fn accepted(&self) -> [u64; 5] {
        let (counters, sizes) = (self.engine.counters(), self.engine.table_sizes());
        let interests = [counters.cache_hits, counters.pending_created, counters.pending_joined];
        [interests[0], interests[1], interests[2], counters.data_sent, sizes.cached.into()]
    }

    fn receive_nack(&mut self, face: FaceId, interest: &Interest, reason: NackReason) {
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        self.engine.receive(Arrival::bare(self.now, face, &hashes), Packet::Nack(interest.clone(), reason));
    }

    /// Does what the owner of an engine does: takes everything it hands out, and calls it when its time has
    /// come.
    fn settle(&mut self) {
        if self.engine.next_deadline() <= self.now {
            self.engine.advance(self.now);
        }
        assert!(self.engine.next_deadline() > self.now, "what was due is still due");
        let (mut transmits, mut got_data) = (0, BTreeSet::new());
        while let Some(transmit) = self.engine.poll_transmit() {
            if let Packet::Data(data) = &transmit.packet {
                let token = transmit.pit_token.as_bytes().to_vec();
                let is_new = got_data.insert((transmit.face, token, data.wire().to_vec()));
                assert!(is_new, "the same Data twice by one face");
            }
            self.check_transmit(transmit);
            transmits += 1;
            assert!(transmits <= MAX_TRANSMITS_A_STEP, "it never stops sending");
        }
        while self.engine.poll_event().is_some() {}
        self.settle_store();
        self.check_tables();
    }

    fn check_transmit(&mut self, transmit: Transmit) {
        let face = transmit.face;
        let (packet, header) = transmit.into_parts();
        let target = self.faces.get(&face).expect("nothing is sent by a face that does not exist");
        let config = target.config;
        let may_leave = |name: NameRef<'_>| {
            let for_this_host = name.component(0).is_some_and(|first| first.value == b"localhost");
            assert!(!for_this_host || config.scope == FaceScope::Local, "{name} leaves this host");
        };
        match packet {
            Packet::Interest(interest) => {
                self.totals.interests_sent += 1;
                assert_eq!(interest.dialect(), config.dialect);
                assert!(interest.nonce().is_some(), "an Interest leaves with a Nonce");
                may_leave(interest.name());
                let beyond_last_hop = interest.hop_limit() == Some(0) && config.scope == FaceScope::NonLocal;
                assert!(!beyond_last_hop, "the last hop was the one before");
                assert!(
                    self.somebody_else_asked(face, &interest),
                    "an Interest goes back where it came from"
                );
                self.sent.push((face, interest, header));
            }
            Packet::Data(data) => {
                self.totals.data_sent += 1;
                assert_eq!(data.dialect(), config.dialect);
                may_leave(data.name());
                let asked = target.asked.iter().any(|(interest, _)| interest.matches(&data));
                assert!(asked, "{} was not asked for {}", face, data.name());
                let told = header.explicit_rate.is_some();
                assert_eq!(
                    told,
                    config.rate_control.is_some(),
                    "consumers are told a rate where there is one"
                );
            }
            Packet::Nack(interest, _) => {
                self.totals.nacks_sent += 1;
                assert_eq!((config.dialect, config.link_type), (Dialect::Ndn, LinkType::PointToPoint));
                let asked = target.asked.iter().any(|(asked, _)| asked.name() == interest.name());
                assert!(asked, "{} was not asked for {}", face, interest.name());
            }
        }
    }

    /// Whether some other face wants what is about to be sent by this one, or somebody said it shall go
    /// there.
    fn somebody_else_asked(&self, face: FaceId, interest: &Interest) -> bool {
        if self.faces.get(&face).is_some_and(|seen| seen.config.link_type == LinkType::AdHoc) {
            return true;
        }
        let by_others = self.faces.iter().any(|(&other, seen)| {
            let wants = |told: bool| other != face || told;
            seen.asked.iter().any(|(asked, told)| asked.name() == interest.name() && wants(*told))
        });
        by_others || self.departed.iter().any(|asked| asked.name() == interest.name())
    }

    fn check_tables(&self) {
        let (sizes, counters) = (self.engine.table_sizes(), self.engine.counters());
        assert!(sizes.pending <= self.limits.max_pending);
        assert!(sizes.cached <= self.limits.content_store.max_entries);
        assert!(sizes.cached_bytes <= self.limits.content_store.max_bytes);
        assert_eq!(sizes.faces, self.faces.len());
        assert_eq!(sizes.pending as usize, self.engine.pending_interests().count());
        assert_eq!(sizes.cached as usize, self.engine.cached_data().count());
        let seen = Totals {
            interests_sent: counters.interests_sent,
            data_sent: counters.data_sent,
            nacks_sent: counters.nacks_sent,
        };
        assert_eq!(seen, self.totals);
        let ended = counters.satisfied + counters.unsatisfied;
        assert_eq!(counters.pending_created, ended + u64::from(sizes.pending), "pending Interests end once");
    }

    /// Lets time pass until nothing waits any more.
    fn come_to_rest(&mut self) {
        // A strategy may keep what nobody waits for a second longer.
        self.now += self.limits.max_lifetime + Duration::from_secs(1);
        self.settle();
        assert_eq!(self.engine.table_sizes().pending, 0, "nothing stays pending for ever");
        // Of what waited for its turn each face's first is still to come; nobody wants it any more, nor those
        // behind it.
        for _ in 0..self.faces.len() {
            self.now = match self.engine.next_deadline() {
                Instant::NEVER => break,
                turn => self.now.max(turn),
            };
            self.settle();
        }
        assert_eq!(self.engine.next_deadline(), Instant::NEVER);
        for &face in self.faces.keys() {
            assert_eq!(self.engine.face_pending(face), Some(0), "face {face} waits for nothing any more");
        }
    }
}
