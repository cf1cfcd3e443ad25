//! Studies that reproduce a paper and go on from there.

mod cache_placement;
mod clock;
mod conclusion;
mod persistent_cache;
pub mod report;
mod runner;
mod statement;

pub use conclusion::conclusion;
pub(crate) use runner::check;
pub use runner::{Runner, StudyError, run};

use crate::experiment::Findings;

/// One number over all results of a study, for [`report::Report::hash`].
fn hash_of(numbers: impl IntoIterator<Item = u64>) -> String {
    let mix = |sum: u64, number: u64| (sum.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:016x}", numbers.into_iter().fold(0, mix))
}
