//! A folder, and nothing outside of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use flow::source::folder::{Attributes, EntryKind, Files};
use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, statat,
};
use system::Clock;

/// Bytes of a listing; what does not fit is left out.
const MAX_LISTING_BYTES: usize = 256 << 10;

/// An open folder, as a source of Data takes it: see [`flow::source::FolderSource`].
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
}

/// A file or folder below it.
#[derive(Debug)]
pub struct Entry {
    file: File,
}

impl Folder {
    /// Opens the folder at this path.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder { root: openat(CWD, path, flags, Mode::empty())? })
    }

    /// Opens without leaving the folder: the kernel refuses paths and links that lead out of it.
    fn open_beneath(&self, path: &[&[u8]]) -> io::Result<File> {
        let relative: PathBuf = path.iter().map(|component| OsStr::from_bytes(component)).collect();
        let relative = if path.is_empty() { PathBuf::from(".") } else { relative };
        // Not blocking, or a pipe in the folder would hold us up.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.root, &relative, flags, Mode::empty(), resolve) {
            Ok(file) => Ok(File::from(file)),
            Err(rustix::io::Errno::NOSYS) => self.open_step_by_step(path),
            Err(error) => Err(error.into()),
        }
    }

    /// The same on kernels before 5.6: one component after the other, following no links at all.
    fn open_step_by_step(&self, path: &[&[u8]]) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut at = openat(&self.root, ".", flags, Mode::empty())?;
        for component in path {
            at = openat(&at, OsStr::from_bytes(component), flags, Mode::empty())?;
        }
        Ok(File::from(at))
    }
}

impl Files for Folder {
    type Entry = Entry;

    /// What lies at this path; `None` also for what may not be read, or lies outside.
    fn look_up(&self, path: &[&[u8]]) -> Option<(Entry, Attributes)> {
        let file = self.open_beneath(path).ok()?;
        let status = fstat(file.as_fd()).ok()?;
        let kind = match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            _ => return None,
        };
        let nanos = |secs: i64, nanos: u64| {
            u64::try_from(secs).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(nanos)
        };
        let modified = nanos(status.st_mtime as _, status.st_mtime_nsec as _);
        let attributes = Attributes {
            kind,
            size_bytes: u64::try_from(status.st_size).unwrap_or(0),
            mode: status.st_mode as _,
            modified,
            accessed: nanos(status.st_atime as _, status.st_atime_nsec as _),
            changed: nanos(status.st_ctime as _, status.st_ctime_nsec as _),
            // Not every file system knows it.
            created: file.metadata().ok().and_then(|metadata| created(&metadata)).unwrap_or(modified),
        };
        Some((Entry { file }, attributes))
    }

    /// Links and other things are left out, and what makes the listing too long.
    fn listing(&self, path: &[&[u8]]) -> Vec<u8> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        let Ok(folder) = self.open_beneath(path) else { return Vec::new() };
        let Ok(entries) = Dir::read_from(&folder) else { return Vec::new() };
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            match kind_of(&folder, &entry) {
                _ if matches!(name, b"." | b"..") => {}
                FileType::RegularFile => names.push([name, b"\0"].concat()),
                FileType::Directory => names.push([name, b"/\0"].concat()),
                _ => {}
            }
        }
        names.sort();
        let mut listing = Vec::new();
        for name in names {
            if listing.len() + name.len() <= MAX_LISTING_BYTES {
                listing.extend(name);
            }
        }
        listing
    }

    fn read(&self, entry: &Entry, offset: u64, length: u64) -> Option<Vec<u8>> {
        // A segment is smaller than a packet.
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        entry.file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    fn unix_millis(&self) -> u64 {
        Clock::start().unix().as_millis()
    }
}

/// What an entry is. Not every file system says it in the folder itself.
fn kind_of(folder: &File, entry: &DirEntry) -> FileType {
    match entry.file_type() {
        FileType::Unknown => statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode)),
        known => known,
    }
}

fn created(metadata: &std::fs::Metadata) -> Option<u64> {
    let since = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn nothing_outside_the_folder_is_found_by_either_way() {
        let outside = TestFolder::new("serve");
        let inside = outside.join("in");
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        std::fs::write(inside.join("file"), "hello").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", inside.join("etc")).unwrap();
        let folder = Folder::open(&inside).unwrap();
        let (entry, found) = folder.look_up(&[b"file"]).unwrap();
        assert_eq!((found.kind, found.size_bytes), (EntryKind::File, 5));
        assert_eq!(folder.read(&entry, 1, 3).unwrap(), b"ell");
        assert_eq!(folder.read(&entry, 4, 3), None);
        assert_eq!(folder.look_up(&[]).unwrap().1.kind, EntryKind::Folder);
        for path in [
            &[&b"link"[..]][..],
            &[b"etc", b"passwd"],
            &[b"..", b"secret"],
            &[b"sub", b"..", b"..", b"secret"],
        ] {
            assert!(folder.look_up(path).is_none(), "{path:?}");
        }
        assert!(folder.open_step_by_step(&[b"file"]).is_ok());
        assert!(folder.open_step_by_step(&[b"link"]).is_err());
        assert!(folder.open_step_by_step(&[b"etc", b"passwd"]).is_err());
        assert_eq!(folder.listing(&[]), b"file\0sub/\0");
    }
}
