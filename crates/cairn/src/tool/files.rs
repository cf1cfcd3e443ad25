//! Files that tools read and write. What is read has a largest size; what is written replaces what stands
//! there, and follows no link that somebody else made.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use trust::whole_file::{self, Durability, Readers, Replacement, Writers};

use super::ToolError;

/// All of a file that people write by hand or that holds keys and certificates.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    whole_file::read_input(path, whole_file::MAX_BYTES)
}

/// The same, as text.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    whole_file::read_text(path, whole_file::MAX_BYTES)
}

/// Where a file that the user names is to be written: behind links that are the user's own or the system's.
///
/// # Errors
/// The path is a link of somebody else's.
pub(crate) fn destination(path: &Path) -> io::Result<PathBuf> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => {
            if metadata.uid() != 0 && !is_ours(&metadata) {
                return Err(refused("it is a link that somebody else made, and is not followed"));
            }
            // One that leads to nothing is replaced.
            path.canonicalize().or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(path.to_owned()),
                _ => Err(error),
            })
        }
        _ => Ok(path.to_owned()),
    }
}

/// Makes a file that nobody has opened before, in place of whatever stands there.
pub(crate) fn create(path: &Path, is_secret: bool) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // With `create_new` a link that somebody puts there at this moment is not followed either.
    OpenOptions::new().write(true).create_new(true).mode(if is_secret { 0o600 } else { 0o666 }).open(path)
}

/// Opens a file of ours that an earlier run left, to go on with it; `None` if there is none.
///
/// # Errors
/// What stands there is a link, no file, somebody else's, or has another name too: its bytes need not be
/// ours.
pub(crate) fn open_own(path: &Path, writable: bool) -> io::Result<Option<File>> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    let file = match OpenOptions::new().read(true).write(writable).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    match metadata.is_file() && is_ours(&metadata) && metadata.nlink() == 1 {
        true => Ok(Some(file)),
        false => Err(refused("it is not a file of this user's alone")),
    }
}

/// Writes a whole file, which only its owner can read if it is a secret: it is there with all its bytes, or
/// not at all. What is no file, such as a device or a pipe, is written to.
pub(crate) fn write(path: &Path, bytes: &[u8], is_secret: bool) -> io::Result<()> {
    write_by(path, is_secret, || false, |file| file.write_all(bytes))
}

/// The same for what is written bit by bit: `fill` writes it. Where a pipe has no reader, one is waited for
/// until `is_over`.
pub(crate) fn write_by<E: From<io::Error>>(
    path: &Path,
    is_secret: bool,
    is_over: impl Fn() -> bool,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let path = destination(path)?;
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return fill(&mut open_special(&path, is_over)?);
    }
    let readers = if is_secret { Readers::Owner } else { Readers::Usual };
    // What a command has written may be the only key, or be deleted elsewhere as soon as it ends.
    Replacement { readers, writers: Writers::Many, durability: Durability::PowerCut }.write_by(&path, fill)
}

/// Opens what is no file, such as a device or a pipe, for writing. A pipe is waited for until somebody reads
/// it, or `is_over` says that nobody wants it any more.
pub(crate) fn open_special(path: &Path, is_over: impl Fn() -> bool) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = loop {
        match OpenOptions::new().write(true).custom_flags(flags).open(path) {
            Err(error) if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::NXIO) => {
                if is_over() {
                    return Err(io::Error::other("nobody reads it"));
                }
                std::thread::sleep(READER_INTERVAL);
            }
            other => break other?,
        }
    };
    // Opened, it is written to like any other.
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

/// How often it is looked whether a pipe has a reader.
const READER_INTERVAL: Duration = Duration::from_millis(50);

fn is_ours(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// All of a file; of standard input if there is none, or if it is called `-`.
pub(crate) fn input(path: Option<&Path>) -> Result<Vec<u8>, ToolError> {
    match path {
        Some(path) if path != Path::new("-") => read(path).map_err(ToolError::file(path)),
        _ => {
            let input = io::stdin().lock();
            whole_file::read_at_most(input, whole_file::MAX_BYTES).map_err(ToolError::file("standard input"))
        }
    }
}

/// Writes all of a file, which only its owner can read if it holds a `secret`; standard output if there is
/// none.
pub(crate) fn write_output(path: Option<&Path>, bytes: &[u8], secret: bool) -> Result<(), ToolError> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, bytes, secret).map_err(ToolError::file(path)),
        None => Ok(super::output::bytes(bytes)?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use testkit::folder::TestFolder;

    use super::*;

    fn folder(name: &str) -> TestFolder {
        TestFolder::new(&format!("files-{name}"))
    }

    #[test]
    fn what_never_ends_is_read_no_further_than_a_file_may_be_long() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_new_file_takes_the_place_of_a_link_and_what_it_leads_to_is_left_alone() {
        let folder = folder("create");
        let (victim, planted) = (folder.join("victim"), folder.join("planted"));
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, &planted).unwrap();
        create(&planted, false).unwrap().write_all(b"new").unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert!(planted.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn only_a_file_of_ones_own_is_gone_on_with() {
        let folder = folder("own");
        let path = |name: &str| folder.join(name);
        std::fs::write(path("own"), "mine").unwrap();
        assert!(open_own(&path("own"), true).unwrap().is_some());
        assert!(open_own(&path("none"), true).unwrap().is_none());
        symlink(path("own"), path("link")).unwrap();
        assert!(open_own(&path("link"), true).is_err());
        std::fs::hard_link(path("own"), path("other name")).unwrap();
        assert!(open_own(&path("other name"), true).is_err());
        assert!(open_own(&folder, false).is_err());
    }

    #[test]
    fn a_file_is_written_whole_through_ones_own_link_and_a_secret_is_nobody_elses() {
        let folder = folder("write");
        let (target, link) = (folder.join("target"), folder.join("link"));
        std::fs::write(&target, "old, and everybody may read it").unwrap();
        symlink(&target, &link).unwrap();
        write(&link, b"new", true).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(target.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing is left beside them");
    }

    #[test]
    fn a_pipe_is_waited_for_until_somebody_reads_it_or_nobody_wants_it() {
        let folder = folder("pipe");
        let pipe = folder.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
        let looks = std::cell::Cell::new(0);
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        assert_eq!(open_special(&pipe, is_over).unwrap_err().to_string(), "nobody reads it");
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        open_special(&pipe, || false).unwrap().write_all(b"bytes").unwrap();
        assert_eq!(reader.join().unwrap(), b"bytes");
    }

    #[test]
    fn a_link_of_somebody_else_is_not_followed() {
        if rustix::process::geteuid().as_raw() != 0 {
            // Only root can make a link that is somebody else's.
            return;
        }
        let folder = folder("foreign");
        let (victim, planted) = (folder.join("victim"), folder.join("planted"));
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, &planted).unwrap();
        std::os::unix::fs::lchown(&planted, Some(65_534), None).unwrap();
        let error = write(&planted, b"new", false).unwrap_err();
        assert!(error.to_string().contains("somebody else"), "{error}");
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }
}
