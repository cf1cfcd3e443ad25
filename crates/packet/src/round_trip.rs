//! The arithmetic of round-trip times.

use crate::time::Duration;

/// A round-trip time as RFC 6298 smooths it: α = 1/8, β = 1/4, in whole nanoseconds, without a clock's
/// granularity. When to wait for how long is for its owner to say.
///
/// ```
/// use cairn_packet::SmoothedRoundTrip;
/// use cairn_packet::time::Duration;
///
/// let first = SmoothedRoundTrip::first(Duration::from_millis(400));
/// assert_eq!(first.timeout(), Duration::from_millis(1200));
/// assert_eq!(first.and(Duration::from_millis(480)).timeout(), Duration::from_millis(1090));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmoothedRoundTrip {
    /// SRTT.
    pub smoothed: Duration,
    /// RTTVAR.
    pub variation: Duration,
}

impl SmoothedRoundTrip {
    /// After one measurement.
    pub fn first(sample: Duration) -> Self {
        SmoothedRoundTrip { smoothed: sample, variation: sample / 2 }
    }

    /// After one more measurement, which may be the first.
    pub fn after(before: Option<Self>, sample: Duration) -> Self {
        before.map_or_else(|| SmoothedRoundTrip::first(sample), |before| before.and(sample))
    }

    /// After another one.
    pub fn and(self, sample: Duration) -> Self {
        let SmoothedRoundTrip { smoothed, variation } = self;
        let error = smoothed.saturating_sub(sample).max(sample.saturating_sub(smoothed));
        SmoothedRoundTrip { smoothed: (smoothed * 7 + sample) / 8, variation: (variation * 3 + error) / 4 }
    }

    /// SRTT and four times RTTVAR: the timeout, before its bounds.
    pub fn timeout(self) -> Duration {
        self.smoothed + self.variation * 4
    }
}

/// How long is waited for an answer before, and after, it is known how long answers take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutBounds {
    /// The timeout before anything has been measured. Default 1 s (RFC 6298, 2.1).
    pub initial: Duration,
    /// The shortest timeout. Default 200 ms: the RFC says a second, for the sake of TCP's delayed
    /// acknowledgements, which nobody here sends.
    pub min: Duration,
    /// The longest timeout. Default 60 s (RFC 6298, 2.5: at least that).
    pub max: Duration,
}

impl TimeoutBounds {
    /// The defaults.
    pub const DEFAULT: TimeoutBounds = TimeoutBounds {
        initial: Duration::from_secs(1),
        min: Duration::from_millis(200),
        max: Duration::from_secs(60),
    };

    /// What a timeout becomes within the bounds after it has been doubled so many times; the initial one if
    /// there is none.
    pub fn bound(&self, timeout: Option<Duration>, doublings: u32) -> Duration {
        (timeout.unwrap_or(self.initial).max(self.min) * (1 << doublings.min(31))).min(self.max)
    }
}

impl Default for TimeoutBounds {
    fn default() -> Self {
        TimeoutBounds::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_measured_overflows() {
        let longest = SmoothedRoundTrip::first(Duration::MAX);
        for sample in [Duration::MAX, Duration::ZERO] {
            let next = longest.and(sample);
            assert!(next.smoothed <= Duration::MAX && next.timeout() <= Duration::MAX);
        }
    }
}
