//! What carries a plan out: real forwarders in kernel namespaces or on hosts of their own, or virtual time.

pub mod hosts;
pub mod interface;
pub mod machine;
pub mod netns;
pub mod sim;

use std::path::Path;

use self::hosts::Inventory;
use crate::experiment::Plan;
pub use crate::experiment::backends::VIRTUAL_TIME;
use crate::experiment::backends::{HOSTS, NETNS};
use crate::order::{Event, Order};
use crate::run::RunError;

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// A file or the guard.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Virtual time.
    #[error(transparent)]
    Simulation(#[from] Box<sim::SimulationError>),
    /// What is said of the hosts.
    #[error(transparent)]
    Inventory(#[from] hosts::InventoryError),
    /// A host did not do its part.
    #[error("host of `{node}`: {why} (ssh's own words are in {})", .log.display())]
    Host {
        /// Its node.
        node: String,
        /// What went wrong there, also in its own words.
        why: String,
        /// What ssh has printed.
        log: std::path::PathBuf,
    },
    /// The process that keeps the namespaces has said, in words of its own, why it gave up.
    #[error("{0}")]
    Guard(String),
    /// It ended without a word.
    #[error("the run ended with {0}; what went wrong stands on the screen above")]
    GuardEnded(std::process::ExitStatus),
}

/// What carries an order out: all that the rest of the lab knows of it.
pub trait Backend: Sync {
    /// Its name, as in `--on` and in `on.NAME` of an experiment.
    fn name(&self) -> &'static str;

    /// How many repeats it can carry out beside each other without one disturbing the other; in virtual time
    /// they share as many cores.
    fn at_once(&self) -> usize {
        1
    }

    /// Is there all that it needs for a plan?
    ///
    /// # Errors
    ///
    /// What is missing.
    fn check(&self, _: &Plan) -> Result<(), RunError> {
        Ok(())
    }

    /// Carries an order out, and leaves what was measured in the folder `raw`.
    ///
    /// # Errors
    ///
    /// Why nothing could be measured.
    fn carry_out(
        &self,
        order: &Order,
        raw: &Path,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<(), BackendError>;
}

/// Namespaces of this machine.
struct Namespaces;

impl Backend for Namespaces {
    fn name(&self) -> &'static str {
        NETNS
    }

    fn carry_out(
        &self,
        order: &Order,
        raw: &Path,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<(), BackendError> {
        netns::conduct::conduct(order, raw, observe).map(drop)
    }
}

/// Machines of their own.
struct Hosts<'a>(&'a Inventory);

impl Backend for Hosts<'_> {
    fn name(&self) -> &'static str {
        HOSTS
    }

    fn check(&self, plan: &Plan) -> Result<(), RunError> {
        Ok(self.0.check(plan)?)
    }

    fn carry_out(
        &self,
        order: &Order,
        raw: &Path,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<(), BackendError> {
        hosts::conduct(order, self.0, raw, observe).map(drop)
    }
}

/// Virtual time, on so many cores.
struct VirtualTime(usize);

impl Backend for VirtualTime {
    fn name(&self) -> &'static str {
        VIRTUAL_TIME
    }

    fn at_once(&self) -> usize {
        self.0
    }

    fn carry_out(
        &self,
        order: &Order,
        raw: &Path,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<(), BackendError> {
        Ok(sim::simulate(order, raw, observe).map(drop).map_err(Box::new)?)
    }
}

/// The backend of that name. `hosts` are the machines, for the one that needs them; `workers` is how many
/// repeats go on beside each other where they can, and without it as many as the machine has cores.
///
/// # Errors
///
/// When there is none of that name, or the machines are missing.
pub fn backend<'a>(
    name: &str,
    hosts: Option<&'a Inventory>,
    workers: Option<usize>,
) -> Result<Box<dyn Backend + 'a>, RunError> {
    match name {
        NETNS => Ok(Box::new(Namespaces)),
        HOSTS => Ok(Box::new(Hosts(hosts.ok_or(RunError::NoHosts)?))),
        VIRTUAL_TIME => {
            let cores = || std::thread::available_parallelism().map_or(1, usize::from);
            Ok(Box::new(VirtualTime(workers.unwrap_or_else(cores).max(1))))
        }
        other => Err(RunError::Backend(other.to_owned())),
    }
}
