//! Taking packets in: they wait for a commit, which writes them together, syncs once, and only then lets them
//! be acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use packet::UnixTime;
use packet::{Data, NameHash};

use super::{Located, PutSegment, Store, learn, rejection_of};
use crate::extent::{Extent, Location};
use crate::key::{Key, ObjectName};
use crate::layout::Payload;
use crate::limits::{Limits, Rejection};
use crate::object::{Object, ObjectId};
use crate::record::{HEADER_BYTES, MAX_PAYLOAD_BYTES, RecordKind};
use crate::volume::{Entry, VolumeRange, WrittenRecord};

/// The number of an insertion. A commit that returns a ticket has made durable all insertions up to it that
/// it did not name as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InsertionId(pub u64);

/// A commit failed: none of the insertions since the last one is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("insertions {first:?} to {last:?} were refused: {reason}", first = first.0, last = last.0)]
pub struct CommitError {
    /// Why.
    pub reason: Rejection,
    /// The first insertion that is not stored.
    pub first: InsertionId,
    /// The last one.
    pub last: InsertionId,
}

/// Insertions that wait for the next commit.
#[derive(Debug, Default)]
pub(crate) struct Open {
    packets: Vec<OpenPacket>,
    /// Objects that are new.
    objects: BTreeMap<Key, u64>,
    /// How many of them are below each prefix whose objects are counted, by its hash.
    below: BTreeMap<u64, u32>,
    /// Packets of each object, by its number.
    segments: BTreeMap<u64, u64>,
    bytes: u64,
    next_ticket: u64,
    /// The first ticket since the last commit.
    first_ticket: u64,
}

#[derive(Debug)]
struct OpenPacket {
    data: Data,
    key: Key,
    object: u64,
    segment: u32,
    arrival: UnixTime,
}

impl Open {
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Store {
    /// Takes a packet in. It is stored once [`commit`](Self::commit) has returned this ticket or a higher
    /// one, and not before.
    ///
    /// # Errors
    /// The limit that is reached; the rejection has been counted.
    pub fn insert(&mut self, now: UnixTime, data: &Data) -> Result<InsertionId, Rejection> {
        let (object, segment) = ObjectName::of_packet(data.dialect(), data.name());
        let key = object.key();
        let known = self.objects.catalogue.find(&key).and_then(|id| self.objects.catalogue.get(id));
        let known = match known {
            Some(known) => Some((known.key.clone(), known.number, known.extents.segment_count())),
            None => {
                self.open.objects.get_key_value(key.as_slice()).map(|(key, &number)| (key.clone(), number, 0))
            }
        };
        let segments = known.as_ref().map(|(_, number, segments)| {
            segments + self.open.segments.get(number).copied().unwrap_or_default()
        });
        if let Some(rejection) = self.rejection(data, &object, segments) {
            return Err(self.history.rejections.count(rejection));
        }
        let (key, number) = match known {
            Some((key, number, _)) => (key, number),
            None => {
                let (key, number) = (Key::from(key), self.objects.next_object);
                self.objects.next_object += 1;
                *self.open.below.entry(self.counted_prefix(&object).0).or_default() += 1;
                self.open.objects.insert(key.clone(), number);
                (key, number)
            }
        };
        *self.open.segments.entry(number).or_default() += 1;
        let ticket = InsertionId(self.open.next_ticket);
        self.open.next_ticket += 1;
        self.open.bytes += (data.wire().len() + HEADER_BYTES) as u64;
        self.open.packets.push(OpenPacket { data: data.clone(), key, object: number, segment, arrival: now });
        Ok(ticket)
    }

    /// Why a packet of this object cannot be taken, which has so many segments already if it is known.
    fn rejection(&self, data: &Data, object: &ObjectName<'_>, segments: Option<u64>) -> Option<Rejection> {
        let limits = &self.config.limits;
        let bytes = self.objects.bytes + self.open.bytes;
        let has_policy = self.objects.eviction.as_ref().is_some_and(|policy| !policy.is_empty());
        if data.wire().len() > MAX_PAYLOAD_BYTES {
            return Some(Rejection::PacketTooLarge);
        }
        if object.name.canonical().len() > Limits::MAX_NAME_BYTES {
            return Some(Rejection::NameTooLong);
        }
        if self.open.len() >= limits.max_open_packets || self.open.bytes >= limits.max_open_bytes {
            return Some(Rejection::TooManyOpen);
        }
        // Completing what was begun, and making room, may each take it over the limit, but not far.
        if bytes >= limits.max_bytes.saturating_add(limits.max_bytes / 8)
            || bytes >= limits.max_bytes && segments.is_none() && !has_policy
        {
            return Some(Rejection::BytesFull);
        }
        match segments {
            Some(segments) if segments >= limits.max_segments.into() => Some(Rejection::SegmentsFull),
            Some(_) => None,
            None => self.rejection_of_new(object, has_policy),
        }
    }

    fn rejection_of_new(&self, object: &ObjectName<'_>, has_policy: bool) -> Option<Rejection> {
        let limits = &self.config.limits;
        // Making room, which comes soon, may take it over the limit, but not far.
        let over = if has_policy { limits.max_objects / 8 } else { 0 };
        let objects = self.objects.catalogue.len() + self.open.objects.len();
        if objects >= limits.max_objects.saturating_add(over) as usize {
            return Some(Rejection::ObjectsFull);
        }
        let prefix = self.counted_prefix(object);
        let open = self.open.below.get(&prefix.0).copied().unwrap_or_default();
        let below = self.objects.filter.objects_below(prefix).saturating_add(open);
        (below >= limits.max_objects_of_prefix).then_some(Rejection::PrefixFull)
    }

    /// The prefix of this name whose objects are counted.
    fn counted_prefix(&self, object: &ObjectName<'_>) -> NameHash {
        let prefix = object.name.prefix(self.config.limits.prefix_components);
        self.names.hash(object.dialect, prefix.components()).whole()
    }

    /// Writes what was inserted since the last commit and syncs it. Returns the last ticket there is, if any
    /// was given since.
    ///
    /// # Errors
    /// The file system failed: none of these insertions is stored.
    pub fn commit(&mut self) -> Result<Option<InsertionId>, CommitError> {
        if self.open.packets.is_empty() {
            return Ok(None);
        }
        let open = std::mem::take(&mut self.open);
        let (first, last) = (InsertionId(open.first_ticket), InsertionId(open.next_ticket - 1));
        (self.open.next_ticket, self.open.first_ticket) = (open.next_ticket, open.next_ticket);
        let total = open.packets.len() as u64;
        let mut packets = self.in_order(open.packets);
        // What is there already needs no writing.
        self.take_out_stored(&mut packets);
        self.history.counters.duplicates += total - packets.len() as u64;
        let written = match self.write(&packets) {
            Ok(written) => written,
            Err(error) => {
                let reason = rejection_of(&error);
                self.history.rejections.add(reason, total);
                return Err(CommitError { reason, first, last });
            }
        };
        let mut new = BTreeSet::new();
        for (packet, written) in packets.iter().zip(written) {
            self.store(packet, written, &mut new);
        }
        for id in new {
            self.include(id);
        }
        self.history.counters.commits += 1;
        self.history.counters.insertions += packets.len() as u64;
        Ok(Some(last))
    }

    /// Segments of one object side by side. Of several packets with one name the last counts.
    fn in_order(&self, mut packets: Vec<OpenPacket>) -> Vec<OpenPacket> {
        // The sort keeps the order of those that are equal.
        packets.sort_by_key(|packet| (packet.object, packet.segment));
        packets.reverse();
        packets.dedup_by_key(|packet| (packet.object, packet.segment));
        packets.reverse();
        packets
    }

    /// Takes out the packets that are stored byte by byte, if storing them anew would not make them any
    /// fresher.
    fn take_out_stored(&mut self, packets: &mut Vec<OpenPacket>) {
        let likely: Vec<_> = packets
            .iter()
            .enumerate()
            .filter_map(|(place, packet)| Some((place, self.likely_stored(packet)?, packet.data.clone())))
            .collect();
        if likely.is_empty() {
            return;
        }
        let reading = move || {
            let is_stored = |located: &Located, data: &Data| {
                located.read_data().is_ok_and(|(stored, _)| stored.wire() == data.wire())
            };
            let found = likely.iter().filter(|(_, located, data)| is_stored(located, data));
            found.map(|&(place, ..)| place).collect()
        };
        let stored: BTreeSet<usize> = self.on_disk(reading).unwrap_or_default();
        let mut place = 0;
        packets.retain(|_| {
            place += 1;
            !stored.contains(&(place - 1))
        });
    }

    /// Where a packet of this name lies that may be this one. What lies in the cold tier is not read for it,
    /// and stored anew: nobody waits for a network here.
    fn likely_stored(&self, packet: &OpenPacket) -> Option<Located> {
        if packet.data.freshness() != packet::time::Duration::ZERO {
            return None;
        }
        let object = self.objects.catalogue.get(self.objects.catalogue.find(&packet.key)?)?;
        let place = object.extents.find(packet.segment)?;
        self.located_at(place, packet.object, packet.segment).filter(|located| !located.is_remote())
    }

    fn write(&mut self, packets: &[OpenPacket]) -> std::io::Result<Vec<WrittenRecord>> {
        if packets.is_empty() {
            return Ok(Vec::new());
        }
        let format = self.format.clone();
        let entries = packets.iter().map(|packet| Entry {
            kind: RecordKind::Data,
            dialect: packet.data.dialect(),
            object: packet.object,
            segment: packet.segment,
            name_hash: format.name_hash(packet.data.dialect(), packet.data.name()),
            arrival: packet.arrival,
            payload: Payload::Packet(packet.data.wire()),
        });
        self.append(entries)
    }

    fn store(&mut self, packet: &OpenPacket, written: WrittenRecord, new: &mut BTreeSet<ObjectId>) {
        let id = match self.objects.catalogue.find(&packet.key) {
            Some(id) => id,
            None => {
                let id = self.objects.catalogue.add(Object::new(Arc::clone(&packet.key), packet.object));
                new.insert(id);
                id
            }
        };
        if let Some(object) = self.objects.catalogue.get_mut(id) {
            learn(object, &packet.data, packet.arrival);
        }
        self.put(id, packet.segment, written.location);
    }

    /// Notes where a segment lies now; where it lay before is free.
    pub(super) fn put(&mut self, id: ObjectId, segment: u32, location: Location) {
        let Some(PutSegment { freed, bytes }) = self.objects.put(id, segment, location) else { return };
        if let Some(policy) = &mut self.objects.eviction {
            policy.grow(id, bytes);
        }
        self.unindexed.dirty.insert(id);
        self.free(&freed);
    }

    /// Tells filter and policy of an object that is new.
    pub(super) fn include(&mut self, id: ObjectId) {
        let Some(object) = self.objects.catalogue.get(id) else { return };
        let Some(name) = object.name() else { return };
        let hashes = self.name_hashes(&name);
        self.objects.filter.add(&hashes, name.form);
        if let Some(policy) = &mut self.objects.eviction {
            policy.include(id, hashes.whole().0, object.bytes);
        }
    }

    /// Gives back what these runs took.
    pub(super) fn free(&mut self, runs: &[Extent]) {
        for run in runs {
            if let Some(volume) = self.volumes.get_mut(run.volume) {
                let hole = volume.space.free(run.range());
                self.reclaiming.punches.push_back(VolumeRange { volume: run.volume, bytes: hole });
            }
        }
    }
}
