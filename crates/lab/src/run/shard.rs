//! The cases of an experiment shared out over machines, and put together again.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use super::error::{RunError, io_error};
use super::folder::{RunFolder, RunRecord};
use super::records::{self, Record, Records};
use crate::experiment::{Experiment, Plan};

/// One of several shares of an experiment's cases: `3/16` is the third of sixteen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    of: u32,
}

/// It does not name a share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no share of cases; write for example 3/16, the third of sixteen")]
pub struct ShardError(String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers = || {
            let (number, of) = text.split_once('/')?;
            let (number, of) = (number.trim().parse().ok()?, of.trim().parse().ok()?);
            (1 <= number && number <= of).then_some(Shard { number, of })
        };
        numbers().ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Keeps what is in the share: every so manieth case, with its controls.
    pub(super) fn retain(self, plans: &mut Vec<Plan>) {
        let cases = plans.iter().filter(|plan| plan.control.is_none()).map(|plan| plan.case.clone());
        let mine: HashSet<String> = cases.skip(self.number as usize - 1).step_by(self.of as usize).collect();
        plans.retain(|plan| {
            let case = plan.control.as_ref().map_or(&plan.case, |control| &control.case);
            mine.contains(case)
        });
    }
}

/// Puts runs of shares of one experiment together, as one run of all their cases.
///
/// # Errors
///
/// Runs of different experiments, backends, seeds or repeats; a case that two of them have; a file.
pub fn merge(parts: &[RunFolder], out: &Path) -> Result<RunFolder, RunError> {
    let wrong = |part: &RunFolder, why: &str| RunError::Plan(format!("{}: {why}", part.path().display()));
    let mut read: Vec<(&RunFolder, RunRecord)> = Vec::new();
    for part in parts {
        let record = part.record().map_err(io_error(format!("{}: run.json", part.path().display())))?;
        read.push((part, record));
    }
    let Some((first, head)) = read.first() else {
        return Err(RunError::Plan("there is nothing to be merged".to_owned()));
    };
    let text = |part: &RunFolder| fs::read_to_string(part.experiment());
    let whole = text(first).map_err(io_error("the experiment cannot be read"))?;
    let (mut cases, mut seen): (Vec<String>, HashSet<String>) = Default::default();
    for (part, record) in &read {
        let is_same = text(part).map_err(io_error("the experiment cannot be read"))? == whole;
        let of = |record: &RunRecord| (record.backend.clone(), record.seed, record.repeats);
        if !is_same || of(record) != of(head) {
            return Err(wrong(part, "it is a run of another experiment, backend, seed or number of repeats"));
        }
        if let Some(case) = record.cases.iter().find(|case| seen.contains(*case)) {
            return Err(wrong(part, &format!("its case `{case}` is in another run, too")));
        }
        seen.extend(record.cases.iter().cloned());
        cases.extend(record.cases.iter().cloned());
    }
    let experiment = Experiment::read(&first.experiment())?;
    let order: Vec<String> = experiment.plans(&head.backend)?.into_iter().map(|plan| plan.case).collect();
    let places = |names: &[String]| -> HashMap<String, usize> {
        names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect()
    };
    let in_order = places(&order);
    cases.sort_by_key(|case| in_order.get(case));
    let merged = places(&cases);
    let folder = RunFolder::create_as(out).map_err(io_error(format!("no folder {}", out.display())))?;
    let copied = io_error("a run cannot be copied");
    let copy_all = || -> io::Result<()> {
        fs::copy(first.experiment(), folder.experiment())?;
        for (name, _) in experiment.files.iter() {
            let place = folder.file_of_experiment(name);
            place.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::copy(first.file_of_experiment(name), place)?;
        }
        for (part, record) in &read {
            let recorded = records::read(part)?;
            let all = if recorded.is_empty() { None } else { Some(Records::open(&folder)?.0) };
            for (of, found) in recorded {
                let place = record.cases.get(of.0).and_then(|case| merged.get(case));
                if let (Some(all), Some(place)) = (&all, place) {
                    all.append(&Record { case: *place, ..found })?;
                }
            }
            for (place, case) in record.cases.iter().enumerate() {
                let from = part.repeat(place, 0);
                let to = folder.repeat(merged.get(case).copied().unwrap_or(0), 0);
                if let (Some(from), Some(to)) = (from.parent(), to.parent()) {
                    copy(from, to)?;
                }
            }
        }
        Ok(())
    };
    copy_all().map_err(copied)?;
    let complete = read.iter().all(|(_, record)| record.complete) && cases.len() == order.len();
    let record = RunRecord { cases, complete, ..head.clone() };
    folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    Ok(folder)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_written_as_one_of_so_many() {
        assert_eq!("3/16".parse::<Shard>().unwrap().to_string(), "3/16");
        for text in ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_case_is_in_one_share() {
        let text =
            "title = 't'\nduration = '1 s'\n[node.a]\n[[sweep]]\nkey = 'seed'\nvalues = [1, 2, 3, 4, 5]\n";
        let plans = Experiment::parse("t", "t.toml", text).unwrap().plans("sim").unwrap();
        let mut found = Vec::new();
        for number in 1..=3 {
            let mut share = plans.clone();
            Shard { number, of: 3 }.retain(&mut share);
            assert!(share.len() < 3);
            found.extend(share.into_iter().map(|plan| plan.case));
        }
        found.sort();
        assert_eq!(found, ["seed 1", "seed 2", "seed 3", "seed 4", "seed 5"]);
    }
}
