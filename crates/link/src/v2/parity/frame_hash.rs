//! What frames are known by in a parity frame.

/// Hash of a frame: SipHash-1-3 of its bytes under a key of zeros, so that all ends of a link agree.
///
/// Anybody can compute it, and find two frames of the same hash with some 2³² attempts. What is rebuilt with
/// such frames has to have the hash that was named for it as well, and to make that true takes 2⁶⁴.
pub(crate) fn frame_hash(frame: &[u8]) -> u64 {
    let mut state = State {
        v0: 0x736f_6d65_7073_6575,
        v1: 0x646f_7261_6e64_6f6d,
        v2: 0x6c79_6765_6e65_7261,
        v3: 0x7465_6462_7974_6573,
    };
    let (words, rest) = frame.as_chunks::<8>();
    for word in words {
        state.absorb(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    last[7] = frame.len() as u8;
    state.absorb(u64::from_le_bytes(last));
    state.v2 ^= 0xff;
    (0..3).for_each(|_| state.round());
    state.v0 ^ state.v1 ^ state.v2 ^ state.v3
}

struct State {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl State {
    #[inline(always)]
    fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.v0 ^= word;
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

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher as _};

    use super::*;

    #[test]
    fn the_hash_is_the_siphash_1_3_of_the_standard_library() {
        let bytes: Vec<u8> = (0..100u8).map(|number| number.wrapping_mul(7)).collect();
        for len in 0..bytes.len() {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes[..len]);
            assert_eq!(frame_hash(&bytes[..len]), hasher.finish(), "{len}");
        }
    }
}
