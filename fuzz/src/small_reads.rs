//! A reader that gives a few bytes at a time.

use std::io::Read;

/// Reads these bytes, at most so many at once.
#[derive(Debug)]
pub struct SmallReads<'a>(pub &'a [u8], pub usize);

impl Read for SmallReads<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(into.len());
        self.0.read(&mut into[..length])
    }
}
