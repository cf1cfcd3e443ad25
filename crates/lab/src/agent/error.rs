//! What of an agent's job makes no sense.

use std::io;

use flow::SpecError;
use packet::name::UriError;

pub use crate::keys::IdentityKeyError;

/// Why a job cannot be begun. The experiment's check finds such mistakes first; a job may be written by hand.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A prefix that is no name.
    #[error("{uri}: {source}")]
    Name {
        /// What was given.
        uri: String,
        /// What is wrong with it.
        source: UriError,
    },
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] IdentityKeyError),
    /// A controller, or a workload of `flow`.
    #[error("{spec}: {source}")]
    Spec {
        /// What was given.
        spec: String,
        /// What is wrong with it.
        source: SpecError,
    },
    /// The file in which a workload writes down what happens.
    #[error("{file}: {source}")]
    Log {
        /// Its name.
        file: String,
        /// What failed.
        source: io::Error,
    },
    /// A workload asks for content that the job does not list.
    #[error("{workload}: there is no content {content}")]
    NoContent {
        /// The workload.
        workload: String,
        /// Its content's place in the plan.
        content: usize,
    },
    /// A workload that is not for an agent.
    #[error("{0} is no client")]
    NotForAgents(String),
}

/// The name that a text means.
pub(super) fn name(uri: &str) -> Result<packet::Name, JobError> {
    uri.parse().map_err(|source| JobError::Name { uri: uri.to_owned(), source })
}

/// What a text asks for of a registry of `flow`.
pub(super) fn spec<T: std::str::FromStr<Err = SpecError>>(text: &str) -> Result<T, JobError> {
    text.parse().map_err(|source| JobError::Spec { spec: text.to_owned(), source })
}
