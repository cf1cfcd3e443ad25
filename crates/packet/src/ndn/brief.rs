//! What owned packets remember of what was read from them.
//!
//! These few words are moved about for every packet. They are whole words, without values that an enum around
//! them could keep its tag in, because what was written in pieces is slow to move as a whole.

use super::tlv::Reader;
use super::types;
use crate::interest::Nonce;
use crate::name::NameRef;
use crate::span::Span;
use crate::time::Duration;

/// What forwarders ask of an Interest again and again, by value; small, because it is moved about for every
/// packet. The rest is read from the bytes again where it is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterestBrief {
    pub(crate) lifetime: Duration,
    name: Span,
    pub(crate) component_count: u16,
    /// Where the hop limit stands; zero, where no field can be, for none.
    hop_limit_at: u16,
    nonce: u32,
    flags: u32,
}

/// Bits of [`InterestBrief`].
mod interest_flag {
    pub(super) const HAS_NONCE: u32 = 1;
    pub(super) const CAN_BE_PREFIX: u32 = 2;
    pub(super) const MUST_BE_FRESH: u32 = 4;
    pub(super) const ENDS_IN_IMPLICIT_DIGEST: u32 = 8;
    pub(super) const HAS_FORWARDING_HINT: u32 = 16;
}

impl InterestBrief {
    #[inline(always)]
    pub(super) fn new(facts: InterestFacts) -> Self {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        InterestBrief {
            lifetime: facts.lifetime,
            name: facts.name,
            component_count: facts.component_count,
            hop_limit_at: facts.hop_limit_at,
            nonce: facts.nonce.map_or(0, |nonce| nonce.0),
            flags: flag(interest_flag::HAS_NONCE, facts.nonce.is_some())
                | flag(interest_flag::CAN_BE_PREFIX, facts.can_be_prefix)
                | flag(interest_flag::MUST_BE_FRESH, facts.must_be_fresh)
                | flag(interest_flag::ENDS_IN_IMPLICIT_DIGEST, facts.ends_in_implicit_digest)
                | flag(interest_flag::HAS_FORWARDING_HINT, facts.has_forwarding_hint),
        }
    }

    /// Of a packet that is written in another language.
    pub(crate) const NONE: InterestBrief = InterestBrief {
        lifetime: Duration::ZERO,
        name: Span::ABSENT,
        component_count: 0,
        hop_limit_at: 0,
        nonce: 0,
        flags: 0,
    };

    /// The name in the bytes of its packet.
    #[inline]
    pub(crate) fn name<'a>(&self, wire: &'a [u8]) -> NameRef<'a> {
        NameRef::from_checked(self.name.of(wire).unwrap_or_default())
    }

    /// Where the hop limit stands, if there is one.
    #[inline]
    pub(crate) fn hop_limit_offset(&self) -> Option<usize> {
        (self.hop_limit_at > 0).then_some(self.hop_limit_at.into())
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

    #[inline]
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The same with another nonce, and where in `wire` that stands; `None` if there is none.
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
pub(super) struct InterestFacts {
    pub(super) lifetime: Duration,
    pub(super) nonce: Option<Nonce>,
    pub(super) name: Span,
    pub(super) component_count: u16,
    /// Zero for none.
    pub(super) hop_limit_at: u16,
    pub(super) can_be_prefix: bool,
    pub(super) must_be_fresh: bool,
    pub(super) ends_in_implicit_digest: bool,
    pub(super) has_forwarding_hint: bool,
}

/// What forwarders and applications ask of a Data again and again, by value; small, because it is moved about
/// for every packet. The rest is read from the bytes again where it is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataBrief {
    pub(crate) freshness: Duration,
    name: Span,
    content: Span,
    pub(crate) component_count: u32,
    flags: u32,
}

/// Bits of [`DataBrief`].
mod data_flag {
    pub(super) const HAS_CONTENT_TYPE: u32 = 1;
    pub(super) const HAS_FINAL_BLOCK: u32 = 2;
}

impl DataBrief {
    #[inline(always)]
    pub(super) fn new(facts: DataFacts) -> Self {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        DataBrief {
            freshness: facts.freshness,
            name: facts.name,
            content: facts.content,
            component_count: facts.component_count.into(),
            flags: flag(data_flag::HAS_CONTENT_TYPE, facts.has_content_type)
                | flag(data_flag::HAS_FINAL_BLOCK, facts.has_final_block),
        }
    }

    /// Of a packet that is written in another language.
    pub(crate) const NONE: DataBrief = DataBrief {
        freshness: Duration::ZERO,
        name: Span::ABSENT,
        content: Span::ABSENT,
        component_count: 0,
        flags: 0,
    };

    /// The name in the bytes of its packet.
    #[inline]
    pub(crate) fn name<'a>(&self, wire: &'a [u8]) -> NameRef<'a> {
        NameRef::from_checked(self.name.of(wire).unwrap_or_default())
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
pub(super) struct DataFacts {
    pub(super) freshness: Duration,
    pub(super) name: Span,
    pub(super) content: Span,
    pub(super) component_count: u16,
    pub(super) has_content_type: bool,
    pub(super) has_final_block: bool,
}
