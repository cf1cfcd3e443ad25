//! The record of a run that was begun, and what to do about one that cannot be gone on with.

use std::io;

use super::anew::{command_again, guessed_command};
use super::error::RunError;
use super::folder::{RunFolder, RunRecord};
use super::plan_error::PlanError;
use crate::seal::Seal;

/// What `run.json` says. A run that was killed at once has none.
pub(crate) fn record_of(folder: &RunFolder) -> Result<RunRecord, RunError> {
    folder.record().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if folder.experiment().is_file() => {
            if let Some(holder) = folder.holder() {
                return not_begun(
                    folder,
                    format!("nothing is there yet; somebody is at work on it: {holder}"),
                );
            }
            let why = match has_results(folder) {
                true => "its run.json is missing; put it back, or",
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

/// Is anything there that a run or a study leaves?
fn has_results(folder: &RunFolder) -> bool {
    let left = ["records", "report.html", "report.json", "report.txt"].map(|name| folder.path().join(name));
    folder.repeat(0, 0).is_dir() || left.iter().any(|path| path.exists())
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
pub(super) fn anew(folder: &RunFolder, why: &str, record: Option<&RunRecord>) -> String {
    let command = record.map_or_else(|| guessed_command(folder), |record| command_again(folder, record));
    let why = if why.ends_with(" or") { why.to_owned() } else { format!("{why};") };
    format!("{why} start it anew with: {command}")
}

/// That an experiment was changed since its run began, and what to do.
pub(crate) fn changed(folder: &RunFolder, record: &RunRecord, parts: Vec<String>) -> PlanError {
    let again = command_again(folder, record);
    PlanError::Changed { folder: folder.path().to_owned(), parts, again }
}
