//! Memory for the command and the benchmarks: mimalloc, by its plain functions where they suffice.
//!
//! Forwarding takes a buffer for each packet. mimalloc has two sets of functions: those that are told an
//! alignment search for a block that has it, and take a larger one if they do not find it at once, as for
//! every Data of a kilobyte; the plain ones take the first free block of the size. Nearly everything that a
//! program asks for is aligned as plain blocks are.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: cairn_allocator::Mimalloc = cairn_allocator::Mimalloc;
//!
//! assert_eq!(vec![7; 1000].iter().sum::<i32>(), 7000);
//! ```

#![expect(unsafe_code, reason = "the trait of global allocators is unsafe to implement, and mimalloc is C")]

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc, mi_zalloc_aligned,
};

/// mimalloc, as an allocator for the whole program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mimalloc;

/// What mimalloc aligns plain blocks to if they are not smaller than that (its `MI_MAX_ALIGN_SIZE`, on every
/// platform).
const PLAIN_ALIGNMENT: usize = 16;

/// Whether a plain block of this size is aligned so.
///
/// The blocks of one page of mimalloc have one size and lie side by side from an address that is a multiple
/// of 16. This size is a multiple of 16 where at least so much was asked for; for less it is the next power
/// of two, or the word of the machine. So a block is aligned to every power of two up to 16 that is no larger
/// than what was asked for.
#[inline]
const fn is_aligned_anyway(size: usize, alignment: usize) -> bool {
    alignment <= PLAIN_ALIGNMENT && alignment <= size
}

// SAFETY: mimalloc gives blocks that overlap nothing, of at least the size asked for, or null. The functions
// that are told the alignment keep to it; the plain ones are called only where `is_aligned_anyway` holds,
// which is what the layout asks for then. Blocks of either kind may be given to `mi_free` and to either
// `realloc`, on any thread. None of it unwinds.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        let block = if is_aligned_anyway(size, alignment) {
            // SAFETY: may be called with any size.
            unsafe { mi_malloc(size) }
        } else {
            // SAFETY: may be called with any size; a layout's alignment is a power of two.
            unsafe { mi_malloc_aligned(size, alignment) }
        };
        block.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        let block = if is_aligned_anyway(size, alignment) {
            // SAFETY: as in `alloc`.
            unsafe { mi_zalloc(size) }
        } else {
            // SAFETY: as in `alloc`.
            unsafe { mi_zalloc_aligned(size, alignment) }
        };
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller promises that `block` came from this allocator and is used no more.
        unsafe { mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let alignment = layout.align();
        let block = if is_aligned_anyway(new_size, alignment) {
            // SAFETY: the caller promises that `block` came from this allocator and is used no more, unless
            // null comes back. What stays where it is keeps its alignment, which was as asked for.
            unsafe { mi_realloc(block.cast(), new_size) }
        } else {
            // SAFETY: the same; a layout's alignment is a power of two.
            unsafe { mi_realloc_aligned(block.cast(), new_size, alignment) }
        };
        block.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIGNMENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
    /// Blocks of one layout that are there at once: alignment must not be a matter of the first in a page.
    const AT_ONCE: usize = 9;

    /// Every size up to a kilobyte, and those around each power of two up to 64 KiB.
    fn sizes() -> impl Iterator<Item = usize> {
        let larger = (10..=16).flat_map(|power| [-17, -1, 0, 1, 15].map(|more| (1_isize << power) + more));
        (1..=1024).chain(larger.map(isize::unsigned_abs).filter(|size| *size <= 1 << 16))
    }

    fn layouts() -> impl Iterator<Item = Layout> {
        let layouts = ALIGNMENTS.into_iter().flat_map(|alignment| sizes().map(move |size| (size, alignment)));
        layouts.map(|(size, alignment)| Layout::from_size_align(size, alignment).unwrap())
    }

    /// A block with what was written to it.
    struct Block {
        start: *mut u8,
        layout: Layout,
        mark: u8,
    }

    impl Block {
        fn new(layout: Layout, mark: u8, zeroed: bool) -> Block {
            // SAFETY: no layout of these tests has size zero.
            let start =
                unsafe { if zeroed { Mimalloc.alloc_zeroed(layout) } else { Mimalloc.alloc(layout) } };
            let mut block = Block { start, layout, mark };
            block.check_place();
            if zeroed {
                assert!(block.bytes().iter().all(|byte| *byte == 0), "{layout:?} is not zeroed");
            }
            block.write(mark);
            block
        }

        fn check_place(&self) {
            assert!(!self.start.is_null(), "{:?}", self.layout);
            assert!(self.start.addr().is_multiple_of(self.layout.align()), "{:?}", self.layout);
        }

        fn bytes(&mut self) -> &mut [u8] {
            // SAFETY: the block is so large and borrowed once; its bytes were zeroed, or written before any
            // of them is read.
            unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
        }

        fn write(&mut self, mark: u8) {
            // SAFETY: the block is so large.
            unsafe { self.start.write_bytes(mark, self.layout.size()) };
            self.mark = mark;
        }

        /// That nobody else has written to it.
        fn check(&mut self) {
            let (layout, mark) = (self.layout, self.mark);
            assert!(self.bytes().iter().all(|byte| *byte == mark), "{layout:?} lost what was in it");
        }

        fn resize(&mut self, size: usize) {
            let old = self.layout;
            self.layout = Layout::from_size_align(size, old.align()).unwrap();
            // SAFETY: the block has the layout `old`, and nobody keeps its address.
            self.start = unsafe { Mimalloc.realloc(self.start, old, size) };
            self.check_place();
            let kept = old.size().min(size);
            let mark = self.mark;
            // SAFETY: so many bytes were written before, and are kept.
            let bytes = unsafe { std::slice::from_raw_parts(self.start, kept) };
            assert!(bytes.iter().all(|byte| *byte == mark), "{old:?} lost bytes on its way to {size}");
            self.write(mark);
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            // SAFETY: it came from this allocator with this layout, and ends here.
            unsafe { Mimalloc.dealloc(self.start, self.layout) };
        }
    }

    #[test]
    fn blocks_are_aligned_as_asked_for_and_overlap_nothing() {
        for layout in layouts() {
            for zeroed in [false, true] {
                let mut blocks: Vec<Block> =
                    (1..=AT_ONCE).map(|mark| Block::new(layout, mark as u8, zeroed)).collect();
                blocks.iter_mut().for_each(Block::check);
            }
        }
    }

    #[test]
    fn blocks_keep_their_bytes_and_their_alignment_while_they_grow_and_shrink() {
        let targets = [1, 7, 8, 15, 16, 17, 100, 1000, 1024, 1025, 5000, 1 << 16];
        for layout in layouts().filter(|layout| layout.size() <= 40 || layout.size().is_power_of_two()) {
            for target in targets {
                let mut blocks: Vec<Block> =
                    (1..=AT_ONCE).map(|mark| Block::new(layout, mark as u8, false)).collect();
                blocks.iter_mut().for_each(|block| block.resize(target));
                blocks.iter_mut().for_each(Block::check);
                blocks.iter_mut().rev().for_each(|block| block.resize(layout.size()));
                blocks.iter_mut().for_each(Block::check);
            }
        }
    }

    #[test]
    fn blocks_may_end_on_another_thread() {
        for layout in layouts().step_by(17) {
            // SAFETY: the layout's size is not zero.
            let address = unsafe { Mimalloc.alloc(layout) }.expose_provenance();
            let end = move || {
                // SAFETY: the block came from this allocator with this layout, and ends here.
                unsafe { Mimalloc.dealloc(std::ptr::with_exposed_provenance_mut(address), layout) };
            };
            std::thread::spawn(end).join().unwrap();
        }
    }

    #[test]
    fn what_there_cannot_be_is_null() {
        for alignment in ALIGNMENTS {
            let layout = Layout::from_size_align(isize::MAX as usize + 1 - alignment, alignment).unwrap();
            // SAFETY: the layout's size is not zero.
            assert!(unsafe { Mimalloc.alloc(layout) }.is_null());
        }
    }
}
