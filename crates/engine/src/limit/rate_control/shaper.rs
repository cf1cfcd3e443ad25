//! Interests that wait for their turn.

use std::collections::VecDeque;

use packet::Interest;
use packet::time::{Duration, Instant};

use super::Admission;
use crate::trigger::Trigger;

/// An Interest that waits, and what is needed to forward it.
#[derive(Clone, Debug)]
pub(crate) struct ShapedInterest {
    pub(crate) interest: Interest,
    pub(crate) trigger: Trigger,
    pub(crate) non_discovery: bool,
}

/// First come, first served, each some time after the one before, and no burst after a pause.
#[derive(Debug)]
pub(super) struct Shaper {
    held: VecDeque<ShapedInterest>,
    max_held: u32,
    next_turn: Instant,
    /// By which part of a nanosecond the next turn really is later. At a million Interests a second a
    /// nanosecond is a thousandth of what lies between two, and to lose it each time is to send faster
    /// than the link carries the answers.
    later: f64,
}

impl Shaper {
    pub(super) fn new(max_held: u32, now: Instant) -> Self {
        Shaper { held: VecDeque::new(), max_held, next_turn: now, later: 0.0 }
    }

    pub(super) fn admit(&self, now: Instant) -> Admission {
        match self.held.is_empty() && self.next_turn <= now {
            true => Admission::Forward,
            false if self.held.len() as u64 >= u64::from(self.max_held) => Admission::Full,
            false => Admission::Wait,
        }
    }

    pub(super) fn hold(&mut self, held: ShapedInterest) {
        self.held.push_back(held);
    }

    pub(super) fn held(&self) -> impl Iterator<Item = &ShapedInterest> {
        self.held.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// When the first may go on; `None` if none waits.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        (!self.held.is_empty()).then_some(self.next_turn)
    }

    pub(super) fn pop_due(&mut self, now: Instant) -> Option<ShapedInterest> {
        if self.next_turn <= now { self.held.pop_front() } else { None }
    }

    /// The next may go on so many seconds later. An owner that is late makes up for it while somebody waits,
    /// not after a pause.
    pub(super) fn spend_turn(&mut self, now: Instant, gap_seconds: f64) {
        if self.held.is_empty() && self.next_turn < now {
            (self.next_turn, self.later) = (now, 0.0);
        }
        let nanos = gap_seconds * 1e9 + self.later;
        // `as` and `max` turn what is no number into none.
        self.next_turn += Duration::from_nanos(nanos as u64);
        self.later = nanos.fract().max(0.0);
    }

    pub(super) fn release_all(&mut self) -> impl Iterator<Item = ShapedInterest> {
        std::mem::take(&mut self.held).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> ShapedInterest {
        let interest = packet::ndn::InterestBuilder::new("/a/b".parse().unwrap()).nonce(1).build().unwrap();
        ShapedInterest { interest, trigger: Trigger::New, non_discovery: false }
    }

    #[test]
    fn turns_come_at_the_rate_even_if_parts_of_nanoseconds_lie_between_them() {
        // Data of 1268 bytes at 10 Gbps and at 7 Mbps; a link of 1 Tbps.
        for (bytes, bits_per_second) in [(1268.0, 10e9), (1268.0, 7e6), (100.0, 1e12)] {
            let mut shaper = Shaper::new(1, Instant::ZERO);
            shaper.hold(held());
            let gap_seconds = bytes * 8.0 / bits_per_second;
            for turn in 1..=10_000 {
                let now = shaper.next_turn().unwrap();
                assert!(shaper.pop_due(now).is_some());
                shaper.hold(held());
                shaper.spend_turn(now, gap_seconds);
                let exact = f64::from(turn) * gap_seconds * 1e9;
                let is = shaper.next_turn().unwrap().as_nanos() as f64;
                assert!((exact - 1.001..exact + 0.001).contains(&is), "turn {turn} at {is}, not {exact}");
            }
        }
    }

    #[test]
    fn after_a_pause_the_next_waits_a_whole_turn_and_no_part_of_one_before() {
        let mut shaper = Shaper::new(1, Instant::ZERO);
        shaper.spend_turn(Instant::ZERO, 1014.75e-9);
        let now = Instant::from_millis(1);
        assert_eq!(shaper.admit(now), Admission::Forward);
        shaper.spend_turn(now, 1014.75e-9);
        shaper.hold(held());
        assert_eq!(shaper.next_turn(), Some(now + Duration::from_nanos(1014)));
        shaper.spend_turn(now, f64::INFINITY);
        assert_eq!(shaper.next_turn(), Some(Instant::NEVER));
    }
}
