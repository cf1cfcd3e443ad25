//! The Data as the rest of Cairn sees it, whichever dialect it came in.

use crate::Dialect;
use crate::buffer::Buffer;
use crate::error::DecodeError;
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::NameRef;
use crate::ndn;
use crate::time::Duration;

/// What the content of a Data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentType(pub u32);

impl ContentType {
    /// Payload; the default.
    pub const BLOB: ContentType = ContentType(0);
    /// A list of names.
    pub const LINK: ContentType = ContentType(1);
    /// A certificate.
    pub const KEY: ContentType = ContentType(2);
    /// An application's refusal.
    pub const NACK: ContentType = ContentType(3);
    /// A list of digests.
    pub const MANIFEST: ContentType = ContentType(4);
    /// A prefix announcement.
    pub const PREFIX_ANNOUNCEMENT: ContentType = ContentType(5);
}

/// An owned Data: the received bytes, shared, and what was read from them. Cloning shares the bytes.
#[derive(Clone, Debug)]
pub struct Data {
    wire: Buffer,
    layout: ndn::DataLayout,
}

impl Data {
    /// Reads one NDN Data that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ndn(wire: Buffer) -> Result<Self, DecodeError> {
        let layout = ndn::DataView::decode(&wire)?.layout();
        Ok(Data { wire, layout })
    }

    /// The same, hashing all prefixes of the name on the way.
    ///
    /// # Errors
    /// As [`Data::decode_ndn`].
    pub fn decode_ndn_hashed(
        wire: Buffer,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let layout = ndn::DataView::decode_hashed(&wire, hasher, hashes)?.layout();
        Ok(Data { wire, layout })
    }

    /// The language it is written in.
    pub fn dialect(&self) -> Dialect {
        Dialect::Ndn
    }

    /// All fields of an NDN Data.
    pub fn ndn(&self) -> ndn::DataView<'_> {
        ndn::DataView::from_parts(&self.wire, self.layout)
    }

    /// The whole packet as it goes on the wire.
    pub fn wire(&self) -> &Buffer {
        &self.wire
    }

    /// The name in canonical form, without the implicit digest.
    pub fn name(&self) -> NameRef<'_> {
        self.ndn().name()
    }

    /// Number of components of the name.
    pub fn component_count(&self) -> usize {
        self.ndn().component_count()
    }

    /// What the content is.
    pub fn content_type(&self) -> ContentType {
        self.ndn().content_type()
    }

    /// How long the Data counts as fresh after arrival.
    pub fn freshness(&self) -> Duration {
        self.ndn().freshness()
    }

    /// The content; empty when there is none.
    pub fn content(&self) -> &[u8] {
        self.ndn().content()
    }

    /// SHA-256 of the whole packet, the last component of its full name. Computed at each call.
    pub fn implicit_digest(&self) -> [u8; 32] {
        self.ndn().implicit_digest()
    }
}
