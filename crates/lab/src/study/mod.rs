//! Studies that reproduce a paper and go on from there.

pub mod clock;
mod persistent_cache;
pub mod report;
mod runner;

pub(crate) use runner::parse;
pub use runner::{ExperimentError, KINDS, Runner, run};
