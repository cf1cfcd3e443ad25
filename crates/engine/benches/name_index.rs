//! What an index of kept Data costs when names stay encoded in it, when they are decoded once, and when they
//! are hashed.
//!
//! A forwarder of 2010 kept its Data in an ordered list, with names as they came from the wire, and read
//! ("decoded") a stored name again for each comparison. The paper that compares CCNx with HTTP found 47 % of
//! its processor time there (§3.3), and almost twice the throughput with names decoded once (figure 3). This
//! benchmark shows where that comes from and what is left of it:
//!
//! - **encoded**: binary search in an ordered list; each comparison reads the stored ccnb name, component by
//!   component, up to the first difference;
//! - **decoded**: the same list and the same order, the places of the components kept beside the names;
//! - **hash table**: the name hashed with a secret key, then the standard library's table;
//! - **engine**: not a look-up but a whole cache hit of this forwarder, from a decoded Interest to the Data
//!   to be sent, which is more than the other rows do.
//!
//! `cargo bench -p cairn-engine --bench name_index` prints one row for each number of kept Data, from a
//! thousand to a million; `… -- --most N` goes on to ten million, for which it takes some 6 GB of memory.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when its own packets are wrong"
)]

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant as Clock;

use allocator::Mimalloc;
use cairn_engine::batch::Arrivals;
use cairn_engine::{ContentStoreConfig, Engine, EngineConfig, FaceConfig, FaceId, NextHop};
use packet::ccnx::Dtag;
use packet::ccnx::block::{BlockKind, read_header, write_blob_element, write_close, write_open};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::Instant;
use packet::{Buffer, Data, Dialect, Interest, Name, Nonce, Packet};

#[global_allocator]
static ALLOCATOR: Mimalloc = Mimalloc;

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);
/// Segments of one file, which have all but the last component in common.
const SEGMENTS: u64 = 1000;
/// Look-ups that one row is the mean of.
const LOOK_UPS: u64 = 200_000;
/// Interests that are read, worked on and answered together.
const BATCH: u64 = 32;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let most = arguments.iter().skip_while(|argument| *argument != "--most").nth(1);
    let most: u64 = most.map_or(1_000_000, |text| text.parse().expect("a number after --most"));
    println!(
        "{:>10} {:>12} {:>11} {:>11} {:>12} {:>10} {:>11} {:>8}",
        "kept Data",
        "comparisons",
        "encoded ns",
        "decoded ns",
        "of it reading",
        "times",
        "hash table",
        "engine"
    );
    let mut kept = 1000;
    while kept <= most {
        row(kept);
        kept *= 10;
    }
}

fn row(kept: u64) {
    let asked: Vec<u64> = {
        let mut random = Random::from_seed(kept);
        (0..LOOK_UPS).map(|_| random.below(kept)).collect()
    };
    let (encoded, comparisons) = encoded(kept, &asked);
    let decoded = decoded(kept, &asked);
    let (hashed, engine) = (hash_table(kept, &asked), engine(kept, &asked));
    println!(
        "{kept:10} {comparisons:12.1} {encoded:11.0} {decoded:11.0} {:11.0} % {:9.2}x {hashed:11.0} {engine:8.0}",
        100.0 * (1.0 - decoded / encoded),
        encoded / decoded
    );
}

/// Nanoseconds for each of `asked`.
fn time(asked: &[u64], mut look_up: impl FnMut(u64)) -> f64 {
    let start = Clock::now();
    asked.iter().for_each(|&number| look_up(number));
    start.elapsed().as_nanos() as f64 / asked.len() as f64
}

/// The components of a name, in the order of the numbers: a file, its version and a segment.
fn components(number: u64) -> [Vec<u8>; 5] {
    let version = [&[0xfd], &7_000_000u32.to_be_bytes()[..]].concat();
    let segment = [&[0x00], &(number % SEGMENTS).to_be_bytes()[4..]].concat();
    let file = format!("film-{:07}", number / SEGMENTS).into_bytes();
    [b"example.org".to_vec(), b"videos".to_vec(), file, version, segment]
}

fn ccnb_name(number: u64) -> Box<[u8]> {
    let mut wire = Vec::new();
    write_open(&mut wire, Dtag::NAME);
    for component in components(number) {
        write_blob_element(&mut wire, Dtag::COMPONENT, &component);
    }
    write_close(&mut wire);
    wire.into()
}

/// A shorter component comes first, one of the same length by its bytes.
fn compare_components(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// Reads a ccnb name one component after the other.
struct Reading<'a>(&'a [u8]);

impl<'a> Reading<'a> {
    fn of(wire: &'a [u8]) -> Self {
        let header = read_header(wire).ok().flatten().expect("a name");
        Reading(&wire[header.len..])
    }
}

impl<'a> Iterator for Reading<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let component = read_header(self.0).ok().flatten().filter(|header| header.opens(Dtag::COMPONENT))?;
        let body = &self.0[component.len..];
        let blob = read_header(body).ok().flatten().filter(|header| header.kind == BlockKind::Blob)?;
        let bytes = &body[blob.len..];
        let (value, rest) = bytes.split_at(blob.body_len()?);
        self.0 = &rest[1..];
        Some(value)
    }
}

/// A name whose components have been found once.
struct Decoded {
    bytes: Box<[u8]>,
    ends: [u16; 5],
}

impl Decoded {
    fn of(wire: &[u8]) -> Self {
        let mut bytes = Vec::new();
        let mut ends = [0; 5];
        for (end, component) in ends.iter_mut().zip(Reading::of(wire)) {
            bytes.extend_from_slice(component);
            *end = bytes.len() as u16;
        }
        Decoded { bytes: bytes.into(), ends }
    }

    fn components(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let component = &self.bytes[start..usize::from(end)];
            start = usize::from(end);
            component
        })
    }
}

fn compare<'a>(left: impl Iterator<Item = &'a [u8]>, right: impl Iterator<Item = &'a [u8]>) -> Ordering {
    left.map(Key).cmp(right.map(Key))
}

#[derive(PartialEq, Eq)]
struct Key<'a>(&'a [u8]);

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_components(self.0, other.0)
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Names stay as they came; also how many comparisons a look-up takes. What is asked for is decoded once.
fn encoded(kept: u64, asked: &[u64]) -> (f64, f64) {
    let list: Vec<Box<[u8]>> = (0..kept).map(ccnb_name).collect();
    let asked_names: Vec<Decoded> = asked.iter().map(|&number| Decoded::of(&ccnb_name(number))).collect();
    let comparisons = Cell::new(0u64);
    let mut names = asked_names.iter();
    let nanos = time(asked, |number| {
        let name = names.next().expect("one for each");
        let found = list.binary_search_by(|stored| {
            comparisons.set(comparisons.get() + 1);
            compare(Reading::of(stored), name.components())
        });
        assert_eq!(found, Ok(number as usize));
    });
    (nanos, comparisons.get() as f64 / asked.len() as f64)
}

/// The components of kept names have been found once.
fn decoded(kept: u64, asked: &[u64]) -> f64 {
    let list: Vec<Decoded> = (0..kept).map(|number| Decoded::of(&ccnb_name(number))).collect();
    let asked_names: Vec<Decoded> = asked.iter().map(|&number| Decoded::of(&ccnb_name(number))).collect();
    let mut names = asked_names.iter();
    time(asked, |number| {
        let name = names.next().expect("one for each");
        let found = list.binary_search_by(|stored| compare(stored.components(), name.components()));
        assert_eq!(found, Ok(number as usize));
    })
}

/// A table of hashes with a secret key, which has no order.
fn hash_table(kept: u64, asked: &[u64]) -> f64 {
    let table: HashMap<Box<[u8]>, u64> = (0..kept).map(|number| (ccnb_name(number), number)).collect();
    let names: Vec<Box<[u8]>> = asked.iter().map(|&number| ccnb_name(number)).collect();
    let mut names = names.iter();
    time(asked, |number| {
        assert_eq!(table.get(names.next().expect("one for each")), Some(&number));
    })
}

/// A whole hit in the content store of the forwarder.
fn engine(kept: u64, asked: &[u64]) -> f64 {
    let mut config = EngineConfig::seeded(1).expect("the default strategy exists");
    config.content_store =
        ContentStoreConfig { max_bytes: u64::MAX, max_entries: kept as u32, ..Default::default() };
    let mut engine = Engine::new(config).expect("the default strategy exists");
    let now = Instant::from_secs(1);
    for face in [CONSUMER, PRODUCER] {
        engine.add_face(now, face, FaceConfig::remote()).expect("a new face");
    }
    let hop = NextHop { face: PRODUCER, cost: 1 };
    engine.add_route(now, Dialect::Ndn, Name::root().as_ref(), hop).expect("room for the route");
    let mut arrivals = Arrivals::new(CONSUMER);
    for number in 0..kept {
        for (face, packet) in [(CONSUMER, interest(number, number as u32)), (PRODUCER, data(number))] {
            arrivals.face = face;
            arrivals.push(&engine, packet, None);
            arrivals.hand_over(now, &mut engine);
        }
        while engine.poll_transmit().is_some() {}
    }
    arrivals.face = CONSUMER;
    let mut nanos = 0;
    for (round, numbers) in asked.chunks(BATCH as usize).enumerate() {
        let nonce = |place: usize| (round * BATCH as usize + place) as u32 ^ 0x8000_0000;
        let batch: Vec<Packet> =
            numbers.iter().enumerate().map(|(place, &number)| interest(number, nonce(place))).collect();
        let start = Clock::now();
        for packet in batch {
            arrivals.push(&engine, packet, None);
        }
        arrivals.hand_over(now, &mut engine);
        while let Some(transmit) = engine.poll_transmit() {
            black_box(&transmit);
        }
        nanos += start.elapsed().as_nanos();
    }
    assert_eq!(engine.counters().cache_hits, asked.len() as u64, "all are kept");
    nanos as f64 / asked.len() as f64
}

fn canonical(number: u64) -> Vec<u8> {
    let mut name = Vec::new();
    for component in components(number) {
        tlv::write_element(&mut name, 8, &component);
    }
    name
}

fn interest(number: u64, nonce: u32) -> Packet {
    let mut inside = Vec::new();
    tlv::write_element(&mut inside, 7, &canonical(number));
    tlv::write_element(&mut inside, 10, &Nonce(nonce).0.to_be_bytes());
    let mut wire = Vec::new();
    tlv::write_element(&mut wire, 5, &inside);
    Packet::Interest(Interest::decode_ndn(Buffer::from(wire)).expect("a legal Interest"))
}

fn data(number: u64) -> Packet {
    let mut inside = Vec::new();
    tlv::write_element(&mut inside, 7, &canonical(number));
    tlv::write_element(&mut inside, 21, &[7; 8]);
    tlv::write_element(&mut inside, 22, &[27, 1, 0]);
    tlv::write_element(&mut inside, 23, &[9; 32]);
    let mut wire = Vec::new();
    tlv::write_element(&mut wire, 6, &inside);
    Packet::Data(Data::decode_ndn(Buffer::from(wire)).expect("a legal Data"))
}
