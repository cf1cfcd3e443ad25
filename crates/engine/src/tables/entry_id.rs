//! What the shared index points to: a pending Interest or a kept Data.

use packet::PitToken;

/// Number of a pending Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PendingId(pub(crate) u32);

impl PendingId {
    /// The PIT token of an Interest that is sent. Nothing is read of it when it comes back: the entry is
    /// found by name. Six bytes, because one widespread implementation takes no other length.
    #[inline]
    pub(crate) fn token(self) -> PitToken {
        let [a, b, c, d] = self.0.to_be_bytes();
        PitToken::new(&[0, 0, a, b, c, d]).unwrap_or_default()
    }
}

/// Number of an entry of a cache, such as a Data of the content store. Numbers are small, and that of an
/// entry that has left may be given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CachedId(pub u32);

/// Number of an entry of either table, in the 32 bits that the index has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryId {
    Pending(PendingId),
    Cached(CachedId),
}

const CACHED: u32 = 1 << 31;

impl EntryId {
    #[inline(always)]
    pub(crate) fn from_raw(raw: u32) -> Self {
        if raw & CACHED == 0 {
            EntryId::Pending(PendingId(raw))
        } else {
            EntryId::Cached(CachedId(raw & !CACHED))
        }
    }

    #[inline(always)]
    pub(crate) fn raw(self) -> u32 {
        match self {
            EntryId::Pending(PendingId(number)) => number,
            EntryId::Cached(CachedId(number)) => number | CACHED,
        }
    }
}
