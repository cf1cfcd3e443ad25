//! Interests that wait for their Data.

use packet::time::{Duration, Instant};
use packet::{
    Data, Dialect, Interest, NackReason, NameHash, NameHasher, NameRef, Nonce, PitToken, PrefixHashes,
};
use smallvec::SmallVec;

use super::chunked::Slab;
use super::entry_id::EntryId;
use super::hash_index::HashIndex;
use super::timer_wheel::TimerWheel;
use crate::face::FaceId;

/// Number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PendingId(pub(crate) u32);

/// Entries under one name that differ in their selectors, at most. More are refused, for each costs every Data of that name a
/// look.
pub(crate) const MAX_VARIANTS: usize = 32;

/// Faces that wait for one Interest, or that it was sent to, at most.
pub(crate) const MAX_RECORDS: usize = 256;

/// A face that waits for the Data.
#[derive(Clone, Debug)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// Nonce of the last Interest it sent.
    pub nonce: Nonce,
    /// Until when it waits.
    pub expires: Instant,
    /// What it wants back with the Data.
    pub pit_token: PitToken,
    /// It asked not to flood the Interest, for it knows a route.
    pub non_discovery: bool,
}

/// A face the Interest was sent to.
#[derive(Clone, Copy, Debug)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// Nonce of the last Interest sent.
    pub nonce: Nonce,
    /// When that was.
    pub sent_at: Instant,
    /// Until when an answer counts.
    pub expires: Instant,
    /// For strategies that suppress retransmissions for each upstream: how long after `sent_at`.
    pub suppress_for: Duration,
    /// The Nack it answered with.
    pub nacked: Option<NackReason>,
    /// It was asked not to flood the Interest.
    pub non_discovery: bool,
}

/// A few words that the entry's strategy may use as it likes. Zero at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrategyNotes {
    /// A time, in nanoseconds since the origin.
    pub instant: Instant,
    /// A span of time.
    pub span: Duration,
    /// Anything.
    pub number: u32,
}

/// One pending Interest.
#[derive(Debug)]
pub(crate) struct Pending {
    /// As first received.
    pub(crate) interest: Interest,
    hash: NameHash,
    pub(crate) in_records: SmallVec<[InRecord; 1]>,
    pub(crate) out_records: SmallVec<[OutRecord; 1]>,
    pub(crate) notes: StrategyNotes,
    /// When the last face stops waiting.
    pub(crate) expires: Instant,
    /// When the strategy wants to be called; `NEVER` if it does not.
    pub(crate) strategy_timer: Instant,
    pub(crate) satisfied: bool,
    /// Whether the strategy is to be shown the Data.
    pub(crate) watches_data: bool,
    /// Given to the Data that is known to answer this.
    ticket: u32,
    /// For a satisfied entry: how fresh the Data was.
    pub(crate) data_freshness: Duration,
}

impl Pending {
    /// Hash of the name.
    #[inline]
    pub(crate) fn hash(&self) -> NameHash {
        self.hash
    }

    /// The name that routes are looked up by is the Interest's own.
    #[inline]
    pub(crate) fn name(&self) -> NameRef<'_> {
        self.interest.name()
    }

    /// When something is to be done about it.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.expires.min(self.strategy_timer)
    }

    #[inline]
    pub(crate) fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.out_records.iter().find(|record| record.face == face)
    }
}

/// Why an Interest found no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    TooManyVariants,
    Full,
}

/// The table of pending Interests.
#[derive(Debug)]
pub(crate) struct PendingTable {
    entries: Slab<Pending>,
    timers: TimerWheel,
    /// The soonest deadline that was set since [`PendingTable::take_soonest`] was last called.
    soonest: Instant,
    max_entries: u32,
    /// What the pending Interests take, by [`cost_of`], and may take.
    bytes: u64,
    max_bytes: u64,
    /// How many entries of each dialect can be answered by a longer name, by number of components; the last
    /// element counts all longer ones.
    prefix_depths: [[u32; DEPTHS]; 2],
    /// How many those are, of all lengths.
    prefixes: [u32; 2],
    /// How many entries end in what may be a digest, by number of components.
    digest_depths: [[u32; DEPTHS]; 2],
    /// How many those are, of all lengths.
    digests: [u32; 2],
    /// The last ticket given.
    ticket: u32,
}

/// The ticket of an entry that none was given for.
const NO_TICKET: u32 = 0;

const DEPTHS: usize = 65;

fn depth(component_count: usize) -> usize {
    component_count.min(DEPTHS - 1)
}

/// What a pending Interest takes: its packet, and its entry with its places in index and timers.
fn cost_of(interest: &Interest) -> u64 {
    interest.wire().footprint_bytes() as u64 + PENDING_OVERHEAD_BYTES
}

const PENDING_OVERHEAD_BYTES: u64 = 280;

/// What the counts by number of components need to know of an Interest.
#[derive(Clone, Copy)]
struct DepthKey {
    dialect: usize,
    depth: usize,
    can_be_prefix: bool,
    may_name_digest: bool,
}

impl DepthKey {
    /// `None` for most: those that ask for Data of just their name.
    #[inline(always)]
    fn of(interest: &Interest) -> Option<Self> {
        let (can_be_prefix, may_name_digest) =
            (interest.can_be_prefix(), interest.implicit_digest().is_some());
        (can_be_prefix || may_name_digest).then(|| DepthKey {
            dialect: interest.dialect() as usize,
            depth: depth(interest.component_count()),
            can_be_prefix,
            may_name_digest,
        })
    }
}

/// Entries that one Data satisfies.
pub(crate) type Matches = SmallVec<[PendingId; 4]>;

impl PendingTable {
    pub(crate) fn new(max_entries: u32, max_bytes: u64) -> Self {
        PendingTable {
            entries: Slab::default(),
            timers: TimerWheel::default(),
            soonest: Instant::NEVER,
            // One bit of a number says that it belongs to the content store.
            max_entries: max_entries.min(1 << 30),
            bytes: 0,
            max_bytes,
            prefix_depths: [[0; DEPTHS]; 2],
            prefixes: [0; 2],
            digest_depths: [[0; DEPTHS]; 2],
            digests: [0; 2],
            ticket: NO_TICKET,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len()
    }

    /// Whether there is no room for `interest`, in entries or in bytes.
    #[inline]
    pub(crate) fn is_full_for(&self, interest: &Interest) -> bool {
        self.entries.len() >= self.max_entries || self.bytes + cost_of(interest) > self.max_bytes
    }

    /// Bytes counted against the budget.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(crate) fn get(&self, id: PendingId) -> Option<&Pending> {
        self.entries.get(id.0)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PendingId) -> Option<&mut Pending> {
        self.entries.get_mut(id.0)
    }

    /// Lets `see` look at entry `id`, if there is one, and a ticket for the Data that turns out to answer it. Those that were given for it
    /// before lose their worth.
    #[inline(always)]
    pub(crate) fn with_ticket<R>(
        &mut self,
        id: PendingId,
        see: impl FnOnce(&Pending, u32) -> R,
    ) -> Option<R> {
        let entry = self.entries.get_mut(id.0)?;
        self.ticket = self.ticket.wrapping_add(1).max(NO_TICKET + 1);
        entry.ticket = self.ticket;
        Some(see(entry, self.ticket))
    }

    /// The hash of the name of the Data that `ticket` was given to; `None` if the entry has gone since.
    #[inline]
    pub(crate) fn hash_by_ticket(&self, id: PendingId, ticket: u32) -> Option<NameHash> {
        self.get(id).filter(|entry| entry.ticket == ticket).map(Pending::hash)
    }

    /// Some entry, each as likely as any other; `None` if the drawn number is free.
    pub(crate) fn at_random(&self, draw: u64) -> Option<PendingId> {
        let number = ((u128::from(draw) * u128::from(self.entries.slot_count())) >> 64) as u32;
        self.entries.get(number).map(|_| PendingId(number))
    }

    /// Whether entry `id` is for the same Data as `interest`, so that the two can be one.
    #[inline]
    pub(crate) fn is(&self, id: PendingId, interest: &Interest, hash: NameHash) -> bool {
        self.entries.get(id.0).is_some_and(|entry| {
            entry.hash == hash
                && entry.interest.dialect() == interest.dialect()
                && entry.interest.can_be_prefix() == interest.can_be_prefix()
                && entry.interest.must_be_fresh() == interest.must_be_fresh()
                && entry.interest.name() == interest.name()
                && entry.interest.distinguishing_bytes() == interest.distinguishing_bytes()
        })
    }

    /// Adds an entry that one face waits for. The caller has made sure that none exists for the same Data.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        index: &mut HashIndex,
        interest: &Interest,
        hash: NameHash,
        first: InRecord,
    ) -> Result<PendingId, Refused> {
        if self.is_full_for(interest) {
            return Err(Refused::Full);
        }
        // Made before it is moved to where it stays: at once would make the processor wait.
        let own = interest.clone();
        // The first question is the cheaper one.
        if index.has_more_than(MAX_VARIANTS - 1, hash) && self.has_all_variants(index, hash) {
            return Err(Refused::TooManyVariants);
        }
        self.count_depths(DepthKey::of(interest), 1);
        self.bytes += cost_of(interest);
        let expires = first.expires;
        let id = self.entries.insert(Pending {
            interest: own,
            hash,
            expires,
            in_records: SmallVec::new(),
            out_records: SmallVec::new(),
            notes: StrategyNotes::default(),
            strategy_timer: Instant::NEVER,
            satisfied: false,
            watches_data: false,
            ticket: NO_TICKET,
            data_freshness: Duration::ZERO,
        });
        // Not part of what is made above, which would be moved there once more for that.
        if let Some(entry) = self.entries.get_mut(id) {
            entry.in_records.push(first);
        }
        index.insert(hash, EntryId::Pending(PendingId(id)).raw());
        Ok(PendingId(id))
    }

    /// Whether as many entries under the name with this hash are pending as may be.
    #[cold]
    fn has_all_variants(&self, index: &HashIndex, hash: NameHash) -> bool {
        let is_variant = |id: &u32| match EntryId::from_raw(*id) {
            EntryId::Pending(id) => self.entries.get(id.0).is_some_and(|entry| entry.hash == hash),
            EntryId::Cached(_) => false,
        };
        index.candidates(hash).filter(is_variant).count() >= MAX_VARIANTS
    }

    /// Removes an entry.
    #[inline(always)]
    pub(crate) fn remove(&mut self, index: &mut HashIndex, id: PendingId) {
        let Some(entry) = self.entries.get(id.0) else { return };
        index.remove(entry.hash, EntryId::Pending(id).raw());
        let key = DepthKey::of(&entry.interest);
        self.bytes -= cost_of(&entry.interest);
        self.count_depths(key, u32::MAX);
        self.timers.cancel(id.0);
        self.entries.discard(id.0);
    }

    /// Sets the entry's timer by its own deadlines.
    #[inline]
    pub(crate) fn schedule(&mut self, id: PendingId) {
        if let Some(entry) = self.entries.get(id.0) {
            self.schedule_at(id, entry.deadline());
        }
    }

    /// The same for whoever has the entry at hand and asks it for its [`deadline`](Pending::deadline).
    #[inline]
    pub(crate) fn schedule_at(&mut self, id: PendingId, deadline: Instant) {
        self.soonest = self.soonest.min(deadline);
        self.timers.schedule(id.0, deadline);
    }

    /// The soonest deadline that was set since the last call.
    #[inline]
    pub(crate) fn take_soonest(&mut self) -> Instant {
        std::mem::replace(&mut self.soonest, Instant::NEVER)
    }

    /// Takes one entry whose timer has run out; call until it gives `None`.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<PendingId> {
        self.timers.pop_due(now).map(PendingId)
    }

    /// When [`PendingTable::pop_due`] should be called next.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.timers.next_deadline()
    }

    /// Entries that `data` satisfies, other than those of its exact name, which the caller finds by the name's hash.
    #[inline(always)]
    pub(crate) fn matches_of_other_lengths(
        &self,
        index: &HashIndex,
        hasher: &NameHasher,
        data: &Data,
        hashes: Option<&PrefixHashes>,
        matches: &mut Matches,
    ) {
        let dialect = data.dialect() as usize;
        if self.prefixes[dialect] > 0 || self.digests[dialect] > 0 {
            self.look_at_other_lengths(index, hasher, data, hashes, matches);
        }
    }

    fn look_at_other_lengths(
        &self,
        index: &HashIndex,
        hasher: &NameHasher,
        data: &Data,
        hashes: Option<&PrefixHashes>,
        matches: &mut Matches,
    ) {
        let dialect = data.dialect();
        let count = data.component_count();
        let counts = &self.prefix_depths[dialect as usize];
        let lengths = if self.prefixes[dialect as usize] > 0 { 0..count } else { 0..0 };
        for length in lengths {
            if counts[depth(length)] == 0 {
                continue;
            }
            let name = data.name().prefix(length);
            let hash = hashes
                .and_then(|hashes| hashes.prefix(length))
                .unwrap_or_else(|| hasher.hash(dialect, name.components()).whole());
            self.collect(index, hash, data, name, matches);
        }
        if self.digest_depths[dialect as usize][depth(count + 1)] > 0 {
            self.collect_by_digest(index, hasher, data, matches);
        }
    }

    /// Adds the entries under `name` that `data` satisfies.
    fn collect(
        &self,
        index: &HashIndex,
        hash: NameHash,
        data: &Data,
        name: NameRef<'_>,
        matches: &mut Matches,
    ) {
        for id in index.candidates(hash) {
            let EntryId::Pending(id) = EntryId::from_raw(id) else { continue };
            let fits = self.entries.get(id.0).is_some_and(|entry| {
                entry.hash == hash && entry.name() == name && entry.interest.matches(data)
            });
            if fits {
                matches.push(id);
            }
        }
    }

    #[cold]
    fn collect_by_digest(&self, index: &HashIndex, hasher: &NameHasher, data: &Data, matches: &mut Matches) {
        let digest = data.implicit_digest();
        let last = match data.dialect() {
            Dialect::Ndn => packet::Component::new(packet::ComponentKind::IMPLICIT_DIGEST, &digest),
            Dialect::Ccnx => packet::Component::generic(&digest),
        };
        // Only a name at the very limit of length has no full name, and no Interest can ask for it then.
        let Ok(full) = data.name().to_name().with(last) else { return };
        let hash = hasher.hash(data.dialect(), full.components()).whole();
        self.collect(index, hash, data, full.as_ref(), matches);
    }

    /// Entries whose names have `prefix`. Looks at every entry.
    pub(crate) fn under(&self, dialect: Dialect, prefix: NameRef<'_>) -> Vec<PendingId> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.interest.dialect() == dialect && prefix.is_prefix_of(entry.name()))
            .map(|(id, _)| PendingId(id))
            .collect()
    }

    /// Counts an Interest that came (`change` is 1) or left (-1, wrapped).
    #[inline(always)]
    fn count_depths(&mut self, key: Option<DepthKey>, change: u32) {
        if let Some(key) = key {
            self.count_depth(key, change);
        }
    }

    fn count_depth(&mut self, key: DepthKey, change: u32) {
        let DepthKey { dialect, depth, can_be_prefix, may_name_digest } = key;
        if can_be_prefix {
            self.prefixes[dialect] = self.prefixes[dialect].wrapping_add(change);
            self.prefix_depths[dialect][depth] = self.prefix_depths[dialect][depth].wrapping_add(change);
        }
        if may_name_digest {
            self.digests[dialect] = self.digests[dialect].wrapping_add(change);
            self.digest_depths[dialect][depth] = self.digest_depths[dialect][depth].wrapping_add(change);
        }
    }

    /// Hints that entry `id` will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: PendingId) {
        self.entries.prefetch(id.0);
        self.timers.prefetch(id.0);
    }

    /// Hints that the name of entry `id`, itself hinted at before, will be read soon.
    #[inline]
    pub(crate) fn prefetch_name(&self, id: PendingId) {
        if let Some(entry) = self.entries.get(id.0) {
            crate::processor::prefetch_start(entry.interest.wire());
        }
    }

    /// Bytes of memory held, packets not counted.
    pub(crate) fn footprint_bytes(&self) -> usize {
        self.entries.footprint_bytes() + self.timers.footprint_bytes()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.entries.iter().map(|(_, entry)| entry)
    }
}
