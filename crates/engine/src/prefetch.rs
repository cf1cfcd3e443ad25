//! A hint to the processor that memory will be read soon. The only unsafe code of this crate.

/// Asks for all cache lines of `place`. Never changes what the program computes.
#[inline(always)]
pub(crate) fn prefetch<T: ?Sized>(place: &T) {
    let start = std::ptr::from_ref(place).cast::<i8>();
    let mut offset = 0;
    while offset < size_of_val(place) {
        prefetch_line(start.wrapping_add(offset));
        offset += LINE_BYTES;
    }
}

/// Asks for the first cache lines of `place`, which may be long.
#[inline(always)]
pub(crate) fn prefetch_start(place: &[u8]) {
    prefetch(place.get(..2 * LINE_BYTES).unwrap_or(place));
}

const LINE_BYTES: usize = 64;

#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction has no safe wrapper"))]
fn prefetch_line(line: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no architectural effect: it cannot fault whatever the address, and it writes nothing. SSE, which
    // the instruction belongs to, is part of every x86_64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
