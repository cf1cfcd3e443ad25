//! The same experiment in virtual time: the engines of real nodes, the very workloads of the agents, a
//! simulated network between them. Writes the files that a run on real forwarders writes, so that everything
//! after the measurement is the same.

mod application;
mod consumers;
mod counted;
mod error;
mod events;
mod keys;
mod network;
mod processor;
mod record;
mod registrar;
mod run;
mod trace;

pub use error::{ApplicationError, SimulationError};
pub(crate) use processor::least_part_of_a_core;
pub use run::simulate;
