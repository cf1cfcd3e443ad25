//! What the kernel offers and safe crates do not: datagrams by the train, and a few socket options.

pub(crate) mod datagrams;
pub(crate) mod interfaces;
pub(crate) mod netlink_messages;
pub(crate) mod options;
pub(crate) mod packet_ring;
pub(crate) mod pages;
mod ring_slots;
