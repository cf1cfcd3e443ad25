//! Time on the CCNx wire: a count of 2^-12 s, big-endian, in a BLOB of one to eight bytes.

use std::fmt;

use crate::UnixTime;
use crate::time::Duration;

/// A span of time (InterestLifetime) or a point in it (Timestamp, counted from 1970) in units of 1/4096 s.
///
/// Leading zeros are allowed and sent by real programs, so the width is kept, and two values that differ only
/// in it are not equal; compare their [`count`](Ticks::count).
///
/// ```
/// use cairn_packet::ccnx::Ticks;
/// use cairn_packet::time::Duration;
/// assert_eq!(Ticks::from_duration(Duration::from_secs(4)).as_bytes(), [0x40, 0x00]);
/// assert_eq!(Ticks::from_unix(1_234_567_890, 0).as_bytes(), [0x04, 0x99, 0x60, 0x2d, 0x20, 0x00]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticks {
    bytes: [u8; 8],
    width: u8,
}

impl Ticks {
    /// How many bytes a Timestamp may have: CCNx 0.8.2 refuses others. An InterestLifetime may have any
    /// number from one to eight.
    pub const TIMESTAMP_WIDTHS: std::ops::RangeInclusive<usize> = 3..=7;

    /// Ticks in a second.
    pub const PER_SECOND: u64 = 4096;

    /// `count` ticks in as few bytes as will do, but two at least, which is what CCNx 0.8.2 writes.
    pub const fn from_count(count: u64) -> Self {
        let needed = 8 - count.leading_zeros() as u8 / 8;
        Ticks { bytes: count.to_be_bytes(), width: if needed < 2 { 2 } else { needed } }
    }

    /// The same count in as many bytes as a Timestamp has at least.
    pub(crate) fn for_timestamp(self) -> Self {
        let least = *Self::TIMESTAMP_WIDTHS.start() as u8;
        Ticks { width: self.width.max(least), ..self }
    }

    /// The ticks on the wire as `bytes`; `None` unless there are 1 to 8.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let width = u8::try_from(bytes.len()).ok().filter(|width| (1..=8).contains(width))?;
        let mut all = [0; 8];
        all[8 - bytes.len()..].copy_from_slice(bytes);
        Some(Ticks { bytes: all, width })
    }

    /// The moment `secs` seconds and `nanos` nanoseconds after the start of 1970, rounded to the nearest
    /// tick.
    pub const fn from_unix(secs: u64, nanos: u32) -> Self {
        let fraction = (nanos as u64 / 5 * 8 + 195_312) / 390_625;
        Ticks::from_count(secs.saturating_mul(Self::PER_SECOND).saturating_add(fraction))
    }

    /// The span `duration`, rounded to the nearest tick.
    pub const fn from_duration(duration: Duration) -> Self {
        let nanos = duration.as_nanos();
        Ticks::from_unix(nanos / 1_000_000_000, (nanos % 1_000_000_000) as u32)
    }

    /// `span` as FreshnessSeconds counts it, in whole ones: what is less than one is one.
    pub fn whole_seconds(span: Duration) -> u32 {
        u32::try_from(span.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
    }

    /// How many ticks.
    pub const fn count(self) -> u64 {
        u64::from_be_bytes(self.bytes)
    }

    /// The BLOB on the wire.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(8 - usize::from(self.width)..).unwrap_or_default()
    }

    /// The span, rounded down to a nanosecond; [`Duration::MAX`] if it is longer than that.
    pub fn duration(self) -> Duration {
        let nanos = u128::from(self.count()) * 1_953_125 / 8;
        u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
    }

    /// The moment as seconds and nanoseconds after the start of 1970, rounded down.
    pub const fn unix(self) -> (u64, u32) {
        let count = self.count();
        (count / Self::PER_SECOND, (count % Self::PER_SECOND * 1_953_125 / 8) as u32)
    }
}

impl From<UnixTime> for Ticks {
    fn from(time: UnixTime) -> Self {
        let millis = time.as_millis();
        Ticks::from_unix(millis / 1000, (millis % 1000) as u32 * 1_000_000)
    }
}

impl fmt::Debug for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticks({} in {} bytes)", self.count(), self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_is_kept_and_none_beyond_eight_bytes_taken() {
        for width in 1..=8 {
            let bytes = vec![0; width];
            let ticks = Ticks::from_bytes(&bytes).unwrap();
            assert_eq!(ticks.as_bytes(), bytes);
            assert_eq!(ticks.count(), 0);
        }
        assert_eq!(Ticks::from_bytes(&[]), None);
        assert_eq!(Ticks::from_bytes(&[0; 9]), None);
        assert_eq!(Ticks::from_bytes(&[0xff; 8]).unwrap().count(), u64::MAX);
    }

    #[test]
    fn counts_are_written_in_as_few_bytes_as_will_do_but_two() {
        for (count, width) in
            [(0, 2), (0xff, 2), (0xffff, 2), (0x1_0000, 3), (u64::MAX >> 1, 8), (u64::MAX, 8)]
        {
            let ticks = Ticks::from_count(count);
            assert_eq!((ticks.count(), ticks.as_bytes().len()), (count, width));
        }
    }

    #[test]
    fn a_tick_survives_the_way_through_nanoseconds() {
        for count in (0..5000).chain([1 << 20, (1 << 20) + 1, 123_456_789_012]) {
            let ticks = Ticks::from_count(count);
            assert_eq!(Ticks::from_duration(ticks.duration()), ticks);
            let (secs, nanos) = ticks.unix();
            assert_eq!(Ticks::from_unix(secs, nanos), ticks);
        }
        assert_eq!(Ticks::from_count(u64::MAX).duration(), Duration::MAX);
        assert_eq!(Ticks::from_unix(0, 999_999_999).count(), 4096);
    }
}
