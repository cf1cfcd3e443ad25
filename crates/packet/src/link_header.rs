//! What one hop tells the next about a network packet, beside the packet itself.
//!
//! NDNLPv2 calls these the network-layer fields of an LpPacket. CCNx faces leave all of them empty.

use std::fmt;

use crate::buffer::Buffer;
use crate::explicit_rate::ExplicitRate;

/// Fields that travel with one network packet over one hop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkHeader {
    /// Opaque bytes the sender of an Interest wants back with the Data or Nack.
    pub pit_token: PitToken,
    /// Zero for none; any other value says that a queue on the way was too long.
    pub congestion_mark: u64,
    /// Forwarder to local application: the face on which the packet arrived.
    pub incoming_face: Option<u64>,
    /// Local application to forwarder: the face that an Interest must leave by.
    pub next_hop_face: Option<u64>,
    /// Local application to forwarder: whether Data may be cached.
    pub cache_policy: Option<CachePolicy>,
    /// Self-learning: this Interest must not be flooded to discover a route.
    pub non_discovery: bool,
    /// Self-learning: a prefix announcement (a whole Data TLV) that comes with this Data.
    pub prefix_announcement: Option<Buffer>,
    /// The smallest rate that the routers which this Data came by allow its consumer.
    pub explicit_rate: Option<ExplicitRate>,
}

impl LinkHeader {
    /// A header without fields.
    pub const NONE: LinkHeader = LinkHeader {
        pit_token: PitToken::NONE,
        congestion_mark: 0,
        incoming_face: None,
        next_hop_face: None,
        cache_policy: None,
        non_discovery: false,
        prefix_announcement: None,
        explicit_rate: None,
    };

    /// Whether no field is there.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let LinkHeader {
            pit_token,
            congestion_mark,
            incoming_face,
            next_hop_face,
            cache_policy,
            non_discovery,
            prefix_announcement,
            explicit_rate,
        } = self;
        let says_nothing = !non_discovery && *congestion_mark == 0 && pit_token.is_none();
        says_nothing
            && incoming_face.is_none()
            && next_hop_face.is_none()
            && cache_policy.is_none()
            && prefix_announcement.is_none()
            && explicit_rate.is_none()
    }
}

/// CachePolicyType of NDNLPv2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// The Data must not be cached.
    NoCache,
}

/// Why an Interest was sent back. Ordered by severity: the smaller, the less severe; "unspecified" is worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NackReason {
    /// A link, a table or a rate limit on the way is full (50).
    Congestion,
    /// The same Interest was seen before (100).
    Duplicate,
    /// No face leads to the name (150).
    NoRoute,
    /// No reason given, or one that is not known.
    Unspecified,
}

impl NackReason {
    /// The reason that NDNLPv2 writes as `code`; unknown codes count as unspecified.
    pub const fn from_code(code: u64) -> Self {
        match code {
            50 => NackReason::Congestion,
            100 => NackReason::Duplicate,
            150 => NackReason::NoRoute,
            _ => NackReason::Unspecified,
        }
    }

    /// The number on the wire; `None` when the reason is left out.
    pub const fn code(self) -> Option<u64> {
        match self {
            NackReason::Congestion => Some(50),
            NackReason::Duplicate => Some(100),
            NackReason::NoRoute => Some(150),
            NackReason::Unspecified => None,
        }
    }

    /// The word used in logs, tables and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            NackReason::Congestion => "congestion",
            NackReason::Duplicate => "duplicate",
            NackReason::NoRoute => "no-route",
            NackReason::Unspecified => "unspecified",
        }
    }
}

impl fmt::Display for NackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A PIT token: 1 to 32 opaque bytes, or empty for none. All known peers use 4 to 8 bytes, which are kept in
/// place; longer ones cost an allocation.
#[derive(Default)]
pub struct PitToken(Repr);

impl Clone for PitToken {
    #[inline(always)]
    fn clone(&self) -> Self {
        // Most packets have none; a token that is copied piece by piece could not be moved on at once.
        if self.is_none() { PitToken::NONE } else { PitToken(self.0.clone()) }
    }
}

#[derive(Clone)]
enum Repr {
    Short { len: u8, bytes: [u8; PitToken::INLINE_BYTES] },
    Long(Box<([u8; PitToken::MAX_BYTES], u8)>),
}

impl Default for Repr {
    fn default() -> Self {
        Repr::Short { len: 0, bytes: [0; PitToken::INLINE_BYTES] }
    }
}

impl PitToken {
    /// The longest token NDNLPv2 allows.
    pub const MAX_BYTES: usize = 32;
    const INLINE_BYTES: usize = 14;

    /// No token.
    pub const NONE: PitToken = PitToken(Repr::Short { len: 0, bytes: [0; PitToken::INLINE_BYTES] });

    /// The token made of `bytes`; `None` if there are more than 32.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let len = u8::try_from(bytes.len()).ok()?;
        if bytes.len() <= Self::INLINE_BYTES {
            let mut inline = [0; Self::INLINE_BYTES];
            inline[..bytes.len()].copy_from_slice(bytes);
            Some(PitToken(Repr::Short { len, bytes: inline }))
        } else if bytes.len() <= Self::MAX_BYTES {
            let mut long = [0; Self::MAX_BYTES];
            long[..bytes.len()].copy_from_slice(bytes);
            Some(PitToken(Repr::Long(Box::new((long, len)))))
        } else {
            None
        }
    }

    /// The bytes; empty for no token.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Short { len, bytes } => &bytes[..*len as usize],
            Repr::Long(long) => &long.0[..long.1 as usize],
        }
    }

    /// Leaves no token behind. As in [`Clone`], that there is none is told first.
    #[inline(always)]
    pub fn take(&mut self) -> PitToken {
        if self.is_none() { PitToken::NONE } else { std::mem::take(self) }
    }

    /// True when there is no token.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        matches!(self.0, Repr::Short { len: 0, .. })
    }
}

impl PartialEq for PitToken {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for PitToken {}

impl fmt::Debug for PitToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PitToken({})", crate::hex::encode(self.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_hold_up_to_32_bytes_and_no_more() {
        let bytes: Vec<u8> = (0..=32).collect();
        for len in 0..=32 {
            assert_eq!(PitToken::new(&bytes[..len]).unwrap().as_bytes(), &bytes[..len]);
        }
        assert_eq!(PitToken::new(&bytes), None);
        assert!(PitToken::NONE.is_none());
        assert!(size_of::<PitToken>() <= 16);
    }

    #[test]
    fn reasons_are_ordered_by_severity_with_none_worst() {
        let mut reasons =
            [NackReason::Unspecified, NackReason::NoRoute, NackReason::Congestion, NackReason::Duplicate];
        reasons.sort();
        assert_eq!(
            reasons,
            [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute, NackReason::Unspecified]
        );
        for reason in reasons {
            assert_eq!(NackReason::from_code(reason.code().unwrap_or(7)), reason);
        }
    }
}
