//! How well a mean over repeats is known: Student's t.

use serde::{Deserialize, Serialize};

use super::difference::{Level, Sample};
use super::orders::DrawnOrders;
use super::summary::Summary;

/// Quantiles of Student's t for two-sided confidence of 90 % and 95 %, by degrees of freedom from 1. Behind
/// the end of the table the next smaller entry is used, which is on the safe side.
const QUANTILES: &[(f64, f64)] = &[
    (6.314, 12.706),
    (2.920, 4.303),
    (2.353, 3.182),
    (2.132, 2.776),
    (2.015, 2.571),
    (1.943, 2.447),
    (1.895, 2.365),
    (1.860, 2.306),
    (1.833, 2.262),
    (1.812, 2.228),
    (1.796, 2.201),
    (1.782, 2.179),
    (1.771, 2.160),
    (1.761, 2.145),
    (1.753, 2.131),
    (1.746, 2.120),
    (1.740, 2.110),
    (1.734, 2.101),
    (1.729, 2.093),
    (1.725, 2.086),
    (1.721, 2.080),
    (1.717, 2.074),
    (1.714, 2.069),
    (1.711, 2.064),
    (1.708, 2.060),
    (1.706, 2.056),
    (1.703, 2.052),
    (1.701, 2.048),
    (1.699, 2.045),
    (1.697, 2.042),
];

/// The quantiles for 90 % and 95 % with so many degrees of freedom; nothing with none.
#[must_use]
pub fn student_t(degrees: u64) -> Option<(f64, f64)> {
    let index = usize::try_from(degrees.checked_sub(1)?).ok()?;
    QUANTILES.get(index).or(QUANTILES.last()).copied()
}

/// A mean over repeats and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Repeats that it rests on: those that drew their order, where it hangs on that.
    pub count: u64,
    /// Valid repeats.
    pub repeats: u64,
    /// The mean.
    pub mean: f64,
    /// Standard deviation over repeats.
    pub deviation: f64,
    /// Half the width of the 90 % confidence interval; nothing with a single repeat.
    pub half90: Option<f64>,
    /// Half the width of the 95 % confidence interval.
    pub half95: Option<f64>,
    /// Where it hangs on the order of what happens at one instant, or may do so, the orders that it is of. Of
    /// fewer than twenty it has no interval, and of equal ones neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<DrawnOrders>,
}

impl Estimate {
    /// In another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |number: f64| number * factor;
        let orders = self.orders.map(|orders| DrawnOrders {
            least: times(orders.least),
            most: times(orders.most),
            ..orders
        });
        Estimate {
            mean: times(self.mean),
            deviation: times(self.deviation),
            half90: self.half90.map(times),
            half95: self.half95.map(times),
            orders,
            ..self
        }
    }

    /// The standard deviation over repeats; not a number of a single one, which has none.
    #[must_use]
    pub fn spread(&self) -> f64 {
        if self.count > 1 { self.deviation } else { f64::NAN }
    }

    /// Over repeats of a sample, of which there are so many with those that do not count; nothing of none.
    #[must_use]
    pub fn of_sample(sample: &Sample, repeats: usize) -> Option<Self> {
        let Some(planned) = &sample.planned else { return Estimate::of(&sample.values) };
        let planned: Vec<f64> = planned.iter().map(|(_, value)| *value).collect();
        let counting = if sample.values.is_empty() { &planned } else { &sample.values };
        let found = Estimate::of(counting)?;
        let half = |level| sample.interval(level).map(|interval| (interval.high - interval.low) / 2.0);
        Some(Estimate {
            repeats: repeats as u64,
            half90: half(Level::Ninety),
            half95: half(Level::NinetyFive),
            orders: Some(DrawnOrders::of(&sample.values, &planned)),
            ..found
        })
    }

    /// Of one number a repeat; nothing of none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let summary = Summary::of(values)?;
        let error = summary.deviation / (summary.count as f64).sqrt();
        let quantiles = student_t(summary.count - 1);
        Some(Estimate {
            count: summary.count,
            repeats: summary.count,
            mean: summary.mean,
            deviation: summary.deviation,
            half90: quantiles.map(|(t, _)| t * error),
            half95: quantiles.map(|(_, t)| t * error),
            orders: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_interval_comes_out() {
        // Five values with mean 10 and deviation 1.5811; t(4) is 2.776 at 95 %.
        let estimate = Estimate::of(&[8.0, 9.0, 10.0, 11.0, 12.0]).unwrap();
        assert!((estimate.half95.unwrap() - 2.776 * 1.581_138_8 / 5f64.sqrt()).abs() < 1e-6);
        assert!(estimate.half90.unwrap() < estimate.half95.unwrap());
    }

    #[test]
    fn one_repeat_says_nothing_about_its_own_certainty() {
        let estimate = Estimate::of(&[3.0]).unwrap();
        assert_eq!((estimate.mean, estimate.half95), (3.0, None));
        assert!(estimate.spread().is_nan(), "nor how far others are from it");
        assert_eq!(Estimate::of(&[3.0, 3.0]).unwrap().spread(), 0.0);
    }

    #[test]
    fn quantiles_fall_with_the_degrees_of_freedom() {
        let list: Vec<(f64, f64)> = (1..60).filter_map(student_t).collect();
        assert!(list.windows(2).all(|pair| pair[1].0 <= pair[0].0 && pair[1].1 <= pair[0].1));
    }
}
