//! Records: a struct each, with the names and kinds of its columns.

use engine::FaceId;
use packet::time::{Duration, Instant};
use packet::{Name, PacketCounts, PacketKind};

use crate::arena::{AppId, EndId, LinkId, NodeId};
use crate::link::LinkDropReason;

/// What a cell of a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A whole number.
    Whole,
    /// A number with a fraction.
    Real,
    /// A text.
    Text,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(std::borrow::Cow<'a, str>),
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Cell::Whole(number.into())
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Cell::Real(number)
    }
}

impl From<Instant> for Cell<'_> {
    /// Nanoseconds.
    fn from(time: Instant) -> Self {
        Cell::from(time.as_nanos())
    }
}

impl From<Duration> for Cell<'_> {
    /// Nanoseconds.
    fn from(span: Duration) -> Self {
        Cell::from(span.as_nanos())
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<&Name> for Cell<'_> {
    fn from(name: &Name) -> Self {
        Cell::Text(name.to_string().into())
    }
}

impl From<&NodeId> for Cell<'_> {
    fn from(node: &NodeId) -> Self {
        Cell::from(node.0)
    }
}

/// A row of a table.
pub trait Record {
    /// Names and kinds of the columns. Times end in `_ns`, sizes in `_bytes`.
    const COLUMNS: &'static [(&'static str, CellKind)];

    /// The cells, in the order of the columns.
    fn cells(&self) -> Vec<Cell<'_>>;
}

/// Makes a record's columns from one list, so that names, kinds and cells cannot disagree.
macro_rules! record {
    ($record:ident: $($column:literal $kind:ident = |$this:ident| $cell:expr,)+) => {
        impl Record for $record {
            const COLUMNS: &'static [(&'static str, CellKind)] = &[$(($column, CellKind::$kind)),+];

            fn cells(&self) -> Vec<Cell<'_>> {
                vec![$({ let $this = self; Cell::from($cell) }),+]
            }
        }
    };
}

/// A packet that arrived over a link.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketRecord {
    /// When.
    pub time: Instant,
    /// Over which link.
    pub link: LinkId,
    /// From which of its ends.
    pub from_end: EndId,
    /// What.
    pub kind: PacketKind,
    /// With its NDNLPv2 header.
    pub bytes: u32,
    /// Links crossed since an application or a cache sent it.
    pub hops: u32,
    /// Its name.
    pub name: Name,
    /// The nonce of an Interest, also of one that comes back in a Nack. Not a column.
    pub nonce: Option<u32>,
}

record! { PacketRecord:
    "time_ns" Whole = |r| r.time,
    "link" Whole = |r| r.link.0,
    "from_end" Whole = |r| r.from_end.0,
    "kind" Text = |r| r.kind.as_str(),
    "size_bytes" Whole = |r| r.bytes,
    "hops" Whole = |r| r.hops,
    "name" Text = |r| &r.name,
}

/// How long an application waited for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Which of its numbers was answered.
    pub number: u64,
    /// Since the last Interest for it.
    pub last: Duration,
    /// Since the first Interest for it.
    pub full: Duration,
    /// Interests it took.
    pub attempts: u32,
    /// Links that the Data crossed.
    pub hops: u32,
}

/// An answer to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayRecord {
    /// When it came.
    pub time: Instant,
    /// The node of the application.
    pub node: NodeId,
    /// The application.
    pub application: AppId,
    /// How long it took.
    pub delay: Delay,
}

record! { DelayRecord:
    "time_ns" Whole = |r| r.time,
    "node" Whole = |r| r.node.0,
    "application" Whole = |r| r.application.0,
    "number" Whole = |r| r.delay.number,
    "last_delay_ns" Whole = |r| r.delay.last,
    "full_delay_ns" Whole = |r| r.delay.full,
    "attempts" Whole = |r| r.delay.attempts,
    "hops" Whole = |r| r.delay.hops,
}

/// A number that an application reported, or that was sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRecord {
    /// When.
    pub time: Instant,
    /// The node of the application.
    pub node: NodeId,
    /// The application.
    pub application: AppId,
    /// What the number is.
    pub what: &'static str,
    /// The number.
    pub value: f64,
}

record! { ValueRecord:
    "time_ns" Whole = |r| r.time,
    "node" Whole = |r| r.node.0,
    "application" Whole = |r| r.application.0,
    "what" Text = |r| r.what,
    "value" Real = |r| r.value,
}

/// A packet that a link or a processor dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropRecord {
    /// When.
    pub time: Instant,
    /// On which link, coming from which end.
    pub link: Option<(LinkId, EndId)>,
    /// Or by the processor of which node.
    pub node: Option<NodeId>,
    /// Why.
    pub reason: LinkDropReason,
    /// What.
    pub kind: PacketKind,
}

record! { DropRecord:
    "time_ns" Whole = |r| r.time,
    "where" Text = |r| if r.link.is_some() { "link" } else { "node" },
    "number" Whole = |r| r.link.map_or(r.node.map_or(0, |node| node.0), |(link, _)| link.0),
    "from_end" Whole = |r| r.link.map_or(0, |(_, end)| end.0),
    "reason" Text = |r| r.reason.as_str(),
    "kind" Text = |r| r.kind.as_str(),
}

/// What went through a face since the sample before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceRecord {
    /// When.
    pub time: Instant,
    /// Of which node.
    pub node: NodeId,
    /// Its number.
    pub face: FaceId,
    /// Packets by kind and direction.
    pub packets: PacketCounts,
    /// Interests that the face waits for at present.
    pub pending: u32,
}

record! { FaceRecord:
    "time_ns" Whole = |r| r.time,
    "node" Whole = |r| r.node.0,
    "face" Whole = |r| r.face.0,
    "in_interests" Whole = |r| r.packets.in_interests,
    "in_data" Whole = |r| r.packets.in_data,
    "in_nacks" Whole = |r| r.packets.in_nacks,
    "out_interests" Whole = |r| r.packets.out_interests,
    "out_data" Whole = |r| r.packets.out_data,
    "out_nacks" Whole = |r| r.packets.out_nacks,
    "pending" Whole = |r| r.pending,
}

/// A node at one time, and what it did since the sample before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeRecord {
    /// When.
    pub time: Instant,
    /// Its number.
    pub node: NodeId,
    /// Interests pending.
    pub pending: u32,
    /// Bytes they take.
    pub pending_bytes: u64,
    /// Data in the content store.
    pub cached: u32,
    /// Bytes they take.
    pub cached_bytes: u64,
    /// Interests answered from the content store, since the sample before.
    pub cache_hits: u64,
    /// Interests that the content store could not answer, since the sample before.
    pub cache_misses: u64,
    /// Pending Interests that were answered, since the sample before.
    pub satisfied: u64,
    /// Pending Interests that were not, since the sample before.
    pub unsatisfied: u64,
    /// Packets dropped by the engine, since the sample before.
    pub drops: u64,
    /// Interests pending on average since the sample before, integrated from change to change.
    pub mean_pending: f64,
    /// Data in the content store on average since the sample before.
    pub mean_cached: f64,
}

record! { NodeRecord:
    "time_ns" Whole = |r| r.time,
    "node" Whole = |r| r.node.0,
    "pending" Whole = |r| r.pending,
    "pending_bytes" Whole = |r| r.pending_bytes,
    "cached" Whole = |r| r.cached,
    "cached_bytes" Whole = |r| r.cached_bytes,
    "cache_hits" Whole = |r| r.cache_hits,
    "cache_misses" Whole = |r| r.cache_misses,
    "satisfied" Whole = |r| r.satisfied,
    "unsatisfied" Whole = |r| r.unsatisfied,
    "drops" Whole = |r| r.drops,
    "mean_pending" Real = |r| r.mean_pending,
    "mean_cached" Real = |r| r.mean_cached,
}

/// One direction of a link at one time, and what went through it since the sample before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRecord {
    /// When.
    pub time: Instant,
    /// Its number.
    pub link: LinkId,
    /// The end that the direction leaves from.
    pub from_end: EndId,
    /// Packets that entered, since the sample before.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped, since the sample before.
    pub drops: u64,
    /// Congestion marks given, since the sample before.
    pub marks: u64,
    /// Packets waiting at present.
    pub queue_packets: u64,
    /// Their bytes.
    pub queue_bytes: u64,
    /// Packets that waited on average since the sample before, integrated from change to change.
    pub mean_queue_packets: f64,
}

record! { LinkRecord:
    "time_ns" Whole = |r| r.time,
    "link" Whole = |r| r.link.0,
    "from_end" Whole = |r| r.from_end.0,
    "packets" Whole = |r| r.packets,
    "size_bytes" Whole = |r| r.bytes,
    "drops" Whole = |r| r.drops,
    "marks" Whole = |r| r.marks,
    "queue_packets" Whole = |r| r.queue_packets,
    "queue_bytes" Whole = |r| r.queue_bytes,
    "mean_queue_packets" Real = |r| r.mean_queue_packets,
}

/// What an engine dropped for one reason since the sample before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineDropRecord {
    /// When the sample was taken.
    pub time: Instant,
    /// The node.
    pub node: NodeId,
    /// The engine's word for the reason.
    pub reason: &'static str,
    /// How many packets.
    pub packets: u64,
}

record! { EngineDropRecord:
    "time_ns" Whole = |r| r.time,
    "node" Whole = |r| r.node.0,
    "reason" Text = |r| r.reason,
    "packets" Whole = |r| r.packets,
}
