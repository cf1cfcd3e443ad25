//! A study as a run: its folder has the experiment, what ran it, and its tables and figures.

use super::create::begin;
use super::error::{RunError, io_error};
use super::folder::RunFolder;
use super::options::Options;
use super::plan_error::{PlanError, UnfitForStudy};
use super::study_faults::hashes_of;
use crate::backend::VIRTUAL_TIME;
use crate::experiment::Experiment;
use crate::order::write_json;
use crate::study::report::Report;
use crate::study::{Runner, run};

/// The file with all that a study has found.
pub(super) const REPORT: &str = "report.json";
/// The same as text.
pub(super) const TEXT: &str = "report.txt";

/// Runs a study from the beginning, and writes its tables and figures.
///
/// # Errors
///
/// Options that a study has no use for; why it ended early.
pub fn execute_study(
    experiment: &Experiment,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(RunFolder, Report), RunError> {
    experiment.can_run_on(&options.backend)?;
    let without_use = [
        (options.backend != VIRTUAL_TIME, UnfitForStudy::Backend),
        (options.only.is_some(), UnfitForStudy::Only),
        (options.shard.is_some(), UnfitForStudy::Shard),
        (options.trace_format.is_some(), UnfitForStudy::TraceFormat),
    ];
    if let Some((_, unfit)) = without_use.into_iter().find(|(is_said, _)| *is_said) {
        return Err(PlanError::Study { experiment: experiment.shown().to_owned(), unfit }.into());
    }
    let mut experiment = experiment.clone();
    experiment.file.repeats = options.repeats.or(experiment.file.repeats);
    experiment.file.seed = options.seed.or(experiment.file.seed);
    let (folder, _lock, mut record) = begin(&experiment, options, &[], None)?;
    let report = run(&experiment, &Runner { workers: options.workers, progress })?;
    let written = report.write_to(folder.path());
    let mut names = written.map_err(io_error("the study's tables and figures cannot be written"))?;
    let said = write_json(&folder.path().join(REPORT), &report);
    said.map_err(io_error("report.json cannot be written"))?;
    names.push(REPORT.to_owned());
    record.study_files = hashes_of(&folder, &names).map_err(io_error("a file of the study"))?;
    record.complete = true;
    folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    Ok((folder, report))
}
