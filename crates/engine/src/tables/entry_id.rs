//! What the shared index points to: a pending Interest or a kept Data.

use super::content_store::CachedId;
use super::pending::PendingId;

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
