//! Round-trip times (RFC 6298).
//!
//! The arithmetic is [`packet::SmoothedRoundTrip`]'s, as in the link service's retransmission. `flow`'s
//! `RoundTrip` is another estimator because the owner of a transfer chooses its weights and margin, for which
//! it counts in floating point; of this one a strategy keeps one for each face of each route, so it has
//! neither weights nor bounds.

use packet::time::Duration;
use packet::{SmoothedRoundTrip, TimeoutBounds};

/// Estimates the round-trip time, and how long to wait for an answer before it counts as lost.
///
/// Timeouts do not back it off: each strategy has its own way to deal with them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttEstimator {
    /// None before the first measurement.
    estimate: Option<SmoothedRoundTrip>,
}

impl RttEstimator {
    /// Takes one measurement.
    pub(super) fn measure(&mut self, rtt: Duration) {
        self.estimate = Some(SmoothedRoundTrip::after(self.estimate, rtt));
    }

    /// SRTT; `None` before the first measurement.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.smoothed)
    }

    /// RTO.
    pub(super) fn timeout(&self) -> Duration {
        TimeoutBounds::DEFAULT.bound(self.estimate.map(SmoothedRoundTrip::timeout), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    #[test]
    fn estimates_follow_the_formulas_of_the_rfc() {
        let mut random = Random::from_seed(4);
        let mut estimator = RttEstimator::default();
        assert_eq!((estimator.smoothed(), estimator.timeout()), (None, Duration::from_secs(1)));
        let (mut srtt, mut rttvar) = (0.0, 0.0);
        for number in 0..1000 {
            let rtt = 0.050 + random.unit() * 0.4;
            estimator.measure(Duration::from_secs_f64(rtt));
            if number == 0 {
                (srtt, rttvar) = (rtt, rtt / 2.0);
            } else {
                rttvar = 0.75 * rttvar + 0.25 * f64::abs(srtt - rtt);
                srtt = 0.875 * srtt + 0.125 * rtt;
            }
            assert!((estimator.smoothed().unwrap().as_secs_f64() - srtt).abs() < 1e-7);
            let rto = (srtt + 4.0 * rttvar).clamp(0.2, 60.0);
            assert!((estimator.timeout().as_secs_f64() - rto).abs() < 1e-6);
        }
    }

    #[test]
    fn timeouts_stay_within_their_bounds_whatever_is_measured() {
        let mut estimator = RttEstimator::default();
        estimator.measure(Duration::ZERO);
        assert_eq!(estimator.timeout(), TimeoutBounds::DEFAULT.min);
        for rtt in [Duration::MAX, Duration::ZERO, Duration::MAX] {
            estimator.measure(rtt);
            assert!(estimator.timeout() <= TimeoutBounds::DEFAULT.max);
        }
    }
}
