//! What is on the wire.

pub mod buffer;
pub mod ccnx;
pub mod data;
pub mod error;
pub mod hash;
pub mod interest;
pub mod link_header;
mod matching;
pub mod name;
pub mod ndn;
pub mod random;
mod span;
pub mod time;

pub use buffer::Buffer;
pub use data::{ContentType, Data};
pub use error::{DecodeError, EncodeError, Rule};
pub use hash::{NameHash, NameHasher, PrefixHashes};
pub use interest::{Interest, Nonce};
pub use link_header::{CachePolicy, LinkHeader, NackReason, PitToken};
pub use name::{Component, ComponentKind, Name, NameRef};

/// The two languages that packets are written in. A face speaks one of them; tables never mix them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// NDN packet format v0.3 over NDNLPv2.
    Ndn = 0,
    /// ccnb of CCNx 0.8 over NDNLP v1.
    Ccnx = 1,
}
