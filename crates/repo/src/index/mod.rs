//! The index on disk: which objects there are, where their segments lie, and up to which place in the volumes
//! that is so.
//!
//! The volumes themselves are the log of everything that happened. The index follows lazily: a checkpoint
//! writes down what has changed since the last one, and where the log ended. After a crash only the log
//! behind the last checkpoint is read again; without an index, all of it. So nobody who inserts waits for the
//! index.

mod backend;
mod row;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use redb::{
    Database, Durability, ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _,
    TableDefinition,
};

use crate::disk::{Disk, DiskFile};
use crate::key::Key;
use crate::object::Object;
use backend::Backend;

const OBJECTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("objects");
const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
const CHECKPOINT: &str = "checkpoint";

/// The name of the index among the files.
pub(crate) const FILE: &str = "index.redb";
/// What an index that cannot be read is renamed to.
pub(crate) const BAD_FILE: &str = "index.bad";
/// Pages are also in the page cache of the operating system.
const CACHE_BYTES: usize = 8 << 20;

/// Up to where the index is true, and what else must not be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// The secret key of the store's records.
    pub(crate) key: [u64; 2],
    /// The log was followed up to this byte of this volume.
    pub(crate) volume: u32,
    pub(crate) offset: u64,
    /// The number that the next object gets.
    pub(crate) next_object: u64,
}

/// The index.
#[derive(Debug)]
pub(crate) struct Index {
    /// `None` while it is being opened anew.
    database: Option<Database>,
    /// A library that has seen an error once wants to be opened anew.
    has_failed: bool,
}

/// What the index is to say of one object.
#[derive(Debug)]
pub(crate) struct Row {
    key: Key,
    bytes: Vec<u8>,
}

impl Row {
    pub(crate) fn of(object: &Object) -> Self {
        let mut bytes = Vec::new();
        row::write_object(object, &mut bytes);
        Row { key: object.key.clone(), bytes }
    }
}

/// All that an index says.
pub(crate) struct Contents {
    pub(crate) checkpoint: Option<Checkpoint>,
    pub(crate) objects: Vec<Object>,
}

/// The index cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The database failed.
    #[error("index: {0}")]
    Database(#[source] Box<redb::Error>),
    /// The file system failed.
    #[error("index: {0}")]
    Io(#[from] io::Error),
    /// It does not say up to where it is true.
    #[error("index: broken checkpoint")]
    Checkpoint,
    /// It says of an object what cannot be.
    #[error("index: broken row")]
    Row,
    /// What was checked when it was opened is not so any more.
    #[error("index: damaged while it was open")]
    Damaged,
    /// It is not open.
    #[error("index: not open")]
    Closed,
}

/// The database failed.
fn failed(error: impl Into<redb::Error>) -> IndexError {
    IndexError::Database(Box::new(error.into()))
}

impl Index {
    /// Opens the index, or makes an empty one.
    pub(crate) fn open(disk: &Arc<dyn Disk>) -> Result<Self, IndexError> {
        let database = Some(open_database(disk)?);
        disk.sync_folder()?;
        Ok(Index { database, has_failed: false })
    }

    fn database(&self) -> Result<&Database, IndexError> {
        self.database.as_ref().ok_or(IndexError::Closed)
    }

    /// Reads everything.
    ///
    /// # Errors
    /// Anything that is not as it was written, down to a single row: the volumes know better then.
    pub(crate) fn read(&self) -> Result<Contents, IndexError> {
        let reading = self.database()?.begin_read().map_err(failed)?;
        let mut contents = Contents { checkpoint: None, objects: Vec::new() };
        let meta = match reading.open_table(META) {
            Ok(meta) => meta,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(contents),
            Err(error) => return Err(failed(error)),
        };
        if let Some(bytes) = meta.get(CHECKPOINT).map_err(failed)? {
            contents.checkpoint = Some(row::read_checkpoint(bytes.value()).ok_or(IndexError::Checkpoint)?);
        }
        let objects = match reading.open_table(OBJECTS) {
            Ok(objects) => objects,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(contents),
            Err(error) => return Err(failed(error)),
        };
        // As many as it says there are; where it is wrong, reading tells.
        let count = usize::try_from(objects.len().map_err(failed)?).unwrap_or_default();
        let _ = contents.objects.try_reserve(count);
        for entry in objects.iter().map_err(failed)? {
            let (key, value) = entry.map_err(failed)?;
            let object = row::read_object(key.value(), value.value()).ok_or(IndexError::Row)?;
            contents.objects.push(object);
        }
        Ok(contents)
    }

    /// Stands for an index that is elsewhere; opened anew if it does not come back.
    pub(crate) fn closed() -> Self {
        Index { database: None, has_failed: true }
    }

    /// Writes down objects that have changed and forgets those that are gone. When this returns it is
    /// durable.
    pub(crate) fn write(
        &mut self,
        disk: &Arc<dyn Disk>,
        checkpoint: &Checkpoint,
        gone: &[Key],
        changed: &[Row],
    ) -> Result<(), IndexError> {
        if self.has_failed {
            // The old one must have let go before.
            self.database = None;
            self.database = Some(open_database(disk)?);
            self.has_failed = false;
        }
        // A page that the disk has altered since it was checked may make the library panic.
        let write = AssertUnwindSafe(|| self.try_write(checkpoint, gone, changed));
        let result = catch_unwind(write).unwrap_or_else(|_| Err(IndexError::Damaged));
        self.has_failed = result.is_err();
        result
    }

    fn try_write(&self, checkpoint: &Checkpoint, gone: &[Key], changed: &[Row]) -> Result<(), IndexError> {
        let mut writing = self.database()?.begin_write().map_err(failed)?;
        writing.set_durability(Durability::Immediate).map_err(failed)?;
        // Opening takes no time after a crash then, whatever the size.
        writing.set_quick_repair(true);
        {
            let mut objects = writing.open_table(OBJECTS).map_err(failed)?;
            for key in gone {
                objects.remove(&**key).map_err(failed)?;
            }
            for row in changed {
                objects.insert(&*row.key, row.bytes.as_slice()).map_err(failed)?;
            }
            let mut meta = writing.open_table(META).map_err(failed)?;
            meta.insert(CHECKPOINT, row::write_checkpoint(checkpoint).as_slice()).map_err(failed)?;
        }
        writing.commit().map_err(failed)
    }
}

fn open_database(disk: &Arc<dyn Disk>) -> Result<Database, IndexError> {
    open_file(disk.open(FILE, true)?, CACHE_BYTES).map_err(failed)
}

/// A database in this file, with so much memory for its pages.
pub(crate) fn open_file(
    file: Arc<dyn DiskFile>,
    cache_bytes: usize,
) -> Result<Database, redb::DatabaseError> {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(cache_bytes);
    // All of the index is read at the start anyhow, and the library trusts what it has not checked.
    builder.set_check_integrity_on_open(true);
    builder.create_with_backend(Backend::new(file))
}
