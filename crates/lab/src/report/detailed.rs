//! Which cases are shown in detail.

use super::data::{CaseData, RunData};

/// Of more cases than these nobody reads the details of each.
pub(super) const MAX_DETAILED: usize = 16;
/// Of so many of them details are shown all the same.
const SHOWN: usize = 4;

/// The cases whose details are shown: all of a few; of many those that are not valid come first.
pub(super) fn detailed(run: &RunData) -> Vec<usize> {
    let all = 0..run.cases.len();
    if run.cases.len() <= MAX_DETAILED {
        return all.collect();
    }
    let is_valid = |number: &usize| run.cases.get(*number).is_some_and(CaseData::is_valid);
    let (valid, invalid): (Vec<usize>, Vec<usize>) = all.partition(is_valid);
    let mut shown: Vec<usize> = invalid.into_iter().chain(valid).take(SHOWN).collect();
    shown.sort_unstable();
    shown
}
