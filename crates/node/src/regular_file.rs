//! Files that are read while the node runs: certificates, its configuration, its state. What is no file,
//! such as a pipe that nobody writes to, would keep the node from doing anything else.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// All of a file, if it is one and has at most `most` bytes.
///
/// # Errors
/// It cannot be read, is no file, or is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe waits for somebody at its other end, but not so.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file, but a directory, a pipe or a device"));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let text = format!("it has more than {} MiB, which no such file has", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_or_too_large_is_refused_at_once() {
        let folder = std::env::temp_dir().join(format!("cairn-regular-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (pipe, file) = (folder.join("pipe"), folder.join("file"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
        std::fs::write(&file, [7; 100]).unwrap();
        for odd in [&pipe, &folder, Path::new("/dev/zero")] {
            assert!(read(odd, 1000).unwrap_err().to_string().contains("no file"), "{}", odd.display());
        }
        assert_eq!(read(&file, 100).unwrap(), [7; 100]);
        assert_eq!(read(&file, 99).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
