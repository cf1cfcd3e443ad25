//! What owned packets remember of what was read from them.
//!
//! These few words are moved about for every packet. They are whole words, without values that an enum around
//! them could keep its tag in, because what was written in pieces is slow to move as a whole.

use crate::Dialect;
use crate::interest::Nonce;
use crate::name::NameRef;
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

/// Bits of [`InterestBrief`].
mod interest_flag {
    pub(crate) const HAS_NONCE: u32 = 1;
    pub(crate) const CAN_BE_PREFIX: u32 = 2;
    pub(crate) const MUST_BE_FRESH: u32 = 4;
    pub(crate) const ENDS_IN_IMPLICIT_DIGEST: u32 = 8;
    pub(crate) const HAS_FORWARDING_HINT: u32 = 16;
    pub(crate) const IS_CCNX: u32 = 32;
    pub(crate) const HAS_SELECTORS: u32 = 64;
    pub(crate) const HAS_FACE_ID: u32 = 128;
}

impl InterestBrief {
    #[inline(always)]
    pub(crate) fn new(facts: InterestFacts) -> Self {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        InterestBrief {
            lifetime: facts.lifetime,
            name: facts.name,
            component_count: facts.component_count,
            hop_limit_at_or_exclude_bytes: facts.hop_limit_at,
            nonce: facts.nonce.map_or(0, |nonce| nonce.0),
            flags: flag(interest_flag::HAS_NONCE, facts.nonce.is_some())
                | flag(interest_flag::CAN_BE_PREFIX, facts.can_be_prefix)
                | flag(interest_flag::MUST_BE_FRESH, facts.must_be_fresh)
                | flag(interest_flag::ENDS_IN_IMPLICIT_DIGEST, facts.ends_in_implicit_digest)
                | flag(interest_flag::HAS_FORWARDING_HINT, facts.has_forwarding_hint),
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
        brief.flags |= interest_flag::IS_CCNX;
        brief.flags |= if has_selectors { interest_flag::HAS_SELECTORS } else { 0 };
        brief.flags |= if has_face_id { interest_flag::HAS_FACE_ID } else { 0 };
        brief
    }

    #[inline(always)]
    pub(crate) fn dialect(&self) -> Dialect {
        if self.has(interest_flag::IS_CCNX) { Dialect::Ccnx } else { Dialect::Ndn }
    }

    /// The components of the name in the bytes of its packet, as its dialect writes them.
    #[inline(always)]
    pub(crate) fn components<'a>(&self, wire: &'a [u8]) -> &'a [u8] {
        self.name.of(wire).unwrap_or_default()
    }

    /// The name in the bytes of a packet of NDN.
    #[inline]
    pub(crate) fn name<'a>(&self, wire: &'a [u8]) -> NameRef<'a> {
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
        (at > 0 && !self.has(interest_flag::IS_CCNX)).then_some(at.into())
    }

    #[inline]
    pub(crate) fn nonce(&self) -> Option<Nonce> {
        self.has(interest_flag::HAS_NONCE).then_some(Nonce(self.nonce))
    }

    #[inline]
    pub(crate) fn can_be_prefix(&self) -> bool {
        self.has(interest_flag::CAN_BE_PREFIX)
    }

    #[inline]
    pub(crate) fn must_be_fresh(&self) -> bool {
        self.has(interest_flag::MUST_BE_FRESH)
    }

    #[inline]
    pub(crate) fn ends_in_implicit_digest(&self) -> bool {
        self.has(interest_flag::ENDS_IN_IMPLICIT_DIGEST)
    }

    #[inline]
    pub(crate) fn has_forwarding_hint(&self) -> bool {
        self.has(interest_flag::HAS_FORWARDING_HINT)
    }

    /// Whether anything stands in an Interest of CCNx that chooses among the Data of its name, or says how
    /// far it may go.
    #[inline]
    pub(crate) fn has_selectors(&self) -> bool {
        self.has(interest_flag::HAS_SELECTORS)
    }

    /// How many bytes the entries of the Exclude of an Interest of CCNx take.
    #[inline]
    pub(crate) fn exclude_bytes(&self) -> usize {
        if self.has(interest_flag::IS_CCNX) { self.hop_limit_at_or_exclude_bytes.into() } else { 0 }
    }

    #[inline]
    pub(crate) fn has_face_id(&self) -> bool {
        self.has(interest_flag::HAS_FACE_ID)
    }

    #[inline]
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The same of an Interest of NDN with another nonce, and where in `wire` that stands; `None` if there is
    /// none.
    pub(crate) fn with_nonce(mut self, wire: &[u8], nonce: Nonce) -> Option<(usize, Self)> {
        let old = self.nonce()?;
        self.nonce = nonce.0;
        // The Nonce follows the Name, with at most two flags and a hint between.
        let mut reader = Reader::new(wire, "Interest");
        let mut inside = reader.element().ok()?.map(|outer| reader.inside(outer, "Interest"))?;
        while let Some(element) = inside.element().ok()? {
            if element.kind == types::NONCE && element.value == &old.0.to_be_bytes()[..] {
                return Some((element.value_start, self));
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

/// Bits of [`DataBrief`].
mod data_flag {
    pub(crate) const HAS_CONTENT_TYPE: u32 = 1;
    pub(crate) const HAS_FINAL_BLOCK: u32 = 2;
    pub(crate) const IS_CCNX: u32 = 4;
}

impl DataBrief {
    #[inline(always)]
    pub(crate) fn new(facts: DataFacts) -> Self {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        DataBrief {
            freshness: facts.freshness,
            name: facts.name,
            content: facts.content,
            count_and_publisher: facts.component_count.into(),
            flags: flag(data_flag::HAS_CONTENT_TYPE, facts.has_content_type)
                | flag(data_flag::HAS_FINAL_BLOCK, facts.has_final_block),
        }
    }

    /// The same of a ContentObject of CCNx, in which the publisher's digest stands at `publisher_at`.
    #[inline(always)]
    pub(crate) fn of_ccnx(facts: DataFacts, publisher_at: usize) -> Self {
        let mut brief = DataBrief::new(facts);
        brief.count_and_publisher |= (publisher_at as u32) << 16;
        brief.flags |= data_flag::IS_CCNX;
        brief
    }

    #[inline(always)]
    pub(crate) fn dialect(&self) -> Dialect {
        if self.flags & data_flag::IS_CCNX == 0 { Dialect::Ndn } else { Dialect::Ccnx }
    }

    #[inline(always)]
    pub(crate) fn component_count(&self) -> usize {
        usize::from(self.count_and_publisher as u16)
    }

    /// The digest of the publisher's key in the bytes of a packet of CCNx.
    #[inline]
    pub(crate) fn publisher<'a>(&self, wire: &'a [u8]) -> Option<&'a [u8; 32]> {
        wire.get((self.count_and_publisher >> 16) as usize..)?.first_chunk()
    }

    /// The components of the name in the bytes of its packet, as its dialect writes them.
    #[inline(always)]
    pub(crate) fn components<'a>(&self, wire: &'a [u8]) -> &'a [u8] {
        self.name.of(wire).unwrap_or_default()
    }

    /// The name in the bytes of a packet of NDN.
    #[inline]
    pub(crate) fn name<'a>(&self, wire: &'a [u8]) -> NameRef<'a> {
        NameRef::from_checked(self.components(wire))
    }

    /// The content in the bytes of its packet.
    #[inline]
    pub(crate) fn content<'a>(&self, wire: &'a [u8]) -> &'a [u8] {
        self.content.of(wire).unwrap_or_default()
    }

    /// Whether the content is of another type than the default.
    #[inline]
    pub(crate) fn has_content_type(&self) -> bool {
        self.flags & data_flag::HAS_CONTENT_TYPE != 0
    }

    #[inline]
    pub(crate) fn has_final_block(&self) -> bool {
        self.flags & data_flag::HAS_FINAL_BLOCK != 0
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
