//! What an engine has done, and how much it holds.

use crate::drop_reason::DropCounters;

/// What the engine as a whole has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineCounters {
    /// Interests answered from the content store.
    pub cache_hits: u64,
    /// Interests that made a new pending entry.
    pub pending_created: u64,
    /// Interests that joined a pending entry.
    pub pending_joined: u64,
    /// Pending entries that Data answered.
    pub satisfied: u64,
    /// Pending entries that nothing answered.
    pub unsatisfied: u64,
    /// Interests of CCNx that were sent nowhere for want of a next hop, and wait for what may be published.
    pub held_without_route: u64,
    /// Interests sent.
    pub interests_sent: u64,
    /// Data sent.
    pub data_sent: u64,
    /// Nacks sent.
    pub nacks_sent: u64,
    /// Data for which not all pending Interests were looked at that might have been answered, for there were
    /// too many.
    pub searches_cut_short: u64,
    /// Events lost because nobody polled them.
    pub events_lost: u64,
    /// What was dropped, by reason.
    pub drops: DropCounters,
}

/// How much an engine holds, and what it forgot before its time for want of room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSizes {
    /// Pending Interests.
    pub pending: u32,
    /// Bytes that pending Interests take, as counted against the budget.
    pub pending_bytes: u64,
    /// Data kept.
    pub cached: u32,
    /// Bytes of Data kept, as counted against the budget.
    pub cached_bytes: u64,
    /// Prefixes with next hops, both dialects together.
    pub routes: u32,
    /// Faces.
    pub faces: usize,
    /// Names and nonces of past Interests.
    pub dead_nonces: usize,
    /// How often the older half of them was forgotten before its time.
    pub dead_nonces_forgotten_early: u64,
    /// Entries that strategies had measured and forgot before their time.
    pub measurements_forgotten_early: u64,
    /// Bytes of all tables, packets not counted.
    pub footprint_bytes: usize,
}
