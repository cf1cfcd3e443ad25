//! Where everything of a run is.
//!
//! ```text
//! runs/quickstart-20260331-142309/
//!   experiment.toml        as it was given
//!   files/                 copies of the files that it names, such as a map of nodes and links
//!   run.json               backend, seed, versions, machine, cases, state
//!   report.html report.pdf the report
//!   overview.pdf           a page for each case: six graphs of every node, and the transfers
//!   figures/               each figure as SVG, its data as CSV and Parquet
//!   results.csv, .parquet  every number of every repeat
//!   controls.csv, .parquet the same of controls, where there are any
//!   case-01/repeat-01/
//!     raw/                 captures, forwarder logs, transfers, outcome: as measured
//!     trace/               traces and captures of virtual time, where the experiment asks for them
//!     derived/             per second, from the start, invalid lines dropped
//!     result.json          numbers of this repeat, counts behind them, its gates, hashes of its files;
//!                          written last and once; the last field is a hash of the others
//!   results.sha256         hashes of these tables, as `sha256sum` writes them
//!   records/               in place of folders, of runs of thousands of cases in virtual time
//!   case-01/repeat-01-discarded-1/
//!     NOT-VALID.txt        why an attempt was not valid; all it measured stands beside
//!   case-01/repeat-01-unreadable-1/
//!     UNREADABLE.txt       why a repeat was measured again when the run went on: its numbers were damaged
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use trust::whole_file;

use super::anew::pasted_path;
use super::build::Program;
use super::machine::Machine;
use crate::backend::VIRTUAL_TIME;
use crate::experiment::plan::{MAX_REPEATS, TraceFormat};
use crate::experiment::{FILES_FOLDER, kept_name};
use crate::order::write_text;
use crate::seal::{SEAL, Seal, seal_of, sealed};
use crate::wall_clock;

/// The file that says why an attempt was discarded.
const NOT_VALID: &str = "NOT-VALID.txt";
/// The file that says why a repeat was set aside whose numbers cannot be read.
const UNREADABLE: &str = "UNREADABLE.txt";
/// Bytes of `run.json`.
const MAX_BYTES: u64 = 1 << 30;

/// A run's folder that nobody else works in. The kernel gives it free when its holder ends.
#[derive(Debug)]
pub struct Lock {
    _held: Flock<fs::File>,
}

/// The folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// What `run.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The experiment's file name without its ending.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// The backend.
    pub backend: String,
    /// The command that gives it, and everything that was said with it; nothing in runs of earlier versions.
    #[serde(default)]
    pub command: String,
    /// When it began.
    pub began: String,
    /// The lab's version.
    pub version: String,
    /// The software under test, as it says it itself.
    pub software: String,
    /// The program that carried it out.
    #[serde(default)]
    pub program: Program,
    /// Other programs that went on with it.
    #[serde(default)]
    pub resumed_by: Vec<Program>,
    /// A hash of each part of the experiment as it was when the run began; nothing in runs of earlier
    /// versions.
    #[serde(default)]
    pub hashes: BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
    /// The cases' names; one empty name when there is only one.
    pub cases: Vec<String>,
    /// Repeats of each case.
    pub repeats: u32,
    /// The seed.
    pub seed: u64,
    /// Another form of traces than the experiment says.
    #[serde(default)]
    pub trace_format: Option<TraceFormat>,
    /// From this case on, counted from 0, valid repeats are lines of `records/` and have no folder; nothing
    /// where each case has one, and in runs of earlier versions.
    #[serde(default)]
    pub recorded_from: Option<usize>,
    /// SHA-256 of each file that a study has written, by its name; none of runs that are no studies, and of
    /// studies of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub study_files: BTreeMap<String, String>,
    /// Is it done?
    pub complete: bool,
    /// Whether it is as it was written.
    #[serde(skip)]
    pub seal: Seal,
}

/// That somebody is at work in a folder, by what its lock says of who that is.
pub(crate) fn at_work(holder: &str) -> String {
    format!("somebody is at work on it: {holder}")
}

/// Can a run have so many cases of so many repeats each?
pub(super) fn is_of_a_run(cases: usize, repeats: u32) -> bool {
    cases.saturating_mul(repeats as usize) <= MAX_REPEATS as usize
}

impl RunRecord {
    /// Is a result of this run not as it was written? Those of earlier versions have no seals.
    pub(crate) fn is_altered(&self, seal: Seal) -> bool {
        match seal {
            Seal::Whole => false,
            Seal::Broken => true,
            Seal::None => !self.hashes.is_empty(),
        }
    }

    /// Was it in virtual time, and not on real forwarders?
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.backend == VIRTUAL_TIME
    }
}

impl RunFolder {
    /// A new folder of this name.
    ///
    /// # Errors
    ///
    /// When it cannot be made, such as when it is there already and holds something.
    pub fn create_as(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        if fs::read_dir(path)?.next().is_some() {
            let why = "it is there already, and not empty; name another one";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        RunFolder::open(path)
    }

    /// A new folder below `above`, named after the experiment and the moment.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(above: &Path, experiment: &str) -> io::Result<Self> {
        fs::create_dir_all(above)?;
        let base = format!("{experiment}-{}", wall_clock::for_file_name(system::unix_now()));
        for number in 1..100 {
            let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
            match fs::create_dir(above.join(&name)) {
                Ok(()) => return RunFolder::open(&above.join(name)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{base} and 98 others are there")))
    }

    /// A folder that is there.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(RunFolder { path: path.canonicalize()? })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The experiment as it was given.
    #[must_use]
    pub fn experiment(&self) -> PathBuf {
        self.path.join("experiment.toml")
    }

    /// The copy of a file that the experiment names.
    #[must_use]
    pub fn file_of_experiment(&self, name: &str) -> PathBuf {
        self.path.join(FILES_FOLDER).join(kept_name(name))
    }

    /// The machines, as they were given, for the backend `hosts`.
    #[must_use]
    pub fn hosts(&self) -> PathBuf {
        self.path.join("hosts.toml")
    }

    /// The report.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// The folder of a repeat; both numbers count from 0.
    #[must_use]
    pub fn repeat(&self, case: usize, repeat: u32) -> PathBuf {
        self.path.join(format!("case-{:02}", case + 1)).join(format!("repeat-{:02}", repeat + 1))
    }

    /// Why attempts of a repeat before the one that counts were discarded, in their order. What they measured
    /// is kept.
    #[must_use]
    pub fn discarded(&self, case: usize, repeat: u32) -> Vec<String> {
        let read = |number: usize| {
            fs::read_to_string(self.discarded_place(case, repeat, number).join(NOT_VALID)).ok()
        };
        (1..).map_while(read).map(|text| text.trim().to_owned()).collect()
    }

    /// Puts what an attempt has measured aside, and marks it. The repeat's place is then free. Returns where
    /// it is now.
    ///
    /// # Errors
    ///
    /// When it cannot be moved.
    pub fn discard(&self, case: usize, repeat: u32, why: &str) -> io::Result<PathBuf> {
        let number = self.discarded(case, repeat).len() + 1;
        let (place, aside) = (self.repeat(case, repeat), self.discarded_place(case, repeat, number));
        let _ = fs::remove_dir_all(&aside);
        // What it names in its folder is found where that goes to, and not in the folder of the next attempt.
        let within = |folder: &Path| {
            let mut names = folder.iter().rev().map(|name| name.to_string_lossy());
            let (last, above) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
            format!("{above}/{last}/")
        };
        let why = why.replace(&within(&place), &within(&aside));
        fs::write(place.join(NOT_VALID), format!("{why}\n"))?;
        fs::rename(place, &aside)?;
        Ok(aside)
    }

    /// Puts a repeat aside whose numbers cannot be read, and marks it: its place is then free, and what is
    /// measured there has the same seed. Returns where it is now.
    ///
    /// # Errors
    ///
    /// When it cannot be moved.
    pub fn set_aside(&self, case: usize, repeat: u32, why: &str) -> io::Result<PathBuf> {
        let place = self.repeat(case, repeat);
        let name = |number: u32| format!("repeat-{:02}-unreadable-{number}", repeat + 1);
        let mut places = (1..).map(|number| place.with_file_name(name(number)));
        let aside = places.find(|aside| !aside.exists()).unwrap_or_else(|| place.with_file_name(name(0)));
        fs::write(place.join(UNREADABLE), format!("{why}\n"))?;
        fs::rename(place, &aside)?;
        Ok(aside)
    }

    fn discarded_place(&self, case: usize, repeat: u32, number: usize) -> PathBuf {
        self.repeat(case, repeat).with_file_name(format!("repeat-{:02}-discarded-{number}", repeat + 1))
    }

    /// Keeps others from working in this folder as long as the lock is held, however its holder ends.
    ///
    /// # Errors
    ///
    /// When another process holds it, which the error names, or it cannot be made.
    pub fn lock(&self) -> io::Result<Lock> {
        let path = self.path.join("lock");
        let file = fs::File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut held) => {
                held.set_len(0)?;
                writeln!(&mut *held, "process {}, since {}", std::process::id(), system::unix_now())?;
                Ok(Lock { _held: held })
            }
            Err((_, Errno::EAGAIN)) => {
                let holder = fs::read_to_string(&path).unwrap_or_default();
                let why = format!("somebody is at work on {}: {}", self.path.display(), holder.trim());
                Err(io::Error::new(io::ErrorKind::WouldBlock, why))
            }
            Err((_, error)) => Err(error.into()),
        }
    }

    /// Who is at work on it, as its lock says; nothing where nobody is.
    #[must_use]
    pub fn holder(&self) -> Option<String> {
        let path = self.path.join("lock");
        let file = fs::File::open(&path).ok()?;
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Err((_, Errno::EAGAIN)) => Some(fs::read_to_string(&path).unwrap_or_default().trim().to_owned()),
            _ => None,
        }
    }

    /// How a run that is not complete comes to its end, in words.
    #[must_use]
    pub fn going_on(&self) -> String {
        match self.holder() {
            Some(holder) => at_work(&holder),
            None => format!("go on with it: cairn lab resume {}", pasted_path(&self.path)),
        }
    }

    /// Reads `run.json`.
    ///
    /// # Errors
    ///
    /// When it is not there, or not of this version.
    pub fn record(&self) -> io::Result<RunRecord> {
        let path = self.path.join("run.json");
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let text = whole_file::read(&path, MAX_BYTES).map_err(named)?;
        let text = String::from_utf8(text).map_err(|error| named(io::Error::other(error)))?;
        let record: RunRecord =
            serde_json::from_str(&text).map_err(|error| named(io::Error::other(error)))?;
        // The program that it names has a hash as well, which is no seal.
        let fields: BTreeMap<String, IgnoredAny> =
            serde_json::from_str(&text).map_err(|error| named(io::Error::other(error)))?;
        // Who reads it makes a list of them.
        if !is_of_a_run(record.cases.len(), record.repeats) {
            let (cases, repeats) = (record.cases.len(), record.repeats);
            let why = format!("{cases} cases of {repeats} repeats each are more than a run has");
            return Err(named(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        let seal = if fields.contains_key(SEAL) { seal_of(&text) } else { Seal::None };
        Ok(RunRecord { seal, ..record })
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_record(&self, record: &RunRecord) -> io::Result<()> {
        write_text(&self.path.join("run.json"), sealed(&serde_json::to_string_pretty(record)?))
    }

    /// Every run below a folder, oldest first.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn list(above: &Path) -> io::Result<Vec<(RunFolder, RunRecord)>> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(above)?.flatten() {
            let Ok(folder) = RunFolder::open(&entry.path()) else { continue };
            if let Ok(record) = folder.record() {
                runs.push((folder, record));
            }
        }
        runs.sort_by(|a, b| a.1.began.cmp(&b.1.began).then(a.0.path.cmp(&b.0.path)));
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn one_at_a_time_works_in_a_folder_and_the_next_learns_who_does() {
        let above = TestFolder::absent("lock");
        let folder = RunFolder::create(&above, "x").unwrap();
        let held = folder.lock().unwrap();
        let refused = folder.lock().unwrap_err();
        assert!(refused.to_string().contains(&format!("process {}", std::process::id())), "{refused}");
        drop(held);
        assert!(folder.lock().is_ok());
    }

    #[test]
    fn what_a_discarded_attempt_measured_is_kept_and_marked() {
        let above = TestFolder::absent("discard");
        let folder = RunFolder::create(&above, "x").unwrap();
        let killed = format!("it ended; its log is {}", folder.repeat(0, 0).join("raw/a.log").display());
        for why in ["it waited", &killed] {
            fs::create_dir_all(folder.repeat(0, 0).join("raw")).unwrap();
            fs::write(folder.repeat(0, 0).join("raw/log.csv"), why).unwrap();
            folder.discard(0, 0, why).unwrap();
        }
        assert!(!folder.repeat(0, 0).exists());
        let log = folder.path().join("case-01/repeat-01-discarded-2/raw/a.log");
        let why = format!("it ended; its log is {}", log.display());
        assert_eq!(folder.discarded(0, 0), ["it waited".to_owned(), why], "the log of that attempt is named");
        let kept = folder.path().join("case-01/repeat-01-discarded-2/raw/log.csv");
        assert_eq!(fs::read_to_string(kept).unwrap(), killed);
    }
}
