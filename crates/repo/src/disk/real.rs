//! A folder of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Seek as _, Write as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, FlockOperation};
use rustix::io::{ReadWriteFlags, preadv2, pwritev};

use super::{Disk, DiskFile, FolderLock};

/// Blocks in `st_blocks` have so many bytes whatever the file system's own have.
const STAT_BLOCK_BYTES: u64 = 512;
/// Parts that Linux writes by one call at most.
const MAX_PARTS: usize = 1024;
/// By which a folder is locked; says who has locked it.
pub(super) const LOCK_FILE: &str = "lock";

/// A folder.
#[derive(Debug)]
pub struct RealDisk {
    folder: PathBuf,
}

impl RealDisk {
    /// The folder at this path, which is made if it is not there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.as_ref().to_path_buf();
        fs::create_dir_all(&folder)?;
        Ok(RealDisk { folder })
    }

    /// Whether this process may make files in the folder, which it may not on a read-only mount.
    pub fn is_writable(&self) -> bool {
        rustix::fs::access(&self.folder, rustix::fs::Access::WRITE_OK).is_ok()
    }
}

/// The names of all files of a folder, sorted.
pub(super) fn file_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Locks a folder by this file, or says who has it.
pub(super) fn hold(
    mut file: File,
    operation: FlockOperation,
    folder: &Path,
) -> io::Result<Box<dyn FolderLock>> {
    match rustix::fs::flock(&file, operation) {
        Ok(()) => Ok(Box::new(Lock { _file: file })),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut text = String::new();
            let _ = file.read_to_string(&mut text);
            let who = if text.is_empty() { "somebody who did not say who" } else { text.trim() };
            let message = format!("{} is in use by {who}", folder.display());
            Err(io::Error::new(io::ErrorKind::WouldBlock, message))
        }
        Err(error) => Err(error.into()),
    }
}

impl Disk for RealDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.folder.join(name);
        let file = OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        file_names(&self.folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.folder.join(from), self.folder.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn lock(&self, holder: &str) -> io::Result<Box<dyn FolderLock>> {
        let path = self.folder.join(LOCK_FILE);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        let mut note = file.try_clone()?;
        let lock = hold(file, FlockOperation::NonBlockingLockExclusive, &self.folder)?;
        note.set_len(0)?;
        note.rewind()?;
        writeln!(note, "{holder} (process {})", std::process::id())?;
        Ok(lock)
    }
}

/// The lock goes with the file.
#[derive(Debug)]
struct Lock {
    _file: File,
}

impl FolderLock for Lock {}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn read_in_memory(&self, offset: u64, out: &mut [u8]) -> bool {
        let wanted = out.len();
        // Where a part of it is in memory only that part is read.
        let read = preadv2(&self.0, &mut [IoSliceMut::new(out)], offset, ReadWriteFlags::NOWAIT);
        read == Ok(wanted)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn write_parts_at(&self, mut offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut parts = parts;
        // Also takes out those that are empty.
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            let some = parts.get(..parts.len().min(MAX_PARTS)).unwrap_or_default();
            match pwritev(&self.0, some, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    offset += written as u64;
                    IoSlice::advance_slices(&mut parts, written);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        // Of the metadata only what is needed to read the data again, its length included.
        self.0.sync_data()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn punch_hole(&self, range: Range<u64>) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let len = range.end.saturating_sub(range.start);
        if len == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.0, flags, range.start, len) {
            // Some file systems have no holes. What was deleted must not be read again all the same.
            Err(rustix::io::Errno::OPNOTSUPP) => self.0.write_all_at(&vec![0; len as usize], range.start),
            other => Ok(other?),
        }
    }

    fn allocated(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.blocks() * STAT_BLOCK_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    fn folder(name: &str) -> TestFolder {
        TestFolder::absent(&format!("repo-disk-{name}"))
    }

    #[test]
    fn the_second_to_lock_a_folder_is_told_who_holds_it() {
        let folder = folder("lock");
        let first = RealDisk::open(&folder.0).unwrap();
        let lock = first.lock("cairn node edge-1").unwrap();
        let error = RealDisk::open(&folder.0).unwrap().lock("another").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        let text = error.to_string();
        let expected = format!("is in use by cairn node edge-1 (process {})", std::process::id());
        assert!(text.ends_with(&expected), "{text}");
        drop(lock);
        assert!(first.lock("another").is_ok());
    }

    #[test]
    fn what_is_read_in_memory_is_what_was_written_and_what_is_not_there_is_not_read() {
        let folder = folder("memory");
        let file = RealDisk::open(&folder.0).unwrap().open("v", true).unwrap();
        file.write_at(0, &[7; 10_000]).unwrap();
        let mut bytes = [0; 5000];
        // Some file systems cannot tell.
        assert!(!file.read_in_memory(5000, &mut bytes) || bytes == [7; 5000]);
        assert!(!file.read_in_memory(5001, &mut bytes) && !file.read_in_memory(1 << 40, &mut bytes));
    }

    #[test]
    fn a_punched_hole_reads_as_zeros_and_takes_no_room() {
        let folder = folder("holes");
        let disk = RealDisk::open(&folder.0).unwrap();
        let file = disk.open("v", true).unwrap();
        file.write_at(0, &vec![7; 1 << 20]).unwrap();
        file.sync().unwrap();
        let before = file.allocated().unwrap();
        file.punch_hole(1000..(1 << 20) - 1000).unwrap();
        assert_eq!(file.len_bytes().unwrap(), 1 << 20);
        assert!(file.allocated().unwrap() + (1 << 20) - 3 * 4096 <= before);
        let mut bytes = [9; 2000];
        file.read_at(0, &mut bytes).unwrap();
        assert!(bytes[..1000].iter().all(|&byte| byte == 7) && bytes[1000..].iter().all(|&byte| byte == 0));
        assert!(file.read_at((1 << 20) - 10, &mut bytes).is_err());
    }
}
