//! What a folder keeps of a volume that lives elsewhere: its length, the object's name, and what has been
//! punched out of it since.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, DiskFile};

const MAGIC: &[u8; 8] = b"CAIRNOUT";
const FORMAT_VERSION: u32 = 1;
/// Before the object's name: magic, version, length of the volume, length of the name.
const FIXED_BYTES: usize = 24;
const MAX_NAME_BYTES: u32 = 256;
/// A punched range and its checksum.
const ENTRY_BYTES: usize = 20;

/// The stub. Its file begins with a head that is written once; punched ranges follow.
#[derive(Debug)]
pub(super) struct Stub {
    file: Arc<dyn DiskFile>,
    pub(super) len_bytes: u64,
    pub(super) object: String,
    punched: Mutex<Punched>,
}

#[derive(Debug)]
struct Punched {
    /// Where the next range is written.
    end: u64,
    /// Merged where they touch.
    ranges: BTreeMap<u64, u64>,
}

impl Stub {
    /// Writes a new stub, durably but for the folder's entry.
    pub(super) fn create(
        disk: &dyn Disk,
        file_name: &str,
        len_bytes: u64,
        object: String,
    ) -> io::Result<Self> {
        let file = disk.open(file_name, true)?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        head.extend_from_slice(&len_bytes.to_le_bytes());
        head.extend_from_slice(&(object.len() as u32).to_le_bytes());
        head.extend_from_slice(object.as_bytes());
        head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
        file.set_len(0)?;
        file.write_at(0, &head)?;
        file.sync()?;
        let punched = Punched { end: head.len() as u64, ranges: BTreeMap::new() };
        Ok(Stub { file, len_bytes, object, punched: Mutex::new(punched) })
    }

    /// Reads a stub; `None` if its head is not as it was written.
    pub(super) fn open(disk: &dyn Disk, file_name: &str) -> io::Result<Option<Self>> {
        let file = disk.open(file_name, false)?;
        let mut bytes = vec![0; usize::try_from(file.len_bytes()?).unwrap_or(0)];
        file.read_at(0, &mut bytes)?;
        let Some(Head { len_bytes, object, head_bytes }) = Head::read(&bytes) else { return Ok(None) };
        let mut punched = Punched { end: head_bytes as u64, ranges: BTreeMap::new() };
        for entry in bytes.get(head_bytes..).unwrap_or_default().chunks_exact(ENTRY_BYTES) {
            // What follows the first that is broken was never told to be durable.
            let Some(range) = read_entry(entry) else { break };
            punched.add(range);
            punched.end += ENTRY_BYTES as u64;
        }
        Ok(Some(Stub { file, len_bytes, object, punched: Mutex::new(punched) }))
    }

    /// This range is zeros from now on, durably after [`sync`](Self::sync).
    pub(super) fn punch(&self, range: Range<u64>) -> io::Result<()> {
        let mut punched = self.lock();
        if range.is_empty() || punched.has(&range) {
            return Ok(());
        }
        let mut entry = [range.start.to_le_bytes(), range.end.to_le_bytes()].concat();
        entry.extend_from_slice(&crc32fast::hash(&entry).to_le_bytes());
        self.file.write_at(punched.end, &entry)?;
        punched.end += ENTRY_BYTES as u64;
        punched.add(range);
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// Whether all of this range is zeros.
    pub(super) fn is_punched(&self, range: &Range<u64>) -> bool {
        self.lock().has(range)
    }

    /// Makes zeros in `out`, which was read at `offset`, of what has been punched.
    pub(super) fn blank(&self, offset: u64, out: &mut [u8]) {
        let end = offset + out.len() as u64;
        let punched = self.lock();
        for (&start, &stop) in punched.ranges.range(..end).rev().take_while(|(_, stop)| **stop > offset) {
            let from = (start.max(offset) - offset) as usize;
            let to = (stop.min(end) - offset) as usize;
            out.get_mut(from..to).unwrap_or_default().fill(0);
        }
    }

    /// Bytes that the stub takes on the disk.
    pub(super) fn allocated(&self) -> io::Result<u64> {
        self.file.allocated()
    }

    fn lock(&self) -> MutexGuard<'_, Punched> {
        self.punched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Punched {
    fn has(&self, range: &Range<u64>) -> bool {
        let before = self.ranges.range(..=range.start).next_back();
        range.is_empty() || before.is_some_and(|(_, end)| *end >= range.end)
    }

    fn add(&mut self, Range { mut start, mut end }: Range<u64>) {
        while let Some((&other, &its_end)) = self.ranges.range(..=end).next_back()
            && its_end >= start
        {
            self.ranges.remove(&other);
            (start, end) = (start.min(other), end.max(its_end));
        }
        self.ranges.insert(start, end);
    }
}

/// What a stub begins with.
struct Head {
    /// Bytes of the volume that it stands for.
    len_bytes: u64,
    object: String,
    /// Its own bytes.
    head_bytes: usize,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        if bytes.get(..8)? != MAGIC || word(8)? != FORMAT_VERSION {
            return None;
        }
        let len_bytes = u64::from_le_bytes(*bytes.get(12..)?.first_chunk()?);
        let name_bytes = word(20).filter(|&len| len <= MAX_NAME_BYTES)? as usize;
        let end = FIXED_BYTES + name_bytes;
        let object = String::from_utf8(bytes.get(FIXED_BYTES..end)?.to_vec()).ok()?;
        let is_whole = crc32fast::hash(bytes.get(..end)?) == word(end)?;
        is_whole.then_some(Head { len_bytes, object, head_bytes: end + 4 })
    }
}

fn read_entry(entry: &[u8]) -> Option<Range<u64>> {
    let start = u64::from_le_bytes(*entry.first_chunk()?);
    let end = u64::from_le_bytes(*entry.get(8..)?.first_chunk()?);
    let crc = u32::from_le_bytes(*entry.get(16..)?.first_chunk()?);
    (crc32fast::hash(entry.get(..16)?) == crc && start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimulatedDisk;

    #[test]
    fn a_note_says_the_same_when_it_is_read_again_and_forgets_only_what_was_not_synced() {
        let disk = SimulatedDisk::new(3);
        let stub = Stub::create(&disk, "1.cold", 1 << 20, "ab".to_owned()).unwrap();
        for range in [0..10, 20..30, 10..20, 100..200] {
            stub.punch(range).unwrap();
        }
        stub.sync().unwrap();
        disk.sync_folder().unwrap();
        stub.punch(300..400).unwrap();
        disk.crash();
        let stub = Stub::open(&disk, "1.cold").unwrap().unwrap();
        assert_eq!((stub.len_bytes, stub.object.as_str()), (1 << 20, "ab"));
        assert!(stub.is_punched(&(0..30)) && !stub.is_punched(&(29..101)));
        let mut out = [1; 100];
        stub.blank(25, &mut out);
        let zeros: Vec<usize> = (0..100).filter(|&at| out[at] == 0).collect();
        assert_eq!(zeros, (0..5).chain(75..100).collect::<Vec<_>>());
        // A torn end is written over.
        stub.punch(500..600).unwrap();
        stub.sync().unwrap();
        drop(stub);
        assert!(Stub::open(&disk, "1.cold").unwrap().unwrap().is_punched(&(500..600)));
    }

    #[test]
    fn a_head_that_is_not_as_it_was_written_is_none() {
        let disk = SimulatedDisk::new(3);
        drop(Stub::create(&disk, "1.cold", 77, "abcdef".to_owned()).unwrap());
        let file = disk.open("1.cold", false).unwrap();
        for at in 0..file.len_bytes().unwrap() {
            let mut byte = [0];
            file.read_at(at, &mut byte).unwrap();
            file.write_at(at, &[!byte[0]]).unwrap();
            assert!(Stub::open(&disk, "1.cold").unwrap().is_none(), "byte {at}");
            file.write_at(at, &byte).unwrap();
        }
        assert!(Stub::open(&disk, "1.cold").unwrap().is_some());
    }
}
