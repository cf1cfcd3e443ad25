//! Runs that are there: list them, show one.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::report::{RunData, verdicts, write_report};
use lab::run::RunFolder;

type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Every run below a folder.
pub(super) fn list(runs: &Path, json: bool) -> Outcome {
    let mut out = std::io::stdout().lock();
    let list = RunFolder::list(runs).map_err(|error| format!("{}: {error}", runs.display()))?;
    if json {
        let records: Vec<_> =
            list.iter().map(|(folder, record)| (folder.path().display().to_string(), record)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&records)?)?;
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
        writeln!(
            out,
            "{:<widest$}  {:<5}  {what:<12}  {}{state}",
            name(folder),
            record.backend,
            record.title
        )?;
    }
    if list.is_empty() {
        writeln!(out, "no run in {}; begin with: cairn lab run experiments/quickstart.toml", runs.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The run that is meant: the one that is named, or the last.
pub(super) fn find(folder: Option<PathBuf>, runs: &Path) -> Result<RunFolder, Box<dyn Error>> {
    if let Some(path) = folder {
        return RunFolder::open(&path).map_err(|error| format!("{}: {error}", path.display()).into());
    }
    let last = RunFolder::list(runs).map_err(|error| format!("{}: {error}", runs.display()))?.pop();
    last.map(|(folder, _)| folder).ok_or_else(|| format!("there is no run in {}", runs.display()).into())
}

/// What a run found.
pub(super) fn show(folder: Option<PathBuf>, runs: &Path) -> Outcome {
    let folder = find(folder, runs)?;
    let page = write_report(&folder)?;
    let run = RunData::read(&folder)?;
    let missed = print_verdicts(&run)?;
    writeln!(std::io::stdout().lock(), "report: {}", page.display())?;
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Prints what was expected and what came of it. Returns how many expectations were missed.
pub(super) fn print_verdicts(run: &RunData) -> Result<usize, Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} ({}, {})", run.record.title, run.record.backend, run.record.began)?;
    let mut missed = 0;
    for verdict in verdicts(run) {
        let word = match verdict.met {
            Some(true) => "met   ",
            Some(false) => "MISSED",
            None => "absent",
        };
        missed += usize::from(verdict.met != Some(true));
        let (found, half) = verdict.found();
        let measured = half.map_or_else(|| found.clone(), |half| format!("{found} ± {half}"));
        let case = if verdict.case.is_empty() { String::new() } else { format!(" [{}]", verdict.case) };
        writeln!(
            out,
            "  {word}  {}{case}: {} = {measured}, {}",
            verdict.say, verdict.measure, verdict.bound
        )?;
    }
    Ok(missed)
}
