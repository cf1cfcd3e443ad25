//! Reference-counted bytes: what a received packet lives in, from the socket to the cache and out again.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A cheap-to-clone window on shared, immutable bytes.
///
/// One allocation holds count and bytes together, so keeping a packet costs one allocation however many tables
/// refer to it, and a kept packet never pins a larger receive buffer than the one it was cut from. The window is
/// at most 4 GiB from the start of the allocation.
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
        let mut copy: Arc<[u8]> = Arc::from(&**self);
        let place = Arc::get_mut(&mut copy)?.get_mut(start..start.checked_add(bytes.len())?)?;
        place.copy_from_slice(bytes);
        Some(Buffer::from(copy))
    }

    /// The memory of this buffer, to be filled anew; `None` if anybody else refers to it.
    pub fn reclaim(mut self) -> Option<SpareBuffer> {
        Arc::get_mut(&mut self.bytes).is_some().then_some(SpareBuffer { bytes: self.bytes })
    }

    /// Bytes of memory behind this buffer, counts included, shared or not.
    pub fn footprint_bytes(&self) -> usize {
        self.bytes.len() + 2 * size_of::<usize>()
    }
}

/// Memory that held a packet nobody refers to any longer. What it held stays in it, and out of reach, until it is filled.
#[derive(Debug)]
pub struct SpareBuffer {
    bytes: Arc<[u8]>,
}

impl SpareBuffer {
    /// The most bytes that it can be filled with.
    pub fn capacity_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Where its memory is, as a hint to fetch it ahead.
    pub fn memory(&self) -> &[u8] {
        &self.bytes
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
