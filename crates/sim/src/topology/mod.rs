//! Networks of many nodes.

mod regular;

pub use regular::Dumbbell;
