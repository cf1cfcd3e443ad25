//! How far apart requests are.

use packet::random::Random;
use packet::time::Duration;

/// How times between requests are distributed around their mean. Workloads, simulated consumers and generated
/// traffic draw from these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Always the mean.
    #[default]
    Constant,
    /// Between nothing and twice the mean, uniformly.
    Uniform,
    /// Exponentially, a Poisson process: as of many independent consumers.
    Poisson,
}

impl Spacing {
    /// All of them, by the words of files, workloads and commands.
    pub const WORDS: [(&'static str, Spacing); 3] =
        [("constant", Spacing::Constant), ("uniform", Spacing::Uniform), ("poisson", Spacing::Poisson)];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        Spacing::WORDS[self as usize].0
    }

    /// The time to the next request.
    #[inline]
    pub fn gap(self, mean: Duration, random: &mut Random) -> Duration {
        let nanos = mean.as_nanos() as f64;
        match self {
            Spacing::Constant => mean,
            Spacing::Uniform => Duration::from_nanos((nanos * 2.0 * random.unit()) as u64),
            Spacing::Poisson => Duration::from_nanos((nanos * random.exponential()) as u64),
        }
    }
}

/// The mean time between so many requests a second; nothing if the rate is not above zero, or above one a
/// nanosecond.
pub fn mean_gap(per_second: f64) -> Option<Duration> {
    let gap = Duration::from_secs_f64(1.0 / per_second);
    (per_second > 0.0 && gap > Duration::ZERO).then_some(gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_mean_that_was_asked_for_and_spread_as_their_law_says() {
        let mean = Duration::from_millis(2);
        // The standard deviation of each, in units of the mean.
        for (word, deviation) in [("constant", 0.0), ("uniform", 1.0 / 3f64.sqrt()), ("poisson", 1.0)] {
            let (_, spacing) = Spacing::WORDS.into_iter().find(|of| of.0 == word).unwrap();
            assert_eq!(spacing.as_str(), word);
            let mut random = Random::from_seed(3);
            let drawn: Vec<f64> =
                (0..100_000).map(|_| spacing.gap(mean, &mut random).as_secs_f64() / 0.002).collect();
            let found = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let variance = drawn.iter().map(|gap| (gap - found).powi(2)).sum::<f64>() / drawn.len() as f64;
            assert!((found - 1.0).abs() < 0.02, "{word}: {found}");
            assert!((variance.sqrt() - deviation).abs() < 0.02, "{word}: {variance}");
        }
    }

    #[test]
    fn a_rate_that_is_none_has_no_gap() {
        assert_eq!(mean_gap(100.0), Some(Duration::from_millis(10)));
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 3e9] {
            assert_eq!(mean_gap(rate), None, "{rate}");
        }
    }
}
