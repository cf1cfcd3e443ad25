//! Runs an experiment from the beginning, or goes on where an earlier session stopped.

use std::path::Path;

use super::anew::{experiment_of, pasted_path};
use super::attempt_plan::drawn_again;
use super::begun::{anew, changed, not_begun, whole_record_of};
use super::build::{Build, Program};
use super::create::begin;
use super::error::{RunError, io_error};
use super::experiment_hashes::{changed_since, is_of_words};
use super::folder::{RunFolder, RunRecord};
use super::options::Options;
use super::origin::OwnRepeats;
use super::plan_error::{MAX_SEED, PlanError};
use super::plans::{Chosen, chosen, plans_of};
use super::progress::Progress;
use super::records::{self, Records};
use super::repeats::{NOT_ASIDE, Run, carry_on};
use crate::analysis::RepeatResult;
use crate::backend::hosts::Inventory;
use crate::backend::{VIRTUAL_TIME, backend};
use crate::driver::Programs;
use crate::experiment::{Experiment, Plan};
use crate::order::Stop;

/// Runs an experiment from the beginning. The report is not part of this.
///
/// # Errors
///
/// Why it ended early; what was measured so far stays.
pub fn execute(
    experiment: &Experiment,
    options: &Options,
    mut observe: impl FnMut(&Progress) + Send,
) -> Result<RunFolder, RunError> {
    if let Some(seed) = options.seed.filter(|seed| *seed > MAX_SEED) {
        return Err(PlanError::SeedTooLarge(seed).into());
    }
    let backend = backend(&options.backend, options.hosts.as_ref(), options.workers)?;
    let experiment = &options.seed.map_or_else(|| experiment.clone(), |seed| experiment.with_seed(seed));
    let Chosen { plans, of, before } = chosen(experiment, options, &*backend)?;
    let is_virtual = options.backend == VIRTUAL_TIME;
    let recorded_from = records::are_kept(is_virtual, of).then_some(before);
    let (folder, _lock, record) = begin(experiment, options, &plans, recorded_from)?;
    observe(&Progress::Folder(folder.path().to_owned()));
    let records = records_of(&folder, &record, &mut observe)?;
    let programs = &options.programs;
    let drawn = drawn_again(experiment, &plans, &options.backend)?;
    let stop = options.stop.clone();
    let own = OwnRepeats::of(&record, &[]);
    let run = Run { folder: &folder, drawn, programs, backend: &*backend, records, own, stop };
    carry_on(&run, record, &plans, observe)?;
    Ok(folder)
}

/// Goes on with a run that was interrupted.
///
/// # Errors
///
/// Why it ended early again.
pub fn resume(
    path: &Path,
    programs: &Programs,
    build: Build,
    observe: impl FnMut(&Progress) + Send,
) -> Result<RunFolder, RunError> {
    resume_until(path, programs, build, Stop::default(), observe)
}

/// As [`resume`], until somebody asks for the end.
///
/// # Errors
///
/// Why it ended early again.
pub fn resume_until(
    path: &Path,
    programs: &Programs,
    build: Build,
    stop: Stop,
    observe: impl FnMut(&Progress) + Send,
) -> Result<RunFolder, RunError> {
    resume_with(path, programs, build, Continuation { workers: None, stop }, observe)
}

/// How a run goes on.
#[derive(Debug, Clone, Default)]
pub(super) struct Continuation {
    /// Repeats beside each other in virtual time; by default as many as there are processors.
    pub(super) workers: Option<usize>,
    pub(super) stop: Stop,
}

/// The same, as the continuation says.
pub(super) fn resume_with(
    path: &Path,
    programs: &Programs,
    build: Build,
    Continuation { workers, stop }: Continuation,
    mut observe: impl FnMut(&Progress) + Send,
) -> Result<RunFolder, RunError> {
    let folder = RunFolder::open(path).map_err(io_error(path.display().to_string()))?;
    let mut record = whole_record_of(&folder)?;
    let _lock = folder.lock().map_err(io_error("the run cannot be resumed"))?;
    let experiment = experiment_of(&folder, &record)?;
    if experiment.file.study.is_some() {
        let why = if record.complete {
            format!("a study is complete; see it with: cairn lab show {}", pasted_path(folder.path()))
        } else {
            anew(&folder, "a study cannot be resumed", Some(&record))
        };
        return Err(not_begun(&folder, why));
    }
    let mut parts = changed_since(&record, &experiment);
    parts.retain(|part| !is_of_words(part));
    if !parts.is_empty() {
        return Err(changed(&folder, &record, parts).into());
    }
    let program = Program::of(build, &programs.cairn).unwrap_or_default();
    if program != record.program && !record.resumed_by.contains(&program) {
        record.resumed_by.push(program);
        folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    }
    let plans = plans_of(&experiment, &record)?;
    observe(&Progress::Folder(folder.path().to_owned()));
    let hosts = folder.hosts();
    let hosts = if hosts.is_file() { Some(Inventory::read(&hosts)?) } else { None };
    let backend = backend(&record.backend, hosts.as_ref(), workers)?;
    let records = records_of(&folder, &record, &mut observe)?;
    set_unreadable_aside(&folder, &plans, &mut observe)?;
    let drawn = drawn_again(&experiment, &plans, &record.backend)?;
    let own = OwnRepeats::of(&record, &[]);
    let run = Run { folder: &folder, drawn, programs, backend: &*backend, records, own, stop };
    carry_on(&run, record, &plans, observe)?;
    Ok(folder)
}

/// Puts repeats aside whose numbers are there and cannot be read, so that they are measured again.
fn set_unreadable_aside(
    folder: &RunFolder,
    plans: &[Plan],
    observe: &mut impl FnMut(&Progress),
) -> Result<(), RunError> {
    let places = plans
        .iter()
        .enumerate()
        .flat_map(|(case, plan)| (0..plan.schedule.repeats).map(move |repeat| (case, repeat)));
    for (case, repeat) in places {
        let path = folder.repeat(case, repeat).join("result.json");
        if !path.is_file() {
            continue;
        }
        let Err(error) = RepeatResult::read(&path) else { continue };
        let aside = folder.set_aside(case, repeat, &error.to_string()).map_err(io_error(NOT_ASIDE))?;
        let kept = aside.display();
        observe(&Progress::Note(format!("{error}; the repeat is measured again, and kept as {kept}")));
    }
    Ok(())
}

/// The records of a run, if it has any. What of them was damaged is said.
fn records_of(
    folder: &RunFolder,
    record: &RunRecord,
    observe: &mut impl FnMut(&Progress),
) -> Result<Option<Records>, RunError> {
    let Some(from) = records::from(record) else { return Ok(None) };
    let (records, damage) = Records::open(folder, from).map_err(io_error("the run's records"))?;
    damage.into_iter().for_each(|text| observe(&Progress::Note(text)));
    Ok(Some(records))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_run_that_was_killed_at_once_says_how_to_start_it_anew() {
        let above = TestFolder::absent("begun");
        let folder = RunFolder::create(&above, "x").unwrap();
        let programs = Programs { cairn: "/nowhere".into(), ndnd: None, nfd: None };
        let go_on = || resume(folder.path(), &programs, Build::default(), |_| {}).unwrap_err().to_string();
        assert!(go_on().ends_with("it is not the folder of a run: it has no run.json"), "{}", go_on());
        fs::write(folder.experiment(), "title = 't'").unwrap();
        let again = format!("start it anew with: cairn lab run {} --on sim", folder.experiment().display());
        assert!(go_on().ends_with(&again), "{}", go_on());
    }
}
