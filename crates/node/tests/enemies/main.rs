//! A node among enemies: whatever comes in over real sockets, it stays up, keeps within its limits, says in
//! its counters what it let go, and goes on answering everybody else.
//!
//! Each test starts a [`victim::Victim`], does something bad to it, and then demands an ordinary exchange
//! over every kind of socket. Nothing sleeps for a fixed time: everything waits for a condition, with a
//! deadline that a loaded machine keeps too.
#![allow(clippy::unwrap_used, reason = "tests")]

mod commands;
mod connections;
mod faces;
mod floods;
mod frames;
mod least;
mod link_layer;
mod log;
mod memory;
mod mutate;
mod neighbours;
mod peer;
mod scrapers;
mod strangers;
mod streams;
mod victim;
