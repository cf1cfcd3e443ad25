//! A hint to the processor that memory will be read soon. The only unsafe code of this crate.

/// Asks for the cache line at the start of `place`. Never changes what the program computes.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction has no safe wrapper"))]
pub(crate) fn prefetch<T: ?Sized>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no architectural effect: it cannot fault, and it writes nothing. The pointer comes from a
    // reference and so is valid anyhow. SSE, which the instruction belongs to, is part of every x86_64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast::<i8>());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
