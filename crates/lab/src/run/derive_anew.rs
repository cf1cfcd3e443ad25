//! Derives a run anew from what it measured.

use std::io;
use std::path::{Path, PathBuf};

use super::anew::{experiment_of, pasted_path};
use super::attempt_plan::{drawn_again, plan_of_attempt, seed_of};
use super::begun::record_of;
use super::error::{RunError, io_error};
use super::experiment_hashes::changed_since;
use super::folder::{RunFolder, RunRecord};
use super::missing_raw::first_missing;
use super::origin::OwnRepeats;
use super::plans::plans_of;
use super::repeats::NO_RESULT;
use crate::analysis::{
    RAW, RawCheck, ReadProgress, RepeatResult, derive, write_as_earlier_version, write_with_hashes,
};
use crate::experiment::Plan;
use crate::seal::Seal;

/// Derives everything anew from what was measured, such as with a later version or other gates in the run's
/// experiment.
///
/// # Errors
///
/// When raw files are missing, and before anything is written when some result is not as it was written.
pub fn derive_anew(folder: &RunFolder) -> Result<(), RunError> {
    derive_anew_with_progress(folder, &mut |_| ())
}

/// The same, for somebody who waits: `on_progress` is called with how much of it was read.
///
/// # Errors
///
/// As above.
pub fn derive_anew_with_progress(
    folder: &RunFolder,
    on_progress: &mut dyn FnMut(ReadProgress),
) -> Result<(), RunError> {
    let _lock = folder.lock().map_err(io_error("it cannot be derived anew"))?;
    let record = record_of(folder)?;
    let experiment = experiment_of(folder, &record)?;
    let plans = plans_of(&experiment, &record)?;
    let drawn = drawn_again(&experiment, &plans, &record.backend)?;
    let (mut places, mut found) = (Vec::new(), Vec::new());
    for (case, plan) in plans.iter().enumerate() {
        places.extend((0..plan.schedule.repeats).map(|repeat| (plan, repeat, folder.repeat(case, repeat))));
    }
    let own = OwnRepeats::of(&record, &changed_since(&record, &experiment));
    let mut check = RawCheck::new(places.iter().map(|(_, _, place)| place.as_path()), on_progress);
    for (plan, repeat, place) in &places {
        if let Some(before) = as_written(folder, &record, place, &mut check)? {
            // What is derived has the place that it lies in: who copied it there would not be told any more.
            if before.is_of_another_place(plan, place) {
                let (what, folder) = (place.join("result.json"), pasted_path(folder.path()));
                return Err(RunError::Displaced { what, is: before.place, folder });
            }
            if own.is_foreign(plan, *repeat, &before) {
                let (what, folder) = (place.join("result.json"), pasted_path(folder.path()));
                return Err(RunError::Foreign { what, folder });
            }
            found.push(WrittenRepeat { plan, repeat: *repeat, place, before });
        }
        check.repeat_was_read();
    }
    // Of those that have hashes each file was looked for; where something ended early there may be none.
    let was_cut_short = |repeat: &WrittenRepeat<'_>| repeat.before.outcome.lost.is_some();
    let unhashed = found.iter().filter(|repeat| repeat.before.raw_files.is_empty() && !was_cut_short(repeat));
    if let Some(what) = first_missing(unhashed.map(|repeat| (repeat.plan, repeat.place))) {
        return Err(RunError::Missing { what, folder: pasted_path(folder.path()) });
    }
    for WrittenRepeat { plan, repeat, place, before } in found {
        let RepeatResult { thrown_away, raw_files, origin, .. } = before;
        let seed = seed_of(plan, repeat, thrown_away.len());
        let (_, result) = derive(&plan_of_attempt(drawn.as_ref(), plan, seed)?, place, thrown_away)?;
        let result = RepeatResult { origin, ..result };
        let written = match record.seal {
            Seal::None => write_as_earlier_version(RepeatResult { raw_files, ..result }, place),
            Seal::Whole | Seal::Broken => write_with_hashes(result, place),
        };
        written.map_err(io_error(NO_RESULT))?;
    }
    Ok(())
}

/// A repeat that is there, as it was written.
struct WrittenRepeat<'a> {
    plan: &'a Plan,
    repeat: u32,
    place: &'a Path,
    before: RepeatResult,
}

/// The numbers of a repeat as they were written; nothing where there are none, such as where a record is all
/// that was kept.
fn as_written(
    folder: &RunFolder,
    record: &RunRecord,
    place: &Path,
    check: &mut RawCheck<'_>,
) -> Result<Option<RepeatResult>, RunError> {
    let path = place.join("result.json");
    let altered = |what: PathBuf| RunError::Altered { what, folder: pasted_path(folder.path()) };
    match RepeatResult::read(&path) {
        Ok(result) if record.is_altered(result.seal) => Err(altered(path)),
        Ok(mut result) => {
            result.find_changed_files(place, check);
            // Derived files that were changed are what this is for.
            match result.changed_files.iter().find(|name| name.starts_with(RAW)) {
                Some(name) => Err(altered(place.join(name))),
                None => Ok(Some(result)),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RunError::Unreadable { source, folder: pasted_path(folder.path()) }),
    }
}
