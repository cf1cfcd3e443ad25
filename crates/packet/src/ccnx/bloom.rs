//! Bloom filters as CCNx 0.8 puts them into an Exclude.
//!
//! New programs should not make any: a component that is excluded by accident can never be asked for with
//! that filter.
//!
//! Layout: logarithm of the number of bits, number of hash functions, method `A`, a reserved byte, the seed
//! in four bytes, then the bits; bit *i* is bit *i* mod 8, from the least significant, of byte *i* / 8.

/// A filter inside a message, which it borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloomRef<'a> {
    hashing: Hashing,
    bits: &'a [u8],
}

/// A filter that is being filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bloom {
    hashing: Hashing,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hashing {
    lg_bits: u8,
    functions: u8,
    seed: u32,
}

const HEADER_BYTES: usize = 8;
const METHOD: u8 = b'A';

impl<'a> BloomRef<'a> {
    /// The filter with these bytes; `None` if they are not one. The Exclude rule counts that as "everything
    /// is in it".
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (header, bits) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let &[lg_bits, functions, method, reserved, seed @ ..] = header;
        let hashing = Hashing::new(lg_bits, functions, u32::from_be_bytes(seed))?;
        (method == METHOD && reserved == 0 && bits.len() == hashing.bits_len())
            .then_some(BloomRef { hashing, bits })
    }

    /// Whether `component` is, perhaps, in the filter. False is certain.
    pub fn contains(&self, component: &[u8]) -> bool {
        self.hashing
            .positions(component)
            .all(|bit| self.bits.get(bit >> 3).is_some_and(|byte| byte >> (bit & 7) & 1 != 0))
    }
}

impl Bloom {
    /// An empty filter for about `expected` components, with the sizes that CCNx 0.8.2 chooses.
    pub fn new(expected: usize, seed: u32) -> Self {
        let expected = expected.max(1);
        let mut lg_bits = 13u8;
        while lg_bits > 3 && 1usize << lg_bits > expected.saturating_mul(12) {
            lg_bits -= 1;
        }
        let functions = (9usize << lg_bits) / expected.saturating_mul(13).saturating_add(1);
        Self::sized(Hashing { lg_bits, functions: functions.clamp(2, 32) as u8, seed })
    }

    /// An empty filter of 2^`lg_bits` bits (3 to 13) with this many hash functions (1 to 32); `None` outside
    /// these.
    pub fn with_sizes(lg_bits: u8, functions: u8, seed: u32) -> Option<Self> {
        Hashing::new(lg_bits, functions, seed).map(Self::sized)
    }

    /// Puts `component` into the filter.
    pub fn insert(&mut self, component: &[u8]) {
        for bit in self.hashing.positions(component) {
            if let Some(byte) = self.bytes.get_mut(HEADER_BYTES + (bit >> 3)) {
                *byte |= 1 << (bit & 7);
            }
        }
    }

    /// The filter as it stands in a Bloom element.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn sized(hashing: Hashing) -> Self {
        let mut bytes = vec![hashing.lg_bits, hashing.functions, METHOD, 0];
        bytes.extend(hashing.seed.to_be_bytes());
        bytes.resize(HEADER_BYTES + hashing.bits_len(), 0);
        Bloom { hashing, bytes }
    }
}

impl Hashing {
    fn new(lg_bits: u8, functions: u8, seed: u32) -> Option<Self> {
        ((3..=13).contains(&lg_bits) && (1..=32).contains(&functions)).then_some(Hashing {
            lg_bits,
            functions,
            seed,
        })
    }

    fn bits_len(self) -> usize {
        1 << (self.lg_bits - 3)
    }

    /// The bits that stand for `component`.
    fn positions(self, component: &[u8]) -> impl Iterator<Item = usize> + use<> {
        let mut state = self.seed & STATE_MASK;
        for &byte in component {
            state = step(state, u32::from(byte) + 1);
        }
        let mask = (1u32 << self.lg_bits) - 1;
        (0..self.functions).map(move |_| {
            state = step(state, 0);
            (state & mask) as usize
        })
    }
}

const STATE_MASK: u32 = 0x7fff_ffff;

/// One step of a feedback shift register of 31 bits, 13 of them at a time.
fn step(state: u32, input: u32) -> u32 {
    let low = state & 0x1fff;
    ((state >> 13) ^ (low << 18) ^ low).wrapping_add(input) & STATE_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sample of ccnx-0.8, section 3.1.
    const SAMPLE: [u8; 16] = [6, 4, 0x41, 0, 1, 2, 3, 4, 0x40, 0, 0x0c, 0x80, 0x02, 0x06, 0, 0x10];

    #[test]
    fn the_filter_is_that_of_the_specification() {
        let mut bloom = Bloom::with_sizes(6, 4, 0x0102_0304).unwrap();
        bloom.insert(b"foo");
        bloom.insert(b"bar");
        assert_eq!(bloom.as_bytes(), SAMPLE);
        let read = BloomRef::decode(&SAMPLE).unwrap();
        assert!(read.contains(b"foo") && read.contains(b"bar"));
        assert!(!read.contains(b"baz") && !read.contains(b""));
    }

    #[test]
    fn nothing_that_was_inserted_is_ever_missed() {
        for expected in [0, 1, 10, 100, 1000, usize::MAX] {
            let mut bloom = Bloom::new(expected, 42);
            let components: Vec<String> = (0..expected.min(1000)).map(|i| format!("component{i}")).collect();
            for component in &components {
                bloom.insert(component.as_bytes());
            }
            let read = BloomRef::decode(bloom.as_bytes()).unwrap();
            assert!(components.iter().all(|component| read.contains(component.as_bytes())));
        }
    }

    #[test]
    fn bytes_that_are_no_filter_are_told_apart() {
        for (at, byte) in [(0, 2), (0, 14), (0, 7), (1, 0), (1, 33), (2, 0x42), (3, 1)] {
            let mut bytes = SAMPLE;
            bytes[at] = byte;
            assert_eq!(BloomRef::decode(&bytes), None, "{at} {byte}");
        }
        for len in 0..SAMPLE.len() {
            assert_eq!(BloomRef::decode(&SAMPLE[..len]), None);
        }
        // All bits set: what ccnslurp sends as a fence that lets nothing through.
        let fence = BloomRef::decode(&[3, 1, 0x41, 0, 0, 0, 0, 0, 0xff]).unwrap();
        assert!(fence.contains(b"anything"));
    }
}
