//! The names of backends.

/// All that an experiment can run on.
pub const ALL: &[&str] = &[NETNS, HOSTS, VIRTUAL_TIME];
/// The one whose forwarders are in network namespaces of this machine.
pub const NETNS: &str = "netns";
/// The one whose forwarders are on machines of their own.
pub const HOSTS: &str = "hosts";
/// The one that has no real forwarders.
pub const VIRTUAL_TIME: &str = "sim";
