//! Files that only their owner can read, written so that a crash leaves the old or the new one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use packet::Name;

use super::StoreError;
use crate::killed::step;
use crate::whole_file::{self, Durability, Readers, Replacement, Writers};

/// Bytes of a key, a certificate or a name: the longest packet there is, and room for its text.
const MAX_BYTES: u64 = 1 << 20;

fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    move |error| StoreError::Io { path: path.to_owned(), error }
}

/// Makes a folder and those above it, for the owner alone, and to stay.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    if let Some(above) = above {
        make_folder(above)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match step().and_then(|()| builder.create(path)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(at(path)(error)),
        Ok(()) => match sync_folder(above.unwrap_or(Path::new("."))) {
            // A folder that is not ours need not be readable for us; then its owner's system decides when it
            // is written.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced.map_err(at(path)),
        },
    }
}

/// What has been made, renamed or removed in a folder reaches the disk.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Keeps other programs from changing the store until what it gives is dropped, or its program has ended in
/// whatever way.
pub(super) fn lock(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(at(path))?;
    #[cfg(unix)]
    loop {
        use rustix::io::Errno;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive) {
            // Some network file systems know no locks; there the last who writes wins.
            Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(at(path)(error.into())),
        }
    }
    Ok(file)
}

/// Fails if others than the owner may do anything with `path`.
pub(super) fn check_private(path: &Path) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(at(path))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return Err(StoreError::Permissions(path.to_owned()));
    }
    let _ = metadata;
    Ok(())
}

/// Writes a whole file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    // The caller has locked the store.
    let replacement =
        Replacement { readers: Readers::Owner, writers: Writers::One, durability: Durability::PowerCut };
    replacement.write(path, bytes).map_err(at(path))
}

/// Reads a whole file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    whole_file::read(path, MAX_BYTES).map_err(at(path))
}

/// Reads a file that holds a name; `None` if there is no such file.
pub(super) fn read_name(path: &Path) -> Result<Option<Name>, StoreError> {
    let text = match whole_file::read(path, MAX_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path)(error)),
    };
    let damaged = |error: packet::name::UriError| StoreError::Damaged {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    String::from_utf8_lossy(&text).trim().parse().map(Some).map_err(damaged)
}

/// What lies in a folder, but for half-written files; nothing if there is no such folder.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at(folder)(error)),
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.map_err(at(folder))?.path();
        if path.extension().is_none_or(|extension| extension != "new") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes a file; that there is none is fine.
pub(super) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match step().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

/// Removes a folder and all in it; that there is none is fine.
pub(super) fn remove_folder(path: &Path) -> Result<(), StoreError> {
    #[cfg(test)]
    crate::killed::half_way(path);
    match step().and_then(|()| fs::remove_dir_all(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}
