//! A sweep on a cluster: an array job of Slurm, of which each task runs a share of the cases in virtual time.
//!
//! The run's folder is on a file system that all machines share:
//!
//! ```text
//! runs/sweep-20260331-142309/
//!   experiment.toml  files/   as in every run
//!   slurm.json                how it was submitted: shares, options, programs, jobs
//!   slurm.sh                  the array job
//!   part-1/ part-2/ …         the run of each share, until they are put together
//!   part-1.txt part-2.txt …   what each task printed
//! ```
//!
//! Nothing but the folder says what is done, so that whoever goes on needs no more than it: parts that are
//! complete stay, those that still have a task are waited for, and others get a new one.

mod cluster;
pub(super) mod error;
mod part;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::cluster::{Cluster, Tasks};
pub use self::error::SlurmError;
pub use self::part::carry_out;
use super::build::Program;
use super::create::{command, new_folder};
use super::error::{RunError, io_error};
use super::folder::{RunFolder, RunRecord};
use super::merge::merge;
use super::options::Options;
use super::plan_error::{PlanError, UnfitForStudy};
use super::plans::chosen;
use crate::backend::{VIRTUAL_TIME, backend, hosts};
use crate::experiment::Experiment;
use crate::experiment::plan::TraceFormat;
use crate::order::{read_json, write_json};

/// Shares of a sweep for which nobody says how many there are to be.
const SHARES: u32 = 16;
/// The most shares. Slurm's own limit, `MaxArraySize`, is 1,001 where nobody has changed it.
const MAX_SHARES: u32 = 1000;
/// The folder in which parts are put together.
const MERGING: &str = "merging";

/// How a sweep is on a cluster: `slurm.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmRecord {
    /// The experiment's file name without its ending.
    pub experiment: String,
    /// The command that gives it.
    pub command: String,
    /// When it began.
    pub began: String,
    /// The program that submitted it.
    pub program: Program,
    /// Shares of the cases.
    pub shards: u32,
    /// What `sbatch` was told beside what it needs.
    pub options: Vec<String>,
    /// Its jobs, oldest first.
    pub jobs: Vec<String>,
    repeats: Option<u32>,
    seed: Option<u64>,
    only: Option<String>,
    controls: bool,
    trace_format: Option<TraceFormat>,
    workers: Option<usize>,
}

/// A sweep on a cluster.
#[derive(Debug)]
pub struct SlurmRun {
    folder: RunFolder,
    record: SlurmRecord,
}

/// How far a sweep on a cluster is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmState {
    /// Repeats that are done, of those of the parts that have begun.
    pub done: u64,
    /// Repeats of the parts that have begun.
    pub all: u64,
    /// Parts that have not begun.
    pub not_begun: u32,
    /// Parts that are complete.
    pub complete: u32,
    /// All parts.
    pub parts: u32,
}

impl SlurmRun {
    /// Makes the folder of a sweep, and submits nothing yet.
    ///
    /// # Errors
    ///
    /// What cannot be run, or not there; options for Slurm that would take the job apart; a file.
    pub fn create(
        experiment: &Experiment,
        options: &Options,
        shards: Option<u32>,
        words: &[String],
    ) -> Result<Self, RunError> {
        check_words(words)?;
        if experiment.file.study.is_some() {
            let experiment = experiment.shown().to_owned();
            return Err(PlanError::Study { experiment, unfit: UnfitForStudy::Shares }.into());
        }
        if options.shard.is_some() {
            return Err(PlanError::ShardOfShards.into());
        }
        let options = Options { backend: VIRTUAL_TIME.to_owned(), ..options.clone() };
        let plans = chosen(experiment, &options, &*backend(VIRTUAL_TIME, None, None)?)?.plans;
        let cases = plans.iter().filter(|plan| plan.control.is_none()).count();
        let most = u32::try_from(cases).unwrap_or(MAX_SHARES).min(MAX_SHARES);
        let shards = shards.unwrap_or(SHARES.min(most));
        if shards > most {
            return Err(PlanError::TooManyShares { cases, shards, most }.into());
        }
        let (folder, _lock) = new_folder(experiment, &options)?;
        let record = SlurmRecord {
            experiment: experiment.name.clone(),
            command: command(experiment, &options, "slurm"),
            began: system::unix_now().to_string(),
            program: Program::of(options.build, &options.programs.cairn).unwrap_or_default(),
            shards,
            options: words.to_vec(),
            jobs: Vec::new(),
            repeats: options.repeats,
            seed: options.seed,
            only: options.only,
            controls: options.controls,
            trace_format: options.trace_format,
            workers: options.workers,
        };
        let run = SlurmRun { folder, record };
        run.write()?;
        Ok(run)
    }

    /// The sweep of a folder; nothing where it is none, or its parts have been put together.
    ///
    /// # Errors
    ///
    /// When the folder or its `slurm.json` cannot be read.
    pub fn open(path: &Path) -> Result<Option<Self>, RunError> {
        let folder = RunFolder::open(path).map_err(io_error(path.display().to_string()))?;
        let file = folder.path().join("slurm.json");
        if !file.is_file() || folder.path().join("run.json").is_file() {
            return Ok(None);
        }
        let record = read_json(&file).map_err(io_error("slurm.json cannot be read"))?;
        Ok(Some(SlurmRun { folder, record }))
    }

    /// The run's folder.
    #[must_use]
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// What is noted of it.
    #[must_use]
    pub fn record(&self) -> &SlurmRecord {
        &self.record
    }

    fn write(&self) -> Result<(), RunError> {
        let written = write_json(&self.folder.path().join("slurm.json"), &self.record);
        written.map_err(io_error("slurm.json cannot be written"))
    }

    /// The folder of a part, by number from 1.
    fn part(&self, number: u32) -> PathBuf {
        self.folder.path().join(format!("part-{number}"))
    }

    fn is_complete(&self, number: u32) -> bool {
        let record = RunFolder::open(&self.part(number)).and_then(|part| part.record());
        record.is_ok_and(|record| record.complete)
    }

    /// The parts that are not complete, by number from 1.
    #[must_use]
    pub fn missing(&self) -> BTreeSet<u32> {
        (1..=self.record.shards).filter(|number| !self.is_complete(*number)).collect()
    }

    /// Submits a job with a task for each part that is not complete and has none. Returns the parts.
    ///
    /// # Errors
    ///
    /// What Slurm says; a file.
    pub fn submit(&mut self, cluster: &Cluster, program: &Path) -> Result<BTreeSet<u32>, RunError> {
        let at_work = || io_error("it cannot be submitted");
        let _lock = self.folder.lock().map_err(at_work())?;
        // Somebody else may have submitted it meanwhile.
        self.record = read_json(&self.folder.path().join("slurm.json")).map_err(at_work())?;
        let has_task = cluster.tasks(&self.record.jobs)?;
        let mut parts = self.missing();
        parts.retain(|number| !has_task.numbers.contains(number));
        if parts.is_empty() {
            return Ok(parts);
        }
        let script = self.folder.path().join("slurm.sh");
        let text = script_text(self, program)?;
        fs::write(&script, text).map_err(io_error("slurm.sh cannot be written"))?;
        let job = cluster.submit(self.folder.path(), &script, &parts, &self.record.options);
        self.record.jobs.push(job?);
        self.write()?;
        Ok(parts)
    }

    /// How far it is.
    #[must_use]
    pub fn state(&self) -> SlurmState {
        let parts = self.record.shards;
        let mut state = SlurmState { done: 0, all: 0, not_begun: 0, complete: 0, parts };
        for number in 1..=parts {
            match part::progress(&self.part(number)) {
                Some((done, all)) => {
                    state.done += done;
                    state.all += all;
                    state.complete += u32::from(done == all && self.is_complete(number));
                }
                None => state.not_begun += 1,
            }
        }
        state
    }

    /// What the task of a part printed last.
    #[must_use]
    pub fn last_words(&self, number: u32) -> String {
        let read = fs::read(self.folder.path().join(format!("part-{number}.txt"))).unwrap_or_default();
        let text = String::from_utf8_lossy(&read);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(|| "it has printed nothing".to_owned(), |line| line.trim().to_owned())
    }

    /// Puts the parts together, as if all cases had been run here. Those of before are then taken away.
    ///
    /// # Errors
    ///
    /// A part is not complete; a file.
    pub fn collect(self) -> Result<RunFolder, RunError> {
        let _lock = self.folder.lock().map_err(io_error("it cannot be put together"))?;
        let open = |number| RunFolder::open(&self.part(number));
        let parts = (1..=self.record.shards).map(open).collect::<io::Result<Vec<_>>>();
        let parts = parts.map_err(io_error("a part is missing"))?;
        let merging = self.folder.path().join(MERGING);
        let _ = fs::remove_dir_all(&merging);
        // All shares are here: the whole is complete if they are, whichever cases were asked for.
        let complete = parts.iter().all(|part| part.record().is_ok_and(|record| record.complete));
        let merged = merge(&parts, &merging)?;
        let record = merged.record().map_err(io_error("run.json"))?;
        let SlurmRecord { experiment, command, began, .. } = self.record;
        let record = RunRecord { experiment, command, began, complete, ..record };
        let moved = move_all(&merging, self.folder.path());
        moved.map_err(io_error("the parts cannot be put together"))?;
        self.folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
        // From here on it is a run like others.
        for part in parts {
            let _ = fs::remove_dir_all(part.path());
        }
        Ok(self.folder)
    }
}

/// Moves what was put together up into the run's folder, but for its `run.json`, which is written last.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_name() == "run.json" {
            continue;
        }
        if target.is_dir() {
            fs::remove_dir_all(&target)?;
        }
        fs::rename(entry.path(), target)?;
    }
    fs::remove_dir_all(from)
}

/// Words for `sbatch` must be options, each whole, and leave alone what the job is made of.
fn check_words(words: &[String]) -> Result<(), SlurmError> {
    let ours = ["-a", "--array", "-D", "--chdir", "-o", "--output", "--wrap", "--parsable", "-n", "--ntasks"];
    for word in words {
        let name = word.split('=').next().unwrap_or_default();
        let is_whole = name.starts_with('-') && !name.contains(char::is_whitespace);
        if !is_whole {
            return Err(SlurmError::NoOption(word.clone()));
        }
        if ours.contains(&name) {
            return Err(SlurmError::OwnOption(name.to_owned()));
        }
    }
    Ok(())
}

/// The array job.
fn script_text(run: &SlurmRun, program: &Path) -> Result<String, SlurmError> {
    let word = |path: &Path| {
        let text = path.to_str().ok_or_else(|| SlurmError::NotText(path.to_owned()));
        Ok::<_, SlurmError>(hosts::quoted(text?))
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String =
        run.record.experiment.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let workers = run.record.workers;
    let processors = workers.map(|count| format!("#SBATCH --cpus-per-task={count}\n")).unwrap_or_default();
    Ok(format!(
        "#!/bin/sh
#SBATCH --job-name=cairn-{name}
#SBATCH --array=1-{shards}
#SBATCH --ntasks=1
{processors}#SBATCH --open-mode=append
# Each task runs one of {shards} shares of the sweep in virtual time, in the folder part-N, or goes on with it.
exec {program} lab internal part {folder} \"$SLURM_ARRAY_TASK_ID\"
",
        shards = run.record.shards,
        program = word(program)?,
        folder = word(run.folder.path())?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_the_job_apart_is_not_passed_on() {
        let check = |word: &str| check_words(&[word.to_owned()]);
        for word in ["--partition=long", "-p=x", "--mem=4G", "--comment=two words", "--exclusive"] {
            assert!(check(word).is_ok(), "{word}");
        }
        for word in ["", "long", "--partition long", "--array=1-3", "-a", "--wrap=x", "--output=/dev/null"] {
            assert!(check(word).is_err(), "{word}");
        }
    }
}
