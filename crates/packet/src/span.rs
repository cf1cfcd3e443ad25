//! Where a field lies in the bytes of its packet.

use std::ops::Range;

/// A byte range inside one packet of at most 65,535 bytes; may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: u16,
    end: u16,
}

impl Span {
    /// The field is not there. Distinct from any real range, because a packet never starts with a field.
    pub(crate) const ABSENT: Span = Span { start: u16::MAX, end: 0 };

    /// `start..end`; callers have limited the packet to 65,535 bytes before.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end <= usize::from(u16::MAX));
        Span { start: start as u16, end: end as u16 }
    }

    /// The range, if the field is there.
    pub(crate) fn range(self) -> Option<Range<usize>> {
        (self.start <= self.end).then_some(usize::from(self.start)..usize::from(self.end))
    }

    /// Where it begins and ends; the end lies before the beginning if the field is not there.
    #[inline(always)]
    pub(crate) fn bounds(self) -> (u16, u16) {
        (self.start, self.end)
    }

    /// The field's bytes in `wire`, if it is there.
    #[inline]
    pub(crate) fn of(self, wire: &[u8]) -> Option<&[u8]> {
        wire.get(self.range()?)
    }
}

impl Default for Span {
    fn default() -> Self {
        Span::ABSENT
    }
}
