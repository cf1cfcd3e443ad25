//! What a node tells of its tables.

use std::collections::BTreeMap;

use engine::{CachePlacement, EvictionPolicy, NextHop, UnsolicitedPolicy};
use packet::time::{Duration, Instant};
use packet::{Name, PacketCounts, UnixTime};

use super::RepositoryStatus;
use crate::drop_reason::DropCounters;

/// A prefix and the ways towards it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteStatus {
    /// The prefix.
    pub prefix: Name,
    /// Its next hops, at least one.
    pub next_hops: Vec<NextHop>,
}

/// Changes to the content store; `None` leaves a thing as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentStoreChanges {
    /// Packets that may be kept.
    pub max_entries: Option<u32>,
    /// Bytes that may be kept.
    pub max_bytes: Option<u64>,
    /// Whether Data is taken in.
    pub admit: Option<bool>,
    /// Which of the Data that was asked for is taken in.
    pub placement: Option<CachePlacement>,
    /// Whether Interests are answered.
    pub serve: Option<bool>,
    /// Who leaves when the store is full.
    pub eviction: Option<EvictionPolicy>,
    /// What happens to Data that nobody asked for.
    pub unsolicited: Option<UnsolicitedPolicy>,
}

/// The content store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentStoreStatus {
    /// Packets that may be kept.
    pub max_entries: u32,
    /// Bytes that may be kept.
    pub max_bytes: u64,
    /// Whether Data is taken in.
    pub admit: bool,
    /// Whether Interests are answered.
    pub serve: bool,
    /// Packets kept.
    pub entries: u32,
    /// Bytes kept.
    pub bytes: u64,
    /// Interests answered.
    pub hits: u64,
    /// Interests looked up and not answered.
    pub misses: u64,
}

impl ContentStoreStatus {
    /// That of a node that has ended.
    pub(crate) const NOTHING: Self = ContentStoreStatus {
        max_entries: 0,
        max_bytes: 0,
        admit: false,
        serve: false,
        entries: 0,
        bytes: 0,
        hits: 0,
        misses: 0,
    };
}

/// The memory of what waits, over all faces, and what all memory may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStatus {
    /// Bytes that wait for peers to read.
    pub queued_bytes: usize,
    /// Bytes of incomplete packets.
    pub reassembly_bytes: usize,
    /// What all tables and queues together may take.
    pub budget_bytes: u64,
}

/// How the data plane's loop went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnCounters {
    /// Wake-ups in which there was nothing to do.
    pub idle_wakeups: u64,
    /// How often a socket that caused them was left alone for a while.
    pub socket_rests: u64,
    /// How often an application was not read from for a while, because much waited for it.
    pub stream_holds: u64,
}

/// The node as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatus {
    /// Name and version of the program.
    pub version: String,
    /// When the node started, by the calendar of then.
    pub started_unix: UnixTime,
    /// When the node started.
    pub started: Instant,
    /// How long it has been running.
    pub uptime: Duration,
    /// Everything the engine holds.
    pub tables: engine::TableSizes,
    /// Everything the engine has done.
    pub engine: engine::EngineCounters,
    /// Everything the content store has done.
    pub content_store: engine::ContentStoreCounters,
    /// Packets by kind and direction, over all faces, past ones included.
    pub packets: PacketCounts,
    /// What was done on links that nodes share, over all faces, past ones included.
    pub sharing: engine::SharingCounters,
    /// What was done with parity frames there, over all faces, past ones included.
    pub parity: link::v2::ParityCounters,
    /// Memory in use and how much there may be.
    pub memory: MemoryStatus,
    /// How the data plane's loop went.
    pub turns: TurnCounters,
    /// What transports and the node around its faces dropped, past faces included.
    pub transport_drops: DropCounters,
    /// What links dropped, past faces included, by their words for it.
    pub link_drops: BTreeMap<&'static str, u64>,
    /// What became of questions to the repositories, if there are any.
    pub second_store: Option<engine::SecondStoreCounters>,
    /// What became of Data that was verified, if some is.
    pub sampling: Option<engine::SamplingCounters>,
    /// The repositories.
    pub repositories: Vec<RepositoryStatus>,
}

impl NodeStatus {
    /// What was done on links that nodes share, each number under its word.
    pub(crate) fn sharing_numbers(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.sharing.numbers().into_iter().chain(self.parity.numbers())
    }
}
