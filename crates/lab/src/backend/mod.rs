//! What carries a plan out: real forwarders in kernel namespaces, or virtual time.

pub mod netns;
pub mod sim;
