//! NDNLP v1 beside a forwarder of CCNx, in the way of ndnld (NDN-0006): each link is a face of the forwarder,
//! that of a connection of its own, and what the forwarder sends there goes to the neighbour in packets of
//! NDNLP.
//!
//! ```text
//! forwarder ──(a connection for each link)── adaptor ──(UDP, or frames of Ethernet)── neighbour
//!     └──────(a connection for control)─────────┘
//! ```
//!
//! One thread does what packets demand ([`worker`]); another answers the control protocol ([`control`]) and
//! hands it tasks.

pub(crate) mod control;
mod forwarder_face;
mod link;
mod links;
mod sockets;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

pub(crate) use links::Links;
pub(crate) use sockets::{Neighbour, Sockets};
