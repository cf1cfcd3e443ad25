//! A node as clients and neighbours of CCNx see it, over real sockets: scripted peers that send what the C
//! library and the tools of CCNx 0.8.2 send, and hold the answers against what ccnd gives.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod captures;
mod control;
mod exchanges;
mod faces;
mod forwarding;
mod hostile;
mod ip;
mod links;
mod peer;
mod registration;
mod status;
