//! Random networks that must heal.
//!
//! A seed draws a topology, links and their faults, tables, strategies, clocks and processors of nodes, what
//! they speak, and who asks for what. While they ask, links fail and change, and nodes restart. Then
//! everything heals: the network must come to rest, then give everybody everything they ever asked for, and
//! come to rest again.
//! What is checked, all the time and from outside the code under test:
//!
//! - nobody gets Data that was not asked for, or more often than it was asked for;
//! - all Data is, byte for byte, what its producer makes, unless links flip bits and nothing checks that;
//! - what engines were given equals what they sent on, dropped for a reason, or still have;
//! - tables stay within their limits;
//! - at rest no Interest is pending and no packet is under way.
//!
//! ```
//! let report = cairn_sim::swarm::run(3)?;
//! assert!(report.fetched > 0 && report.hash == cairn_sim::swarm::run(3)?.hash);
//! # Ok::<(), cairn_sim::swarm::SwarmFailure>(())
//! ```

mod draw;
mod life;

use thiserror::Error;

use crate::error::SimError;
use crate::network::checks::InvariantViolation;

/// What became of a network that healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwarmReport {
    /// Its nodes.
    pub nodes: usize,
    /// Its links.
    pub links: usize,
    /// Names fetched after it had healed: all that anybody ever asked for.
    pub fetched: u64,
    /// Packets and frames that crossed a link.
    pub hops: u64,
    /// Over everything that happened.
    pub hash: u64,
}

/// What kind of promise was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariant {
    /// Something happened that must never happen.
    Safety,
    /// Something did not happen that must happen in the end.
    Liveness,
    /// The network could not even be built.
    Building,
}

/// A network that broke a promise.
#[derive(Debug, Error)]
#[error("{problem}; `cairn sim swarm --seed {seed}` repeats it")]
pub struct SwarmFailure {
    /// The seed that draws this network.
    pub seed: u64,
    /// What kind of promise.
    pub promise: Invariant,
    /// What was found, where and when.
    pub problem: String,
}

/// What went wrong, before it is known with which seed.
#[derive(Debug)]
struct Broken {
    promise: Invariant,
    problem: String,
}

impl From<SimError> for Broken {
    fn from(error: SimError) -> Self {
        let promise = match error {
            SimError::TimeStandsStill(_) => Invariant::Liveness,
            _ => Invariant::Building,
        };
        Broken { promise, problem: error.to_string() }
    }
}

impl From<InvariantViolation> for Broken {
    fn from(contradiction: InvariantViolation) -> Self {
        unsafe_because(contradiction.to_string())
    }
}

fn unsafe_because(problem: String) -> Broken {
    Broken { promise: Invariant::Safety, problem }
}

fn stuck_because(problem: String) -> Broken {
    Broken { promise: Invariant::Liveness, problem }
}

/// Lives the life of the network of one seed.
///
/// # Errors
/// The first promise that it broke.
pub fn run(seed: u64) -> Result<SwarmReport, SwarmFailure> {
    let failed = |Broken { promise, problem }| SwarmFailure { seed, promise, problem };
    draw::World::draw(seed).and_then(|mut world| life::live(&mut world)).map_err(failed)
}

/// A life on several cores.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct SharedRun {
    /// What [`run`] says of it.
    pub(crate) result: Result<SwarmReport, SwarmFailure>,
    /// Events that happened while several cores worked.
    pub(crate) events_on_several_cores: u64,
}

/// The same as [`run`] on these cores.
#[cfg(test)]
pub(crate) fn run_on(seed: u64, cores: crate::network::cores::Cores<crate::network::Network>) -> SharedRun {
    let failed = |Broken { promise, problem }| SwarmFailure { seed, promise, problem };
    match draw::World::draw(seed) {
        Ok(mut world) => {
            world.network.cores = cores;
            let result = life::live(&mut world).map_err(failed);
            SharedRun { result, events_on_several_cores: world.network.events_on_several_cores() }
        }
        Err(broken) => SharedRun { result: Err(failed(broken)), events_on_several_cores: 0 },
    }
}
