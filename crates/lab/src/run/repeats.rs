//! The repeats of a run: which are left, one by one or beside each other, and again where one is not valid.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::anew::pasted_path;
use super::archive::compress;
use super::attempt_plan::{plan_of_attempt, seed_of};
use super::error::{RunError, io_error};
use super::folder::{RunFolder, RunRecord};
use super::origin::OwnRepeats;
use super::progress::Progress;
use super::records::{Record, Records};
use super::shared_clock::SharedClock;
use crate::analysis::{Gate, RepeatResult, STANDSTILLS, derive, numbers, write_with_hashes};
use crate::backend::Backend;
use crate::driver::Programs;
use crate::experiment::{DrawnAgain, Plan};
use crate::memory_files::MemoryFolder;
use crate::order::{Event, Order, Owner, Simultaneous, Stop};
use crate::parallel;
use crate::study::Runner;

/// A run that is carried out.
pub(super) struct Run<'a> {
    pub(super) folder: &'a RunFolder,
    pub(super) drawn: Option<DrawnAgain<'a>>,
    pub(super) programs: &'a Programs,
    pub(super) backend: &'a dyn Backend,
    pub(super) records: Option<Records>,
    pub(super) own: OwnRepeats,
    pub(super) stop: Stop,
}

/// One repeat of one case, both by number from 0.
struct Job<'a> {
    case: usize,
    repeat: u32,
    plan: &'a Plan,
    /// Cores for it alone.
    cores: NonZeroUsize,
}

/// Does what is left of a run, and says in its record that it is complete.
pub(super) fn carry_on(
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
    let clock = SharedClock::of(jobs.iter().map(|job| job.plan.schedule.duration_ns));
    let is_done = |place: &usize| jobs.get(*place).is_some_and(|job| run.is_done(job));
    (0..jobs.len()).filter(is_done).for_each(|place| clock.end(place));
    tell(&Progress::Share(clock.share()));
    let count = |done: usize, all: usize| {
        tell(&Progress::Share(clock.share()));
        tell(&Progress::Count { done, all });
    };
    let runner = Runner { workers: Some(run.backend.at_once()), progress: &count };
    let places: Vec<usize> = (0..jobs.len()).collect();
    parallel::try_for_each(&places, &runner, |place| {
        let Some(job) = jobs.get(*place).filter(|job| !run.is_done(job)) else { return Ok(()) };
        let name = if job.plan.case.is_empty() { &job.plan.title } else { &job.plan.case };
        let done = one_repeat(run, job, &mut |progress: &Progress| match progress {
            Progress::Done { invalid } if !invalid.is_empty() => {
                let (repeat, why) = (job.repeat + 1, invalid.join("; "));
                tell(&Progress::Note(format!(
                    "{name}, repeat {repeat}: NOT VALID, and not used in means: {why}"
                )));
            }
            Progress::Note(text) => tell(&Progress::Note(text.clone())),
            Progress::Sample(Event::Sample { seconds, .. }) => {
                clock.pass(*place, *seconds);
                if let Some(share) = clock.due() {
                    tell(&Progress::Share(share));
                }
            }
            _ => {}
        });
        clock.end(*place);
        done
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
        let result = RepeatResult { origin: run.own.origin(seed), ..result };
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
pub(super) const NOT_ASIDE: &str = "an attempt cannot be put aside";
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
    let seed = seed_of(plan, repeat, 0);
    let order = carry_out(run, job, seed, folder.path(), observe)?;
    let (data, result) = numbers(&order.plan, folder.path(), None, Vec::new())?;
    if !result.reasons().is_empty() {
        return Ok(false);
    }
    let result = RepeatResult { origin: run.own.origin(seed), ..result };
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
}
