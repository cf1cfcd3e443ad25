//! How fast packets pass through two link services, beside the copying that cannot be avoided.
//!
//! `cargo bench -p cairn-link`. Throughput counts bytes of network packets.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use cairn_link::v1;
use cairn_link::v2::{Config, EndpointId, LinkService, ReliabilityConfig};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader};

fn main() {
    divan::main();
}

/// A Data of about 8 kB, as file transfers use.
const PACKET_BYTES: usize = 8000;
/// Packets per measurement: enough for acks, which travel in bulk, to take their share of the time.
const PACKETS: usize = 1000;

fn data(len: usize) -> Buffer {
    let mut packet = Vec::new();
    tlv::write_element(&mut packet, 6, &vec![0xda; len - 4]);
    Buffer::from(packet)
}

/// Two services and the frames between them.
struct Pair {
    now: Instant,
    near: LinkService,
    far: LinkService,
    frame: Vec<u8>,
}

impl Pair {
    fn new(mtu_bytes: usize, reliable: bool) -> Self {
        let config = Config {
            transport_mtu_bytes: Some(mtu_bytes),
            reliability: reliable.then(ReliabilityConfig::default),
            ..Config::default()
        };
        Pair {
            now: Instant::ZERO,
            near: LinkService::new(config.clone(), Random::from_seed(1)).unwrap(),
            far: LinkService::new(config, Random::from_seed(2)).unwrap(),
            frame: Vec::with_capacity(9000),
        }
    }

    /// Sends a packet to the far end, frames and acks included, and returns it as delivered there.
    fn carry(&mut self, packet: &Buffer) -> Buffer {
        self.now += Duration::from_micros(10);
        self.near.send(self.now, LinkHeader::default(), None, packet.clone()).unwrap();
        while self.near.poll_transmit(self.now, &mut self.frame).is_some() {
            self.far.receive(self.now, EndpointId(0), &self.frame).unwrap();
            self.frame.clear();
        }
        if self.far.next_deadline() <= self.now {
            self.far.handle_timeout(self.now);
        }
        while self.far.poll_transmit(self.now, &mut self.frame).is_some() {
            self.near.receive(self.now, EndpointId(0), &self.frame).unwrap();
            self.frame.clear();
        }
        self.far.poll_deliver().unwrap().packet
    }
}

#[divan::bench(args = [1500, 8800])]
fn reliable_8kb(bencher: Bencher, mtu_bytes: usize) {
    let mut pair = Pair::new(mtu_bytes, true);
    let packet = data(PACKET_BYTES);
    assert_eq!(pair.carry(&packet), packet);
    bencher.counter(BytesCount::new(PACKETS * PACKET_BYTES)).bench_local(|| {
        for _ in 0..PACKETS {
            black_box(pair.carry(&packet));
        }
    });
}

#[divan::bench(args = [1500, 8800])]
fn unreliable_8kb(bencher: Bencher, mtu_bytes: usize) {
    let mut pair = Pair::new(mtu_bytes, false);
    let packet = data(PACKET_BYTES);
    assert_eq!(pair.carry(&packet), packet);
    bencher.counter(BytesCount::new(PACKETS * PACKET_BYTES)).bench_local(|| {
        for _ in 0..PACKETS {
            black_box(pair.carry(&packet));
        }
    });
}

/// A small Interest: what the headers and tables cost without much to copy.
#[divan::bench(args = [false, true])]
fn interest_100b(bencher: Bencher, reliable: bool) {
    let mut pair = Pair::new(1500, reliable);
    let packet = data(100);
    bencher.counter(ItemsCount::new(PACKETS)).bench_local(|| {
        for _ in 0..PACKETS {
            black_box(pair.carry(&packet));
        }
    });
}

/// The same with NDNLP v1 over Ethernet, with acknowledgements.
#[divan::bench]
fn version_1_8kb(bencher: Bencher) {
    let config = v1::Config { request_acks: true, ..v1::Config::default() };
    let mut near = v1::LinkService::new(config.clone(), Random::from_seed(1)).unwrap();
    let mut far = v1::LinkService::new(config, Random::from_seed(2)).unwrap();
    let packet = data(PACKET_BYTES);
    let mut frame = Vec::with_capacity(9000);
    let mut now = Instant::ZERO;
    bencher.counter(BytesCount::new(PACKETS * PACKET_BYTES)).bench_local(|| {
        for _ in 0..PACKETS {
            now += Duration::from_micros(10);
            near.send(now, packet.clone()).unwrap();
            while near.poll_transmit(now, &mut frame).is_some() {
                far.receive(now, &frame).unwrap();
                frame.clear();
            }
            far.handle_timeout(now);
            while far.poll_transmit(now, &mut frame).is_some() {
                near.receive(now, &frame).unwrap();
                frame.clear();
            }
            black_box(far.poll_deliver().unwrap());
        }
    });
}

/// The least that must happen: one copy into a frame, one copy out into memory of its own.
#[divan::bench]
fn baseline_two_copies_8kb(bencher: Bencher) {
    let packet = data(PACKET_BYTES);
    let mut frame = Vec::with_capacity(9000);
    bencher.counter(BytesCount::new(PACKETS * PACKET_BYTES)).bench_local(|| {
        for _ in 0..PACKETS {
            frame.clear();
            frame.extend_from_slice(black_box(&packet));
            black_box(Buffer::copy_from(black_box(&frame)));
        }
    });
}
