//! Deleting: a record says that an object is gone; when that is durable its bytes are given back.

use packet::{Dialect, Name};

use super::{OBJECTS_AT_ONCE, Store, rejection_of, reserve};
use crate::extent::Extent;
use crate::key::{ObjectName, SegmentForm};
use crate::layout::Payload;
use crate::limits::Rejection;
use crate::object::ObjectId;
use crate::record::RecordKind;
use crate::volume::{Entry, VolumeRange};
use packet::UnixTime;

/// What is to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The object of this name: without segment number, or a packet that is an object by itself.
    Object(Dialect, Name),
    /// All objects whose names begin with this one.
    Prefix(Dialect, Name),
    /// Segments of the object of this name, from the first number to the last.
    Segments(Dialect, Name, u32, u32),
}

/// What was deleted, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Objects of which nothing is left.
    pub objects: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of records.
    pub bytes: u64,
}

/// Segments that an object has lost.
pub(super) struct RemovedSegments {
    /// Where they lie.
    pub(super) runs: Vec<Extent>,
    /// Bytes of what the object has left.
    bytes_left: u64,
    /// Whether that is nothing.
    pub(super) is_empty: bool,
}

/// Objects deleted or pinned with one sync: who asks meanwhile waits until their records are laid out.
const OBJECTS_OF_A_SYNC: usize = 8192;
const NO_PACKET: packet::NameHash = packet::NameHash(0);

impl Store {
    /// The objects that a selection means.
    pub fn select(&self, selection: &Selection) -> Vec<ObjectId> {
        match selection {
            Selection::Object(dialect, name) | Selection::Segments(dialect, name, ..) => {
                [SegmentForm::Single, SegmentForm::Typed, SegmentForm::Marker]
                    .into_iter()
                    .filter_map(|form| {
                        let object = ObjectName { dialect: *dialect, name: name.as_ref(), form };
                        self.objects.catalogue.find(&object.key())
                    })
                    .collect()
            }
            Selection::Prefix(dialect, name) => {
                self.objects.catalogue.below(*dialect, name.as_ref()).collect()
            }
        }
    }

    /// What [`delete`](Self::delete) would delete.
    pub fn would_delete(&self, selection: &Selection) -> Deleted {
        self.would_delete_of(&self.select(selection), selection)
    }

    /// Deletes these objects with as few syncs as [`delete`](Self::delete) takes for all below a prefix.
    ///
    /// # Errors
    /// As there.
    pub fn delete_all(&mut self, now: UnixTime, ids: &[ObjectId]) -> Result<Deleted, Rejection> {
        self.commit().map_err(|error| error.reason)?;
        let deleted = self.would_delete_all(ids);
        self.delete_objects(now, ids)?;
        self.history.counters.deletions += deleted.objects;
        Ok(deleted)
    }

    /// What [`delete_all`](Self::delete_all) would delete.
    pub fn would_delete_all(&self, ids: &[ObjectId]) -> Deleted {
        let mut deleted = Deleted::default();
        for object in ids.iter().filter_map(|&id| self.objects.catalogue.get(id)) {
            deleted.objects += 1;
            deleted.segments += object.extents.segment_count();
            deleted.bytes += object.bytes;
        }
        deleted
    }

    fn would_delete_of(&self, ids: &[ObjectId], selection: &Selection) -> Deleted {
        let Selection::Segments(_, _, first, last) = *selection else { return self.would_delete_all(ids) };
        let mut deleted = Deleted::default();
        for object in ids.iter().filter_map(|&id| self.objects.catalogue.get(id)) {
            let mut extents = object.extents.clone();
            let mut freed = Vec::new();
            extents.remove(first, last, &mut freed);
            deleted.objects += u64::from(extents.is_empty());
            deleted.segments += freed.iter().map(|run| u64::from(run.count)).sum::<u64>();
            deleted.bytes += freed.iter().map(Extent::bytes).sum::<u64>();
        }
        deleted
    }

    /// Deletes what is selected, and what waits for a commit is committed first. When this returns the
    /// deletion is durable and nothing of it is served any longer; its room is given back by
    /// [`maintain`](Self::maintain).
    ///
    /// # Errors
    /// The file system failed: nothing was deleted; of many thousands of objects, some may be.
    pub fn delete(&mut self, now: UnixTime, selection: &Selection) -> Result<Deleted, Rejection> {
        self.commit().map_err(|error| error.reason)?;
        let ids = self.select(selection);
        let deleted = self.would_delete_of(&ids, selection);
        match *selection {
            Selection::Segments(_, _, first, last) => self.delete_segments(now, &ids, first, last)?,
            _ => self.delete_objects(now, &ids)?,
        }
        self.history.counters.deletions += deleted.objects;
        Ok(deleted)
    }

    /// Keeps objects from being evicted, or lets them go again. Durable when this returns; how many of them
    /// are here.
    ///
    /// # Errors
    /// The file system failed: nothing has changed; of many thousands of objects, some may have.
    pub fn pin(&mut self, now: UnixTime, ids: &[ObjectId], pinned: bool) -> Result<usize, Rejection> {
        let kind = if pinned { RecordKind::Pin } else { RecordKind::Unpin };
        let mut count = 0;
        for some in ids.chunks(OBJECTS_OF_A_SYNC) {
            self.log(now, kind, some, 0, &[])?;
            for &id in some {
                let Some(object) = self.objects.catalogue.get_mut(id) else { continue };
                object.pinned = pinned;
                self.unindexed.dirty.insert(id);
                count += 1;
            }
        }
        Ok(count)
    }

    /// Deletes whole objects, as many as there usually are with one sync.
    pub(super) fn delete_objects(&mut self, now: UnixTime, ids: &[ObjectId]) -> Result<(), Rejection> {
        for some in ids.chunks(OBJECTS_OF_A_SYNC) {
            self.log(now, RecordKind::Delete, some, 0, &[])?;
            for few in some.chunks(OBJECTS_AT_ONCE) {
                few.iter().for_each(|&id| self.forget(id));
                self.answer_waiting();
            }
        }
        Ok(())
    }

    fn delete_segments(
        &mut self,
        now: UnixTime,
        ids: &[ObjectId],
        first: u32,
        last: u32,
    ) -> Result<(), Rejection> {
        self.log(now, RecordKind::DeleteSegments, ids, first, &last.to_le_bytes())?;
        ids.iter().for_each(|&id| self.forget_segments(id, first, last));
        Ok(())
    }

    /// Writes a record about each of these objects.
    fn log(
        &mut self,
        now: UnixTime,
        kind: RecordKind,
        ids: &[ObjectId],
        segment: u32,
        payload: &[u8],
    ) -> Result<(), Rejection> {
        let numbers: Vec<u64> =
            ids.iter().filter_map(|&id| Some(self.objects.catalogue.get(id)?.number)).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        let entries = numbers.iter().map(|&object| Entry {
            kind,
            dialect: Dialect::Ndn,
            object,
            segment,
            name_hash: NO_PACKET,
            arrival: now,
            payload: Payload::Bytes(payload),
        });
        let mut written = self.append(entries.clone());
        if written.as_ref().is_err_and(|error| rejection_of(error) == Rejection::DiskFull)
            && self.storage.has_reserve
        {
            self.storage.has_reserve = false;
            reserve::give_up(&self.storage.disk);
            written = self.append(entries);
        }
        let written = written.map_err(|error| self.history.rejections.count(rejection_of(&error)))?;
        // Wanted until the index says the same.
        self.unindexed.notices.extend(written.iter().map(|record| {
            let place = record.location.place;
            VolumeRange { volume: place.volume, bytes: place.offset()..place.end() }
        }));
        Ok(())
    }

    /// Takes an object out of memory and gives its room back.
    pub(super) fn forget(&mut self, id: ObjectId) {
        let Some(object) = self.objects.catalogue.remove(id) else { return };
        self.objects.bytes = self.objects.bytes.saturating_sub(object.bytes);
        if let Some(name) = object.name() {
            self.objects.filter.remove(&self.name_hashes(&name), name.form);
        }
        if let Some(policy) = &mut self.objects.eviction {
            policy.remove(id);
        }
        self.unindexed.dirty.remove(&id);
        let runs: Vec<_> = object.extents.iter().copied().collect();
        self.unindexed.gone.push(object.key);
        self.free(&runs);
    }

    pub(super) fn forget_segments(&mut self, id: ObjectId, first: u32, last: u32) {
        let Some(RemovedSegments { runs, bytes_left, is_empty }) = self.take_out(id, first, last) else {
            return;
        };
        if let Some(policy) = &mut self.objects.eviction {
            policy.grow(id, bytes_left);
        }
        self.free(&runs);
        if is_empty {
            self.forget(id);
        }
    }

    /// Takes segments out of an object; `None` if there is no such object.
    pub(super) fn take_out(&mut self, id: ObjectId, first: u32, last: u32) -> Option<RemovedSegments> {
        let object = self.objects.catalogue.get_mut(id)?;
        let mut runs = Vec::new();
        object.extents.remove(first, last, &mut runs);
        let lost: u64 = runs.iter().map(Extent::bytes).sum();
        object.bytes = object.bytes.saturating_sub(lost);
        self.objects.bytes = self.objects.bytes.saturating_sub(lost);
        self.unindexed.dirty.insert(id);
        Some(RemovedSegments { runs, bytes_left: object.bytes, is_empty: object.extents.is_empty() })
    }
}
