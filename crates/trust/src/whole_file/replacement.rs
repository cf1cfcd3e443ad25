//! Putting a file in the place of another, all of it or nothing: it is written beside its place and renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::killed::step;

/// How a file takes the place of what stands there.
///
/// Whoever reads the place meanwhile finds the old file or the new one, each whole. The same is true after
/// the writer was killed, `kill -9` included, since the kernel has what was written. After a power cut it is
/// true of [`Durability::PowerCut`] alone: others may find a new file that is empty or cut. What is written
/// beside the place is a new file: a link that somebody planted there is not followed. It goes if anything
/// fails.
///
/// ```
/// use cairn_trust::whole_file::{Readers, Replacement, Durability, Writers};
///
/// # let path = std::env::temp_dir().join(format!("cairn-replacement-{}", std::process::id()));
/// let replacement =
///     Replacement { readers: Readers::Owner, writers: Writers::Many, durability: Durability::PowerCut };
/// replacement.write(&path, b"a secret")?;
/// assert_eq!(std::fs::read(&path)?, b"a secret");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// Who may read the new file.
    pub readers: Readers,
    /// Who else writes to the same place.
    pub writers: Writers,
    /// What the new file outlives once it is said to be written.
    pub durability: Durability,
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner alone, from its first byte on (mode 0600).
    Owner,
    /// Those whom the process lets read what it makes (mode 0666 without its umask).
    Usual,
}

/// Who writes to one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// One at a time, as its caller sees to. What one that was killed has left beside the place, the next
    /// removes.
    One,
    /// Anybody at any time; the last stays. What one that was killed has left beside the place stays, too.
    Many,
}

/// What a written file outlives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of its writer, in whatever replacement. Nothing waits for the disk.
    Kill,
    /// A power cut, too: the file and its new name have reached the disk, as far as its file system says so.
    PowerCut,
}

impl Replacement {
    /// Puts `bytes` into the place `path`.
    ///
    /// # Errors
    /// Those of the file system. What stood there still does, unless what failed is that its folder reaches
    /// the disk.
    pub fn write(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_by(path, |file| file.write_all(bytes))
    }

    /// The same for what is written bit by bit: `fill` writes it.
    ///
    /// # Errors
    /// The same, and those of `fill`.
    pub fn write_by<E: From<io::Error>>(
        self,
        path: &Path,
        fill: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        let unfinished = self.unfinished(path)?;
        let written = self.create(&unfinished).map_err(E::from).and_then(|mut file| {
            fill(&mut file)?;
            if self.durability == Durability::PowerCut {
                file.sync_all()?;
            }
            step()?;
            Ok(fs::rename(&unfinished, path)?)
        });
        if written.is_err() {
            // There is nothing more to be said about it than what failed.
            let _ = remove(&unfinished);
            return written;
        }
        match self.durability {
            Durability::Kill => Ok(()),
            Durability::PowerCut => Ok(step().and_then(|()| sync_folder_of(path))?),
        }
    }

    /// Where it is written.
    fn unfinished(self, path: &Path) -> io::Result<PathBuf> {
        let mut beside = path.as_os_str().to_owned();
        match self.writers {
            Writers::One => beside.push(".new"),
            Writers::Many => {
                let mut number = [0; 8];
                aws_lc_rs::rand::fill(&mut number).map_err(io::Error::other)?;
                beside.push(format!(".{:016x}.new", u64::from_ne_bytes(number)));
            }
        }
        let beside = PathBuf::from(beside);
        if self.writers == Writers::One {
            remove(&beside)?;
        }
        Ok(beside)
    }

    fn create(self, path: &Path) -> io::Result<File> {
        step()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if self.readers == Readers::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)
    }
}

/// Removes a file; that there is none is fine.
fn remove(path: &Path) -> io::Result<()> {
    match step().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The rename itself must reach the disk. The file is in its place: that its folder is not ours to read, or
/// that its file system writes no folders, is no failure; then that system decides when it is written.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), PermissionDenied | InvalidInput | Unsupported) => Ok(()),
        synced => synced,
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use testkit::folder::TestFolder;

    use super::*;
    use crate::killed;

    /// Every kind there is.
    fn replacements() -> Vec<Replacement> {
        let mut all = Vec::new();
        for readers in [Readers::Owner, Readers::Usual] {
            for writers in [Writers::One, Writers::Many] {
                for durability in [Durability::Kill, Durability::PowerCut] {
                    all.push(Replacement { readers, writers, durability });
                }
            }
        }
        all
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn whoever_is_killed_at_any_step_leaves_the_old_file_or_the_new_one() {
        for replacement in replacements() {
            let folder = TestFolder::new("replacement-killed");
            let path = folder.join("file");
            let mut outcomes = Vec::new();
            for steps in 0.. {
                fs::write(&path, "old").unwrap();
                killed::after(Some(steps));
                let written = replacement.write(&path, b"new");
                killed::after(None);
                let found = fs::read_to_string(&path).unwrap();
                assert!(found == "old" || found == "new", "{replacement:?} after {steps}: {found}");
                outcomes.push(found);
                if written.is_ok() {
                    break;
                }
            }
            assert!(outcomes.first().unwrap() == "old" && outcomes.last().unwrap() == "new", "{outcomes:?}");
            if replacement.writers == Writers::One {
                assert_eq!(names(&folder), ["file"], "{replacement:?}: the next one removes what is left");
            }
        }
    }

    #[test]
    fn a_secret_is_its_owners_alone_even_in_place_of_what_all_may_read() {
        for replacement in replacements() {
            let folder = TestFolder::new("replacement-mode");
            let path = folder.join("file");
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
            let beside = |file: &File| file.metadata().unwrap().permissions().mode() & 0o777;
            let mut mode = 0;
            replacement
                .write_by(&path, |file| {
                    mode = beside(file);
                    file.write_all(b"new")
                })
                .unwrap();
            assert_eq!(mode == 0o600, replacement.readers == Readers::Owner, "{replacement:?}: {mode:o}");
            assert_eq!(beside(&File::open(&path).unwrap()), mode, "{replacement:?}");
            assert_eq!(names(&folder), ["file"]);
        }
    }

    #[test]
    fn a_link_that_was_planted_beside_the_place_is_not_followed() {
        for replacement in replacements() {
            let folder = TestFolder::new("replacement-planted");
            let (path, victim) = (folder.join("file"), folder.join("victim"));
            fs::write(&victim, "precious").unwrap();
            symlink(&victim, folder.join("file.new")).unwrap();
            replacement.write(&path, b"new").unwrap();
            assert_eq!(fs::read(&victim).unwrap(), b"precious", "{replacement:?}");
            assert_eq!(fs::read(&path).unwrap(), b"new");
            // One that is planted after the leftovers were removed.
            let late = folder.join("late");
            symlink(&victim, &late).unwrap();
            assert_eq!(replacement.create(&late).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old_file_and_nothing_beside_it() {
        for replacement in replacements() {
            let folder = TestFolder::new("replacement-fails");
            let path = folder.join("file");
            fs::write(&path, "old").unwrap();
            let failed = replacement.write_by(&path, |file| {
                file.write_all(b"half")?;
                Err(io::Error::other("no more"))
            });
            assert_eq!(failed.unwrap_err().to_string(), "no more");
            assert_eq!(
                (fs::read(&path).unwrap().as_slice(), names(&folder)),
                (&b"old"[..], vec!["file".to_owned()])
            );
            // A folder is replaced by no file.
            fs::create_dir(folder.join("taken")).unwrap();
            replacement.write(&folder.join("taken"), b"new").unwrap_err();
            assert_eq!(names(&folder), ["file", "taken"], "{replacement:?}");
        }
    }

    #[test]
    fn writers_that_know_nothing_of_each_other_do_not_write_into_one_file() {
        let folder = TestFolder::new("replacement-many");
        let path = folder.join("file");
        let replacement =
            Replacement { readers: Readers::Usual, writers: Writers::Many, durability: Durability::Kill };
        replacement
            .write_by(&path, |first| {
                first.write_all(b"fir")?;
                replacement.write(&path, b"second")?;
                assert_eq!(fs::read(&path)?, b"second");
                first.write_all(b"st")
            })
            .unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(&folder).len()), (&b"first"[..], 1));
    }

    #[test]
    fn a_file_in_the_current_folder_needs_no_folder_in_its_name() {
        sync_folder_of(Path::new("file")).unwrap();
        sync_folder_of(Path::new("there/is/no/such/folder")).unwrap_err();
    }
}
