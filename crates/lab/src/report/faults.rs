//! What of a run is not as it was left, in sentences, and what can be done about it.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use crate::analysis::{DERIVED, RAW, RepeatResult, hash_of_file};
use crate::experiment::Plan;
use crate::prose::was;
use crate::run::{OwnRepeats, RunFolder, RunRecord, at_work, command_again, is_of_plan, named, pasted_path};
use crate::seal::Seal;

/// The tables with every number of every repeat.
pub(super) const TABLES: [&str; 2] = ["results.csv", "results.parquet"];

/// Tables of the numbers of controls, in runs that have some.
const CONTROL_TABLES: [&str; 2] = ["controls.csv", "controls.parquet"];

/// The file with their hashes.
const TABLE_HASHES: &str = "results.sha256";

/// What is said of a run whose repeats do not say of which run they are.
const NO_ORIGIN: &str = "plan and seed not noted with each repeat (run by an earlier version): repeats of \
                         another run would go unnoticed";

/// What is said of a run whose repeats say of which run they are, and not which repeat of which case.
const NO_PLACE: &str = "case and number not noted with each repeat (run by an earlier version): one in the place \
                        of another would go unnoticed";

/// What was found of a run beside its numbers.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// What is not as the run left it, a sentence each.
    pub(super) sentences: Vec<String>,
    /// What can be done about it, with the command.
    pub(super) ways_out: Vec<String>,
    /// Is a repeat missing, or something not as it was written?
    pub(super) is_damaged: bool,
    /// Files of which nobody would see that they were changed.
    unhashed: Option<&'static str>,
    /// Is any repeat there that does not say of which run it is?
    has_no_origin: bool,
    /// Or which repeat of which case it is?
    has_no_place: bool,
    /// Has any repeat hashes of all its files? Then the program that wrote it has sealed `run.json`, too.
    has_hashes: bool,
}

/// What is not as it was left of the repeats of a case, by their numbers from 1.
#[derive(Debug, Default)]
pub(super) struct Lost {
    /// There are no numbers.
    pub(super) absent: Vec<u32>,
    /// The numbers cannot be read, and why.
    pub(super) unreadable: Vec<(u32, String)>,
    /// Numbers, or files that they come from, were changed: which.
    pub(super) changed: Vec<(u32, BTreeSet<String>)>,
    /// They are those of another run.
    pub(super) foreign: Vec<u32>,
}

impl Lost {
    /// What of a repeat that was read is not as it was written.
    pub(super) fn look(&mut self, record: &RunRecord, number: u32, result: &RepeatResult) {
        let mut files: BTreeSet<String> = result.changed_files.iter().cloned().collect();
        if record.is_altered(result.seal) {
            files.insert("result.json".to_owned());
        }
        if !files.is_empty() {
            self.changed.push((number, files));
        }
    }

    /// Whether a repeat that was read is one of this run.
    pub(super) fn look_for_origin(
        &mut self,
        own: &OwnRepeats,
        plan: &Plan,
        number: u32,
        result: &RepeatResult,
    ) {
        if own.is_foreign(plan, number.saturating_sub(1), result) {
            self.foreign.push(number);
        }
    }

    /// Is the repeat that was looked at last not as it was written, or not of this run?
    pub(super) fn is_altered(&self, number: u32) -> bool {
        self.changed.last().is_some_and(|(last, _)| *last == number) || self.foreign.last() == Some(&number)
    }

    /// The numbers of repeats that are there and not as they were written, or not of this run.
    pub(super) fn altered(&self) -> Vec<u32> {
        let unreadable = self.unreadable.iter().map(|(number, _)| *number);
        let changed = self.changed.iter().map(|(number, _)| *number);
        let mut all: Vec<u32> = unreadable.chain(changed).chain(self.foreign.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// What happened to some repeats of a case, in a sentence: of one, or of several.
fn of_repeats(plan: &Plan, repeats: &[u32], [one, several]: [&str; 2]) -> String {
    const MAX_NAMED: usize = 20;
    let mut numbers: Vec<String> = repeats.iter().take(MAX_NAMED).map(u32::to_string).collect();
    let more = repeats.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        numbers.push(format!("and {more} more"));
    }
    let case = if plan.case.is_empty() { String::new() } else { format!(" of “{}”", plan.case) };
    let (numbers, what) = match numbers.as_slice() {
        [number] => (format!("repeat {number}"), one),
        numbers => (format!("repeats {}", numbers.join(", ")), several),
    };
    let of = plan.schedule.repeats;
    format!("{numbers} of {of}{case} {what}, and nothing that needs it is testable")
}

/// Some names, and that there are more.
fn some<'n>(names: impl Iterator<Item = &'n String>) -> String {
    const MAX_NAMED: usize = 3;
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let more = if names.len() > MAX_NAMED { " and more" } else { "" };
    let first: Vec<&str> = names.into_iter().take(MAX_NAMED).collect();
    format!("{}{more}", first.join(", "))
}

impl Faults {
    /// That an experiment is not the one that its run began with.
    pub(super) fn of_experiment(folder: &RunFolder, record: &RunRecord, parts: &[String]) -> Self {
        let mut faults = Faults::default();
        if !parts.is_empty() {
            let follows = match parts.iter().any(|part| is_of_plan(part)) {
                true => "its results are those of another experiment, and nothing is testable",
                false => "what is said of it here was said after it began",
            };
            let (were, parts) = (was(parts.len()), named(parts));
            let sentence = format!("{parts} of the experiment {were} changed since the run began: {follows}");
            let again = command_again(folder, record);
            faults.damaged(sentence, format!("put it back, or run what it says now with: {again}"));
        }
        faults
    }

    fn damaged(&mut self, sentence: String, way_out: String) {
        self.is_damaged = true;
        self.sentences.push(sentence);
        if !self.ways_out.contains(&way_out) {
            self.ways_out.push(way_out);
        }
    }

    /// What is not as it was left of the repeats of a case.
    pub(super) fn of_case(&mut self, folder: &RunFolder, case: usize, plan: &Plan, lost: &Lost) {
        let path = pasted_path(folder.path());
        let again = format!("measure it again with: cairn lab resume {path}");
        // Whoever is at work on it has to come to an end before anybody else can do anything about it.
        let at_work = folder.holder().map(|holder| at_work(&holder));
        let or_wait = |way_out: String| at_work.clone().unwrap_or(way_out);
        if !lost.absent.is_empty() {
            let what = ["is missing from the folder", "are missing from the folder"];
            self.damaged(of_repeats(plan, &lost.absent, what), or_wait(again.clone()));
        }
        let here = format!("{}/", folder.path().display());
        for (number, why) in &lost.unreadable {
            let what = format!("cannot be read ({})", why.replace(&here, ""));
            self.damaged(of_repeats(plan, &[*number], [&what, &what]), or_wait(again.clone()));
        }
        let place = |number: &u32| pasted_path(&folder.repeat(case, number.saturating_sub(1)));
        let places = |numbers: &[u32]| numbers.iter().map(place).collect::<Vec<_>>().join(", ");
        if !lost.foreign.is_empty() {
            let one = "is one of another experiment or of another seed";
            let several = "are those of another experiment or of other seeds";
            let way_out = format!("take {} away and {again}", places(&lost.foreign));
            self.damaged(of_repeats(plan, &lost.foreign, [one, several]), or_wait(way_out));
        }
        if lost.changed.is_empty() {
            return;
        }
        let files = some(lost.changed.iter().flat_map(|(_, files)| files));
        let one = format!("was changed after it was written ({files})");
        let several = format!("were changed after they were written ({files})");
        let numbers: Vec<u32> = lost.changed.iter().map(|(number, _)| *number).collect();
        let is_derived = |name: &String| name.strip_prefix(DERIVED).is_some_and(|rest| rest.starts_with('/'));
        let way_out = if lost.changed.iter().all(|(_, files)| files.iter().all(is_derived)) {
            format!("derive it again from what was measured with: cairn lab show --derive {path}")
        } else {
            format!("put it back, or take {} away and {again}", places(&numbers))
        };
        self.damaged(of_repeats(plan, &numbers, [&one, &several]), or_wait(way_out));
    }

    /// Whether a repeat says of which run it is.
    pub(super) fn look_for_its_run(&mut self, result: &RepeatResult) {
        self.has_no_origin |= result.origin.is_none();
    }

    /// Whether a repeat that has a folder says which one it is, and of which of its files there are hashes. A
    /// record has its case and number with it.
    pub(super) fn look_into_folder(&mut self, result: &RepeatResult) {
        self.has_no_place |= result.place.is_empty();
        self.has_hashes |= !result.derived_files.is_empty();
        // Where raw files have none the others have none either.
        let says_all = |words: &&str| words.contains(RAW);
        self.unhashed = self.unhashed.filter(says_all).or(result.unhashed()).or(self.unhashed);
    }

    /// Whether what the run says of itself is as it was written.
    pub(super) fn of_record(&mut self, folder: &RunFolder, record: &RunRecord) {
        if record.seal == Seal::Broken || record.seal == Seal::None && self.has_hashes {
            let again = command_again(folder, record);
            self.damaged(
                "run.json was changed after it was written".to_owned(),
                format!("put it back, or run it again with: {again}"),
            );
        }
    }

    /// What of a run's files nobody would see changed, in a sentence.
    pub(super) fn unhashed(&self) -> Option<String> {
        match self.unhashed {
            Some(files) => {
                Some(format!("{files} not hashed (run by an earlier version): changes would go unnoticed"))
            }
            None if self.has_no_origin => Some(NO_ORIGIN.to_owned()),
            None => self.has_no_place.then(|| NO_PLACE.to_owned()),
        }
    }
}

/// Writes down the hashes of the tables of a run, as `sha256sum` does.
pub(super) fn write_table_hashes(folder: &Path) -> io::Result<()> {
    let line = |name: &str| Ok(format!("{}  {name}\n", hash_of_file(&folder.join(name))?));
    let of_controls = CONTROL_TABLES.into_iter().filter(|name| folder.join(name).is_file());
    let lines = TABLES.into_iter().chain(of_controls).map(line).collect::<io::Result<String>>()?;
    fs::write(folder.join(TABLE_HASHES), lines)
}

/// Are there tables of a run, and no hashes of them any more? Programs write both, since each repeat says
/// which one it is.
pub(super) fn has_lost_hashes<'a>(
    folder: &Path,
    mut results: impl Iterator<Item = &'a RepeatResult>,
) -> bool {
    let has_table = TABLES.into_iter().any(|name| folder.join(name).is_file());
    has_table && !folder.join(TABLE_HASHES).is_file() && results.any(|result| !result.place.is_empty())
}

/// The tables of a run that are not as they were written; none where nobody has written how that was.
pub(super) fn changed_tables(folder: &Path) -> Vec<&'static str> {
    let Ok(noted) = fs::read_to_string(folder.join(TABLE_HASHES)) else { return Vec::new() };
    let is_whole = |name: &str| {
        let hash = hash_of_file(&folder.join(name)).unwrap_or_default();
        noted.lines().any(|line| line == format!("{hash}  {name}"))
    };
    let is_noted = |name: &&str| noted.lines().any(|line| line.ends_with(&format!("  {name}")));
    let of_controls = CONTROL_TABLES.into_iter().filter(is_noted);
    TABLES.into_iter().chain(of_controls).filter(|name| !is_whole(name)).collect()
}
