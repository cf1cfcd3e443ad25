//! What many numbers come down to.

use serde::{Deserialize, Serialize};

/// A list of numbers in a few.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many there were.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation of the sample.
    pub deviation: f64,
    /// The least.
    pub min: f64,
    /// 5 % lie below.
    pub p5: f64,
    /// Half lie below.
    pub median: f64,
    /// 95 % lie below.
    pub p95: f64,
    /// 99 % lie below.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
    /// The last.
    pub last: f64,
}

impl Summary {
    /// Of these numbers; nothing of no numbers. Those that are not numbers are passed over.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let last = values.iter().copied().rfind(|value| value.is_finite())?;
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len() as f64;
        let sum: f64 = sorted.iter().sum();
        let mean = sum / count;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Some(Summary {
            count: sorted.len() as u64,
            sum,
            mean,
            deviation,
            min: sorted.first().copied()?,
            p5: percentile(&sorted, 0.05),
            median: percentile(&sorted, 0.5),
            p95: percentile(&sorted, 0.95),
            p99: percentile(&sorted, 0.99),
            max: sorted.last().copied()?,
            last,
        })
    }

    /// The number that an expectation names.
    #[must_use]
    pub fn named(&self, summary: &str) -> Option<f64> {
        Some(match summary {
            "mean" => self.mean,
            "min" => self.min,
            "max" => self.max,
            "median" => self.median,
            "p5" => self.p5,
            "p95" => self.p95,
            "p99" => self.p99,
            "deviation" => self.deviation,
            "last" => self.last,
            "sum" => self.sum,
            "count" => self.count as f64,
            _ => return None,
        })
    }
}

/// The number below which a part of sorted numbers lies, between neighbours by proportion.
#[must_use]
pub fn percentile(sorted: &[f64], part: f64) -> f64 {
    let place = part.clamp(0.0, 1.0) * (sorted.len().saturating_sub(1)) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let below = place.floor() as usize;
    let get = |index: usize| sorted.get(index).or(sorted.last()).copied().unwrap_or(f64::NAN);
    get(below) + (get(below + 1) - get(below)) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measure::SUMMARIES;

    #[test]
    fn known_numbers_come_out() {
        let summary = Summary::of(&[4.0, 2.0, f64::NAN, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.count, summary.mean, summary.median, summary.last), (8, 5.0, 4.5, 9.0));
        assert!((summary.deviation - 2.138_089_935).abs() < 1e-6, "of the sample, not of the population");
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn every_summary_of_the_reference_is_there() {
        let summary = Summary::of(&[1.0, 2.0]).unwrap();
        for word in SUMMARIES {
            assert!(summary.named(word).is_some(), "{word}");
        }
    }

    #[test]
    fn percentiles_lie_between_neighbours() {
        assert_eq!(percentile(&[0.0, 10.0], 0.25), 2.5);
        assert_eq!(percentile(&[3.0], 0.99), 3.0);
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 1.0), 3.0);
    }
}
