//! How far virtual time is from real forwarders, as a number: what packets cost on this machine is measured
//! once, and with it virtual time predicts runs that were not used for that.

mod arithmetic;
mod calibrate;
mod in_process;
mod latency;
mod loads;
mod page;
mod validate;

pub use calibrate::{calibrate, calibrations};
pub use page::{page, text};
pub use validate::{Agreement, Row, Validation, same_plan, validate};

use crate::experiment::Problems;
use crate::report::ReportError;
use crate::run::RunError;

/// Why nothing could be said.
#[derive(Debug, thiserror::Error)]
pub enum ValidationError {
    /// The experiment cannot be read.
    #[error("{0}")]
    Experiment(#[from] Problems),
    /// It could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What it measured cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// What was measured says nothing.
    #[error("{0}")]
    Nothing(String),
}
