//! What is said of a run when it is done: each verdict on a line, or all as JSON, and the exit code.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use lab::analysis::RepeatResult;
use lab::report::{CaseData, Conclusion, Outcome, RunData, conclusion, result_rows, verdicts};

use super::counts;
use super::terminal::is_terminal;
use crate::tool::output::Colour;
use crate::tool::{ToolError, output};

/// The exit code for a run that was interrupted, or is not as it was left.
pub(super) const NOT_COMPLETE: u8 = 6;

/// How what was found is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A line for each verdict.
    Lines,
    /// One object.
    Json,
}

impl Form {
    pub(super) fn of(json: bool) -> Self {
        if json { Form::Json } else { Form::Lines }
    }
}

/// What a run comes to, in words and as its exit code.
pub(super) fn ending(conclusion: Conclusion) -> (&'static str, u8) {
    match conclusion {
        Conclusion::AsExpected => ("as expected", 0),
        Conclusion::Contradicted => ("contradicted", 3),
        Conclusion::NotTestable => ("not testable here", 4),
        Conclusion::NoValidRun => ("no valid run", 5),
        Conclusion::Incomplete => ("not complete", NOT_COMPLETE),
    }
}

/// Tells what a run found and where its report is. Returns the exit code that says so.
pub(super) fn tell(run: &RunData, folder: &Path, report: &Path, form: Form) -> Result<ExitCode, ToolError> {
    let (words, code) = ending(conclusion(run, &verdicts(run)));
    let words = if code == NOT_COMPLETE && run.record.complete { "not as it was left" } else { words };
    match form {
        Form::Lines => {
            if run.record.is_virtual() {
                output::text(&counts::text(run)?)?;
                statements(run)?;
            } else {
                lines(run)?;
            }
            if !run.record.complete {
                output::line(format_args!("not complete; {}", run.folder.going_on()))?;
            }
            ways_out(run);
            output::line(format_args!("report: {}", report.display()))?;
        }
        Form::Json => {
            let rows =
                serde_json::to_value(result_rows(std::slice::from_ref(run))).map_err(ToolError::other)?;
            output::json(&serde_json::json!({
                "folder": folder.display().to_string(),
                "report": report.display().to_string(),
                "conclusion": words,
                "exit_code": code,
                "statements": rows,
                "faults": run.faults,
                "unhashed": run.unhashed,
                "ways_out": run.ways_out,
                "prefixes": prefixes(run),
                "runs": counts::json(run),
            }))?;
        }
    }
    Ok(ExitCode::from(code))
}

/// What became of Interests by prefix, in each repeat of each case.
fn prefixes(run: &RunData) -> Vec<serde_json::Value> {
    let of_case = |case: &CaseData| {
        let repeats = case
            .results
            .iter()
            .map(|result| serde_json::json!({ "valid": result.is_valid(), "prefixes": result.prefixes }));
        serde_json::json!({ "case": case.plan.case, "repeats": repeats.collect::<Vec<_>>() })
    };
    let is_counted = |case: &&CaseData| !case.plan.evaluation.prefixes.is_empty();
    run.cases.iter().filter(is_counted).map(of_case).collect()
}

/// A line for each verdict.
pub(super) fn lines(run: &RunData) -> Result<(), ToolError> {
    let title = one_line(&run.record.title);
    output::line(format_args!("{title} ({}, {})", run.record.backend, run.record.began))?;
    statements(run)
}

/// Each verdict, and what is not as the run left it.
fn statements(run: &RunData) -> Result<(), ToolError> {
    let in_colour = has_colour(is_terminal(&std::io::stdout()), std::env::var_os("NO_COLOR").as_deref());
    for verdict in &verdicts(run) {
        let (found, spread) = verdict.found();
        let measured = spread.map_or_else(|| found.clone(), |spread| format!("{found} {spread}"));
        let details = verdict.details.iter().map(|detail| format!(" ({detail})")).collect::<String>();
        let case = if verdict.case.is_empty() { String::new() } else { format!(" [{}]", verdict.case) };
        let why = if verdict.why.is_empty() { String::new() } else { format!(" ({})", verdict.why) };
        let text = format!(
            ": {}{case}: {} = {measured}{details}, {}{why}",
            verdict.say, verdict.measure, verdict.bound
        );
        let colour = in_colour.then(|| colour(verdict.outcome));
        output::coloured(colour, &verdict.said(), &one_line(&text))?;
    }
    for note in run.notes() {
        output::line(format_args!("  {}", one_line(&note)))?;
    }
    for case in run.cases.iter().filter(|case| !case.is_valid()) {
        let reasons: BTreeSet<String> = case.results.iter().flat_map(RepeatResult::reasons).collect();
        let reasons: Vec<String> = reasons.into_iter().collect();
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        let of = if case.plan.case.is_empty() { String::new() } else { format!(" of [{}]", case.plan.case) };
        output::line(format_args!("  {}", one_line(&format!("no valid repeat{of}{why}"))))?;
    }
    Ok(())
}

/// A text as a part of a line, whoever wrote it: files of earlier versions may have line breaks in it, and
/// what begins a line of its own could pretend to be a verdict.
pub(super) fn one_line(text: &str) -> String {
    output::printable(&text.split(['\r', '\n', '\t']).collect::<Vec<_>>().join(" "))
}

/// What can be done about what is not as the run left it.
pub(super) fn ways_out(run: &RunData) {
    for way_out in &run.ways_out {
        tell!("cairn: {}", one_line(way_out));
    }
}

/// Colours are for terminals, and for those who have not said no to them (<https://no-color.org>): any value
/// of `NO_COLOR` but an empty one says it.
fn has_colour(is_terminal: bool, no_colour: Option<&std::ffi::OsStr>) -> bool {
    is_terminal && no_colour.is_none_or(std::ffi::OsStr::is_empty)
}

/// The colour of a verdict. The words say the same without it.
fn colour(outcome: Outcome) -> Colour {
    match outcome {
        Outcome::Confirmed => Colour::Green,
        Outcome::Contradicted => Colour::Red,
        Outcome::ByConstruction => Colour::Cyan,
        Outcome::NotTestable => Colour::Yellow,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_text_of_a_file_begins_no_line_and_commands_no_terminal() {
        assert_eq!(one_line("S\n  confirmed: all\u{1b}[2J"), "S   confirmed: all\u{fffd}[2J");
    }

    #[test]
    fn colours_are_for_terminals_of_those_who_want_them() {
        assert!(has_colour(true, None) && has_colour(true, Some(OsStr::new(""))));
        assert!(!has_colour(true, Some(OsStr::new("1"))) && !has_colour(false, None));
    }
}
