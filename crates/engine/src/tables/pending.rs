//! Interests that wait for their Data.

use packet::time::{Duration, Instant};
use packet::{Dialect, Interest, NackReason, NameHash, NameHasher, NameRef, Nonce, PitToken};
use smallvec::SmallVec;

use super::chunked::Slab;
use super::entry_id::EntryId;
pub(crate) use super::entry_id::PendingId;
use super::hash_index::HashIndex;
use super::other_lengths::{LengthKey, OtherLengths};
use super::timer_wheel::{TimerStep, TimerWheel};
use crate::face_id::FaceId;

/// Entries under one name that differ in their forwarding hints, selectors of CCNx, or few hops, at most:
/// each costs every Data of that name a look. Those that have none of these always have a place, and are
/// four at most.
pub(crate) const MAX_VARIANTS: usize = 32;

/// Interests that may go fewer hops than this are joined only with those that may go as many. Where an
/// Interest dies on its way, one that could have gone on is not to wait for it.
const FEW_HOPS: u8 = 16;
/// Bits of a tag that say how many: one value for each, and one for enough.
const HOPS_BITS: u32 = 5;

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
    /// It leads to an application on this host.
    pub is_local: bool,
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
    /// The link is shared, and the Interest waits there, or was left to another node to send.
    pub is_unsent: bool,
}

/// A few words that the entry's strategy may use as it likes. Zero at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrategyInfo {
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
    /// In CCNx the hash of the longest known prefix of the name: what the content store must know of a Data
    /// that answers this, beside its own.
    pub(crate) parent: NameHash,
    pub(crate) in_records: SmallVec<[InRecord; 1]>,
    pub(crate) out_records: SmallVec<[OutRecord; 1]>,
    pub(crate) strategy_info: StrategyInfo,
    /// When the last face stops waiting.
    pub(crate) expires: Instant,
    /// When the strategy wants to be called; `NEVER` if it does not.
    pub(crate) strategy_timer: Instant,
    pub(crate) satisfied: bool,
    /// Whether the strategy is to be shown the Data.
    pub(crate) watches_data: bool,
    /// Whether it was sent where its forwarding hint leads, and not where its name does.
    pub(crate) is_hinted: bool,
    /// Whether it waits for the second store, and was sent nowhere yet.
    pub(crate) asks_store: bool,
    /// Whether the second store is to be asked if upstream fails.
    pub(crate) may_turn_to_store: bool,
    /// Whether its name is one of this host alone, which only CCNx has rules for.
    pub(crate) stays_on_host: bool,
    /// Given to the Data that is known to answer this.
    ticket: u32,
    tag: VariantTag,
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

    #[inline]
    pub(crate) fn out_record_mut(&mut self, face: FaceId) -> Option<&mut OutRecord> {
        self.out_records.iter_mut().find(|record| record.face == face)
    }

    /// Whether somebody was sent the Interest and may still answer.
    pub(crate) fn is_under_way(&self, now: Instant) -> bool {
        self.out_records.iter().any(|record| record.nacked.is_none() && record.expires > now)
    }
}

/// The hashes that an entry is found by.
pub(crate) struct EntryHashes {
    /// Of its name.
    pub(crate) own: NameHash,
    /// Of the name without its last component, in CCNx.
    pub(crate) parent: NameHash,
}

/// The table has no room for an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Stands for an Interest's [distinguishing bytes](Interest::distinguishing_bytes), which are long and have
/// to be searched for in the packet, and for the hops it has left if they are few: where tags differ, these
/// do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VariantTag(u32);

/// The table of pending Interests.
#[derive(Debug)]
pub(crate) struct PendingTable {
    entries: Slab<Pending>,
    timers: TimerWheel,
    max_entries: u32,
    /// What the pending Interests take, by [`cost_of`], and may take.
    bytes: u64,
    max_bytes: u64,
    /// Those that Data of other names may answer.
    pub(crate) others: OtherLengths,
    hasher: NameHasher,
    tag_key: u64,
    /// The last ticket given.
    ticket: u32,
}

/// The ticket of an entry that none was given for.
const NO_TICKET: u32 = 0;

/// What a pending Interest takes: its packet, and its entry with its places in index and timers.
fn cost_of(interest: &Interest) -> u64 {
    interest.wire().footprint_bytes() as u64 + PENDING_OVERHEAD_BYTES
}

/// Whether an Interest is one of those variants of its name whose number is limited.
pub(crate) fn is_variant(interest: &Interest) -> bool {
    match interest.dialect() {
        Dialect::Ndn => interest.has_forwarding_hint() || few_hops(interest).is_some(),
        Dialect::Ccnx => interest.has_selectors(),
    }
}

/// The hops that an Interest has left, if they are few.
#[inline]
fn few_hops(interest: &Interest) -> Option<u8> {
    interest.hop_limit().filter(|&hops| hops < FEW_HOPS)
}

const PENDING_OVERHEAD_BYTES: u64 = 280;

/// Entries that one Data satisfies. The last stands by itself: mostly it is the only one, and nobody has to
/// look into a list.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    before: SmallVec<[PendingId; 4]>,
    last: Option<PendingId>,
}

impl Matches {
    #[inline(always)]
    pub(crate) fn push(&mut self, id: PendingId) {
        if let Some(before) = self.last.replace(id) {
            self.before.push(before);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// The last, and those before it.
    #[inline(always)]
    pub(crate) fn split_last(&self) -> Option<(PendingId, &[PendingId])> {
        Some((self.last?, &self.before))
    }

    /// All of them, in the order in which they were found.
    pub(crate) fn iter(&self) -> impl Iterator<Item = PendingId> {
        self.before.iter().copied().chain(self.last)
    }

    /// Those that `keeps` says yes to.
    pub(crate) fn retain(&mut self, keeps: impl Fn(PendingId) -> bool) {
        let mut kept = Matches::default();
        self.iter().filter(|id| keeps(*id)).for_each(|id| kept.push(id));
        *self = kept;
    }
}

/// Entries of one name.
pub(crate) type Variants = SmallVec<[PendingId; MAX_VARIANTS]>;

impl PendingTable {
    pub(crate) fn new(max_entries: u32, max_bytes: u64, hasher: NameHasher) -> Self {
        PendingTable {
            entries: Slab::default(),
            timers: TimerWheel::default(),
            // One bit of a number says that it belongs to the content store.
            max_entries: max_entries.min(1 << 30),
            bytes: 0,
            max_bytes,
            others: OtherLengths::default(),
            tag_key: hasher.hash(Dialect::Ndn, NameRef::ROOT.components()).whole().0,
            hasher,
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

    /// Says whether the Interest of an entry waits at `face`, whose link is shared, or was sent.
    pub(crate) fn mark_unsent(&mut self, id: PendingId, face: FaceId, is_unsent: bool) {
        if let Some(record) = self.get_mut(id).and_then(|entry| entry.out_record_mut(face)) {
            record.is_unsent = is_unsent;
        }
    }

    /// Lets `see` look at entry `id`, if there is one, and a ticket for the Data that turns out to answer it.
    /// Those that were given for it before lose their worth.
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

    /// The entry that the Data answers that `ticket` was given to; `None` if it has gone since.
    #[inline]
    pub(crate) fn by_ticket(&self, id: PendingId, ticket: u32) -> Option<&Pending> {
        self.get(id).filter(|entry| entry.ticket == ticket)
    }

    /// One more than the largest number an entry has.
    pub(crate) fn slot_count(&self) -> u32 {
        self.entries.slot_count()
    }

    /// Some entry, each as likely as any other; `None` if the drawn number is free.
    pub(crate) fn at_random(&self, draw: u64) -> Option<PendingId> {
        let number = ((u128::from(draw) * u128::from(self.entries.slot_count())) >> 64) as u32;
        self.entries.get(number).map(|_| PendingId(number))
    }

    /// Whether entry `id` is for the same Data as `interest`, so that the two can be one.
    #[inline]
    pub(crate) fn is(&self, id: PendingId, interest: &Interest, hash: NameHash, tag: VariantTag) -> bool {
        self.entries.get(id.0).is_some_and(|entry| {
            entry.hash == hash
                && entry.tag == tag
                && entry.interest.dialect() == interest.dialect()
                && entry.interest.can_be_prefix() == interest.can_be_prefix()
                && entry.interest.must_be_fresh() == interest.must_be_fresh()
                && entry.interest.wire_components() == interest.wire_components()
                && entry.interest.distinguishing_bytes() == interest.distinguishing_bytes()
        })
    }

    /// The tag of an Interest.
    #[inline(always)]
    pub(crate) fn tag_of(&self, interest: &Interest) -> VariantTag {
        self.tag_with_hops(interest, few_hops(interest))
    }

    /// The tag that an Interest had before a hop was taken from those it has left; `None` if it says no
    /// number of hops, or as many as make no difference.
    #[cold]
    pub(crate) fn tag_a_hop_ago(&self, interest: &Interest) -> Option<VariantTag> {
        let hops = few_hops(interest)? + 1;
        Some(self.tag_with_hops(interest, Some(hops).filter(|&hops| hops < FEW_HOPS)))
    }

    #[inline(always)]
    fn tag_with_hops(&self, interest: &Interest, few: Option<u8>) -> VariantTag {
        let of_bytes = if interest.has_forwarding_hint() || interest.has_selectors() {
            self.tag_of_bytes(interest.distinguishing_bytes())
        } else {
            0
        };
        // The lowest bits say how many hops, and zero that there are enough.
        let hops = few.map_or(0, |hops| u32::from(hops) + 1);
        VariantTag(of_bytes << HOPS_BITS | hops)
    }

    /// One pass over `bytes`, eight at a time, mixed with what nobody outside knows.
    #[inline(never)]
    fn tag_of_bytes(&self, bytes: &[u8]) -> u32 {
        let mixed = bytes.chunks(8).fold(self.tag_key ^ bytes.len() as u64, |state, chunk| {
            let word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            let wide = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15;
            self.tag_key ^ wide as u64 ^ (wide >> 64) as u64
        });
        (mixed ^ mixed >> 32) as u32
    }

    /// Adds an entry that one face waits for. The caller has made sure that none exists for the same Data.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        index: &mut HashIndex,
        interest: &Interest,
        EntryHashes { own: hash, parent }: EntryHashes,
        tag: VariantTag,
        first: InRecord,
    ) -> Result<PendingId, Full> {
        if self.is_full_for(interest) {
            return Err(Full);
        }
        let key = LengthKey::of(interest, hash, &self.hasher);
        self.bytes += cost_of(interest);
        let Some(vacant) = self.entries.vacant() else { return Err(Full) };
        let id = vacant.fill(Pending {
            interest: interest.clone(),
            hash,
            parent,
            expires: first.expires,
            in_records: SmallVec::from_buf([first]),
            out_records: SmallVec::new(),
            strategy_info: StrategyInfo::default(),
            strategy_timer: Instant::NEVER,
            satisfied: false,
            watches_data: false,
            is_hinted: false,
            asks_store: false,
            may_turn_to_store: false,
            stays_on_host: false,
            ticket: NO_TICKET,
            tag,
            data_freshness: Duration::ZERO,
        });
        index.insert(hash, EntryId::Pending(PendingId(id)).raw());
        if let Some(key) = key {
            self.others.insert(key, PendingId(id));
        }
        Ok(PendingId(id))
    }

    /// The entries under the name with this hash whose number is limited.
    #[cold]
    pub(crate) fn variants(&self, index: &HashIndex, hash: NameHash) -> Variants {
        let variant = |id: u32| match EntryId::from_raw(id) {
            EntryId::Pending(id) => self
                .get(id)
                .is_some_and(|entry| entry.hash == hash && is_variant(&entry.interest))
                .then_some(id),
            EntryId::Cached(_) => None,
        };
        index.candidates(hash).filter_map(variant).collect()
    }

    /// Removes an entry.
    #[inline(always)]
    pub(crate) fn remove(&mut self, index: &mut HashIndex, id: PendingId) {
        let Some(entry) = self.entries.get(id.0) else { return };
        index.remove(entry.hash, EntryId::Pending(id).raw());
        let key = LengthKey::of(&entry.interest, entry.hash, &self.hasher);
        self.bytes -= cost_of(&entry.interest);
        if let Some(key) = key {
            self.others.remove(key, id);
        }
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
        self.timers.schedule(id.0, deadline);
    }

    /// Takes one entry whose timer has run out; call until it gives `None`: nothing more may be done in this
    /// step.
    pub(crate) fn pop_due(&mut self, now: Instant, step: &mut TimerStep) -> Option<PendingId> {
        self.timers.pop_due(now, step).map(PendingId)
    }

    /// When [`PendingTable::pop_due`] should be called next.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Instant {
        self.timers.next_deadline()
    }

    /// Entries whose names have `prefix`. Looks at every entry.
    pub(crate) fn under(&self, dialect: Dialect, prefix: NameRef<'_>) -> Vec<PendingId> {
        self.entries
            .iter()
            .filter(|(_, entry)| {
                let interest = &entry.interest;
                interest.dialect() == dialect && interest.wire_name().begins_with(prefix)
            })
            .map(|(id, _)| PendingId(id))
            .collect()
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
            crate::batch::processor::prefetch_start(entry.interest.wire());
        }
    }

    /// Bytes of memory held, packets not counted.
    pub(crate) fn footprint_bytes(&self) -> usize {
        self.entries.footprint_bytes() + self.timers.footprint_bytes() + self.others.footprint_bytes()
    }

    /// All entries, in no particular order.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.entries.iter().map(|(_, entry)| entry)
    }
}
