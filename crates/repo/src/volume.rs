//! Volumes: append-only files of records, sealed at a size.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use packet::UnixTime;
use packet::{Dialect, NameHash};

use crate::disk::{Disk, DiskFile};
use crate::extent::{Location, RecordPlace, UNIT_BYTES};
use crate::layout::{Layout, Payload};
use crate::record::{Format, HEADER_BYTES, Header, RecordKind};
use crate::space::VolumeSpace;

/// Bytes before the first record.
pub(crate) const HEAD_BYTES: u64 = 64;
/// Places are told in 32 bits; a volume may grow over its limit by a commit.
pub(crate) const MAX_VOLUME_BYTES: u64 = 32 << 30;
const MAGIC: &[u8; 8] = b"CAIRNVOL";
const FORMAT_VERSION: u32 = 1;
/// Where in a head its checksum is, of what stands before.
const HEAD_CRC: usize = 32;
/// A place is larger than its first record by this much at least: signatures and segment numbers vary in
/// length.
const SLACK_BYTES: u64 = 8;

/// One volume.
#[derive(Debug)]
pub(crate) struct Volume {
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) space: VolumeSpace,
}

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub(crate) volume: u32,
    pub(crate) offset: u64,
}

/// Bytes of a volume.
#[derive(Clone, Debug)]
pub(crate) struct VolumeRange {
    pub(crate) volume: u32,
    pub(crate) bytes: Range<u64>,
}

/// All volumes. The one with the highest number is written to.
#[derive(Debug)]
pub(crate) struct Volumes {
    disk: Arc<dyn Disk>,
    key: [u64; 2],
    volumes: BTreeMap<u32, Volume>,
    /// What was written last, which the next record may continue.
    tail: Option<Tail>,
    /// The end of the last volume may hold what nobody was told is there; it must be cut off first.
    needs_repair: bool,
}

#[derive(Clone, Copy, Debug)]
struct Tail {
    object: u64,
    next_segment: u32,
    next_unit: u32,
    stride_units: u32,
}

/// A record to be written.
pub(crate) struct Entry<'a> {
    pub(crate) kind: RecordKind,
    pub(crate) dialect: Dialect,
    pub(crate) object: u64,
    pub(crate) segment: u32,
    pub(crate) name_hash: NameHash,
    pub(crate) arrival: UnixTime,
    pub(crate) payload: Payload<'a>,
}

/// A volume that is to be begun.
pub(crate) struct Opening {
    disk: Arc<dyn Disk>,
    number: u32,
    key: [u64; 2],
}

impl Opening {
    /// Makes its file.
    pub(crate) fn open(&self) -> io::Result<(u32, Arc<dyn DiskFile>)> {
        let file = self.disk.open(&file_name(self.number), true)?;
        file.set_len(0)?;
        file.write_at(0, &head(self.number, self.key))?;
        file.sync()?;
        self.disk.sync_folder()?;
        Ok((self.number, file))
    }
}

/// Records that are laid out and not yet written.
pub(crate) struct Prepared {
    number: u32,
    file: Arc<dyn DiskFile>,
    start: u64,
    tail: Option<Tail>,
    written: Vec<WrittenRecord>,
}

impl Prepared {
    /// Where they belong.
    pub(crate) fn place(&self) -> (Arc<dyn DiskFile>, u64) {
        (Arc::clone(&self.file), self.start)
    }
}

/// Where a record was put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenRecord {
    pub(crate) location: Location,
    /// Where what it takes begins: before its place if it continues a run whose last record was short.
    start: u64,
}

/// The file of this volume.
pub(crate) fn file_name(volume: u32) -> String {
    name_with(volume, "volume")
}

/// The number of the volume in this file.
pub(crate) fn number_of(file_name: &str) -> Option<u32> {
    number_before(file_name, "volume")
}

/// The file of this volume that has this suffix.
pub(crate) fn name_with(volume: u32, suffix: &str) -> String {
    format!("{volume:08}.{suffix}")
}

/// The number of the volume that has this file with this suffix.
pub(crate) fn number_before(file_name: &str, suffix: &str) -> Option<u32> {
    let digits = file_name.strip_suffix(suffix)?.strip_suffix('.')?;
    (digits.len() == 8).then(|| digits.parse().ok()).flatten()
}

fn head(volume: u32, key: [u64; 2]) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    head.extend_from_slice(&volume.to_le_bytes());
    key.iter().for_each(|word| head.extend_from_slice(&word.to_le_bytes()));
    head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    head.resize(HEAD_BYTES as usize, 0);
    head
}

/// The version of the format that this volume is of, if it is another than ours.
pub(crate) fn foreign_version(file: &dyn DiskFile) -> Option<u32> {
    let mut head = [0; HEAD_BYTES as usize];
    file.read_at(0, &mut head).ok()?;
    let (before, rest) = head.split_first_chunk::<8>()?;
    let version = u32::from_le_bytes(*rest.first_chunk()?);
    // Of a head that was torn there may be no more than its first bytes.
    if before != MAGIC || [0, FORMAT_VERSION].contains(&version) {
        return None;
    }
    // Or a bit was flipped, and all the rest is ours.
    let mut ours = head;
    ours.get_mut(8..12)?.copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    let crc = crc32fast::hash(ours.get(..HEAD_CRC)?);
    (ours.get(HEAD_CRC..)?.first_chunk() != Some(&crc.to_le_bytes())).then_some(version)
}

/// The store's key in the head of this volume; `None` if the head is broken.
pub(crate) fn key_in_head(file: &dyn DiskFile, volume: u32) -> Option<[u64; 2]> {
    let mut bytes = [0; HEAD_BYTES as usize];
    file.read_at(0, &mut bytes).ok()?;
    let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let key = [word(16)?, word(24)?];
    (bytes == *head(volume, key)).then_some(key)
}

impl Volumes {
    pub(crate) fn new(disk: Arc<dyn Disk>, key: [u64; 2]) -> Self {
        Volumes { disk, key, volumes: BTreeMap::new(), tail: None, needs_repair: false }
    }

    pub(crate) fn get(&self, volume: u32) -> Option<&Volume> {
        self.volumes.get(&volume)
    }

    pub(crate) fn get_mut(&mut self, volume: u32) -> Option<&mut Volume> {
        self.volumes.get_mut(&volume)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Volume)> {
        self.volumes.iter().map(|(&number, volume)| (number, volume))
    }

    /// Adds a volume that is there already.
    pub(crate) fn add(&mut self, number: u32, file: Arc<dyn DiskFile>) {
        self.volumes.insert(number, Volume { file, space: VolumeSpace::new(HEAD_BYTES) });
    }

    /// The volume that is written to.
    pub(crate) fn active(&self) -> Option<u32> {
        self.volumes.keys().next_back().copied()
    }

    /// Where the log ends.
    pub(crate) fn end(&self) -> LogPosition {
        let last = self.volumes.iter().next_back();
        last.map_or(LogPosition { volume: 0, offset: HEAD_BYTES }, |(&number, volume)| LogPosition {
            volume: number,
            offset: volume.space.len_bytes(),
        })
    }

    /// The volume to be begun before anything is written, if there is none or the last one has reached
    /// `max_bytes`.
    pub(crate) fn roll(&self, max_bytes: u64) -> Option<Opening> {
        let LogPosition { volume: last, offset: len } = self.end();
        let is_due = self.volumes.is_empty() || len >= max_bytes;
        is_due.then(|| Opening { disk: Arc::clone(&self.disk), number: last + 1, key: self.key })
    }

    /// Adds a volume that has just been begun.
    pub(crate) fn add_active(&mut self, number: u32, file: Arc<dyn DiskFile>) {
        self.add(number, file);
        self.tail = None;
    }

    /// Writes the head of the volume that is written to, if it is broken: who made it may have died before it
    /// was there. Without any head nobody would know the key when the index is lost. Durable when the end is
    /// cut.
    pub(crate) fn mend_head(&self) -> io::Result<()> {
        let Some((&number, volume)) = self.volumes.iter().next_back() else { return Ok(()) };
        if volume.file.is_remote() || key_in_head(&*volume.file, number) == Some(self.key) {
            return Ok(());
        }
        volume.file.write_at(0, &head(number, self.key))
    }

    /// Cuts off whatever lies behind the end of the log, so that nobody will ever read it.
    pub(crate) fn cut_tail(&mut self) -> io::Result<()> {
        if let Some((_, volume)) = self.volumes.iter().next_back() {
            volume.file.set_len(volume.space.len_bytes())?;
            volume.file.sync()?;
        }
        self.tail = None;
        self.needs_repair = false;
        Ok(())
    }

    /// Lays records out, to be written to the end of the log.
    ///
    /// # Errors
    /// What an earlier failure left there cannot be cut off.
    pub(crate) fn prepare<'a>(
        &mut self,
        format: &Format,
        entries: impl Iterator<Item = Entry<'a>>,
        layout: &mut Layout,
    ) -> io::Result<Prepared> {
        if self.needs_repair {
            self.cut_tail()?;
        }
        let Some((&number, volume)) = self.volumes.iter().next_back() else {
            return Err(io::Error::other("there is no volume"));
        };
        let start = volume.space.len_bytes();
        layout.clear();
        let mut tail = self.tail;
        let written = entries.map(|entry| place(format, number, start, &mut tail, &entry, layout)).collect();
        // Until it is known to be written, who writes next must cut off what there is of it.
        self.needs_repair = true;
        Ok(Prepared { number, file: Arc::clone(&volume.file), start, tail, written })
    }

    /// Takes note of what was prepared once it is written and synced, or that it could not be.
    ///
    /// # Errors
    /// As given: none of the records is there.
    pub(crate) fn finish(
        &mut self,
        prepared: Prepared,
        result: io::Result<()>,
    ) -> io::Result<Vec<WrittenRecord>> {
        if let Err(error) = result {
            // If this fails, too, it is tried again before anything else is written.
            let _ = self.cut_tail();
            return Err(error);
        }
        self.needs_repair = false;
        self.tail = prepared.tail;
        if let Some(volume) = self.volumes.get_mut(&prepared.number) {
            for record in &prepared.written {
                volume.space.append(record.start..record.location.place.end());
            }
        }
        Ok(prepared.written)
    }

    /// Removes a volume from the table; its file is still there.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Volume> {
        self.volumes.remove(&number)
    }
}

/// The size of the places of a run whose first record has so many bytes.
pub(crate) fn stride_units(record_bytes: u64) -> u32 {
    (record_bytes + SLACK_BYTES).div_ceil(UNIT_BYTES) as u32
}

/// Appends one record to what will be written to `start` of the volume.
fn place(
    format: &Format,
    volume: u32,
    start: u64,
    tail: &mut Option<Tail>,
    entry: &Entry<'_>,
    layout: &mut Layout,
) -> WrittenRecord {
    let payload = entry.payload.bytes();
    let record_bytes = (HEADER_BYTES + payload.len()) as u64;
    let end = start + layout.len_bytes();
    let continued = tail.filter(|tail| {
        entry.kind == RecordKind::Data
            && tail.object == entry.object
            && tail.next_segment == entry.segment
            && u64::from(tail.next_unit) * UNIT_BYTES >= end
            && record_bytes <= u64::from(tail.stride_units) * UNIT_BYTES
    });
    let (offset, stride_units) = match continued {
        Some(tail) => (u64::from(tail.next_unit) * UNIT_BYTES, tail.stride_units),
        None => (end, stride_units(record_bytes)),
    };
    let header = Header {
        kind: entry.kind,
        dialect: entry.dialect,
        payload_bytes: payload.len() as u32,
        payload_crc: crc32fast::hash(payload),
        segment: entry.segment,
        object: entry.object,
        name_hash: entry.name_hash,
        arrival: entry.arrival,
    };
    layout.pad_to(offset - start);
    layout.put(&format.header(&header, volume, offset));
    layout.put_payload(entry.payload);
    layout.pad_to(layout.len_bytes().next_multiple_of(UNIT_BYTES));
    let unit = (offset / UNIT_BYTES) as u32;
    *tail = (entry.kind == RecordKind::Data).then(|| Tail {
        object: entry.object,
        next_segment: entry.segment.saturating_add(1),
        next_unit: unit.saturating_add(stride_units),
        stride_units,
    });
    let place = RecordPlace { volume, unit, len_bytes: record_bytes as u32 };
    WrittenRecord { location: Location { place, stride_units, continues: continued.is_some() }, start: end }
}
