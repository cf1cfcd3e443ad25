//! What an engine does at its limits, and with those that it tells others.
#![allow(clippy::unwrap_used, reason = "tests")]

mod explicit_rates;
mod node;
mod sharing;
mod strangers;
mod tables_and_queues;
