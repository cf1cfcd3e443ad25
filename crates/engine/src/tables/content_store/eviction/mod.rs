//! Which Data to give up when the store is full.
//!
//! A policy knows numbers of entries and the order of events, nothing of names or sizes, so the same policies
//! serve the forwarder's store and studies of request traces.

mod list;
mod lru;
mod queue;
mod s3_fifo;
mod sieve;

use std::fmt;
use std::str::FromStr;

pub use lru::Lru;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;

/// Entries that were asked for and that one eviction passes over at most: if all were, looking for the first
/// that was not would take as long as there are entries.
const MAX_SPARED: u32 = 256;

/// Decides who leaves. Numbers are small and may be reused after their entry has left.
pub trait Eviction: fmt::Debug + Send {
    /// Entry `id` has come. `key` identifies what it holds across its comings and goings.
    fn insert(&mut self, id: u32, key: u64);

    /// Entry `id` was asked for and found.
    fn touch(&mut self, id: u32);

    /// Entry `id` leaves for a reason of its own.
    fn remove(&mut self, id: u32);

    /// Chooses who leaves for lack of room, and forgets it; `None` if there is nobody.
    fn evict(&mut self) -> Option<u32>;

    /// Entries present.
    fn len(&self) -> usize;

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows `see` up to `count` entries that are likely to leave next, without deciding.
    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(u32));

    /// Hints that an entry with this key will come or leave soon.
    fn prefetch(&self, key: u64) {
        let _ = key;
    }

    /// Hints that entry `id` will be asked for soon.
    fn prefetch_entry(&self, id: u32) {
        let _ = id;
    }

    /// Hints the same of an entry that was hinted at before: now for what moves when it is asked for.
    fn prefetch_around(&self, id: u32) {
        let _ = id;
    }

    /// Bytes of memory held.
    fn footprint_bytes(&self) -> usize;
}

/// The policies there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EvictionPolicy {
    /// The least recently used leaves.
    Lru,
    /// Three queues, after Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023: what is
    /// asked for only once leaves soon. Keeps the most when much is asked for only once; costs a little
    /// more than the others.
    S3Fifo,
    /// A hand that spares what was asked for, after Zhang et al., "SIEVE is simpler than LRU", NSDI 2024. The
    /// default: it keeps more of what is popular than LRU does, and costs no more.
    #[default]
    Sieve,
}

impl EvictionPolicy {
    /// All policies.
    pub const ALL: [EvictionPolicy; 3] = [EvictionPolicy::Lru, EvictionPolicy::S3Fifo, EvictionPolicy::Sieve];

    /// An empty instance.
    pub fn start(self) -> Box<dyn Eviction> {
        match self {
            EvictionPolicy::Lru => Box::new(Lru::default()),
            EvictionPolicy::S3Fifo => Box::new(S3Fifo::default()),
            EvictionPolicy::Sieve => Box::new(Sieve::default()),
        }
    }

    /// The word used in configuration and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            EvictionPolicy::Lru => "lru",
            EvictionPolicy::S3Fifo => "s3-fifo",
            EvictionPolicy::Sieve => "sieve",
        }
    }
}

impl FromStr for EvictionPolicy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        EvictionPolicy::ALL
            .into_iter()
            .find(|policy| policy.as_str() == word)
            .ok_or_else(|| format!("{word:?} is no eviction policy; there are lru, s3-fifo and sieve"))
    }
}

#[cfg(test)]
mod tests;
