//! Where everything of a run is.
//!
//! ```text
//! runs/quickstart-20260331-142309/
//!   experiment.toml        as it was given
//!   run.json               backend, seed, versions, machine, cases, state
//!   report.html report.pdf the report
//!   figures/               each figure as SVG, its data as CSV and Parquet
//!   results.csv, .parquet  every number of every repeat
//!   case-01/repeat-01/
//!     raw/                 captures, forwarder logs, transfers, outcome: as measured
//!     derived/             per second, from the start, invalid lines dropped
//!     result.json          numbers of this repeat, and its gates
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::calendar::Stamp;
use super::machine::Machine;
use crate::backend::netns::order::{read_json, write_json};

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
    /// When it began.
    pub began: String,
    /// The lab's version.
    pub version: String,
    /// The software under test, as it says it itself.
    pub software: String,
    /// The machine.
    pub machine: Machine,
    /// The cases' names; one empty name when there is only one.
    pub cases: Vec<String>,
    /// Repeats of each case.
    pub repeats: u32,
    /// The seed.
    pub seed: u64,
    /// Is it done?
    pub complete: bool,
}

impl RunFolder {
    /// A new folder below `above`, named after the experiment and the moment.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(above: &Path, experiment: &str) -> io::Result<Self> {
        fs::create_dir_all(above)?;
        let base = format!("{experiment}-{}", Stamp::now().compact());
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

    /// Reads `run.json`.
    ///
    /// # Errors
    ///
    /// When it is not there, or not of this version.
    pub fn record(&self) -> io::Result<RunRecord> {
        read_json(&self.path.join("run.json"))
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_record(&self, record: &RunRecord) -> io::Result<()> {
        write_json(&self.path.join("run.json"), record)
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
