//! Reference-counted bytes: what a received packet lives in, from the socket to the cache and out again.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::span::Span;

/// A cheap-to-clone window on shared, immutable bytes.
///
/// One allocation holds count and bytes together, so keeping a packet costs one allocation however many
/// tables refer to it. A packet that was cut from a larger buffer keeps all of that in memory: see
/// [`is_small_part`](Self::is_small_part). The window is at most 4 GiB from the start of the allocation.
#[derive(Clone)]
pub struct Buffer {
    bytes: Arc<[u8]>,
    start: u32,
    end: u32,
}

impl Buffer {
    /// A buffer that owns a copy of `bytes`.
    pub fn copy_from(bytes: &[u8]) -> Self {
        Buffer::from(Arc::from(bytes))
    }

    /// The part of this buffer in `range`, sharing the same allocation; `None` if it lies outside.
    pub fn slice(&self, range: Range<usize>) -> Option<Buffer> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        let start = self.start + range.start as u32;
        Some(Buffer { bytes: self.bytes.clone(), start, end: self.start + range.end as u32 })
    }

    /// How many bytes it is.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "the slice that it gives has that")]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// The byte at `index`, which was found in this buffer.
    #[inline(always)]
    pub(crate) fn byte(&self, index: usize) -> Option<u8> {
        debug_assert!(index < self.len());
        self.bytes.get(self.start as usize + index).copied()
    }

    /// The bytes of a span that was found in this buffer, if it is there: what forwarders ask for most. A
    /// slice of the slice that this is would have both compared with their bounds.
    #[inline(always)]
    pub(crate) fn part(&self, span: Span) -> Option<&[u8]> {
        let (start, end) = span.bounds();
        debug_assert!(end < start || usize::from(end) <= self.len());
        let from = self.start as usize;
        self.bytes.get(from + usize::from(start)..from + usize::from(end))
    }

    /// The part of this buffer that `part` borrows from it; `None` if `part` is not inside this buffer.
    pub fn slice_of(&self, part: &[u8]) -> Option<Buffer> {
        let offset = (part.as_ptr() as usize).checked_sub(self.as_ptr() as usize)?;
        self.slice(offset..offset.checked_add(part.len())?)
    }

    /// Writes one byte. Copies the bytes first if anybody else holds them; an index outside changes nothing.
    pub(crate) fn set(&mut self, index: usize, value: u8) {
        if Arc::get_mut(&mut self.bytes).is_none() {
            *self = Buffer::copy_from(self);
        }
        let index = self.start as usize + index;
        if let Some(byte) = Arc::get_mut(&mut self.bytes).and_then(|bytes| bytes.get_mut(index)) {
            *byte = value;
        }
    }

    /// A copy of this buffer with other bytes from `start` on; `None` if they reach beyond its end.
    pub(crate) fn with(&self, start: usize, bytes: &[u8]) -> Option<Buffer> {
        self.changed(|copy| {
            copy.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
            Some(())
        })
    }

    /// A copy of this buffer with what `change` writes; `None` if that gives up.
    #[inline]
    pub(crate) fn changed(&self, change: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<Buffer> {
        let mut copy: Arc<[u8]> = Arc::from(&**self);
        change(Arc::get_mut(&mut copy)?)?;
        Some(Buffer::from(copy))
    }

    /// Whether somebody else refers to the memory of this buffer, too.
    #[inline]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.bytes) > 1
    }

    /// The memory of this buffer, to be filled anew; `None` if anybody else refers to it.
    pub fn reclaim(mut self) -> Option<SpareBuffer> {
        Arc::get_mut(&mut self.bytes).is_some().then_some(SpareBuffer { bytes: self.bytes })
    }

    /// Bytes of memory behind this buffer, counts included, shared or not.
    pub fn footprint_bytes(&self) -> usize {
        self.bytes.len() + 2 * size_of::<usize>()
    }

    /// Whether this is less than half of the memory that it keeps: a packet of a train that arrived as one
    /// piece, say. Whoever keeps many of them for long should know what that costs, or keep copies.
    #[inline]
    pub fn is_small_part(&self) -> bool {
        2 * self.len() < self.bytes.len()
    }

    /// Where in its memory this lies.
    #[inline]
    pub fn memory_range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Which memory this is a window on.
    #[inline]
    pub fn memory(&self) -> MemoryId {
        MemoryId(self.bytes.as_ptr() as usize)
    }

    /// The start of the memory that this is a window on, next to which the count of those who refer to it
    /// lies: as a hint to fetch that ahead.
    #[inline]
    pub fn memory_start(&self) -> &[u8] {
        self.bytes.get(..1).unwrap_or_default()
    }

    /// Whether `next` lies right behind this in the same memory.
    #[inline]
    pub fn is_followed_by(&self, next: &Buffer) -> bool {
        self.end == next.start && self.memory() == next.memory()
    }

    /// All bytes from the start of this to the end of `last`; `None` if that lies in other memory, or before.
    #[inline]
    pub fn through(&self, last: &Buffer) -> Option<&[u8]> {
        if self.memory() != last.memory() {
            return None;
        }
        self.bytes.get(self.start as usize..last.end as usize)
    }
}

/// Tells memory that [`Buffer`]s refer to apart from all other that anybody refers to at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryId(usize);

/// Memory that held a packet nobody refers to any longer. What it held stays in it, and out of reach, until
/// it is filled.
#[derive(Debug)]
pub struct SpareBuffer {
    bytes: Arc<[u8]>,
}

impl SpareBuffer {
    /// New memory, all zero.
    pub fn new(capacity_bytes: usize) -> Self {
        SpareBuffer { bytes: std::iter::repeat_n(0, capacity_bytes).collect() }
    }

    /// The most bytes that it can be filled with.
    pub fn capacity_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Where its memory is, as a hint to fetch it ahead.
    pub fn memory(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it, to be written to.
    #[inline]
    pub fn memory_mut(&mut self) -> &mut [u8] {
        // Nobody else refers to it, by construction.
        Arc::get_mut(&mut self.bytes).unwrap_or_default()
    }

    /// A buffer of the first `len_bytes` of it, as they have been written; of all if there are fewer.
    #[inline]
    pub fn into_buffer(self, len_bytes: usize) -> Buffer {
        let end = len_bytes.min(self.bytes.len()) as u32;
        Buffer { bytes: self.bytes, start: 0, end }
    }

    /// A buffer with a copy of `bytes`, in this memory if they fit.
    #[inline]
    pub fn fill(mut self, bytes: &[u8]) -> Buffer {
        match Arc::get_mut(&mut self.bytes).and_then(|memory| memory.get_mut(..bytes.len())) {
            Some(place) => place.copy_from_slice(bytes),
            None => return Buffer::copy_from(bytes),
        }
        Buffer { bytes: self.bytes, start: 0, end: bytes.len() as u32 }
    }
}

impl From<Arc<[u8]>> for Buffer {
    fn from(bytes: Arc<[u8]>) -> Self {
        let end = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Buffer { bytes, start: 0, end }
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Buffer::from(Arc::from(bytes))
    }
}

impl Deref for Buffer {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start as usize..self.end as usize]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_the_allocation_and_stay_inside() {
        let whole = Buffer::from(b"hello world".to_vec());
        let world = whole.slice(6..11).unwrap();
        assert_eq!(&*world, b"world");
        assert_eq!(world.as_ptr(), whole[6..].as_ptr());
        assert_eq!(&*world.slice(1..3).unwrap(), b"or");
        assert_eq!(world.slice(0..6), None);
        assert_eq!(whole.slice_of(&whole[2..4]), whole.slice(2..4));
        assert_eq!(whole.slice_of(b"elsewhere"), None);
    }

    #[test]
    fn a_part_of_a_window_is_what_a_slice_of_its_bytes_is_and_an_absent_one_is_none() {
        let whole = Buffer::from(b"hello world".to_vec());
        let world = whole.slice(6..11).unwrap();
        for (start, end) in [(0, 5), (1, 3), (2, 2), (5, 5)] {
            assert_eq!(world.part(Span::new(start, end)), world.get(start..end));
        }
        assert_eq!(world.part(Span::ABSENT), None);
        assert_eq!((world.len(), world.byte(0), world.byte(4)), (5, Some(b'w'), Some(b'd')));
    }

    #[test]
    fn neighbours_in_one_memory_are_one_piece_and_others_are_not() {
        let whole = Buffer::from(b"hello world".to_vec());
        let [hello, space, world] = [0..5, 5..6, 6..11].map(|range| whole.slice(range).unwrap());
        assert!(hello.is_followed_by(&space) && space.is_followed_by(&world));
        assert!(!hello.is_followed_by(&world) && !world.is_followed_by(&space));
        assert_eq!(hello.through(&world), Some(&b"hello world"[..]));
        assert_eq!(world.through(&hello), None);
        let elsewhere = Buffer::from(b"hello world".to_vec()).slice(5..6).unwrap();
        assert!(!hello.is_followed_by(&elsewhere));
        assert_eq!(hello.through(&elsewhere), None);
        assert!(
            hello.is_small_part() && !whole.is_small_part() && !whole.slice(0..6).unwrap().is_small_part()
        );
    }

    #[test]
    fn memory_that_was_written_to_becomes_a_buffer_of_what_was_written() {
        let mut spare = SpareBuffer::new(16);
        spare.memory_mut()[..5].copy_from_slice(b"hello");
        let buffer = spare.into_buffer(5);
        assert_eq!(&*buffer, b"hello");
        assert_eq!(buffer.footprint_bytes(), 32);
        let mut spare = buffer.reclaim().unwrap();
        assert_eq!(spare.memory_mut().len(), 16);
        assert_eq!(spare.into_buffer(100).len(), 16);
    }

    #[test]
    fn memory_is_reclaimed_only_from_the_last_who_refers_to_it_and_holds_what_it_is_filled_with() {
        let whole = Buffer::from(b"hello world".to_vec());
        let place = whole.as_ptr();
        let world = whole.slice(6..11).unwrap();
        assert!(whole.reclaim().is_none());
        let spare = world.reclaim().unwrap();
        assert_eq!(spare.capacity_bytes(), 11);
        let filled = spare.fill(b"goodbye");
        assert_eq!((&*filled, filled.as_ptr()), (&b"goodbye"[..], place));
        assert_eq!(filled.slice(0..8), None);
        assert_eq!(&*filled.reclaim().unwrap().fill(b"longer than before"), b"longer than before");
    }
}
