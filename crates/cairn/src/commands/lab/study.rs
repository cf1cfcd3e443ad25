//! Experiments that are studies: tables and figures beside the numbers of a paper.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::experiment::Experiment;
use lab::report::Conclusion;
use lab::run::{Options, RunFolder, StudyFaults, execute_study, study_faults};
use lab::study::conclusion;
use serde_json::Value;

use super::Outcome;
use super::verdicts::{self, Form};
use crate::tool::{ToolError, output};

/// Runs a study and prints its tables. The exit code is that of any run.
pub(super) fn run(experiment: &Experiment, options: &Options, form: Form) -> Outcome {
    let is_terminal = std::io::stderr().is_terminal();
    let told = AtomicUsize::new(0);
    let progress = |done: usize, all: usize| {
        if is_terminal {
            let end = if done == all { "\n" } else { "" };
            eprint!("\r{done} of {all} runs{end}");
        } else if let Some(percent) =
            tenth(done, all).filter(|tenth| told.fetch_max(*tenth, Ordering::Relaxed) < *tenth)
        {
            eprintln!("{done} of {all} runs ({percent} %)");
        }
    };
    let (folder, report) = execute_study(experiment, options, &progress).map_err(ToolError::other)?;
    let report_json = serde_json::to_value(&report).map_err(ToolError::other)?;
    tell(&folder, report_json, &report.to_text(), &StudyFaults::default(), form)
}

/// How much is done, in whole tenths and in percent: in a log a line for each is enough.
fn tenth(done: usize, all: usize) -> Option<usize> {
    (done * 10).checked_div(all).filter(|tenth| *tenth > 0).map(|tenth| tenth * 10)
}

/// Prints what a study has found, and says by the exit code what it comes to.
fn tell(folder: &RunFolder, mut report: Value, text: &str, faults: &StudyFaults, form: Form) -> Outcome {
    // What it was is not known any more, whatever it says now.
    let (words, code) = match faults.sentences.is_empty() {
        true => verdicts::ending(conclusion(&report)),
        false if faults.is_open => verdicts::ending(Conclusion::Incomplete),
        false => ("not as it was left", verdicts::ending(Conclusion::Incomplete).1),
    };
    match form {
        Form::Json => {
            if let Some(object) = report.as_object_mut() {
                object.insert("folder".to_owned(), folder.path().display().to_string().into());
                object.insert("conclusion".to_owned(), words.into());
                object.insert("exit_code".to_owned(), code.into());
                object.insert("faults".to_owned(), faults.sentences.clone().into());
                object.insert("unhashed".to_owned(), faults.unhashed.clone().into());
                object.insert("way_out".to_owned(), faults.way_out.clone().into());
            }
            output::json(&report)?;
        }
        Form::Lines => {
            output::text(text.as_bytes())?;
            for note in faults.sentences.iter().chain(&faults.unhashed) {
                output::line(format_args!("  {}", verdicts::one_line(note)))?;
            }
            output::line(format_args!("run folder: {}", folder.path().display()))?;
        }
    }
    if let Some(way_out) = &faults.way_out {
        tell!("cairn: {}", verdicts::one_line(way_out));
    }
    Ok(ExitCode::from(code))
}

/// Studies have tables of their own, and nothing that runs are put beside each other by.
pub(super) fn refuse(folder: &RunFolder) -> Result<(), ToolError> {
    if !is_of_study(folder) {
        return Ok(());
    }
    let path = folder.path().display();
    Err(ToolError::other(format_args!(
        "{path} is of a study, whose statements stand in tables of its own; print them with: cairn lab show {path}"
    )))
}

/// Whether a folder is that of a study's run.
pub(super) fn is_of_study(folder: &RunFolder) -> bool {
    Experiment::read_recorded(&folder.experiment()).is_ok_and(|experiment| experiment.file.study.is_some())
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
    let faults = study_faults(folder).map_err(ToolError::other)?;
    // What is missing or damaged is told as that, with what else there is.
    let read = |name: &str| {
        let path = folder.path().join(name);
        match crate::tool::files::read_text(&path).map_err(ToolError::file(&path)) {
            Err(_) if !faults.sentences.is_empty() => Ok(String::new()),
            read => read,
        }
    };
    let (report, text) = (read("report.json")?, read("report.txt")?);
    let report = match serde_json::from_str(&report) {
        Err(_) if !faults.sentences.is_empty() => serde_json::json!({}),
        read => read.map_err(ToolError::other)?,
    };
    tell(folder, report, &text, &faults, form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_each_tenth_is_told_and_no_more() {
        let told: Vec<usize> = (0..=40).filter_map(|done| tenth(done, 40)).collect();
        assert_eq!(
            (told.first(), told.last(), tenth(3, 40), tenth(0, 0)),
            (Some(&10), Some(&100), None, None)
        );
    }
}
