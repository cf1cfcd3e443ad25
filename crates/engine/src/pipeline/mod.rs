//! What happens to a packet, from its arrival to the last effect: one file each way.

mod answers;
mod arrived_data;
mod data;
mod expiry;
pub(crate) mod gone_faces;
mod interest;
mod nack;
mod placement;
mod room;
mod sampling;
mod second_store;
mod sending;
pub(crate) mod shaping;
mod sharing;
mod strategy_calls;
