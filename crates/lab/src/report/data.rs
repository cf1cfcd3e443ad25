//! Everything a report is made from, read from the run's folder.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use trust::Sha256;

use super::faults::{self, Faults, Lost};
use super::numbers::Numbers;
use crate::analysis::{NetworkCounts, RawCheck, ReadProgress, RepeatData, RepeatResult, load_derived};
use crate::experiment::plan::{NodeIndex, NodePlan};
use crate::experiment::{Experiment, Plan, Problems};
use crate::prose::was;
use crate::run::records::{self, Record};
use crate::run::{
    OwnRepeats, RunError, RunFolder, RunRecord, at_work, changed, changed_since, experiment_of, is_of_plan,
    pasted_path, record_of, with_seed_of,
};
use crate::stats::Estimate;

/// Why there can be no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file.
    #[error("the report cannot be made: {0}")]
    Io(#[from] io::Error),
    /// What the run says of itself.
    #[error("the report cannot be made: {0}")]
    Record(Box<RunError>),
    /// The copy of the experiment.
    #[error("{0}")]
    Experiment(#[from] Problems),
    /// The experiment on this backend.
    #[error("{0}")]
    Plan(String),
}

impl ReportError {
    /// That there is not one repeat, why, and what to do.
    fn nothing(folder: &RunFolder, faults: &Faults) -> Self {
        let (why, ways_out) = match faults.is_damaged {
            true => (format!(": {}", faults.sentences.join("; ")), faults.ways_out.join("; ")),
            false => (String::new(), folder.going_on()),
        };
        let text = format!("{}: not one repeat is complete{why}; {ways_out}", folder.path().display());
        io::Error::new(io::ErrorKind::NotFound, text).into()
    }

    /// That a record is damaged, which is measured again.
    fn records(folder: &RunFolder, error: &io::Error) -> Self {
        let again =
            || format!("measure what is missing again with: cairn lab resume {}", pasted_path(folder.path()));
        let way_out = folder.holder().map_or_else(again, |holder| at_work(&holder));
        let text = format!("{error}; {way_out}");
        io::Error::new(error.kind(), text).into()
    }
}

/// Graphs of more nodes beside each other say nothing.
const MAX_DRAWN: usize = 12;

/// One case of a run.
#[derive(Debug)]
pub struct CaseData {
    /// What was done.
    pub plan: Plan,
    /// Whether it was in virtual time.
    pub is_virtual: bool,
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
    /// Of each of the results, whether it is as it was written, and one of this run.
    pub(super) as_left: Vec<bool>,
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
        if all.len() > MAX_DRAWN {
            all.retain(|node| self.plan.has_work(*node));
            all.truncate(MAX_DRAWN);
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

    /// The repeats that numbers of the case rest on, each with its number from 0: those that are valid.
    pub(super) fn counting(&self) -> impl Iterator<Item = (u32, &RepeatResult)> {
        (0..).zip(&self.results).filter(|(_, result)| result.is_valid())
    }

    /// Each repeat with what virtual time counted in it; nothing where one of them has lost that.
    pub fn counted(&self) -> impl Iterator<Item = (&RepeatResult, &NetworkCounts)> {
        let all = if self.counts.len() == self.results.len() { self.results.as_slice() } else { &[] };
        all.iter().zip(&self.counts)
    }

    /// A measure in each valid repeat; nothing when none is.
    #[must_use]
    pub fn values(&self, key: &str, summary: &str) -> Vec<f64> {
        self.counting().filter_map(|(_, result)| result.values.get(key)?.named(summary)).collect()
    }

    /// The same, with which of them its mean and its interval rest on.
    pub(crate) fn numbers(&self, key: &str, summary: &str) -> Numbers {
        Numbers::of(self, key, summary)
    }

    /// A measure over the repeats: over those that drew the order of what happens at one instant, where that
    /// makes a difference.
    #[must_use]
    pub fn estimate(&self, key: &str, summary: &str) -> Option<Estimate> {
        self.numbers(key, summary).estimate()
    }

    /// The same of what virtual time counted in each valid repeat.
    pub fn estimate_of(&self, number: impl Fn(&NetworkCounts) -> Option<f64>) -> Option<Estimate> {
        Numbers::of_counts(self, number).estimate()
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
    /// What can be done about that, with the command; whoever reads a report has no folder, and is not told.
    pub ways_out: Vec<String>,
    /// Is something missing, or not as it was written?
    pub is_damaged: bool,
    /// That changes of some files would go unnoticed, and of which; nothing where they would not.
    pub unhashed: Option<String>,
    /// Does the experiment state something else than when the run began?
    pub is_restated: bool,
    /// Parts of the experiment that say what happens and are not what the run began with.
    pub changed_plan: Vec<String>,
}

/// What is known of a repeat: its record, or what its folder has; nothing where there is neither, and an
/// error where there are numbers that cannot be read.
fn read_repeat(
    plan: &Plan,
    place: &Path,
    recorded: Option<Record>,
    check: &mut RawCheck<'_>,
) -> io::Result<Option<(RepeatData, RepeatResult)>> {
    if let Some(Record { result, network, .. }) = recorded {
        let (seconds, prefixes) = (result.seconds, result.prefixes.clone());
        let data = RepeatData { seconds, prefixes, network, ..RepeatData::default() };
        return Ok(Some((data, result)));
    }
    if !place.join("result.json").is_file() {
        return Ok(None);
    }
    load_derived(plan, place, check).map(Some)
}

/// The repeats of a case that are there.
#[derive(Default)]
struct Repeats {
    data: Vec<RepeatData>,
    results: Vec<RepeatResult>,
    /// Whether each has a folder, and is no record.
    in_folders: Vec<bool>,
    /// Whether each is as it was written, and one of this run.
    as_left: Vec<bool>,
    lost: Lost,
}

impl Repeats {
    fn read(
        run: (&RunFolder, &RunRecord, &OwnRepeats),
        case: usize,
        plan: &Plan,
        recorded: &mut BTreeMap<(usize, u32), Record>,
        check: &mut RawCheck<'_>,
    ) -> Self {
        let (folder, record, own) = run;
        let mut found = Repeats::default();
        for repeat in 0..plan.schedule.repeats {
            let (kept, number) = (recorded.remove(&(case, repeat)), repeat + 1);
            let is_in_folder = kept.is_none();
            let read = read_repeat(plan, &folder.repeat(case, repeat), kept, check);
            if is_in_folder {
                check.repeat_was_read();
            }
            match read {
                Ok(Some((data, result))) => {
                    found.lost.look(record, number, &result);
                    found.lost.look_for_origin(own, plan, number, &result);
                    found.data.push(data);
                    found.results.push(result);
                    found.in_folders.push(is_in_folder);
                    found.as_left.push(!found.lost.is_altered(number));
                }
                Ok(None) if record.complete => found.lost.absent.push(number),
                // It has not come to it yet.
                Ok(None) => {}
                Err(error) => found.lost.unreadable.push((number, error.to_string())),
            }
        }
        found
    }

    /// The case that they are of, of which one at least is there.
    fn into_case(self, plan: Plan, is_virtual: bool) -> CaseData {
        let Repeats { mut data, results, as_left, lost, .. } = self;
        let is_whole = |result: &RepeatResult| result.is_valid() && result.changed_files.is_empty();
        let shown_repeat = results.iter().position(is_whole);
        let shown_repeat = shown_repeat.or_else(|| results.iter().position(RepeatResult::is_valid));
        let shown_repeat = shown_repeat.unwrap_or(0);
        let counts = data.iter().filter_map(|data| data.network.clone()).collect();
        let shown = data.swap_remove(shown_repeat);
        let (altered, missing) = (lost.altered(), lost.absent);
        CaseData { plan, is_virtual, results, counts, shown, shown_repeat, missing, altered, as_left }
    }

    /// The results of those that have a folder.
    fn in_folders(&self) -> impl Iterator<Item = &RepeatResult> {
        self.results.iter().zip(&self.in_folders).filter(|(_, is)| **is).map(|(result, _)| result)
    }
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
            hasher.update(&(part.len() as u64).to_be_bytes());
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
        packet::hex::encode(&hasher.finish()[..6])
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
        let mut nobody = |_| ();
        Ok(load_derived(&case.plan, &place, &mut RawCheck::new(std::iter::empty(), &mut nobody))?.0)
    }

    /// What has to be known of the folder: what is not as the run left it, and what nobody would see changed.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.faults.iter().chain(&self.unhashed).cloned().collect()
    }

    /// Looks for tables of results that are not as they were written, for those who do not write them again.
    pub fn look_at_tables(&mut self) {
        let path = self.folder.path();
        let changed = faults::changed_tables(path);
        let results = self.cases.iter().flat_map(|case| &case.results);
        if faults::has_lost_hashes(path, results) {
            let sentence =
                "results.sha256 is missing: that the tables of all numbers were changed would go unnoticed";
            self.faults.push(sentence.to_owned());
            self.ways_out.push(format!("write them again with: cairn lab show {}", pasted_path(path)));
            self.is_damaged = true;
        }
        if !changed.is_empty() {
            let was = was(changed.len());
            let names = changed.join(", ");
            self.faults.push(format!("{names} {was} changed after the report was written"));
            self.ways_out.push(format!("write it again with: cairn lab show {}", pasted_path(path)));
            self.is_damaged = true;
        }
    }

    /// Reads a run that is complete, or as much of it as there is.
    ///
    /// # Errors
    ///
    /// When there is not one repeat, or a file is missing.
    pub fn read(folder: &RunFolder) -> Result<Self, ReportError> {
        RunData::read_with_progress(folder, &mut |_| ())
    }

    /// The same, for somebody who waits: `on_progress` is called with how much of it was read.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn read_with_progress(
        folder: &RunFolder,
        on_progress: &mut dyn FnMut(ReadProgress),
    ) -> Result<Self, ReportError> {
        let record = record_of(folder).map_err(|error| ReportError::Record(Box::new(error)))?;
        let of_record = |error| ReportError::Record(Box::new(error));
        let experiment = experiment_of(folder, &record).map_err(of_record)?;
        let plans = experiment.plans(&record.backend).map_err(|findings| {
            ReportError::Plan(
                findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; "),
            )
        })?;
        let names: HashSet<&String> = record.cases.iter().collect();
        let mut plans: Vec<Plan> = plans.into_iter().filter(|plan| names.contains(&plan.case)).collect();
        with_seed_of(&mut plans, record.seed);
        let mut recorded = records::read(folder).map_err(|error| ReportError::records(folder, &error))?;
        let parts = changed_since(&record, &experiment);
        if plans.is_empty() && !parts.is_empty() {
            return Err(of_record(changed(folder, &record, parts).into()));
        }
        let (mut cases, mut lost_controls) = (Vec::new(), HashSet::new());
        let mut faults = Faults::of_experiment(folder, &record, &parts);
        let own = OwnRepeats::of(&record, &parts);
        let repeats = (0..plans.len()).flat_map(|case| (0..record.repeats).map(move |repeat| (case, repeat)));
        let in_folders = repeats.filter(|repeat| !recorded.contains_key(repeat));
        let places: Vec<PathBuf> = in_folders.map(|(case, repeat)| folder.repeat(case, repeat)).collect();
        let mut check = RawCheck::new(places.iter().map(PathBuf::as_path), on_progress);
        for (case, mut plan) in plans.into_iter().enumerate() {
            plan.schedule.repeats = record.repeats;
            let found = Repeats::read((folder, &record, &own), case, &plan, &mut recorded, &mut check);
            let is_virtual = record.is_virtual();
            faults.of_case(folder, case, &plan, &found.lost);
            found.results.iter().for_each(|result| faults.look_for_its_run(result));
            found.in_folders().for_each(|result| faults.look_into_folder(result));
            if found.results.is_empty() {
                let is_lost = !found.lost.absent.is_empty() || !found.lost.altered().is_empty();
                lost_controls.extend(plan.control.filter(|_| is_lost).map(|control| control.name));
                continue;
            }
            cases.push(found.into_case(plan, is_virtual));
        }
        faults.of_record(folder, &record);
        if cases.is_empty() {
            return Err(ReportError::nothing(folder, &faults));
        }
        let (cases, controls) = cases.into_iter().partition(|case: &CaseData| case.plan.control.is_none());
        Ok(RunData {
            folder: folder.clone(),
            record,
            experiment,
            cases,
            controls,
            lost_controls,
            unhashed: faults.unhashed(),
            faults: faults.sentences,
            ways_out: faults.ways_out,
            is_damaged: faults.is_damaged,
            is_restated: parts.iter().any(|part| part == "expect"),
            changed_plan: parts.into_iter().filter(|part| is_of_plan(part)).collect(),
        })
    }
}
