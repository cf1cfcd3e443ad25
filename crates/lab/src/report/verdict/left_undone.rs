//! Work that a run was allowed to leave: numbers of what was finished are those of the lucky ones.

use super::super::data::CaseData;
use crate::experiment::measure::Measure;

/// Numbers that count what was left, or what was begun.
const COUNT_IT: [&str; 4] = ["started", "finished", "unfinished", "loss"];

/// How much of the work that a number is of was not finished in valid repeats, in words; nothing where all
/// was, or where the number says it itself.
pub(super) fn beside(case: &CaseData, measure: &Measure) -> Option<String> {
    if COUNT_IT.contains(&measure.quantity.as_str()) {
        return None;
    }
    let sum =
        |quantity: &str| case.values(&format!("{}.{quantity}", measure.subject), "sum").iter().sum::<f64>();
    let (finished, left) = (sum("finished"), sum("unfinished"));
    let all = finished + left;
    (left > 0.0).then(|| format!("of what was finished: {left:.0} of {all:.0} were not"))
}
