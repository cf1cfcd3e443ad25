//! Faces by their numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use engine::FaceId;

use super::Face;

/// All faces by number.
///
/// The node gives the numbers out itself, one after the other, so they need no hashing.
pub(crate) type Faces = HashMap<FaceId, Box<Face>, BuildHasherDefault<NumberHasher>>;

/// Spreads small numbers over the bits that the map looks at.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(20);
    }
}
