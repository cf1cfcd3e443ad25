//! engine
mod prefetch;
mod tables;
