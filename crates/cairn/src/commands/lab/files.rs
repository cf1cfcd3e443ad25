//! Experiment files: check one, write one, print the reference.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::experiment::{Experiment, Problem, Problems, reference, reference_json, template};
use serde_json::json;

use super::Outcome;
use super::verdicts::Form;
use crate::tool::{ToolError, files, output};

/// Reads and checks an experiment, which is no longer than a file that people write.
pub(super) fn read(path: &Path) -> Result<Experiment, Problems> {
    let shown = path.display().to_string();
    let name = path.file_stem().map_or_else(|| "experiment".to_owned(), |stem| stem.to_string_lossy().into());
    match files::read_text(path) {
        Ok(text) => Experiment::parse_in(path.parent(), &name, &shown, &text),
        Err(error) => Err(Problems::unreadable(shown, &error)),
    }
}

/// Says of each file whether it is sound.
pub(super) fn check(files: &[PathBuf], form: Form) -> Outcome {
    let mut code = ExitCode::SUCCESS;
    let mut list = Vec::new();
    for path in files {
        let checked = read(path);
        if checked.is_err() {
            code = ExitCode::FAILURE;
        }
        match (checked, form) {
            (Ok(experiment), Form::Lines) => {
                output::line(sound(path, &experiment))?;
                let notes = experiment.notes();
                if !notes.list.is_empty() {
                    output::line(notes.to_string())?;
                }
            }
            (Ok(experiment), Form::Json) => list.push(json!({
                "file": path.display().to_string(),
                "sound": true,
                "title": experiment.file.title,
                "cases": cases(&experiment),
                "problems": [],
                "notes": experiment.notes().list.iter().map(told).collect::<Vec<_>>(),
            })),
            (Err(problems), Form::Lines) => tell!("{problems}"),
            (Err(problems), Form::Json) => {
                let all: Vec<_> = problems.list.iter().map(told).collect();
                list.push(json!({ "file": problems.file, "sound": false, "problems": all }));
            }
        }
    }
    if form == Form::Json {
        output::json(&json!(list))?;
    }
    Ok(code)
}

/// A mistake or a note for programs; of the file as a whole it has no line.
fn told(problem: &Problem) -> serde_json::Value {
    json!({
        "line": (problem.line > 0).then_some(problem.line),
        "key": problem.key,
        "message": problem.message,
        "suggestion": problem.suggestion,
    })
}

/// How many cases an experiment has, controls included.
fn cases(experiment: &Experiment) -> usize {
    experiment.plans("netns").map_or(0, |plans| plans.len())
}

/// How many nodes and links its first case has.
fn size(experiment: &Experiment) -> (usize, usize) {
    let plans = experiment.plans("netns").unwrap_or_default();
    plans.first().map_or((0, 0), |plan| (plan.nodes.len(), plan.links.len()))
}

/// That a file is sound, and what it holds.
fn sound(path: &Path, experiment: &Experiment) -> String {
    let file = &experiment.file;
    if file.study.is_some() {
        return format!("{}: sound: a study; only in virtual time", path.display());
    }
    let (cases, repeats) = (cases(experiment), file.repeats.unwrap_or(1));
    let only = if experiment.can_run_on("netns").is_err() { "; only in virtual time" } else { "" };
    let (nodes, links) = size(experiment);
    format!(
        "{}: sound: {nodes} nodes, {links} links, {cases} case{}, {repeats} repeat{}, {} each{only}",
        path.display(),
        if cases == 1 { "" } else { "s" },
        if repeats == 1 { "" } else { "s" },
        file.duration,
    )
}

/// Writes a file to begin with, and never over one that is there.
pub(super) fn new(path: &Path, title: &str, form: Form) -> Outcome {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        match error.kind() {
            ErrorKind::AlreadyExists => ToolError::other(format_args!(
                "{} is there already; give a name that is not taken",
                path.display()
            )),
            _ => ToolError::file(path)(error),
        }
    })?;
    file.write_all(template(title).as_bytes()).map_err(ToolError::file(path))?;
    let shown = path.display();
    match form {
        Form::Json => output::json(&json!({ "file": shown.to_string(), "title": title }))?,
        Form::Lines => output::line(format_args!("{shown}: written. Run it with: cairn lab run {shown}"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the reference.
pub(super) fn print_reference(form: Form) -> Outcome {
    match form {
        Form::Json => output::json(&reference_json())?,
        Form::Lines => output::bytes(reference().as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
