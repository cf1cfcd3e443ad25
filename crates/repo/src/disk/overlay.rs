//! A folder that is only read: what is written to it stays in memory. So a store on a read-only mount opens
//! as any other does, with all that opening mends, and nothing on the disk changes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::FlockOperation;

use super::real::{LOCK_FILE, file_names, hold};
use super::{Disk, DiskFile, FolderLock};

/// What is written is kept in pages of this size.
const PAGE_BYTES: usize = 4096;

/// A folder of the operating system under what was written since it was opened.
#[derive(Debug)]
pub struct OverlayDisk {
    folder: PathBuf,
    /// Files that were opened, made or renamed, by name; `None` for those that are gone.
    files: Mutex<BTreeMap<String, Option<Arc<OverlayFile>>>>,
}

impl OverlayDisk {
    /// The folder at this path.
    ///
    /// # Errors
    /// Those of the file system, among them that there is no such folder.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.as_ref().to_path_buf();
        fs::read_dir(&folder)?;
        Ok(OverlayDisk { folder, files: Mutex::default() })
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Option<Arc<OverlayFile>>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, name: &str, create: bool) -> io::Result<Arc<OverlayFile>> {
        let mut files = self.files();
        let file = match files.get(name) {
            Some(Some(file)) => return Ok(Arc::clone(file)),
            Some(None) if !create => return Err(io::ErrorKind::NotFound.into()),
            Some(None) => OverlayFile::default(),
            None => match File::open(self.folder.join(name)) {
                Ok(file) => OverlayFile::over(file)?,
                Err(error) if create && error.kind() == io::ErrorKind::NotFound => OverlayFile::default(),
                Err(error) => return Err(error),
            },
        };
        let file = Arc::new(file);
        files.insert(name.to_owned(), Some(Arc::clone(&file)));
        Ok(file)
    }
}

impl Disk for OverlayDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(name, create)?)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let files = self.files();
        let mut names = file_names(&self.folder)?;
        names.retain(|name| !files.contains_key(name));
        names.extend(files.iter().filter(|(_, file)| file.is_some()).map(|(name, _)| name.clone()));
        names.sort();
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.file(from, false)?;
        self.files().extend([(from.to_owned(), None), (to.to_owned(), Some(file))]);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.file(name, false)?;
        self.files().insert(name.to_owned(), None);
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }

    /// Keeps those out who write, and lets others read: for that nothing has to be written. Where nobody has
    /// ever locked the folder there is nothing to lock it by.
    fn lock(&self, _holder: &str) -> io::Result<Box<dyn FolderLock>> {
        match File::open(self.folder.join(LOCK_FILE)) {
            Ok(file) => hold(file, FlockOperation::NonBlockingLockShared, &self.folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Box::new(Unlocked)),
            Err(error) => Err(error),
        }
    }
}

#[derive(Debug)]
struct Unlocked;

impl FolderLock for Unlocked {}

/// A file, and what was written over it.
#[derive(Debug, Default)]
struct OverlayFile {
    below: Option<File>,
    written: Mutex<UpperLayer>,
}

#[derive(Debug, Default)]
struct UpperLayer {
    len: u64,
    /// Bytes of the file below that still count; what lies behind them was cut off.
    below_len: u64,
    /// By number.
    pages: BTreeMap<u64, Box<[u8; PAGE_BYTES]>>,
}

/// The part of a stretch of bytes that lies in one page.
struct Part {
    page: u64,
    /// Where in the page it begins.
    start: usize,
    len: usize,
}

/// The parts of `len` bytes at `offset`, in order.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = Part> {
    let (mut at, mut left) = (offset, len);
    std::iter::from_fn(move || {
        let start = (at % PAGE_BYTES as u64) as usize;
        let part = Part { page: at / PAGE_BYTES as u64, start, len: left.min(PAGE_BYTES - start) };
        at += part.len as u64;
        left -= part.len;
        (part.len > 0).then_some(part)
    })
}

impl OverlayFile {
    fn over(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let written = UpperLayer { len, below_len: len, pages: BTreeMap::new() };
        Ok(OverlayFile { below: Some(file), written: Mutex::new(written) })
    }

    fn written(&self) -> MutexGuard<'_, UpperLayer> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills `out` with what the file below has at `offset`, and with zeros behind its end.
    fn read_below(&self, written: &UpperLayer, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = written.below_len.saturating_sub(offset).min(out.len() as u64) as usize;
        let (there, behind) = out.split_at_mut(there);
        behind.fill(0);
        match &self.below {
            Some(file) if !there.is_empty() => file.read_exact_at(there, offset),
            _ => Ok(()),
        }
    }
}

impl DiskFile for OverlayFile {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.written().len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = self.written();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > written.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read_below(&written, offset, out)?;
        let mut rest = out;
        for part in parts(offset, rest.len()) {
            let (place, behind) = rest.split_at_mut(part.len);
            let page = written.pages.get(&part.page);
            if let Some(bytes) = page.and_then(|page| page.get(part.start..part.start + part.len)) {
                place.copy_from_slice(bytes);
            }
            rest = behind;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        let mut written = self.written();
        let mut rest = bytes;
        for part in parts(offset, bytes.len()) {
            let (bytes, behind) = rest.split_at(part.len);
            if !written.pages.contains_key(&part.page) {
                let mut page = Box::new([0; PAGE_BYTES]);
                self.read_below(&written, part.page * PAGE_BYTES as u64, &mut *page)?;
                written.pages.insert(part.page, page);
            }
            let page = written.pages.get_mut(&part.page);
            if let Some(place) = page.and_then(|page| page.get_mut(part.start..part.start + part.len)) {
                place.copy_from_slice(bytes);
            }
            rest = behind;
        }
        written.len = written.len.max(end);
        Ok(())
    }

    /// There is nothing to make durable, and nobody is told that something is: the store's owner only reads.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.written();
        if len < written.len {
            written.below_len = written.below_len.min(len);
            drop(written.pages.split_off(&len.div_ceil(PAGE_BYTES as u64)));
            let in_page = (len % PAGE_BYTES as u64) as usize;
            let last = written.pages.get_mut(&(len / PAGE_BYTES as u64));
            if let Some(behind) = last.and_then(|page| page.get_mut(in_page..)) {
                behind.fill(0);
            }
        }
        written.len = len;
        Ok(())
    }

    /// Refused: there is no room to be given back.
    fn punch_hole(&self, _range: Range<u64>) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Those of the memory: the file below is not touched.
    fn allocated(&self) -> io::Result<u64> {
        Ok((self.written().pages.len() * PAGE_BYTES) as u64)
    }
}

#[cfg(test)]
mod tests {
    use packet::random::Random;
    use testkit::folder::TestFolder;

    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn it_does_what_a_plain_file_does_and_leaves_the_one_below_as_it_was() {
        for seed in 0..200 {
            let folder = TestFolder::absent(&format!("repo-overlay-{seed}"));
            let mut random = Random::from_seed(seed);
            let mut below = vec![0; random.below(30_000) as usize];
            below.iter_mut().for_each(|byte| *byte = random.next_u64() as u8);
            RealDisk::open(&folder.0).unwrap().open("v", true).unwrap().write_at(0, &below).unwrap();
            let file = OverlayDisk::open(&folder.0).unwrap().open("v", true).unwrap();
            let mut model = below.clone();
            for _ in 0..40 {
                let offset = random.below(35_000) as usize;
                if random.below(4) == 0 {
                    file.set_len(offset as u64).unwrap();
                    model.resize(offset, 0);
                } else {
                    let bytes = vec![random.next_u64() as u8; random.below(9_000) as usize + 1];
                    file.write_at(offset as u64, &bytes).unwrap();
                    model.resize(model.len().max(offset + bytes.len()), 0);
                    model[offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
                let from = random.below(model.len() as u64 + 1) as usize;
                let mut read = vec![9; random.below((model.len() - from) as u64 + 1) as usize];
                file.read_at(from as u64, &mut read).unwrap();
                assert!(read == model[from..from + read.len()], "seed {seed}");
                assert_eq!(file.len_bytes().unwrap(), model.len() as u64);
                assert!(file.read_at(model.len() as u64, &mut [0]).is_err());
            }
            assert!(fs::read(folder.0.join("v")).unwrap() == below, "seed {seed}");
        }
    }

    #[test]
    fn names_come_and_go_without_the_folder() {
        let folder = TestFolder::absent("repo-overlay-names");
        let real = RealDisk::open(&folder.0).unwrap();
        for name in ["a", "b"] {
            real.open(name, true).unwrap().write_at(0, name.as_bytes()).unwrap();
        }
        let disk = OverlayDisk::open(&folder.0).unwrap();
        assert!(disk.open("c", false).is_err() && disk.rename("c", "d").is_err());
        disk.rename("a", "b").unwrap();
        disk.open("c", true).unwrap().write_at(0, b"new").unwrap();
        assert_eq!(disk.list().unwrap(), ["b", "c"]);
        let mut byte = [0];
        disk.open("b", false).unwrap().read_at(0, &mut byte).unwrap();
        assert_eq!(byte, *b"a");
        disk.remove("b").unwrap();
        assert!(disk.open("b", false).is_err());
        assert_eq!(disk.open("b", true).unwrap().len_bytes().unwrap(), 0, "it is a new one");
        assert_eq!(real.list().unwrap(), ["a", "b"]);
    }

    #[test]
    fn readers_share_a_folder_that_nobody_writes_and_are_told_who_does() {
        let folder = TestFolder::absent("repo-overlay-lock");
        let real = RealDisk::open(&folder.0).unwrap();
        let reader = || OverlayDisk::open(&folder.0).unwrap();
        assert!(reader().lock("a reader").is_ok(), "nobody has ever locked it");
        let writing = real.lock("a writer").unwrap();
        let error = reader().lock("a reader").unwrap_err();
        assert!(error.to_string().contains("in use by a writer"), "{error}");
        drop(writing);
        let reading = [reader().lock("one"), reader().lock("two")];
        assert!(reading.iter().all(Result::is_ok));
        assert_eq!(real.lock("a writer").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
