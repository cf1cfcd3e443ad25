//! Carries an experiment out: case by case, repeat by repeat, from where an earlier session stopped.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::anew::{command_again, experiment_of, guessed_command, pasted_path};
use super::archive::compress;
use super::attempt_plan::{drawn_again, plan_of_attempt, seed_of};
use super::build::{Build, Program};
use super::create::begin;
use super::error::{RunError, io_error};
use super::experiment_hashes::{changed_since, is_of_words};
use super::folder::{RunFolder, RunRecord};
use super::options::Options;
use super::plan_error::PlanError;
use super::progress::Progress;
use super::records::{self, Record, Records};
use crate::analysis::{Gate, RepeatResult, STANDSTILLS, derive, numbers, write_with_hashes};
use crate::backend::hosts::Inventory;
use crate::backend::{Backend, VIRTUAL_TIME, backend};
use crate::driver::Programs;
use crate::experiment::plan::TraceFormat;
use crate::experiment::{DrawnAgain, Experiment, Plan};
use crate::memory_files::MemoryFolder;
use crate::order::{Event, Order, Owner, Simultaneous, Stop};
use crate::parallel;
use crate::seal::Seal;
use crate::study::Runner;

/// What a run says itself, whatever its experiment does.
#[derive(Clone, Copy, Default)]
struct Overrides {
    repeats: Option<u32>,
    seed: Option<u64>,
    trace_format: Option<TraceFormat>,
}

/// The plans a run consists of.
fn plans(experiment: &Experiment, backend: &str, overrides: Overrides) -> Result<Vec<Plan>, RunError> {
    let change = |mut plan: Plan| {
        plan.schedule.repeats = overrides.repeats.unwrap_or(plan.schedule.repeats);
        plan.schedule.seed = overrides.seed.unwrap_or(plan.schedule.seed);
        plan.recording.trace.format = overrides.trace_format.unwrap_or(plan.recording.trace.format);
        plan
    };
    Ok(experiment.plans(backend)?.into_iter().map(change).collect())
}

/// The plans of a run that was begun.
pub(super) fn plans_of(experiment: &Experiment, record: &RunRecord) -> Result<Vec<Plan>, RunError> {
    let RunRecord { repeats, seed, trace_format, .. } = *record;
    let overrides = Overrides { repeats: Some(repeats), seed: None, trace_format };
    let mut plans = plans(experiment, &record.backend, overrides)?;
    let cases: HashSet<&String> = record.cases.iter().collect();
    plans.retain(|plan| cases.contains(&plan.case));
    // The record has the seed of the first case. Unless it was given for all, cases have seeds of their own.
    if plans.first().is_some_and(|plan| plan.schedule.seed != seed) {
        plans.iter_mut().for_each(|plan| plan.schedule.seed = seed);
    }
    Ok(plans)
}

/// What a run consists of.
pub(super) struct Chosen {
    pub(super) plans: Vec<Plan>,
    /// So many there are, with those that are in the shares of others.
    of: usize,
    /// So many of the first of those are in this share.
    before: usize,
}

/// What options leave of an experiment, once it is clear that it can be run there.
pub(super) fn chosen(
    experiment: &Experiment,
    options: &Options,
    backend: &dyn Backend,
) -> Result<Chosen, RunError> {
    experiment.can_run_on(&options.backend)?;
    let Options { repeats, trace_format, .. } = *options;
    // What the file says by now holds as in any file: cases and sweeps may have seeds of their own.
    let seed = options.seed.filter(|seed| experiment.file.seed != Some(*seed));
    let mut plans = plans(experiment, &options.backend, Overrides { repeats, seed, trace_format })?;
    plans.retain(|plan| options.controls || plan.control.is_none());
    if let Some(only) = &options.only {
        let names: Vec<String> = plans.iter().map(|plan| plan.case.clone()).collect();
        plans.retain(|plan| plan.case.contains(only.as_str()));
        if plans.is_empty() {
            return Err(RunError::NoCase(only.clone(), names.join("; ")));
        }
    }
    let (of, mut before) = (plans.len(), records::FOLDERS_KEPT);
    if let Some(shard) = options.shard {
        shard.retain(&mut plans);
        before = shard.of_first(records::FOLDERS_KEPT);
        if plans.is_empty() {
            return Err(PlanError::EmptyShare(shard).into());
        }
    }
    plans.iter().try_for_each(|plan| backend.check(plan))?;
    Ok(Chosen { plans, of, before })
}

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
    let run = Run { folder: &folder, drawn, programs, backend: &*backend, records, stop };
    carry_on(&run, record, &plans, observe)?;
    Ok(folder)
}

/// What `run.json` says. A run that was killed at once has none.
pub(crate) fn record_of(folder: &RunFolder) -> Result<RunRecord, RunError> {
    folder.record().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if folder.experiment().is_file() => {
            let why = match folder.repeat(0, 0).is_dir() {
                true => "its run.json is missing",
                false => "this run ended before anything was measured",
            };
            not_begun(folder, anew(folder, why, None))
        }
        io::ErrorKind::NotFound => RunError::NotBegun {
            folder: folder.path().display().to_string(),
            why: "it is not the folder of a run: it has no run.json".to_owned(),
        },
        _ => not_begun(folder, anew(folder, &format!("its run.json cannot be read ({error})"), None)),
    })
}

/// The same for those who write it again, under a new seal, which would hide that it was changed.
pub(super) fn whole_record_of(folder: &RunFolder) -> Result<RunRecord, RunError> {
    let record = record_of(folder)?;
    match record.seal {
        Seal::Broken => Err(not_begun(folder, anew(folder, RECORD_CHANGED, Some(&record)))),
        _ => Ok(record),
    }
}

const RECORD_CHANGED: &str =
    "its run.json was changed after it was written, and whoever goes on would hide that; put it back, or";

pub(super) fn not_begun(folder: &RunFolder, why: String) -> RunError {
    RunError::NotBegun { folder: folder.path().display().to_string(), why }
}

/// That a run has to start anew, and how.
fn anew(folder: &RunFolder, why: &str, record: Option<&RunRecord>) -> String {
    let command = record.map_or_else(|| guessed_command(folder), |record| command_again(folder, record));
    let why = if why.ends_with(" or") { why.to_owned() } else { format!("{why};") };
    format!("{why} start it anew with: {command}")
}

/// That an experiment was changed since its run began, and what to do.
pub(crate) fn changed(folder: &RunFolder, record: &RunRecord, parts: Vec<String>) -> PlanError {
    let again = command_again(folder, record);
    PlanError::Changed { folder: folder.path().to_owned(), parts, again }
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
    let _lock = folder.lock().map_err(io_error("it cannot be gone on with"))?;
    let experiment = experiment_of(&folder, &record)?;
    if experiment.file.study.is_some() {
        let why = if record.complete {
            format!("a study is complete; see it with: cairn lab show {}", pasted_path(folder.path()))
        } else {
            anew(&folder, "a study is not gone on with", Some(&record))
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
    let run = Run { folder: &folder, drawn, programs, backend: &*backend, records, stop };
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

/// A run that is carried out.
struct Run<'a> {
    folder: &'a RunFolder,
    drawn: Option<DrawnAgain<'a>>,
    programs: &'a Programs,
    backend: &'a dyn Backend,
    records: Option<Records>,
    stop: Stop,
}

/// One repeat of one case, both by number from 0.
struct Job<'a> {
    case: usize,
    repeat: u32,
    plan: &'a Plan,
    /// Cores for it alone.
    cores: NonZeroUsize,
}

fn carry_on(
    run: &Run<'_>,
    mut record: RunRecord,
    plans: &[Plan],
    observe: impl FnMut(&Progress) + Send,
) -> Result<(), RunError> {
    let cores = NonZeroUsize::MIN;
    let mut jobs = Vec::new();
    for (case, plan) in plans.iter().enumerate() {
        jobs.extend((0..plan.schedule.repeats).map(|repeat| Job { case, repeat, plan, cores }));
    }
    let left = jobs.iter().filter(|job| !run.is_done(job)).count();
    if let Some(cores) = run.backend.at_once().checked_div(left).and_then(NonZeroUsize::new) {
        jobs.iter_mut().for_each(|job| job.cores = cores);
    }
    if run.backend.at_once() > 1 && jobs.len() > 1 {
        beside_each_other(run, &jobs, observe)?;
    } else {
        one_by_one(run, &jobs, plans.len(), observe)?;
    }
    record.complete = true;
    run.folder.write_record(&record).map_err(io_error("run.json cannot be written"))
}

impl Run<'_> {
    /// Has nobody asked for the end?
    fn goes_on(&self) -> Result<(), RunError> {
        let folder = || self.folder.path().display().to_string();
        if self.stop.is_asked() { Err(RunError::Stopped { folder: folder() }) } else { Ok(()) }
    }

    fn is_done(&self, job: &Job<'_>) -> bool {
        self.records.as_ref().is_some_and(|records| records.has(job.case, job.repeat))
            || self.folder.repeat(job.case, job.repeat).join("result.json").is_file()
    }
}

fn one_by_one(
    run: &Run<'_>,
    jobs: &[Job<'_>],
    cases: usize,
    mut observe: impl FnMut(&Progress),
) -> Result<(), RunError> {
    for job in jobs {
        observe(&Progress::Repeat {
            case: (job.case + 1, cases),
            name: job.plan.case.clone(),
            repeat: (job.repeat + 1, job.plan.schedule.repeats),
            seconds: job.plan.schedule.duration_ns as f64 / 1e9,
        });
        if run.is_done(job) {
            observe(&Progress::Skipped);
        } else {
            one_repeat(run, job, &mut observe)?;
        }
    }
    Ok(())
}

/// Repeats on all cores. What they find does not depend on how many there are. Of their progress only the end
/// of each is told, and what is wrong with it.
fn beside_each_other(
    run: &Run<'_>,
    jobs: &[Job<'_>],
    observe: impl FnMut(&Progress) + Send,
) -> Result<(), RunError> {
    let observe = Mutex::new(observe);
    let tell = |progress: &Progress| {
        let mut observe = observe.lock().unwrap_or_else(PoisonError::into_inner);
        (*observe)(progress);
    };
    let count = |done: usize, all: usize| tell(&Progress::Count { done, all });
    let runner = Runner { workers: Some(run.backend.at_once()), progress: &count };
    parallel::try_for_each(jobs, &runner, |job| {
        if run.is_done(job) {
            return Ok(());
        }
        let name = if job.plan.case.is_empty() { &job.plan.title } else { &job.plan.case };
        one_repeat(run, job, &mut |progress: &Progress| match progress {
            Progress::Done { invalid } if !invalid.is_empty() => {
                let (repeat, why) = (job.repeat + 1, invalid.join("; "));
                tell(&Progress::Note(format!(
                    "{name}, repeat {repeat}: NOT VALID, and not used in means: {why}"
                )));
            }
            Progress::Note(text) => tell(&Progress::Note(text.clone())),
            _ => {}
        })
    })?;
    Ok(())
}

/// One repeat, and again when it is not valid and may be repeated. What attempts before it measured stays,
/// marked.
fn one_repeat(run: &Run<'_>, job: &Job<'_>, observe: &mut dyn FnMut(&Progress)) -> Result<(), RunError> {
    if in_memory(run, job, observe)? {
        return Ok(());
    }
    let Job { case, repeat, plan, .. } = *job;
    let place = run.folder.repeat(case, repeat);
    loop {
        run.goes_on()?;
        let discarded = run.folder.discarded(case, repeat);
        let attempt = discarded.len();
        // What is there is of an attempt that was interrupted.
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).map_err(io_error("no folder for a repeat"))?;
        let raw = place.join("raw");
        let seed = seed_of(plan, repeat, attempt);
        let order = carry_out(run, job, seed, &raw, observe)?;
        observe(&Progress::Step("summary".to_owned()));
        let (data, result) = derive(&order.plan, &place, discarded)?;
        let records = run.records.as_ref().filter(|_| result.reasons().is_empty());
        if let Some(records) = records.filter(|records| records.takes(case)) {
            let record = Record { case, repeat, result, network: data.network };
            records.take(&record, &place).map_err(io_error(NOT_RECORDED))?;
            observe(&Progress::Done { invalid: Vec::new() });
            return Ok(());
        }
        observe(&Progress::Step("archive".to_owned()));
        archive(&raw)?;
        observe(&Progress::Step("hashes".to_owned()));
        let invalid = result.reasons();
        let why = invalid.join(", ");
        let retries = retries(plan.evaluation.gates.retries, &result);
        let is_last = why.is_empty() || attempt as u64 >= u64::from(retries);
        // Where there are numbers the repeat is done: they come last, and with the hashes, so that whoever is
        // interrupted leaves either all or a repeat that is measured again.
        let place = match is_last {
            true => place.clone(),
            false => run.folder.discard(case, repeat, &why).map_err(io_error(NOT_ASIDE))?,
        };
        write_with_hashes(result, &place).map_err(io_error(NO_RESULT))?;
        observe(&Progress::Done { invalid });
        if is_last {
            return Ok(());
        }
    }
}

/// One attempt, whose raw data goes into a folder.
fn carry_out(
    run: &Run<'_>,
    job: &Job<'_>,
    seed: u64,
    raw: &Path,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Order, RunError> {
    let Job { repeat, plan, cores, .. } = *job;
    let order = Order {
        plan: plan_of_attempt(run.drawn.as_ref(), plan, seed)?,
        seed,
        owner: Owner::this_process(),
        programs: run.programs.clone(),
        stays: false,
        simultaneous: Simultaneous::of_repeat(repeat, !plan.is_deterministic()),
        cores,
        stop: run.stop.clone(),
    };
    let carried_out = run.backend.carry_out(&order, raw, &mut |event| observe(&translate(event)));
    if carried_out.is_err() {
        run.goes_on()?;
    }
    let name = || if plan.case.is_empty() { &plan.title } else { &plan.case };
    carried_out.map_err(|source| RunError::Repeat {
        what: format!("repeat {} of `{}`", repeat + 1, name()),
        source,
        folder: pasted_path(run.folder.path()),
    })?;
    Ok(order)
}

pub(super) const NO_RESULT: &str = "the numbers of a repeat cannot be written";
const NOT_ASIDE: &str = "an attempt cannot be put aside";
const NOT_RECORDED: &str = "a repeat cannot be recorded";

/// The first attempt of a repeat of which only a record stays, without a file. False where it needs its
/// folder: in virtual time the same comes out once more there.
fn in_memory(run: &Run<'_>, job: &Job<'_>, observe: &mut dyn FnMut(&Progress)) -> Result<bool, RunError> {
    let Job { case, repeat, plan, .. } = *job;
    let records = run.records.as_ref().filter(|records| records.takes(case));
    let Some(records) = records.filter(|_| !plan.recording.trace.is_asked()) else { return Ok(false) };
    run.goes_on()?;
    if !run.folder.discarded(case, repeat).is_empty() {
        return Ok(false);
    }
    let folder = MemoryFolder::new();
    let order = carry_out(run, job, seed_of(plan, repeat, 0), folder.path(), observe)?;
    let (data, result) = numbers(&order.plan, folder.path(), None, Vec::new())?;
    if !result.reasons().is_empty() {
        return Ok(false);
    }
    let record = Record { case, repeat, result, network: data.network };
    records.append(&record).map_err(io_error(NOT_RECORDED))?;
    observe(&Progress::Done { invalid: Vec::new() });
    Ok(true)
}

/// How often a repeat that came out like this is measured again. Whoever loses a forwarder, or has one or a
/// client that stands still, gets a second try, whatever the experiment says of other reasons: that is an
/// accident, and nothing of what is measured.
fn retries(stated: u32, result: &RepeatResult) -> u32 {
    let stood_still = |gate: &Gate| !gate.passed && STANDSTILLS.contains(&gate.name.as_str());
    let is_accident = result.outcome.lost.is_some() || result.gates.iter().any(stood_still);
    // To try until the work is done would keep the attempts that were lucky.
    let is_result = result.is_unfinished() && result.gates.iter().filter(|gate| !gate.passed).count() == 1;
    if is_result { 0 } else { stated.max(u32::from(is_accident)) }
}

fn translate(event: &Event) -> Progress {
    match event {
        Event::Step { name } => Progress::Step(name.clone()),
        Event::Note { text } => Progress::Note(text.clone()),
        Event::Failed { why } => Progress::Note(format!("It failed: {why}")),
        Event::Sample { .. } => Progress::Sample(event.clone()),
        Event::Up => Progress::Step("up".to_owned()),
        Event::Changed { refused } => Progress::Note(refused.clone().unwrap_or_default()),
    }
}

/// Compresses captures and logs.
fn archive(raw: &Path) -> Result<(), RunError> {
    for entry in fs::read_dir(raw).map_err(io_error("raw data"))?.flatten() {
        let path = entry.path();
        let is_large = path.extension().is_some_and(|ending| ending == "pcapng" || ending == "csv");
        if is_large {
            compress(&path).map_err(io_error(format!("{} cannot be compressed", path.display())))?;
        }
    }
    // It was only a place for sockets.
    let _ = fs::remove_dir(raw.join("sockets"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_forwarder_that_stood_still_is_measured_again_and_an_overloaded_one_only_if_the_file_says_so() {
        let failed = |name: &str| {
            let gate = Gate { name: name.to_owned(), passed: false, ..Gate::default() };
            RepeatResult { gates: vec![gate], ..RepeatResult::default() }
        };
        for name in STANDSTILLS {
            assert_eq!((retries(0, &failed(name)), retries(3, &failed(name))), (1, 3), "{name}");
        }
        let overloaded = failed("time a forwarder waited for a processor");
        assert_eq!((retries(0, &overloaded), retries(2, &overloaded)), (0, 2));
    }

    #[test]
    fn a_run_that_was_killed_at_once_says_how_to_start_it_anew() {
        let above = TestFolder::absent("begun");
        let folder = RunFolder::create(&above, "x").unwrap();
        let programs = Programs { cairn: "/nowhere".into(), ndnd: None };
        let go_on = || resume(folder.path(), &programs, Build::default(), |_| {}).unwrap_err().to_string();
        assert!(go_on().ends_with("it is not the folder of a run: it has no run.json"), "{}", go_on());
        fs::write(folder.experiment(), "title = 't'").unwrap();
        let again = format!("start it anew with: cairn lab run {} --on sim", folder.experiment().display());
        assert!(go_on().ends_with(&again), "{}", go_on());
    }
}
