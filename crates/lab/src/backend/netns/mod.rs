//! Real forwarders: each node is a network namespace with a real daemon and real clients, joined by veth
//! pairs.

pub mod cgroup;
mod changes;
pub(crate) mod clients;
pub mod conduct;
pub mod guard;
pub mod load;
pub(crate) mod machine;
pub mod namespace;
pub mod netlink;
mod programs;
mod routing;
pub(crate) mod sampler;
mod stay;
pub mod wiring;
pub mod world;
