//! SipHash-1-3, a word at a time: the hash of names here, and of frames in parity frames.

/// What SipHash-1-3 has made of some words.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SipHash {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl SipHash {
    /// Of no words yet.
    #[must_use]
    pub fn new([first, second]: [u64; 2]) -> Self {
        SipHash {
            v0: first ^ 0x736f_6d65_7073_6575,
            v1: second ^ 0x646f_7261_6e64_6f6d,
            v2: first ^ 0x6c79_6765_6e65_7261,
            v3: second ^ 0x7465_6462_7974_6573,
        }
    }

    /// Of bytes, as the standard has it: in words, the last of which ends with their number.
    #[must_use]
    pub fn of_bytes(key: [u64; 2], bytes: &[u8]) -> u64 {
        let mut hash = SipHash::new(key);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            hash.absorb(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
        last[7] = bytes.len() as u8;
        hash.absorb(u64::from_le_bytes(last));
        hash.finish()
    }

    /// Takes one more word.
    #[inline(always)]
    pub fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.v0 ^= word;
    }

    /// The hash of all words so far.
    #[inline(always)]
    #[must_use]
    pub fn finish(mut self) -> u64 {
        self.v2 ^= 0xff;
        self.round();
        self.round();
        self.round();
        self.v0 ^ self.v1 ^ self.v2 ^ self.v3
    }

    #[inline(always)]
    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.rotate_left(32);
    }
}

/// A state tells the key.
impl std::fmt::Debug for SipHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SipHash")
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher as _};

    use super::*;

    #[test]
    fn under_a_key_of_zeros_it_is_the_hash_of_the_standard_library() {
        let bytes: Vec<u8> = (0..100u8).map(|number| number.wrapping_mul(7)).collect();
        for len in 0..bytes.len() {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes[..len]);
            assert_eq!(SipHash::of_bytes([0, 0], &bytes[..len]), hasher.finish(), "{len}");
        }
    }
}
