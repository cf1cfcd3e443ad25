//! The memory of packets that have left the content store, for those that come next.
//!
//! When the store is full, one packet leaves for each that comes, most often one of the same size. Its memory
//! lies in no cache by then, and would be waited for when it is written to. Here it is asked for as soon as
//! it is free, while there is other work to do.

use packet::{Buffer, SpareBuffer};

use super::processor::prefetch;
use crate::engine::Engine;

/// Memory for a packet of so many bytes that the engine is to be given, if there is any that it fills well:
/// that of Data which has left the content store.
#[inline]
pub fn spare_buffer(engine: &mut Engine, len_bytes: usize) -> Option<SpareBuffer> {
    engine.tables.store.spares.take(len_bytes)
}

/// Memory of packets, sorted by size. Whoever never takes any out has nothing put in.
#[derive(Debug, Default)]
pub(crate) struct SpareBuffers {
    /// For each class of sizes the memory that is at least as large as its smallest.
    classes: Vec<Vec<SpareBuffer>>,
    bytes: usize,
    is_used: bool,
}

/// Larger memory is for many packets, and will not be written to all at once.
const MAX_PREFETCHED_BYTES: usize = 16 << 10;
/// Bytes kept at the most: what leaves for a batch of the largest packets.
const MAX_BYTES: usize = 1 << 20;

impl SpareBuffers {
    /// Memory for a packet of so many bytes, if there is any that it fills well.
    #[inline]
    pub(crate) fn take(&mut self, len_bytes: usize) -> Option<SpareBuffer> {
        self.is_used = true;
        let class = class_of(len_bytes);
        // One that is a little too small is given back: packets have grown, and the allocator has a use for
        // it.
        self.pop(class).filter(|spare| spare.capacity_bytes() >= len_bytes).or_else(|| self.pop(class + 1))
    }

    /// Whether anybody has ever taken any out.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Keeps the memory of `buffer` if it is the last who refers to it.
    #[inline(always)]
    pub(crate) fn put(&mut self, buffer: Buffer) {
        if self.is_used && !buffer.is_shared() {
            self.keep(buffer);
        }
    }

    fn keep(&mut self, buffer: Buffer) {
        let Some(spare) = buffer.reclaim() else { return };
        if self.bytes + cost_of(&spare) > MAX_BYTES {
            // Sizes that nobody wants any more must not keep the place of those that somebody does.
            self.classes.iter_mut().for_each(Vec::clear);
            self.bytes = 0;
        }
        let class = class_of(spare.capacity_bytes());
        if self.classes.len() <= class + 1 {
            self.classes.resize_with(class + 2, Vec::new);
        }
        if let Some(spares) = self.classes.get_mut(class) {
            if spare.capacity_bytes() <= MAX_PREFETCHED_BYTES {
                prefetch(spare.memory());
            }
            self.bytes += cost_of(&spare);
            spares.push(spare);
        }
    }

    #[inline]
    fn pop(&mut self, class: usize) -> Option<SpareBuffer> {
        let spare = self.classes.get_mut(class)?.pop()?;
        self.bytes -= cost_of(&spare);
        Some(spare)
    }

    /// Bytes of memory held.
    pub(crate) fn footprint_bytes(&self) -> usize {
        self.bytes
    }
}

/// What memory costs with its place in a class and the counts before it, so that many small pieces are not
/// for nothing.
#[inline]
fn cost_of(spare: &SpareBuffer) -> usize {
    spare.capacity_bytes() + size_of::<SpareBuffer>() + 2 * size_of::<usize>()
}

/// Eight classes for each doubling of the size.
#[inline]
fn class_of(bytes: usize) -> usize {
    let bytes = bytes.max(8);
    let doublings = bytes.ilog2();
    (doublings as usize - 3) * 8 + (bytes >> (doublings - 3) & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: usize) -> Buffer {
        Buffer::from(vec![7; bytes])
    }

    fn capacity(spares: &mut SpareBuffers, wanted: usize) -> Option<usize> {
        spares.take(wanted).map(|spare| spare.capacity_bytes())
    }

    #[test]
    fn memory_serves_packets_that_fit_and_leave_little_of_it_empty() {
        let mut spares = SpareBuffers::default();
        assert_eq!(capacity(&mut spares, 1), None);
        for bytes in [1130, 1130, 1200, 300] {
            spares.put(buffer(bytes));
        }
        assert_eq!(capacity(&mut spares, 1130), Some(1130));
        assert_eq!(capacity(&mut spares, 1020), Some(1130));
        assert_eq!(capacity(&mut spares, 1020), None);
        assert_eq!(capacity(&mut spares, 1160), Some(1200));
        assert_eq!(capacity(&mut spares, 200), None);
        assert_eq!(capacity(&mut spares, 280), Some(300));
        assert_eq!(spares.footprint_bytes(), 0);
    }

    #[test]
    fn no_memory_is_kept_for_nobody_nor_beyond_the_limit_nor_while_others_read_it() {
        let mut spares = SpareBuffers::default();
        spares.put(buffer(100));
        assert_eq!(capacity(&mut spares, 100), None);
        let shared = buffer(100);
        spares.put(shared.clone());
        assert_eq!(capacity(&mut spares, 100), None);
        for _ in 0..1000 {
            spares.put(buffer(8800));
            assert!(spares.footprint_bytes() <= MAX_BYTES);
        }
    }

    #[test]
    fn sizes_that_nobody_wants_do_not_keep_the_place_of_those_that_somebody_does() {
        let mut spares = SpareBuffers::default();
        let mut reused = 0;
        // Packets that grow, as those with numbers in their names do, and a size that comes once and for all.
        for round in 0..3000 {
            let bytes = if round < 100 { 5000 } else { 8000 + round / 300 };
            reused += usize::from(spares.take(bytes).is_some());
            spares.put(buffer(bytes));
            spares.put(buffer(300));
        }
        assert!(reused > 2900, "{reused}");
    }

    #[test]
    fn classes_follow_one_another_and_none_is_wider_than_an_eighth_of_its_smallest() {
        let mut smallest = 8;
        for bytes in 9..100_000usize {
            assert!(class_of(bytes) == class_of(bytes - 1) || class_of(bytes) == class_of(bytes - 1) + 1);
            if class_of(bytes) != class_of(smallest) {
                smallest = bytes;
            }
            assert!((bytes - smallest) * 8 < smallest.max(8), "{bytes} is in a class with {smallest}");
        }
    }
}
