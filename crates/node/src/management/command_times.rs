//! Times in commands that were carried out, in a file of their own beside that of the routes.
//!
//! It is written for each command that says a time ahead of the node's clock, before anything else is done.
//! So it must cost the same however many routes are kept.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use formats::printable::printable_path;
use serde::{Deserialize, Serialize};
use trust::whole_file;

use super::kept_files::{REPLACEMENT, set_aside};
use super::replay_guard::CommandTimes;

/// The largest file that is read: it has some dozens of numbers.
const MAX_FILE_BYTES: u64 = 64 << 10;

const HEAD: &str =
    "# Times in commands that a Cairn node has carried out, for its next start. The node writes this file.\n";

/// What stands in the file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SavedTimes {
    /// How many times follow: a file that was cut is noticed.
    times: usize,
    last_command_ms: u64,
    command_times_ms: BTreeSet<u64>,
}

/// The file, which need not be there.
#[derive(Debug)]
pub(super) struct CommandTimesFile(PathBuf);

impl CommandTimesFile {
    /// That of the node which keeps its routes in `routes`.
    pub(super) fn beside(routes: &Path) -> Self {
        let mut path = routes.as_os_str().to_owned();
        path.push(".times");
        CommandTimesFile(path.into())
    }

    /// Adds what it says to `times`. A file that makes no sense is set aside and said so.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub(super) fn read_into(&self, times: &mut CommandTimes) -> io::Result<()> {
        let text = match whole_file::read(&self.0, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        match understand(&text) {
            Some(saved) => {
                times.until_ms = times.until_ms.max(saved.last_command_ms);
                for time_ms in saved.command_times_ms {
                    times.insert(time_ms);
                }
            }
            None => {
                let aside = set_aside(&self.0)?;
                tracing::error!(
                    "{} makes no sense. It is now {}; commands whose time was ahead of this node's clock may \
                     be carried out once more",
                    printable_path(&self.0),
                    printable_path(&aside)
                );
            }
        }
        Ok(())
    }

    /// Replaces it, and is done when that is safe on the disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, times: &CommandTimes) -> io::Result<()> {
        let (last_command_ms, command_times_ms) = writable(times);
        let saved = SavedTimes { times: command_times_ms.len(), last_command_ms, command_times_ms };
        let text = toml::to_string(&saved).map_err(io::Error::other)?;
        REPLACEMENT.write(&self.0, format!("{HEAD}{text}").as_bytes())
    }
}

/// The times as TOML can hold them, whose numbers have a sign.
pub(super) fn writable(times: &CommandTimes) -> (u64, BTreeSet<u64>) {
    const MAX_TOML_INTEGER: u64 = i64::MAX as u64;
    (times.until_ms.min(MAX_TOML_INTEGER), times.times_ms.range(..=MAX_TOML_INTEGER).copied().collect())
}

fn understand(text: &[u8]) -> Option<SavedTimes> {
    let saved: SavedTimes = toml::from_str(std::str::from_utf8(text).ok()?).ok()?;
    (saved.times == saved.command_times_ms.len()).then_some(saved)
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    fn read(file: &CommandTimesFile) -> CommandTimes {
        let mut times = CommandTimes::default();
        file.read_into(&mut times).unwrap();
        times
    }

    #[test]
    fn what_is_written_is_read_and_a_file_that_was_cut_is_set_aside() {
        let folder = TestFolder::new("command-times");
        let file = CommandTimesFile::beside(&folder.join("routes.toml"));
        assert_eq!(read(&file), CommandTimes::default());
        let times = CommandTimes { until_ms: 17, times_ms: BTreeSet::from([18, 300]) };
        file.write(&times).unwrap();
        assert_eq!(read(&file), times);
        let path = folder.join("routes.toml.times");
        let whole = std::fs::read(&path).unwrap();
        for (broken, length) in (1..whole.len() - 1).step_by(13).enumerate() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read(&file), CommandTimes::default(), "cut after {length} bytes");
            let aside = folder.join(format!("routes.toml.times.broken-{broken}"));
            assert_eq!(std::fs::read(aside).unwrap(), &whole[..length]);
        }
    }
}
