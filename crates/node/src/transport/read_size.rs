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

/// Whether what comes to a socket comes in one train at a time, as it does to one with few Interests under
/// way. Then one is read at a time: to look for another, in vain, and to have room for it, costs a tenth of
/// reading one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoneTrains {
    /// Reads that brought one train, one after another.
    in_a_row: u32,
}

/// After so many trains that came alone the next is taken to do so, too …
const SURE: u32 = 16;
/// … but one in so many reads looks for more.
const LOOK_EVERY: u32 = 16;

impl LoneTrains {
    /// How many trains the next read is to take, if it is to take no more than `most`.
    #[inline]
    pub(crate) fn limit(self, most: usize) -> usize {
        let looks = self.in_a_row < SURE || self.in_a_row.is_multiple_of(LOOK_EVERY);
        if looks { most } else { 1 }
    }

    /// The first read of a turn brought so many.
    #[inline]
    pub(crate) fn came(&mut self, trains: usize) {
        self.in_a_row = if trains == 1 { self.in_a_row.checked_add(1).unwrap_or(SURE) } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_that_come_alone_are_read_one_by_one_and_others_are_found_within_a_few_reads() {
        let mut lone = LoneTrains::default();
        for _ in 0..SURE {
            assert_eq!(lone.limit(8), 8);
            lone.came(1);
        }
        let limits: Vec<usize> = (0..3 * LOOK_EVERY)
            .map(|_| {
                lone.came(1);
                lone.limit(8)
            })
            .collect();
        assert_eq!(limits.iter().filter(|limit| **limit == 8).count(), 3);
        assert!(limits.chunks(LOOK_EVERY as usize).all(|some| some.contains(&8)));
        lone.came(2);
        assert_eq!(lone.limit(8), 8);
    }

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
