//! Helpers that only Cairn's tests and benchmarks use.

pub mod vectors;
