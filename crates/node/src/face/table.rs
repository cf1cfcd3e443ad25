//! Faces by their numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::{Deref, DerefMut};

use engine::FaceId;

use super::Face;

/// All faces by number.
///
/// The node gives the numbers out itself, one after the other, so they need no hashing.
#[derive(Default)]
pub(crate) struct Faces(HashMap<FaceId, Box<Face>, BuildHasherDefault<NumberHasher>>);

impl Deref for Faces {
    type Target = HashMap<FaceId, Box<Face>, BuildHasherDefault<NumberHasher>>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Faces {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

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
