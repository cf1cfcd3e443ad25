//! The engine under any sequence of commands and packets. After each of them tables are within their bounds, counters
//! agree with each other, and no face is sent what it must not see or has not asked for; in the end nothing is pending.

#![no_main]

use arbitrary::Arbitrary;
use engine::*;
use packet::ccnx::{
    AnswerOriginKind, ChildSelector, ContentObjectFields, Exclude, InterestFields, Scope, SignedInfo, Ticks,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{
    Buffer, CachePolicy, Component, ComponentKind, Data, Dialect, EncodeError, Interest, LinkHeader,
    NackReason, Name,
};

const MAX_PENDING: u32 = 12;
const MAX_PREFIXES: u32 = 24;
const MAX_DEAD_NONCES: u32 = 16;
const MAX_LIFETIME: Duration = Duration::from_secs(8);
const MAX_EVENTS: usize = 1024;
/// Interests sent lately, to be answered or sent back.
const MAX_SENT: usize = 32;

#[derive(Arbitrary, Debug)]
enum Operation {
    AddFace(FaceKind),
    RemoveFace(u8),
    ConfigureFace(u8, FaceKind),
    AddRoute { ccnx: bool, prefix: NameCode, face: u8, cost: u8, announced: bool },
    RemoveRoute { ccnx: bool, prefix: NameCode, face: u8 },
    SetStrategy { ccnx: bool, prefix: NameCode, strategy: u8 },
    UnsetStrategy { ccnx: bool, prefix: NameCode },
    Interest { face: u8, name: NameCode, ask: Ask },
    CcnxInterest { face: u8, name: NameCode, ask: CcnxAsk },
    Data { face: u8, content: Content },
    AnswerSent { which: u8, longer: bool, content: Content },
    AskForDigest { face: u8, content: Content, nonce: u8 },
    NackSent { which: u8, reason: u8 },
    NackAnything { face: u8, name: NameCode, ask: Ask, reason: u8 },
    LoseSent { which: u8 },
    Wait { millis: u16 },
    ConfigureStore(Store),
    Erase { ccnx: bool, prefix: NameCode, limit: u8 },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct FaceKind {
    ccnx: bool,
    local: bool,
    link_type: u8,
    tokens: bool,
    max_pending: Option<u8>,
    rate: Option<u8>,
}

/// Up to three components of a small alphabet.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct NameCode(u8);

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Ask {
    can_be_prefix: bool,
    must_be_fresh: bool,
    nonce: Option<u8>,
    lifetime: u8,
    hop_limit: Option<u8>,
    hint: Option<NameCode>,
    next_hop: Option<u8>,
    non_discovery: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct CcnxAsk {
    min_suffix: Option<u8>,
    max_suffix: Option<u8>,
    exclude: Option<u8>,
    rightmost: bool,
    answers: Option<u8>,
    scope: Option<u8>,
    nonce: Option<u8>,
    lifetime: Option<u8>,
    face: Option<u8>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Content {
    ccnx: bool,
    name: NameCode,
    fresh: bool,
    bytes: u8,
    no_cache: bool,
    announced: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Store {
    max_bytes: u16,
    max_entries: u8,
    eviction: u8,
    admit: bool,
    serve: bool,
    unsolicited: u8,
}

libfuzzer_sys::fuzz_target!(|operations: Vec<Operation>| {
    let mut world = World::new();
    for operation in operations.into_iter().take(300) {
        world.perform(&operation);
        world.check();
    }
    world.end();
});

struct World {
    engine: Engine,
    now: Instant,
    /// Numbers given out, to faces that may be gone.
    faces: Vec<FaceId>,
    /// Interests the engine has sent, and where.
    sent: Vec<(FaceId, Interest)>,
    /// Interests it has received, and until when they may be answered.
    asked: Vec<(FaceId, Interest, Instant)>,
    interests_out: u64,
    data_out: u64,
    nacks_out: u64,
}

impl World {
    fn new() -> Self {
        let mut config = EngineConfig::seeded(7).expect("the default strategy exists");
        config.max_pending = MAX_PENDING;
        config.max_prefixes = MAX_PREFIXES;
        config.max_dead_nonces = MAX_DEAD_NONCES;
        config.max_lifetime = MAX_LIFETIME;
        config.producer_regions = vec![NameCode(0b01).name()];
        let mut world = World {
            engine: Engine::new(config).expect("the configuration makes sense"),
            now: Instant::ZERO,
            faces: Vec::new(),
            sent: Vec::new(),
            asked: Vec::new(),
            interests_out: 0,
            data_out: 0,
            nacks_out: 0,
        };
        for kind in [FaceConfig::remote(), FaceConfig::remote(), FaceConfig::local()] {
            world.add_face(kind);
            world.add_face(FaceConfig { dialect: Dialect::Ccnx, ..kind });
        }
        world
    }

    fn add_face(&mut self, config: FaceConfig) {
        let id = FaceId(256 + self.faces.len() as u32);
        self.engine.add_face(self.now, id, config).expect("the number is new");
        self.faces.push(id);
    }

    fn face(&self, number: u8) -> FaceId {
        self.faces[usize::from(number) % self.faces.len()]
    }

    fn sent(&self, which: u8) -> Option<(FaceId, Interest)> {
        self.sent.get(usize::from(which) % self.sent.len().max(1)).cloned()
    }

    fn perform(&mut self, operation: &Operation) {
        match *operation {
            Operation::AddFace(kind) => self.add_face(kind.config()),
            Operation::RemoveFace(face) => drop(self.engine.remove_face(self.face(face))),
            Operation::ConfigureFace(face, kind) => {
                self.engine.configure_face(self.now, self.face(face), kind.config());
            }
            Operation::AddRoute { ccnx, prefix, face, cost, announced } => {
                let hop = NextHop { face: self.face(face), cost: cost.into() };
                let announcement = announced.then(|| announcement(prefix));
                let prefix = prefix.name();
                let _ = self.engine.add_learned_route(
                    self.now,
                    dialect(ccnx),
                    prefix.as_ref(),
                    hop,
                    announcement,
                );
            }
            Operation::RemoveRoute { ccnx, prefix, face } => {
                self.engine.remove_route(dialect(ccnx), prefix.name().as_ref(), self.face(face));
            }
            Operation::SetStrategy { ccnx, prefix, strategy } => {
                let names: Vec<Name> = strategy_names().collect();
                let name = &names[usize::from(strategy) % names.len()];
                let spec = StrategySpec::from_name(name).expect("it is in the list");
                let _ = self.engine.set_strategy(dialect(ccnx), prefix.name().as_ref(), &spec);
            }
            Operation::UnsetStrategy { ccnx, prefix } => {
                self.engine.unset_strategy(dialect(ccnx), prefix.name().as_ref());
            }
            Operation::Wait { millis } => {
                self.now += Duration::from_millis(millis.into());
                self.engine.advance(self.now);
                assert!(self.engine.next_deadline() > self.now, "what was due has been done");
            }
            Operation::ConfigureStore(store) => self.engine.configure_content_store(store.config()),
            Operation::Erase { ccnx, prefix, limit } => {
                self.engine.erase_cached(dialect(ccnx), prefix.name().as_ref(), limit.into());
            }
            _ => self.exchange(operation),
        }
    }

    /// The operations that are packets.
    fn exchange(&mut self, operation: &Operation) {
        match *operation {
            Operation::Interest { face, name, ask } => {
                self.interest(self.face(face), ask.interest(name.name()), &ask.header());
            }
            Operation::CcnxInterest { face, name, ask } => {
                self.interest(self.face(face), ask.interest(&name.name()), &LinkHeader::default());
            }
            Operation::AskForDigest { face, content, nonce } => {
                let data = content.data(content.name.name());
                let digest = data.implicit_digest();
                let name = match data.dialect() {
                    Dialect::Ndn => {
                        data.name().to_name().with(Component::new(ComponentKind::IMPLICIT_DIGEST, &digest))
                    }
                    Dialect::Ccnx => data.name().to_name().with(Component::generic(&digest)),
                };
                let name = name.expect("short names");
                let interest = match data.dialect() {
                    Dialect::Ndn => InterestBuilder::new(name).nonce(nonce.into()).build().expect("it fits"),
                    Dialect::Ccnx => ccnx_interest(&InterestFields::default(), &name),
                };
                self.interest(self.face(face), interest, &LinkHeader::default());
            }
            Operation::Data { face, content } => {
                self.data(self.face(face), &content.data(content.name.name()), &content.header());
            }
            Operation::AnswerSent { which, longer, content } => {
                let Some((face, interest)) = self.sent(which) else { return };
                let name = match longer {
                    true => interest.name().to_name().with(Component::generic(b"z")).expect("short names"),
                    false => interest.name().to_name(),
                };
                let content = Content { ccnx: interest.dialect() == Dialect::Ccnx, ..content };
                self.data(face, &content.data(name), &content.header());
            }
            Operation::NackSent { which, reason } => {
                let Some((face, interest)) = self.sent(which) else { return };
                self.nack(face, &interest, reason);
            }
            Operation::NackAnything { face, name, ask, reason } => {
                self.nack(self.face(face), &ask.interest(name.name()), reason);
            }
            Operation::LoseSent { which } => {
                let Some((face, interest)) = self.sent(which) else { return };
                let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
                self.engine.handle_loss(self.now, face, &interest, &hashes);
            }
            _ => {}
        }
    }

    /// One Interest in is one of: answered, joined, made pending, refused.
    fn interest(&mut self, face: FaceId, interest: Interest, header: &LinkHeader) {
        let until = self.now + interest.lifetime();
        self.asked.push((face, interest.clone(), until));
        let before = self.accounted(face);
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        self.engine.receive_interest(self.now, face, interest, &hashes, header);
        assert_eq!(self.accounted(face), before + 1, "an Interest is accounted for once");
    }

    fn accounted(&self, face: FaceId) -> u64 {
        let counters = self.engine.counters();
        let refused = match self.engine.face_counters(face) {
            Some(face) => BEFORE_PENDING.iter().map(|&reason| face.drops.get(reason)).sum(),
            None => counters.drops.get(DropReason::UnknownFace),
        };
        counters.cache_hits + counters.pending_created + counters.pending_joined + refused
    }

    fn data(&mut self, face: FaceId, data: &Data, header: &LinkHeader) {
        let hashes = self.engine.hasher().hash(data.dialect(), data.name().components());
        self.engine.receive_data(self.now, face, data, &hashes, header);
    }

    fn nack(&mut self, face: FaceId, interest: &Interest, reason: u8) {
        let reason = NackReason::from_code(u64::from(reason % 4) * 50);
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        self.engine.receive_nack(self.now, face, interest, reason, &hashes);
    }

    /// What must hold after every operation.
    fn check(&mut self) {
        self.take_transmits();
        let counters = self.engine.counters();
        let sent = (counters.interests_sent, counters.data_sent, counters.nacks_sent);
        assert_eq!(sent, (self.interests_out, self.data_out, self.nacks_out));
        let sizes = self.engine.table_sizes();
        assert_eq!(
            counters.pending_created,
            counters.satisfied + counters.unsatisfied + u64::from(sizes.pending)
        );
        assert_eq!(counters.cache_hits, self.engine.content_store_counters().hits);
        let store = self.engine.content_store_config();
        assert!(sizes.cached <= store.max_entries && sizes.cached_bytes <= store.max_bytes);
        assert!(sizes.pending <= MAX_PENDING && sizes.routes <= 2 * MAX_PREFIXES);
        assert!(sizes.dead_nonces <= 2 * MAX_DEAD_NONCES as usize);
        assert_eq!(self.engine.pending_interests().count(), sizes.pending as usize);
        assert_eq!(self.engine.cached_data().count(), sizes.cached as usize);
        for (face, _) in self.engine.faces() {
            assert!(self.engine.face_pending(face) <= Some(sizes.pending));
        }
        self.asked.retain(|(_, _, until)| *until >= self.now);
    }

    fn take_transmits(&mut self) {
        while let Some(Transmit { face, packet, .. }) = self.engine.poll_transmit() {
            let (_, config) =
                self.engine.faces().find(|(id, _)| *id == face).expect("sent to a face that exists");
            match packet {
                Outgoing::Interest(interest) => {
                    check_crossing(config, interest.dialect(), &interest.name().to_name());
                    self.interests_out += 1;
                    if self.sent.len() >= MAX_SENT {
                        self.sent.remove(0);
                    }
                    self.sent.push((face, interest));
                }
                Outgoing::Data(data) => {
                    check_crossing(config, data.dialect(), &data.name().to_name());
                    let wanted = self.asked.iter().any(|(asker, interest, until)| {
                        *asker == face && *until >= self.now && interest.matches(&data)
                    });
                    assert!(wanted, "face {face} did not ask for {}", data.name());
                    self.data_out += 1;
                }
                Outgoing::Nack(interest, _) => {
                    assert_eq!((config.dialect, config.link_type), (Dialect::Ndn, LinkType::PointToPoint));
                    let asked = self
                        .asked
                        .iter()
                        .any(|(asker, other, _)| *asker == face && other.name() == interest.name());
                    assert!(asked, "face {face} did not ask for {}", interest.name());
                    self.nacks_out += 1;
                }
            }
        }
    }

    /// Nobody is left waiting when all lifetimes are over.
    fn end(&mut self) {
        self.now += MAX_LIFETIME + Duration::from_secs(3600);
        self.engine.advance(self.now);
        self.check();
        assert_eq!(self.engine.table_sizes().pending, 0);
        for (face, _) in self.engine.faces() {
            assert_eq!(self.engine.face_pending(face), Some(0), "face {face}");
        }
        let events = std::iter::from_fn(|| self.engine.poll_event()).count();
        assert!(events <= MAX_EVENTS);
    }
}

/// Packets in the face's own language only, and none to another host that are for this host only.
fn check_crossing(config: &FaceConfig, dialect: Dialect, name: &Name) {
    assert_eq!(config.dialect, dialect);
    let first = name.as_ref().component(0).map(|component| component.value);
    assert!(config.scope == FaceScope::Local || first != Some(b"localhost"), "{name} leaves the host");
}

/// Reasons for which an Interest is dropped before anybody waits for it.
const BEFORE_PENDING: &[DropReason] = &[
    DropReason::WrongDialect,
    DropReason::HopLimitZero,
    DropReason::Scope,
    DropReason::DuplicateNonce,
    DropReason::InterestRate,
    DropReason::FacePendingLimit,
    DropReason::PendingTableFull,
    DropReason::TooManyVariants,
    DropReason::NoRoomForField,
];

fn dialect(ccnx: bool) -> Dialect {
    if ccnx { Dialect::Ccnx } else { Dialect::Ndn }
}

fn announcement(prefix: NameCode) -> Buffer {
    DataBuilder::new(prefix.name()).build_with_digest().expect("it fits").wire().clone()
}

impl NameCode {
    fn name(self) -> Name {
        const WORDS: [&[u8]; 3] = [b"a", b"b", b"localhop"];
        let (count, mut rest) = (self.0 & 3, self.0 >> 2);
        let mut name = Name::root();
        for place in 0..count {
            let word = match rest {
                63 if place == 0 => b"localhost",
                _ => WORDS[usize::from(rest % 3)],
            };
            name = name.with(Component::generic(word)).expect("short names");
            rest /= 3;
        }
        name
    }
}

impl FaceKind {
    fn config(self) -> FaceConfig {
        FaceConfig {
            dialect: dialect(self.ccnx),
            scope: if self.local { FaceScope::Local } else { FaceScope::NonLocal },
            link_type: match self.link_type % 4 {
                0 => LinkType::MultiAccess,
                1 => LinkType::AdHoc,
                _ => LinkType::PointToPoint,
            },
            send_pit_tokens: self.tokens,
            max_pending: self.max_pending.map(|most| u32::from(most % 8)),
            interest_rate: self.rate.map(|rate| RateLimit { per_second: rate.into(), burst: 3 }),
        }
    }
}

impl Ask {
    fn interest(self, name: Name) -> Interest {
        let mut builder = InterestBuilder::new(if name == Name::root() { NameCode(1).name() } else { name })
            .can_be_prefix(self.can_be_prefix)
            .must_be_fresh(self.must_be_fresh)
            .lifetime(Duration::from_millis(u64::from(self.lifetime) * 50));
        if let Some(nonce) = self.nonce {
            builder = builder.nonce(nonce.into());
        }
        if let Some(hops) = self.hop_limit {
            builder = builder.hop_limit(hops);
        }
        if let Some(hint) = self.hint {
            builder = builder.forwarding_hint(vec![hint.name()]);
        }
        builder.build().expect("it fits")
    }

    fn header(self) -> LinkHeader {
        LinkHeader {
            next_hop_face: self.next_hop.map(|face| 256 + u64::from(face % 16)),
            non_discovery: self.non_discovery,
            ..LinkHeader::default()
        }
    }
}

impl CcnxAsk {
    fn interest(self, name: &Name) -> Interest {
        let nonce = self.nonce.map(|nonce| [0, 0, 0, nonce]);
        let exclude = self.exclude.map(|word| match word % 3 {
            0 => Exclude::components([b"a".as_slice()]),
            1 => Exclude::components([b"a".as_slice(), b"b", b"z"]),
            _ => Exclude::components([b"z".as_slice()]),
        });
        let fields = InterestFields {
            min_suffix_components: self.min_suffix.map(|count| u16::from(count % 5)),
            max_suffix_components: self.max_suffix.map(|count| u16::from(count % 5)),
            exclude: exclude.as_ref().map(Exclude::as_ref),
            child_selector: self.rightmost.then(|| ChildSelector::new(1)).flatten(),
            answer_origin_kind: self.answers.and_then(|bits| AnswerOriginKind::new(u64::from(bits % 32))),
            scope: self.scope.and_then(|scope| Scope::new(u64::from(scope % 3))),
            lifetime: self
                .lifetime
                .map(|lifetime| Ticks::from_duration(Duration::from_millis(u64::from(lifetime) * 50))),
            nonce: nonce.as_ref().map(<[u8; 4]>::as_slice),
            face_id: self.face.map(|face| 256 + u32::from(face % 16)),
            ..InterestFields::default()
        };
        ccnx_interest(&fields, name)
    }
}

/// Selectors that contradict each other are left out.
fn ccnx_interest(fields: &InterestFields<'_>, name: &Name) -> Interest {
    let encode = |fields: &InterestFields<'_>| {
        let wire = fields.encode(name).ok()?;
        Interest::decode_ccnx(Buffer::from(wire)).ok()
    };
    encode(fields).or_else(|| encode(&InterestFields::default())).expect("an Interest without selectors")
}

impl Content {
    fn data(self, name: Name) -> Data {
        let content = vec![self.bytes; usize::from(self.bytes)];
        if !self.ccnx {
            let freshness = if self.fresh { Duration::from_secs(1) } else { Duration::ZERO };
            return DataBuilder::new(name)
                .freshness(freshness)
                .content(content)
                .build_with_digest()
                .expect("it fits");
        }
        let signed_info = SignedInfo {
            freshness_seconds: self.fresh.then_some(1),
            ..SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_000_000_000, 0))
        };
        let fields = ContentObjectFields { name: (&name).into(), signed_info, content: &content };
        let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0x22; 16])).expect("it fits");
        Data::decode_ccnx(Buffer::from(wire)).expect("what was encoded decodes")
    }

    fn header(self) -> LinkHeader {
        LinkHeader {
            cache_policy: self.no_cache.then_some(CachePolicy::NoCache),
            prefix_announcement: self.announced.then(|| announcement(self.name)),
            ..LinkHeader::default()
        }
    }
}

impl Store {
    fn config(self) -> ContentStoreConfig {
        ContentStoreConfig {
            max_bytes: self.max_bytes.into(),
            max_entries: u32::from(self.max_entries % 16),
            eviction: match self.eviction % 3 {
                0 => EvictionPolicy::Lru,
                1 => EvictionPolicy::S3Fifo,
                _ => EvictionPolicy::Sieve,
            },
            admit: self.admit,
            serve: self.serve,
            unsolicited: match self.unsolicited % 4 {
                0 => UnsolicitedPolicy::DropAll,
                1 => UnsolicitedPolicy::AdmitLocal,
                2 => UnsolicitedPolicy::AdmitNetwork,
                _ => UnsolicitedPolicy::AdmitAll,
            },
        }
    }
}
