//! A bucket that leaks whole drops.

use packet::time::{Duration, Instant};

/// Holds up to `depth` drops and loses one at each of the times 1/rate, 2/rate, 3/rate … since the origin, if
/// it holds any.
///
/// In the long run it lets as much pass as a [`TokenBucket`](super::TokenBucket) of the same rate and depth.
/// It differs at the edge: where that one loses a fraction of a token at any time, this one loses all or
/// nothing, so that what comes at regular times may find the same room again and again and then, once, one
/// drop less. This is how the limits of ndnSIM 1 work, which leak by a timer: 1.001 drops at a time
/// ([`LeakyBucket::losing`]), at times that are as much farther apart.
#[derive(Clone, Copy, Debug)]
pub struct LeakyBucket {
    drops_in_1000_s: u64,
    /// What is lost at a time, in thousandths of a drop.
    at_a_time: u32,
    depth: u32,
    /// In thousandths of a drop.
    held: u64,
    /// Times of leaking that have passed.
    leaks: u64,
}

/// Thousandths in a drop.
const DROP: u32 = 1000;

impl LeakyBucket {
    /// An empty bucket of this depth that leaks `per_second` drops a second, to a thousandth.
    pub fn empty(per_second: f64, depth: u32, now: Instant) -> Self {
        let drops_in_1000_s = (per_second * 1000.0).round() as u64;
        let mut bucket = LeakyBucket { drops_in_1000_s, at_a_time: DROP, depth, held: 0, leaks: 0 };
        bucket.leaks = bucket.leaks_until(now);
        bucket
    }

    /// The same bucket, which loses `drops` at a time, to a thousandth and at least one of those: at the same
    /// rate, thus less or more often.
    pub fn losing(mut self, drops: f64, now: Instant) -> Self {
        self.at_a_time = ((drops * f64::from(DROP)).round() as u32).max(1);
        self.leaks = self.leaks_until(now);
        self
    }

    /// Puts one drop in; false if the bucket is too full for it.
    pub fn put(&mut self, now: Instant) -> bool {
        self.leak(now);
        let fits = self.fits_beside(self.held);
        self.held += u64::from(DROP) * u64::from(fits);
        fits
    }

    /// Leaks at another rate from now on.
    pub fn set_rate(&mut self, per_second: f64, now: Instant) {
        self.leak(now);
        self.drops_in_1000_s = (per_second * 1000.0).round() as u64;
        self.leaks = self.leaks_until(now);
    }

    /// Whether a drop would fit.
    pub fn has_room(&self, now: Instant) -> bool {
        self.fits_beside(self.held_thousandths(now))
    }

    /// Drops in the bucket; a part of one counts as one.
    pub fn held(&self, now: Instant) -> u32 {
        u32::try_from(self.held_thousandths(now).div_ceil(u64::from(DROP))).unwrap_or(u32::MAX)
    }

    /// Time between two leaks; [`Duration::MAX`] if there are none.
    pub fn interval(&self) -> Duration {
        Duration::from_secs(u64::from(self.at_a_time)) / self.drops_in_1000_s
    }

    fn leak(&mut self, now: Instant) {
        self.held = self.held_thousandths(now);
        self.leaks = self.leaks_until(now);
    }

    fn held_thousandths(&self, now: Instant) -> u64 {
        let leaked = self.leaks_until(now).saturating_sub(self.leaks);
        self.held.saturating_sub(leaked.saturating_mul(u64::from(self.at_a_time)))
    }

    fn fits_beside(&self, held: u64) -> bool {
        held + u64::from(DROP) <= u64::from(self.depth) * u64::from(DROP)
    }

    fn leaks_until(&self, at: Instant) -> u64 {
        let apart = 1_000_000_000 * u128::from(self.at_a_time);
        let leaks = u128::from(at.as_nanos()) * u128::from(self.drops_in_1000_s) / apart;
        u64::try_from(leaks).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_at_the_rate_fit_until_a_leak_falls_between_them() {
        // 50 drops every 50 ms are 1000 a second; the bucket loses 998.4.
        let mut bucket = LeakyBucket::empty(998.4, 50, Instant::ZERO);
        let mut refused = Vec::new();
        for burst in 0..30 {
            let now = Instant::from_millis(burst * 50 + 20);
            if (0..50).filter(|_| bucket.put(now)).count() < 50 {
                refused.push(burst);
            }
        }
        // One leak less in every 12.5 bursts.
        assert_eq!(refused.len(), 2);
        assert!(refused[0] > 1 && refused[1] - refused[0] >= 12, "{refused:?}");
        let mut exact = LeakyBucket::empty(1000.0, 50, Instant::ZERO);
        for burst in 0..1000 {
            let now = Instant::from_millis(burst * 50);
            assert_eq!((0..50).filter(|_| exact.put(now)).count(), 50);
        }
    }

    #[test]
    fn what_leaks_more_at_a_time_leaks_as_much_and_less_often() {
        // 50 drops every 50 ms fit but when only 49 leaks fall between: every thousandth leak comes a whole
        // interval later.
        let mut bucket = LeakyBucket::empty(1000.0, 50, Instant::ZERO).losing(1.001, Instant::ZERO);
        assert_eq!(bucket.interval(), Duration::from_micros(1001));
        let mut refused = Vec::new();
        for burst in 0..200 {
            let now = Instant::from_millis(burst * 50 + 20);
            let fitting = (0..50).filter(|_| bucket.put(now)).count();
            if fitting < 50 {
                refused.push(burst);
                assert_eq!(fitting, 49);
            }
        }
        // 50 / 1.001 is 49.95: every twentieth burst.
        assert!((9..=10).contains(&refused.len()), "{refused:?}");
        assert!(refused.windows(2).all(|pair| (20..=21).contains(&(pair[1] - pair[0]))), "{refused:?}");
        let drained = Instant::from_secs(1_000);
        assert!(bucket.put(drained));
        assert_eq!((bucket.held(drained), bucket.held(drained + Duration::from_micros(1001))), (1, 0));
    }

    #[test]
    fn a_change_of_rate_keeps_what_is_held_and_counts_from_then_on() {
        let mut bucket = LeakyBucket::empty(10.0, 3, Instant::ZERO);
        let now = Instant::from_millis(50);
        assert!((0..3).all(|_| bucket.put(now)) && !bucket.has_room(now));
        bucket.set_rate(1000.0, now);
        assert_eq!(bucket.held(now), 3);
        assert_eq!(bucket.held(Instant::from_millis(52)), 1);
        assert!(bucket.has_room(Instant::from_millis(51)));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_an_empty_bucket_stays_empty() {
        let mut bucket = LeakyBucket::empty(10.0, 3, Instant::from_secs(5));
        let now = Instant::from_millis(5_050);
        assert_eq!((0..5).filter(|_| bucket.put(now)).count(), 3);
        assert_eq!(bucket.held(Instant::from_millis(5_099)), 3);
        assert_eq!(bucket.held(Instant::from_millis(5_100)), 2);
        assert_eq!(bucket.held(Instant::from_secs(1_000_000)), 0);
        assert_eq!(bucket.interval(), Duration::from_millis(100));
        let mut never = LeakyBucket::empty(0.0, 1, Instant::ZERO);
        assert!(never.put(Instant::ZERO) && !never.put(Instant::NEVER));
    }
}
