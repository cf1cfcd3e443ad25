//! Which part of a figure a case belongs to.

use super::data::{CaseData, RunData};

/// A case's name in two parts: the named variant, and the values of sweeps within it.
pub(super) fn facet(run: &RunData, case: &CaseData) -> (String, String) {
    let name = &case.plan.case;
    if run.experiment.file.sweep.is_empty() {
        return (String::new(), name.clone());
    }
    let variants = run.experiment.file.case.iter().map(|variant| variant.name.as_str());
    let found = variants.filter(|variant| name.starts_with(variant)).max_by_key(|variant| variant.len());
    match found {
        Some(variant) => {
            let rest = name.get(variant.len()..).unwrap_or_default().trim_start_matches(", ");
            (variant.to_owned(), rest.to_owned())
        }
        None => (String::new(), name.clone()),
    }
}
