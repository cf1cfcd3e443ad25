//! Experiment files: check one, write one, print the reference.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::experiment::{Experiment, reference, template};

use super::Outcome;
use crate::tool::{ToolError, files, output};

/// Reads and checks an experiment, which is no longer than a file that people write.
pub(super) fn read(path: &Path) -> Result<Experiment, String> {
    let shown = path.display().to_string();
    let name = path.file_stem().map_or_else(|| "experiment".to_owned(), |stem| stem.to_string_lossy().into());
    let text = files::read_text(path).map_err(|error| {
        format!("{shown}: cannot be read: {error}\n    `cairn lab new FILE` writes one to begin with")
    })?;
    Experiment::parse(&name, &shown, &text).map_err(|problems| problems.to_string())
}

/// Says of each file whether it is sound.
pub(super) fn check(files: &[PathBuf]) -> Outcome {
    let mut code = ExitCode::SUCCESS;
    for path in files {
        match read(path) {
            Ok(experiment) => {
                let cases = experiment.plans("netns").map_or(0, |plans| plans.len());
                let file = &experiment.file;
                let repeats = file.repeats.unwrap_or(1);
                output::line(format_args!(
                    "{}: sound: {} nodes, {} links, {cases} case{}, {repeats} repeat{}, {} each",
                    path.display(),
                    file.node.len(),
                    file.link.len(),
                    if cases == 1 { "" } else { "s" },
                    if repeats == 1 { "" } else { "s" },
                    file.duration,
                ))?;
            }
            Err(problems) => {
                tell!("{problems}");
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// Writes a file to begin with, and never over one that is there.
pub(super) fn new(path: &Path, title: &str) -> Outcome {
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
    output::line(format_args!("{}: written. Run it with: cairn lab run {}", path.display(), path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the reference.
pub(super) fn print_reference() -> Outcome {
    output::bytes(reference().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
