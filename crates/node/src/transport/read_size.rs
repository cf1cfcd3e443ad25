//! How much is read at once from a socket for datagrams: as much as is quickly worked off.

use packet::time::Duration;

/// What was read is to be worked off within this: what a source may take of a turn.
const QUICK: Duration = Duration::from_micros(100);
/// Bytes read at once from a socket for datagrams, about: few enough that they are still in the second-level
/// cache when they leave.
const MAX_BYTES_AT_ONCE: usize = 128 << 10;
/// … and no fewer than these, however much work they make: a few Interests.
const MIN_BYTES_AT_ONCE: usize = 256;

/// How much is read at once from one socket: as much as is quickly worked off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSize {
    bytes: usize,
}

impl Default for ReadSize {
    fn default() -> Self {
        ReadSize { bytes: MAX_BYTES_AT_ONCE }
    }
}

impl ReadSize {
    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }

    /// Adapts to the time that the last read took.
    pub(crate) fn took(&mut self, time: Duration) {
        if time > QUICK {
            self.bytes = (self.bytes / 2).max(MIN_BYTES_AT_ONCE);
        } else if time < QUICK / 4 {
            self.bytes = (self.bytes * 2).min(MAX_BYTES_AT_ONCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costly_packets_are_read_few_at_a_time_and_cheap_ones_many() {
        let mut size = ReadSize::default();
        (0..20).for_each(|_| size.took(QUICK * 2));
        assert_eq!(size.bytes(), MIN_BYTES_AT_ONCE);
        size.took(QUICK / 2);
        assert_eq!(size.bytes(), MIN_BYTES_AT_ONCE, "what fits is left as it is");
        (0..20).for_each(|_| size.took(QUICK / 8));
        assert_eq!(size.bytes(), MAX_BYTES_AT_ONCE);
    }
}
