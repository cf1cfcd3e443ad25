//! A packet of a fetch that nobody has checked yet.

use packet::Data;

/// What a packet that waits for the owner's verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnverifiedKind {
    /// An answer to discovery: metadata, or any packet of the object.
    Discovery,
    /// A segment.
    Segment(u64),
}

/// A packet that counts for nothing until the owner accepts it.
#[derive(Clone, Debug)]
pub struct Unverified {
    /// What it is.
    pub subject: UnverifiedKind,
    /// The packet.
    pub data: Data,
}
