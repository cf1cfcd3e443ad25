//! Threads of the node that the data plane hands Data to, and Interests, and never waits for.

use crate::plane::packets::samples::SamplesEnd;
use crate::plane::second_store::RepositoryEnd;

/// The ways to them. Each is boxed, for most nodes have none.
#[derive(Default)]
pub(in crate::plane) struct Services {
    /// Behind the content store, if there are any.
    pub(in crate::plane) repository: Option<Box<RepositoryEnd>>,
    /// Where a sample of what is kept goes to be verified.
    pub(in crate::plane) verification: Option<Box<SamplesEnd>>,
}
