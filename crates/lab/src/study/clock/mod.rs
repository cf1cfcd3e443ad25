//! How coarse may a clock be? (Kato, Osada, Yamamoto, Ohzahata, "Impacts of System Clock Granularity on
//! Performance of NDN Rate-based Congestion Control", 2018.)
//!
//! A consumer that sends at a rate, and whose clock ticks coarsely, sends bursts; its own node's token bucket
//! answers what does not fit with Nacks, and the rate falls. The paper measures that in a line of four nodes
//! and in a dumbbell, and proposes to send what is due at every arrival of Data or a Nack as well.

mod beyond;
mod consumer;
mod dumbbell;
mod experiment;
mod linear;
mod orderings;
mod scenario;
mod summary;

pub(crate) use beyond::run as beyond;
pub(crate) use dumbbell::run as dumbbell;
pub(crate) use linear::run as linear;
