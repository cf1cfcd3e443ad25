//! Items at a rate that stays the same, whatever comes of them.

use packet::random::Random;
use packet::time::{Duration, Instant};

use super::{Popularity, Setting, Spacing, Workload, mean_gap};
use packet::parameters::{ParameterError, Parameters};

/// Items a second, at most: one a nanosecond.
const MAX_RATE: f64 = 1e9;

#[derive(Debug)]
struct Steady {
    popularity: Popularity,
    random: Random,
    mean_gap: Duration,
    spacing: Spacing,
    due: Instant,
    left: u64,
}

/// How a popularity is made of its parameters.
type MakePopularity = fn(&mut Parameters, &Setting) -> Result<Popularity, ParameterError>;

/// A workload of that popularity.
pub(super) fn start(
    parameters: &mut Parameters,
    setting: &Setting,
    popularity: MakePopularity,
) -> Result<Box<dyn Workload>, ParameterError> {
    let popularity = popularity(parameters, setting)?;
    let rate = parameters.number("rate", 1.0, (0.0, MAX_RATE))?;
    let Some(mean_gap) = mean_gap(rate) else {
        return Err(ParameterError::new("rate", &format!("must be above 0 and at most {MAX_RATE}")));
    };
    Ok(Box::new(Steady {
        popularity,
        random: Random::from_seed(setting.seed),
        mean_gap,
        spacing: parameters.word("spacing", Spacing::Constant, &Spacing::WORDS)?,
        due: setting.begin,
        left: parameters.limit("limit")?.unwrap_or(u64::MAX),
    }))
}

impl Workload for Steady {
    fn poll_item(&mut self, now: Instant) -> Option<u64> {
        if self.next_deadline() > now {
            return None;
        }
        self.left -= 1;
        let item = self.popularity.next(&mut self.random);
        self.due += self.spacing.gap(self.mean_gap, &mut self.random);
        Some(item)
    }

    fn next_deadline(&self) -> Instant {
        if self.left == 0 { Instant::NEVER } else { self.due }
    }

    fn is_complete(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use crate::WorkloadSpec;

    use super::*;

    fn drawn(spec: &str, seconds: u64) -> Vec<u64> {
        let setting = Setting { items: Some(100), ..Setting::forever(7) };
        let mut workload = spec.parse::<WorkloadSpec>().unwrap().start(&setting).unwrap();
        let end = Instant::ZERO + Duration::from_secs(seconds);
        std::iter::from_fn(|| workload.poll_item(end - Duration::from_nanos(1))).collect()
    }

    #[test]
    fn items_come_at_the_rate_that_was_asked_for() {
        assert_eq!(drawn("sequential/rate~200", 10).len(), 2000);
        let count = drawn("uniform/rate~200/spacing~poisson", 100).len() as f64;
        assert!((count - 20_000.0).abs() < 4.0 * 20_000f64.sqrt(), "{count}");
        assert_eq!(drawn("uniform/rate~200/limit~7", 10).len(), 7);
    }

    #[test]
    fn popular_items_are_asked_for_as_often_as_the_law_says() {
        let drawn = drawn("zipf/rate~1000/exponent~1", 200);
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1u64, 2, 5, 20] {
            let expected = drawn.len() as f64 / rank as f64 / harmonic;
            let found = drawn.iter().filter(|item| **item == rank - 1).count() as f64;
            assert!((found / expected - 1.0).abs() < 0.08, "rank {rank}: {found} of {expected}");
        }
    }
}
