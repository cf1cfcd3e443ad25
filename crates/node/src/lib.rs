//! The daemon: transports and faces on real sockets, event loop, management, configuration.

pub mod capture;
mod clock;
mod codec;
pub mod config;
pub mod control;
mod drop_reason;
mod face;
pub mod load;
pub mod management;
mod metrics;
mod node;
mod plane;
mod start;
mod sys;
mod transport;

pub use drop_reason::{DropCounters, DropReason};
pub use node::{Node, RemoteControl, StartError};
pub use start::default_unix_paths;
