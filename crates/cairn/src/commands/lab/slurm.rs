//! A sweep on a cluster that Slurm manages: submit it, wait for it, go on with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use lab::experiment::Experiment;
use lab::run::progress::Progress;
use lab::run::slurm::{Cluster, SlurmError, SlurmRun, SlurmState, Tasks, carry_out};
use lab::run::{Options, RunError};
use packet::DoublingWait;
use packet::time::Duration;
use serde_json::json;

use super::Outcome;
use super::finish::finish;
use super::programs::{build, programs};
use super::screen::{Screen, time_left};
use super::verdicts::Form;
use crate::tool::interrupt::Interrupt;
use crate::tool::{ToolError, output};

/// What `--on` calls it.
pub(super) const NAME: &str = "slurm";

/// How often the queue and the parts are looked at: soon at first, and then no more than a cluster likes.
const FIRST_INTERVAL: Duration = Duration::from_millis(500);
const LAST_INTERVAL: Duration = Duration::from_secs(10);
/// So many looks may find a part neither in the queue nor complete: shared file systems show things late.
const MAX_ABSENCES: u32 = 3;
/// How soon Ctrl-C is noticed.
const HEED: StdDuration = StdDuration::from_millis(100);

/// How a sweep is run on a cluster.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "With --on slurm")]
pub(crate) struct SlurmArguments {
    /// Into how many tasks of an array job the cases are shared out; by default 16, or as many as there are
    /// cases. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
    /// An option for `sbatch`, such as `--partition=long`, `--time=2:00:00` or `--mem=4G`; again for each.
    #[arg(long = "slurm-option", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Return when the job is submitted. `cairn lab resume` then waits for it and writes the report.
    #[arg(long)]
    no_wait: bool,
}

impl SlurmArguments {
    /// Elsewhere they would change nothing.
    pub(super) fn refuse_elsewhere(&self) -> Result<(), ToolError> {
        let given = [
            (self.shards.is_some(), "--shards"),
            (!self.options.is_empty(), "--slurm-option"),
            (self.no_wait, "--no-wait"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            Some((_, name)) => Err(ToolError::other(format_args!("{name} is only for --on slurm"))),
            None => Ok(()),
        }
    }
}

/// The cluster's commands: in the folder that `CAIRN_SLURM` names, or in PATH.
fn cluster() -> Result<Cluster, ToolError> {
    let named = std::env::var_os("CAIRN_SLURM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    Cluster::find(named.into_iter().chain(std::env::split_paths(&path))).map_err(ToolError::other)
}

/// Runs a sweep on the cluster.
pub(super) fn run(
    experiment: &Experiment,
    options: &Options,
    arguments: &SlurmArguments,
    form: Form,
) -> Outcome {
    if options.hosts.is_some() {
        return Err(ToolError::other("--hosts is only for --on hosts"));
    }
    let cluster = cluster()?;
    let run = SlurmRun::create(experiment, options, arguments.shards, &arguments.options);
    let mut sweep = Sweep { run: run.map_err(ToolError::other)?, cluster, screen: Screen::new(false, form)? };
    sweep.submit()?;
    if arguments.no_wait {
        let folder = sweep.run.folder().path().display();
        match form {
            Form::Json => output::json(&json!({ "folder": folder.to_string(), "complete": false }))?,
            Form::Lines => {
                output::line(format_args!(
                    "it goes on by itself; wait for it with: cairn lab resume {folder}"
                ))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    sweep.wait(form)
}

/// Goes on with one: what is missing and in no queue is submitted again.
pub(super) fn go_on(run: SlurmRun, form: Form) -> Outcome {
    let mut sweep = Sweep { run, cluster: cluster()?, screen: Screen::new(false, form)? };
    sweep.submit()?;
    sweep.wait(form)
}

/// What a task of the array job does.
pub(super) fn part(folder: &Path, number: u32) -> Result<(), Box<dyn std::error::Error>> {
    let programs = programs()?;
    carry_out(folder, number, &programs, build(), |progress| {
        if let Progress::Note(text) = progress {
            tell!("{text}");
        }
    })?;
    Ok(())
}

/// A sweep that is waited for.
struct Sweep {
    run: SlurmRun,
    cluster: Cluster,
    screen: Screen,
}

impl Sweep {
    fn submit(&mut self) -> Result<(), ToolError> {
        let folder = self.run.folder().path().to_owned();
        self.screen.line(&format!("run folder: {}", folder.display()));
        let failed = |why: RunError| {
            let again = format!("go on with: cairn lab resume {}", folder.display());
            ToolError::other(format_args!("{why}\nThe sweep is in {}; {again}", folder.display()))
        };
        let parts = self.run.submit(&self.cluster, &programs()?.cairn).map_err(failed)?;
        let record = self.run.record();
        let (job, of) = (record.jobs.last().cloned().unwrap_or_default(), record.shards);
        if !parts.is_empty() {
            self.screen.line(&format!("job {job}: {} of {of} parts submitted", parts.len()));
        }
        Ok(())
    }

    /// Waits until every part is complete, and puts them together.
    fn wait(mut self, form: Form) -> Outcome {
        // From here on Ctrl-C means only that nobody waits any more.
        let interrupt = Interrupt::catch()?;
        let (began, mut gone) = (Instant::now(), 0);
        let mut pause = DoublingWait::new(FIRST_INTERVAL, LAST_INTERVAL);
        let mut told = String::new();
        let before = self.run.state();
        loop {
            let missing = self.run.missing();
            if missing.is_empty() {
                break;
            }
            let tasks = self.cluster.tasks(&self.run.record().jobs);
            let state = self.run.state();
            let words = words(&state, &before, &tasks, began.elapsed().as_secs_f64());
            self.screen.status(&format!("  {words}"));
            if let Err(why) = &tasks {
                let why = why.to_string();
                if told != why {
                    self.screen.line(&format!("  note: {why}; still waiting"));
                    told = why;
                }
            }
            let is_over = tasks.is_ok_and(|tasks| missing.is_disjoint(&tasks.numbers));
            gone = if is_over { gone + 1 } else { 0 };
            if gone > MAX_ABSENCES {
                return self.give_up(&missing);
            }
            // What has left the queue shows soon, or never.
            let longer = pause.take();
            let next = if gone > 0 { FIRST_INTERVAL } else { longer };
            if self.sleep(next, &interrupt) {
                return self.leave();
            }
        }
        self.screen.line(&format!("all {} parts are complete", self.run.record().shards));
        let folder = self.run.collect().map_err(ToolError::other)?;
        finish(&folder, &mut self.screen, form)
    }

    /// True when somebody wants to wait no longer.
    fn sleep(&self, long: Duration, interrupt: &Interrupt) -> bool {
        let (began, long) = (Instant::now(), StdDuration::from_nanos(long.as_nanos()));
        while began.elapsed() < long {
            if interrupt.came() {
                return true;
            }
            thread::sleep(HEED);
        }
        false
    }

    fn leave(mut self) -> Outcome {
        let folder = self.run.folder().path().display().to_string();
        let jobs = self.run.record().jobs.join(" ");
        self.screen.line(&format!(
            "interrupted; job {jobs} goes on by itself\nwait for it with: cairn lab resume {folder}\ncancel it with: \
             scancel {jobs}"
        ));
        Ok(ExitCode::from(130))
    }

    /// Parts have no task any more, and are not complete.
    fn give_up(mut self, missing: &BTreeSet<u32>) -> Outcome {
        for number in missing.iter().take(5) {
            let text = format!("part {number} is not complete: {}", self.run.last_words(*number));
            self.screen.line(&text);
        }
        let (folder, of) = (self.run.folder().path().display().to_string(), self.run.record().shards);
        self.screen.line(&format!(
            "not complete: {} of {of} parts are missing, and their tasks have ended; `part-N.txt` says why.\nGo on with: \
             cairn lab resume {folder}",
            missing.len()
        ));
        Ok(ExitCode::from(6))
    }
}

/// How far it is, in a line.
fn words(state: &SlurmState, before: &SlurmState, tasks: &Result<Tasks, SlurmError>, passed: f64) -> String {
    let SlurmState { done, all, not_begun, complete, parts } = *state;
    // Parts that have not begun have about as many repeats as the others.
    let begun = parts - not_begun;
    let whole = all as f64 * f64::from(parts) / f64::from(begun.max(1));
    let (since, left) = (done.saturating_sub(before.done) as f64, whole - before.done as f64);
    let pace = if all == 0 { "not begun".to_owned() } else { time_left(since / left.max(1.0), passed) };
    let tasks = match tasks {
        Ok(Tasks { numbers, running, reason }) => {
            let waiting = numbers.len() - running;
            let why = reason.as_ref().filter(|_| waiting > 0).map(|why| format!(" ({why})"));
            format!("{running} running, {waiting} waiting{}", why.unwrap_or_default())
        }
        Err(_) => "the queue does not answer".to_owned(),
    };
    format!("{pace}; {complete} of {parts} parts complete, {tasks}; {done} repeats done")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_it_takes_is_reckoned_from_what_was_done_since_somebody_waits() {
        let state = SlurmState { done: 60, all: 100, not_begun: 2, complete: 1, parts: 4 };
        let before = SlurmState { done: 20, ..state.clone() };
        let tasks = Tasks { numbers: [2, 3, 4].into(), running: 1, reason: Some("Resources".to_owned()) };
        // 40 of the 180 that were left took 20 s.
        assert_eq!(
            words(&state, &before, &Ok(tasks), 20.0),
            "22 %, 70 s left; 1 of 4 parts complete, 1 running, 2 waiting (Resources); 60 repeats done"
        );
    }
}
