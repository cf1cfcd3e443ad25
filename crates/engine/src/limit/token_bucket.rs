//! A token bucket: a rate with room for bursts.

use packet::time::Instant;

/// A rate with a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Events a second in the long run.
    pub per_second: u32,
    /// Events at once after a pause.
    pub burst: u32,
}

/// Lets `per_second` events pass in the long run and up to `burst` at once.
///
/// Tokens are counted as time: the bucket remembers when it was last empty, as if it filled by one token
/// every `1/per_second` seconds. There is no rounding, whatever the steps in which time advances.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    /// Nanoseconds for one token, as a fraction over `per_second`.
    per_second: u32,
    burst: u32,
    /// When the bucket held no tokens, in units of nanoseconds × `per_second` (so a token is 10^9 units).
    empty_at: u128,
}

const TOKEN: u128 = 1_000_000_000;

impl TokenBucket {
    /// A bucket that is full at `now`.
    pub fn full(limit: RateLimit, now: Instant) -> Self {
        let mut bucket = TokenBucket { per_second: limit.per_second, burst: limit.burst, empty_at: 0 };
        bucket.empty_at = bucket.units(now).saturating_sub(bucket.capacity());
        bucket
    }

    /// Takes one token; false if there is none.
    pub fn take(&mut self, now: Instant) -> bool {
        let now = self.units(now);
        // What the bucket could not hold is lost.
        self.empty_at = self.empty_at.max(now.saturating_sub(self.capacity()));
        if now.saturating_sub(self.empty_at) < TOKEN {
            return false;
        }
        self.empty_at += TOKEN;
        true
    }

    /// Whole tokens in the bucket.
    pub fn tokens(&self, now: Instant) -> u32 {
        let held = self.units(now).saturating_sub(self.empty_at).min(self.capacity());
        (held / TOKEN) as u32
    }

    fn units(&self, at: Instant) -> u128 {
        // Offset by the capacity, so that a bucket can be full at the origin of time.
        u128::from(at.as_nanos()) * u128::from(self.per_second) + self.capacity()
    }

    fn capacity(&self) -> u128 {
        u128::from(self.burst) * TOKEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;
    use packet::time::Duration;

    #[test]
    fn a_full_bucket_gives_its_burst_and_then_its_rate() {
        let mut now = Instant::ZERO;
        let mut bucket = TokenBucket::full(RateLimit { per_second: 1000, burst: 50 }, now);
        assert_eq!((0..60).filter(|_| bucket.take(now)).count(), 50);
        now += Duration::from_micros(999);
        assert!(!bucket.take(now));
        now += Duration::from_micros(1);
        assert!(bucket.take(now) && !bucket.take(now));
        now += Duration::from_secs(100);
        assert_eq!(bucket.tokens(now), 50);
    }

    #[test]
    fn no_token_is_lost_or_won_whatever_the_steps_of_time() {
        let mut random = Random::from_seed(5);
        let limit = RateLimit { per_second: 777, burst: 10 };
        let mut now = Instant::from_secs(3);
        let mut bucket = TokenBucket::full(limit, now);
        let (start, mut taken) = (now, 0u128);
        while bucket.take(now) {
            taken += 1;
        }
        for _ in 0..100_000 {
            now += Duration::from_nanos(random.below(1_000_000));
            while bucket.take(now) {
                taken += 1;
            }
        }
        // Never full after the first burst, so exactly rate × time tokens came in.
        let elapsed = u128::from(now.saturating_since(start).as_nanos());
        assert_eq!(taken, 10 + elapsed * 777 / 1_000_000_000);
    }

    #[test]
    fn a_rate_of_zero_gives_the_burst_once() {
        let mut bucket = TokenBucket::full(RateLimit { per_second: 0, burst: 2 }, Instant::ZERO);
        assert!(bucket.take(Instant::ZERO) && bucket.take(Instant::ZERO));
        assert!(!bucket.take(Instant::from_secs(1_000_000)));
    }
}
