//! Caches without packets: one, or a network of them, and requests for objects of a catalogue, millions a
//! second.

mod cache;
mod network;
mod one_cache;
mod requests;

pub use network::{CacheNetwork, CacheNetworkError, CacheNetworkReport, CopyPlacement};
pub use one_cache::{CacheReport, study_cache, study_eviction};
