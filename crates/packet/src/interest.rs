//! The Interest as the rest of Cairn sees it, whichever dialect it came in.

use std::ops::Range;

use crate::Dialect;
use crate::brief::{InterestBrief, InterestFlag};
use crate::buffer::Buffer;
use crate::ccnx::{self, CcnxNameRef, LazyCanonical};
use crate::error::DecodeError;
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::{AnyName, NameRef, WireName};
use crate::ndn;
use crate::time::Duration;

/// Tells repetitions of an Interest from each other. CCNx nonces, which may be longer, are folded into this
/// size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce(pub u32);

/// An owned Interest: the received bytes, shared, and what was read from them.
///
/// Cloning is cheap and shares the bytes. An Interest never changes but for the two fields that forwarders
/// must write, [`Interest::set_hop_limit`] and [`Interest::set_nonce`].
#[derive(Clone, Debug)]
pub struct Interest {
    wire: Buffer,
    brief: InterestBrief,
    /// The name of an Interest of CCNx, if anybody has asked for it in canonical form.
    canonical: LazyCanonical,
}

impl Interest {
    #[inline(always)]
    fn of(wire: Buffer, brief: InterestBrief) -> Self {
        let brief = brief.with_scope(&wire);
        Interest { wire, brief, canonical: LazyCanonical::none() }
    }

    /// Reads one NDN Interest that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ndn(wire: Buffer) -> Result<Self, DecodeError> {
        let brief = ndn::InterestView::decode(&wire)?.brief();
        Ok(Interest::of(wire, brief))
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
        let brief = ndn::InterestView::decode_hashed(&wire, hasher, hashes)?.brief();
        Ok(Interest::of(wire, brief))
    }

    /// A copy of a packet that has been read where it lies, which is in the cache, as the copy may not be for
    /// a while.
    #[inline(always)]
    pub fn copy_of(view: ndn::InterestView<'_>) -> Self {
        Interest::of(Buffer::copy_from(view.wire()), view.brief())
    }

    /// A copy of a packet of CCNx that has been read where it lies.
    #[inline(always)]
    pub fn ccnx_copy_of(view: ccnx::InterestView<'_>) -> Self {
        Interest::of(Buffer::copy_from(view.wire()), view.brief())
    }

    /// Reads one CCNx Interest that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ccnx(wire: Buffer) -> Result<Self, DecodeError> {
        let brief = ccnx::InterestView::decode(&wire)?.brief();
        Ok(Interest::of(wire, brief))
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
        let brief = ccnx::InterestView::decode_hashed(&wire, hasher, hashes)?.brief();
        Ok(Interest::of(wire, brief))
    }

    /// The language it is written in.
    #[inline(always)]
    pub fn dialect(&self) -> Dialect {
        self.brief.dialect()
    }

    /// All fields of an NDN Interest; `None` for one of CCNx. Reads the packet again, so ask once for several
    /// fields.
    #[inline]
    pub fn ndn(&self) -> Option<ndn::InterestView<'_>> {
        if self.dialect() == Dialect::Ndn { ndn::InterestView::decode(&self.wire).ok() } else { None }
    }

    /// All fields of a CCNx Interest; `None` for one of NDN. Reads what follows the name again, so ask once
    /// for several fields.
    pub fn ccnx(&self) -> Option<ccnx::InterestView<'_>> {
        let (name, count) = (self.brief.name_span(), self.brief.component_count);
        match self.dialect() {
            Dialect::Ndn => None,
            Dialect::Ccnx => {
                ccnx::InterestView::decode_behind(&self.wire, name, count, self.brief.exclude_bytes())
            }
        }
    }

    /// The same of an Interest that [has selectors](Self::has_selectors), and of no other.
    #[inline(always)]
    pub fn ccnx_selectors(&self) -> Option<ccnx::InterestView<'_>> {
        if self.has_selectors() { self.ccnx() } else { None }
    }

    /// Whether an Interest of CCNx says anything of the Data that answers it but the name, or how far it may
    /// go: what stands before InterestLifetime.
    #[inline(always)]
    pub fn has_selectors(&self) -> bool {
        self.brief.has(InterestFlag::HasSelectors)
    }

    /// The face that an Interest of CCNx must leave by. Forwarders believe it of local applications only.
    #[inline(always)]
    pub fn face_id(&self) -> Option<u32> {
        if self.brief.has(InterestFlag::HasFaceId) { self.ccnx()?.face_id() } else { None }
    }

    /// The whole packet as it goes on the wire.
    #[inline]
    pub fn wire(&self) -> &Buffer {
        &self.wire
    }

    /// The whole packet, and nothing else of it.
    #[inline]
    pub fn into_wire(self) -> Buffer {
        self.wire
    }

    /// The name in canonical form. In CCNx that is made when it is first asked for, and kept; to compare two
    /// names, their [components on the wire](Self::wire_components) will do.
    #[inline(always)]
    pub fn name(&self) -> NameRef<'_> {
        match self.ccnx_name() {
            None => self.brief.name(&self.wire),
            Some(name) => self.canonical.of(name),
        }
    }

    /// The name as it is on the wire in CCNx; `None` in NDN.
    #[inline(always)]
    pub fn ccnx_name(&self) -> Option<CcnxNameRef<'_>> {
        match self.dialect() {
            Dialect::Ndn => None,
            Dialect::Ccnx => {
                Some(CcnxNameRef::from_checked(self.wire_components(), self.brief.component_count.into()))
            }
        }
    }

    /// A copy of the name with its dialect, which shows it as people write it there.
    pub fn any_name(&self) -> AnyName {
        AnyName::new(self.dialect(), self.name().to_name())
    }

    /// The name in the form that it has on the wire.
    #[inline(always)]
    pub fn wire_name(&self) -> WireName<'_> {
        match self.ccnx_name() {
            None => WireName::Ndn(self.brief.name(&self.wire)),
            Some(name) => WireName::Ccnx(name),
        }
    }

    /// The components of the name as they are on the wire. In either dialect a component has one spelling,
    /// which says where it ends: so two names of one dialect are equal exactly if these bytes are, and one is
    /// a prefix of the other exactly if its bytes are.
    #[inline(always)]
    pub fn wire_components(&self) -> &[u8] {
        self.brief.components(&self.wire)
    }

    /// Those of the name without its last component.
    pub fn parent_wire_components(&self) -> &[u8] {
        match self.ccnx_name() {
            None => self.name().prefix(self.component_count().saturating_sub(1)).canonical(),
            Some(name) => name.split_last().map(|(parent, _)| parent.component_bytes()).unwrap_or_default(),
        }
    }

    /// Whether the name may be `/localhost` or `/localhop`, or below one of them. False for almost all, and
    /// found out when the packet was read, so that nobody has to look at the name again.
    #[inline(always)]
    pub fn may_have_limited_scope(&self) -> bool {
        self.brief.has(InterestFlag::MayHaveLimitedScope)
    }

    /// Number of components of the name. An Interest of NDN has at least one.
    #[inline(always)]
    pub fn component_count(&self) -> usize {
        self.brief.component_count.into()
    }

    /// Whether Data with a longer name may answer: by CanBePrefix, and in CCNx always but for the selectors.
    #[inline(always)]
    pub fn can_be_prefix(&self) -> bool {
        self.brief.has(InterestFlag::CanBePrefix)
    }

    /// Whether a cache may answer only while the Data is fresh.
    #[inline]
    pub fn must_be_fresh(&self) -> bool {
        self.brief.has(InterestFlag::MustBeFresh)
    }

    /// The number that tells repetitions apart; absent only from applications.
    #[inline(always)]
    pub fn nonce(&self) -> Option<Nonce> {
        self.brief.nonce()
    }

    /// How long the sender waits, from arrival.
    #[inline]
    pub fn lifetime(&self) -> Duration {
        self.brief.lifetime
    }

    /// How many more hops the Interest may take; `None` for any number.
    #[inline(always)]
    pub fn hop_limit(&self) -> Option<u8> {
        self.wire.byte(self.brief.hop_limit_offset()?)
    }

    /// Whether names are given under which the Data can be reached when the Interest's own cannot be routed.
    #[inline(always)]
    pub fn has_forwarding_hint(&self) -> bool {
        self.brief.has(InterestFlag::HasForwardingHint)
    }

    /// What beside name, CanBePrefix and MustBeFresh tells Interests apart in a table of pending ones: the
    /// forwarding hint in NDN, the selectors in CCNx. Two Interests of one dialect may share an entry if
    /// all of these are equal.
    #[inline]
    pub fn distinguishing_bytes(&self) -> &[u8] {
        if let Some(view) = self.ccnx_selectors() {
            return self.wire.get(view.aggregation_range()).unwrap_or_default();
        }
        let hint = self.has_forwarding_hint().then(|| self.ndn()).flatten();
        hint.map(|view| view.forwarding_hint_bytes()).unwrap_or_default()
    }

    /// The digest of the one Data that is asked for, if the name ends with one. The rest of the name is then
    /// the name of that Data. In CCNx any last component of 32 bytes may be a digest.
    #[inline(always)]
    pub fn implicit_digest(&self) -> Option<&[u8]> {
        if self.brief.has(InterestFlag::EndsInImplicitDigest) { self.last_as_digest() } else { None }
    }

    #[cold]
    fn last_as_digest(&self) -> Option<&[u8]> {
        let last = match self.ccnx_name() {
            None => self.name().last()?.value,
            Some(name) => name.split_last()?.1,
        };
        (last.len() == 32).then_some(last)
    }

    #[inline]
    fn ndn_name(&self) -> Option<NameRef<'_>> {
        (self.dialect() == Dialect::Ndn).then(|| self.brief.name(&self.wire))
    }

    /// Writes the hop limit if the Interest has one. Copies the packet only if somebody else holds it too.
    pub fn set_hop_limit(&mut self, hops: u8) {
        if let Some(offset) = self.brief.hop_limit_offset() {
            self.wire.set(offset, hops);
        }
    }

    /// Gives an Interest of NDN that has no hop limit one. Copies the packet.
    ///
    /// # Errors
    /// The packet would exceed the protocol's size limit with the field.
    pub fn add_hop_limit(&mut self, hops: u8) -> Result<(), DecodeError> {
        if self.brief.hop_limit_offset().is_none()
            && let Some(view) = self.ndn()
        {
            *self = Interest::decode_ndn(ndn::with_hop_limit(view, hops)?)?;
        }
        Ok(())
    }

    /// The same Interest of CCNx without a FaceID, which is between an application and its forwarder alone.
    /// Copies the packet; any other is given back as it is.
    ///
    /// # Errors
    /// None but for a packet that could not have been read.
    pub fn without_face_id(self) -> Result<Self, DecodeError> {
        match self.ccnx().filter(|_| self.brief.has(InterestFlag::HasFaceId)) {
            Some(view) => Interest::decode_ccnx(ccnx::without_face_id(view)?),
            None => Ok(self),
        }
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

/// An Interest of NDN from which others are made that differ in the last component of the name and in the
/// nonce alone, without decoding: for whoever makes many, as load generators do.
#[derive(Clone, Debug)]
pub struct InterestTemplate {
    interest: Interest,
    /// Where the value of the last component lies.
    last: Range<usize>,
    nonce_at: usize,
}

impl InterestTemplate {
    /// Takes an Interest as the template; `None` if it is none of NDN, or has no nonce.
    pub fn of(interest: Interest) -> Option<Self> {
        let value = interest.ndn_name()?.last()?.value;
        let start = (value.as_ptr() as usize).checked_sub(interest.wire.as_ptr() as usize)?;
        let last = start..start + value.len();
        let nonce_at = interest.brief.nonce_offset(&interest.wire)?;
        Some(InterestTemplate { interest, last, nonce_at })
    }

    /// The Interest with another value of the last component, of the same length, and another nonce; `None`
    /// if the length is another.
    #[inline]
    pub fn with(&self, last: &[u8], nonce: Nonce) -> Option<Interest> {
        if last.len() != self.last.len() {
            return None;
        }
        let wire = self.interest.wire.changed(|bytes| {
            bytes.get_mut(self.last.clone())?.copy_from_slice(last);
            *bytes.get_mut(self.nonce_at..)?.first_chunk_mut()? = nonce.0.to_be_bytes();
            Some(())
        })?;
        Some(Interest::of(wire, self.interest.brief.with_nonce(nonce)))
    }
}

/// Four bytes are taken as they are, so that a nonce written by [`Interest::set_nonce`] reads as the same
/// number; what follows is mixed in (FNV-1a).
pub(crate) fn fold_nonce(bytes: &[u8]) -> Nonce {
    match bytes.split_first_chunk::<4>() {
        Some((first, rest)) => Nonce(rest.iter().fold(u32::from_be_bytes(*first), |hash, &byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })),
        None => Nonce(bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))),
    }
}
