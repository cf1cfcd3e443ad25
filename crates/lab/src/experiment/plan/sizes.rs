//! Sizes of files that differ.

use packet::random::{BoundedPareto, LogNormal, Random};
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
        let files = 0..count as usize;
        let sizes: Vec<u64> = match self {
            SizesPlan::List(list) => {
                files.map(|number| list.get(number % list.len().max(1)).copied().unwrap_or(1)).collect()
            }
            SizesPlan::Empirical(list) => {
                let mut place = || random.below(list.len().max(1) as u64) as usize;
                files.map(|_| list.get(place()).copied().unwrap_or(1)).collect()
            }
            SizesPlan::Pareto { shape, least, most } => {
                let law = BoundedPareto::new(*shape, *least as f64, *most as f64);
                files.map(|_| law.draw(random) as u64).collect()
            }
            SizesPlan::LogNormal { median, deviation, most } => {
                let mut law = LogNormal::new(*median as f64, *deviation);
                let mut one = || {
                    // At least every second draw is small enough: the largest is no smaller than the median.
                    let mut drawn = (0..64).map(|_| law.draw(random) as u64);
                    drawn.find(|size| size <= most).unwrap_or(*most)
                };
                files.map(|_| one()).collect()
            }
        };
        sizes.into_iter().map(|size| size.max(1)).collect()
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
    fn no_size_is_outside_of_its_bounds() {
        let sizes = drawn(&SizesPlan::Pareto { shape: 1.2, least: 1_000, most: 1_000_000 }, 200_000);
        assert!(sizes.iter().all(|size| (1_000.0..=1_000_000.0).contains(size)));
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
