//! What owned packets remember of what was read from them.
//!
//! These few words are moved about for every packet. They are whole words, without values that an enum around
//! them could keep its tag in, because what was written in pieces is slow to move as a whole.

use crate::Dialect;
use crate::buffer::Buffer;
use crate::interest::Nonce;
use crate::name::{NameRef, may_limit_scope};
use crate::ndn::tlv::Reader;
use crate::ndn::types;
use crate::span::Span;
use crate::time::Duration;

/// What forwarders ask of an Interest again and again, by value; small, because it is moved about for every
/// packet. The rest is read from the bytes again where it is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterestBrief {
    pub(crate) lifetime: Duration,
    name: Span,
    pub(crate) component_count: u16,
    /// In NDN where the hop limit stands; zero, where no field can be, for none. In CCNx how many bytes the
    /// entries of the Exclude take, which are read again only when somebody asks for one of them.
    hop_limit_at_or_exclude_bytes: u16,
    nonce: u32,
    flags: u32,
}

/// Bits of an [`InterestBrief`].
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum InterestFlag {
    HasNonce = 1,
    CanBePrefix = 2,
    MustBeFresh = 4,
    EndsInImplicitDigest = 8,
    HasForwardingHint = 16,
    IsCcnx = 32,
    /// Anything stands in an Interest of CCNx that chooses among the Data of its name, or says how far it may
    /// go.
    HasSelectors = 64,
    HasFaceId = 128,
    /// The name may be one that limits how far the packet goes.
    MayHaveLimitedScope = 256,
}

impl InterestFlag {
    #[inline(always)]
    const fn bit_if(self, is_set: bool) -> u32 {
        if is_set { self as u32 } else { 0 }
    }
}

impl InterestBrief {
    #[inline(always)]
    pub(crate) fn new(facts: InterestFacts) -> Self {
        use InterestFlag as Flag;
        InterestBrief {
            lifetime: facts.lifetime,
            name: facts.name,
            component_count: facts.component_count,
            hop_limit_at_or_exclude_bytes: facts.hop_limit_at,
            nonce: facts.nonce.map_or(0, |nonce| nonce.0),
            flags: Flag::HasNonce.bit_if(facts.nonce.is_some())
                | Flag::CanBePrefix.bit_if(facts.can_be_prefix)
                | Flag::MustBeFresh.bit_if(facts.must_be_fresh)
                | Flag::EndsInImplicitDigest.bit_if(facts.ends_in_implicit_digest)
                | Flag::HasForwardingHint.bit_if(facts.has_forwarding_hint),
        }
    }

    /// The same of an Interest of CCNx, which may have selectors and a FaceID.
    #[inline(always)]
    pub(crate) fn of_ccnx(
        facts: InterestFacts,
        exclude_bytes: u16,
        has_selectors: bool,
        has_face_id: bool,
    ) -> Self {
        let mut brief = InterestBrief::new(facts);
        brief.hop_limit_at_or_exclude_bytes = exclude_bytes;
        brief.flags |= InterestFlag::IsCcnx as u32
            | InterestFlag::HasSelectors.bit_if(has_selectors)
            | InterestFlag::HasFaceId.bit_if(has_face_id);
        brief
    }

    #[inline(always)]
    pub(crate) fn dialect(&self) -> Dialect {
        if self.has(InterestFlag::IsCcnx) { Dialect::Ccnx } else { Dialect::Ndn }
    }

    /// The same of a packet in which the name says, or does not, how far that may go.
    #[inline(always)]
    pub(crate) fn with_scope(self, wire: &Buffer) -> Self {
        let bit = InterestFlag::MayHaveLimitedScope;
        let others = self.flags & !(bit as u32);
        InterestBrief { flags: others | bit.bit_if(may_limit_scope(self.components(wire))), ..self }
    }

    /// The components of the name in the bytes of its packet, as its dialect writes them.
    #[inline(always)]
    pub(crate) fn components<'a>(&self, wire: &'a Buffer) -> &'a [u8] {
        wire.part(self.name).unwrap_or_default()
    }

    /// The name in the bytes of a packet of NDN.
    #[inline]
    pub(crate) fn name<'a>(&self, wire: &'a Buffer) -> NameRef<'a> {
        NameRef::from_checked(self.components(wire))
    }

    /// Where the components begin and end.
    #[inline]
    pub(crate) fn name_span(&self) -> Span {
        self.name
    }

    /// Where the hop limit stands, if there is one.
    #[inline]
    pub(crate) fn hop_limit_offset(&self) -> Option<usize> {
        let at = self.hop_limit_at_or_exclude_bytes;
        (at > 0 && !self.has(InterestFlag::IsCcnx)).then_some(at.into())
    }

    #[inline]
    pub(crate) fn nonce(&self) -> Option<Nonce> {
        self.has(InterestFlag::HasNonce).then_some(Nonce(self.nonce))
    }

    /// How many bytes the entries of the Exclude of an Interest of CCNx take.
    #[inline]
    pub(crate) fn exclude_bytes(&self) -> usize {
        if self.has(InterestFlag::IsCcnx) { self.hop_limit_at_or_exclude_bytes.into() } else { 0 }
    }

    #[inline(always)]
    pub(crate) fn has(&self, flag: InterestFlag) -> bool {
        self.flags & flag as u32 != 0
    }

    /// The same of an Interest that has a nonce, with another.
    #[inline]
    pub(crate) fn with_nonce(self, nonce: Nonce) -> Self {
        InterestBrief { nonce: nonce.0, ..self }
    }

    /// Where the nonce of an Interest of NDN stands in `wire`; `None` if there is none.
    pub(crate) fn nonce_offset(&self, wire: &[u8]) -> Option<usize> {
        let nonce = self.nonce()?;
        // The Nonce follows the Name, with at most two flags and a hint between.
        let mut reader = Reader::new(wire, "Interest");
        let mut inside = reader.element().ok()?.map(|outer| reader.inside(outer, "Interest"))?;
        while let Some(element) = inside.element().ok()? {
            if element.kind == types::NONCE && element.value == &nonce.0.to_be_bytes()[..] {
                return Some(element.value_start);
            }
        }
        None
    }
}

/// What an [`InterestBrief`] is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterestFacts {
    pub(crate) lifetime: Duration,
    pub(crate) nonce: Option<Nonce>,
    pub(crate) name: Span,
    pub(crate) component_count: u16,
    /// Zero for none.
    pub(crate) hop_limit_at: u16,
    pub(crate) can_be_prefix: bool,
    pub(crate) must_be_fresh: bool,
    pub(crate) ends_in_implicit_digest: bool,
    pub(crate) has_forwarding_hint: bool,
}

/// What forwarders and applications ask of a Data again and again, by value; small, because it is moved about
/// for every packet. The rest is read from the bytes again where it is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataBrief {
    pub(crate) freshness: Duration,
    name: Span,
    content: Span,
    /// The number of components and, in the upper half, where in a packet of CCNx the publisher stands.
    count_and_publisher: u32,
    flags: u32,
}

/// Bits of a [`DataBrief`].
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum DataFlag {
    /// The content is of another type than the default.
    HasContentType = 1,
    HasFinalBlock = 2,
    IsCcnx = 4,
    /// The name may be one that limits how far the packet goes.
    MayHaveLimitedScope = 8,
}

impl DataFlag {
    #[inline(always)]
    const fn bit_if(self, is_set: bool) -> u32 {
        if is_set { self as u32 } else { 0 }
    }
}

impl DataBrief {
    #[inline(always)]
    pub(crate) fn new(facts: DataFacts) -> Self {
        use DataFlag as Flag;
        DataBrief {
            freshness: facts.freshness,
            name: facts.name,
            content: facts.content,
            count_and_publisher: facts.component_count.into(),
            flags: Flag::HasContentType.bit_if(facts.has_content_type)
                | Flag::HasFinalBlock.bit_if(facts.has_final_block),
        }
    }

    /// The same of a ContentObject of CCNx, in which the publisher's digest stands at `publisher_at`.
    #[inline(always)]
    pub(crate) fn of_ccnx(facts: DataFacts, publisher_at: usize) -> Self {
        let mut brief = DataBrief::new(facts);
        brief.count_and_publisher |= (publisher_at as u32) << 16;
        brief.flags |= DataFlag::IsCcnx as u32;
        brief
    }

    #[inline(always)]
    pub(crate) fn dialect(&self) -> Dialect {
        if self.has(DataFlag::IsCcnx) { Dialect::Ccnx } else { Dialect::Ndn }
    }

    #[inline(always)]
    pub(crate) fn component_count(&self) -> usize {
        usize::from(self.count_and_publisher as u16)
    }

    /// The same of a packet in which the name says, or does not, how far that may go.
    #[inline(always)]
    pub(crate) fn with_scope(self, wire: &Buffer) -> Self {
        let bit = DataFlag::MayHaveLimitedScope;
        let others = self.flags & !(bit as u32);
        DataBrief { flags: others | bit.bit_if(may_limit_scope(self.components(wire))), ..self }
    }

    /// The digest of the publisher's key in the bytes of a packet of CCNx.
    #[inline]
    pub(crate) fn publisher<'a>(&self, wire: &'a [u8]) -> Option<&'a [u8; 32]> {
        wire.get((self.count_and_publisher >> 16) as usize..)?.first_chunk()
    }

    /// The components of the name in the bytes of its packet, as its dialect writes them.
    #[inline(always)]
    pub(crate) fn components<'a>(&self, wire: &'a Buffer) -> &'a [u8] {
        wire.part(self.name).unwrap_or_default()
    }

    /// The name in the bytes of a packet of NDN.
    #[inline]
    pub(crate) fn name<'a>(&self, wire: &'a Buffer) -> NameRef<'a> {
        NameRef::from_checked(self.components(wire))
    }

    /// The content in the bytes of its packet.
    #[inline]
    pub(crate) fn content<'a>(&self, wire: &'a Buffer) -> &'a [u8] {
        wire.part(self.content).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn has(&self, flag: DataFlag) -> bool {
        self.flags & flag as u32 != 0
    }
}

/// What a [`DataBrief`] is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataFacts {
    pub(crate) freshness: Duration,
    pub(crate) name: Span,
    pub(crate) content: Span,
    pub(crate) component_count: u16,
    pub(crate) has_content_type: bool,
    pub(crate) has_final_block: bool,
}
