//! The Interest as the rest of Cairn sees it, whichever dialect it came in.

use crate::Dialect;
use crate::buffer::Buffer;
use crate::ccnx;
use crate::error::DecodeError;
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::{Name, NameRef};
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
    parts: Parts,
}

#[derive(Clone, Debug)]
enum Parts {
    Ndn(ndn::InterestLayout),
    Ccnx(Box<CcnxParts>),
}

#[derive(Clone, Debug)]
struct CcnxParts {
    /// In canonical form, which differs from the one on the wire.
    name: Name,
    layout: ccnx::InterestLayout,
}

impl Interest {
    /// Reads one NDN Interest that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ndn(wire: Buffer) -> Result<Self, DecodeError> {
        let layout = ndn::InterestView::decode(&wire)?.layout();
        Ok(Interest { wire, parts: Parts::Ndn(layout) })
    }

    /// The same, hashing all prefixes of the name on the way.
    ///
    /// # Errors
    /// As [`Interest::decode_ndn`].
    #[inline]
    pub fn decode_ndn_hashed(
        wire: Buffer,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let layout = ndn::InterestView::decode_hashed(&wire, hasher, hashes)?.layout();
        Ok(Interest { wire, parts: Parts::Ndn(layout) })
    }

    /// A copy of a packet that has been read where it lies, which is in the cache, as the copy may not be for a while.
    #[inline]
    pub fn copy_of(view: ndn::InterestView<'_>) -> Self {
        Interest { wire: Buffer::copy_from(view.wire()), parts: Parts::Ndn(view.layout()) }
    }

    /// Reads one CCNx Interest that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ccnx(wire: Buffer) -> Result<Self, DecodeError> {
        let view = ccnx::InterestView::decode(&wire)?;
        let parts = CcnxParts { name: view.name().to_name()?, layout: view.layout() };
        Ok(Interest { wire, parts: Parts::Ccnx(Box::new(parts)) })
    }

    /// The same, hashing all prefixes of the name on the way.
    ///
    /// # Errors
    /// As [`Interest::decode_ccnx`].
    pub fn decode_ccnx_hashed(
        wire: Buffer,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let view = ccnx::InterestView::decode_hashed(&wire, hasher, hashes)?;
        let parts = CcnxParts { name: view.name().to_name()?, layout: view.layout() };
        Ok(Interest { wire, parts: Parts::Ccnx(Box::new(parts)) })
    }

    /// The language it is written in.
    pub fn dialect(&self) -> Dialect {
        match self.parts {
            Parts::Ndn(_) => Dialect::Ndn,
            Parts::Ccnx(_) => Dialect::Ccnx,
        }
    }

    /// All fields of an NDN Interest; `None` for one of CCNx.
    #[inline]
    pub fn ndn(&self) -> Option<ndn::InterestView<'_>> {
        match self.parts {
            Parts::Ndn(layout) => Some(ndn::InterestView::from_parts(&self.wire, layout)),
            Parts::Ccnx(_) => None,
        }
    }

    /// All fields of a CCNx Interest; `None` for one of NDN.
    pub fn ccnx(&self) -> Option<ccnx::InterestView<'_>> {
        match &self.parts {
            Parts::Ndn(_) => None,
            Parts::Ccnx(parts) => Some(ccnx::InterestView::from_parts(&self.wire, parts.layout)),
        }
    }

    /// The whole packet as it goes on the wire.
    pub fn wire(&self) -> &Buffer {
        &self.wire
    }

    /// The whole packet, and nothing else of it.
    pub fn into_wire(self) -> Buffer {
        self.wire
    }

    /// The name in canonical form.
    #[inline]
    pub fn name(&self) -> NameRef<'_> {
        match &self.parts {
            Parts::Ndn(layout) => ndn::InterestView::from_parts(&self.wire, *layout).name(),
            Parts::Ccnx(parts) => parts.name.as_ref(),
        }
    }

    /// Number of components of the name. An Interest of NDN has at least one.
    #[inline]
    pub fn component_count(&self) -> usize {
        match &self.parts {
            Parts::Ndn(layout) => ndn::InterestView::from_parts(&self.wire, *layout).component_count(),
            Parts::Ccnx(parts) => parts.layout.component_count(),
        }
    }

    /// Whether Data with a longer name may answer: by CanBePrefix, and in CCNx always but for the selectors.
    #[inline]
    pub fn can_be_prefix(&self) -> bool {
        self.ndn().is_none_or(|view| view.can_be_prefix())
    }

    /// Whether a cache may answer only while the Data is fresh.
    #[inline]
    pub fn must_be_fresh(&self) -> bool {
        match (self.ndn(), self.ccnx()) {
            (Some(view), _) => view.must_be_fresh(),
            (_, Some(view)) => !view.answer_origin_kind().stale(),
            (None, None) => false,
        }
    }

    /// The number that tells repetitions apart; absent only from applications.
    #[inline]
    pub fn nonce(&self) -> Option<Nonce> {
        match (self.ndn(), self.ccnx()) {
            (Some(view), _) => view.nonce(),
            (_, Some(view)) => view.nonce().map(fold_nonce),
            (None, None) => None,
        }
    }

    /// How long the sender waits, from arrival.
    #[inline]
    pub fn lifetime(&self) -> Duration {
        match (self.ndn(), self.ccnx()) {
            (Some(view), _) => view.lifetime(),
            (_, Some(view)) => view.lifetime(),
            (None, None) => ndn::DEFAULT_LIFETIME,
        }
    }

    /// How many more hops the Interest may take; `None` for any number.
    #[inline]
    pub fn hop_limit(&self) -> Option<u8> {
        self.ndn()?.hop_limit()
    }

    /// What beside name, CanBePrefix and MustBeFresh tells Interests apart in a table of pending ones: the forwarding
    /// hint in NDN, the selectors in CCNx. Two Interests of one dialect may share an entry if all of these are equal.
    #[inline]
    pub fn distinguishing_bytes(&self) -> &[u8] {
        match (self.ndn(), self.ccnx()) {
            (Some(view), _) => view.forwarding_hint_bytes(),
            (_, Some(view)) => self.wire.get(view.aggregation_range()).unwrap_or_default(),
            (None, None) => &[],
        }
    }

    /// The digest of the one Data that is asked for, if the name ends with one. The rest of the name is then the name
    /// of that Data. In CCNx any last component of 32 bytes may be a digest.
    #[inline]
    pub fn implicit_digest(&self) -> Option<&[u8]> {
        let may_be_digest = match &self.parts {
            Parts::Ndn(layout) => layout.ends_in_implicit_digest(),
            Parts::Ccnx(_) => true,
        };
        let last = if may_be_digest { self.name().last()? } else { return None };
        (last.value.len() == 32).then_some(last.value)
    }

    /// The same Interest of NDN with another last component of its name, of the same kind and length, and another nonce; `None` if it
    /// has no nonce, or the length is another. Nothing is decoded again: for whoever makes many Interests, as load generators do.
    pub fn renumbered(&self, last: &[u8], nonce: Nonce) -> Option<Interest> {
        let Parts::Ndn(layout) = self.parts else { return None };
        let old = self.name().last()?;
        let start = (old.value.as_ptr() as usize).checked_sub(self.wire.as_ptr() as usize)?;
        let (nonce_start, layout) = layout.with_nonce(&self.wire, nonce)?;
        if last.len() != old.value.len() {
            return None;
        }
        let mut wire = self.wire.with(start, last)?;
        for (place, byte) in (nonce_start..).zip(nonce.0.to_be_bytes()) {
            wire.set(place, byte);
        }
        Some(Interest { wire, parts: Parts::Ndn(layout) })
    }

    /// Writes the hop limit if the Interest has one. Copies the packet only if somebody else holds it too.
    pub fn set_hop_limit(&mut self, hops: u8) {
        if let Some(offset) = self.ndn().and_then(|view| view.hop_limit_offset()) {
            self.wire.set(offset, hops);
        }
    }

    /// Gives an Interest of NDN that has no hop limit one. Copies the packet.
    ///
    /// # Errors
    /// The packet would exceed the protocol's size limit with the field.
    pub fn add_hop_limit(&mut self, hops: u8) -> Result<(), DecodeError> {
        if let Some(view) = self.ndn().filter(|view| view.hop_limit().is_none()) {
            *self = Interest::decode_ndn(ndn::with_hop_limit(view, hops)?)?;
        }
        Ok(())
    }

    /// Writes the nonce, adding the field if it was absent. Copies the packet.
    ///
    /// # Errors
    /// The packet would exceed the protocol's size limit with the nonce.
    pub fn set_nonce(&mut self, nonce: Nonce) -> Result<(), DecodeError> {
        *self = match (self.ndn(), self.ccnx()) {
            (Some(view), _) => Interest::decode_ndn(ndn::with_nonce(view, nonce)?)?,
            (_, Some(view)) => Interest::decode_ccnx(ccnx::with_nonce(view, nonce)?)?,
            (None, None) => return Ok(()),
        };
        Ok(())
    }
}

/// Four bytes are taken as they are, so that a nonce written by [`Interest::set_nonce`] reads as the same number; what
/// follows is mixed in (FNV-1a).
fn fold_nonce(bytes: &[u8]) -> Nonce {
    match bytes.split_first_chunk::<4>() {
        Some((first, rest)) => Nonce(rest.iter().fold(u32::from_be_bytes(*first), |hash, &byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })),
        None => Nonce(bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))),
    }
}
