//! Real forwarders: each node is a network namespace with a real daemon and real clients, joined by veth pairs.

pub mod cgroup;
pub mod namespace;
pub mod netlink;
pub mod wiring;
