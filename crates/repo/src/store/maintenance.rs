//! What the store does beside serving, a bounded amount at a time: evicting, punching holes, compacting,
//! checkpoints.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::{Located, OBJECTS_AT_ONCE, Store, Unindexed, rejection_of};
use crate::index::{Index, IndexError, Row};
use crate::layout::Payload;
use crate::limits::Rejection;
use crate::object::ObjectId;
use crate::record::RecordKind;
use crate::space::BLOCK_BYTES;
use crate::volume::{Entry, LogPosition, VolumeRange, file_name};
use packet::UnixTime;

/// Bytes of one hole: a file system holds others up for as long as it takes a hole out of a file, and for
/// each hole it writes to its journal.
const HOLE_BYTES: u64 = 1 << 20;
/// Holes punched in one step, and bytes of them: whoever inserts waits for a step, whoever reads for a hole.
const PUNCHES_OF_A_STEP: usize = 32;
const PUNCHED_BYTES_OF_A_STEP: u64 = 32 << 20;
/// Records copied in one step.
const BYTES_OF_A_STEP: u64 = 1 << 20;
/// A checkpoint is due when the log behind the last one has come to its limits, and overdue at half as much
/// again.
const DUE_HALVES: u64 = 2;
const OVERDUE_HALVES: u64 = 3;

/// A sealed volume whose living records are being copied to the end of the log.
#[derive(Debug, Default)]
pub(crate) struct Compaction {
    pub(super) volume: Option<u32>,
    /// Objects that may have something in it.
    objects: VecDeque<ObjectId>,
    /// Since when, and until when, the next step is put off. Who sets the clock back puts nothing off for
    /// longer.
    rests: Option<Range<UnixTime>>,
}

/// What [`Store::maintain`] has left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingMaintenance {
    /// Nothing for now.
    Idle,
    /// Something that may wait until then.
    Later(UnixTime),
    /// Something more.
    More,
}

impl Store {
    /// Does some of what is due. Call it again at once for as long as it says that there is more.
    ///
    /// # Errors
    /// The file system failed. What was to be done stays due.
    pub fn maintain(&mut self, now: UnixTime) -> Result<PendingMaintenance, Rejection> {
        // Somebody else does it, and it is due however much there is to do here.
        self.migrate_one();
        // Evicting and punching come first, for they make the room that the index may need. But where they
        // never end, they must not put it off for ever.
        let overdue = self.is_log_long(OVERDUE_HALVES).then(|| self.checkpoint_index());
        if matches!(overdue, Some(Ok(()))) {
            return Ok(PendingMaintenance::More);
        }
        if let Some((bytes, objects)) = self.eviction_target()
            && self.evict_down_to(now, bytes, objects)? > 0
        {
            return Ok(PendingMaintenance::More);
        }
        if !self.reclaiming.punches.is_empty() {
            let some = self.punch(PUNCHES_OF_A_STEP, PUNCHED_BYTES_OF_A_STEP);
            some.map_err(|error| self.failed(&error))?;
            return Ok(PendingMaintenance::More);
        }
        if !self.storage.has_reserve {
            self.keep_reserve();
        }
        if overdue.is_some() || self.is_log_long(DUE_HALVES) || !self.reclaiming.emptied.is_empty() {
            let written = overdue.unwrap_or_else(|| self.checkpoint_index());
            written.map_err(|_| self.history.rejections.count(Rejection::DiskFailed))?;
            return Ok(PendingMaintenance::More);
        }
        self.compact(now)
    }

    /// Whether opening would have to read, after a crash, so many halves of what it may.
    fn is_log_long(&self, halves: u64) -> bool {
        let Unindexed { log_bytes, log_records, dirty, gone, .. } = &self.unindexed;
        let is_over = |count: u64, limit: u64| count.saturating_mul(2) >= limit.saturating_mul(halves);
        is_over(*log_bytes, self.config.checkpoint_bytes)
            || is_over(*log_records, self.config.checkpoint_records)
            || is_over((dirty.len() + gone.len()) as u64, self.config.checkpoint_objects as u64)
    }

    /// Brings the index up to date if enough has happened: for those who store much and have nothing else
    /// [maintained](Self::maintain) meanwhile.
    ///
    /// # Errors
    /// The index cannot be written; the log still holds everything.
    pub fn checkpoint_if_due(&mut self) -> Result<(), IndexError> {
        if self.is_log_long(DUE_HALVES) { self.checkpoint_index() } else { Ok(()) }
    }

    /// Brings the index up to date, as before a store is closed.
    ///
    /// # Errors
    /// The index cannot be written; the log still holds everything.
    pub fn checkpoint(&mut self) -> Result<(), IndexError> {
        if let Err(error) = self.commit() {
            self.history.rejections.count(error.reason);
        }
        self.checkpoint_index()
    }

    /// How many bytes, and how many objects, eviction is to leave; `None` if there are not too many of
    /// either.
    fn eviction_target(&self) -> Option<(u64, u64)> {
        let rule = self.config.deletion;
        let bytes = rule.target(self.objects.bytes, rule.threshold_bytes);
        let objects = rule.target(self.objects.catalogue.len() as u64, self.config.limits.max_objects.into());
        let is_due = bytes.is_some() || objects.is_some();
        is_due.then(|| (bytes.unwrap_or(u64::MAX), objects.unwrap_or(u64::MAX)))
    }

    /// Deletes objects that the policy chooses until there are no more bytes than these, and no more objects;
    /// one sync for all. Returns how many there were.
    fn evict_down_to(&mut self, now: UnixTime, max_bytes: u64, max_objects: u64) -> Result<usize, Rejection> {
        let Some(mut policy) = self.objects.eviction.take() else { return Ok(0) };
        let (mut victims, mut spared) = (Vec::new(), Vec::new());
        let (mut bytes, mut looked_at) = (self.objects.bytes, 0);
        let stored = self.objects.catalogue.len();
        while (bytes > max_bytes || (stored - victims.len()) as u64 > max_objects)
            && let Some(id) = policy.evict()
        {
            looked_at += 1;
            if looked_at % OBJECTS_AT_ONCE == 0 {
                self.answer_waiting();
            }
            let Some(object) = self.objects.catalogue.get(id) else { continue };
            if object.pinned {
                spared.push(id);
            } else {
                bytes = bytes.saturating_sub(object.bytes);
                victims.push(id);
            }
        }
        let deleted = self.delete_objects(now, &victims);
        let back = if deleted.is_ok() { spared } else { [spared, victims.clone()].concat() };
        for id in back {
            if let Some(object) = self.objects.catalogue.get(id) {
                policy.include(id, self.hashes(object).whole().0, object.bytes);
            }
        }
        self.objects.eviction = Some(policy);
        deleted?;
        self.history.counters.evictions += victims.len() as u64;
        Ok(victims.len())
    }

    /// Punches so many holes, and about so many bytes of them. A large hole is made in several.
    fn punch(&mut self, count: usize, max_bytes: u64) -> io::Result<()> {
        let (mut bytes, mut parts) = (0, Vec::new());
        while parts.len() < count
            && bytes < max_bytes
            && let Some(VolumeRange { volume: number, bytes: hole }) = self.reclaiming.punches.pop_front()
        {
            let Some(volume) = self.volumes.get(number) else { continue };
            let cut = hole.start.saturating_add(HOLE_BYTES).next_multiple_of(BLOCK_BYTES);
            let part = hole.start..hole.end.min(cut);
            bytes += part.end - part.start;
            if part.end < hole.end {
                self.reclaiming.punches.push_front(VolumeRange { volume: number, bytes: part.end..hole.end });
            }
            parts.push((number, Arc::clone(&volume.file), part));
        }
        let (done, left, result) = self.on_disk(move || {
            let (mut done, mut left, mut result) = (Vec::new(), Vec::new(), Ok(()));
            for (number, file, part) in parts {
                match file.punch_hole(part.clone()) {
                    Ok(()) => done.push(number),
                    // Where one hole cannot be made, others may make the room that it needs.
                    Err(error) => {
                        left.push(VolumeRange { volume: number, bytes: part });
                        result = Err(error);
                    }
                }
            }
            (done, left, result)
        })?;
        self.history.counters.punches += done.len() as u64;
        self.reclaiming.punched.extend(done);
        self.reclaiming.punches.extend(left);
        result
    }

    /// Punches all holes that are due, and has them last.
    fn sync_holes(&mut self) -> io::Result<()> {
        self.punch(usize::MAX, u64::MAX)?;
        while let Some(&number) = self.reclaiming.punched.first() {
            if let Some(file) = self.volumes.get(number).map(|volume| Arc::clone(&volume.file)) {
                self.on_disk(move || file.sync())??;
            }
            self.reclaiming.punched.remove(&number);
        }
        Ok(())
    }

    pub(super) fn checkpoint_index(&mut self) -> Result<(), IndexError> {
        // What was deleted before the checkpoint is not mentioned again behind it, so its holes must be there
        // by then.
        self.sync_holes()?;
        let checkpoint = self.checkpoint_now();
        let rows = self.changed_rows();
        let mut index = std::mem::replace(&mut self.index, Index::closed());
        let (disk, gone) = (Arc::clone(&self.storage.disk), self.unindexed.gone.clone());
        let write = move || {
            let written = index.write(&disk, &checkpoint, &gone, &rows);
            (index, written)
        };
        let (index, written) = self.on_disk(write)?;
        self.index = index;
        written?;
        self.unindexed.dirty.clear();
        self.unindexed.gone.clear();
        self.unindexed.since = LogPosition { volume: checkpoint.volume, offset: checkpoint.offset };
        self.unindexed.log_bytes = 0;
        self.unindexed.log_records = 0;
        self.history.counters.checkpoints += 1;
        self.free_notices();
        self.remove_emptied();
        Ok(())
    }

    /// What the index does not say yet. Nothing changes meanwhile, but who asks is answered.
    fn changed_rows(&mut self) -> Vec<Row> {
        let dirty = std::mem::take(&mut self.unindexed.dirty);
        let mut rows = Vec::with_capacity(dirty.len());
        for &id in &dirty {
            if rows.len() % OBJECTS_AT_ONCE == OBJECTS_AT_ONCE - 1 {
                self.answer_waiting();
            }
            rows.extend(self.objects.catalogue.get(id).map(Row::of));
        }
        self.unindexed.dirty = dirty;
        rows
    }

    /// The index says now what these records say.
    fn free_notices(&mut self) {
        let notices = std::mem::take(&mut self.unindexed.notices);
        for (count, VolumeRange { volume: number, bytes }) in notices.into_iter().enumerate() {
            if count % OBJECTS_AT_ONCE == OBJECTS_AT_ONCE - 1 {
                self.answer_waiting();
            }
            let hole = self.volumes.get_mut(number).map(|volume| volume.space.free(bytes));
            // So small a hole is worth a call only where it makes whole blocks free.
            let is_worth_it = |hole: &Range<u64>| {
                hole.start.is_multiple_of(BLOCK_BYTES) && hole.end.is_multiple_of(BLOCK_BYTES)
            };
            self.reclaiming
                .punches
                .extend(hole.filter(is_worth_it).map(|bytes| VolumeRange { volume: number, bytes }));
        }
    }

    /// Removes volumes that neither the index nor the log behind the checkpoint refers to.
    fn remove_emptied(&mut self) {
        let mut going = std::mem::take(&mut self.reclaiming.emptied);
        going.retain(|&number| {
            let is_behind = number >= self.unindexed.since.volume;
            let is_alive = self.volumes.get(number).is_some_and(|volume| volume.space.live_bytes() > 0);
            !is_behind && !is_alive
        });
        if going.is_empty() {
            return;
        }
        let disk = Arc::clone(&self.storage.disk);
        let removed = self.on_disk(move || {
            // What cannot be removed is found without anything alive when the store is opened again.
            going.retain(|&number| disk.remove(&file_name(number)).is_ok());
            let _ = disk.sync_folder();
            going
        });
        let closing: Vec<_> = removed
            .unwrap_or_default()
            .into_iter()
            .filter_map(|number| self.volumes.remove(number))
            .collect();
        self.history.counters.volumes_removed += closing.len() as u64;
        // The file system takes a file apart when the last one lets go of it.
        let _ = self.on_disk(move || drop(closing));
    }

    fn compact(&mut self, now: UnixTime) -> Result<PendingMaintenance, Rejection> {
        if let Some(rest) = self.reclaiming.compaction.rests.as_ref().filter(|rest| rest.contains(&now)) {
            return Ok(PendingMaintenance::Later(rest.end));
        }
        let Some(number) = self.reclaiming.compaction.volume else {
            return Ok(if self.choose_volume() {
                PendingMaintenance::More
            } else {
                PendingMaintenance::Idle
            });
        };
        let copied = self.copy_some(now, number)?;
        if self.reclaiming.compaction.objects.is_empty() {
            self.reclaiming.compaction.volume = None;
            self.reclaiming.emptied.push(number);
        }
        self.history.counters.compacted_bytes += copied;
        let millis = copied.saturating_mul(1000) / self.config.compact_bytes_per_second.max(1);
        let until = now.after(packet::time::Duration::from_millis(millis));
        self.reclaiming.compaction.rests = Some(now..until);
        Ok(PendingMaintenance::More)
    }

    /// Chooses the sealed volume with the least in it, if that is little enough.
    fn choose_volume(&mut self) -> bool {
        let active = self.volumes.active();
        let share = self.config.compact_below;
        let chosen = self
            .volumes
            .iter()
            .filter(|&(number, volume)| {
                Some(number) != active
                    && number <= self.unindexed.since.volume
                    && volume.space.is_mostly_holes(share)
                    // To copy out of what lives elsewhere costs the network more than the room is worth.
                    && (volume.space.live_bytes() == 0 || !volume.file.is_remote())
            })
            .min_by_key(|(_, volume)| volume.space.live_bytes())
            .map(|(number, _)| number);
        let Some(number) = chosen else { return false };
        let mut objects = VecDeque::new();
        self.look_at_all(|id, object| {
            if object.extents.iter().any(|run| run.volume == number) {
                objects.push_back(id);
            }
        });
        self.reclaiming.compaction = Compaction { volume: Some(number), objects, ..Compaction::default() };
        true
    }

    /// Copies records out of a volume; returns how many bytes.
    fn copy_some(&mut self, now: UnixTime, number: u32) -> Result<u64, Rejection> {
        let mut copied = 0;
        while copied < BYTES_OF_A_STEP
            && let Some(&id) = self.reclaiming.compaction.objects.front()
        {
            let (records, is_all) = self.records_in(now, id, number, BYTES_OF_A_STEP);
            if !records.is_empty() {
                copied += self.copy(id, &records)?;
            }
            if is_all {
                self.reclaiming.compaction.objects.pop_front();
            }
        }
        Ok(copied)
    }

    /// Packets of an object that lie in this volume, about `max_bytes` of them, and whether these are all. An
    /// object of which one cannot be read is dropped.
    fn records_in(
        &mut self,
        now: UnixTime,
        id: ObjectId,
        number: u32,
        max_bytes: u64,
    ) -> (Vec<Copied>, bool) {
        let Some(object) = self.objects.catalogue.get(id) else { return (Vec::new(), true) };
        let mut bytes = 0;
        let mut is_all = true;
        let mut located = Vec::new();
        for run in object.extents.iter().filter(|run| run.volume == number) {
            for segment in run.first..run.first + run.count {
                is_all &= bytes < max_bytes;
                let place = run.place(segment).filter(|_| bytes < max_bytes);
                let found = place.and_then(|place| self.located_at(place, object.number, segment));
                bytes += place.map_or(0, |place| u64::from(place.len_bytes));
                located.extend(found.map(|found| found.of(id)));
            }
        }
        let reading = move || {
            let mut records = Vec::new();
            for located in located {
                match located.read_data() {
                    Ok((data, arrival)) => records.push(Copied { located, data, arrival }),
                    Err(error) => return Err((located, error)),
                }
            }
            Ok(records)
        };
        let records = match self.on_disk(reading) {
            Ok(Ok(records)) => records,
            Ok(Err((located, error))) => {
                self.report(now, &located, &error);
                return (Vec::new(), true);
            }
            // It is tried again when the volume is chosen again.
            Err(_) => return (Vec::new(), true),
        };
        (records, is_all)
    }

    fn copy(&mut self, id: ObjectId, records: &[Copied]) -> Result<u64, Rejection> {
        let format = self.format.clone();
        let entries = records.iter().map(|record| Entry {
            kind: RecordKind::Data,
            dialect: record.data.dialect(),
            object: record.located.object_number(),
            segment: record.located.segment,
            name_hash: format.name_hash(record.data.dialect(), record.data.name()),
            arrival: record.arrival,
            payload: Payload::Packet(record.data.wire()),
        });
        let before = self.unindexed.log_bytes;
        let written = self.append(entries).map_err(|error| self.failed(&error))?;
        for (record, written) in records.iter().zip(written) {
            self.put(id, record.located.segment, written.location);
        }
        Ok(self.unindexed.log_bytes - before)
    }

    fn failed(&mut self, error: &io::Error) -> Rejection {
        self.history.rejections.count(rejection_of(error))
    }
}

/// A packet on its way to another volume.
struct Copied {
    located: Located,
    data: packet::Data,
    arrival: UnixTime,
}
