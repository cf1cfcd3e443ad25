//! Files of a repeat of which only numbers are kept: in memory, under paths that no file can have.
//!
//! What agents and the simulator write, and what the analysis reads, are files, so that every number can be
//! derived again. Of most cases of a very large sweep nothing but numbers stays; to make files for them and
//! take them away again took many times as long as their simulation. Their folder is a [`MemoryFolder`]:
//! whoever writes and reads goes through this module, and neither knows nor minds which it is.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Below a device there are no files.
const ABOVE: &str = "/dev/null/cairn";

type Files = HashMap<PathBuf, BTreeMap<String, Vec<u8>>>;

static FILES: Mutex<Option<Files>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(0);

fn files() -> MutexGuard<'static, Option<Files>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder in memory; it goes with all that is in it when it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryFolder(PathBuf);

impl MemoryFolder {
    pub(crate) fn new() -> Self {
        let path = Path::new(ABOVE).join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        files().get_or_insert_default().insert(path.clone(), BTreeMap::new());
        MemoryFolder(path)
    }

    /// Its path, for the functions of this module.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for MemoryFolder {
    fn drop(&mut self) {
        files().get_or_insert_default().remove(&self.0);
    }
}

/// Does something with a folder in memory and the name of a file in it; `None` where a path is of the disk.
fn in_memory<R>(path: &Path, act: impl FnOnce(&mut BTreeMap<String, Vec<u8>>, &str) -> R) -> Option<R> {
    if !is_in_memory(path) {
        return None;
    }
    let name = path.file_name()?.to_string_lossy();
    let mut files = files();
    let folder = files.as_mut()?.get_mut(path.parent()?)?;
    Some(act(folder, &name))
}

/// Is a path one of those that no file can have?
pub(crate) fn is_in_memory(path: &Path) -> bool {
    path.starts_with(ABOVE)
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) enum Output {
    /// On the disk.
    Disk(fs::File),
    /// In memory.
    Memory(PathBuf),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Disk(file) => file.write(bytes),
            Output::Memory(path) => {
                let append = |folder: &mut BTreeMap<String, Vec<u8>>, name: &str| {
                    folder.entry(name.to_owned()).or_default().extend_from_slice(bytes);
                };
                in_memory(path, append).ok_or(io::ErrorKind::NotFound)?;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Disk(file) => file.flush(),
            Output::Memory(_) => Ok(()),
        }
    }
}

/// An empty file.
pub(crate) fn create(path: &Path) -> io::Result<Output> {
    let made = in_memory(path, |folder, name| folder.insert(name.to_owned(), Vec::new()));
    match made {
        Some(_) => Ok(Output::Memory(path.to_owned())),
        None => fs::File::create(path).map(Output::Disk),
    }
}

/// A file with all that is in it.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(bytes.as_ref())
}

/// What is in a file in memory; `None` where the path is of the disk.
pub(crate) fn read(path: &Path) -> Option<io::Result<Vec<u8>>> {
    let found = in_memory(path, |folder, name| folder.get(name).cloned())?;
    Some(found.ok_or_else(|| io::ErrorKind::NotFound.into()))
}

/// Is there such a file?
pub(crate) fn is_file(path: &Path) -> bool {
    in_memory(path, |folder, name| folder.contains_key(name)).unwrap_or_else(|| path.is_file())
}

/// The names of a folder's files.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    if let Some(files) = files().as_ref().and_then(|files| files.get(folder)) {
        return Ok(files.keys().cloned().collect());
    }
    let entries = fs::read_dir(folder)?.flatten();
    Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

/// Makes a folder, where it is not there.
pub(crate) fn create_dir_all(folder: &Path) -> io::Result<()> {
    if is_in_memory(folder) { Ok(()) } else { fs::create_dir_all(folder) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_memory_has_what_was_written_until_it_is_dropped() {
        let (folder, other) = (MemoryFolder::new(), MemoryFolder::new());
        let path = folder.path().join("a.csv");
        let mut file = create(&path).unwrap();
        file.write_all(b"one").unwrap();
        file.write_all(b", two").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"one, two");
        assert!(is_file(&path) && !is_file(&other.path().join("a.csv")));
        assert_eq!(names(folder.path()).unwrap(), ["a.csv"]);
        write(&path, "anew").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"anew");
        assert_eq!(read(&folder.path().join("b")).unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(folder);
        assert!(!is_file(&path) && file.write_all(b"late").is_err() && create(&path).is_err());
        assert!(read(Path::new("/etc/hostname")).is_none(), "what is on the disk is no business of this");
    }
}
