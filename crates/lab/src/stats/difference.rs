//! How well a number over repeats, or the difference of two, is known: intervals in which it lies.

use super::counted::{self, Counted};
use super::interval::{Interval, Level};
use super::mean::mean;
use super::student::student_t;
use super::summary::Summary;
use super::unseen::{self, ENOUGH, FEWEST, are_equal};

/// One number a repeat, and whether another repeat could have brought another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// The numbers, in the order of the repeats.
    pub values: Vec<f64>,
    /// Is there nothing random in it? A single number then is as good as many.
    pub exact: bool,
    /// Does the setting make them so? Then it is no chance where they are equal.
    pub by_construction: bool,
    /// The most that one of them can be, where that is known without any repeat. The least is 0.
    pub most: Option<f64>,
    /// Of which counts each of them is, where it is a part of a whole or in proportion to one; empty where
    /// nobody knows.
    pub counts: Vec<Counted>,
    /// Of which repeat each of them is; of one after the other from 0 on where nothing is said.
    pub repeats: Vec<u32>,
    /// Where nothing but the order of what happens at one instant makes the numbers others, the numbers of
    /// orders that nobody has drawn, each with its repeat. They are not among `values`.
    pub planned: Option<Vec<(u32, f64)>>,
}

impl Sample {
    /// The mean of its numbers, of those that were not drawn where there are no others; not a number where it
    /// has none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.values.is_empty() { mean(&self.all().collect::<Vec<_>>()) } else { mean(&self.values) }
    }

    /// Did all repeats bring the same number, though they need not have?
    #[must_use]
    pub fn is_equal_by_chance(&self) -> bool {
        !self.exact && !self.by_construction && are_equal(&self.values)
    }

    /// The same numbers, taken as if more repeats would spread as these do, along a normal distribution.
    /// Equal numbers show no spread, and stay as they are.
    #[must_use]
    pub fn spread_as_normal(&self) -> Sample {
        Sample { by_construction: self.by_construction || !are_equal(&self.values), ..self.clone() }
    }

    /// How many repeats it takes until what they are, and how they spread, is taken for all there is.
    #[must_use]
    pub fn enough(&self) -> usize {
        match self.exact || self.by_construction {
            true => 1,
            false if are_equal(&self.values) => ENOUGH,
            false => FEWEST,
        }
    }

    /// Does their interval rest on the assumption that others would spread as these do?
    #[must_use]
    pub fn rests_on_spread(&self) -> bool {
        let has_interval = !self.hangs_on_order() || self.interval(Level::NinetyFive).is_some();
        self.enough() == FEWEST && self.has_enough() && has_interval
    }

    /// Are these as many?
    #[must_use]
    pub fn has_enough(&self) -> bool {
        self.values.len() >= self.enough()
    }

    /// Where the mean lies; nothing when nobody can say. An end may be infinite.
    #[must_use]
    pub fn interval(&self, level: Level) -> Option<Interval> {
        if self.hangs_on_order() {
            let nothing = Sample { values: vec![0.0], exact: true, ..Sample::default() };
            return self.by_order(1.0, &nothing)?.interval(level);
        }
        let MeanError { mean, error, degrees } = self.mean_error()?;
        let by_spread = half(error, degrees, level).map(|half| Interval::around(mean, half))?;
        let settled = self.by_counts(level).map_or(by_spread, |by_counts| by_spread.or_wider(by_counts));
        if self.has_enough() {
            return Some(settled);
        }
        let open = unseen::interval(&self.values, self.most, level);
        Some(open.or_wider(settled))
    }

    /// Where the mean lies by what was counted: nothing where nobody knows the counts, nothing is random, or
    /// all repeats are the same.
    #[must_use]
    pub fn by_counts(&self, level: Level) -> Option<Interval> {
        if self.exact || self.by_construction || self.hangs_on_order() || are_equal(&self.values) {
            return None;
        }
        if self.counts.len() != self.values.len() {
            return None;
        }
        let Counted { part, whole } = counted::pooled(&self.counts);
        let interval = counted::interval(&self.counts, level)?;
        // In the unit of the numbers: a percentage, or a count of repeats of this size.
        let unit = self.mean_error()?.mean * whole as f64 / part as f64;
        unit.is_finite().then_some(Interval { low: interval.low * unit, high: interval.high * unit })
    }

    /// Where the difference to so many times another lies. Numbers of the same repeats are taken together,
    /// repeat by repeat; others by Welch's rule. Where repeats leave something open, what is left open on
    /// both sides comes together. Where one of them hangs on an order, it is that of orders, one by one; or
    /// of the orders that were drawn, as of any repeats, where the other is random.
    #[must_use]
    pub fn less(&self, times: f64, other: &Sample, are_paired: bool, level: Level) -> Option<Interval> {
        if let Some(by_order) = self.by_order(times, other) {
            return by_order.interval(level);
        }
        if self.is_mixed_with(other) {
            return self.beside_random().less(times, &other.beside_random(), false, level);
        }
        self.interval(level).and(other.interval(level))?;
        if !self.has_enough() || !other.has_enough() {
            return self.apart(times, other, level);
        }
        let by_spread = self.less_by_spread(times, other, are_paired, level)?;
        let has_counts = [self, other].iter().any(|sample| sample.by_counts(level).is_some());
        let differences = self.differences(times, other).filter(|_| are_paired);
        // So many that are all the same are taken for the mean, whatever each side may be.
        let is_known = differences.is_some_and(|differences| are_equal(&differences.values));
        if !has_counts || is_known {
            return Some(by_spread);
        }
        let alike = if are_paired { correlated(&self.values, &other.values) } else { 0.0 };
        Some(by_spread.or_wider(self.less_by_ends(times, other, alike, level)?))
    }

    /// The same by how repeats spread.
    fn less_by_spread(&self, times: f64, other: &Sample, are_paired: bool, level: Level) -> Option<Interval> {
        if let Some(differences) = self.differences(times, other).filter(|_| are_paired) {
            // Differences that are equal by chance say no more than equal numbers do.
            return if differences.has_enough() {
                differences.interval(level)
            } else {
                self.apart(times, other, level)
            };
        }
        let MeanError { mean, error, degrees } = self.mean_error()?;
        let others = other.mean_error()?;
        let (one, two) = (error.powi(2), (times * others.error).powi(2));
        let error = (one + two).sqrt();
        let degrees = if error > 0.0 {
            (one + two).powi(2) / (one.powi(2) / degrees + two.powi(2) / others.degrees)
        } else {
            degrees.min(others.degrees)
        };
        let half = half(error, degrees, level)?;
        Some(Interval::around(mean - times * others.mean, half))
    }

    /// The same from how far the ends of both intervals are from their means, for those of counts are not in
    /// the middle (Newcombe, Statistics in Medicine 17, 1998, pages 873 to 890; for what goes together, as
    /// `alike` says, pages 2635 to 2650).
    fn less_by_ends(&self, times: f64, other: &Sample, alike: f64, level: Level) -> Option<Interval> {
        let (one, two) = (self.interval(level)?, other.interval(level)?);
        let (mean, others) = (self.mean_error()?.mean, other.mean_error()?.mean);
        let together = |one: f64, two: f64| (one * one - 2.0 * alike * one * two + two * two).max(0.0).sqrt();
        let down = together(mean - one.low, times * (two.high - others));
        let up = together(one.high - mean, times * (others - two.low));
        let difference = mean - times * others;
        Some(Interval { low: difference - down, high: difference + up })
    }

    /// The differences to so many times another, repeat by repeat; nothing where one has more repeats.
    #[must_use]
    pub fn differences(&self, times: f64, other: &Sample) -> Option<Sample> {
        if self.values.len() != other.values.len() {
            return None;
        }
        let pairs = || self.values.iter().zip(&other.values).map(|(one, two)| (*one, times * two));
        let mut values: Vec<f64> = pairs().map(|(one, two)| one - two).collect();
        let greatest = pairs().fold(0.0, |most, (one, two)| f64::max(most, one.abs().max(two.abs())));
        if let Some(first) = values.first().copied()
            && unseen::are_near(&values, greatest)
        {
            values.fill(first);
        }
        Some(Sample {
            values,
            exact: self.exact && other.exact,
            by_construction: self.by_construction && other.by_construction,
            ..Sample::default()
        })
    }

    /// The difference of what lies anywhere in its own interval: wider than needed, and right whatever the
    /// two have to do with each other.
    fn apart(&self, times: f64, other: &Sample, level: Level) -> Option<Interval> {
        let (one, two) = (self.interval(level)?, other.interval(level)?);
        Some(Interval { low: one.low - times * two.high, high: one.high - times * two.low })
    }

    /// Nothing of a single number that could have been another.
    fn mean_error(&self) -> Option<MeanError> {
        let summary = Summary::of(&self.values)?;
        match summary.count {
            1 if self.exact => Some(MeanError { mean: summary.mean, error: 0.0, degrees: f64::INFINITY }),
            1 => None,
            count => Some(MeanError {
                mean: summary.mean,
                error: summary.deviation / (count as f64).sqrt(),
                degrees: count as f64 - 1.0,
            }),
        }
    }
}

/// How numbers of the same repeats go together, 0 if not and 1 if entirely: at least so much at 95 %, by
/// Fisher's transformation, and nothing of fewer than four.
fn correlated(one: &[f64], two: &[f64]) -> f64 {
    let count = one.len().min(two.len()) as f64;
    if count < 4.0 {
        return 0.0;
    }
    let (of_one, of_two) = (mean(one), mean(two));
    let off = one.iter().zip(two).map(|(one, two)| (one - of_one, two - of_two));
    let sums = off.fold([0.0; 3], |[both, first, second], (one, two)| {
        [both + one * two, first + one * one, second + two * two]
    });
    let [both, first, second] = sums;
    if count < 4.0 || first * second <= 0.0 {
        return 0.0;
    }
    let found = (both / (first * second).sqrt()).clamp(-1.0, 1.0);
    libm::tanh(libm::atanh(found) - 1.645 / (count - 3.0).sqrt()).max(0.0)
}

/// A mean, its standard error, and the degrees of freedom of that.
#[derive(Clone, Copy)]
struct MeanError {
    mean: f64,
    error: f64,
    degrees: f64,
}

/// Half of an interval's width.
fn half(error: f64, degrees: f64, level: Level) -> Option<f64> {
    if error <= 0.0 {
        return Some(0.0);
    }
    let (ninety, ninety_five) = student_t(degrees.floor().clamp(1.0, 1e6) as u64)?;
    Some(error * if level == Level::Ninety { ninety } else { ninety_five })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample { values: values.to_vec(), ..Sample::default() }
    }

    #[test]
    fn a_single_number_is_certain_only_where_nothing_is_random() {
        assert_eq!(sample(&[5.0]).interval(Level::NinetyFive), None);
        let exact = Sample { values: vec![5.0], exact: true, ..Sample::default() };
        assert_eq!(exact.interval(Level::NinetyFive), Some(Interval { low: 5.0, high: 5.0 }));
        assert_eq!(
            exact.less(2.0, &exact, false, Level::NinetyFive),
            Some(Interval { low: -5.0, high: -5.0 })
        );
    }

    /// As many as are enough, of a few again and again.
    fn many(values: &[f64]) -> Sample {
        sample(&values.iter().copied().cycle().take(60).collect::<Vec<_>>())
    }

    #[test]
    fn differences_within_repeats_are_known_better_than_those_between_them() {
        let (one, two) = (many(&[10.0, 20.0, 30.0]), many(&[9.0, 18.9, 29.1]));
        let paired = one.less(1.0, &two, true, Level::NinetyFive).unwrap();
        let apart = one.less(1.0, &two, false, Level::NinetyFive).unwrap();
        assert!(paired.low > 0.95 && paired.high < 1.05, "{paired:?}");
        assert!(apart.low < -2.0 && apart.high > 4.0, "{apart:?}");
    }

    #[test]
    fn few_repeats_of_something_random_are_no_certainty_whether_they_are_equal_or_nearly() {
        let none = sample(&[0.0; 3]).interval(Level::NinetyFive).unwrap();
        assert!(none.low == 0.0 && none.high == f64::INFINITY, "{none:?}");
        let exact = Sample { exact: true, ..sample(&[3.0; 3]) };
        assert_eq!(exact.interval(Level::NinetyFive), Some(Interval { low: 3.0, high: 3.0 }));
        // Differences of few repeats say nothing, either, whether they vary or not.
        for two in [[9.0, 19.0, 29.0], [9.0, 19.001, 29.0]] {
            let (one, two) = (sample(&[10.0, 20.0, 30.0]), sample(&two));
            let paired = one.less(1.0, &two, true, Level::NinetyFive).unwrap();
            assert!(paired.low < 0.0, "{paired:?}");
        }
        let built = |values: &[f64]| Sample { by_construction: true, ..sample(values) };
        let (one, two) = (built(&[10.0, 20.0, 30.0]), built(&[9.0, 19.0, 29.0]));
        let paired = one.less(1.0, &two, true, Level::NinetyFive);
        assert_eq!(paired, Some(Interval { low: 1.0, high: 1.0 }));
        // A side that varies does not make the other one sure.
        let apart = sample(&[0.0; 3]).less(1.0, &sample(&[0.5, 0.6, 0.7]), false, Level::NinetyFive).unwrap();
        assert!(apart.high == f64::INFINITY, "{apart:?}");
        // The interval of the spread alone may be the wider one.
        let wide = sample(&[1.0, 9.0, 1.0]).interval(Level::NinetyFive).unwrap();
        assert!(wide.low < 0.0 && wide.high > 9.0, "{wide:?}");
        // Differences that are equal by chance, of as many as are enough otherwise.
        let (one, two) = ([10.0, 20.0, 30.0, 40.0, 50.0], [9.0, 19.0, 29.0, 39.0, 49.0]);
        let paired = sample(&one).less(1.0, &sample(&two), true, Level::NinetyFive).unwrap();
        assert!(paired.low < 0.0, "{paired:?}");
        // What the arithmetic leaves of equal numbers is no spread, however near to 0 the difference is.
        let (one, two) = ([0.7, 1.4, 2.1, 2.8, 3.5], [7.0, 14.0, 21.0, 28.0, 35.0]);
        let differences = sample(&one).differences(0.1, &sample(&two)).unwrap();
        assert!(differences.is_equal_by_chance(), "{differences:?}");
        let paired = sample(&one).less(0.1, &sample(&two), true, Level::NinetyFive).unwrap();
        assert!(paired.low < -1.0 && paired.high > 1.0, "{paired:?}");
        let enough = sample(&[0.0; ENOUGH]).interval(Level::NinetyFive);
        assert_eq!(enough, Some(Interval { low: 0.0, high: 0.0 }));
    }

    #[test]
    fn five_repeats_that_differ_are_taken_to_spread_as_normal_and_four_are_not() {
        let values = [9.9, 10.0, 10.1, 10.0, 10.0];
        let five = sample(&values).interval(Level::NinetyFive).unwrap();
        assert!((five.high - 10.0 - 2.776 * 0.005f64.sqrt() / 5f64.sqrt()).abs() < 1e-4, "{five:?}");
        assert_eq!(sample(&values[..4]).interval(Level::NinetyFive).unwrap().high, f64::INFINITY);
        let others = sample(&[8.0, 8.1, 8.0, 7.9, 8.0]);
        let more = sample(&values).less(1.0, &others, false, Level::NinetyFive).unwrap();
        assert!(more.low > 1.8 && more.high < 2.2, "{more:?}");
    }

    #[test]
    fn a_spread_that_is_taken_as_normal_is_students() {
        let normal = sample(&[9.9, 10.0, 10.1]).spread_as_normal().interval(Level::NinetyFive).unwrap();
        assert!((normal.high - 10.0 - 4.303 * 0.1 / 3f64.sqrt()).abs() < 1e-9, "{normal:?}");
        let equal = sample(&[10.0; 3]).spread_as_normal().interval(Level::NinetyFive).unwrap();
        assert_eq!(equal.high, f64::INFINITY);
    }

    #[test]
    fn numbers_that_go_together_are_known_to_do_so_only_of_many() {
        let one: Vec<f64> = (0..60).map(f64::from).collect();
        let two: Vec<f64> = one.iter().map(|number| number + f64::from(*number as u8 % 3)).collect();
        let few = correlated(&one[..5], &two[..5]);
        assert!(few > 0.2 && few < 0.5, "{few}");
        assert!(correlated(&one, &two) > 0.99);
        assert_eq!((correlated(&one, &one), correlated(&one[..3], &two[..3])), (1.0, 0.0));
        let back: Vec<f64> = one.iter().rev().copied().collect();
        assert_eq!((correlated(&one, &back), correlated(&one, &[1.0; 60])), (0.0, 0.0));
    }

    #[test]
    fn welch_gives_the_textbook_interval() {
        // Equal variances and counts: four degrees of freedom, t = 2.776, error sqrt(2/3).
        let normal = |values: &[f64]| sample(values).spread_as_normal();
        let interval =
            normal(&[4.0, 5.0, 6.0]).less(1.0, &normal(&[1.0, 2.0, 3.0]), false, Level::NinetyFive);
        let half = 2.776 * (2.0f64 / 3.0).sqrt();
        let interval = interval.unwrap();
        assert!((interval.low - (3.0 - half)).abs() < 1e-9 && (interval.high - (3.0 + half)).abs() < 1e-9);
    }
}
