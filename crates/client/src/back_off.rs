//! When to try again what failed: later and later, and never all at the same moment.

use packet::DoublingWait;
use packet::random::Random;
use packet::time::{Duration, Instant};

/// How long a [`BackOff`] waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackOffConfig {
    /// The first wait, at most; each further one is twice as long.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// What held so long counts as steady: after it the waits begin anew.
    pub steady: Duration,
}

impl Default for BackOffConfig {
    fn default() -> Self {
        BackOffConfig {
            first: Duration::from_millis(100),
            longest: Duration::from_secs(30),
            steady: Duration::from_secs(10),
        }
    }
}

/// Exponential back-off with jitter. Each wait lies between half of its step and the whole step, so that
/// many who lost the same forwarder do not return at once.
///
/// ```
/// use cairn_client::{BackOff, BackOffConfig};
/// use packet::{random::Random, time::Instant};
/// let (mut back_off, mut random) = (BackOff::new(BackOffConfig::default()), Random::from_seed(1));
/// let again_at = back_off.handle_failure(Instant::from_secs(1), &mut random);
/// assert!(again_at >= Instant::from_millis(1050) && again_at <= Instant::from_millis(1100));
/// ```
#[derive(Clone, Debug)]
pub struct BackOff {
    config: BackOffConfig,
    /// Before jitter.
    waits: DoublingWait,
    holds_since: Option<Instant>,
}

impl BackOff {
    /// Nothing has failed yet.
    pub fn new(config: BackOffConfig) -> Self {
        BackOff { config, waits: DoublingWait::new(config.first, config.longest), holds_since: None }
    }

    /// What is tried has worked. The waits begin anew only if it goes on working.
    pub fn handle_success(&mut self, now: Instant) {
        self.holds_since = Some(now);
    }

    /// What is tried has failed, or no longer works. Gives the time of the next attempt.
    pub fn handle_failure(&mut self, now: Instant, random: &mut Random) -> Instant {
        let held = self.holds_since.take().map(|since| now.saturating_since(since));
        if held.is_some_and(|held| held >= self.config.steady) {
            self.waits.begin_anew();
        }
        let half = self.waits.take().as_nanos() / 2;
        let wait = Duration::from_nanos(half.saturating_add(random.below(half.saturating_add(1))));
        now + wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits of so many failures, one right after the other, in milliseconds.
    fn waits(seed: u64, count: usize) -> Vec<u64> {
        let mut random = Random::from_seed(seed);
        let mut back_off = BackOff::new(BackOffConfig::default());
        let mut now = Instant::from_secs(1);
        let mut wait = || {
            let next = back_off.handle_failure(now, &mut random);
            let waited = next.saturating_since(now);
            now = next;
            waited.as_millis()
        };
        (0..count).map(|_| wait()).collect()
    }

    #[test]
    fn waits_double_up_to_the_longest_and_lie_between_half_a_step_and_a_step() {
        for seed in 0..200 {
            let mut step = 100;
            for (index, wait) in waits(seed, 20).into_iter().enumerate() {
                assert!(
                    (step / 2..=step).contains(&wait),
                    "seed {seed}: wait {index} is {wait} ms of {step}"
                );
                step = (step * 2).min(30_000);
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_waits_and_another_seed_gives_others() {
        assert_eq!(waits(7, 12), waits(7, 12));
        let mut fifth: Vec<u64> = (0..100).map(|seed| waits(seed, 5)[4]).collect();
        fifth.sort_unstable();
        fifth.dedup();
        assert!(fifth.len() > 50, "a hundred clients return at {} moments only", fifth.len());
    }

    #[test]
    fn only_what_held_for_a_while_begins_anew() {
        let config = BackOffConfig::default();
        let mut random = Random::from_seed(3);
        let mut back_off = BackOff::new(config);
        let mut now = Instant::from_secs(1);
        // A forwarder that lets everybody in and closes at once is not asked ten times a second for ever.
        let mut last = Duration::ZERO;
        for _ in 0..20 {
            back_off.handle_success(now);
            let next = back_off.handle_failure(now + Duration::from_secs(1), &mut random);
            last = next.saturating_since(now + Duration::from_secs(1));
            now = next;
        }
        assert!(last >= config.longest / 2, "{last:?}");
        back_off.handle_success(now);
        let lost_at = now + config.steady;
        let next = back_off.handle_failure(lost_at, &mut random);
        assert!(next.saturating_since(lost_at) <= config.first);
    }
}
