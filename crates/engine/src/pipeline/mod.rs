//! What happens to a packet, from its arrival to the last effect: one file each way.

pub(crate) mod ahead;
mod data;
mod expiry;
mod interest;
mod nack;
mod sending;
pub(crate) mod shaping;
mod strategy_calls;
