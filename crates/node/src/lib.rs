//! The daemon: transports and faces on real sockets, event loop, management, configuration.

pub mod control;
pub mod management;
