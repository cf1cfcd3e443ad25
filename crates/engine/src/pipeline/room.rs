//! Who makes room where something is full: the one that holds most, and never for one that holds as much.
//! Faces of one origin hold together, for one address has many ports.

use packet::time::Instant;
use packet::{Interest, NackReason};
use smallvec::SmallVec;

use crate::arrival::Arrival;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face::Holder;
use crate::face_id::FaceId;
use crate::tables::pending::{InRecord, MAX_RECORDS, MAX_VARIANTS, PendingId, is_variant};

/// Of the entries of a full table so many are looked at …
const ENTRIES_SEEN: usize = 16;
/// … for which so many numbers are drawn: a table that is full of large Interests has few in use, if many
/// small ones were in it before.
const MAX_DRAWS: usize = 256;
/// Of those who wait for a variant so many are looked at.
const WAITING_SEEN: usize = 4;

impl Engine {
    /// Makes room in a full table for an Interest of `face` at the cost of a face that holds more; false if
    /// none of those looked at does.
    ///
    /// Looks at some entries drawn at random. A face that holds most of the table is found by the first or
    /// second, and no list of whose Interests are whose has to be kept.
    #[cold]
    pub(super) fn evict_for(&mut self, now: Instant, face: FaceId) -> bool {
        let own = self.faces.load(face);
        // Nobody holds more than who holds half.
        if own >= self.tables.pending.len().div_ceil(2) {
            return false;
        }
        let (mut heaviest, mut seen) = (None, 0);
        for _ in 0..MAX_DRAWS {
            let draw = self.random.next_u64();
            let Some(id) = self.tables.pending.at_random(draw) else { continue };
            seen += 1;
            if seen > ENTRIES_SEEN {
                break;
            }
            let records = self.tables.pending.get(id).into_iter().flat_map(|entry| &entry.in_records);
            let waiting = records.map(|record| self.faces.load(record.face)).min();
            // Nobody waits for an entry without records.
            let weight = waiting.unwrap_or(u32::MAX);
            if weight > own.saturating_add(1) && heaviest.is_none_or(|(other, _)| weight > other) {
                heaviest = Some((weight, id));
            }
        }
        let Some((_, id)) = heaviest else { return false };
        self.evict(now, id, DropReason::PendingEvicted);
        true
    }

    /// Tells all who wait for an entry, and forgets it.
    fn evict(&mut self, now: Instant, id: PendingId, reason: DropReason) {
        self.nack_all(id, NackReason::Congestion);
        self.counters.drops.count(reason);
        self.finish(now, id);
    }

    /// Makes room among the variants of one name for an Interest of `face`; false if there is none for it.
    ///
    /// Variants that nobody waits for go first, then those of a face that holds more of them than `face`,
    /// then one of its own.
    #[cold]
    pub(super) fn make_room_for_variant(&mut self, arrival: Arrival<'_>, interest: &Interest) -> bool {
        let Arrival { now, face, hashes, .. } = arrival;
        // There are four of these at most, and nobody may keep them out.
        if !is_variant(interest) {
            return true;
        }
        let variants = self.tables.pending.variants(&self.tables.index, hashes.whole());
        if variants.len() < MAX_VARIANTS {
            return true;
        }
        let waiting: SmallVec<[SmallVec<[Holder; WAITING_SEEN]>; MAX_VARIANTS]> =
            variants.iter().map(|&id| self.waiting_for(now, id)).collect();
        let mut all: SmallVec<[Holder; MAX_VARIANTS * WAITING_SEEN]> =
            waiting.iter().flatten().copied().collect();
        all.sort_unstable();
        let counts: SmallVec<[(Holder, usize); WAITING_SEEN]> =
            all.chunk_by(|one, other| one == other).filter_map(|of| Some((*of.first()?, of.len()))).collect();
        let held = |holder: Holder| {
            let place = counts.binary_search_by_key(&holder, |(other, _)| *other).ok();
            place.and_then(|place| counts.get(place)).map_or(0, |(_, count)| *count)
        };
        let asking = self.faces.holder(face).unwrap_or(Holder::Face(face));
        let own = held(asking);
        // What is worth least: an entry counts for the one of those who wait that holds fewest.
        let weigh =
            |holders: &SmallVec<_>| holders.iter().map(|&holder| held(holder)).min().unwrap_or(usize::MAX);
        let weights = waiting.iter().zip(&variants).map(|(holders, &id)| (weigh(holders), id));
        let heaviest = weights.max_by_key(|(weight, _)| *weight);
        let of_own = waiting.iter().position(|holders| holders[..] == [asking]);
        let victim = match heaviest {
            Some((weight, id)) if weight > own + 1 => Some(id),
            _ => of_own.and_then(|place| variants.get(place).copied()),
        };
        let Some(victim) = victim else { return false };
        self.evict(now, victim, DropReason::TooManyVariants);
        true
    }

    /// Some of those who wait for an entry and are still there, each once.
    fn waiting_for(&self, now: Instant, id: PendingId) -> SmallVec<[Holder; WAITING_SEEN]> {
        let records = self.tables.pending.get(id).map_or(&[][..], |entry| &entry.in_records);
        let waits = records.iter().filter(|record| record.expires > now);
        let mut holders: SmallVec<[Holder; WAITING_SEEN]> = SmallVec::new();
        for holder in waits.filter_map(|record| self.faces.holder(record.face)) {
            if holders.len() < WAITING_SEEN && !holders.contains(&holder) {
                holders.push(holder);
            }
        }
        holders
    }

    /// Makes room among those who wait for one Interest for `face`; false if there is none for it.
    #[cold]
    pub(super) fn make_room_for_record(&mut self, now: Instant, face: FaceId, id: PendingId) -> bool {
        let own = self.faces.load(face);
        let records = self.tables.pending.get(id).map_or(&[][..], |entry| &entry.in_records);
        if records.len() < MAX_RECORDS {
            return true;
        }
        // Who waits no more holds most of all.
        let load = |record: &InRecord| {
            if record.expires > now { self.faces.load(record.face) } else { u32::MAX }
        };
        let heaviest = records.iter().map(|record| (load(record), record.face)).max_by_key(|(load, _)| *load);
        match heaviest {
            Some((load, other)) if load > own.saturating_add(1) => {
                self.nack_one(id, other, NackReason::Congestion);
                self.counters.drops.count(DropReason::PendingEvicted);
                true
            }
            _ => false,
        }
    }
}
