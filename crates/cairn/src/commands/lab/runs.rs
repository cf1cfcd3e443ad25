//! Runs that are there: list them, show one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::report::{RunData, result_rows, results_markdown, write_report_of, write_results_pictures};
use lab::run::{RunFolder, RunRecord, derive_anew_with_progress};

use super::Outcome;
use super::screen::ReadingLine;
use super::study;
use super::verdicts::{self, Form, NOT_COMPLETE};
use crate::tool::{ToolError, output};

/// Where runs are unless something else is said.
pub(super) const RUNS: &str = "runs";

/// Every run below a folder.
pub(super) fn list(runs: &Path, json: bool) -> Outcome {
    let list = all_of(runs)?;
    if json {
        let records: Vec<_> =
            list.iter().map(|(folder, record)| (folder.path().display().to_string(), record)).collect();
        output::json(&serde_json::to_value(&records).map_err(ToolError::other)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name =
        |folder: &RunFolder| folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let widest = list.iter().map(|(folder, _)| name(folder).chars().count()).max().unwrap_or(0);
    for (folder, record) in &list {
        // One that goes on now cannot be told from one that was interrupted.
        let state = if record.complete { "" } else { "  (not complete)" };
        let cases = record.cases.len();
        let what = if cases > 1 {
            format!("{cases} cases × {}", record.repeats)
        } else {
            format!("× {}", record.repeats)
        };
        output::line(format_args!(
            "{:<widest$}  {:<5}  {what:<12}  {}{state}",
            output::printable(&name(folder)),
            record.backend,
            verdicts::one_line(&record.title)
        ))?;
    }
    if list.is_empty() {
        let words = "begin with: cairn lab run experiments/quickstart.toml";
        output::line(format_args!("no run in {}; {words}", runs.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs below a folder. The usual one is made by the first of them.
fn all_of(runs: &Path) -> Result<Vec<(RunFolder, RunRecord)>, ToolError> {
    match RunFolder::list(runs) {
        Err(error) if error.kind() == ErrorKind::NotFound && runs == Path::new(RUNS) => Ok(Vec::new()),
        list => list.map_err(ToolError::file(runs)),
    }
}

/// The run that is meant: the one that is named, or the last.
pub(super) fn find(folder: Option<PathBuf>, runs: &Path) -> Result<RunFolder, ToolError> {
    if let Some(path) = folder {
        return RunFolder::open(&path).map_err(ToolError::file(path));
    }
    let last = all_of(runs)?.pop();
    let none = || ToolError::other(format_args!("there is no run in {}", runs.display()));
    last.map(|(folder, _)| folder).ok_or_else(none)
}

/// Reads a run, and says how far it is where that takes long.
pub(super) fn read(folder: &RunFolder) -> Result<RunData, ToolError> {
    let mut progress = ReadingLine::new();
    RunData::read_with_progress(folder, &mut |read| progress.show(read)).map_err(ToolError::other)
}

/// Reads a run of which nothing is written again.
pub(super) fn read_only(folder: &RunFolder) -> Result<RunData, ToolError> {
    let mut run = read(folder)?;
    run.look_at_tables();
    Ok(run)
}

/// What a run found.
pub(super) fn show(folder: Option<PathBuf>, runs: &Path, derive: bool, form: Form) -> Outcome {
    let folder = find(folder, runs)?;
    if study::is_of_study(&folder) {
        return study::show(&folder, derive, form);
    }
    if derive {
        let mut progress = ReadingLine::new();
        derive_anew_with_progress(&folder, &mut |read| progress.show(read)).map_err(ToolError::other)?;
    }
    let run = read(&folder)?;
    let page = write_report_of(&run).map_err(ToolError::other)?;
    verdicts::tell(&run, folder.path(), &page, form)
}

/// What runs found; as a page with the figures over parameters, where a folder for those is named.
pub(super) fn results(folders: &[PathBuf], markdown: bool, pictures: Option<&Path>, form: Form) -> Outcome {
    let mut runs = Vec::new();
    for path in folders {
        let folder = RunFolder::open(path).map_err(ToolError::file(path))?;
        study::refuse(&folder)?;
        runs.push(read_only(&folder)?);
    }
    if form == Form::Json {
        output::json(&serde_json::to_value(result_rows(&runs)).map_err(ToolError::other)?)?;
    } else if markdown {
        if let Some(folder) = pictures {
            write_results_pictures(&runs, folder).map_err(ToolError::file(folder))?;
        }
        let pictures = pictures.map(|folder| folder.display().to_string());
        output::bytes(results_markdown(&runs, pictures.as_deref()).as_bytes())?;
    } else {
        for run in &runs {
            verdicts::lines(run)?;
        }
    }
    let open: Vec<&RunData> = runs.iter().filter(|run| !run.record.complete).collect();
    for run in &open {
        tell!("cairn: {} is not complete; {}", run.folder.path().display(), run.folder.going_on());
    }
    let damaged: Vec<&RunData> = runs.iter().filter(|run| run.is_damaged).collect();
    for run in &damaged {
        let folder = run.folder.path().display();
        tell!("cairn: {folder} is not as it was left: {}", output::printable(&run.faults.join("; ")));
        verdicts::ways_out(run);
    }
    Ok(if open.is_empty() && damaged.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NOT_COMPLETE) })
}
