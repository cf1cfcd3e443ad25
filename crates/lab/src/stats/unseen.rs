//! What few repeats leave open, and equal ones. A repeat is one draw: events within one come in bursts, and
//! repeats that are all the same say nothing of a draw that none of them was.

use super::interval::{Interval, Level};

/// From so many equal repeats on their number is taken for the mean: with fewer, more than a twentieth of all
/// repeats may be unlike them (0.95 to the power of 59 is less than 5 %).
pub const ENOUGH: usize = 59;

/// From so many repeats that differ on their spread is taken for that of all. With fewer nothing can be said
/// of even half of all repeats: that four lie on the wrong side of their median by chance has a probability
/// of 6 %, of five 3 %.
pub const FEWEST: usize = 5;

/// Values that differ by no more than this part of themselves differ by rounding.
const ROUNDING: f64 = 1e-9;

/// Are these several numbers that are all the same?
#[must_use]
pub fn are_equal(values: &[f64]) -> bool {
    let (least, most) = ends(values);
    values.len() > 1 && are_near(values, most.abs().max(least.abs()))
}

/// Do they differ by rounding alone, when numbers up to `greatest` were reckoned with?
pub(super) fn are_near(values: &[f64], greatest: f64) -> bool {
    let (least, most) = ends(values);
    most - least <= ROUNDING * greatest
}

fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    (least, most)
}

/// Where the mean of few or equal repeats lies when draws that none of them was are reckoned with. Its ends
/// are infinite where nothing is known.
///
/// `q` is the least share of all repeats that are no lower than the lowest, or no higher than the highest,
/// which this many repeats leave likely. No measure is below 0: so the lower end holds whatever the others
/// bring. At the upper end they bring `most`, if the measure has such a bound.
pub(super) fn interval(values: &[f64], most: Option<f64>, level: Level) -> Interval {
    let (low, high) = ends(values);
    if values.len() < 2 || low < 0.0 {
        return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let tail = if level == Level::Ninety { 0.05 } else { 0.025 };
    let q = libm::pow(tail, 1.0 / values.len() as f64);
    let unseen = most.filter(|most| high <= *most).unwrap_or(f64::INFINITY);
    Interval { low: q * low, high: q * high + (1.0 - q) * unseen }
}

/// How many of all repeats may be unlike any of so many, at 95 %.
#[must_use]
pub fn may_differ(repeats: usize) -> f64 {
    1.0 - libm::pow(0.05, 1.0 / repeats.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], most: Option<f64>) -> (f64, f64) {
        let interval = interval(values, most, Level::NinetyFive);
        (interval.low, interval.high)
    }

    #[test]
    fn equal_repeats_bound_the_mean_from_below_and_by_what_can_be_most() {
        let (low, high) = of(&[10.0; 3], None);
        assert!((low - 2.924).abs() < 1e-3 && high == f64::INFINITY, "{low} {high}");
        let (low, high) = of(&[0.0; 3], Some(100.0));
        assert!(low == 0.0 && (high - 70.76).abs() < 0.01, "{low} {high}");
        assert!(may_differ(ENOUGH) < 0.05 && may_differ(ENOUGH - 1) > 0.05);
        assert!(0.5f64.powi(FEWEST as i32) < 0.05 && 0.5f64.powi(FEWEST as i32 - 1) > 0.05);
    }

    #[test]
    fn few_repeats_that_differ_bound_the_mean_no_better() {
        let (low, high) = of(&[10.0, 10.001, 10.0, 10.0], None);
        assert!((low - 3.976).abs() < 0.01 && high == f64::INFINITY, "{low} {high}");
        // What can be no more than a hundred is no more than that.
        let (_, high) = of(&[90.0, 91.0, 90.0, 92.0], Some(100.0));
        assert!(high < 100.0 && high > 92.0, "{high}");
        assert_eq!(of(&[-1.0, 1.0], None), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn rounding_makes_no_two_numbers_of_one() {
        assert!(are_equal(&[0.1 + 0.2, 0.3]) && are_equal(&[0.0, 0.0]));
        assert!(!are_equal(&[1.0, 1.001]) && !are_equal(&[5.0]) && !are_equal(&[]));
    }
}
