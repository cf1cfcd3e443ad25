//! What the clock of a node shows, which is not always what time it is.

use packet::time::{Duration, Instant};

/// A clock that may be off, run fast or slow, and tick coarsely. The default is perfect.
///
/// Whoever has such a clock sees its reading, and when it asks to be called at some reading it is called when
/// the clock first shows that much: with a tick of 10 ms that is at a tick.
///
/// ```
/// use packet::time::{Duration, Instant};
/// use cairn_sim::Clock;
///
/// let coarse = Clock { tick: Duration::from_millis(10), ..Clock::PERFECT };
/// assert_eq!(coarse.reading(Instant::from_millis(37)), Instant::from_millis(30));
/// assert_eq!(coarse.when(Instant::from_millis(31)), Instant::from_millis(40));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What the clock shows at the beginning of time.
    pub offset: Duration,
    /// Nanoseconds that the clock gains in a second; negative if it loses. Clamped to half a second each
    /// way.
    pub drift_nanos_per_second: i64,
    /// The reading is a multiple of this; zero for a clock as fine as time itself.
    pub tick: Duration,
}

impl Clock {
    /// A clock that is always right.
    pub const PERFECT: Clock =
        Clock { offset: Duration::ZERO, drift_nanos_per_second: 0, tick: Duration::ZERO };

    /// What the clock shows at a time.
    #[inline]
    pub fn reading(&self, time: Instant) -> Instant {
        if self.is_perfect() {
            return time;
        }
        let fine = self.fine_reading(time);
        match fine.checked_rem(self.tick.as_nanos()) {
            None => Instant::from_nanos(fine),
            Some(rest) => Instant::from_nanos(fine - rest),
        }
    }

    /// The first time at which the clock shows `reading` or more.
    #[inline]
    pub fn when(&self, reading: Instant) -> Instant {
        if self.is_perfect() || reading == Instant::NEVER {
            return reading;
        }
        let wanted = match self.tick.as_nanos() {
            0 => reading.as_nanos(),
            tick => reading.as_nanos().div_ceil(tick).saturating_mul(tick),
        };
        let span = u128::from(wanted.saturating_sub(self.offset.as_nanos()));
        let mut time = clamped(span * NANOS / self.nanos_per_second());
        // Rounding may have left the guess one off.
        while self.fine_reading(Instant::from_nanos(time)) < wanted && time < u64::MAX {
            time += 1;
        }
        Instant::from_nanos(time)
    }

    /// Asked often, so all at once.
    #[inline(always)]
    fn is_perfect(&self) -> bool {
        self.offset.as_nanos() | self.drift_nanos_per_second.cast_unsigned() | self.tick.as_nanos() == 0
    }

    fn fine_reading(&self, time: Instant) -> u64 {
        let run = clamped(u128::from(time.as_nanos()) * self.nanos_per_second() / NANOS);
        run.saturating_add(self.offset.as_nanos())
    }

    fn nanos_per_second(&self) -> u128 {
        let drift = self.drift_nanos_per_second.clamp(-500_000_000, 500_000_000);
        NANOS.saturating_add_signed(drift.into())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Clock::PERFECT
    }
}

/// A clock that is read for every packet: a perfect one, as almost all are, costs a single question.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EngineClock(Option<Clock>);

impl EngineClock {
    pub(crate) fn new(clock: Clock) -> Self {
        EngineClock((!clock.is_perfect()).then_some(clock))
    }

    /// See [`Clock::reading`].
    #[inline(always)]
    pub(crate) fn reading(&self, time: Instant) -> Instant {
        self.0.as_ref().map_or(time, |clock| clock.reading(time))
    }

    /// See [`Clock::when`].
    #[inline(always)]
    pub(crate) fn when(&self, reading: Instant) -> Instant {
        self.0.as_ref().map_or(reading, |clock| clock.when(reading))
    }
}

const NANOS: u128 = 1_000_000_000;

fn clamped(nanos: u128) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_clock() -> impl Strategy<Value = Clock> {
        (0..10_000_000_000u64, -600_000_000i64..600_000_000, prop_oneof![Just(0), 1..1_000_000_000u64])
            .prop_map(|(offset, drift_nanos_per_second, tick)| Clock {
                offset: Duration::from_nanos(offset),
                drift_nanos_per_second,
                tick: Duration::from_nanos(tick),
            })
    }

    proptest! {
        #[test]
        fn the_clock_first_shows_a_reading_when_it_says(clock in any_clock(), reading in 0..u64::MAX / 4) {
            let reading = Instant::from_nanos(reading);
            let time = clock.when(reading);
            prop_assert!(clock.reading(time) >= reading);
            if time > Instant::ZERO {
                prop_assert!(clock.reading(time - Duration::from_nanos(1)) < reading);
            }
        }

        #[test]
        fn a_clock_never_goes_back(clock in any_clock(), a in 0..u64::MAX / 4, step in 0..u64::MAX / 4) {
            prop_assert!(clock.reading(Instant::from_nanos(a)) <= clock.reading(Instant::from_nanos(a + step)));
        }
    }

    #[test]
    fn a_clock_that_gains_shows_more() {
        let clock = Clock { drift_nanos_per_second: 1_000, ..Clock::PERFECT };
        assert_eq!(clock.reading(Instant::from_secs(1000)), Instant::from_nanos(1_000_001_000_000));
        assert_eq!(Clock::default().when(Instant::NEVER), Instant::NEVER);
    }
}
