//! Ways to lay payload out on a disk, and what each has to do to give room back: for comparison, on real
//! disks and with real Data.
//!
//! The [`Store`](crate::Store) punches holes. The others are what the paper built (copy and swap) and what it
//! names as future work (a file for each object, a file for each segment, a database). All five know objects
//! by number and segments of them; a deletion goes on in steps, each of which says what it worked on, so that
//! whoever drives it can time the parts and serve between them.

mod copy_and_swap;
mod database;
mod files;
mod holes;

use std::fmt;
use std::io;

pub use copy_and_swap::{CopyAndSwap, ServiceDuringDeletion};
pub use database::PayloadDatabase;
pub use files::{FilePerObject, FilePerSegment};
pub use holes::PunchHoles;

/// What a step of a deletion worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing: there is no deletion, or it is finished.
    Idle,
    /// Sorting what is to be deleted by where it lies.
    Sort,
    /// Copying what stays.
    Copy,
    /// Everything else: the index, the files, the holes.
    CleanUp,
}

/// Why a segment is not taken, or not given.
#[derive(Debug, thiserror::Error)]
pub enum ReclaimError {
    /// Not while a deletion is going on.
    #[error("a deletion is going on")]
    Deleting,
    /// The file system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The database failed.
    #[error("{0}")]
    Database(#[source] redb::Error),
}

impl ReclaimError {
    fn database(error: impl Into<redb::Error>) -> Self {
        ReclaimError::Database(error.into())
    }
}

/// A layout of payload on a disk.
pub trait Reclaim: fmt::Debug + Send {
    /// Takes a segment. It is durable after the next [`commit`](Self::commit).
    ///
    /// # Errors
    /// [`ReclaimError::Deleting`] while nothing is taken; what the disk says.
    fn insert(&mut self, object: u64, segment: u32, wire: &[u8]) -> Result<(), ReclaimError>;

    /// Makes everything durable that was taken.
    ///
    /// # Errors
    /// What the disk says.
    fn commit(&mut self) -> Result<(), ReclaimError>;

    /// A committed segment, if it is here.
    ///
    /// # Errors
    /// [`ReclaimError::Deleting`] while nothing is served; what the disk says.
    fn read(&self, object: u64, segment: u32) -> Result<Option<Vec<u8>>, ReclaimError>;

    /// Begins to delete these objects. None is served any longer. Whatever is going on is finished first.
    ///
    /// # Errors
    /// What the disk says.
    fn begin_deletion(&mut self, objects: &[u64]) -> Result<(), ReclaimError>;

    /// Does some more of the deletion, and says what.
    ///
    /// # Errors
    /// What the disk says.
    fn step(&mut self) -> Result<Phase, ReclaimError>;

    /// Bytes that it all takes on the disk.
    ///
    /// # Errors
    /// What the disk says.
    fn disk_bytes(&self) -> Result<u64, ReclaimError>;
}

#[cfg(test)]
mod tests;
