//! What carries a plan out: real forwarders in kernel namespaces or on hosts of their own, or virtual time.

pub mod hosts;
pub mod netns;
pub mod sim;
