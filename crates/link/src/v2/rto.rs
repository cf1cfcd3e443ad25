//! How long to wait for an acknowledgement: RFC 6298 with the constants NFD uses.
//!
//! The arithmetic is [`packet::SmoothedRoundTrip`]'s, as for the engine's strategies. Its own is how far a
//! timeout backs off, for what the peer has to remember depends on that.

use packet::time::Duration;
use packet::{SmoothedRoundTrip, TimeoutBounds};

/// Estimates the retransmission timeout from round-trip times: smoothed with α = 1/8, varied with β = 1/4,
/// and four times the variation on top. A timeout that passes doubles it until the next round-trip time is
/// known (RFC 6298, section 5.5; `RttEstimator::backoffRto` of ndn-cxx). NFD's link service leaves that out,
/// and over a line whose queue takes longer than the timeout repeats every frame until it gives up.
///
/// It doubles twice and no more: Acks that come too late tell the true round trip, so that is enough, and the
/// peer must remember what it has received for as long as this end may repeat it.
#[derive(Clone, Debug)]
pub(crate) struct RtoEstimator {
    bounds: TimeoutBounds,
    smoothed: Option<SmoothedRoundTrip>,
    /// How often the timeout was doubled since the last sample.
    backoffs: u32,
}

const MAX_BACKOFFS: u32 = 2;

impl RtoEstimator {
    pub(crate) fn new(bounds: TimeoutBounds) -> Self {
        RtoEstimator { bounds, smoothed: None, backoffs: 0 }
    }

    /// Takes in the round-trip time of one transmission.
    pub(crate) fn add_sample(&mut self, sample: Duration) {
        self.backoffs = 0;
        self.smoothed = Some(SmoothedRoundTrip::after(self.smoothed, sample));
    }

    /// Doubles the timeout, for it has passed without an acknowledgement.
    pub(crate) fn back_off(&mut self) {
        self.backoffs = (self.backoffs + 1).min(MAX_BACKOFFS);
    }

    /// The smoothed round-trip time, once there is one.
    pub(crate) fn smoothed_round_trip(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| smoothed.smoothed)
    }

    /// The current timeout.
    pub(crate) fn timeout(&self) -> Duration {
        self.bounds.bound(self.measured(), self.backoffs)
    }

    /// The longest timeout there may be unless round trips change.
    pub(crate) fn longest_timeout(&self) -> Duration {
        let least = self.measured().map(|timeout| timeout.max(self.bounds.initial));
        self.bounds.bound(least, MAX_BACKOFFS)
    }

    /// The timeout by what was measured alone.
    fn measured(&self) -> Option<Duration> {
        self.smoothed.map(SmoothedRoundTrip::timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_timeout_follows_rfc_6298_on_a_worked_sequence() {
        let bounds = TimeoutBounds { min: Duration::ZERO, ..TimeoutBounds::default() };
        let mut rto = RtoEstimator::new(bounds);
        assert_eq!(rto.timeout(), millis(1000));
        rto.add_sample(millis(400)); // 400 + 4 * 200
        assert_eq!(rto.timeout(), millis(1200));
        rto.add_sample(millis(480)); // rttvar (3*200 + 80) / 4 = 170, srtt (7*400 + 480) / 8 = 410
        assert_eq!(rto.smoothed_round_trip(), Some(millis(410)));
        assert_eq!(rto.timeout(), millis(1090));
        rto.add_sample(millis(330)); // rttvar (3*170 + 80) / 4 = 147.5, srtt (7*410 + 330) / 8 = 400
        assert_eq!(rto.timeout(), millis(990));
    }

    #[test]
    fn the_timeout_doubles_twice_when_it_passes_and_a_round_trip_brings_it_back() {
        let mut rto = RtoEstimator::new(TimeoutBounds::default());
        let timeouts = [(); 4].map(|()| {
            rto.back_off();
            rto.timeout()
        });
        assert_eq!(timeouts, [2, 4, 4, 4].map(Duration::from_secs));
        assert_eq!(rto.longest_timeout(), Duration::from_secs(4));
        rto.add_sample(millis(400));
        assert_eq!(rto.timeout(), millis(1200));
    }

    #[test]
    fn the_timeout_stays_within_its_bounds() {
        let mut rto = RtoEstimator::new(TimeoutBounds::default());
        for _ in 0..100 {
            rto.add_sample(Duration::from_micros(50));
        }
        assert_eq!(rto.timeout(), millis(200));
        rto.add_sample(Duration::from_secs(3600));
        assert_eq!(rto.timeout(), Duration::from_secs(60));
        rto.add_sample(Duration::MAX);
        assert_eq!(rto.timeout(), Duration::from_secs(60));
    }
}
