//! Experiment files: TOML that says what to run.

use flow::SpecError;
use serde::Deserialize;
use thiserror::Error;

use crate::study::report::Report;
use crate::study::{clock, persistent_cache};

/// Why an experiment could not be run.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The file is not what it should be.
    #[error("{0}")]
    Format(String),
    /// A controller that cannot be had.
    #[error("consumer.controller: {0}")]
    Controller(SpecError),
    /// The simulator refused.
    #[error(transparent)]
    Simulation(#[from] sim::SimError),
}

impl ExperimentError {
    pub(crate) fn controller(error: SpecError) -> Self {
        ExperimentError::Controller(error)
    }
}

/// How to run: the results are the same however.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Runs at a time; as many as there are cores if nothing is said.
    pub workers: Option<usize>,
    /// Hears how many runs are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What every experiment file begins with.
#[derive(Debug, Deserialize)]
struct Header {
    kind: String,
}

/// The kinds of experiments that [`run`] knows.
pub const KINDS: [&str; 4] = ["clock-linear", "clock-dumbbell", "clock-beyond", "persistent-cache"];

/// Runs the experiment in `text`.
///
/// # Errors
/// A file with a mistake, which the error names with its line; a network that cannot be built.
pub fn run(text: &str, runner: &Runner<'_>) -> Result<Report, ExperimentError> {
    let header: Header = parse(text)?;
    match header.kind.as_str() {
        "clock-linear" => clock::linear(text, runner),
        "clock-dumbbell" => clock::dumbbell(text, runner),
        "clock-beyond" => clock::beyond(text, runner),
        "persistent-cache" => persistent_cache::run(text, runner),
        other => Err(ExperimentError::Format(format!(
            "kind = {other:?}: there is no such experiment; there are {}",
            KINDS.join(", ")
        ))),
    }
}

/// Reads a file, or a part of one.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ExperimentError> {
    toml::from_str(text).map_err(|error| ExperimentError::Format(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        let error =
            |text| run(text, &Runner { workers: None, progress: &|_, _| {} }).unwrap_err().to_string();
        assert!(error("kind = \"weather\"").contains("there is no such experiment"));
        assert!(error("title = 1").contains("kind"));
        let unknown = error("kind = \"clock-linear\"\ntitle = \"x\"\nlenght-s = 3");
        assert!(unknown.contains("line 3") && unknown.contains("lenght-s"), "{unknown}");
    }
}
