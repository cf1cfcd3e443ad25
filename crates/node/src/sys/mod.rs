//! What the kernel offers and safe crates do not: datagrams by the train, and a few socket options.

pub(crate) mod datagrams;
pub(crate) mod options;
