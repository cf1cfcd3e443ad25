//! What an exchange, a cache hit and a pending Interest cost in tables of a million entries, each beside a
//! plain hash table that is given the same names in the same run.
//!
//! `cargo bench -p cairn-engine` prints the table. `… -- exchange`, `hit`, `memory` run one part; `--entries
//! N` makes the tables smaller, `--policy WORD` leaves one eviction policy, `--rounds N` goes through the
//! tables so many times, which a profiler needs. `… -- instructions N` does nothing but `N` exchanges and `…
//! -- packets N` only makes the packets for them, so that the difference of the two under valgrind is what
//! the engine executes.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when its own packets are wrong"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant as Clock;

use allocator::Mimalloc;
use cairn_engine::batch::{Upcoming, prefetch};
use cairn_engine::{
    Arrival, ContentStoreConfig, Engine, EngineConfig, EvictionPolicy, FaceConfig, FaceId, NextHop,
};
use packet::ndn::tlv;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, Name, NameHasher, Nonce, Packet, PrefixHashes};
use testkit::counting_allocator::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator<Mimalloc> = CountingAllocator::new(Mimalloc);

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);
const ROUTES: u64 = 100_000;
/// Packets that are read, worked on and sent together, as a node does.
const BATCH: u64 = 32;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value = |after: &str, default: u64| {
        let place = arguments.iter().position(|argument| argument == after);
        place.and_then(|place| arguments.get(place + 1)?.parse().ok()).unwrap_or(default)
    };
    let entries = value("--entries", 1_000_000);
    let wanted = arguments.iter().skip_while(|argument| *argument != "--policy").nth(1);
    let wanted: Option<EvictionPolicy> = wanted.map(|word| word.parse().expect("the word of a policy"));
    for (mode, receive) in [("instructions", true), ("packets", false)] {
        if arguments.iter().any(|argument| argument == mode) {
            return instructions(value(mode, 10_000), receive, wanted.unwrap_or_default());
        }
    }
    let all = !arguments.iter().any(|a| matches!(a.as_str(), "exchange" | "hit" | "memory"));
    let chosen = |part: &str| all || arguments.iter().any(|argument| argument == part);
    println!("{entries} entries, {ROUTES} routes, names of 40 bytes in 5 components, batches of {BATCH}");
    let baseline = baseline(entries);
    println!("{:44} {:>9} {:>12} {:>9}", "", "ns", "per second", "baseline");
    row("baseline: hash table insert + lookup + remove", baseline, baseline);
    if chosen("memory") {
        memory(entries);
    }
    if chosen("exchange") {
        let rounds = value("--rounds", 1);
        for policy in
            EvictionPolicy::ALL.into_iter().filter(|&policy| wanted.is_none_or(|only| only == policy))
        {
            exchange(entries, rounds, baseline, policy);
        }
    }
    if chosen("hit") {
        hit(entries, baseline);
    }
}

fn row(what: &str, nanos: f64, baseline: f64) {
    println!("{what:44} {nanos:9.1} {:>12.0} {:8.2}x", 1e9 / nanos, nanos / baseline);
}

/// The same names through the standard library's hash table, which is keyed too: the least that tables of
/// this size cost.
fn baseline(entries: u64) -> f64 {
    let mut table: HashMap<Box<[u8]>, u64> = HashMap::new();
    for number in 0..entries {
        table.insert(name(number).into(), number);
    }
    let mut times = Times::default();
    for round in 0..entries / BATCH {
        let numbers = entries + round * BATCH..entries + (round + 1) * BATCH;
        let added: Vec<Box<[u8]>> = numbers.clone().map(|number| name(number).into()).collect();
        let removed: Vec<Vec<u8>> = numbers.map(|number| name(number - entries)).collect();
        let start = Clock::now();
        for (number, name) in added.into_iter().enumerate() {
            table.insert(name, number as u64);
        }
        for name in &removed {
            black_box(table.get(&name[..]));
        }
        for name in &removed {
            black_box(table.remove(&name[..]));
        }
        times.note(start);
    }
    times.median_nanos()
}

/// Times of batches. The median says what a batch costs even when something else now and then takes the
/// processor away.
#[derive(Default)]
struct Times {
    nanos: Vec<u32>,
}

impl Times {
    fn note(&mut self, start: Clock) {
        self.nanos.push(start.elapsed().as_nanos() as u32);
    }

    /// Nanoseconds for one packet, or whatever a batch is made of.
    fn median_nanos(&mut self) -> f64 {
        let mut nanos: Vec<f64> = self.nanos.iter().map(|nanos| f64::from(*nanos)).collect();
        packet::median(&mut nanos) / BATCH as f64
    }
}

/// Interest in and forwarded, Data in, returned and kept; a million of each waiting and kept all the while.
fn exchange(entries: u64, rounds: u64, baseline: f64, policy: EvictionPolicy) {
    let mut world = World::new(entries, policy);
    for number in 0..entries {
        world.interests(number..number + 1);
        world.data(number..number + 1);
    }
    for number in entries..2 * entries {
        world.interests(number..number + 1);
    }
    assert_eq!(world.engine.table_sizes().pending as u64, entries);
    assert_eq!(world.engine.table_sizes().cached as u64, entries);
    let (mut interest_times, mut data_times) = (Times::default(), Times::default());
    let rounds = entries * rounds / BATCH;
    for round in 0..rounds {
        // Made and decoded outside of what is measured: the packets are as hot as they are when a node has
        // just decoded them.
        let next = 2 * entries + round * BATCH;
        let batch = world.make_interests(next..next + BATCH);
        let start = Clock::now();
        world.receive_interests(batch);
        interest_times.note(start);
        let batch = world.make_data(next - entries..next - entries + BATCH);
        let start = Clock::now();
        world.receive_data(&batch);
        data_times.note(start);
    }
    let mut allocations = 0;
    for round in rounds..rounds + 100 {
        let next = 2 * entries + round * BATCH;
        let interests = world.make_interests(next..next + BATCH);
        allocations += ALLOCATOR.count(|| world.receive_interests(interests)).1.allocations;
        let data = world.make_data(next - entries..next - entries + BATCH);
        allocations += ALLOCATOR.count(|| world.receive_data(&data)).1.allocations;
    }
    let satisfied = world.engine.counters().satisfied;
    assert_eq!(satisfied, entries + (rounds + 100) * BATCH, "every Data answers an Interest");
    let word = policy.as_str();
    let (interest, data) = (interest_times.median_nanos(), data_times.median_nanos());
    row(&format!("exchange ({word})"), interest + data, baseline);
    row(&format!("  of which the Interest ({word})"), interest, baseline);
    row(&format!("  of which the Data ({word})"), data, baseline);
    println!("  allocations by the engine in {} exchanges: {allocations}", 100 * BATCH);
}

/// Interests for names that are all in the content store, in random order.
fn hit(entries: u64, baseline: f64) {
    let mut world = World::new(entries, EvictionPolicy::default());
    for number in 0..entries {
        world.interests(number..number + 1);
        world.data(number..number + 1);
    }
    let (mut times, rounds) = (Times::default(), entries / BATCH);
    let mut random = packet::random::Random::from_seed(3);
    for round in 0..rounds {
        let batch: Batch<Interest> = (0..BATCH)
            .map(|place| {
                world.make_interest(random.below(entries), (round * BATCH + place) as u32 ^ 0x8000_0000)
            })
            .collect();
        let start = Clock::now();
        world.receive_interests(batch);
        times.note(start);
    }
    assert_eq!(world.engine.counters().cache_hits, rounds * BATCH);
    row("cache hit, uniform", times.median_nanos(), baseline);
}

/// What the process allocates for each Interest that waits.
fn memory(entries: u64) {
    let mut world = World::new(entries, EvictionPolicy::default());
    world.interests(0..1);
    let resident = resident_bytes();
    let ((), counts) = ALLOCATOR.count(|| {
        for number in 1..entries + 1 {
            world.interests(number..number + 1);
        }
    });
    println!(
        "memory for each pending Interest: {} bytes allocated, {} resident",
        counts.held_bytes / entries as i64,
        (resident_bytes() - resident) / entries as i64
    );
}

/// Resident memory of this process; zero where the system does not tell. Read here, since the engine may not
/// use `system`, which does the same.
fn resident_bytes() -> i64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<i64>().ok()).unwrap_or(0) * 4096
}

/// A fixed number of exchanges in small tables, for an instruction counter.
fn instructions(exchanges: u64, receive: bool, policy: EvictionPolicy) {
    let mut world = World::new(10_000, policy);
    for number in 0..exchanges / BATCH {
        let range = number * BATCH..(number + 1) * BATCH;
        let (interests, data) = (world.make_interests(range.clone()), world.make_data(range));
        if receive {
            world.receive_interests(interests);
            world.receive_data(&data);
        }
    }
    println!("{} exchanges", world.engine.counters().satisfied);
}

/// Decoded packets and the hashes of their names.
struct Batch<T> {
    packets: Vec<T>,
    hashes: Vec<PrefixHashes>,
}

impl<T> FromIterator<(T, PrefixHashes)> for Batch<T> {
    fn from_iter<I: IntoIterator<Item = (T, PrefixHashes)>>(packets: I) -> Self {
        let (packets, hashes) = packets.into_iter().unzip();
        Batch { packets, hashes }
    }
}

/// A node with two faces and many routes.
struct World {
    engine: Engine,
    hasher: NameHasher,
    header: LinkHeader,
    now: Instant,
}

impl World {
    fn new(entries: u64, eviction: EvictionPolicy) -> Self {
        let mut config = EngineConfig::seeded(1).expect("the default strategy exists");
        config.max_pending = 2 * entries as u32 + 64;
        config.content_store = ContentStoreConfig {
            max_bytes: u64::MAX,
            max_entries: entries as u32,
            eviction,
            ..Default::default()
        };
        let mut engine = Engine::new(config).expect("the default strategy exists");
        let now = Instant::from_secs(1);
        engine.add_face(now, CONSUMER, FaceConfig::remote()).expect("a new face");
        engine.add_face(now, PRODUCER, FaceConfig::remote()).expect("a new face");
        for route in 0..ROUTES {
            let prefix = Name::from_canonical(Buffer::from(route_prefix(route))).expect("a legal name");
            let hop = NextHop { face: PRODUCER, cost: 1 };
            engine.add_route(now, Dialect::Ndn, prefix.as_ref(), hop).expect("room for the route");
        }
        let hasher = engine.hasher().clone();
        World { engine, hasher, header: LinkHeader::default(), now }
    }

    fn make_interest(&self, number: u64, nonce: u32) -> (Interest, PrefixHashes) {
        let name = name(number);
        let mut wire = Vec::with_capacity(64);
        let lifetime = 4_000_000u32.to_be_bytes();
        tlv::write_header(&mut wire, 5, 2 + name.len() + 6 + 6);
        tlv::write_element(&mut wire, 7, &name);
        tlv::write_element(&mut wire, 10, &Nonce(nonce).0.to_be_bytes());
        tlv::write_element(&mut wire, 12, &lifetime);
        let mut hashes = PrefixHashes::default();
        let packet = Interest::decode_ndn_hashed(Buffer::copy_from(&wire), &self.hasher, &mut hashes);
        (packet.expect("a legal Interest"), hashes)
    }

    fn make_interests(&self, numbers: std::ops::Range<u64>) -> Batch<Interest> {
        numbers.map(|number| self.make_interest(number, number as u32)).collect()
    }

    fn make_data(&self, numbers: std::ops::Range<u64>) -> Batch<Data> {
        numbers
            .map(|number| {
                let name = name(number);
                let mut wire = Vec::with_capacity(1100);
                tlv::write_header(&mut wire, 6, 2 + name.len() + 1004 + 5 + 34);
                tlv::write_element(&mut wire, 7, &name);
                tlv::write_element(&mut wire, 21, &[7; 1000]);
                tlv::write_element(&mut wire, 22, &[27, 1, 0]);
                tlv::write_element(&mut wire, 23, &[9; 32]);
                let mut hashes = PrefixHashes::default();
                let packet = Data::decode_ndn_hashed(Buffer::copy_from(&wire), &self.hasher, &mut hashes);
                (packet.expect("a legal Data"), hashes)
            })
            .collect()
    }

    fn receive_interests(&mut self, batch: Batch<Interest>) {
        self.now += Duration::from_nanos(100);
        let upcoming = |(packet, hashes): (&Interest, _)| Upcoming {
            dialect: Dialect::Ndn,
            hashes,
            nonce: packet.nonce(),
        };
        let upcoming = batch.packets.iter().zip(&batch.hashes).map(upcoming);
        prefetch(&mut self.engine, upcoming);
        for (packet, hashes) in batch.packets.into_iter().zip(&batch.hashes) {
            self.engine.receive(
                Arrival { now: self.now, face: CONSUMER, hashes, header: &self.header },
                Packet::Interest(packet),
            );
        }
        while let Some(transmit) = self.engine.poll_transmit() {
            black_box(&transmit);
        }
    }

    fn receive_data(&mut self, batch: &Batch<Data>) {
        self.now += Duration::from_nanos(100);
        let upcoming = |hashes| Upcoming { dialect: Dialect::Ndn, hashes, nonce: None };
        let upcoming = batch.hashes.iter().map(upcoming);
        prefetch(&mut self.engine, upcoming);
        for (packet, hashes) in batch.packets.iter().zip(&batch.hashes) {
            self.engine.receive(
                Arrival { now: self.now, face: PRODUCER, hashes, header: &self.header },
                Packet::Data(packet.clone()),
            );
        }
        while let Some(transmit) = self.engine.poll_transmit() {
            black_box(&transmit);
        }
    }

    fn interests(&mut self, numbers: std::ops::Range<u64>) {
        let batch = self.make_interests(numbers);
        self.receive_interests(batch);
    }

    fn data(&mut self, numbers: std::ops::Range<u64>) {
        let batch = self.make_data(numbers);
        self.receive_data(&batch);
    }
}

/// Name number `number`, canonical, 40 bytes: the numbers of neighbours differ in all components, so nothing
/// that is asked for in a row lies together in any table.
fn name(number: u64) -> Vec<u8> {
    let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let mut name = route_prefix(scattered % ROUTES);
    tlv::write_element(&mut name, 8, format!("{number:08x}").as_bytes());
    tlv::write_element(&mut name, 54, &[1]);
    tlv::write_element(&mut name, 50, &(scattered as u16).to_be_bytes());
    name
}

fn route_prefix(route: u64) -> Vec<u8> {
    let mut prefix = Vec::with_capacity(40);
    tlv::write_element(&mut prefix, 8, format!("net{:03}", route / 317).as_bytes());
    tlv::write_element(&mut prefix, 8, format!("site-{:04}", route % 317).as_bytes());
    prefix
}
