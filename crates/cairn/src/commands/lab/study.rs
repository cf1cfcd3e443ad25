//! Files whose kind is a study: tables and figures beside the numbers of a paper.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::study::Runner;

use super::Outcome;
use crate::tool::{ToolError, output};

/// Where files go if nothing is said: a folder of the experiment's name below this one.
const RUNS: &str = "runs";

/// Is it one of the studies?
pub(super) fn is_study(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table.get("kind").and_then(toml::Value::as_str).is_some_and(|kind| lab::study::KINDS.contains(&kind))
}

/// Runs the study in `text`, prints its tables and writes them and its figures into `out`.
pub(super) fn run(
    file: &Path,
    text: &str,
    out: Option<&Path>,
    workers: Option<usize>,
    json: bool,
) -> Outcome {
    let shows_progress = std::io::stderr().is_terminal();
    let progress = |done: usize, all: usize| {
        if shows_progress {
            let end = if done == all { "\n" } else { "" };
            eprint!("\r{done} of {all} runs{end}");
        }
    };
    let runner = Runner { workers, progress: &progress };
    let report = lab::study::run(text, &runner)
        .map_err(|error| ToolError::other(format_args!("{}: {error}", file.display())))?;
    let default = || Path::new(RUNS).join(file.file_stem().unwrap_or(file.as_os_str()));
    let folder: PathBuf = out.map_or_else(default, Path::to_owned);
    let names = report.write_to(&folder).map_err(ToolError::file(&folder))?;
    if json {
        output::json_text(&serde_json::to_string_pretty(&report).map_err(ToolError::other)?)?;
    } else {
        output::text(report.to_text().as_bytes())?;
        output::line(format_args!("{} files in {}", names.len(), folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
