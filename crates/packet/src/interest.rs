//! The Interest as the rest of Cairn sees it, whichever dialect it came in.

use crate::Dialect;
use crate::buffer::Buffer;
use crate::error::DecodeError;
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::NameRef;
use crate::ndn;
use crate::time::Duration;

/// Tells repetitions of an Interest from each other. CCNx nonces, which may be longer, are folded into this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce(pub u32);

/// An owned Interest: the received bytes, shared, and what was read from them.
///
/// Cloning is cheap and shares the bytes. An Interest never changes but for the two fields that forwarders must write,
/// [`Interest::set_hop_limit`] and [`Interest::set_nonce`].
#[derive(Clone, Debug)]
pub struct Interest {
    wire: Buffer,
    layout: ndn::InterestLayout,
}

impl Interest {
    /// Reads one NDN Interest that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ndn(wire: Buffer) -> Result<Self, DecodeError> {
        let layout = ndn::InterestView::decode(&wire)?.layout();
        Ok(Interest { wire, layout })
    }

    /// The same, hashing all prefixes of the name on the way.
    ///
    /// # Errors
    /// As [`Interest::decode_ndn`].
    pub fn decode_ndn_hashed(
        wire: Buffer,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let layout = ndn::InterestView::decode_hashed(&wire, hasher, hashes)?.layout();
        Ok(Interest { wire, layout })
    }

    /// The language it is written in.
    pub fn dialect(&self) -> Dialect {
        Dialect::Ndn
    }

    /// All fields of an NDN Interest.
    pub fn ndn(&self) -> ndn::InterestView<'_> {
        ndn::InterestView::from_parts(&self.wire, self.layout)
    }

    /// The whole packet as it goes on the wire.
    pub fn wire(&self) -> &Buffer {
        &self.wire
    }

    /// The name in canonical form.
    pub fn name(&self) -> NameRef<'_> {
        self.ndn().name()
    }

    /// Number of components of the name, at least one.
    pub fn component_count(&self) -> usize {
        self.ndn().component_count()
    }

    /// Whether Data with a longer name may answer.
    pub fn can_be_prefix(&self) -> bool {
        self.ndn().can_be_prefix()
    }

    /// Whether a cache may answer only while the Data is fresh.
    pub fn must_be_fresh(&self) -> bool {
        self.ndn().must_be_fresh()
    }

    /// The number that tells repetitions apart; absent only from applications.
    pub fn nonce(&self) -> Option<Nonce> {
        self.ndn().nonce()
    }

    /// How long the sender waits, from arrival.
    pub fn lifetime(&self) -> Duration {
        self.ndn().lifetime()
    }

    /// How many more hops the Interest may take; `None` for any number.
    pub fn hop_limit(&self) -> Option<u8> {
        self.ndn().hop_limit()
    }

    /// Writes the hop limit if the Interest has one. Copies the packet only if somebody else holds it too.
    pub fn set_hop_limit(&mut self, hops: u8) {
        if let Some(offset) = self.ndn().hop_limit_offset() {
            self.wire.set(offset, hops);
        }
    }

    /// Writes the nonce, adding the field if it was absent. Copies the packet.
    ///
    /// # Errors
    /// The packet would exceed the protocol's size limit with the nonce.
    pub fn set_nonce(&mut self, nonce: Nonce) -> Result<(), DecodeError> {
        *self = Interest::decode_ndn(ndn::with_nonce(self.ndn(), nonce)?)?;
        Ok(())
    }
}
