//! How much of their virtual time repeats have behind them that go on beside each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Nobody reads it more often.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// The virtual time of all repeats.
#[derive(Debug)]
pub(super) struct SharedClock {
    /// Of each repeat how long it lasts at most, and how much of that has passed, in nanoseconds.
    repeats: Vec<(u64, AtomicU64)>,
    told: Mutex<Option<Instant>>,
}

impl SharedClock {
    /// Of repeats that last so long, in nanoseconds.
    pub(super) fn of(durations_ns: impl Iterator<Item = u64>) -> Self {
        let repeats = durations_ns.map(|duration_ns| (duration_ns, AtomicU64::new(0)));
        SharedClock { repeats: repeats.collect(), told: Mutex::new(None) }
    }

    /// A repeat is at so many seconds. Where it is tried again, it stays as far as it has been.
    pub(super) fn pass(&self, place: usize, seconds: f64) {
        let Some((duration_ns, passed_ns)) = self.repeats.get(place) else { return };
        let ns = ((seconds * 1e9) as u64).min(*duration_ns);
        passed_ns.fetch_max(ns, Ordering::Relaxed);
    }

    /// A repeat is done, however early.
    pub(super) fn end(&self, place: usize) {
        if let Some((duration_ns, passed_ns)) = self.repeats.get(place) {
            passed_ns.store(*duration_ns, Ordering::Relaxed);
        }
    }

    /// How much of all has passed, from 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let all: f64 = self.repeats.iter().map(|(duration_ns, _)| *duration_ns as f64).sum();
        let passed = self.repeats.iter().map(|(_, passed_ns)| passed_ns.load(Ordering::Relaxed) as f64);
        if all > 0.0 { passed.sum::<f64>() / all } else { 0.0 }
    }

    /// The same where nobody was told lately.
    pub(super) fn due(&self) -> Option<f64> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        is_due.then(|| {
            *told = Some(Instant::now());
            self.share()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_repeat_is_a_part_by_its_time_and_one_that_ends_early_is_done() {
        let clock = SharedClock::of([10_000_000_000, 30_000_000_000].into_iter());
        assert_eq!(clock.share(), 0.0);
        clock.pass(1, 15.0);
        assert_eq!((clock.share(), clock.due()), (0.375, Some(0.375)));
        assert_eq!(clock.due(), None, "that was just told");
        clock.pass(1, 3.0);
        assert_eq!(clock.share(), 0.375, "a second try is no step back");
        clock.pass(0, 2.0);
        clock.end(0);
        assert_eq!(clock.share(), 0.625);
        clock.pass(1, 99.0);
        assert_eq!(clock.share(), 1.0);
        assert_eq!(SharedClock::of(std::iter::empty()).share(), 0.0);
    }
}
