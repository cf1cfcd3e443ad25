//! Opening: the index says what there was at the last checkpoint, the log behind it what has happened since.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use packet::{Buffer, Data};

use super::insert::Open;
use super::{
    History, Objects, OpenError, Reclaiming, Storage, Store, StoreConfig, StoreKeys, Unindexed, learn,
};
use crate::catalogue::Catalogue;
use crate::cold;
use crate::disk::{Disk, read_up_to};
use crate::extent::{Extent, Location, RecordPlace, UNIT_BYTES};
use crate::filter::Filter;
use crate::index::{self, Checkpoint, Contents, Index};
use crate::key::ObjectName;
use crate::layout::Layout;
use crate::object::{Object, ObjectId};
use crate::record::{Format, HEADER_BYTES, Header, MAX_PAYLOAD_BYTES, RecordKind, ScanFinding, scan};
use crate::volume::{self, HEAD_BYTES, LogPosition, MAX_VOLUME_BYTES, VolumeRange, Volumes};

/// So much of the log is read at a time.
const CHUNK_BYTES: usize = 4 << 20;

/// What opening found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Bytes of log that were read again.
    pub replayed_bytes: u64,
    /// Records in them.
    pub replayed_records: u64,
    /// Records and stretches that are not as they were written. Packets that nobody was told are stored look
    /// like this after a power cut.
    pub damaged: u64,
    /// Objects of the index of which segments lie in volumes that are not there.
    pub missing: u64,
    /// The index was lost, and made anew from the volumes.
    pub rebuilt: bool,
}

impl Store {
    /// Whether there is a store on this disk, or what is left of one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn is_on(disk: &dyn Disk) -> io::Result<bool> {
        let is_of_store = |name: &String| {
            [index::FILE, index::BAD_FILE].contains(&name.as_str())
                || volume::number_of(name).is_some()
                || cold::is_stub(name)
        };
        Ok(disk.list()?.iter().any(is_of_store))
    }

    /// Opens the store on this disk, or makes an empty one.
    ///
    /// # Errors
    /// Another process has it, or the file system failed. A damaged index is no error: the volumes say what
    /// it said.
    pub fn open(
        disk: Arc<dyn Disk>,
        config: StoreConfig,
        keys: StoreKeys,
    ) -> Result<(Self, Recovery), OpenError> {
        let lock = disk.lock(&config.holder).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => OpenError::InUse(error),
            _ => OpenError::Io(error),
        })?;
        // Without them, objects that are only elsewhere would count as lost.
        if disk.list()?.iter().any(|name| cold::is_stub(name)) {
            return Err(OpenError::Cold);
        }
        let config = StoreConfig { volume_bytes: config.volume_bytes.min(MAX_VOLUME_BYTES), ..config };
        let mut recovery = Recovery::default();
        let numbers: BTreeSet<u32> = disk.list()?.iter().filter_map(|name| volume::number_of(name)).collect();
        refuse_foreign(&disk, &numbers)?;
        let (index, contents) = open_index(&disk, &mut recovery)?;
        recovery.rebuilt |= contents.checkpoint.is_none() && !numbers.is_empty();
        let key = key_of(&disk, &contents, &numbers).unwrap_or(keys.records);
        let mut store = Store {
            format: Format::new(key),
            volumes: Volumes::new(Arc::clone(&disk), key),
            storage: Storage { disk, has_reserve: false, disk_executor: None, cold: None, _lock: lock },
            config,
            key,
            names: keys.names,
            index,
            objects: Objects {
                catalogue: Catalogue::default(),
                filter: Arc::new(Filter::default()),
                eviction: None,
                bytes: 0,
                next_object: 1,
            },
            open: Open::default(),
            layout: Layout::default(),
            unindexed: Unindexed {
                since: LogPosition { volume: 0, offset: HEAD_BYTES },
                log_bytes: 0,
                log_records: 0,
                dirty: BTreeSet::new(),
                gone: Vec::new(),
                notices: Vec::new(),
            },
            reclaiming: Reclaiming::default(),
            history: History::default(),
        };
        for number in numbers {
            let file = store.storage.disk.open(&volume::file_name(number), false)?;
            store.volumes.add(number, file);
        }
        if contents.checkpoint.is_none() {
            // Before the first record, so that there is always somebody who knows the key.
            // It knows nothing of what the volumes hold.
            let checkpoint = Checkpoint { key, volume: 0, offset: HEAD_BYTES, next_object: 1 };
            store.index.write(&store.storage.disk, &checkpoint, &[], &[])?;
        }
        store.volumes.mend_head()?;
        store.restore(contents, &mut recovery)?;
        store.keep_reserve();
        Ok((store, recovery))
    }

    fn restore(&mut self, mut contents: Contents, recovery: &mut Recovery) -> Result<(), OpenError> {
        if let Some(Checkpoint { volume, offset, next_object, .. }) = contents.checkpoint {
            self.unindexed.since = LogPosition { volume, offset };
            self.objects.next_object = next_object;
        }
        contents.objects.retain(|object| !object.extents.is_empty() && !self.is_missing(object, recovery));
        for object in &contents.objects {
            self.objects.bytes += object.bytes;
            self.objects.next_object = self.objects.next_object.max(object.number + 1);
        }
        // All at once, which takes a fraction of what one after the other does.
        self.objects.filter.reserve(contents.objects.len());
        self.objects.catalogue = Catalogue::of_sorted(contents.objects);
        let numbers = self.objects.catalogue.iter().map(|(id, object)| (object.number, id));
        let mut replay = Replay { ids: numbers.collect(), ..Replay::default() };
        let ends = self.replay_log(&mut replay, recovery)?;
        self.restore_space(&ends);
        let ids: Vec<ObjectId> = self.objects.catalogue.iter().map(|(id, _)| id).collect();
        ids.into_iter().for_each(|id| self.include(id));
        // What came behind the last record that anybody was told of must never be read.
        self.volumes.cut_tail()?;
        let freed = replay.freed.iter().map(|run| VolumeRange { volume: run.volume, bytes: run.range() });
        for VolumeRange { volume: number, bytes } in freed.chain(replay.rests) {
            if let Some(volume) = self.volumes.get_mut(number) {
                // Dead already; this only says how far the hole may go.
                let hole = volume.space.free_again(bytes);
                self.reclaiming.punches.push_back(VolumeRange { volume: number, bytes: hole });
            }
        }
        // The index catches up when it is time for it, not while somebody waits for the store.
        self.unindexed.log_bytes = recovery.replayed_bytes;
        self.unindexed.log_records = recovery.replayed_records;
        Ok(())
    }

    /// Whether any of it lies in volumes that are not there. An object with a hole in it is none: all of it
    /// is got anew.
    fn is_missing(&mut self, object: &Object, recovery: &mut Recovery) -> bool {
        let is_missing = object.extents.iter().any(|run| self.volumes.get(run.volume).is_none());
        if is_missing {
            recovery.missing += 1;
            self.unindexed.gone.push(object.key.clone());
        }
        is_missing
    }

    /// Reads the log behind the checkpoint. Returns where each volume ends.
    fn replay_log(&mut self, replay: &mut Replay, recovery: &mut Recovery) -> io::Result<BTreeMap<u32, u64>> {
        let mut ends = BTreeMap::new();
        let LogPosition { volume: first, offset } = self.unindexed.since;
        let numbers: Vec<u32> = self.volumes.iter().map(|(number, _)| number).collect();
        for number in numbers {
            let Some(file) = self.volumes.get(number).map(|volume| Arc::clone(&volume.file)) else {
                continue;
            };
            let len = file.len_bytes()?;
            if number < first {
                ends.insert(number, len);
                continue;
            }
            let start = if number == first { offset.max(HEAD_BYTES) } else { HEAD_BYTES };
            let mut end = start;
            let mut at = start;
            while at < len {
                let bytes = read_up_to(&*file, at, CHUNK_BYTES, len)?;
                let is_last = at + bytes.len() as u64 >= len;
                let format = self.format.clone();
                let done = scan(&format, &bytes, number, at, is_last, &mut |place, found| match found {
                    ScanFinding::Record(header, payload) => {
                        recovery.replayed_records += 1;
                        self.apply(
                            replay,
                            &LoggedRecord { volume: number, offset: place, log_end: end, header, payload },
                        );
                        end = place + header.footprint_bytes();
                    }
                    ScanFinding::BadPayload(_) | ScanFinding::Garbage(_) => recovery.damaged += 1,
                });
                at += done as u64;
                recovery.replayed_bytes += done as u64;
                // A record is smaller than a piece, so there is always progress; a file that shrinks ends
                // this, too.
                if done == 0 {
                    break;
                }
            }
            // The last volume is cut there; in others there may be a rest of what failed.
            let is_last = Some(number) == self.volumes.active();
            ends.insert(number, if is_last { end } else { len });
            if !is_last && end < len {
                replay.rests.push(VolumeRange { volume: number, bytes: end..len });
            }
        }
        Ok(ends)
    }

    fn apply(&mut self, replay: &mut Replay, record: &LoggedRecord<'_>) {
        let header = record.header;
        self.objects.next_object = self.objects.next_object.max(header.object + 1);
        let known = replay.ids.get(&header.object).copied();
        if header.kind != RecordKind::Data {
            let end = record.offset + header.footprint_bytes();
            self.unindexed.notices.push(VolumeRange { volume: record.volume, bytes: record.offset..end });
        }
        match (header.kind, known) {
            (RecordKind::Data, _) => self.apply_data(replay, known, record),
            (RecordKind::Delete, Some(id)) => self.unlist(replay, id),
            (RecordKind::DeleteSegments, Some(id)) => {
                let last =
                    record.payload.first_chunk().map_or(header.segment, |last| u32::from_le_bytes(*last));
                self.unlist_segments(replay, id, header.segment, last);
            }
            (RecordKind::Pin | RecordKind::Unpin, Some(id)) => {
                if let Some(object) = self.objects.catalogue.get_mut(id) {
                    object.pinned = header.kind == RecordKind::Pin;
                    self.unindexed.dirty.insert(id);
                }
            }
            (_, None) => {}
        }
    }

    fn apply_data(&mut self, replay: &mut Replay, known: Option<ObjectId>, record: &LoggedRecord<'_>) {
        let Some(data) = record.data(&self.format) else { return };
        let (name, segment) = ObjectName::of_packet(data.dialect(), data.name());
        if segment != record.header.segment {
            return;
        }
        let id = match known {
            Some(id) => id,
            None => {
                let key = name.key();
                if let Some(other) = self.objects.catalogue.find(&key) {
                    // One of the two was deleted, and nobody was told so. The newer one counts.
                    if self
                        .objects
                        .catalogue
                        .get(other)
                        .is_some_and(|other| other.number > record.header.object)
                    {
                        return;
                    }
                    self.unlist(replay, other);
                }
                let id = self.objects.catalogue.add(Object::new(key.into(), record.header.object));
                replay.ids.insert(record.header.object, id);
                id
            }
        };
        let Some(object) = self.objects.catalogue.get_mut(id) else { return };
        learn(object, &data, record.header.arrival);
        let place = RecordPlace {
            volume: record.volume,
            unit: (record.offset / UNIT_BYTES) as u32,
            len_bytes: record.header.record_bytes() as u32,
        };
        // The size of its place is known only where it continues a run.
        let before = object.extents.run_before(segment).copied();
        // That run must be what was written just before.
        let before = before.filter(|run| {
            run.volume == place.volume
                && run.next_unit().is_some_and(|next| next == place.unit)
                && run.range().end == record.log_end
        });
        let stride_units = before.map_or_else(
            || volume::stride_units(record.header.record_bytes() as u64),
            |run| run.stride_units,
        );
        let location = Location { place, stride_units, continues: before.is_some() };
        let put = self.objects.put(id, segment, location);
        self.unindexed.dirty.insert(id);
        replay.freed.extend(put.into_iter().flat_map(|put| put.freed));
    }

    /// As deleting an object does, but for filter and space, which are made when all is known.
    fn unlist(&mut self, replay: &mut Replay, id: ObjectId) {
        let Some(object) = self.objects.catalogue.remove(id) else { return };
        self.objects.bytes = self.objects.bytes.saturating_sub(object.bytes);
        replay.ids.remove(&object.number);
        replay.freed.extend(object.extents.iter().copied());
        self.unindexed.dirty.remove(&id);
        self.unindexed.gone.push(object.key);
    }

    fn unlist_segments(&mut self, replay: &mut Replay, id: ObjectId, first: u32, last: u32) {
        let Some(taken) = self.take_out(id, first, last) else { return };
        replay.freed.extend(taken.runs);
        if taken.is_empty {
            self.unlist(replay, id);
        }
    }

    /// Makes the space accounting from what the objects say.
    fn restore_space(&mut self, ends: &BTreeMap<u32, u64>) {
        let mut live = BTreeMap::<u32, Vec<Range<u64>>>::new();
        for run in self.objects.catalogue.iter().flat_map(|(_, object)| object.extents.iter()) {
            live.entry(run.volume).or_default().push(run.range());
        }
        for notice in &self.unindexed.notices {
            live.entry(notice.volume).or_default().push(notice.bytes.clone());
        }
        for (&number, &end) in ends {
            if let Some(volume) = self.volumes.get_mut(number) {
                volume.space.restore(HEAD_BYTES, end, live.remove(&number).unwrap_or_default());
            }
        }
    }
}

/// A record of the log.
struct LoggedRecord<'a> {
    volume: u32,
    offset: u64,
    /// Where the record before it ends.
    log_end: u64,
    header: Header,
    payload: &'a [u8],
}

impl LoggedRecord<'_> {
    fn data(&self, format: &Format) -> Option<Data> {
        let data = Data::decode(self.header.dialect, Buffer::copy_from(self.payload));
        data.ok().filter(|data| format.name_hash(data.dialect(), data.name()) == self.header.name_hash)
    }
}

/// What is needed only while the log is read.
#[derive(Default)]
struct Replay {
    ids: BTreeMap<u64, ObjectId>,
    freed: Vec<Extent>,
    /// What lies behind the last record of a volume that is not the last one.
    rests: Vec<VolumeRange>,
}

/// Refuses what another version of this program has written. Read as ours its records would all look broken,
/// and be cut off.
fn refuse_foreign(disk: &Arc<dyn Disk>, numbers: &BTreeSet<u32>) -> Result<(), OpenError> {
    let Some(&last) = numbers.last() else { return Ok(()) };
    let file = disk.open(&volume::file_name(last), false)?;
    match volume::foreign_version(&*file) {
        Some(found) if !file.is_remote() => Err(OpenError::Version { found }),
        _ => Ok(()),
    }
}

fn open_index(disk: &Arc<dyn Disk>, recovery: &mut Recovery) -> Result<(Index, Contents), OpenError> {
    let opened = Index::open(disk).and_then(|index| {
        let contents = index.read()?;
        Ok((index, contents))
    });
    match opened {
        Ok((index, contents)) => Ok((index, contents)),
        Err(_) => {
            recovery.rebuilt = true;
            disk.rename(index::FILE, index::BAD_FILE)?;
            let index = Index::open(disk)?;
            Ok((index, Contents { checkpoint: None, objects: Vec::new() }))
        }
    }
}

/// The key that the store's records were written under.
fn key_of(disk: &Arc<dyn Disk>, contents: &Contents, numbers: &BTreeSet<u32>) -> Option<[u64; 2]> {
    let in_index = contents.checkpoint.map(|checkpoint| checkpoint.key);
    in_index.or_else(|| {
        numbers.iter().find_map(|&number| {
            let file = disk.open(&volume::file_name(number), false).ok()?;
            volume::key_in_head(&*file, number)
        })
    })
}

const _: () = assert!(CHUNK_BYTES > 2 * (HEADER_BYTES + MAX_PAYLOAD_BYTES), "a piece holds a whole record");
