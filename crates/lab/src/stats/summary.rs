//! What many numbers come down to.

use serde::{Deserialize, Serialize};

/// A list of numbers in a few. Numbers of a node's series count as long as each lasts; those of a workload
/// count once each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many there were.
    pub count: u64,
    /// Their sum; of a series, its integral over time, which for a rate is the number of what was counted.
    pub sum: f64,
    /// Their mean; of a series, its mean over time.
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
        let weighed: Vec<(f64, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
        Self::weighed(&weighed)
    }

    /// Of numbers in the order of time, each with how long it lasted; nothing of no numbers. What is not a
    /// number, and what lasted no time, is passed over.
    #[must_use]
    pub fn weighed(values: &[(f64, f64)]) -> Option<Self> {
        let counts = |(value, weight): &(f64, f64)| value.is_finite() && *weight > 0.0;
        let mut sorted: Vec<(f64, f64)> = values.iter().copied().filter(counts).collect();
        let last = sorted.last()?.0;
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = sorted.len() as f64;
        let weight: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let sum: f64 = sorted.iter().map(|(value, weight)| value * weight).sum();
        let mean = sum / weight;
        let squares: f64 = sorted.iter().map(|(value, weight)| weight * (value - mean).powi(2)).sum();
        let deviation = if count > 1.0 { (squares / weight * count / (count - 1.0)).sqrt() } else { 0.0 };
        Some(Summary {
            count: sorted.len() as u64,
            sum,
            mean,
            deviation,
            min: sorted.first()?.0,
            p5: quantile(&sorted, 0.05),
            median: quantile(&sorted, 0.5),
            p95: quantile(&sorted, 0.95),
            p99: quantile(&sorted, 0.99),
            max: sorted.last()?.0,
            last,
        })
    }

    /// Takes a sum and a mean that are not of samples; the least and the greatest move out to the mean if no
    /// sample was beyond it.
    pub(crate) fn integrated(&mut self, sum: f64, mean: f64) {
        let (min, max) = (self.min.min(mean), self.max.max(mean));
        *self = Summary { sum, mean, min, max, ..*self };
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

/// [`packet::quantile`] of sorted numbers with weights. Each number stands in the middle of its weight; with
/// equal weights that is the same.
fn quantile(sorted: &[(f64, f64)], part: f64) -> f64 {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return f64::NAN };
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let wanted = part.clamp(0.0, 1.0) * (total - (first.1 + last.1) / 2.0);
    let (mut below, mut place) = (*first, 0.0);
    for one in sorted.iter().skip(1) {
        let step = (below.1 + one.1) / 2.0;
        if place + step >= wanted {
            return below.0 + (one.0 - below.0) * ((wanted - place) / step).clamp(0.0, 1.0);
        }
        place += step;
        below = *one;
    }
    last.0
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
    fn a_number_counts_as_long_as_it_lasted() {
        // Twenty seconds at 100 and 13 ms at 40, after an instant that lasted nothing.
        let mut series = vec![(0.0, 0.0)];
        series.extend(std::iter::repeat_n((100.0, 1.0), 20));
        series.push((40.0, 0.013));
        let summary = Summary::weighed(&series).unwrap();
        assert!((summary.mean - 99.961).abs() < 1e-3, "{}", summary.mean);
        assert!((summary.sum - (2000.0 + 40.0 * 0.013)).abs() < 1e-9, "the integral over time");
        assert_eq!((summary.count, summary.median, summary.last, summary.min), (21, 100.0, 40.0, 40.0));
        let even = Summary::weighed(&[(1.0, 0.3), (2.0, 0.3), (3.0, 0.3)]).unwrap();
        assert!(
            (even.median - 2.0).abs() + (even.deviation - 1.0).abs() < 1e-9,
            "equal weights change nothing"
        );
    }

    #[test]
    fn every_summary_of_the_reference_is_there() {
        let summary = Summary::of(&[1.0, 2.0]).unwrap();
        for word in SUMMARIES {
            assert!(summary.named(word).is_some(), "{word}");
        }
    }

    #[test]
    fn with_equal_weights_a_quantile_is_that_of_numbers_without() {
        let numbers = [1.0, 2.0, 4.0, 8.0, 16.0];
        let weighed = numbers.map(|number| (number, 3.0));
        for part in [0.0, 0.05, 0.25, 0.5, 0.6, 0.95, 1.0] {
            let plain = packet::quantile(numbers.len(), part, |place| numbers[place]).unwrap();
            assert!((quantile(&weighed, part) - plain).abs() < 1e-12, "{part}");
        }
    }
}
