//! A node's faces over real sockets: packets come through, faces come and go, and neighbours that die are
//! found again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops where something is not as it must be"
)]

mod inner;
mod interfaces;
mod lifecycle;
mod links;
mod parity;
mod starting;
mod stock_socket;
mod support;
mod taps;
mod transports;
