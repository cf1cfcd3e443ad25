//! How far a host's clock is from the lab's, from exchanges of times over a connection that stands.
//!
//! The lab notes when it asks, the host when it was asked and when it answers, the lab when the answer came.
//! Half of the difference is the offset, as in NTP, and it is off by at most half of the time under way. What
//! waited somewhere took longer, so the exchange that took least is believed and the others are not.

use serde::{Deserialize, Serialize};

/// One exchange, in nanoseconds since the epoch, each by the clock of who noted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) asked: u64,
    pub(super) received: u64,
    pub(super) answered: u64,
    pub(super) came: u64,
}

/// A host's clock, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// What the host's clock shows more than the lab's.
    pub offset_ns: i64,
    /// How far that may be wrong.
    pub error_ns: u64,
}

impl Exchange {
    fn clock(self) -> ClockOffset {
        let signed = |later: u64, earlier: u64| i128::from(later) - i128::from(earlier);
        let there = signed(self.received, self.asked);
        let back = signed(self.answered, self.came);
        let under_way = signed(self.came, self.asked) - signed(self.answered, self.received);
        ClockOffset {
            offset_ns: i64::try_from((there + back) / 2).unwrap_or(i64::MAX),
            // An exchange in which a clock was set may seem to have taken less than no time: it is worth
            // nothing.
            error_ns: u64::try_from(under_way / 2).unwrap_or(u64::MAX),
        }
    }
}

impl ClockOffset {
    /// What the best of these exchanges says; nothing without one.
    pub(super) fn of(exchanges: &[Exchange]) -> Option<Self> {
        exchanges.iter().map(|exchange| exchange.clock()).min_by_key(|clock| clock.error_ns)
    }

    /// The clock over a run, from before and after it: the middle, and as wrong as either, and as half of the
    /// way between.
    pub(super) fn between(self, after: Self) -> Self {
        let drift = self.offset_ns.abs_diff(after.offset_ns);
        ClockOffset {
            offset_ns: i64::midpoint(self.offset_ns, after.offset_ns),
            error_ns: self.error_ns.max(after.error_ns).saturating_add(drift / 2),
        }
    }

    /// A moment of the lab's clock by the host's.
    #[must_use]
    pub fn at_host(self, lab_ns: u64) -> u64 {
        lab_ns.saturating_add_signed(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    /// Exchanges with a host whose clock is ahead, over a path whose delay each way is at least `least`, and
    /// more when it likes.
    fn exchanges(ahead: i64, least: u64, random: &mut Random) -> Vec<Exchange> {
        let mut now = 1_700_000_000_000_000_000;
        let delay = |random: &mut Random| {
            let waits = if random.chance(0.4) { random.below(20_000_000) } else { random.below(20_000) };
            least + waits
        };
        (0..40)
            .map(|_| {
                let asked = now;
                let received = asked + delay(random);
                let answered = received + random.below(50_000);
                let came = answered + delay(random);
                now = came + 1_000_000;
                let by_host = |time: u64| time.saturating_add_signed(ahead);
                Exchange { asked, received: by_host(received), answered: by_host(answered), came }
            })
            .collect()
    }

    #[test]
    fn the_offset_is_found_within_the_error_it_names_whatever_waits_under_way() {
        let mut random = Random::from_seed(7);
        for round in 0..200u64 {
            let ahead = i64::try_from(random.below(4_000_000_000)).unwrap() - 2_000_000_000;
            let clock = ClockOffset::of(&exchanges(ahead, 100_000 + round * 1000, &mut random)).unwrap();
            assert!(clock.offset_ns.abs_diff(ahead) <= clock.error_ns, "{clock:?} {ahead}");
            assert!(clock.error_ns < 1_000_000, "forty exchanges find one that did not wait: {clock:?}");
        }
    }

    #[test]
    fn what_a_clock_ran_away_during_a_run_counts_as_error() {
        let (before, after) =
            (ClockOffset { offset_ns: 100, error_ns: 10 }, ClockOffset { offset_ns: 4_100, error_ns: 20 });
        assert_eq!(before.between(after), ClockOffset { offset_ns: 2_100, error_ns: 2_020 });
        assert_eq!(before.at_host(1_000), 1_100);
        assert_eq!(ClockOffset { offset_ns: -100, error_ns: 0 }.at_host(1_000), 900);
    }

    #[test]
    fn an_exchange_during_which_a_clock_was_set_is_not_believed() {
        let good = Exchange { asked: 0, received: 1_000_000, answered: 1_000_100, came: 2_000 };
        let set = Exchange { asked: 0, received: 9_000, answered: 99_000, came: 2_000 };
        assert_eq!(ClockOffset::of(&[set, good]), Some(ClockOffset { offset_ns: 999_050, error_ns: 950 }));
        assert_eq!(ClockOffset::of(&[]), None);
    }
}
