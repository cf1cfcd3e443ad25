//! What an engine does at its limits, and with those that it tells others.
#![allow(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "../common/mod.rs"]
mod common;
mod explicit_rates;
mod sharing;
mod strangers;
mod tables_and_queues;
