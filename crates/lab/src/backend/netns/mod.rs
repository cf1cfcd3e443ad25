//! Real forwarders: each node is a network namespace with a real daemon and real clients, joined by veth pairs.

pub mod cgroup;
mod clients;
pub mod conduct;
pub mod guard;
pub mod load;
pub mod namespace;
pub mod netlink;
pub mod order;
mod sampler;
pub mod wiring;
pub mod world;

/// The columns of a forwarder's log.
pub(crate) fn sampler_head() -> &'static str {
    sampler::HEAD
}
