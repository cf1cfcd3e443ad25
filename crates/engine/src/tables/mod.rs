//! What a node remembers.

pub(crate) mod chunked;
pub(crate) mod hash_index;
pub(crate) mod timer_wheel;
