//! What an honest client has seen in one phase.

use std::time::Duration;

/// Exchanges of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Interests that were sent, or should have been and found no room.
    pub(crate) sent: u64,
    /// Those among them that came back as a Nack.
    pub(crate) nacked: u64,
    /// Those among them that got somebody else's answer.
    pub(crate) forged: u64,
    /// How long the good answers took, in nanoseconds, in no order.
    round_trips: Vec<u64>,
}

impl Figures {
    /// A good answer came.
    pub(crate) fn answered(&mut self, round_trip: Duration) {
        self.round_trips.push(u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Interests without a good answer in time: silence, Nacks and forged answers alike.
    pub(crate) fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.round_trips.len() as u64)
    }

    /// The share of them, from 0 to 1; all is lost where nothing was sent, for then nothing was shown.
    pub(crate) fn loss(&self) -> f64 {
        if self.sent == 0 { 1.0 } else { self.lost() as f64 / self.sent as f64 }
    }

    /// The round trip that so great a share of the answers does not exceed ([`packet::quantile`]); `None`
    /// without answers.
    pub(crate) fn quantile(&self, share: f64) -> Option<Duration> {
        let mut sorted = self.round_trips.clone();
        sorted.sort_unstable();
        let at = |place: usize| sorted.get(place).copied().unwrap_or_default() as f64;
        packet::quantile(sorted.len(), share, at).map(|nanos| Duration::from_nanos(nanos as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sent: u64, round_trips: impl IntoIterator<Item = u64>) -> Figures {
        let mut figures = Figures { sent, ..Figures::default() };
        for micros in round_trips {
            figures.answered(Duration::from_micros(micros));
        }
        figures
    }

    #[test]
    fn quantiles_are_between_neighbours_by_proportion() {
        let hundred = of(100, (1..=100).rev());
        assert_eq!(hundred.quantile(0.5), Some(Duration::from_nanos(50_500)));
        assert_eq!(hundred.quantile(0.99), Some(Duration::from_nanos(99_010)));
        assert_eq!(hundred.quantile(1.0), Some(Duration::from_micros(100)));
        assert_eq!(of(1, [7]).quantile(0.99), Some(Duration::from_micros(7)));
        assert_eq!(of(1, []).quantile(0.5), None);
    }

    #[test]
    fn what_was_not_answered_is_lost_whatever_came_instead() {
        let figures = Figures { nacked: 1, forged: 1, ..of(10, 0..7) };
        assert_eq!((figures.lost(), figures.loss()), (3, 0.3));
    }

    #[test]
    fn nothing_is_shown_while_our_side_is_silent() {
        assert!(Figures::default().loss() >= 1.0);
    }
}
