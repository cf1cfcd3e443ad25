//! Files that only their owner can read, written so that a crash leaves the old or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use packet::Name;

use super::StoreError;

fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    move |error| StoreError::Io { path: path.to_owned(), error }
}

/// Makes a folder and those above it, for the owner alone.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(at(path))
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

/// Writes a whole file: beside its place, to the disk, into its place.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Two programs at once write two files, and the last to rename wins.
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.new", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let result = options.open(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        // The rename itself must reach the disk too.
        File::open(folder)?.sync_all()
    });
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result.map_err(at(path))
}

/// Reads a whole file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(at(path))
}

/// Reads a file that holds a name; `None` if there is no such file.
pub(super) fn read_name(path: &Path) -> Result<Option<Name>, StoreError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path)(error)),
    };
    let damaged = |error: packet::name::UriError| StoreError::Damaged {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    text.trim().parse().map(Some).map_err(damaged)
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
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

/// Removes a folder and all in it.
pub(super) fn remove_folder(path: &Path) -> Result<(), StoreError> {
    fs::remove_dir_all(path).map_err(at(path))
}
