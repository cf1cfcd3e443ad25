//! An allocator that counts, for tests and benchmarks that claim something about memory. The only unsafe code
//! of this crate.

#![expect(unsafe_code, reason = "the trait of global allocators is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// Passes everything on to `A`, and counts while it is told to.
///
/// ```
/// use cairn_testkit::counting_allocator::CountingAllocator;
/// use std::alloc::System;
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);
///
/// let (kept, counts) = ALLOCATOR.count(|| vec![0u8; 100]);
/// assert_eq!((counts.allocations, counts.held_bytes), (1, 100));
/// drop(kept);
/// ```
#[derive(Debug)]
pub struct CountingAllocator<A> {
    inner: A,
    counting: AtomicBool,
    allocations: AtomicU64,
    held_bytes: AtomicI64,
}

/// What happened while counting, on all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Allocations and reallocations.
    pub allocations: u64,
    /// Bytes allocated less bytes freed; negative if more was freed.
    pub held_bytes: i64,
}

impl<A> CountingAllocator<A> {
    /// Wraps `inner`; does not count yet.
    pub const fn new(inner: A) -> Self {
        CountingAllocator {
            inner,
            counting: AtomicBool::new(false),
            allocations: AtomicU64::new(0),
            held_bytes: AtomicI64::new(0),
        }
    }

    /// Runs `work` and counts what it allocates. Not for use from several threads at once.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> (T, Counts) {
        self.allocations.store(0, Relaxed);
        self.held_bytes.store(0, Relaxed);
        self.counting.store(true, Relaxed);
        let result = work();
        self.counting.store(false, Relaxed);
        (
            result,
            Counts { allocations: self.allocations.load(Relaxed), held_bytes: self.held_bytes.load(Relaxed) },
        )
    }

    #[inline]
    fn note(&self, allocations: u64, bytes: i64) {
        if self.counting.load(Relaxed) {
            self.allocations.fetch_add(allocations, Relaxed);
            self.held_bytes.fetch_add(bytes, Relaxed);
        }
    }
}

// SAFETY: every call goes to `A` unchanged, which upholds the trait's contract; counting touches only atomics
// and allocates nothing.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.note(1, layout.size() as i64);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { self.inner.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        self.note(0, -(layout.size() as i64));
        // SAFETY: `place` came from `alloc` or `realloc` above, and so from `A`, with this layout.
        unsafe { self.inner.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        self.note(1, new_size as i64 - layout.size() as i64);
        // SAFETY: as in `dealloc`; the caller's promise about `new_size` is passed on.
        unsafe { self.inner.realloc(place, layout, new_size) }
    }
}
