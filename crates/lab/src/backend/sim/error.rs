//! Why a simulation gave no result.

use std::io;
use std::num::TryFromIntError;

use flow::{PublishError, SpecError};
use packet::random::ZipfError;
use packet::registry::UnknownWord;
use sim::SimError;

use crate::agent::JobError;
use crate::keys::IdentityKeyError;

/// Why a simulation gave no result.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The network.
    #[error("the network cannot be simulated: {0}")]
    Network(#[from] SimError),
    /// A strategy that does not exist.
    #[error(transparent)]
    Strategy(#[from] engine::StrategyError),
    /// An eviction policy, a placement of copies or a method of rate control that does not exist.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// A producer, a consumer, or what takes registrations.
    #[error("a workload cannot be simulated: {name}: {source}")]
    Workload {
        /// What the experiment calls it, or its node.
        name: String,
        /// What is wrong with it.
        source: ApplicationError,
    },
    /// What an agent would do.
    #[error("a workload cannot be simulated: {0}")]
    Job(#[from] JobError),
    /// A file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Somebody asked for the end.
    #[error("it was asked to end before it was done")]
    Stopped,
}

/// Why an application cannot be put into the network.
#[derive(Debug, thiserror::Error)]
pub enum ApplicationError {
    /// Its name or packets, or the node.
    #[error(transparent)]
    Network(#[from] SimError),
    /// Its controller or workload.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// It asks by popularity, and nothing says of what.
    #[error("it has no catalogue")]
    NoCatalogue,
    /// The popularity of what it asks for.
    #[error(transparent)]
    Popularity(#[from] ZipfError),
    /// The file that it publishes.
    #[error(transparent)]
    Publication(#[from] PublishError),
    /// A key.
    #[error(transparent)]
    Key(#[from] IdentityKeyError),
    /// What it fetches.
    #[error(transparent)]
    Fetch(#[from] JobError),
    /// What a key may be used for.
    #[error(transparent)]
    Privilege(#[from] UnknownWord),
    /// A size that this machine cannot count to.
    #[error(transparent)]
    Size(#[from] TryFromIntError),
}

impl ApplicationError {
    /// This, of what has that name.
    pub(super) fn of(name: &str) -> impl Fn(ApplicationError) -> SimulationError {
        let name = name.to_owned();
        move |source| SimulationError::Workload { name: name.clone(), source }
    }
}
