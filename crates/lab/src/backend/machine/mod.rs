//! What every backend with real forwarders does on a machine: control groups with shares, competing loads,
//! processors that are kept awake, agents, samples of a forwarder, and what the machine below takes away.

pub mod cgroup;
pub(crate) mod clients;
pub mod idle_inhibitor;
pub mod load;
pub mod processes;
mod questions;
pub(crate) mod sampler;
pub(crate) mod steal;
