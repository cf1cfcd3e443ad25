//! Real forwarders on machines of their own, over SSH: the testbed report's way.
//!
//! The lab starts the system's `ssh`, one connection for each host, and over it a [`remote`] that starts,
//! samples and stops the one forwarder of its machine. Why `ssh` and not a library: it is what the machines'
//! owners have configured, with their keys, agents, jump hosts and known hosts, and it is trusted already; a
//! library would add a second implementation of all that, and many dependencies. The remote ends with its
//! connection, and everything it started ends with the remote.

mod clock;
mod conduct;
mod inventory;
mod protocol;
pub mod remote;
mod ssh;

pub use clock::ClockOffset;
pub use conduct::conduct;
pub use inventory::{Inventory, InventoryError};
pub(crate) use ssh::quoted;
