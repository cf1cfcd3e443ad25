//! `cairn sim run FILE` for files whose kind is a study: tables and figures beside the numbers of a paper.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::study::Runner;

use super::Failure;
use crate::tool::output as print;

/// Where files go if nothing is said: a folder of the experiment's name below this one.
const RUNS: &str = "runs";

/// Runs the study in `text`, prints its tables and writes them and its figures into `out`.
pub(super) fn run(
    file: &Path,
    text: &str,
    out: Option<&Path>,
    workers: Option<usize>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let shows_progress = std::io::stderr().is_terminal();
    let progress = |done: usize, all: usize| {
        if shows_progress {
            let end = if done == all { "\n" } else { "" };
            eprint!("\r{done} of {all} runs{end}");
        }
    };
    let runner = Runner { workers, progress: &progress };
    let report = lab::study::run(text, &runner).map_err(|error| format!("{}: {error}", file.display()))?;
    let default = || Path::new(RUNS).join(file.file_stem().unwrap_or(file.as_os_str()));
    let folder: PathBuf = out.map_or_else(default, Path::to_owned);
    let names = report.write_to(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    if json {
        print::json_text(&serde_json::to_string_pretty(&report)?)?;
    } else {
        print::text(report.to_text().as_bytes())?;
        print::line(format_args!("{} files in {}", names.len(), folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
