//! What the worst packets cost that a stranger can think of, in tables that a stranger has prepared.
//!
//! `cargo xtask worst-cases` runs each case under callgrind and compares instructions. `… -- list` prints the
//! cases, one a line: its name, how many times the honest exchange of the same run a packet may cost, and
//! why. `… -- NAME` runs one: what happens in [`measured_step`] is counted, and the number of packets is
//! printed.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops when its own packets are wrong"
)]

use std::hint::black_box;

use cairn_engine::*;
use packet::ccnx::bloom::Bloom;
use packet::ccnx::{
    ChildSelector, ContentObjectFields, Exclude, ExcludeEntry, InterestFields, SignedInfo, Ticks,
};
use packet::ndn::{DataBuilder, InterestBuilder, tlv};
use packet::time::{Duration, Instant};
use packet::{Buffer, Component, ComponentKind, Data, Dialect, Interest, Name, Packet, PrefixHashes};

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);
const STRANGER: FaceId = FaceId(258);
const SILENT: FaceId = FaceId(259);
/// By which nothing comes but time.
const CLOCK: FaceId = FaceId(260);

/// A packet as it comes from the network.
struct Arrival {
    from: FaceId,
    wire: Buffer,
    is_data: bool,
    dialect: Dialect,
}

impl Arrival {
    /// Nothing arrives, and the face goes; or time has passed, if that is the clock.
    fn farewell(from: FaceId) -> Self {
        Arrival { from, wire: Buffer::from(Vec::new()), is_data: false, dialect: Dialect::Ndn }
    }
}

/// A node, and what has been prepared for it.
struct World {
    engine: Engine,
    now: Instant,
    nonce: u32,
}

/// What is measured: the name, the bound and why it is that, and how to prepare it.
struct Case {
    name: &'static str,
    times_honest: u32,
    reason: &'static str,
    prepare: fn(&mut World) -> Vec<Arrival>,
}

/// What a bounded number of look-ups, comparisons and copies may come to.
const BOUNDED: &str = "a bounded number of steps";
/// As an exchange is two packets.
const TWO: &str = "no more than a packet and the look-ups it needs";
/// One pass of SHA-256 in plain instructions: 133 blocks of 64 rounds of some 45, where an honest exchange
/// takes some 4,000; and 20 for the rest.
const DIGEST: &str = "one digest of 8.5 kB, for each of at most two Data per Interest by digest";
/// What it costs to write 64 names in canonical form and to put their Data in order, and 20 for the rest.
const ORDERING: &str = "64 Data are put in order, once";
/// A quarter of an exchange for each Interest that goes, and a hundredth for each deadline that moves.
const EXPIRING: &str = "1,024 Interests go and 4,096 deadlines move in one call, whatever waits";
/// Half an exchange for each packet sent, and 20 for the rest.
const SENDING: &str = "64 packets are sent";

const CASES: &[Case] = &[
    case("honest-exchange", 2, TWO, honest),
    case("honest-data", 1, TWO, honest_data),
    case("unsolicited-data", 1, TWO, unsolicited),
    case("solicited-long-name", 20, BOUNDED, |world| long_name_data(world, true)),
    case("unsolicited-long-name", 20, BOUNDED, |world| long_name_data(world, false)),
    case("data-of-4300-components", 20, BOUNDED, endless_name),
    case("interest-of-128-components", 20, BOUNDED, long_interests),
    case("unsolicited-data-of-an-asked-digest", 20, BOUNDED, |world| digest(world, STRANGER)),
    case("solicited-data-of-an-asked-digest", 116, DIGEST, |world| digest(world, PRODUCER)),
    case("interest-for-a-wrong-digest", 20, BOUNDED, wrong_digest),
    case("interest-with-128-delegations", 20, BOUNDED, delegations),
    case("interest-among-long-variants", 20, BOUNDED, among_variants),
    case("interest-that-evicts-a-variant", 20, BOUNDED, evicts_variant),
    case("interest-that-256-wait-for", 20, BOUNDED, joins_many),
    case("interest-into-a-full-table", 20, BOUNDED, full_table),
    case("prefix-interest-into-a-new-store", 20, BOUNDED, |world| by_prefix(world, 0, 1)),
    case("prefix-interest-into-a-wide-store", 20, BOUNDED, |world| by_prefix(world, 500, 50)),
    case("fresh-interest-into-a-stale-store", 20, BOUNDED, stale_store),
    case("data-into-a-store-all-asked-for", 20, BOUNDED, |world| all_marked(world, EvictionPolicy::Sieve)),
    case("data-into-a-queue-all-asked-for", 20, BOUNDED, |world| all_marked(world, EvictionPolicy::S3Fifo)),
    case("face-that-goes-among-60000-routes", 20, BOUNDED, face_that_goes),
    case("multicast-that-256-wait-for", 52, SENDING, multicast),
    case("expiry-of-40000-interests", 300, EXPIRING, expiry),
    case("ccnx-exchange", 1, TWO, ccnx_honest),
    case("ccnx-cache-hit", 1, TWO, ccnx_hit),
    case("ccnx-data-that-is-excluded", 20, BOUNDED, excluded),
    case("ccnx-interest-that-excludes-all", 20, BOUNDED, |world| excluding(world, 1, 511, false)),
    case("ccnx-interest-that-excludes-children", 20, BOUNDED, |world| excluding(world, 3, 1, false)),
    case("ccnx-interest-for-the-last-child", 20, BOUNDED, |world| excluding(world, 1, 1, true)),
    case("ccnx-interest-with-a-filter", 20, BOUNDED, |world| filtering(world, true)),
    case("ccnx-interest-with-a-filter-into-a-new-store", 54, ORDERING, |world| filtering(world, false)),
];

const fn case(
    name: &'static str,
    times_honest: u32,
    reason: &'static str,
    prepare: fn(&mut World) -> Vec<Arrival>,
) -> Case {
    Case { name, times_honest, reason, prepare }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    for case in CASES {
        match arguments.first().map(String::as_str) {
            Some(name) if name == case.name => {}
            Some("list") | None => {
                println!("{} {} {}", case.name, case.times_honest, case.reason);
                continue;
            }
            Some(_) => continue,
        }
        let mut world = World::new();
        let arrivals = (case.prepare)(&mut world);
        assert!(!arrivals.is_empty(), "there is nothing to measure");
        let count = arrivals.len();
        for arrival in arrivals {
            measured_step(&mut world, arrival);
        }
        println!("{count}");
    }
}

/// All that a packet costs: it is decoded, worked on, and what is to be sent is taken.
#[inline(never)]
fn measured_step(world: &mut World, arrival: Arrival) {
    world.receive(arrival);
    while let Some(transmit) = world.engine.poll_transmit() {
        black_box(&transmit);
    }
}

impl World {
    /// Four neighbours; `/a` leads to the producer, `/s` and all hints to one that never answers.
    fn new() -> Self {
        let mut config = EngineConfig::seeded(1).unwrap();
        config.max_pending = 20_000;
        config.content_store.max_entries = 10_000;
        Self::with(config)
    }

    fn with(config: EngineConfig) -> Self {
        let now = Instant::from_secs(1);
        let mut world = World { engine: Engine::new(config).unwrap(), now, nonce: 0 };
        for face in [CONSUMER, PRODUCER, STRANGER, SILENT] {
            world.engine.add_face(now, face, FaceConfig::remote()).unwrap();
        }
        for dialect in [Dialect::Ndn, Dialect::Ccnx] {
            for (prefix, face) in [("/a", PRODUCER), ("/s", SILENT), ("/hint", SILENT)] {
                let hop = NextHop { face, cost: 0 };
                world.engine.add_route(now, dialect, name(prefix).as_ref(), hop).unwrap();
            }
        }
        world
    }

    #[inline(always)]
    fn receive(&mut self, arrival: Arrival) {
        let mut hashes = PrefixHashes::default();
        let wire = arrival.wire;
        if wire.is_empty() {
            if arrival.from == CLOCK {
                self.engine.advance(self.now);
            } else {
                self.engine.remove_face(arrival.from);
            }
            return;
        }
        let hasher = self.engine.hasher();
        match (arrival.is_data, arrival.dialect) {
            (true, Dialect::Ndn) => {
                if let Ok(data) = Data::decode_ndn_hashed(wire, hasher, &mut hashes) {
                    self.engine.receive(
                        cairn_engine::Arrival::bare(self.now, arrival.from, &hashes),
                        Packet::Data(data),
                    );
                }
            }
            (true, Dialect::Ccnx) => {
                if let Ok(data) = Data::decode_ccnx_hashed(wire, hasher, &mut hashes) {
                    self.engine.receive(
                        cairn_engine::Arrival::bare(self.now, arrival.from, &hashes),
                        Packet::Data(data),
                    );
                }
            }
            (false, Dialect::Ndn) => {
                if let Ok(interest) = Interest::decode_ndn_hashed(wire, hasher, &mut hashes) {
                    self.engine.receive(
                        cairn_engine::Arrival::bare(self.now, arrival.from, &hashes),
                        Packet::Interest(interest),
                    );
                }
            }
            (false, Dialect::Ccnx) => {
                if let Ok(interest) = Interest::decode_ccnx_hashed(wire, hasher, &mut hashes) {
                    self.engine.receive(
                        cairn_engine::Arrival::bare(self.now, arrival.from, &hashes),
                        Packet::Interest(interest),
                    );
                }
            }
        }
    }

    /// Takes a packet without its being measured.
    fn take(&mut self, arrival: Arrival) {
        self.receive(arrival);
        while self.engine.poll_transmit().is_some() {}
    }

    fn interest(&mut self, from: FaceId, builder: InterestBuilder) -> Arrival {
        self.nonce += 1;
        let wire = builder.nonce(self.nonce).build().unwrap().wire().clone();
        Arrival { from, wire, is_data: false, dialect: Dialect::Ndn }
    }

    fn ask(&mut self, from: FaceId, builder: InterestBuilder) {
        let arrival = self.interest(from, builder);
        self.take(arrival);
    }

    /// Asks the producer by the consumer, and has it answered.
    fn keep(&mut self, data: Arrival, name: Name) {
        self.ask(CONSUMER, InterestBuilder::new(name));
        self.take(data);
    }

    fn speak_ccnx(&mut self) {
        for face in [CONSUMER, PRODUCER, STRANGER, SILENT] {
            self.engine.configure_face(
                self.now,
                face,
                FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::remote() },
            );
        }
    }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

/// `prefix` with as many components more as there may be.
fn long_name(prefix: &str, components: usize) -> Name {
    let parts: Vec<[u8; 1]> = (0..components as u8).map(|part| [part]).collect();
    let prefix = name(prefix);
    let rest = parts.iter().map(|part| Component::generic(part));
    Name::from_components(prefix.components().chain(rest).take(components)).unwrap()
}

fn data(from: FaceId, name: Name, bytes: usize) -> Arrival {
    let wire = DataBuilder::new(name).content(vec![7; bytes]).build_with_digest().unwrap().wire().clone();
    Arrival { from, wire, is_data: true, dialect: Dialect::Ndn }
}

fn honest_pairs(world: &mut World) -> Vec<[Arrival; 2]> {
    let pair = |world: &mut World, number: u32| {
        let name = name(&format!("/a/site/file/v=1/seg={number}"));
        [world.interest(CONSUMER, InterestBuilder::new(name.clone())), data(PRODUCER, name, 1000)]
    };
    (0..500).map(|number| pair(world, number)).collect()
}

fn honest(world: &mut World) -> Vec<Arrival> {
    honest_pairs(world).into_iter().flatten().collect()
}

fn honest_data(world: &mut World) -> Vec<Arrival> {
    let pairs = honest_pairs(world);
    let answer = |[question, answer]: [Arrival; 2]| {
        world.take(question);
        answer
    };
    pairs.into_iter().map(answer).collect()
}

fn unsolicited(world: &mut World) -> Vec<Arrival> {
    let strange = |[_, answer]: [Arrival; 2]| Arrival { from: STRANGER, ..answer };
    honest_pairs(world).into_iter().map(strange).collect()
}

/// Data of 128 components while somebody waits at every length.
fn long_name_data(world: &mut World, is_solicited: bool) -> Vec<Arrival> {
    let base = long_name("/s", 128);
    for length in 1..128 {
        world.ask(STRANGER, InterestBuilder::new(base.prefix(length)).can_be_prefix(true));
    }
    // The whole name leads to the producer, what is shorter does not.
    let hop = NextHop { face: PRODUCER, cost: 0 };
    (0..50u8)
        .map(|number| {
            let name = base.prefix(127).with(Component::generic(&[number])).unwrap();
            if is_solicited {
                let route = name.prefix(16);
                world.engine.add_route(world.now, Dialect::Ndn, route.as_ref(), hop).unwrap();
                world.engine.remove_route(Dialect::Ndn, route.as_ref(), SILENT);
                world.ask(CONSUMER, InterestBuilder::new(name.clone()));
            }
            data(if is_solicited { PRODUCER } else { STRANGER }, name, 1000)
        })
        .collect()
}

/// What took longest before names had a limit.
fn endless_name(world: &mut World) -> Vec<Arrival> {
    world.ask(STRANGER, InterestBuilder::new(long_name("/s", 100)).can_be_prefix(true));
    let mut wire = Vec::new();
    let mut inside = Vec::new();
    let components = [8, 0].repeat(4300);
    tlv::write_element(&mut inside, 7, &components);
    tlv::write_element(&mut inside, 22, &[27, 1, 0]);
    tlv::write_element(&mut inside, 23, &[9; 32]);
    tlv::write_element(&mut wire, 6, &inside);
    let wire = Buffer::from(wire);
    (0..20)
        .map(|_| Arrival { from: STRANGER, wire: wire.clone(), is_data: true, dialect: Dialect::Ndn })
        .collect()
}

fn long_interests(world: &mut World) -> Vec<Arrival> {
    let base = long_name("/a", 127);
    (0..100u8)
        .map(|number| {
            let name = base.with(Component::generic(&[number])).unwrap();
            world.interest(STRANGER, InterestBuilder::new(name).can_be_prefix(true))
        })
        .collect()
}

fn with_digest(name: &Name, digest: [u8; 32]) -> Name {
    name.with(Component::new(ComponentKind::IMPLICIT_DIGEST, &digest)).unwrap()
}

/// Large Data of a name that somebody asks for by digest, and never the right one.
fn digest(world: &mut World, from: FaceId) -> Vec<Arrival> {
    let name = name("/a/b");
    for number in 0..20 {
        world.ask(STRANGER, InterestBuilder::new(with_digest(&name, [number; 32])));
    }
    (0..20).map(|number| data(from, name.clone(), 8500 + number)).collect()
}

fn wrong_digest(world: &mut World) -> Vec<Arrival> {
    let name = name("/a/b");
    world.keep(data(PRODUCER, name.clone(), 8500), name.clone());
    let wrong = |number| InterestBuilder::new(with_digest(&name, [number; 32]));
    (0..100).map(|number| world.interest(STRANGER, wrong(number))).collect()
}

fn delegations(world: &mut World) -> Vec<Arrival> {
    let hint = vec![name("/x"); 128];
    let asked =
        |number: u32| InterestBuilder::new(name(&format!("/a/{number}"))).forwarding_hint(hint.clone());
    (0..20).map(|number| world.interest(STRANGER, asked(number))).collect()
}

/// A hint of nearly as many bytes as fit, which differs from others in the last.
fn long_hint(number: u32) -> Vec<Name> {
    let mut hint = vec![long_name("/hint", 120); 2];
    hint.push(name(&format!("/hint/{number:05}")));
    hint
}

fn among_variants(world: &mut World) -> Vec<Arrival> {
    let asked = |number| InterestBuilder::new(name("/a/b")).forwarding_hint(long_hint(number));
    for number in 0..32 {
        world.ask(STRANGER, asked(number));
    }
    (0..20).map(|number| world.interest(CONSUMER, asked(number))).collect()
}

fn evicts_variant(world: &mut World) -> Vec<Arrival> {
    let asked = |number| InterestBuilder::new(name("/a/b")).forwarding_hint(long_hint(number));
    for number in 0..32 {
        for face in [STRANGER, SILENT, PRODUCER] {
            world.ask(face, asked(number));
        }
    }
    (100..115).map(|number| world.interest(CONSUMER, asked(number))).collect()
}

fn add_faces(world: &mut World, count: u32) -> Vec<FaceId> {
    let faces: Vec<FaceId> = (1000..1000 + count).map(FaceId).collect();
    for &face in &faces {
        world.engine.add_face(world.now, face, FaceConfig::remote()).unwrap();
    }
    faces
}

fn joins_many(world: &mut World) -> Vec<Arrival> {
    let faces = add_faces(world, 300);
    for &face in faces.iter().take(256) {
        world.ask(face, InterestBuilder::new(name("/a/b")));
    }
    faces.iter().skip(200).map(|&face| world.interest(face, InterestBuilder::new(name("/a/b")))).collect()
}

fn full_table(world: &mut World) -> Vec<Arrival> {
    for number in 0..20_000 {
        world.ask(STRANGER, InterestBuilder::new(name(&format!("/a/{number}"))));
    }
    let asked = |number: u32| InterestBuilder::new(name(&format!("/a/own/{number}")));
    (0..500).map(|number| world.interest(CONSUMER, asked(number))).collect()
}

fn fill_store(world: &mut World, count: u32) {
    for number in 0..count {
        let name = name(&format!("/a/{number}"));
        world.keep(data(PRODUCER, name.clone(), 100), name);
    }
}

/// Searches by prefix in a store of 10,000 siblings, after `before` others.
fn by_prefix(world: &mut World, before: usize, count: usize) -> Vec<Arrival> {
    fill_store(world, 10_000);
    for _ in 0..before {
        world.ask(STRANGER, InterestBuilder::new(name("/a")).can_be_prefix(true));
    }
    (0..count)
        .map(|_| world.interest(STRANGER, InterestBuilder::new(name("/a")).can_be_prefix(true)))
        .collect()
}

fn stale_store(world: &mut World) -> Vec<Arrival> {
    fill_store(world, 10_000);
    let asked = || InterestBuilder::new(name("/a")).can_be_prefix(true).must_be_fresh(true);
    for _ in 0..500 {
        world.ask(STRANGER, asked());
        world.now += Duration::from_secs(5);
        world.engine.advance(world.now);
    }
    vec![world.interest(STRANGER, asked())]
}

/// A store in which everything was asked for since it came, so that nobody is the first to leave.
fn all_marked(world: &mut World, eviction: EvictionPolicy) -> Vec<Arrival> {
    let config = *world.engine.content_store_config();
    world.engine.configure_content_store(ContentStoreConfig { eviction, ..config });
    fill_store(world, 10_000);
    for _ in 0..4 {
        for number in 0..10_000 {
            world.ask(STRANGER, InterestBuilder::new(name(&format!("/a/{number}"))));
        }
    }
    world.ask(CONSUMER, InterestBuilder::new(name("/a/new")));
    vec![data(PRODUCER, name("/a/new"), 100)]
}

/// Faces of strangers who have asked for something come and go where others have many routes.
fn face_that_goes(world: &mut World) -> Vec<Arrival> {
    for number in 0..60_000 {
        let hop = NextHop { face: PRODUCER, cost: 0 };
        let prefix = name(&format!("/r/{number}"));
        world.engine.add_route(world.now, Dialect::Ndn, prefix.as_ref(), hop).unwrap();
    }
    let faces = add_faces(world, 100);
    for &face in &faces {
        world.ask(face, InterestBuilder::new(name("/s")));
    }
    faces.into_iter().map(Arrival::farewell).collect()
}

/// 40,000 Interests that expire at one moment: what one call of `advance` costs.
fn expiry(world: &mut World) -> Vec<Arrival> {
    let mut config = EngineConfig::seeded(1).unwrap();
    config.max_pending = 50_000;
    *world = World::with(config);
    for number in 0..40_000 {
        world.ask(STRANGER, InterestBuilder::new(name(&format!("/s/{number}"))));
    }
    world.now += Duration::from_secs(5);
    // From the first call on that has to see to some of them, and not only to sort.
    while world.engine.table_sizes().pending == 40_000 {
        world.engine.advance(world.now);
    }
    (0..8).map(|_| Arrival::farewell(CLOCK)).collect()
}

fn multicast(world: &mut World) -> Vec<Arrival> {
    let faces = add_faces(world, 256);
    let prefix = name("/localhop/x");
    world
        .engine
        .set_strategy(Dialect::Ndn, name("/localhop").as_ref(), &"multicast".parse().unwrap())
        .unwrap();
    for &face in faces.iter().take(64) {
        world.engine.add_route(world.now, Dialect::Ndn, prefix.as_ref(), NextHop { face, cost: 0 }).unwrap();
    }
    for &face in &faces {
        world.ask(face, InterestBuilder::new(prefix.clone()));
    }
    world.now += Duration::from_secs(1);
    vec![world.interest(faces[100], InterestBuilder::new(prefix))]
}

fn ccnx_interest(world: &mut World, from: FaceId, name: &Name, exclude: Option<&Exclude>) -> Arrival {
    ccnx_interest_from(world, from, name, exclude, None)
}

/// The same, asking for the first child or the last.
fn ccnx_interest_from(
    world: &mut World,
    from: FaceId,
    name: &Name,
    exclude: Option<&Exclude>,
    child_selector: Option<ChildSelector>,
) -> Arrival {
    world.nonce += 1;
    let nonce = world.nonce.to_be_bytes();
    let exclude = exclude.map(Exclude::as_ref);
    let fields = InterestFields { exclude, child_selector, nonce: Some(&nonce), ..InterestFields::default() };
    let wire = fields.encode(name).unwrap().into();
    Arrival { from, wire, is_data: false, dialect: Dialect::Ccnx }
}

fn ccnx_object(from: FaceId, name: &Name, bytes: usize) -> Arrival {
    let signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
    let content = vec![7; bytes];
    let fields = ContentObjectFields { name: name.into(), signed_info, content: &content };
    let wire = fields.encode(None, |_| Ok::<_, packet::EncodeError>([0xaa; 128])).unwrap().into();
    Arrival { from, wire, is_data: true, dialect: Dialect::Ccnx }
}

fn ccnx_honest(world: &mut World) -> Vec<Arrival> {
    world.speak_ccnx();
    let pair = |world: &mut World, number: u32| {
        let name = name(&format!("/a/site/file/v/{number}"));
        [ccnx_interest(world, CONSUMER, &name, None), ccnx_object(PRODUCER, &name, 1000)]
    };
    (0..200).flat_map(|number| pair(world, number)).collect()
}

/// Interests for what was kept before.
fn ccnx_hit(world: &mut World) -> Vec<Arrival> {
    let names: Vec<Name> = (0..200).map(|number| name(&format!("/a/site/file/v/{number}"))).collect();
    keep(world, names.iter().cloned());
    names.iter().map(|name| ccnx_interest(world, CONSUMER, name, None)).collect()
}

/// `count` components of which `z…` is none but the last, `number`.
fn long_exclude(count: u16, number: u16) -> Exclude {
    let parts: Vec<[u8; 2]> =
        (1..count).map(u16::to_be_bytes).chain([(0x7a00 + number).to_be_bytes()]).collect();
    Exclude::components(parts.iter().map(|part| &part[..]))
}

/// The asked neighbour sends what every one of many long lists has to be gone through for, and its last entry
/// excludes.
fn excluded(world: &mut World) -> Vec<Arrival> {
    world.speak_ccnx();
    for number in 0..32 {
        let exclude = long_exclude(511, number);
        let arrival = ccnx_interest(world, STRANGER, &name("/a"), Some(&exclude));
        world.take(arrival);
    }
    (0..20).map(|_| ccnx_object(PRODUCER, &name("/a/zz/x").prefix(2), 1000)).collect()
}

/// Keeps what `names` say.
fn keep(world: &mut World, names: impl Iterator<Item = Name>) {
    world.speak_ccnx();
    for name in names {
        let interest = ccnx_interest(world, CONSUMER, &name, None);
        world.take(interest);
        world.take(ccnx_object(PRODUCER, &name, 100));
    }
}

/// The same, and has all of it put in order by a search with `exclude`, and by the steps after it.
fn keep_in_order(world: &mut World, names: impl Iterator<Item = Name>, exclude: &Exclude) {
    keep(world, names);
    let arrival = ccnx_interest(world, STRANGER, &name("/a"), Some(exclude));
    world.take(arrival);
    for _ in 0..100 {
        world.now += Duration::from_millis(1);
        world.engine.advance(world.now);
    }
}

/// Searches in a store of 1,300 children, with some Data each, all of which are excluded by a list.
fn excluding(world: &mut World, each: u8, listed: u16, is_last_wanted: bool) -> Vec<Arrival> {
    let child = |number: u16| name("/a").with(Component::generic(&(0x7b00 + number).to_be_bytes())).unwrap();
    let below = |number: u16| {
        let below = move |part: u8| child(number).with(Component::generic(&[part])).unwrap();
        (0..each).map(below)
    };
    keep_in_order(world, (0..1300).flat_map(below), &long_exclude(listed, 0));
    let order = is_last_wanted.then_some(ChildSelector::RIGHTMOST);
    (0..10)
        .map(|number| {
            let mut exclude = long_exclude(listed, number);
            // What sorts behind all that the list names is looked up in the whole of it, and its end excludes
            // it.
            exclude.push(ExcludeEntry::Any).unwrap();
            ccnx_interest_from(world, STRANGER, &name("/a"), Some(&exclude), order)
        })
        .collect()
}

/// Searches among long components, all of which are in the Bloom filter that each is asked about.
fn filtering(world: &mut World, in_order: bool) -> Vec<Arrival> {
    let mut bloom = Bloom::with_sizes(13, 32, 7).unwrap();
    let child = |number: u16| {
        let mut part = [7; 1000];
        part[..2].copy_from_slice(&number.to_be_bytes());
        name("/a").with(Component::generic(&part)).unwrap()
    };
    for number in 0..200 {
        bloom.insert(child(number).as_ref().last().unwrap().value);
    }
    let filter = |behind: u16| {
        let mut exclude = Exclude::default();
        exclude.push(ExcludeEntry::Bloom(bloom.as_bytes())).unwrap();
        let longer = [&[7; 1000][..], &behind.to_be_bytes()].concat();
        exclude.push(ExcludeEntry::Component(&longer)).unwrap();
        exclude
    };
    let count = if in_order {
        keep_in_order(world, (0..200).map(child), &filter(0));
        10
    } else {
        keep(world, (0..200).map(child));
        1
    };
    (1..=count).map(|number| ccnx_interest(world, STRANGER, &name("/a"), Some(&filter(number)))).collect()
}
