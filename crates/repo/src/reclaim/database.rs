//! Payload in the database itself: the database deletes.

use std::collections::VecDeque;
use std::sync::Arc;

use redb::{Database, Durability, ReadableDatabase as _, TableDefinition};

use super::{Phase, Reclaim, ReclaimError};
use crate::disk::{Disk, DiskFile};
use crate::index::open_file;

const PAYLOAD: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("payload");
/// Objects deleted in a step, which is one transaction.
const OBJECTS: usize = 16;

/// A segment that is not committed yet.
#[derive(Debug)]
struct UncommittedSegment {
    object: u64,
    segment: u32,
    wire: Vec<u8>,
}

/// The layout.
#[derive(Debug)]
pub struct PayloadDatabase {
    file: Arc<dyn DiskFile>,
    database: Database,
    open: Vec<UncommittedSegment>,
    going: VecDeque<u64>,
}

impl PayloadDatabase {
    /// An empty one on this disk, with so much memory for its pages.
    ///
    /// # Errors
    /// What the database says.
    pub fn new(disk: &Arc<dyn Disk>, cache_bytes: usize) -> Result<Self, ReclaimError> {
        let file = disk.open("payload.redb", true)?;
        let database = open_file(Arc::clone(&file), cache_bytes).map_err(ReclaimError::database)?;
        Ok(PayloadDatabase { file, database, open: Vec::new(), going: VecDeque::new() })
    }
}

impl Reclaim for PayloadDatabase {
    fn insert(&mut self, object: u64, segment: u32, wire: &[u8]) -> Result<(), ReclaimError> {
        self.open.push(UncommittedSegment { object, segment, wire: wire.to_vec() });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ReclaimError> {
        let writing = self.database.begin_write().map_err(ReclaimError::database)?;
        {
            let mut table = writing.open_table(PAYLOAD).map_err(ReclaimError::database)?;
            for UncommittedSegment { object, segment, wire } in self.open.drain(..) {
                table.insert((object, segment), wire.as_slice()).map_err(ReclaimError::database)?;
            }
        }
        writing.commit().map_err(ReclaimError::database)
    }

    fn read(&self, object: u64, segment: u32) -> Result<Option<Vec<u8>>, ReclaimError> {
        if self.going.contains(&object) {
            return Ok(None);
        }
        let reading = self.database.begin_read().map_err(ReclaimError::database)?;
        let table = reading.open_table(PAYLOAD).map_err(ReclaimError::database)?;
        let value = table.get((object, segment)).map_err(ReclaimError::database)?;
        Ok(value.map(|value| value.value().to_vec()))
    }

    fn begin_deletion(&mut self, objects: &[u64]) -> Result<(), ReclaimError> {
        self.going.extend(objects);
        Ok(())
    }

    fn step(&mut self) -> Result<Phase, ReclaimError> {
        if self.going.is_empty() {
            return Ok(Phase::Idle);
        }
        let count = self.going.len().min(OBJECTS);
        let mut writing = self.database.begin_write().map_err(ReclaimError::database)?;
        let is_last = count == self.going.len();
        let durability = if is_last { Durability::Immediate } else { Durability::None };
        writing.set_durability(durability).map_err(ReclaimError::database)?;
        {
            let mut table = writing.open_table(PAYLOAD).map_err(ReclaimError::database)?;
            for object in self.going.drain(..count) {
                let all = (object, 0)..=(object, u32::MAX);
                table.retain_in(all, |_, _| false).map_err(ReclaimError::database)?;
            }
        }
        writing.commit().map_err(ReclaimError::database)?;
        Ok(Phase::CleanUp)
    }

    fn disk_bytes(&self) -> Result<u64, ReclaimError> {
        Ok(self.file.allocated()?)
    }
}
