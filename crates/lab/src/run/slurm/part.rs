//! What a task of the array job does: the run of one share, or the rest of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::SlurmRun;
use crate::backend::VIRTUAL_TIME;
use crate::driver::Programs;
use crate::experiment::Experiment;
use crate::order::Stop;
use crate::order::{read_json, write_json};
use crate::run::build::Build;
use crate::run::error::{RunError, io_error};
use crate::run::execute::{Continuation, execute, resume_with};
use crate::run::folder::RunFolder;
use crate::run::options::Options;
use crate::run::plan_error::PlanError;
use crate::run::progress::Progress;
use crate::run::shard::Shard;

/// Where a part says how far it is, for who waits for it.
const PROGRESS: &str = "progress.json";
/// How often it does.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Repeats of a part.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Repeats {
    done: u64,
    all: u64,
}

/// How far a part is; nothing if it has not begun.
pub(super) fn progress(part: &Path) -> Option<(u64, u64)> {
    let Repeats { done, all } = read_json(&part.join(PROGRESS)).ok()?;
    Some((done, all))
}

/// Writes down how far a part is, for whoever waits for it.
struct ProgressReporter {
    place: PathBuf,
    told: Option<Instant>,
}

impl ProgressReporter {
    fn note(&mut self, progress: &Progress) {
        match progress {
            Progress::Count { done, all } => self.report(*done as u64, *all as u64),
            // One after the other: each is told when it begins.
            Progress::Repeat { case: (case, cases), repeat: (repeat, repeats), .. } => {
                let (before, repeats) = (case.saturating_sub(1) as u64, u64::from(*repeats));
                let done = before * repeats + u64::from(repeat.saturating_sub(1));
                self.report(done, *cases as u64 * repeats);
            }
            _ => {}
        }
    }

    fn report(&mut self, done: u64, all: u64) {
        let is_due = self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        if is_due || done == all {
            // Who waits for it looks again; the run does not depend on it.
            let _ = write_json(&self.place.join(PROGRESS), &Repeats { done, all });
            self.told = Some(Instant::now());
        }
    }
}

/// Carries the share of this number out, from 1, or goes on with it.
///
/// # Errors
///
/// As for every run.
pub fn carry_out(
    path: &Path,
    number: u32,
    programs: &Programs,
    build: Build,
    mut observe: impl FnMut(&Progress) + Send,
) -> Result<(), RunError> {
    let run = SlurmRun::open(path)?.ok_or_else(|| PlanError::NoSweep(path.to_owned()))?;
    let record = run.record();
    let shard =
        Shard::new(number, record.shards).ok_or(PlanError::NoPart { number, parts: record.shards })?;
    let place = run.part(number);
    let workers = record.workers.or_else(processors);
    let mut reporter = ProgressReporter { place: place.clone(), told: None };
    let heed = |progress: &Progress| {
        reporter.note(progress);
        observe(progress);
    };
    let part = if place.join("run.json").is_file() {
        resume_with(&place, programs, build, Continuation { workers, stop: Stop::default() }, heed)?
    } else {
        // Who was ended before anything was measured has left nothing of use.
        let _ = fs::remove_dir_all(&place);
        let mut experiment = Experiment::read_recorded(&run.folder().experiment())?;
        experiment.name.clone_from(&record.experiment);
        let options = Options {
            out: Some(place),
            workers,
            trace_format: record.trace_format,
            repeats: record.repeats,
            seed: record.seed,
            only: record.only.clone(),
            shard: Some(shard),
            controls: record.controls,
            build,
            ..Options::new(VIRTUAL_TIME, path, programs.clone())
        };
        execute(&experiment, &options, heed)?
    };
    finish(&part)
}

/// All repeats are done, whoever has counted them.
fn finish(part: &RunFolder) -> Result<(), RunError> {
    let (_, all) = progress(part.path()).unwrap_or((1, 1));
    let written = write_json(&part.path().join(PROGRESS), &Repeats { done: all, all });
    written.map_err(io_error("progress.json cannot be written"))
}

/// The processors that Slurm gave this task.
fn processors() -> Option<usize> {
    let said = |name: &str| std::env::var(name).ok()?.parse().ok().filter(|count| *count > 0);
    said("SLURM_CPUS_PER_TASK").or_else(|| said("SLURM_CPUS_ON_NODE"))
}
