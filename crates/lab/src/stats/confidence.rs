//! How well a mean over repeats is known.

use serde::{Deserialize, Serialize};

use super::difference::Sample;
use super::interval::Level;
use super::orders::DrawnOrders;
use super::student::student_t;
use super::summary::Summary;

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
}
