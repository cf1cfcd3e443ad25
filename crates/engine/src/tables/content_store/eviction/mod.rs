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
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use packet::registry::{AddError, Named, Registry, UnknownWord};

pub use crate::tables::entry_id::CachedId;
pub use lru::Lru;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;

/// Entries that were asked for and that one eviction passes over at most: if all were, looking for the first
/// that was not would take as long as there are entries.
const MAX_SPARED: u32 = 256;

/// What an entry of a cache holds, whenever it comes: where it comes again, perhaps under another number, the
/// key is the same. Spread over all its bits, as hashes of names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey(pub u64);

/// Decides who leaves.
///
/// The last four methods exist for speed alone and change no decision: they are called ahead, so that a
/// policy over millions of entries can fetch the memory that it will touch; [`batch`](crate::batch) explains
/// when. A policy that leaves them out does the same, only slower.
pub trait Eviction: fmt::Debug + Send {
    /// Entry `id` has come, which holds what has this key.
    fn insert(&mut self, id: CachedId, key: CacheKey);

    /// Entry `id` was asked for and found.
    fn touch(&mut self, id: CachedId);

    /// Entry `id` leaves for a reason of its own.
    fn remove(&mut self, id: CachedId);

    /// Chooses who leaves for lack of room, and forgets it; `None` if there is nobody.
    fn evict(&mut self) -> Option<CachedId>;

    /// Entries present.
    fn len(&self) -> usize;

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held.
    fn footprint_bytes(&self) -> usize;

    /// Shows `see` up to `count` entries that are likely to leave next, without deciding. What they hold is
    /// then fetched ahead.
    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(CachedId)) {
        let _ = (count, see);
    }

    /// An entry with this key will come or leave soon.
    fn prefetch(&self, key: CacheKey) {
        let _ = key;
    }

    /// Entry `id` will be asked for soon.
    fn prefetch_entry(&self, id: CachedId) {
        let _ = id;
    }

    /// The same of an entry that was hinted at before, now for what moves when it is asked for. Only studies
    /// of eviction alone have the time to ask for that.
    fn prefetch_around(&self, id: CachedId) {
        let _ = id;
    }
}

impl Eviction for Box<dyn Eviction> {
    fn insert(&mut self, id: CachedId, key: CacheKey) {
        (**self).insert(id, key);
    }

    fn touch(&mut self, id: CachedId) {
        (**self).touch(id);
    }

    fn remove(&mut self, id: CachedId) {
        (**self).remove(id);
    }

    fn evict(&mut self) -> Option<CachedId> {
        (**self).evict()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn footprint_bytes(&self) -> usize {
        (**self).footprint_bytes()
    }

    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(CachedId)) {
        (**self).likely_victims(count, see);
    }

    fn prefetch(&self, key: CacheKey) {
        (**self).prefetch(key);
    }

    fn prefetch_entry(&self, id: CachedId) {
        (**self).prefetch_entry(id);
    }

    fn prefetch_around(&self, id: CachedId) {
        (**self).prefetch_around(id);
    }
}

/// A policy of the program's own.
#[derive(Clone, Copy, Debug)]
pub struct EvictionKind {
    /// The word used in configuration and reports.
    pub word: &'static str,
    /// Makes an empty instance. Called once for each content store.
    pub start: fn() -> Box<dyn Eviction>,
}

impl PartialEq for EvictionKind {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for EvictionKind {}

impl Hash for EvictionKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.word.hash(state);
    }
}

/// A policy.
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
    /// One of the program's own.
    Own(EvictionKind),
}

/// All policies; ours first.
static POLICIES: Registry<EvictionPolicy> = Registry::new(&EvictionPolicy::ALL);

impl Named for EvictionPolicy {
    const WHAT: &'static str = "policy";

    fn word(&self) -> &'static str {
        self.as_str()
    }
}

/// Adds policies to those that can be chosen by name, wherever a name is looked up in this process. To be
/// called once, when the program begins.
///
/// # Errors
/// A name is taken, or it is too late.
pub fn add_evictions(added: Vec<EvictionKind>) -> Result<(), AddError> {
    POLICIES.add(added.into_iter().map(EvictionPolicy::Own).collect())
}

/// The words of all policies, for help texts.
pub fn eviction_names() -> impl Iterator<Item = &'static str> {
    POLICIES.words()
}

impl EvictionPolicy {
    /// Our policies.
    pub const ALL: [EvictionPolicy; 3] = [EvictionPolicy::Lru, EvictionPolicy::S3Fifo, EvictionPolicy::Sieve];

    /// An empty instance.
    pub fn start(self) -> Box<dyn Eviction> {
        match self {
            EvictionPolicy::Lru => Box::new(Lru::default()),
            EvictionPolicy::S3Fifo => Box::new(S3Fifo::default()),
            EvictionPolicy::Sieve => Box::new(Sieve::default()),
            EvictionPolicy::Own(kind) => (kind.start)(),
        }
    }

    /// The word used in configuration and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            EvictionPolicy::Lru => "lru",
            EvictionPolicy::S3Fifo => "s3-fifo",
            EvictionPolicy::Sieve => "sieve",
            EvictionPolicy::Own(kind) => kind.word,
        }
    }
}

impl FromStr for EvictionPolicy {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        POLICIES.named(word).copied()
    }
}

#[cfg(test)]
mod tests;
