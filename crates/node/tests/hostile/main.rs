//! Hostile input over real sockets: whatever peers send, the node stays up, within its limits, and answers everybody else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops where something is not as it must be"
)]

mod floods;
mod noise;
#[path = "../faces/support.rs"]
#[allow(dead_code, reason = "shared with another test, which uses more of it")]
mod support;
mod witness;
