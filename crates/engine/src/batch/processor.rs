//! What processors can do and the language has no words for: fetch memory ahead, compare several words at
//! once. The only unsafe code of this crate; without it everything computes the same.

/// Asks for all cache lines of `place`. Never changes what the program computes.
#[inline(always)]
pub(crate) fn prefetch<T: ?Sized>(place: &T) {
    let start = std::ptr::from_ref(place).cast::<i8>();
    let size = size_of_val(place);
    let mut offset = 0;
    while offset < size {
        prefetch_line(start.wrapping_add(offset));
        offset += LINE_BYTES;
    }
    // What does not begin with a line may end in one more.
    if size > 1 && align_of_val(place) < LINE_BYTES {
        prefetch_line(start.wrapping_add(size - 1));
    }
}

/// Asks for the first bytes of `place`, as many as fill a cache line: of a packet, most of its name.
#[inline(always)]
pub(crate) fn prefetch_start(place: &[u8]) {
    let start = place.as_ptr().cast::<i8>();
    prefetch_line(start);
    prefetch_line(start.wrapping_add(place.len().min(LINE_BYTES).saturating_sub(1)));
}

/// Asks for the first cache line of a packet alone.
#[inline(always)]
pub(crate) fn prefetch_first_line(packet: &[u8]) {
    prefetch_line(packet.as_ptr().cast::<i8>());
}

const LINE_BYTES: usize = 64;

#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction has no safe wrapper"))]
fn prefetch_line(line: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no architectural effect: it cannot fault whatever the address, and it writes
    // nothing. SSE, which the instruction belongs to, is part of every x86_64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// A bit for every word that equals `wanted`, the first word's being the lowest.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instructions have no safe wrapper"))]
pub(crate) fn equal_words(words: &[u32; 8], wanted: u32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: these compute with values and touch no memory. SSE2, which they belong to, is part of every
    // x86_64.
    unsafe {
        use core::arch::x86_64::{
            _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
            _mm_setr_epi32, _mm_setzero_si128,
        };
        let [a, b, c, d, e, f, g, h] = words.map(u32::cast_signed);
        let wanted = _mm_set1_epi32(wanted.cast_signed());
        let low = _mm_cmpeq_epi32(_mm_setr_epi32(a, b, c, d), wanted);
        let high = _mm_cmpeq_epi32(_mm_setr_epi32(e, f, g, h), wanted);
        let bytes = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
        _mm_movemask_epi8(bytes).cast_unsigned()
    }
    #[cfg(not(target_arch = "x86_64"))]
    words.iter().enumerate().fold(0, |bits, (at, &word)| bits | u32::from(word == wanted) << at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_equal_word_has_its_bit_and_no_other_has() {
        for pattern in 0..256u32 {
            // Words that differ in one bit only, the highest or the lowest.
            let other = if pattern % 2 == 0 { 0x8000_0007 } else { 6 };
            let words = std::array::from_fn(|at| if pattern >> at & 1 == 1 { 7 } else { other });
            assert_eq!(equal_words(&words, 7), pattern);
        }
    }
}
