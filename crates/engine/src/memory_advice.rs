//! What the system is told of memory before it is used.

use std::mem::MaybeUninit;

/// Tells the system that memory is read here and there, a line at a time, so that large pages suit it: where
/// there are thousands of small ones, finding the page takes longer than reading the line. The engine gives
/// it for the buckets of the index of names.
///
/// The default tells nobody. A node passes a function that asks its system.
#[derive(Clone, Copy, Debug)]
pub struct MemoryAdvice {
    prefer_large_pages: fn(start: *const u8, bytes: usize),
}

impl MemoryAdvice {
    /// `prefer_large_pages` is told where memory begins that holds nothing yet, and how much it is. It must
    /// not read or change it.
    pub const fn new(prefer_large_pages: fn(start: *const u8, bytes: usize)) -> Self {
        MemoryAdvice { prefer_large_pages }
    }

    /// Gives the advice for some memory.
    #[inline]
    pub(crate) fn give<T>(self, memory: &mut [MaybeUninit<T>]) {
        (self.prefer_large_pages)(memory.as_ptr().cast(), size_of_val(memory));
    }
}

impl Default for MemoryAdvice {
    fn default() -> Self {
        MemoryAdvice::new(|_, _| {})
    }
}
