//! Items at a rate that stays the same, whatever comes of them.

use packet::random::Random;
use packet::time::{Duration, Instant};

use super::arrivals::{Bursts, Crowd};
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
    bursts: Option<Bursts>,
    crowd: Option<Crowd>,
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
    Ok(Box::new(Steady {
        popularity,
        random: Random::from_seed(setting.seed),
        mean_gap: gap_of_rate(parameters)?,
        spacing: parameters.word("spacing", Spacing::Constant, &Spacing::WORDS)?,
        bursts: Bursts::parse(parameters)?,
        crowd: Crowd::parse(parameters, setting)?,
        due: setting.begin,
        left: parameters.limit("limit")?.unwrap_or(u64::MAX),
    }))
}

/// The mean time between items at the `rate` that is said.
pub(super) fn gap_of_rate(parameters: &mut Parameters) -> Result<Duration, ParameterError> {
    let rate = parameters.number("rate", 1.0, (0.0, MAX_RATE))?;
    let wrong = || ParameterError::new("rate", &format!("must be above 0 and at most {MAX_RATE}"));
    mean_gap(rate).ok_or_else(wrong)
}

impl Workload for Steady {
    fn poll_item(&mut self, now: Instant) -> Option<u64> {
        if self.next_deadline() > now {
            return None;
        }
        self.left -= 1;
        let crowd = self.crowd.filter(|crowd| crowd.is_there(self.due));
        let wanted = crowd.and_then(|crowd| crowd.item(&mut self.random));
        let item = wanted.unwrap_or_else(|| self.popularity.next(&mut self.random));
        let mean = crowd.map_or(self.mean_gap, |crowd| crowd.gap(self.mean_gap));
        let mean = self.bursts.map_or(mean, |bursts| bursts.gap(mean, &mut self.random));
        self.due += self.spacing.gap(mean, &mut self.random);
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
    fn bursts_leave_the_rate_as_it_is_and_make_counts_vary_more() {
        let counts = |spec: &str| -> Vec<f64> {
            let setting = Setting { items: Some(100), ..Setting::forever(7) };
            let mut workload = spec.parse::<WorkloadSpec>().unwrap().start(&setting).unwrap();
            (1..=4_000u64)
                .map(|second| {
                    let end = Instant::from_millis(second * 1_000 - 1);
                    std::iter::from_fn(|| workload.poll_item(end)).count() as f64
                })
                .collect()
        };
        let of = |counts: &[f64]| {
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            (
                mean,
                counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64 / mean,
            )
        };
        let (mean, dispersion) = of(&counts("uniform/rate~50/spacing~poisson"));
        assert!((mean - 50.0).abs() < 0.6 && (dispersion - 1.0).abs() < 0.1, "{mean} {dispersion}");
        let (mean, dispersion) = of(&counts("uniform/rate~50/spacing~poisson/burst~20/peak~50"));
        assert!((mean - 50.0).abs() < 2.5 && dispersion > 10.0, "{mean} {dispersion}");
    }

    #[test]
    fn a_crowd_comes_for_one_item_and_goes() {
        let spec = "zipf/rate~100/crowd~5/crowd-at~2000/crowd-for~3000/crowd-item~42";
        let setting = Setting { items: Some(100), ..Setting::forever(7) };
        let mut workload = spec.parse::<WorkloadSpec>().unwrap().start(&setting).unwrap();
        let mut second = |number: u64| {
            let end = Instant::from_millis(number * 1_000 - 1);
            let items: Vec<u64> = std::iter::from_fn(|| workload.poll_item(end)).collect();
            (items.len(), items.iter().filter(|item| **item == 42).count())
        };
        for number in 1..=8 {
            let (all, wanted) = second(number);
            if (3..=5).contains(&number) {
                assert!((498..=502).contains(&all) && (370..430).contains(&wanted), "{all} {wanted}");
            } else {
                assert!((99..=101).contains(&all) && wanted < 10, "second {number}: {all} {wanted}");
            }
        }
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
