//! Two ends of a link and a wire between them that loses, doubles, reorders, corrupts and invents frames.
//!
//! However that goes: limits hold, counters add up, frames fit the MTU, and deadlines lie ahead once
//! everything due is done. As long as no frame was corrupted or invented, what is delivered is what was sent;
//! and when the wire is mended, the link comes to rest and then delivers whatever it accepts.

use std::collections::HashSet;

use arbitrary::Arbitrary;
use packet::time::{Duration, Instant};

/// An end that hands out more frames than this without time going by never stops.
const MAX_FRAMES_A_STEP: usize = 20_000;
/// The wire holds no more; a fuzzer could fill memory by itself otherwise.
const MAX_FRAMES_ON_THE_WIRE: usize = 256;
/// A mended link that has more to do than this never becomes idle.
const MAX_ROUNDS_UNTIL_IDLE: usize = 5_000;

/// One end of a link, whatever its protocol.
pub trait LinkEnd {
    /// What can be chosen about it.
    type Options;

    /// An end with the given parameters.
    fn new(options: &Self::Options, seed: u64) -> Self;
    /// Changes the parameters, if the protocol can.
    fn reconfigure(&mut self, options: &Self::Options);
    /// Sends a packet made for `request`; gives its bytes, and whether it was accepted.
    fn send(&mut self, now: Instant, request: &Request) -> (Vec<u8>, bool);
    /// Takes in a frame; false if it was dropped.
    fn receive(&mut self, now: Instant, frame: &[u8]) -> bool;
    /// Learns how much the transport has still to send, if the protocol cares.
    fn handle_send_queue(&mut self, queued_bytes: u64);
    fn handle_timeout(&mut self, now: Instant);
    fn next_deadline(&self) -> Instant;
    fn poll_transmit(&mut self, now: Instant, frames: &mut Vec<u8>) -> Option<usize>;
    /// The next packet that arrived.
    fn poll_deliver(&mut self) -> Option<Delivered>;
    /// Largest frame, by the parameters in force.
    fn mtu_bytes(&self) -> usize;
    /// Whether packets that come in several frames are put together.
    fn reassembles(&self) -> bool;
    /// Whether nothing that was sent is kept any more.
    fn is_drained(&self) -> bool;
    fn totals(&self) -> Totals;
    /// Asserts that nothing is larger than the parameters allow, everything having been taken.
    fn check_limits(&self);
}

/// Counters that both protocols have.
#[derive(Debug, PartialEq, Eq)]
pub struct Totals {
    pub frames_in: u64,
    pub frames_out: u64,
    pub delivered: u64,
    pub drops: u64,
}

/// A packet that arrived.
pub enum Delivered {
    /// For the owner of the link.
    Packet(Vec<u8>),
    /// What the other end sent of its own accord, and an end that does not know it takes for a packet.
    OfTheLink,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct Request {
    pub bytes: u16,
    /// Chooses among whatever else the protocol can send with it.
    pub variety: u8,
}

impl Request {
    /// Content whose bytes tell packets of different length apart.
    pub fn content(&self) -> Vec<u8> {
        vec![(self.bytes % 251) as u8; usize::from(self.bytes % 9000)]
    }
}

/// What happens, in this order.
#[derive(Debug, Arbitrary)]
pub struct Plan<O> {
    near: O,
    far: O,
    operations: Vec<Operation<O>>,
}

#[derive(Debug, Arbitrary)]
enum Operation<O> {
    Send { from: End, request: Request },
    Arrive { at: End, which: u8 },
    ArriveAndStay { at: End, which: u8 },
    ArriveAll { at: End },
    Lose { at: End, which: u8 },
    Corrupt { at: End, which: u8, byte: u16, xor: u8 },
    Invent { at: End, frame: Vec<u8> },
    LetTimePass { millis: u16 },
    ReportQueue { at: End, bytes: u32 },
    Reconfigure { at: End, options: O },
}

#[derive(Clone, Copy, Debug, Arbitrary)]
enum End {
    Near,
    Far,
}

/// Carries out a plan, checking after every step.
pub fn run<L: LinkEnd>(plan: &Plan<L::Options>) {
    let sides = [Side::new(L::new(&plan.near, 1)), Side::new(L::new(&plan.far, 2))];
    let mut link = Link { now: Instant::from_secs(1), sides, honest: true };
    for operation in &plan.operations {
        link.step(operation);
        link.settle();
    }
    if link.honest {
        link.come_to_rest();
        for (from, to) in [(0, 1), (1, 0)] {
            link.prove_delivery(from, to);
        }
    }
}

struct Link<L> {
    now: Instant,
    sides: [Side<L>; 2],
    /// Nothing was corrupted or invented so far.
    honest: bool,
}

impl<L: LinkEnd> Link<L> {
    fn step(&mut self, operation: &Operation<L::Options>) {
        let now = self.now;
        match operation {
            Operation::Send { from, request } => {
                let side = self.side(*from);
                let (packet, _) = side.end.send(now, request);
                side.sent.insert(packet);
            }
            Operation::Arrive { at, which } => {
                if let Some(frame) = self.side(*at).take(*which) {
                    self.side(*at).receive(now, &frame);
                }
            }
            Operation::ArriveAndStay { at, which } => {
                let side = self.side(*at);
                if let Some(frame) = side.take(*which) {
                    side.receive(now, &frame);
                    side.arriving.push(frame);
                }
            }
            Operation::ArriveAll { at } => {
                let side = self.side(*at);
                for frame in std::mem::take(&mut side.arriving) {
                    side.receive(now, &frame);
                }
            }
            Operation::Lose { at, which } => {
                self.side(*at).take(*which);
            }
            Operation::Corrupt { at, which, byte, xor } => {
                self.honest = false;
                let side = self.side(*at);
                if let Some(mut frame) = side.take(*which) {
                    let byte = usize::from(*byte) % frame.len();
                    frame[byte] ^= xor;
                    side.arriving.push(frame);
                }
            }
            Operation::Invent { at, frame } => {
                self.honest = false;
                self.side(*at).receive(now, frame);
            }
            Operation::LetTimePass { millis } => self.now += Duration::from_millis((*millis).into()),
            Operation::ReportQueue { at, bytes } => self.side(*at).end.handle_send_queue((*bytes).into()),
            Operation::Reconfigure { at, options } => self.side(*at).end.reconfigure(options),
        }
    }

    fn side(&mut self, end: End) -> &mut Side<L> {
        &mut self.sides[end as usize]
    }

    /// Does what the owner of a link does: takes everything the ends hand out, and calls them when their time
    /// has come.
    fn settle(&mut self) {
        for from in 0..2 {
            let frames = self.sides[from].drain(self.now);
            let to = &mut self.sides[1 - from].arriving;
            to.extend(frames);
            to.truncate(MAX_FRAMES_ON_THE_WIRE);
        }
        for to in 0..2 {
            while let Some(packet) = self.sides[to].end.poll_deliver() {
                self.sides[to].delivered += 1;
                let Delivered::Packet(packet) = packet else { continue };
                if self.honest {
                    assert!(self.sides[1 - to].sent.contains(&packet), "delivered what nobody sent");
                }
                self.sides[to].last_delivered = packet;
            }
            self.sides[to].check(self.now);
        }
    }

    /// Carries every frame to its end, and lets time pass, until there is nothing more to do.
    fn come_to_rest(&mut self) {
        for _ in 0..MAX_ROUNDS_UNTIL_IDLE {
            let mut moved = false;
            for to in 0..2 {
                for frame in std::mem::take(&mut self.sides[to].arriving) {
                    self.sides[to].receive(self.now, &frame);
                    self.settle();
                    moved = true;
                }
            }
            let [near, far] = &self.sides;
            match near.end.next_deadline().min(far.end.next_deadline()) {
                _ if moved => {}
                Instant::NEVER => return,
                deadline => self.now = deadline,
            }
            self.settle();
        }
        panic!("a mended link never becomes idle");
    }

    /// Sends a packet in one frame and one in several over the mended wire.
    fn prove_delivery(&mut self, from: usize, to: usize) {
        if !self.sides[to].end.reassembles() {
            return;
        }
        for bytes in [20, 150] {
            let request = Request { bytes, variety: 0 };
            self.sides[to].last_delivered.clear();
            let (packet, accepted) = self.sides[from].end.send(self.now, &request);
            self.sides[from].sent.insert(packet.clone());
            self.settle();
            self.come_to_rest();
            assert!(!accepted || self.sides[to].last_delivered == packet, "not delivered over a mended wire");
        }
    }
}

struct Side<L> {
    end: L,
    /// The largest frame this end may send: its MTU, or an earlier one that frames were cut to which it
    /// still keeps.
    largest_frame_bytes: usize,
    /// Frames on their way to this end.
    arriving: Vec<Vec<u8>>,
    sent: HashSet<Vec<u8>>,
    frames_in: u64,
    frames_out: u64,
    delivered: u64,
    last_delivered: Vec<u8>,
}

impl<L: LinkEnd> Side<L> {
    fn new(end: L) -> Self {
        Side {
            end,
            largest_frame_bytes: 0,
            arriving: Vec::new(),
            sent: HashSet::new(),
            frames_in: 0,
            frames_out: 0,
            delivered: 0,
            last_delivered: Vec::new(),
        }
    }

    fn take(&mut self, which: u8) -> Option<Vec<u8>> {
        let index = usize::from(which).checked_rem(self.arriving.len())?;
        Some(self.arriving.remove(index))
    }

    fn receive(&mut self, now: Instant, frame: &[u8]) {
        self.frames_in += 1;
        let before = self.end.totals().drops;
        let accepted = self.end.receive(now, frame);
        assert!(accepted || self.end.totals().drops > before, "every drop is counted");
    }

    fn drain(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.largest_frame_bytes = self.largest_frame_bytes.max(self.end.mtu_bytes());
        if self.end.next_deadline() <= now {
            self.end.handle_timeout(now);
        }
        let mut frames = Vec::new();
        loop {
            let mut frame = Vec::new();
            let Some(len) = self.end.poll_transmit(now, &mut frame) else { break };
            assert_eq!(len, frame.len());
            assert!(len <= self.largest_frame_bytes, "{len} bytes, allowed are {}", self.largest_frame_bytes);
            self.frames_out += 1;
            frames.push(frame);
            assert!(frames.len() <= MAX_FRAMES_A_STEP, "it never stops sending");
        }
        if self.end.is_drained() {
            self.largest_frame_bytes = self.end.mtu_bytes();
        }
        frames
    }

    fn check(&self, now: Instant) {
        assert!(self.end.next_deadline() > now, "what was due is still due");
        let totals = self.end.totals();
        let expected = Totals {
            frames_in: self.frames_in,
            frames_out: self.frames_out,
            delivered: self.delivered,
            drops: totals.drops,
        };
        assert_eq!(totals, expected);
        self.end.check_limits();
    }
}
