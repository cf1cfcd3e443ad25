//! Round-trip times, and how long to wait before an Interest counts as lost (RFC 6298).
//!
//! The engine's strategies and the link service have estimators of their own over
//! [`packet::SmoothedRoundTrip`]: those have the RFC's weights and whole nanoseconds, while here the owner of
//! a transfer chooses weights and margin.

use packet::TimeoutBounds;
use packet::time::{Duration, Instant};

/// Constants of a [`RoundTrip`] estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTripConfig {
    /// Weight of a new sample in the smoothed time (RFC 6298: 1/8), between 0 and 1.
    pub alpha: f64,
    /// Weight of a new sample in the variation (RFC 6298: 1/4), between 0 and 1.
    pub beta: f64,
    /// How many variations the timeout lies above the smoothed time. RFC 6298 says 4, the chunk tools of NDN
    /// 8, because answers out of caches on the way make round trips vary more than those of TCP.
    pub variations: f64,
    /// How far the timeout lies above the smoothed time at least. Where nothing varies for a while the
    /// variation dies away, and the first queue on the way would then make everything count as lost at
    /// once.
    pub min_margin: Duration,
    /// Bounds of the timeout, back-off included.
    pub bounds: TimeoutBounds,
}

impl Default for RoundTripConfig {
    fn default() -> Self {
        RoundTripConfig {
            alpha: 0.125,
            beta: 0.25,
            variations: 8.0,
            min_margin: Duration::from_millis(50),
            bounds: TimeoutBounds::DEFAULT,
        }
    }
}

/// Estimates the round-trip time from samples, with weights that can be chosen; in floating point, because
/// they need not be parts of two.
///
/// The owner gives no sample of an Interest that was sent more than once: nobody can tell which copy was
/// answered (Karn and Partridge). A timeout doubles [`RoundTrip::timeout`] until the next sample, at most
/// once for all Interests that were on their way at that time.
///
/// ```
/// use cairn_flow::RoundTrip;
/// use packet::time::{Duration, Instant};
/// let mut estimator = RoundTrip::default();
/// assert_eq!(estimator.timeout(), Duration::from_secs(1));
/// estimator.handle_sample(Instant::ZERO, Duration::from_millis(100));
/// assert_eq!(estimator.smoothed(), Some(Duration::from_millis(100)));
/// assert_eq!(estimator.timeout(), Duration::from_millis(500));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    config: RoundTripConfig,
    estimate: Option<Estimate>,
    /// How often the timeout is doubled.
    backed_off: u32,
    samples: u64,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// All in seconds.
    smoothed: f64,
    variation: f64,
    latest: f64,
    min: f64,
}

impl RoundTrip {
    /// An estimator without samples.
    pub fn new(config: RoundTripConfig) -> Self {
        RoundTrip { config, estimate: None, backed_off: 0, samples: 0 }
    }

    /// Takes one sample.
    pub fn handle_sample(&mut self, now: Instant, sample: Duration) {
        let _ = now;
        self.samples += 1;
        self.backed_off = 0;
        let sample = sample.as_secs_f64();
        self.estimate = Some(match self.estimate {
            None => Estimate { smoothed: sample, variation: sample / 2.0, latest: sample, min: sample },
            Some(old) => {
                let RoundTripConfig { alpha, beta, .. } = self.config;
                Estimate {
                    variation: (1.0 - beta) * old.variation + beta * (old.smoothed - sample).abs(),
                    smoothed: (1.0 - alpha) * old.smoothed + alpha * sample,
                    latest: sample,
                    min: old.min.min(sample),
                }
            }
        });
    }

    /// Doubles the timeout until the next sample.
    pub fn back_off(&mut self) {
        self.backed_off = (self.backed_off + 1).min(16);
    }

    /// How long to wait for an answer.
    pub fn timeout(&self) -> Duration {
        let measured = self.estimate.map(|estimate| {
            let margin = Duration::from_secs_f64(self.config.variations * estimate.variation);
            Duration::from_secs_f64(estimate.smoothed) + margin.max(self.config.min_margin)
        });
        self.config.bounds.bound(measured, self.backed_off)
    }

    /// The smoothed time; `None` before the first sample.
    pub fn smoothed(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_secs_f64(estimate.smoothed))
    }

    /// The mean deviation; `None` before the first sample.
    pub fn variation(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_secs_f64(estimate.variation))
    }

    /// The latest sample.
    pub fn latest(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_secs_f64(estimate.latest))
    }

    /// The shortest sample so far.
    pub fn min(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_secs_f64(estimate.min))
    }

    /// Samples taken.
    pub fn samples(&self) -> u64 {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_doubled_until_the_next_sample_and_never_passes_its_bounds() {
        let mut estimator = RoundTrip::default();
        estimator.handle_sample(Instant::ZERO, Duration::from_millis(1));
        assert_eq!(estimator.timeout(), Duration::from_millis(200));
        estimator.back_off();
        assert_eq!(estimator.timeout(), Duration::from_millis(400));
        for _ in 0..100 {
            estimator.back_off();
        }
        assert_eq!(estimator.timeout(), Duration::from_millis(13_107_200).min(Duration::from_secs(60)));
        estimator.handle_sample(Instant::ZERO, Duration::from_millis(1));
        assert_eq!(estimator.timeout(), Duration::from_millis(200));
        estimator.handle_sample(Instant::ZERO, Duration::MAX);
        assert_eq!(estimator.timeout(), Duration::from_secs(60));
    }

    #[test]
    fn a_steady_round_trip_is_found_and_its_variation_dies_away() {
        let mut estimator = RoundTrip::default();
        for _ in 0..100 {
            estimator.handle_sample(Instant::ZERO, Duration::from_millis(300));
        }
        assert!(estimator.variation().unwrap() < Duration::from_micros(1));
        assert_eq!(estimator.timeout(), Duration::from_millis(350));
        assert_eq!(estimator.min(), estimator.latest());
        assert_eq!(estimator.samples(), 100);
    }
}
