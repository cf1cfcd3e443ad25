//! What is to be published, however large: read by place, never whole in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use client::Clock;
use formats::printable::printable_path;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use system::is_try_again;

use super::interrupt::Interrupt;
use super::{ToolError, files};

/// Bytes read at once from what has no end yet.
const CHUNK_BYTES: usize = 256 << 10;
/// How often somebody who waits for bytes looks whether they are still wanted.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A file whose length is known.
#[derive(Debug)]
pub(crate) struct RegularFile {
    pub(crate) file: File,
    pub(crate) bytes: u64,
}

/// Opens a file, or standard input if there is none or it is called `-`. What is no file, such as a pipe, is
/// first copied into a file without a name in the folder for temporary files.
///
/// # Errors
/// The file system; or somebody interrupts the copying.
pub(crate) fn open(path: Option<&Path>, interrupt: &Interrupt) -> Result<RegularFile, ToolError> {
    let path = path.filter(|path| *path != Path::new("-"));
    let called = path.unwrap_or(Path::new("standard input"));
    let from = match path {
        // The open of a pipe that nobody writes to would wait, and could not be interrupted.
        Some(path) => OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path),
        None => io::stdin().as_fd().try_clone_to_owned().map(File::from),
    };
    let from = from.map_err(ToolError::file(called))?;
    let metadata = from.metadata().map_err(ToolError::file(called))?;
    // Standard input may be a file of which somebody has read a part.
    let is_whole = || rustix::fs::tell(&from).is_ok_and(|place| place == 0);
    if metadata.is_file() && is_whole() {
        return Ok(RegularFile { file: from, bytes: metadata.len() });
    }
    let copy = copy(from, || interrupt.came()).map_err(ToolError::file(called))?;
    copy.ok_or_else(|| ToolError::other("interrupted before all was read: nothing is published"))
}

/// Copies all there is to read; `None` if it `is_over` before that.
fn copy(mut from: File, is_over: impl Fn() -> bool) -> io::Result<Option<RegularFile>> {
    let mut into = nameless()?;
    // What has no end must not fill the disk.
    let free = rustix::fs::fstatvfs(&into).map(|room| room.f_bavail.saturating_mul(room.f_frsize));
    let most = free.map_or(u64::MAX, |free| free / 2);
    let (mut chunk, mut bytes) = (vec![0; CHUNK_BYTES], 0);
    while !is_over() {
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&LOOK_EVERY)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match from.read(&mut chunk) {
            Ok(0) => return Ok(Some(RegularFile { file: into, bytes })),
            Ok(count) => {
                into.write_all(chunk.get(..count).unwrap_or_default())?;
                bytes += count as u64;
                if bytes > most {
                    let place = std::env::temp_dir();
                    return Err(io::Error::new(
                        io::ErrorKind::FileTooLarge,
                        format!(
                            "more has come than half of the free room in {}: write it to a file, and name that",
                            printable_path(&place)
                        ),
                    ));
                }
            }
            Err(error) if is_try_again(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// A file that is gone when it is closed, and that nobody else can open.
fn nameless() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(&folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(File::from(file)),
        // Not every file system has such.
        Err(_) => {
            let path = folder.join(format!("cairn-{:016x}", Clock::seed()));
            let file = files::create(&path, true)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn what_a_pipe_brings_is_read_by_place_and_its_length_is_known() {
        let (read, mut write) = io::pipe().unwrap();
        let writer = std::thread::spawn(move || {
            for part in 0..40u8 {
                write.write_all(&[part; 10_000]).unwrap();
            }
        });
        let copy = copy(File::from(std::os::fd::OwnedFd::from(read)), || false).unwrap().unwrap();
        writer.join().unwrap();
        assert_eq!(copy.bytes, 400_000);
        let mut part = [0; 20];
        copy.file.read_exact_at(&mut part, 19_990).unwrap();
        assert_eq!((part[0], part[9], part[10]), (1, 1, 2));
    }

    #[test]
    fn a_pipe_that_brings_nothing_is_given_up_when_nobody_wants_it_any_more() {
        let (read, _write) = io::pipe().unwrap();
        let looks = std::cell::Cell::new(0);
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        assert!(copy(File::from(std::os::fd::OwnedFd::from(read)), is_over).unwrap().is_none());
    }
}
