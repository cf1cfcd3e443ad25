//! Why a cluster does not take a sweep.

use std::io;
use std::path::PathBuf;

/// Why a cluster does not take a sweep, or says nothing of it.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// A command of Slurm is missing.
    #[error("{0} is not in PATH: run this where jobs are submitted, or name its folder in CAIRN_SLURM")]
    NoCommand(&'static str),
    /// It is there and cannot be started.
    #[error("{}: {source}", .program.display())]
    NotStarted {
        /// Its file.
        program: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// It ran, and refused.
    #[error("{command}: {said}")]
    Failed {
        /// Which.
        command: String,
        /// What it complained of.
        said: String,
    },
    /// `sbatch` went well without naming a job.
    #[error("sbatch has said no job: {0}")]
    NoJob(String),
    /// A folder by whose name Slurm would print elsewhere.
    #[error("{}: Slurm cannot print into a folder of this name", .0.display())]
    Folder(PathBuf),
    /// A path that cannot stand in a script.
    #[error("{} is not UTF-8, which Slurm needs", .0.display())]
    NotText(PathBuf),
    /// A word for `sbatch` that is no option.
    #[error("`{0}` is no option of sbatch; write it like --partition=long")]
    NoOption(String),
    /// An option that is taken.
    #[error("{0} cannot be given to sbatch: the sweep sets it itself")]
    OwnOption(String),
}

impl SlurmError {
    /// True if the cluster knows nothing of the job that it was asked about, as of all some time after their
    /// end. Slurm has no other sign of it than these words.
    pub(super) fn is_of_forgotten_job(&self) -> bool {
        matches!(self, SlurmError::Failed { said, .. } if said.contains("Invalid job id"))
    }
}
