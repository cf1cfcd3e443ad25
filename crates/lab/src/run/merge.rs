//! Runs of shares of one experiment put together, as one run of all their cases.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use super::anew::experiment_of;
use super::begun::whole_record_of;
use super::error::{RunError, io_error};
use super::folder::{RunFolder, RunRecord};
use super::plan_error::PlanError;
use super::records::{self, Record, Records};
use super::start_command::{LeftOut, of_all_shares};
use crate::experiment::Experiment;
use crate::seal::Seal;

/// A run of a share, and what it says of itself.
type Part<'a> = (&'a RunFolder, RunRecord);

/// Puts runs of shares of one experiment together, as one run of all their cases.
///
/// # Errors
///
/// Runs of different experiments, backends, seeds or repeats; a case that two of them have; a file.
pub fn merge(parts: &[RunFolder], out: &Path) -> Result<RunFolder, RunError> {
    let read = |part| -> Result<Part<'_>, RunError> { Ok((part, whole_record_of(part)?)) };
    let parts: Vec<Part<'_>> = parts.iter().map(read).collect::<Result<_, _>>()?;
    let Some((first, head)) = parts.first() else {
        return Err(PlanError::NothingToMerge.into());
    };
    let experiment = experiment_of(first, head)?;
    let plans = experiment.plans(&head.backend)?;
    let left_out = LeftOut::by(&head.command);
    let wanted = plans.iter().filter(|plan| !left_out.concerns(&plan.case, plan.control.is_some())).count();
    let all: Vec<(String, u64)> = plans.into_iter().map(|plan| (plan.case, plan.schedule.seed)).collect();
    let places: HashMap<&str, usize> =
        all.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
    let seed_of = |name: &String| Some(all.get(*places.get(name.as_str())?)?.1);
    check(&parts, seed_of)?;
    let mut cases: Vec<String> = parts.iter().flat_map(|(_, record)| record.cases.iter().cloned()).collect();
    cases.sort_by_key(|case| places.get(case.as_str()));
    let folder = RunFolder::create_as(out).map_err(io_error(format!("no folder {}", out.display())))?;
    copy_all(&parts, &cases, &experiment, &folder).map_err(io_error("a run cannot be copied"))?;
    let complete = parts.iter().all(|(_, record)| record.complete) && cases.len() == wanted;
    // As one run says it: the first case's, which has one of its own where the seed is varied.
    let with_first = parts.iter().find(|(_, record)| record.cases.first() == cases.first());
    let seed = with_first.map_or(head.seed, |(_, record)| record.seed);
    let record = RunRecord { cases, complete, seed, ..heading(&parts, head) };
    folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    Ok(folder)
}

/// Are these shares of one whole?
fn check(parts: &[Part<'_>], seed_of: impl Fn(&String) -> Option<u64>) -> Result<(), RunError> {
    let text = |part: &RunFolder| fs::read_to_string(part.experiment());
    // A seed for all, where it is not that of the cases: those have their own where the seed is varied.
    let given = |record: &RunRecord| {
        let own = record.cases.first().and_then(&seed_of);
        (own != Some(record.seed)).then_some(record.seed)
    };
    let of = |record: &RunRecord| (record.backend.clone(), given(record), record.repeats);
    let Some((first, head)) = parts.first() else { return Ok(()) };
    let whole = text(first).map_err(io_error("the experiment cannot be read"))?;
    let mut seen: HashSet<&String> = HashSet::new();
    for (part, record) in parts {
        let is_same = text(part).map_err(io_error("the experiment cannot be read"))? == whole;
        if !is_same || of(record) != of(head) {
            return Err(PlanError::OtherRun(part.path().to_owned()).into());
        }
        if let Some(case) = record.cases.iter().find(|case| !seen.insert(case)) {
            return Err(PlanError::CaseTwice { part: part.path().to_owned(), case: case.clone() }.into());
        }
    }
    Ok(())
}

/// What the whole says of itself, but for its cases: as its first part, and with every program that took
/// part.
fn heading(parts: &[Part<'_>], head: &RunRecord) -> RunRecord {
    let mut record = RunRecord { command: of_all_shares(&head.command), ..head.clone() };
    for (_, part) in parts {
        for program in [&part.program].into_iter().chain(&part.resumed_by) {
            if *program != record.program && !record.resumed_by.contains(program) {
                record.resumed_by.push(program.clone());
            }
        }
    }
    let kept = parts.iter().map(|(_, part)| records::from(part));
    record.recorded_from = kept.flatten().reduce(|one, other| one + other);
    record
}

fn copy_all(
    parts: &[Part<'_>],
    cases: &[String],
    experiment: &Experiment,
    folder: &RunFolder,
) -> io::Result<()> {
    let merged: HashMap<&str, usize> =
        cases.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    if let Some((first, _)) = parts.first() {
        fs::copy(first.experiment(), folder.experiment())?;
        if first.hosts().is_file() {
            fs::copy(first.hosts(), folder.hosts())?;
        }
        for (name, _) in experiment.files.iter() {
            let place = folder.file_of_experiment(name);
            place.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::copy(first.file_of_experiment(name), place)?;
        }
    }
    for (part, record) in parts {
        let place_of = |case: usize| merged.get(record.cases.get(case)?.as_str()).copied();
        if records::from(record).is_some() {
            let (all, _) = Records::open(folder, 0)?;
            records::each(part, |found| match place_of(found.case) {
                // A new seal would hide it.
                Some(_) if found.result.seal == Seal::Broken => {
                    let (case, repeat, part) = (found.case + 1, found.repeat + 1, part.path().display());
                    let why =
                        format!("{part}: case {case}, repeat {repeat} was changed after it was written");
                    Err(io::Error::new(io::ErrorKind::InvalidData, why))
                }
                Some(case) => all.append(&Record { case, ..found }),
                None => Ok(()),
            })?;
        }
        for case in 0..record.cases.len() {
            let (from, to) = (part.repeat(case, 0), folder.repeat(place_of(case).unwrap_or(0), 0));
            if let (Some(from), Some(to)) = (from.parent(), to.parent()) {
                copy(from, to)?;
            }
        }
    }
    Ok(())
}

/// A folder with all that is in it; a case that has not begun has none.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
