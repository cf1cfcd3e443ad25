//! Running: the lab's own runs, with their reports.

use std::path::{Path, PathBuf};

use lab::backend::VIRTUAL_TIME;
use lab::backend::hosts::Inventory;
use lab::driver::Programs;
use lab::report::{ReportError, RunData, write_report_of};
use lab::run::{Build, Options, RunError, RunFolder, Stop, execute, resume_until};
use pyo3::prelude::*;

use crate::errors::{raise, run_error};
use crate::experiment::NativeExperiment;
use crate::follow::{Reporter, follow};
use crate::read::NativeRun;

/// What this extension was built from.
fn build() -> Build {
    let commit = env!("CAIRN_COMMIT");
    Build { commit: (!commit.is_empty()).then(|| commit.to_owned()), clean: env!("CAIRN_CLEAN").parse().ok() }
}

/// How a run ended early.
enum RunFailure {
    Run(RunError),
    Report(ReportError),
}

impl RunFailure {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            RunFailure::Run(error) => run_error(py, error),
            RunFailure::Report(error) => raise(py, "ReadError", (error.to_string(),)),
        }
    }
}

/// Carries a run out, writes its report, and reads it.
fn carried_out(
    reporter: &Reporter,
    run: impl FnOnce(&Reporter) -> Result<RunFolder, RunError>,
) -> Result<RunData, RunFailure> {
    let folder = run(reporter).map_err(RunFailure::Run)?;
    let run = RunData::read(&folder).map_err(RunFailure::Report)?;
    write_report_of(&run).map_err(RunFailure::Report)?;
    Ok(run)
}

/// How a run is started.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunRequest {
    on: String,
    into: PathBuf,
    out: Option<PathBuf>,
    seed: Option<u64>,
    repeats: Option<u32>,
    only: Option<String>,
    controls: bool,
    workers: Option<usize>,
    hosts: Option<PathBuf>,
    program: PathBuf,
}

impl RunRequest {
    fn options(self, stop: Stop) -> Result<Options, RunError> {
        Ok(Options {
            hosts: self.hosts.as_deref().map(Inventory::read).transpose()?,
            programs: programs(self.program, &self.on),
            backend: self.on,
            runs: self.into,
            out: self.out,
            workers: self.workers,
            trace_format: None,
            repeats: self.repeats,
            seed: self.seed,
            only: self.only,
            shard: None,
            controls: self.controls,
            build: build(),
            stop,
        })
    }
}

/// The command `cairn`, and other forwarders beside it where they are in PATH. In virtual time no program is
/// started, and the run notes the extension as what has carried it out.
fn programs(cairn: PathBuf, on: &str) -> Programs {
    if on == VIRTUAL_TIME {
        return Programs { cairn, ndnd: None, nfd: None };
    }
    Programs::beside(cairn)
}

/// Runs an experiment into a folder of its own.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    experiment: &NativeExperiment,
    asked: RunRequest,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeRun> {
    let stop = Stop::default();
    let options = asked.options(stop.clone()).map_err(|error| run_error(py, &error))?;
    let experiment = experiment.experiment.clone();
    let ended = follow(py, listener, &stop, move |reporter| {
        carried_out(reporter, |reporter| execute(&experiment, &options, |progress| reporter.report(progress)))
    })?;
    ended.map_err(|error| error.raise(py)).and_then(|run| NativeRun::of(py, run))
}

/// Goes on with a run that was interrupted.
#[pyfunction]
pub(crate) fn resume(
    py: Python<'_>,
    folder: PathBuf,
    program: PathBuf,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeRun> {
    let stop = Stop::default();
    let asked = stop.clone();
    let ended = follow(py, listener, &stop, move |reporter| {
        carried_out(reporter, |reporter| {
            let programs = programs(program, &backend_of(&folder));
            resume_until(&folder, &programs, build(), asked, |progress| reporter.report(progress))
        })
    })?;
    ended.map_err(|error| error.raise(py)).and_then(|run| NativeRun::of(py, run))
}

/// The backend that a run was begun on. What is wrong with the folder is said by who goes on with it.
fn backend_of(folder: &Path) -> String {
    let record = RunFolder::open(folder).and_then(|folder| folder.record());
    record.map_or_else(|_| VIRTUAL_TIME.to_owned(), |record| record.backend)
}
