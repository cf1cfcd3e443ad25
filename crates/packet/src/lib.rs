//! What is on the wire.

pub mod buffer;
pub mod ccnx;
pub mod error;
pub mod link_header;
pub mod ndn;
pub mod random;
pub mod time;

pub use buffer::Buffer;
pub use error::{DecodeError, EncodeError, Rule};
pub use link_header::{CachePolicy, LinkHeader, NackReason, PitToken};
