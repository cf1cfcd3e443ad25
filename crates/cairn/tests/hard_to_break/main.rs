//! The forwarder as a process among enemies: what it holds of the system's, and how it ends.
#![allow(clippy::unwrap_used, reason = "tests")]

mod daemon;
mod descriptors;
mod ending;
mod operations;
