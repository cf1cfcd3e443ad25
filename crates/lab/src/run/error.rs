//! Why a run ended before its report.

use std::io;
use std::path::PathBuf;

use super::plan_error::PlanError;
use crate::analysis::DeriveError;
use crate::backend::BackendError;
use crate::backend::hosts::InventoryError;
use crate::driver::DriverError;
use crate::experiment::{Finding, Problems, backends};
use crate::run::slurm::error::SlurmError;
use crate::study::StudyError;

/// Why a run ended before its report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The experiment cannot be read any more.
    #[error("{0}")]
    Experiment(#[from] Problems),
    /// Nothing would run.
    #[error("no case is called `{0}`; there are: {1}")]
    NoCase(String, String),
    /// A file.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What failed.
        source: io::Error,
    },
    /// The software under test.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A repeat.
    #[error("{what}: {source}\nThe run is in {folder}; go on with: cairn lab resume {folder}")]
    Repeat {
        /// Which.
        what: String,
        /// Why.
        source: BackendError,
        /// The run's folder.
        folder: String,
    },
    /// Somebody asked for the end.
    #[error("it was asked to end before it was done; go on with: cairn lab resume {folder}")]
    Stopped {
        /// The run's folder.
        folder: String,
    },
    /// Nothing can be run as it was asked for.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// What was measured cannot be read.
    #[error(transparent)]
    Derive(#[from] DeriveError),
    /// What was measured is not as it was written.
    #[error(
        "{}: it was changed after it was written, and what is derived anew would hide that; put it back, or take it \
         away and measure the repeat again with: cairn lab resume {folder}", .what.display()
    )]
    Altered {
        /// The numbers of a repeat, or a raw file that they were derived from.
        what: PathBuf,
        /// The run's folder.
        folder: String,
    },
    /// A repeat of another run.
    #[error(
        "{}: it is a repeat of another experiment or of another seed, and what is derived anew would hide that; \
         take it away and measure the repeat again with: cairn lab resume {folder}", .what.display()
    )]
    Foreign {
        /// The numbers of the repeat.
        what: PathBuf,
        /// The run's folder.
        folder: String,
    },
    /// A repeat in the place of another one.
    #[error(
        "{}: it is {is}, and what is derived anew would hide that; put it back, or take it away and measure the \
         repeat again with: cairn lab resume {folder}", .what.display()
    )]
    Displaced {
        /// The numbers of the repeat.
        what: PathBuf,
        /// Which repeat of which case it says it is.
        is: String,
        /// The run's folder.
        folder: String,
    },
    /// Something that was measured is gone.
    #[error(
        "{}: it is missing, and what is derived without it would be other numbers; put it back, or take the repeat \
         away and measure it again with: cairn lab resume {folder}", .what.display()
    )]
    Missing {
        /// The raw file.
        what: PathBuf,
        /// The run's folder.
        folder: String,
    },
    /// The numbers of a repeat.
    #[error(
        "{source}; measure the repeat again, which keeps this one aside, with: cairn lab resume {folder}"
    )]
    Unreadable {
        /// Which, and what is wrong with it.
        source: io::Error,
        /// The run's folder.
        folder: String,
    },
    /// The backend does not exist.
    #[error("there is no backend called `{0}`; known are {known}", known = backends::ALL.join(", "))]
    Backend(String),
    /// The machines.
    #[error(transparent)]
    Hosts(#[from] InventoryError),
    /// Nothing was begun.
    #[error("{folder}: {why}")]
    NotBegun {
        /// The folder.
        folder: String,
        /// Why there is nothing to go on with, and what to do.
        why: String,
    },
    /// The cluster that Slurm manages.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// A study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The backend `hosts` without hosts.
    #[error("the backend hosts needs a file that names the machines: --hosts FILE")]
    NoHosts,
}

/// What was tried, to what failed.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RunError {
    let what = what.into();
    move |source| RunError::Io { what, source }
}

impl From<Vec<Finding>> for RunError {
    fn from(findings: Vec<Finding>) -> Self {
        RunError::Plan(PlanError::Findings(findings))
    }
}
