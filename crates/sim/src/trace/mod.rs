//! What happened: one number over everything, and typed records of what was asked for.

mod capture;
pub(crate) mod journal;
mod parquet;
mod records;
mod table;

use packet::Packet;
use packet::time::{Duration, Instant};

pub use capture::{Capture, CapturedFrame};
pub use records::{
    CellKind, Delay, DelayRecord, DropRecord, EngineDropRecord, FaceRecord, LinkRecord, NodeRecord,
    PacketRecord, Record, ValueRecord,
};
pub use table::Table;

use crate::arena::{AppId, EndId, LinkId, NodeId};
use crate::events::in_flight::InFlight;
use crate::link::LinkDropReason;

/// What to record. Nothing, to begin with; the hash over everything is always computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceConfig {
    /// Look at all nodes, faces, links and applications this often.
    pub sample_every: Option<Duration>,
    /// Every packet that arrives over a link.
    pub packets: bool,
    /// How long every answer took that an application reports.
    pub delays: bool,
    /// Every number that an application reports, such as a rate or a window.
    pub values: bool,
    /// Every packet that a link or a processor drops.
    pub drops: bool,
    /// Keep one of so many of packets, delays, values and drops, each kind counted by itself; 0 and 1 keep
    /// all.
    pub one_in: u32,
    /// The same for packets alone, where it is to be another; 0 is as `one_in`. Whoever counts packets needs
    /// all of them, however few of the other records are kept.
    pub packets_one_in: u32,
    /// Records kept in each table; later ones are lost and counted.
    pub max_records: Option<usize>,
}

impl TraceConfig {
    /// Everything, and samples this often.
    pub fn complete(sample_every: Duration) -> Self {
        TraceConfig {
            sample_every: Some(sample_every),
            packets: true,
            delays: true,
            values: true,
            drops: true,
            ..TraceConfig::default()
        }
    }

    /// Samples this often, and what applications report.
    pub fn sampled(sample_every: Duration) -> Self {
        TraceConfig { sample_every: Some(sample_every), delays: true, values: true, ..TraceConfig::default() }
    }
}

/// What happened.
#[derive(Debug, Default)]
pub struct Trace {
    hash: u64,
    steps: u64,
    pub(crate) config: TraceConfig,
    /// Packets that arrived over links.
    pub packets: Table<PacketRecord>,
    /// Answers to applications.
    pub delays: Table<DelayRecord>,
    /// Numbers that applications reported or were sampled for.
    pub values: Table<ValueRecord>,
    /// Packets that links and processors dropped.
    pub drops: Table<DropRecord>,
    /// Samples of faces.
    pub faces: Table<FaceRecord>,
    /// Samples of nodes.
    pub nodes: Table<NodeRecord>,
    /// Samples of links.
    pub links: Table<LinkRecord>,
    /// Samples of what engines dropped.
    pub engine_drops: Table<EngineDropRecord>,
    pub(crate) captures: Vec<Capture>,
    seen: [u64; 4],
    /// Where all of it goes that depends on the order of events, while this is the trace of a part of a
    /// network: [the order](crate::parallel) is found later.
    pub(crate) notes: Option<Box<Notes>>,
}

/// What the trace is to be told, in the order in which it happened.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// For the number over everything.
    pub(crate) numbers: Vec<u64>,
    pub(crate) records: Vec<Note>,
}

/// A record that waits for its place among those of other parts.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    Packet(PacketRecord),
    Delay(DelayRecord),
    Value(ValueRecord),
    Drop(DropRecord),
}

impl Note {
    /// Kinds are counted each by itself.
    fn kind(&self) -> usize {
        match self {
            Note::Packet(_) => 0,
            Note::Drop(_) => 1,
            Note::Delay(_) => 2,
            Note::Value(_) => 3,
        }
    }
}

/// An odd constant that spreads bits (the golden ratio in 64 bits).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number for an end of a link.
#[inline(always)]
fn place_of(link: LinkId, end: EndId) -> u64 {
    u64::from(link.0) << 8 | u64::from(end.0)
}

impl Trace {
    /// A number over every packet that arrived and was dropped, with time and place. Two runs with the same
    /// number did the same.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Packets and frames that the number was computed over.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What was captured on a link, if it was asked for.
    pub fn capture(&self, link: LinkId) -> Option<&Capture> {
        self.captures.iter().find(|capture| capture.link() == link)
    }

    /// All captures.
    pub fn captures(&self) -> impl Iterator<Item = &Capture> {
        self.captures.iter()
    }

    pub(crate) fn configure(&mut self, config: TraceConfig) {
        let limit = config.max_records.unwrap_or(usize::MAX);
        self.packets.limit(limit);
        self.delays.limit(limit);
        self.values.limit(limit);
        self.drops.limit(limit);
        self.faces.limit(limit);
        self.nodes.limit(limit);
        self.links.limit(limit);
        self.engine_drops.limit(limit);
        self.config = config;
    }

    /// An empty one for a part of the network, which only notes.
    pub(crate) fn for_a_part(&self) -> Trace {
        Trace { config: self.config.clone(), notes: Some(Box::default()), ..Trace::default() }
    }

    /// Counts what a part has seen.
    pub(crate) fn add_steps(&mut self, part: &Trace) {
        self.steps += part.steps;
    }

    /// Keeps a record that a part has noted, if it is one of those that are kept.
    pub(crate) fn take(&mut self, note: Note) {
        if self.keeps(note.kind()) {
            self.store(note);
        }
    }

    fn store(&mut self, note: Note) {
        match note {
            Note::Packet(record) => self.packets.push(record),
            Note::Delay(record) => self.delays.push(record),
            Note::Value(record) => self.values.push(record),
            Note::Drop(record) => self.drops.push(record),
        }
    }

    /// Keeps a record, now or later.
    fn keep(&mut self, note: Note) {
        match &mut self.notes {
            Some(notes) => notes.records.push(note),
            None => self.store(note),
        }
    }

    /// Adds to the number over everything.
    #[inline(always)]
    pub(crate) fn mix(&mut self, number: u64) {
        if let Some(notes) = &mut self.notes {
            return notes.numbers.push(number);
        }
        // One multiplication, and a rotation so that the high bits come back down.
        self.hash = (self.hash ^ number).wrapping_mul(SPREAD).rotate_left(23);
    }

    #[inline(always)]
    fn mix_packet(&mut self, now: Instant, place: u64, in_flight: &InFlight) {
        let (kind, extra) = match &in_flight.packet {
            Some(Packet::Interest(interest)) => (1, interest.nonce().map_or(0, |nonce| nonce.0)),
            Some(Packet::Data(data)) => (2, data.wire().len() as u32),
            Some(Packet::Nack(interest, reason)) => {
                (3 + reason.code().unwrap_or(0), interest.nonce().map_or(0, |nonce| nonce.0))
            }
            None => (0, 0),
        };
        self.mix(now.as_nanos());
        self.mix(in_flight.hashes.whole().0 ^ place);
        self.mix(kind << 40 ^ u64::from(extra) << 8 ^ in_flight.header.congestion_mark);
        self.steps += 1;
    }

    #[inline(always)]
    pub(crate) fn note_arrival(&mut self, now: Instant, link: LinkId, end: EndId, in_flight: &InFlight) {
        self.mix_packet(now, place_of(link, end), in_flight);
        if self.config.packets {
            self.record_packet(now, link, end, in_flight);
        }
        if !self.captures.is_empty() {
            for capture in self.captures.iter_mut().filter(|capture| capture.link() == link) {
                capture.note_packet(now, end, in_flight);
            }
        }
    }

    #[cold]
    fn record_packet(&mut self, now: Instant, link: LinkId, end: EndId, in_flight: &InFlight) {
        if !self.keeps(0) {
            return;
        }
        let Some(packet) = &in_flight.packet else { return };
        self.keep(Note::Packet(PacketRecord {
            time: now,
            link,
            from_end: end,
            kind: in_flight.kind(),
            bytes: in_flight.size_bytes(),
            hops: in_flight.hops,
            name: packet.name().to_name(),
            nonce: packet.nonce().map(|nonce| nonce.0),
        }));
    }

    pub(crate) fn note_frame(&mut self, now: Instant, link: LinkId, end: EndId, frame: &[u8]) {
        self.mix(now.as_nanos());
        self.mix(place_of(link, end));
        for word in frame.chunks(8) {
            self.mix(word.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        }
        self.steps += 1;
        for capture in self.captures.iter_mut().filter(|capture| capture.link() == link) {
            capture.note_frame(now, end, frame);
        }
    }

    pub(crate) fn note_link_drop(
        &mut self,
        now: Instant,
        link: LinkId,
        end: EndId,
        reason: LinkDropReason,
        in_flight: &InFlight,
    ) {
        self.mix_packet(now, (reason as u64 + 1) << 48 | place_of(link, end), in_flight);
        let (link, kind) = (Some((link, end)), in_flight.kind());
        self.note_drop(DropRecord { time: now, link, node: None, reason, kind });
    }

    pub(crate) fn note_node_drop(
        &mut self,
        now: Instant,
        node: NodeId,
        reason: LinkDropReason,
        in_flight: &InFlight,
    ) {
        self.mix_packet(now, (reason as u64 + 1) << 48 | 1 << 47 | u64::from(node.0), in_flight);
        let (node, kind) = (Some(node), in_flight.kind());
        self.note_drop(DropRecord { time: now, link: None, node, reason, kind });
    }

    fn note_drop(&mut self, record: DropRecord) {
        if self.config.drops && self.keeps(1) {
            self.keep(Note::Drop(record));
        }
    }

    #[inline]
    pub(crate) fn note_delay(&mut self, time: Instant, node: NodeId, application: AppId, delay: Delay) {
        if self.config.delays && self.keeps(2) {
            self.keep(Note::Delay(DelayRecord { time, node, application, delay }));
        }
    }

    pub(crate) fn note_value(&mut self, record: ValueRecord) {
        if self.config.values && self.keeps(3) {
            self.keep(Note::Value(record));
        }
    }

    /// Whether the next record of a kind is kept. A part keeps all: which are kept depends on the order.
    fn keeps(&mut self, kind: usize) -> bool {
        if self.notes.is_some() {
            return true;
        }
        let Some(seen) = self.seen.get_mut(kind) else { return false };
        *seen += 1;
        let of_packets = self.config.packets_one_in;
        let one_in = if kind == 0 && of_packets > 0 { of_packets } else { self.config.one_in };
        (*seen - 1).is_multiple_of(one_in.max(1).into())
    }
}
