//! A run of an experiment: every case, every repeat, step by step, into a folder that holds everything.

mod archive;
mod attempt_plan;
mod build;
mod create;
mod derive_anew;
mod error;
mod execute;
mod experiment_hashes;
pub mod folder;
pub(crate) mod machine;
mod merge;
mod options;
mod plan_error;
pub mod progress;
pub(crate) mod records;
mod shard;
pub mod slurm;
mod study;

pub use crate::order::Stop;
pub use archive::compress;
pub(crate) use archive::{open as open_archived, open_table};
pub use build::{Build, Program};
pub use derive_anew::{derive_anew, derive_anew_with_progress};
pub use error::RunError;
pub(crate) use execute::record_of;
pub use execute::{execute, resume, resume_until};
pub use experiment_hashes::{changed_since, is_of_plan, named};
pub use folder::{RunFolder, RunRecord};
pub use machine::Machine;
pub use merge::merge;
pub use options::Options;
pub use plan_error::{PlanError, UnfitForStudy};
pub use shard::{Shard, ShardError};
pub use study::execute_study;
