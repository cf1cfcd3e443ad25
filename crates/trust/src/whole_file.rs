//! Files that are read and written as a whole: configurations, rules, keys, certificates, experiments.
//! However it is named, a file that is read ends: a device that never does, or a pipe to which nobody writes,
//! is an error that says so. One that is written takes the place of what was there in one step
//! ([`Replacement`]).

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

pub use replacement::{Durability, Readers, Replacement, Writers};

mod replacement;

/// Bytes of a file that people write by hand, or that holds keys and certificates.
pub const MAX_BYTES: u64 = 16 << 20;
/// How long nothing may come out of a pipe.
pub const PIPE_TIMEOUT: Duration = Duration::from_secs(10);

/// All of a regular file of at most `most` bytes. For those who have something else to do than to wait, such
/// as a node that runs.
///
/// # Errors
/// It cannot be read, is no file, or is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_at_most(open(path)?, most)
}

/// Opens a regular file, for those who read it part by part.
///
/// # Errors
/// It cannot be opened, or is no file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = open_anything(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file, but a directory, a pipe or a device"));
    }
    Ok(file)
}

/// All of what a user has named, as far as it is at most `most` bytes: a file, or a pipe such as the shell
/// makes for `<(...)`, which may be silent for [`PIPE_TIMEOUT`].
///
/// # Errors
/// It cannot be read, is larger, or is a pipe that says nothing.
pub fn read_input(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_with_timeout(path, most, PIPE_TIMEOUT)
}

/// The same as [`read_input`], as text.
///
/// # Errors
/// The same, and what is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_input(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text: not all of it is UTF-8"))
}

/// All that can be read, if it is not more than `most` bytes.
///
/// # Errors
/// It cannot be read, or is more.
pub fn read_at_most(from: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    AtMost::new(from, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A reader that may give so many bytes, and an error where there are more.
#[derive(Debug)]
pub struct AtMost<R> {
    from: R,
    most: u64,
    read: u64,
}

impl<R> AtMost<R> {
    /// Reads at most `most` bytes.
    pub fn new(from: R, most: u64) -> Self {
        AtMost { from, most, read: 0 }
    }
}

impl<R: io::Read> io::Read for AtMost<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.read = self.read.saturating_add(read as u64);
        if self.read <= self.most {
            return Ok(read);
        }
        let text = match self.most >> 20 {
            0 => format!("it has more than {} bytes, which no such file has", self.most),
            mebibytes => format!("it has more than {mebibytes} MiB, which no such file has"),
        };
        Err(io::Error::new(io::ErrorKind::FileTooLarge, text))
    }
}

/// Opens what is there, and does not wait for it: opening a pipe waits for somebody at its other end.
fn open_anything(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    options.open(path)
}

#[cfg(unix)]
fn read_with_timeout(path: &Path, most: u64, timeout: Duration) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileTypeExt as _;
    let file = open_anything(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_fifo() => read_at_most(Pipe { file, timeout }, most),
        // Opened once more: reading a terminal waits for who types.
        kind if kind.is_char_device() => read_at_most(File::open(path)?, most),
        _ => read_at_most(file, most),
    }
}

#[cfg(not(unix))]
fn read_with_timeout(path: &Path, most: u64, _: Duration) -> io::Result<Vec<u8>> {
    read_at_most(open_anything(path)?, most)
}

/// A pipe that is waited for, but not for ever.
#[cfg(unix)]
struct Pipe {
    file: File,
    timeout: Duration,
}

#[cfg(unix)]
impl io::Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let timeout = Timespec {
            tv_sec: self.timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: i64::from(self.timeout.subsec_nanos()),
        };
        // Before somebody has opened its other end, reading it would give the end of the file.
        match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&timeout))? {
            0 => {
                let text = format!("it is a pipe, and nobody has written to it for {:?}", self.timeout);
                Err(io::Error::new(io::ErrorKind::TimedOut, text))
            }
            _ => self.file.read(into),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::PathBuf;

    use testkit::folder::TestFolder;

    use super::*;

    struct Folder(TestFolder);

    impl Folder {
        fn new(name: &str) -> Self {
            Folder(TestFolder::new(name))
        }

        fn pipe(&self) -> PathBuf {
            let pipe = self.0.join("pipe");
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
            pipe
        }
    }

    #[test]
    fn what_is_no_file_or_too_large_is_refused_at_once() {
        let folder = Folder::new("regular");
        let (pipe, file) = (folder.pipe(), folder.0.join("file"));
        std::fs::write(&file, [7; 100]).unwrap();
        for odd in [pipe.as_path(), &folder.0, Path::new("/dev/zero")] {
            assert!(read(odd, 1000).unwrap_err().to_string().contains("no file"), "{}", odd.display());
        }
        for read in [read, read_input] {
            assert_eq!(read(&file, 100).unwrap(), [7; 100]);
            assert_eq!(read(&file, 99).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        }
    }

    #[test]
    fn a_device_that_never_ends_is_too_large() {
        let error = read_input(Path::new("/dev/zero"), MAX_BYTES).unwrap_err();
        assert!(error.to_string().contains("16 MiB"), "{error}");
        assert!(read_input(Path::new("/dev/null"), MAX_BYTES).unwrap().is_empty());
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_given_up_and_one_that_speaks_is_read() {
        let folder = Folder::new("pipe");
        let pipe = folder.pipe();
        let error = read_with_timeout(&pipe, 100, Duration::from_millis(1)).unwrap_err();
        assert!(error.to_string().contains("nobody has written"), "{error}");
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || OpenOptions::new().write(true).open(pipe).unwrap().write_all(b"/a/name").unwrap()
        });
        assert_eq!(read_text(&pipe, 100).unwrap(), "/a/name");
        writer.join().unwrap();
    }

    #[test]
    fn a_pipe_that_stops_speaking_before_its_end_is_given_up() {
        let folder = Folder::new("stops");
        let pipe = folder.pipe();
        // Opened for both ways, so that opening waits for nobody.
        let mut writer = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        writer.write_all(b"half").unwrap();
        let error = read_with_timeout(&pipe, 100, Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn what_is_not_utf_8_is_no_text() {
        let folder = Folder::new("text");
        let file = folder.0.join("file");
        std::fs::write(&file, [0xff]).unwrap();
        assert!(read_text(&file, 100).unwrap_err().to_string().contains("UTF-8"));
    }
}
