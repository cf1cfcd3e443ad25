//! Experiment files: TOML that says what to run.

use flow::ControllerError;
use serde::Deserialize;
use thiserror::Error;

use crate::report::Report;
use crate::study::clock;

/// Why an experiment could not be run.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The file is not what it should be.
    #[error("{0}")]
    Format(String),
    /// A controller that cannot be had.
    #[error("consumer.controller: {0}")]
    Controller(ControllerError),
    /// The simulator refused.
    #[error(transparent)]
    Simulation(#[from] sim::SimError),
}

impl ExperimentError {
    pub(crate) fn controller(error: ControllerError) -> Self {
        ExperimentError::Controller(error)
    }
}

/// What every experiment file begins with.
#[derive(Debug, Deserialize)]
struct Header {
    study: String,
}

/// Runs the experiment in `text` on all cores. `progress` hears how many runs are done, of how many.
///
/// # Errors
/// A file with a mistake, which the error names with its line; a network that cannot be built.
pub fn run(text: &str, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Report, ExperimentError> {
    let header: Header = parse(text)?;
    match header.study.as_str() {
        "clock-linear" => clock::linear(text, progress),
        "clock-dumbbell" => clock::dumbbell(text, progress),
        "clock-beyond" => clock::beyond(text, progress),
        other => Err(ExperimentError::Format(format!(
            "study = {other:?}: there is no such study; there are clock-linear, clock-dumbbell and clock-beyond"
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
        let error = |text| run(text, &|_, _| {}).unwrap_err().to_string();
        assert!(error("study = \"weather\"").contains("there is no such study"));
        assert!(error("title = 1").contains("study"));
        let unknown = error("study = \"clock-linear\"\ntitle = \"x\"\nlenght-s = 3");
        assert!(unknown.contains("line 3") && unknown.contains("lenght-s"), "{unknown}");
    }
}
