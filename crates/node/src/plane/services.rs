//! Threads of the node that the data plane hands Data to, and Interests, and never waits for.

use super::repository::RepositoryEnd;
use super::samples::SamplesEnd;

/// The ways to them. Each is boxed, for most nodes have none.
#[derive(Default)]
pub(super) struct Services {
    /// Behind the content store, if there are any.
    pub(super) repository: Option<Box<RepositoryEnd>>,
    /// Where a sample of what is kept goes to be verified.
    pub(super) verification: Option<Box<SamplesEnd>>,
}
