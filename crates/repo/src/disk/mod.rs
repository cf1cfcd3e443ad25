//! The one module that does I/O, behind a trait, so that tests can put a disk in its place that fails as
//! disks do.

mod overlay;
mod real;
mod simulated;

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::Arc;

pub use overlay::OverlayDisk;
pub use real::RealDisk;
pub use simulated::{Call, Faults, SimulatedDisk};

/// A folder of files. Everything is relative to it; there are no folders inside.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file for reading and writing. With `create` it is made if it is not there.
    ///
    /// # Errors
    /// Those of the file system.
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>>;

    /// The names of all files.
    ///
    /// # Errors
    /// Those of the file system.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Gives a file another name; a file that has that name is gone then. Durable after
    /// [`sync_folder`](Self::sync_folder).
    ///
    /// # Errors
    /// Those of the file system.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. Those who have it open may go on reading. Durable after
    /// [`sync_folder`](Self::sync_folder).
    ///
    /// # Errors
    /// Those of the file system.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes durable which files there are.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync_folder(&self) -> io::Result<()>;

    /// Keeps everybody else from this folder for as long as the lock is held.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] with a text that says who holds it; those of the file system.
    fn lock(&self, holder: &str) -> io::Result<Box<dyn FolderLock>>;
}

/// An open file.
pub trait DiskFile: Debug + Send + Sync {
    /// Bytes in it.
    ///
    /// # Errors
    /// Those of the file system.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Fills `out` with what lies at `offset`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the file ends before; those of the file system.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Fills `out` as [`read_at`](Self::read_at) if the bytes are in memory; false if that would mean waiting
    /// for the disk, or if it cannot be told, or failed: then `out` holds nothing of worth.
    fn read_in_memory(&self, _offset: u64, _out: &mut [u8]) -> bool {
        false
    }

    /// Whether it lives elsewhere: reads go over a network, and nothing can be written.
    fn is_remote(&self) -> bool {
        false
    }

    /// Writes all of `bytes` at `offset`, which may be behind the end.
    ///
    /// # Errors
    /// Those of the file system. Part of it may have been written then.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes these parts one behind the other at `offset`. What is in `parts` afterwards is of no use.
    ///
    /// # Errors
    /// As [`write_at`](Self::write_at).
    fn write_parts_at(&self, offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        self.write_at(offset, &bytes)
    }

    /// Makes everything durable that was written, and the length.
    ///
    /// # Errors
    /// Those of the file system; nobody knows what is durable then.
    fn sync(&self) -> io::Result<()>;

    /// Shortens or lengthens the file. New bytes are zeros.
    ///
    /// # Errors
    /// Those of the file system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes zeros of the bytes in `range` and gives the whole blocks among them back to the file system. The
    /// length stays.
    ///
    /// # Errors
    /// Those of the file system.
    fn punch_hole(&self, range: Range<u64>) -> io::Result<()>;

    /// Bytes that the file takes on the disk.
    ///
    /// # Errors
    /// Those of the file system.
    fn allocated(&self) -> io::Result<u64>;
}

/// Held as long as a folder is one's own.
pub trait FolderLock: Debug + Send + Sync {}

/// Reads up to `len` bytes at `offset`, fewer if the file ends before.
pub(crate) fn read_up_to(file: &dyn DiskFile, offset: u64, len: usize, file_len: u64) -> io::Result<Vec<u8>> {
    let there = file_len.saturating_sub(offset).min(len as u64) as usize;
    let mut bytes = vec![0; there];
    file.read_at(offset, &mut bytes)?;
    Ok(bytes)
}
