//! Workloads that are named in one line of text.

use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;

/// A workload by its name and parameters, which `key` holds.
pub(super) fn named_workload(key: &str, text: &str, f: &mut Findings) -> Option<String> {
    match text.parse::<flow::WorkloadSpec>() {
        Ok(spec) => Some(spec.to_string()),
        Err(flow::SpecError::Unknown(flow::UnknownWord { word, known, .. })) => {
            f.add(key, format!("`{word}` is not known here"), Some(suggest(&word, &known)));
            None
        }
        Err(error) => {
            f.add(key, error.to_string(), None);
            None
        }
    }
}
