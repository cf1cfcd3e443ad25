//! What a node remembers.
//!
//! Pending Interests and kept Data share one [`hash_index`], so one look into it finds both for a name.

pub(crate) mod chunked;
pub(crate) mod content_store;
pub(crate) mod dead_nonces;
pub(crate) mod entry_id;
pub(crate) mod fib;
pub(crate) mod hash_index;
pub(crate) mod measurements;
pub(crate) mod namespaces;
pub(crate) mod other_lengths;
pub(crate) mod pending;
pub(crate) mod sweep;
pub(crate) mod timer_wheel;
