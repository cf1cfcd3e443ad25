//! An experiment that is run over one more key, which was said beside its file.

use std::path::Path;

use super::Experiment;
use crate::experiment::cases::swept::{SweepValue, with_sweep};
use crate::experiment::problem::Problems;

/// What was said beside a file to run it over many values of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SweepBeside {
    /// The file.
    pub(crate) file: String,
    /// The key.
    pub(crate) key: String,
    /// Its values, as they were written.
    pub(crate) values: Vec<String>,
}

impl Experiment {
    /// Checks the text of a file with one more sweep behind all that it says. The values are as somebody
    /// writes them.
    ///
    /// # Errors
    ///
    /// Every mistake that was found, with line and suggestion.
    pub fn swept(path: &Path, text: &str, key: &str, values: &[String]) -> Result<Self, Problems> {
        let values: Vec<String> = values.iter().map(|value| value.trim().to_owned()).collect();
        let written: Vec<SweepValue> = values.iter().map(|value| SweepValue::written(value)).collect();
        let (file, name) = (path.display().to_string(), path.file_stem().unwrap_or_default());
        let shown = format!("{file} with --key and --values");
        let text = with_sweep(text, key, &written);
        let read = Experiment::parse_in(path.parent(), &name.to_string_lossy(), &shown, &text)?;
        Ok(Experiment { swept: Some(SweepBeside { file, key: key.to_owned(), values }), ..read })
    }

    /// The sweep that was said beside its file.
    pub(crate) fn sweep_beside(&self) -> Option<&SweepBeside> {
        self.swept.as_ref()
    }
}
