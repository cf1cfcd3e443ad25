//! A file for each object, and a file for each segment: the file system deletes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::{Phase, Reclaim, ReclaimError};
use crate::disk::{Disk, DiskFile};

/// Files removed in a step.
const FILES: usize = 64;
/// Open files that are kept for reading.
const MAX_OPEN: usize = 256;

/// One file for each object, its segments one after the other.
#[derive(Debug)]
pub struct FilePerObject {
    disk: Arc<dyn Disk>,
    objects: BTreeMap<u64, ObjectFile>,
    /// Objects that were written to since the last commit.
    unsynced: BTreeSet<u64>,
    going: VecDeque<u64>,
}

#[derive(Debug)]
struct ObjectFile {
    /// Open while it is written to.
    file: Option<Arc<dyn DiskFile>>,
    len: u64,
    segments: BTreeMap<u32, (u64, u32)>,
}

impl FilePerObject {
    /// An empty one on this disk.
    pub fn new(disk: &Arc<dyn Disk>) -> Self {
        let disk = Arc::clone(disk);
        FilePerObject { disk, objects: BTreeMap::new(), unsynced: BTreeSet::new(), going: VecDeque::new() }
    }
}

fn object_file(object: u64) -> String {
    format!("{object:016x}.object")
}

fn segment_file(object: u64, segment: u32) -> String {
    format!("{object:016x}-{segment:08x}.segment")
}

impl Reclaim for FilePerObject {
    fn insert(&mut self, object: u64, segment: u32, wire: &[u8]) -> Result<(), ReclaimError> {
        let entry = self.objects.entry(object).or_insert_with(|| ObjectFile {
            file: None,
            len: 0,
            segments: BTreeMap::new(),
        });
        let file = match &entry.file {
            Some(file) => Arc::clone(file),
            None => self.disk.open(&object_file(object), true)?,
        };
        file.write_at(entry.len, wire)?;
        entry.segments.insert(segment, (entry.len, wire.len() as u32));
        entry.len += wire.len() as u64;
        entry.file = Some(file);
        self.unsynced.insert(object);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ReclaimError> {
        for object in std::mem::take(&mut self.unsynced) {
            let Some(entry) = self.objects.get_mut(&object) else { continue };
            if let Some(file) = entry.file.take() {
                file.sync()?;
            }
        }
        Ok(self.disk.sync_folder()?)
    }

    fn read(&self, object: u64, segment: u32) -> Result<Option<Vec<u8>>, ReclaimError> {
        let Some(entry) = self.objects.get(&object) else { return Ok(None) };
        let Some(&(offset, len)) = entry.segments.get(&segment) else { return Ok(None) };
        let mut bytes = vec![0; len as usize];
        self.disk.open(&object_file(object), false)?.read_at(offset, &mut bytes)?;
        Ok(Some(bytes))
    }

    fn begin_deletion(&mut self, objects: &[u64]) -> Result<(), ReclaimError> {
        let gone = objects.iter().filter(|object| self.objects.remove(object).is_some());
        self.going.extend(gone);
        Ok(())
    }

    fn step(&mut self) -> Result<Phase, ReclaimError> {
        if self.going.is_empty() {
            return Ok(Phase::Idle);
        }
        for object in self.going.drain(..self.going.len().min(FILES)) {
            self.disk.remove(&object_file(object))?;
        }
        self.disk.sync_folder()?;
        Ok(Phase::CleanUp)
    }

    fn disk_bytes(&self) -> Result<u64, ReclaimError> {
        let mut bytes = 0;
        for &object in self.objects.keys() {
            bytes += self.disk.open(&object_file(object), false)?.allocated()?;
        }
        Ok(bytes)
    }
}

/// One file for each segment.
#[derive(Debug)]
pub struct FilePerSegment {
    disk: Arc<dyn Disk>,
    /// Segments that are here, with their bytes.
    segments: BTreeMap<(u64, u32), u32>,
    unsynced: Vec<Arc<dyn DiskFile>>,
    going: VecDeque<(u64, u32)>,
}

impl FilePerSegment {
    /// An empty one on this disk.
    pub fn new(disk: &Arc<dyn Disk>) -> Self {
        let disk = Arc::clone(disk);
        FilePerSegment { disk, segments: BTreeMap::new(), unsynced: Vec::new(), going: VecDeque::new() }
    }

    fn sync(&mut self) -> Result<(), ReclaimError> {
        for file in self.unsynced.drain(..) {
            file.sync()?;
        }
        Ok(())
    }
}

impl Reclaim for FilePerSegment {
    fn insert(&mut self, object: u64, segment: u32, wire: &[u8]) -> Result<(), ReclaimError> {
        let file = self.disk.open(&segment_file(object, segment), true)?;
        file.write_at(0, wire)?;
        self.unsynced.push(file);
        self.segments.insert((object, segment), wire.len() as u32);
        if self.unsynced.len() >= MAX_OPEN { self.sync() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), ReclaimError> {
        self.sync()?;
        Ok(self.disk.sync_folder()?)
    }

    fn read(&self, object: u64, segment: u32) -> Result<Option<Vec<u8>>, ReclaimError> {
        let Some(&len) = self.segments.get(&(object, segment)) else { return Ok(None) };
        let mut bytes = vec![0; len as usize];
        self.disk.open(&segment_file(object, segment), false)?.read_at(0, &mut bytes)?;
        Ok(Some(bytes))
    }

    fn begin_deletion(&mut self, objects: &[u64]) -> Result<(), ReclaimError> {
        for &object in objects {
            let of_object = self.segments.range((object, 0)..=(object, u32::MAX));
            let segments: Vec<(u64, u32)> = of_object.map(|(&segment, _)| segment).collect();
            for segment in segments {
                self.segments.remove(&segment);
                self.going.push_back(segment);
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<Phase, ReclaimError> {
        if self.going.is_empty() {
            return Ok(Phase::Idle);
        }
        for (object, segment) in self.going.drain(..self.going.len().min(FILES)) {
            self.disk.remove(&segment_file(object, segment))?;
        }
        if self.going.is_empty() {
            self.disk.sync_folder()?;
        }
        Ok(Phase::CleanUp)
    }

    fn disk_bytes(&self) -> Result<u64, ReclaimError> {
        let mut bytes = 0;
        for &(object, segment) in self.segments.keys() {
            bytes += self.disk.open(&segment_file(object, segment), false)?.allocated()?;
        }
        Ok(bytes)
    }
}
