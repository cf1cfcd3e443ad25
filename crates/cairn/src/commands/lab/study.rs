//! Experiments that are studies: tables and figures beside the numbers of a paper.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use lab::experiment::Experiment;
use lab::run::{Options, RunFolder, execute_study};

use super::Outcome;
use super::verdicts::Form;
use crate::tool::{ToolError, output};

/// Runs a study and prints its tables.
pub(super) fn run(experiment: &Experiment, options: &Options, form: Form) -> Outcome {
    let shows_progress = std::io::stderr().is_terminal();
    let progress = |done: usize, all: usize| {
        if shows_progress {
            let end = if done == all { "\n" } else { "" };
            eprint!("\r{done} of {all} runs{end}");
        }
    };
    let (folder, report) = execute_study(experiment, options, &progress).map_err(ToolError::other)?;
    match form {
        Form::Json => output::json_text(&serde_json::to_string_pretty(&report).map_err(ToolError::other)?)?,
        Form::Lines => {
            output::text(report.to_text().as_bytes())?;
            output::line(format_args!("run folder: {}", folder.path().display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a folder is that of a study's run.
pub(super) fn is_of_study(folder: &RunFolder) -> bool {
    Experiment::read(&folder.experiment()).is_ok_and(|experiment| experiment.file.study.is_some())
}

/// Prints what a study has found.
pub(super) fn show(folder: &RunFolder, derive: bool, form: Form) -> Outcome {
    if derive {
        let again = folder.experiment();
        return Err(ToolError::other(format_args!(
            "a study keeps no raw data; run it again with: cairn lab run {} --on sim",
            again.display()
        )));
    }
    let path = folder.path().join(if form == Form::Json { "report.json" } else { "report.txt" });
    let text = crate::tool::files::read_text(&path).map_err(ToolError::file(&path))?;
    match form {
        Form::Json => output::json_text(&text)?,
        Form::Lines => output::text(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
