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
