//! Signed manifests: one signature for an object of any number of segments.
//!
//! Signing each segment costs the publisher some twenty microseconds for each, checking each costs the
//! fetcher more. With a manifest the segments carry only a digest signature, which anybody can make and any
//! peer can check, and a list of their implicit digests is published beside them. The list is cut into
//! packets. Only the first one is signed with the publisher's key; each holds the implicit digest of the
//! next, so that the first speaks for all:
//!
//! ```text
//! /object/v=1/32=manifest/seg=0    signed; digests of segments 0 … n, digest of the next manifest packet
//! /object/v=1/32=manifest/seg=1    digests of segments n+1 … m, digest of the next manifest packet
//! …
//! /object/v=1/seg=0 …              digest signatures only
//! ```
//!
//! A peer that knows nothing of manifests fetches the segments as ever. One that does spends one check of a
//! signature and a hash for each segment. Packets may arrive in any order: [`ManifestReader`] keeps those
//! that come early. The bytes are described in `docs/packet-formats.md`.

mod format;
mod reader;
mod writer;

use packet::{Component, ComponentKind, DecodeError, Name, NameRef};
use thiserror::Error;

pub use reader::{ManifestLimits, ManifestReader, SegmentVerdict};
pub use writer::ManifestWriter;

use crate::error::SignError;

/// The component between an object's version and a manifest packet's number.
pub const MANIFEST: Component<'static> = Component::new(ComponentKind::KEYWORD, b"manifest");

/// What is wrong with a manifest packet, or keeps one from being made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ManifestError {
    /// It is not a manifest packet, or of another object.
    #[error("{0}: not a manifest packet of this object")]
    Name(String),
    /// The content does not parse.
    #[error("the manifest packet is malformed: {0}")]
    Malformed(#[from] DecodeError),
    /// The packet is not the one its predecessor announced.
    #[error("manifest packet {0} is not the one that the signed manifest announces")]
    Digest(u64),
    /// A packet whose predecessor announced no more, or whose lists do not continue it.
    #[error("manifest packet {0} does not continue the one before it")]
    Discontinuous(u64),
    /// More segments than the reader is ready to keep digests of.
    #[error("the manifest speaks of more than {0} segments ahead of what was delivered")]
    TooMany(u64),
    /// Too many packets whose predecessors are missing.
    #[error("{0} manifest packets wait for their predecessors, more are not kept")]
    TooManyEarly(usize),
    /// It cannot be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
}

/// The name of the manifest of the object `versioned`, without the number of a packet.
///
/// # Errors
/// The name becomes longer than names may be.
pub fn manifest_name(versioned: &Name) -> Result<Name, DecodeError> {
    versioned.with(MANIFEST)
}

/// The object whose manifest `name` belongs to: the name of a manifest packet less its last two components.
pub fn object_of(name: NameRef<'_>) -> Option<NameRef<'_>> {
    let count = name.component_count().checked_sub(2)?;
    (name.component(count)? == MANIFEST).then(|| name.prefix(count))
}

/// The number in a last component of kind segment.
fn segment_number(name: NameRef<'_>) -> Option<u64> {
    name.last().filter(|last| last.kind == ComponentKind::SEGMENT)?.number()
}
