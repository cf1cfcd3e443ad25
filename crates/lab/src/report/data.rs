//! Everything a report is made from, read from the run's folder.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::analysis::{NetworkCounts, RepeatData, RepeatResult, load_derived};
use crate::experiment::plan::{NodeIndex, NodePlan};
use crate::experiment::{Experiment, Plan, Problems};
use crate::run::records::{self, Record};
use crate::run::{RunFolder, RunRecord, changed_since, is_of_plan, named};
use crate::stats::Estimate;

/// Why there can be no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file.
    #[error("the report cannot be made: {0}; `cairn lab resume` goes on with a run that was interrupted")]
    Io(#[from] io::Error),
    /// The copy of the experiment.
    #[error("{0}")]
    Experiment(#[from] Problems),
    /// The experiment on this backend.
    #[error("{0}")]
    Plan(String),
}

/// Graphs of more nodes beside each other say nothing.
const MOST_DRAWN: usize = 12;

/// One case of a run.
#[derive(Debug)]
pub struct CaseData {
    /// What was done.
    pub plan: Plan,
    /// Every repeat's numbers.
    pub results: Vec<RepeatResult>,
    /// What virtual time counted in each repeat; nothing of real forwarders.
    pub counts: Vec<NetworkCounts>,
    /// The repeat that is drawn: the first valid one, or the first.
    pub shown: RepeatData,
    /// Its number, from 0.
    pub shown_repeat: usize,
    /// Repeats, from 1, of which a run that is complete has lost the numbers: somebody has taken them away,
    /// and the others are no fair choice.
    pub missing: Vec<u32>,
    /// Repeats, from 1, whose numbers were changed after they were written.
    pub altered: Vec<u32>,
}

impl CaseData {
    /// The case's name, or the experiment's title when there is only one.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.plan.case.is_empty() { &self.plan.title } else { &self.plan.case }
    }

    /// The nodes that are drawn: all of a network that can be looked at, and of a large one those that do
    /// something beside forwarding, as far as there is room. Tables have all.
    #[must_use]
    pub fn drawn_nodes(&self) -> Vec<NodeIndex> {
        let mut all = self.plan.along_routes();
        if all.len() > MOST_DRAWN {
            all.retain(|node| self.plan.has_work(*node));
            all.truncate(MOST_DRAWN);
        }
        all
    }

    /// All nodes, along the ways of packets.
    pub(crate) fn ordered_nodes(&self) -> impl Iterator<Item = (NodeIndex, &NodePlan)> {
        self.plan.along_routes().into_iter().filter_map(|node| Some((node, self.plan.nodes.get(node)?)))
    }

    /// Is any repeat valid?
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.results.iter().any(RepeatResult::is_valid)
    }

    /// A measure in each valid repeat; nothing when none is.
    #[must_use]
    pub fn values(&self, key: &str, summary: &str) -> Vec<f64> {
        let used = self.results.iter().filter(|result| result.is_valid());
        used.filter_map(|result| result.values.get(key)?.named(summary)).collect()
    }

    /// A measure over the repeats.
    #[must_use]
    pub fn estimate(&self, key: &str, summary: &str) -> Option<Estimate> {
        Estimate::of(&self.values(key, summary))
    }
}

/// A run, read.
#[derive(Debug)]
pub struct RunData {
    /// Where it is.
    pub folder: RunFolder,
    /// What was noted of it.
    pub record: RunRecord,
    /// The experiment.
    pub experiment: Experiment,
    /// Its cases.
    pub cases: Vec<CaseData>,
    /// Cases once more without the cause of what is expected of them.
    pub controls: Vec<CaseData>,
    /// Names of controls of which a case has run and nothing is left of it in the folder.
    pub lost_controls: HashSet<String>,
    /// What is not as the run left it: repeats that it has lost, numbers that were changed, an experiment
    /// that was; a sentence each.
    pub faults: Vec<String>,
    /// Is a repeat missing, or not as it was written?
    pub is_damaged: bool,
    /// Parts of the experiment that say what happens and are not what the run began with.
    pub changed_plan: Vec<String>,
}

/// An error with the folder that it is of.
fn of_folder(folder: &Path) -> impl Fn(io::Error) -> ReportError {
    move |error| {
        let (place, text) = (folder.display().to_string(), error.to_string());
        let text = if text.contains(&place) { text } else { format!("{place}: {text}") };
        ReportError::Io(io::Error::new(error.kind(), text))
    }
}

/// What happened to some repeats of a case, in a sentence.
fn of_repeats(case: &str, repeats: &[u32], of: u32, what: &str) -> String {
    let numbers: Vec<String> = repeats.iter().map(u32::to_string).collect();
    let case = if case.is_empty() { String::new() } else { format!(" of “{case}”") };
    let numbers = match numbers.as_slice() {
        [one] => format!("repeat {one}"),
        several => format!("repeats {}", several.join(", ")),
    };
    format!("{numbers} of {of}{case} {what}, and nothing that needs it is testable")
}

/// A repeat as it was read.
struct Repeat {
    /// From 1.
    number: u32,
    data: RepeatData,
    result: RepeatResult,
}

/// The numbers of repeats that are not as they were written, or whose raw files are not.
fn altered(record: &RunRecord, read: &[Repeat]) -> Vec<u32> {
    let is_altered =
        |result: &RepeatResult| record.is_altered(result.seal) || !result.changed_files.is_empty();
    read.iter().filter(|repeat| is_altered(&repeat.result)).map(|repeat| repeat.number).collect()
}

/// What of these repeats is not as it was written.
fn what_was_altered(read: &[Repeat]) -> String {
    const MOST_NAMED: usize = 3;
    let files = read.iter().flat_map(|repeat| &repeat.result.changed_files);
    let files: BTreeSet<String> = files.map(|name| format!("raw/{name}")).collect();
    if files.is_empty() {
        return "was changed after it was written".to_owned();
    }
    let named: Vec<&str> = files.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = if files.len() > MOST_NAMED { " and more" } else { "" };
    format!("was changed after it was written ({}{more})", named.join(", "))
}

/// That an experiment is not the one that its run began with.
fn changed_experiment(parts: &[String]) -> Vec<String> {
    if parts.is_empty() {
        return Vec::new();
    }
    let follows = match parts.iter().any(|part| is_of_plan(part)) {
        true => "its results are those of another experiment, and nothing is testable",
        false => "what is said of it here was said after it began",
    };
    vec![format!("{} of the experiment was changed since the run began: {follows}", named(parts))]
}

impl RunData {
    /// The first digits of a SHA-256 over what was done: the experiment's text and the files that it names,
    /// the backend, the seed, the number of repeats and the cases. Runs with the same one are repeats of each
    /// other, wherever their folders are.
    #[must_use]
    pub fn plan_hash(&self) -> String {
        let RunRecord { backend, seed, repeats, cases, .. } = &self.record;
        let mut hasher = Sha256::new();
        // With its length, so that nothing can move from one part to the next.
        let mut add = |part: &[u8]| {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        };
        add(self.experiment.text.as_bytes());
        for (name, bytes) in self.experiment.files.iter() {
            add(name.as_bytes());
            add(bytes);
        }
        add(backend.as_bytes());
        add(&seed.to_be_bytes());
        add(&repeats.to_be_bytes());
        cases.iter().for_each(|case| add(case.as_bytes()));
        packet::hex::encode(&hasher.finalize()[..6])
    }

    /// Everything of one repeat of a case: logs of its nodes, transfers, round trips. Both numbers count from
    /// 0, the case among [`RunData::cases`].
    ///
    /// # Errors
    ///
    /// When there is no such repeat, or no more than its numbers were kept.
    pub fn repeat(&self, case: usize, repeat: u32) -> Result<RepeatData, ReportError> {
        let none = || io::Error::new(io::ErrorKind::NotFound, "there is no such repeat");
        let case = self.cases.get(case).ok_or_else(none)?;
        let mut names = self.record.cases.iter();
        let place = names.position(|name| *name == case.plan.case).ok_or_else(none)?;
        let place = self.folder.repeat(place, repeat);
        if !place.join("result.json").is_file() {
            let why = "of this repeat there is no folder: it did not run, or only its numbers were kept";
            return Err(io::Error::new(io::ErrorKind::NotFound, why).into());
        }
        Ok(load_derived(&case.plan, &place)?.0)
    }

    /// Reads a run that is complete, or as much of it as there is.
    ///
    /// # Errors
    ///
    /// When there is not one repeat, or a file is missing.
    pub fn read(folder: &RunFolder) -> Result<Self, ReportError> {
        let record = folder.record().map_err(of_folder(folder.path()))?;
        let experiment = Experiment::read_recorded(&folder.experiment())?;
        let plans = experiment.plans(&record.backend).map_err(|findings| {
            ReportError::Plan(
                findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; "),
            )
        })?;
        let names: HashSet<&String> = record.cases.iter().collect();
        let plans = plans.into_iter().filter(|plan| names.contains(&plan.case));
        let mut recorded = records::read(folder).map_err(of_folder(folder.path()))?;
        let parts = changed_since(&record, &experiment);
        let (mut cases, mut lost_controls) = (Vec::new(), HashSet::new());
        let mut faults = changed_experiment(&parts);
        let mut is_damaged = false;
        for (case, mut plan) in plans.enumerate() {
            plan.schedule.repeats = record.repeats;
            let (mut read, mut missing) = (Vec::new(), Vec::new());
            for repeat in 0..plan.schedule.repeats {
                let place = folder.repeat(case, repeat);
                if let Some(Record { result, network, .. }) = recorded.remove(&(case, repeat)) {
                    let (seconds, prefixes) = (result.seconds, result.prefixes.clone());
                    let data = RepeatData { seconds, prefixes, network, ..RepeatData::default() };
                    read.push(Repeat { number: repeat + 1, data, result });
                } else if place.join("result.json").is_file() {
                    let (data, result) = load_derived(&plan, &place).map_err(of_folder(&place))?;
                    read.push(Repeat { number: repeat + 1, data, result });
                } else if record.complete {
                    missing.push(repeat + 1);
                }
            }
            if !missing.is_empty() {
                let what = "is missing from the folder";
                faults.push(of_repeats(&plan.case, &missing, plan.schedule.repeats, what));
            }
            let altered = altered(&record, &read);
            is_damaged |= !missing.is_empty() || !altered.is_empty();
            if !altered.is_empty() {
                let what = what_was_altered(&read);
                faults.push(of_repeats(&plan.case, &altered, plan.schedule.repeats, &what));
            }
            if read.is_empty() {
                lost_controls
                    .extend(plan.control.filter(|_| !missing.is_empty()).map(|control| control.name));
                continue;
            }
            let shown_repeat = read.iter().position(|repeat| repeat.result.is_valid()).unwrap_or(0);
            let (mut data, results): (Vec<RepeatData>, Vec<RepeatResult>) =
                read.into_iter().map(|repeat| (repeat.data, repeat.result)).unzip();
            let counts = data.iter().filter_map(|data| data.network.clone()).collect();
            let shown = data.swap_remove(shown_repeat);
            cases.push(CaseData { plan, results, counts, shown, shown_repeat, missing, altered });
        }
        if cases.is_empty() {
            let none = io::Error::new(io::ErrorKind::NotFound, "not one repeat is complete");
            return Err(of_folder(folder.path())(none));
        }
        let (cases, controls) = cases.into_iter().partition(|case: &CaseData| case.plan.control.is_none());
        Ok(RunData {
            folder: folder.clone(),
            record,
            experiment,
            cases,
            controls,
            lost_controls,
            faults,
            is_damaged,
            changed_plan: parts.into_iter().filter(|part| is_of_plan(part)).collect(),
        })
    }
}
