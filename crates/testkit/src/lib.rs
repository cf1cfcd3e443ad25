//! Helpers that only Cairn's tests and benchmarks use.
//!
//! ```
//! // Every codec test runs over golden vectors, annotated packets of other implementations.
//! let vectors = cairn_testkit::vectors::load("ccnx");
//! assert!(vectors.iter().filter(|vector| vector.kind() == "ccnx-interest").count() > 20);
//! ```

pub mod bytes;
pub mod cable;
pub mod counting_allocator;
pub mod experiment;
pub mod folder;
pub mod needs;
pub mod own_network;
pub mod processes;
pub mod stopwatch;
pub mod vectors;
