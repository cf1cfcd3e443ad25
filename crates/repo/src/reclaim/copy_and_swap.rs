//! Copy and swap, as Gadow and Anastasiades et al. built it into CCNx' repository: one repofile, a B-tree
//! that says where each segment lies in it, and a deletion that sorts what goes by where it lies, copies what
//! stays to a second repofile, and brings the B-tree up to date. Nothing is taken in meanwhile.

use std::sync::Arc;

use redb::{Database, Durability, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::{Phase, Reclaim, ReclaimError};
use crate::disk::{Disk, DiskFile};
use crate::index::open_file;

/// From object and segment to place and bytes in the repofile.
const TREE: TableDefinition<'_, (u64, u32), (u64, u32)> = TableDefinition::new("tree");
/// Which repofile the places are in.
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
const COPIED_IN_A_STEP: usize = 1 << 20;

/// What happens to requests while a deletion is going on. New content is refused in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceDuringDeletion {
    /// None is served, as when one process does both.
    Stop,
    /// A read-only copy of the repository goes on serving from the old repofile.
    ServeReadOnly,
}

/// The layout.
#[derive(Debug)]
pub struct CopyAndSwap {
    disk: Arc<dyn Disk>,
    while_deleting: ServiceDuringDeletion,
    tree_file: Arc<dyn DiskFile>,
    tree: Database,
    repofile: Arc<dyn DiskFile>,
    number: u64,
    len: u64,
    waiting: Vec<u8>,
    open: Vec<StoredSegment>,
    deletion: Option<Deletion>,
}

#[derive(Debug)]
struct Deletion {
    /// Segments that go. Sorted by place after the first step.
    going: Vec<StoredSegment>,
    is_sorted: bool,
    new: Arc<dyn DiskFile>,
    new_len: u64,
    /// Up to where the old repofile was copied, and how many of `going` were passed over.
    copied: u64,
    passed: usize,
    /// Where what stays lies in the new repofile.
    moves: Vec<Move>,
}

/// A segment in the repofile; the first in the order of these lies first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StoredSegment {
    place: u64,
    bytes: u32,
    object: u64,
    segment: u32,
}

/// From one place on, what stays lies so much further ahead.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: u64,
    by: u64,
}

fn file_name(number: u64) -> String {
    format!("repofile{number}")
}

impl CopyAndSwap {
    /// An empty one on this disk, with so much memory for the pages of the B-tree.
    ///
    /// # Errors
    /// What the disk says.
    pub fn new(
        disk: &Arc<dyn Disk>,
        while_deleting: ServiceDuringDeletion,
        cache_bytes: usize,
    ) -> Result<Self, ReclaimError> {
        let tree_file = disk.open("tree.redb", true)?;
        let tree = open_file(Arc::clone(&tree_file), cache_bytes).map_err(ReclaimError::database)?;
        let repofile = disk.open(&file_name(1), true)?;
        disk.sync_folder()?;
        let copy_and_swap = CopyAndSwap {
            disk: Arc::clone(disk),
            while_deleting,
            tree_file,
            tree,
            repofile,
            number: 1,
            len: 0,
            waiting: Vec::new(),
            open: Vec::new(),
            deletion: None,
        };
        copy_and_swap.write_tree(|_| Ok(()))?;
        Ok(copy_and_swap)
    }

    fn write_tree(
        &self,
        write: impl FnOnce(&mut redb::Table<'_, (u64, u32), (u64, u32)>) -> Result<(), redb::StorageError>,
    ) -> Result<(), ReclaimError> {
        let mut writing = self.tree.begin_write().map_err(ReclaimError::database)?;
        writing.set_durability(Durability::Immediate).map_err(ReclaimError::database)?;
        {
            let mut tree = writing.open_table(TREE).map_err(ReclaimError::database)?;
            write(&mut tree).map_err(ReclaimError::database)?;
            let mut meta = writing.open_table(META).map_err(ReclaimError::database)?;
            meta.insert("repofile", self.number).map_err(ReclaimError::database)?;
        }
        writing.commit().map_err(ReclaimError::database)
    }

    /// Copies what stays, up to the next segment that goes or as much as a step may. True when all is copied.
    fn copy(&self, deletion: &mut Deletion) -> Result<bool, ReclaimError> {
        let mut room = COPIED_IN_A_STEP;
        while room > 0 {
            let next = deletion.going.get(deletion.passed).copied();
            let until = next.map_or(self.len, |next| next.place);
            let len = (until.saturating_sub(deletion.copied) as usize).min(room);
            let mut bytes = vec![0; len];
            self.repofile.read_at(deletion.copied, &mut bytes)?;
            deletion.new.write_at(deletion.new_len, &bytes)?;
            deletion.copied += len as u64;
            deletion.new_len += len as u64;
            room -= len;
            if deletion.copied == until {
                let Some(next) = next else { return Ok(true) };
                deletion.copied = next.place + u64::from(next.bytes);
                deletion.passed += 1;
                let by = deletion.copied - deletion.new_len;
                deletion.moves.push(Move { from: deletion.copied, by });
            }
        }
        Ok(false)
    }

    /// Takes what goes out of the B-tree, tells it the new places of what stays, and lets the new repofile
    /// take the old one's place.
    fn clean_up(&mut self, deletion: &Deletion) -> Result<(), ReclaimError> {
        deletion.new.sync()?;
        self.disk.sync_folder()?;
        let old = self.number;
        self.number += 1;
        self.write_tree(|tree| {
            for gone in &deletion.going {
                tree.remove((gone.object, gone.segment))?;
            }
            let mut moved = Vec::new();
            for entry in tree.iter()? {
                let (key, value) = entry?;
                let (place, bytes) = value.value();
                let at = deletion.moves.partition_point(|moved| moved.from <= place);
                let shift =
                    at.checked_sub(1).and_then(|at| deletion.moves.get(at)).map_or(0, |moved| moved.by);
                if shift > 0 {
                    moved.push((key.value(), (place - shift, bytes)));
                }
            }
            for (key, value) in moved {
                tree.insert(key, value)?;
            }
            Ok(())
        })?;
        self.repofile = Arc::clone(&deletion.new);
        self.len = deletion.new_len;
        self.disk.remove(&file_name(old))?;
        Ok(self.disk.sync_folder()?)
    }
}

impl Reclaim for CopyAndSwap {
    fn insert(&mut self, object: u64, segment: u32, wire: &[u8]) -> Result<(), ReclaimError> {
        if self.deletion.is_some() {
            return Err(ReclaimError::Deleting);
        }
        let place = self.len + self.waiting.len() as u64;
        self.waiting.extend_from_slice(wire);
        self.open.push(StoredSegment { place, bytes: wire.len() as u32, object, segment });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ReclaimError> {
        if self.open.is_empty() {
            return Ok(());
        }
        self.repofile.write_at(self.len, &self.waiting)?;
        self.repofile.sync()?;
        let open = std::mem::take(&mut self.open);
        self.write_tree(|tree| {
            for &StoredSegment { place, bytes, object, segment } in &open {
                tree.insert((object, segment), (place, bytes))?;
            }
            Ok(())
        })?;
        self.len += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    fn read(&self, object: u64, segment: u32) -> Result<Option<Vec<u8>>, ReclaimError> {
        if let Some(deletion) = &self.deletion {
            if self.while_deleting == ServiceDuringDeletion::Stop {
                return Err(ReclaimError::Deleting);
            }
            // What goes is found by object; the list may be long, but it is only looked at here.
            if deletion.going.iter().any(|going| going.object == object) {
                return Ok(None);
            }
        }
        let reading = self.tree.begin_read().map_err(ReclaimError::database)?;
        let tree = reading.open_table(TREE).map_err(ReclaimError::database)?;
        let Some(value) = tree.get((object, segment)).map_err(ReclaimError::database)? else {
            return Ok(None);
        };
        let (place, bytes) = value.value();
        let mut wire = vec![0; bytes as usize];
        self.repofile.read_at(place, &mut wire)?;
        Ok(Some(wire))
    }

    fn begin_deletion(&mut self, objects: &[u64]) -> Result<(), ReclaimError> {
        while self.step()? != Phase::Idle {}
        self.commit()?;
        let mut going = Vec::new();
        let reading = self.tree.begin_read().map_err(ReclaimError::database)?;
        let tree = reading.open_table(TREE).map_err(ReclaimError::database)?;
        for &object in objects {
            for entry in tree.range((object, 0)..=(object, u32::MAX)).map_err(ReclaimError::database)? {
                let (key, value) = entry.map_err(ReclaimError::database)?;
                let (place, bytes) = value.value();
                going.push(StoredSegment { place, bytes, object, segment: key.value().1 });
            }
        }
        let new = self.disk.open(&file_name(self.number + 1), true)?;
        new.set_len(0)?;
        self.deletion = Some(Deletion {
            going,
            is_sorted: false,
            new,
            new_len: 0,
            copied: 0,
            passed: 0,
            moves: Vec::new(),
        });
        Ok(())
    }

    fn step(&mut self) -> Result<Phase, ReclaimError> {
        let Some(mut deletion) = self.deletion.take() else { return Ok(Phase::Idle) };
        if !deletion.is_sorted {
            // The stable sort of the standard library merges runs.
            deletion.going.sort();
            deletion.is_sorted = true;
            self.deletion = Some(deletion);
            return Ok(Phase::Sort);
        }
        if deletion.copied < self.len {
            let result = self.copy(&mut deletion);
            self.deletion = Some(deletion);
            return result.map(|_| Phase::Copy);
        }
        let result = self.clean_up(&deletion);
        if result.is_err() {
            self.deletion = Some(deletion);
        }
        result.map(|()| Phase::CleanUp)
    }

    fn disk_bytes(&self) -> Result<u64, ReclaimError> {
        Ok(self.repofile.allocated()? + self.tree_file.allocated()?)
    }
}
