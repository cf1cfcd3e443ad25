//! What every strategy promises, tried on all of them with random traffic, and what each one does on its own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod access;
mod asf;
mod best_route;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "../common/mod.rs"]
mod common;
mod load_balance;
mod multicast;
mod node;
mod random;
mod rules_for_all;
mod self_learning;
mod stateful_forwarding;
mod traffic;
