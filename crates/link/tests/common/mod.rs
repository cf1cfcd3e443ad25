//! Two link services and a bad link between them, in virtual time.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of this")]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use cairn_link::{
    Direction, DropCounters, DropReason, FrameTap, Impairment, ImpairmentConfig, TapVerdict, Wire, v1, v2,
};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader};

/// What the harness needs of either version's service.
pub trait End {
    fn send(&mut self, now: Instant, message: Buffer) -> Result<(), DropReason>;
    fn receive(&mut self, now: Instant, frame: &[u8]) -> Result<(), DropReason>;
    fn handle_timeout(&mut self, now: Instant);
    fn poll_transmit(&mut self, now: Instant, frame: &mut Vec<u8>) -> Option<usize>;
    fn poll_deliver(&mut self) -> Option<Buffer>;
    fn next_deadline(&self) -> Instant;
    fn drops(&self) -> &DropCounters;
    /// Packets, frames and notes about them that are held; zero when nothing is under way.
    fn held(&self) -> usize;
    /// Network packets delivered so far, by the service's own count.
    fn delivered(&self) -> u64;
}

impl End for v2::LinkService {
    fn send(&mut self, now: Instant, message: Buffer) -> Result<(), DropReason> {
        self.send(now, LinkHeader::default(), None, message)
    }
    fn receive(&mut self, now: Instant, frame: &[u8]) -> Result<(), DropReason> {
        self.receive(now, v2::EndpointId(0), frame)
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }
    fn poll_transmit(&mut self, now: Instant, frame: &mut Vec<u8>) -> Option<usize> {
        self.poll_transmit(now, frame)
    }
    fn poll_deliver(&mut self) -> Option<Buffer> {
        self.poll_deliver().map(|delivery| delivery.packet)
    }
    fn next_deadline(&self) -> Instant {
        self.next_deadline()
    }
    fn drops(&self) -> &DropCounters {
        self.drops()
    }
    fn held(&self) -> usize {
        let usage = self.usage();
        assert_eq!(usage.partial_packets == 0, usage.partial_bytes == 0, "{usage:?}");
        assert_eq!(usage.outgoing_packets == 0, usage.outgoing_bytes == 0, "{usage:?}");
        usage.partial_packets
            + usage.outgoing_packets
            + usage.unacknowledged_frames
            + usage.pending_acks
            + usage.deliveries
    }
    fn delivered(&self) -> u64 {
        self.counters().packets_in
    }
}

impl End for v1::LinkService {
    fn send(&mut self, now: Instant, message: Buffer) -> Result<(), DropReason> {
        self.send(now, message)
    }
    fn receive(&mut self, now: Instant, frame: &[u8]) -> Result<(), DropReason> {
        self.receive(now, frame)
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }
    fn poll_transmit(&mut self, now: Instant, frame: &mut Vec<u8>) -> Option<usize> {
        self.poll_transmit(now, frame)
    }
    fn poll_deliver(&mut self) -> Option<Buffer> {
        self.poll_deliver()
    }
    fn next_deadline(&self) -> Instant {
        self.next_deadline()
    }
    fn drops(&self) -> &DropCounters {
        self.drops()
    }
    fn held(&self) -> usize {
        let usage = self.usage();
        assert_eq!(usage.partial_messages == 0, usage.partial_bytes == 0, "{usage:?}");
        usage.partial_messages
            + usage.outgoing_messages
            + usage.sent_packets
            + usage.pending_acks
            + usage.deliveries
    }
    fn delivered(&self) -> u64 {
        self.counters().messages_in
    }
}

/// Two ends and a wire in each direction; `delivered[0]` is what end 0 received.
pub struct Pair<E, T = Impairment> {
    pub now: Instant,
    pub ends: [E; 2],
    pub wires: [Wire<T>; 2],
    pub delivered: [Vec<Vec<u8>>; 2],
    /// The largest frame seen.
    pub longest_frame: usize,
}

impl<E: End> Pair<E> {
    pub fn new(ends: [E; 2], impairment: &ImpairmentConfig, seed: u64) -> Self {
        let wire = |id| Wire::new(Impairment::new(impairment.clone(), seed * 2 + id), 100_000);
        Pair::over([wire(0), wire(1)], ends)
    }

    pub fn set_impairment(&mut self, impairment: &ImpairmentConfig) {
        for wire in &mut self.wires {
            wire.tap.set_config(impairment.clone());
        }
    }
}

/// A line of so many bytes a second with a queue without end in front of it.
pub struct SlowLine {
    pub bytes_per_second: u64,
    pub busy_until: Instant,
}

impl SlowLine {
    pub fn new(bytes_per_second: u64) -> Self {
        SlowLine { bytes_per_second, busy_until: Instant::ZERO }
    }
}

impl FrameTap for SlowLine {
    fn on_frame(&mut self, now: Instant, _: Direction, frame: &mut Vec<u8>) -> TapVerdict {
        let time = Duration::from_nanos(frame.len() as u64 * 1_000_000_000 / self.bytes_per_second);
        self.busy_until = self.busy_until.max(now) + time;
        TapVerdict::Delay(self.busy_until.saturating_since(now))
    }
}

impl<E: End, T: FrameTap> Pair<E, T> {
    pub fn over(wires: [Wire<T>; 2], ends: [E; 2]) -> Self {
        Pair { now: Instant::ZERO, ends, wires, delivered: [Vec::new(), Vec::new()], longest_frame: 0 }
    }

    pub fn send(&mut self, from: usize, message: &[u8]) -> Result<(), DropReason> {
        let outcome = self.ends[from].send(self.now, Buffer::copy_from(message));
        self.settle();
        outcome
    }

    /// Moves everything that can move at this instant.
    pub fn settle(&mut self) {
        loop {
            let mut moved = false;
            for side in 0..2 {
                let mut frame = Vec::new();
                while let Some(len) = self.ends[side].poll_transmit(self.now, &mut frame) {
                    assert_eq!(len, frame.len());
                    self.longest_frame = self.longest_frame.max(len);
                    self.wires[side].send(self.now, std::mem::take(&mut frame));
                }
                while let Some(frame) = self.wires[side].poll_deliver(self.now) {
                    let _ = self.ends[1 - side].receive(self.now, &frame);
                    moved = true;
                }
                while let Some(message) = self.ends[side].poll_deliver() {
                    self.delivered[side].push(message.to_vec());
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// The next instant at which something happens.
    pub fn next_deadline(&self) -> Instant {
        let ends = self.ends.iter().map(End::next_deadline);
        let wires = self.wires.iter().map(Wire::next_deadline);
        ends.chain(wires).min().unwrap_or(Instant::NEVER)
    }

    /// Lets time pass up to `until`, stopping wherever something happens.
    pub fn run_until(&mut self, until: Instant) {
        let mut steps = 0;
        loop {
            self.settle();
            let next = self.next_deadline();
            if next > until {
                break;
            }
            assert!(next >= self.now || steps < 1_000_000, "time stands still");
            steps += 1;
            assert!(steps < 10_000_000, "no end of events at {}", self.now);
            self.now = self.now.max(next);
            for end in &mut self.ends {
                if end.next_deadline() <= self.now {
                    end.handle_timeout(self.now);
                    assert!(end.next_deadline() > self.now, "a timeout that has no effect");
                }
            }
        }
        self.now = self.now.max(until);
    }

    /// Lets time pass until nothing is left to happen.
    ///
    /// # Panics
    /// If that takes longer than `limit`.
    pub fn run_until_quiet(&mut self, limit: Duration) {
        let end = self.now + limit;
        self.settle();
        while self.next_deadline() != Instant::NEVER {
            let next = self.next_deadline().max(self.now);
            assert!(next <= end, "not quiet after {limit}: {} is to come", next);
            self.run_until(next);
        }
    }
}

/// One Data element of `len` bytes in all (at least 12), different for each `number`.
pub fn data(number: u64, len: usize) -> Vec<u8> {
    let value_len = match len {
        0..=254 => len - 2,
        255..=256 => 252,
        _ => len - 4,
    };
    let mut packet = Vec::new();
    packet::ndn::tlv::write_header(&mut packet, 6, value_len);
    let mut random = Random::derive(77, number);
    packet.extend_from_slice(&number.to_be_bytes());
    while packet.len() < len.max(12) {
        packet.push(random.next_u64() as u8);
    }
    let header_len = packet.len().min(if value_len > 252 { 4 } else { 2 });
    packet.truncate(header_len + value_len);
    packet
}

/// The number that [`data`] put into a packet.
pub fn number_of(data: &[u8]) -> u64 {
    let header_len = if data[1] == 253 { 4 } else { 2 };
    u64::from_be_bytes(data[header_len..header_len + 8].try_into().unwrap())
}

/// Frames of a service, one by one.
pub fn frames<E: End>(end: &mut E, now: Instant) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut frame = Vec::new();
    while end.poll_transmit(now, &mut frame).is_some() {
        frames.push(std::mem::take(&mut frame));
    }
    frames
}

pub fn v2(config: &v2::Config, seed: u64) -> v2::LinkService {
    v2::LinkService::new(config.clone(), Random::from_seed(seed)).unwrap()
}

pub fn v1(config: &v1::Config, seed: u64) -> v1::LinkService {
    v1::LinkService::new(config.clone(), Random::from_seed(seed)).unwrap()
}
