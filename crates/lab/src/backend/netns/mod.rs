//! Real forwarders: each node is a network namespace with a real daemon and real clients, joined by veth
//! pairs.

mod changes;
pub mod conduct;
pub mod guard;
pub mod namespace;
pub mod netlink;
mod processors;
mod programs;
mod routing;
mod running_server;
mod servers;
mod stay;
pub mod wiring;
pub mod world;
