//! Records of revoked keys, as the operator keeps them in a file.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use formats::printable::printable_path;
use thiserror::Error;
use trust::Revocations;
use trust::files::{RevocationFileError, add_revocations};

use crate::config::{ConfigError, ManagementSection};

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Why a file gives no records.
#[derive(Debug, Error)]
pub enum RevocationListError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It holds something else.
    #[error(transparent)]
    File(#[from] RevocationFileError),
}

/// Where a node finds out which keys are revoked. A file is read again when it has changed, so that a key can
/// be revoked while the node runs. One that cannot be read, or is gone, leaves what was known: nobody makes a
/// key count again by spoiling the file.
#[derive(Debug, Default)]
pub struct RevocationList {
    path: Option<PathBuf>,
    /// How old the file may be for keys to count.
    max_age: Option<Duration>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: Arc<Revocations>,
    /// What the file looked like when it was read last, or tried to be.
    seen: Option<FileState>,
}

impl RevocationList {
    /// These, for good.
    #[must_use]
    pub fn fixed(records: Revocations) -> Self {
        let state = State { records: Arc::new(records), seen: None };
        RevocationList { path: None, max_age: None, state: Mutex::new(state) }
    }

    /// Others from now on, where there is no file.
    pub fn replace(&self, records: Revocations) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).records = Arc::new(records);
    }

    /// Those in a file.
    ///
    /// # Errors
    /// It cannot be read, or holds something else.
    pub fn in_file(path: &Path) -> Result<Self, RevocationListError> {
        let state = State { seen: FileState::of(path), records: Arc::new(read(path)?) };
        Ok(RevocationList { path: Some(path.to_owned()), max_age: None, state: Mutex::new(state) })
    }

    /// Those in a file that may be there or come later.
    pub(crate) fn watching(path: &Path) -> Self {
        RevocationList { path: Some(path.to_owned()), ..RevocationList::default() }
    }

    /// The same, and no key counts while the file was written longer ago than that: who keeps news of revoked
    /// keys from this node gains nothing by it.
    #[must_use]
    pub fn no_older_than(self, max_age: Duration) -> Self {
        RevocationList { max_age: Some(max_age), ..self }
    }

    /// Those that a configuration names. A file that is kept by fetching need not be there yet.
    pub(crate) fn of_section(section: &ManagementSection) -> Result<Arc<Self>, ConfigError> {
        let wrong = |problem: String| ConfigError::new(format!("management.{problem}"));
        let Some(path) = &section.revocations else {
            let needs_file = [
                ("revocations_from", !section.revocations_from.is_empty()),
                ("revocations_max_age_secs", section.revocations_max_age_secs > 0),
            ];
            return match needs_file.iter().find(|(_, is_given)| *is_given) {
                Some((key, _)) => Err(wrong(format!("{key}: name a file in management.revocations"))),
                None => Ok(Arc::default()),
            };
        };
        let list = match Self::in_file(path) {
            Err(RevocationListError::Read(error))
                if error.kind() == io::ErrorKind::NotFound && !section.revocations_from.is_empty() =>
            {
                Self::watching(path)
            }
            read => read.map_err(|why| wrong(format!("revocations: {}: {why}", printable_path(path))))?,
        };
        Ok(Arc::new(match section.revocations_max_age_secs {
            0 => list,
            seconds => list.no_older_than(Duration::from_secs(seconds)),
        }))
    }

    /// Whether nobody has vouched for the records lately enough.
    pub(super) fn is_too_old(&self) -> bool {
        let (Some(max_age), Some(path)) = (self.max_age, &self.path) else { return false };
        let written = std::fs::metadata(path).and_then(|metadata| metadata.modified());
        // A time that lies ahead is no age.
        written.map_or(true, |at| SystemTime::now().duration_since(at).is_ok_and(|age| age > max_age))
    }

    /// Whether there may be more later.
    pub(super) fn may_change(&self) -> bool {
        self.path.is_some()
    }

    /// Those of now. Once the file was read, none is taken away any more.
    #[must_use]
    pub fn current(&self) -> Arc<Revocations> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return Arc::clone(&state.records) };
        let seen = FileState::of(path);
        if seen != state.seen {
            state.seen = seen;
            match read(path) {
                // A file that was cut off, or is being written, brings no key back.
                Ok(records) if records.count() < state.records.count() => tracing::warn!(
                    "{}: there are fewer records of revoked keys than before; those stay",
                    printable_path(path)
                ),
                // What a verifier has found out need not be found out again.
                Ok(records)
                    if records.count() == state.records.count()
                        && records.iter().all(|record| state.records.contains(record)) => {}
                Ok(records) => {
                    tracing::info!(count = records.count(), "records of revoked keys were read anew");
                    state.records = Arc::new(records);
                }
                Err(error) => tracing::warn!(
                    "{}: {error}; the records of revoked keys stay as they were",
                    printable_path(path)
                ),
            }
        }
        Arc::clone(&state.records)
    }
}

/// What tells a file from what it was: other rights and another file are a change, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    inode: u64,
    changed_seconds: i64,
    changed_nanos: i64,
    bytes: u64,
}

impl FileState {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(FileState {
            inode: metadata.ino(),
            changed_seconds: metadata.ctime(),
            changed_nanos: metadata.ctime_nsec(),
            bytes: metadata.len(),
        })
    }
}

pub(super) fn read(path: &Path) -> Result<Revocations, RevocationListError> {
    let file = trust::whole_file::read(path, MAX_FILE_BYTES)?;
    let mut records = Revocations::default();
    add_revocations(&file, &mut records)?;
    Ok(records)
}
