//! Data kept to answer later Interests.
//!
//! One Data is kept for a name, and a newer one takes its place; in CCNx [several](one_name) are kept.
//! Entries are found by the index they share with pending Interests; those asked for by prefix by way of
//! [`prefix_tree`], if [`occupied_prefixes`] does not know that there are none. The budget is in bytes and in
//! entries.

pub(crate) mod eviction;
pub(crate) mod fair_share;
mod lookup;
mod memory;
mod occupied_prefixes;
mod one_name;
pub(crate) mod placement;
mod prefetch;
mod prefix_tree;

use std::sync::OnceLock;

use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, NameHash, NameHasher, NameRef, PrefixHashes};

use super::chunked::Slab;
pub(crate) use super::entry_id::CachedId;
use super::entry_id::EntryId;
use super::hash_index::HashIndex;
use crate::arrival::Arrival;
use crate::batch::spare_buffers::SpareBuffers;
use eviction::{CacheKey, Eviction, EvictionPolicy};
use fair_share::FairShares;
use memory::{MemoryOwner, SharedMemory};
use occupied_prefixes::{OccupiedPrefixes, Parent};
use one_name::{NumberOfName, SameNameEntry};
use placement::CachePlacement;
use prefix_tree::{Link, PrefixTree};

/// Budget and behaviour of the content store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentStoreConfig {
    /// Bytes that the kept packets may take, with the store's own bookkeeping of
    /// [`ContentStoreConfig::OVERHEAD_BYTES`] each. Packets that arrived in one piece of memory may stay
    /// in it; then all of it counts until the last of them has left.
    pub max_bytes: u64,
    /// Packets that may be kept.
    pub max_entries: u32,
    /// Who leaves when the store is full.
    pub eviction: EvictionPolicy,
    /// Whether Data is taken in.
    pub admit: bool,
    /// Which of the Data that was asked for is taken in.
    pub placement: CachePlacement,
    /// Whether Interests are answered.
    pub serve: bool,
    /// What to do with Data that nobody asked for.
    pub unsolicited: UnsolicitedPolicy,
}

impl ContentStoreConfig {
    /// What a kept packet costs beside its own bytes: its entry, its places in index and eviction policy.
    pub const OVERHEAD_BYTES: u64 = 196;
}

impl Default for ContentStoreConfig {
    fn default() -> Self {
        ContentStoreConfig {
            max_bytes: 256 << 20,
            max_entries: 1 << 20,
            eviction: EvictionPolicy::default(),
            admit: true,
            placement: CachePlacement::default(),
            serve: true,
            unsolicited: UnsolicitedPolicy::DropAll,
        }
    }
}

/// Whether Data that nobody asked for may be kept. It is never sent anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnsolicitedPolicy {
    /// Never, but for what applications on this host send in CCNx: that is how they publish.
    #[default]
    DropAll,
    /// If it came from an application on this host.
    AdmitLocal,
    /// If it came from another host.
    AdmitNetwork,
    /// Always.
    AdmitAll,
}

impl UnsolicitedPolicy {
    /// Whether it may be kept. Applications of CCNx publish by putting objects into the store of ccnd, and
    /// some of them end then.
    pub(crate) fn welcomes(self, dialect: Dialect, from_local: bool) -> bool {
        match self {
            UnsolicitedPolicy::DropAll => from_local && dialect == Dialect::Ccnx,
            UnsolicitedPolicy::AdmitLocal => from_local,
            UnsolicitedPolicy::AdmitNetwork => !from_local,
            UnsolicitedPolicy::AdmitAll => true,
        }
    }
}

/// What the content store has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentStoreCounters {
    /// Interests answered.
    pub hits: u64,
    /// Interests looked up and not answered.
    pub misses: u64,
    /// Data taken in.
    pub insertions: u64,
    /// Data that renewed a kept copy of itself.
    pub refreshes: u64,
    /// Data that left for want of room.
    pub evictions: u64,
    /// Data that was not taken in because of the placement.
    pub passed_on: u64,
    /// Objects of CCNx that gave way to another one of their name, of which no more may be kept.
    pub replaced: u64,
    /// Searches by prefix that gave up after looking at their limit of candidates.
    pub searches_cut_short: u64,
}

/// What is known of the name of a Data that is to be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingName<'h> {
    pub(crate) hash: NameHash,
    /// Those of its prefixes, too, unless nobody has looked into it.
    pub(crate) hashes: Option<&'h PrefixHashes>,
    /// That of its longest prefix, if that is known without those; see
    /// [`Pending::parent`](crate::tables::pending::Pending::parent).
    pub(crate) parent: NameHash,
}

/// A Data that the store is to take in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingData<'a> {
    data: &'a Data,
    name: IncomingName<'a>,
    /// The entry of the same name, if any.
    known: Option<CachedId>,
    fresh_until: Instant,
}

impl<'a> IncomingData<'a> {
    /// That has just come from upstream. `known` is the entry of the same name, if any.
    #[inline(always)]
    pub(crate) fn at(now: Instant, data: &'a Data, name: IncomingName<'a>, known: Option<CachedId>) -> Self {
        let fresh_until = match data.freshness() {
            // Not fresh from the first instant on.
            Duration::ZERO => Instant::ZERO,
            freshness => now + freshness,
        };
        IncomingData { data, name, known, fresh_until }
    }

    /// The same for Data that is older than its arrival here.
    pub(crate) fn until(self, fresh_until: Instant) -> Self {
        IncomingData { fresh_until, ..self }
    }
}

/// One kept Data.
#[derive(Debug)]
pub(crate) struct Cached {
    pub(crate) data: Data,
    hash: NameHash,
    /// Until when it may answer Interests that ask for freshness.
    pub(crate) fresh_until: Instant,
    link: Link,
    parent: Parent,
    paid_by: MemoryOwner,
    number: NumberOfName,
    /// Computed when somebody first asks for a digest.
    digest: OnceLock<Box<[u8; 32]>>,
}

impl Cached {
    /// What it is known by to the policy.
    #[inline(always)]
    fn key(&self) -> CacheKey {
        CacheKey(self.hash.0)
    }

    /// The digest of the packet, which costs a pass over it the first time.
    fn digest(&self) -> [u8; 32] {
        **self.digest.get_or_init(|| Box::new(self.data.implicit_digest()))
    }
}

/// The content store.
#[derive(Debug)]
pub(crate) struct ContentStore {
    pub(crate) config: ContentStoreConfig,
    pub(crate) counters: ContentStoreCounters,
    entries: Slab<Cached>,
    eviction: Box<dyn Eviction>,
    tree: PrefixTree,
    occupied: OccupiedPrefixes,
    shared: SharedMemory,
    bytes: u64,
    /// Memory of Data that has left.
    pub(crate) spares: SpareBuffers,
    /// Whether all Data that was asked for is taken in.
    pub(crate) takes_all: bool,
    /// Whether somebody takes a sample of what is taken in.
    is_watched: bool,
    pub(crate) shares: FairShares,
}

/// Whether all Data that was asked for is taken in.
fn takes_all(config: &ContentStoreConfig) -> bool {
    config.admit && config.placement == CachePlacement::Everywhere
}

impl ContentStore {
    pub(crate) fn new(config: ContentStoreConfig) -> Self {
        ContentStore {
            config,
            counters: ContentStoreCounters::default(),
            entries: Slab::default(),
            eviction: config.eviction.start(),
            tree: PrefixTree::default(),
            occupied: OccupiedPrefixes::default(),
            shared: SharedMemory::default(),
            bytes: 0,
            spares: SpareBuffers::default(),
            takes_all: takes_all(&config),
            is_watched: false,
            shares: FairShares::default(),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len()
    }

    /// Bytes counted against the budget.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn get(&self, id: CachedId) -> Option<&Cached> {
        self.entries.get(id.0)
    }

    /// The entry of exactly this name, whether it may answer or not.
    fn exact(
        &self,
        index: &HashIndex,
        dialect: Dialect,
        components: &[u8],
        hash: NameHash,
    ) -> Option<CachedId> {
        self.of_name(index, dialect, components, hash).next()
    }

    /// Whether Data is kept below the prefix with this hash, so that one more need not be hashed.
    #[inline]
    pub(crate) fn has_below(&self, prefix: NameHash) -> bool {
        self.occupied.holds(prefix)
    }

    /// Whether entry `id` has the name of these components, as they are on the wire.
    #[inline]
    pub(crate) fn is(&self, id: CachedId, dialect: Dialect, components: &[u8], hash: NameHash) -> bool {
        self.entries.get(id.0).is_some_and(|entry| {
            entry.hash == hash
                && entry.data.dialect() == dialect
                && entry.data.wire_components() == components
        })
    }

    /// Looks for an answer to `interest` and counts a hit or a miss. `exact` is the entry of the Interest's
    /// own name, if the caller has come across it.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        index: &mut HashIndex,
        arrival: Arrival<'_>,
        interest: &Interest,
        hasher: &NameHasher,
        exact: Option<CachedId>,
    ) -> Option<CachedId> {
        let allowed = interest.ccnx_selectors().is_none_or(|view| view.answer_origin_kind().from_store());
        if !self.config.serve || !allowed {
            return None;
        }
        let found = self.find(index, arrival, interest, hasher, exact);
        match found {
            Some(id) => {
                self.counters.hits += 1;
                self.eviction.touch(id);
                self.part_from_others(index, id);
            }
            None => self.counters.misses += 1,
        }
        found
    }

    /// Takes Data in, or renews the copy of it, and makes room.
    #[inline(always)]
    pub(crate) fn insert(&mut self, index: &mut HashIndex, incoming: IncomingData<'_>) {
        if self.config.admit {
            self.insert_admitted(index, incoming);
        }
    }

    /// Whether there is room for so large a Data, and Data is taken in at all.
    pub(crate) fn may_keep(&self, data: &Data) -> bool {
        let fits = cost_of(data) <= self.config.max_bytes && self.config.max_entries > 0;
        self.config.admit && fits
    }

    /// The same where it is known that Data is taken in.
    #[inline(always)]
    pub(crate) fn insert_admitted(&mut self, index: &mut HashIndex, incoming: IncomingData<'_>) {
        let IncomingData { data, known, fresh_until, .. } = incoming;
        if cost_of(data) > self.config.max_bytes || self.config.max_entries == 0 {
            return;
        }
        // Made long before it is moved to where it stays: at once would make the processor wait.
        let kept = data.clone();
        if let Some(entry) = known.and_then(|id| self.entries.get_mut(id.0))
            && entry.data.wire() == data.wire()
        {
            entry.fresh_until = fresh_until;
            self.counters.refreshes += 1;
            return;
        }
        match (known, data.dialect()) {
            (None, _) => {}
            (Some(id), Dialect::Ndn) => self.remove(index, id),
            (Some(_), Dialect::Ccnx) => return self.keep_beside(index, incoming),
        }
        if self.may_stay_in_place(data) {
            self.keep(index, kept, incoming, None);
        } else {
            self.keep_copy(index, incoming, None);
        }
    }

    #[cold]
    fn keep_copy(&mut self, index: &mut HashIndex, incoming: IncomingData<'_>, one: Option<SameNameEntry>) {
        self.keep(index, incoming.data.moved(None), incoming, one);
    }

    /// Keeps `data`, which is that of `incoming` or a copy of it.
    #[inline(always)]
    fn keep(
        &mut self,
        index: &mut HashIndex,
        data: Data,
        incoming: IncomingData<'_>,
        one: Option<SameNameEntry>,
    ) {
        let IncomingData { name, fresh_until, .. } = incoming;
        let parent = match data.dialect() {
            Dialect::Ndn => Parent::NONE,
            Dialect::Ccnx => self.occupied.add(name.hashes, name.parent, self.entries.len()),
        };
        let hash = name.hash;
        let (paid_by, bytes) = self.shared.pay(data.wire());
        self.bytes += bytes + ContentStoreConfig::OVERHEAD_BYTES;
        let (number, digest) = SameNameEntry::into_parts(one);
        let Some(vacant) = self.entries.vacant() else { return };
        let id = CachedId(vacant.fill(Cached {
            data,
            hash,
            fresh_until,
            link: Link::default(),
            parent,
            paid_by,
            number,
            digest,
        }));
        index.insert(hash, EntryId::Cached(id).raw());
        self.eviction.insert(id, CacheKey(hash.0));
        self.tree.add_later(&mut self.entries, id);
        self.counters.insertions += 1;
        self.make_room(index);
    }

    /// A step through the store that begins with entry `from`: drops up to `limit` entries under `prefix`.
    /// Gives how many it dropped, and where the next step goes on.
    pub(crate) fn erase(
        &mut self,
        index: &mut HashIndex,
        dialect: Dialect,
        prefix: NameRef<'_>,
        limit: usize,
        from: u32,
    ) -> (usize, Option<u32>) {
        let (entries, next) = self.entries.step_from(from);
        let doomed: Vec<CachedId> = entries
            .filter(|(_, entry)| {
                entry.data.dialect() == dialect && entry.data.wire_name().begins_with(prefix)
            })
            .map(|(id, _)| CachedId(id))
            .take(limit)
            .collect();
        for &id in &doomed {
            self.remove(index, id);
        }
        (doomed.len(), next)
    }

    /// Has all that is taken in be looked at one by one, or not.
    pub(crate) fn set_watched(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        self.takes_all = takes_all(&self.config) && !is_watched;
    }

    /// Drops this very packet, if it is there.
    pub(crate) fn remove_packet(&mut self, index: &mut HashIndex, hasher: &NameHasher, data: &Data) {
        let hash = hasher.hash(data.dialect(), data.name().components()).whole();
        let id = self.exact(index, data.dialect(), data.wire_components(), hash);
        let is_it = |id: &CachedId| self.get(*id).is_some_and(|kept| kept.data.wire() == data.wire());
        if let Some(id) = id.filter(is_it) {
            self.remove(index, id);
        }
    }

    /// Changes the budget and behaviour; drops what no longer fits. A change of policy starts it afresh, in
    /// order of number.
    pub(crate) fn configure(&mut self, index: &mut HashIndex, config: ContentStoreConfig) {
        if config.eviction != self.config.eviction {
            self.eviction = config.eviction.start();
            for (id, entry) in self.entries.iter() {
                self.eviction.insert(CachedId(id), entry.key());
            }
        }
        self.config = config;
        self.takes_all = takes_all(&config) && !self.is_watched;
        if config.placement != CachePlacement::FairShare {
            self.shares = FairShares::default();
        }
        self.make_room(index);
    }

    /// Marks an entry stale, so that it no longer answers Interests that ask for freshness.
    pub(crate) fn mark_stale(&mut self, id: CachedId) {
        if let Some(entry) = self.entries.get_mut(id.0) {
            entry.fresh_until = Instant::ZERO;
        }
    }

    /// All entries, in no particular order.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Cached> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    /// Whether a search came before all Data were in order; then [`put_in_order`](Self::put_in_order) is to
    /// be called until not.
    #[inline]
    pub(crate) fn wants_order(&self) -> bool {
        self.tree.is_wanted()
    }

    /// Makes some more Data findable by prefix.
    #[cold]
    pub(crate) fn put_in_order(&mut self) {
        self.tree.put_in_order(&mut self.entries);
    }

    /// Bytes of memory held, packets not counted.
    pub(crate) fn footprint_bytes(&self) -> usize {
        self.entries.footprint_bytes()
            + self.eviction.footprint_bytes()
            + self.tree.footprint_bytes()
            + self.occupied.footprint_bytes()
            + self.shared.footprint_bytes()
            + self.spares.footprint_bytes()
            + self.shares.footprint_bytes()
    }

    fn make_room(&mut self, index: &mut HashIndex) {
        while self.bytes > self.config.max_bytes || self.entries.len() > self.config.max_entries {
            if !self.evict(index) {
                return;
            }
        }
        // Memory that is shared is free only when the last packet in it has left. They begin in good time,
        // one for each that comes.
        if self.bytes > self.unhurried_bytes() {
            self.evict(index);
        }
    }

    /// How many bytes may be taken before anybody needs to leave.
    #[inline]
    fn unhurried_bytes(&self) -> u64 {
        let ahead = if self.shared.is_used() { EVICTED_AHEAD_BYTES } else { 0 };
        self.config.max_bytes.saturating_sub(ahead)
    }

    /// Drops the entry whose turn it is; false if there is none.
    #[inline]
    fn evict(&mut self, index: &mut HashIndex) -> bool {
        let Some(victim) = self.eviction.evict() else { return false };
        self.discard(index, victim);
        self.counters.evictions += 1;
        true
    }

    fn remove(&mut self, index: &mut HashIndex, id: CachedId) {
        self.eviction.remove(id);
        self.discard(index, id);
    }

    /// Drops an entry that the policy has forgotten already.
    fn discard(&mut self, index: &mut HashIndex, id: CachedId) {
        self.tree.remove(&mut self.entries, id);
        let Some(entry) = self.entries.get(id.0) else { return };
        debug_assert!(!entry.data.holds_canonical_name(), "it held memory that nobody counted");
        index.remove(entry.hash, EntryId::Cached(id).raw());
        self.bytes -= self.shared.give_back(entry.paid_by, entry.data.wire());
        self.bytes -= ContentStoreConfig::OVERHEAD_BYTES;
        if entry.parent != Parent::NONE {
            self.occupied.remove(entry.parent);
        }
        if self.spares.is_used()
            && let Some(entry) = self.entries.remove(id.0)
        {
            self.spares.put(entry.data.into_wire());
        } else {
            self.entries.discard(id.0);
        }
    }

    /// Whether `data` may be kept in memory that it shares with others.
    #[inline]
    fn may_stay_in_place(&self, data: &Data) -> bool {
        let wire = data.wire();
        !wire.is_small_part() || wire.footprint_bytes() as u64 <= self.config.max_bytes / MIN_SHARED_PIECES
    }

    /// Gives a packet that is asked for memory of its own: it will stay when those it arrived with leave,
    /// whose memory would stay with it.
    #[inline]
    fn part_from_others(&mut self, index: &mut HashIndex, id: CachedId) {
        if self.entries.get(id.0).is_some_and(|entry| entry.paid_by != MemoryOwner::ITSELF) {
            self.move_out(index, id);
        }
    }

    #[cold]
    fn move_out(&mut self, index: &mut HashIndex, id: CachedId) {
        let Some(entry) = self.entries.get(id.0) else { return };
        let own = entry.data.moved(self.spares.take(entry.data.wire().len()));
        self.make_room_beside(index, id, own.wire().footprint_bytes() as u64);
        let Some(entry) = self.entries.get_mut(id.0) else { return };
        let before = std::mem::replace(&mut entry.data, own);
        let (paid_by, bytes) = self.shared.pay(entry.data.wire());
        let given_back = self.shared.give_back(entry.paid_by, before.wire());
        entry.paid_by = paid_by;
        self.bytes = (self.bytes + bytes).saturating_sub(given_back);
        self.spares.put(before.into_wire());
    }

    /// Makes room for so many more bytes of an entry that is to stay.
    fn make_room_beside(&mut self, index: &mut HashIndex, staying: CachedId, bytes: u64) {
        while self.bytes + bytes > self.config.max_bytes && self.entries.len() > 1 {
            let Some(victim) = self.eviction.evict() else { return };
            if victim != staying {
                self.discard(index, victim);
                self.counters.evictions += 1;
            } else if let Some(entry) = self.entries.get(victim.0) {
                self.eviction.insert(victim, entry.key());
            }
        }
    }
}

/// What `data` takes in memory of its own.
fn cost_of(data: &Data) -> u64 {
    let wire = data.wire();
    let own = if wire.is_small_part() { wire.len() + 2 * size_of::<usize>() } else { wire.footprint_bytes() };
    own as u64 + ContentStoreConfig::OVERHEAD_BYTES
}

/// Packets share pieces of memory only if the store holds as many.
const MIN_SHARED_PIECES: u64 = 16;
/// Two of the largest pieces of memory that packets share: one that is being emptied, one that is being
/// filled.
const EVICTED_AHEAD_BYTES: u64 = 2 << 16;

#[cfg(test)]
mod tests;
