//! Sizes of files that differ.

use packet::random::{Random, StandardNormal};
use serde::{Deserialize, Serialize};

use super::arrivals::Shared;

/// Most files that have sizes of their own: each takes sixteen bytes at who serves or fetches them.
pub const MAX_SIZED_FILES: u32 = 1_000_000;

/// How large files are, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SizesPlan {
    /// These, over and over again.
    List(Shared<u64>),
    /// Each of these as likely.
    Empirical(Shared<u64>),
    /// By the law of Pareto, cut off at the largest.
    Pareto {
        /// Its exponent.
        shape: f64,
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// The logarithm is normal; what is above the largest is drawn again.
    LogNormal {
        /// What half of all do not reach.
        median: u64,
        /// Standard deviation of the natural logarithm.
        deviation: f64,
        /// The largest.
        most: u64,
    },
}

impl SizesPlan {
    /// The sizes of so many files.
    #[must_use]
    pub fn of_files(&self, count: u32, random: &mut Random) -> Vec<u64> {
        let mut normal = StandardNormal::default();
        let mut one = |number: u32, random: &mut Random| match self {
            SizesPlan::List(list) => list.get(number as usize % list.len().max(1)).copied().unwrap_or(1),
            SizesPlan::Empirical(list) => {
                let place = random.below(list.len().max(1) as u64) as usize;
                list.get(place).copied().unwrap_or(1)
            }
            SizesPlan::Pareto { shape, least, most } => {
                let (least, most) = (*least as f64, *most as f64);
                let below = 1.0 - random.unit() * (1.0 - libm::pow(least / most, *shape));
                (least * libm::pow(below, -1.0 / shape)).min(most) as u64
            }
            SizesPlan::LogNormal { median, deviation, most } => {
                // At least every second draw is small enough: the largest is no smaller than the median.
                let drawn = (0..64).map(|_| *median as f64 * libm::exp(deviation * normal.draw(random)));
                let mut drawn = drawn.map(|size| size as u64);
                drawn.find(|size| size <= most).unwrap_or(*most)
            }
        };
        (0..count).map(|number| one(number, random).max(1)).collect()
    }

    /// The largest there can be.
    #[must_use]
    pub fn most(&self) -> u64 {
        match self {
            SizesPlan::List(list) | SizesPlan::Empirical(list) => list.iter().copied().max().unwrap_or(1),
            SizesPlan::Pareto { most, .. } | SizesPlan::LogNormal { most, .. } => *most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(sizes: &SizesPlan, count: u32) -> Vec<f64> {
        sizes.of_files(count, &mut Random::from_seed(5)).into_iter().map(|size| size as f64).collect()
    }

    #[test]
    fn pareto_has_the_mean_and_the_tail_that_its_formula_gives() {
        let (shape, least, most) = (1.2f64, 1_000u64, 1_000_000u64);
        let sizes = drawn(&SizesPlan::Pareto { shape, least, most }, 200_000);
        assert!(sizes.iter().all(|size| (1_000.0..=1_000_000.0).contains(size)));
        let (low, high) = (least as f64, most as f64);
        let mass = 1.0 - (low / high).powf(shape);
        let mean =
            low.powf(shape) / mass * shape / (shape - 1.0) * (low.powf(1.0 - shape) - high.powf(1.0 - shape));
        let found = sizes.iter().sum::<f64>() / sizes.len() as f64;
        assert!((found / mean - 1.0).abs() < 0.04, "{found} for {mean}");
        let above = sizes.iter().filter(|size| **size > 10_000.0).count() as f64 / sizes.len() as f64;
        let tail = (0.1f64.powf(shape) - (low / high).powf(shape)) / mass;
        assert!((above / tail - 1.0).abs() < 0.03, "{above} for {tail}");
    }

    #[test]
    fn log_normal_has_its_median_and_its_deviation_and_no_size_above_the_largest() {
        let sizes =
            drawn(&SizesPlan::LogNormal { median: 50_000, deviation: 0.5, most: 10_000_000 }, 100_000);
        let logs: Vec<f64> = sizes.iter().map(|size| size.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!((mean - 50_000f64.ln()).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() - 0.5).abs() < 0.01, "{variance}");
        let cut = drawn(&SizesPlan::LogNormal { median: 500, deviation: 2.0, most: 600 }, 10_000);
        assert!(cut.iter().all(|size| *size <= 600.0));
        assert!(cut.iter().filter(|size| **size == 600.0).count() < 100, "what is too large is drawn again");
    }

    #[test]
    fn a_list_is_repeated_and_an_empirical_one_is_drawn_from() {
        assert_eq!(drawn(&SizesPlan::List(vec![5, 7, 9].into()), 5), [5.0, 7.0, 9.0, 5.0, 7.0]);
        let sizes = drawn(&SizesPlan::Empirical(vec![10, 20, 20, 20].into()), 40_000);
        let large = sizes.iter().filter(|size| **size == 20.0).count() as f64 / 40_000.0;
        assert!((large - 0.75).abs() < 0.02, "{large}");
    }
}
