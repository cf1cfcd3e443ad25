//! What repeats say that all brought the same number, though something in them is random. Their deviation is
//! nothing, and says nothing: two lucky repeats have none, either.

use super::difference::{Interval, Level};

/// From so many equal repeats on their number is taken for the mean: with fewer, more than a twentieth of all
/// repeats may bring another number (0.95 to the power of 59 is less than 5 %).
pub const ENOUGH_EQUAL: usize = 59;

/// Values that differ by no more than this part of themselves differ by rounding.
const ROUNDING: f64 = 1e-9;

/// What kind of number a measure is: what is known of it without any repeat. No measure is below 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// How often something happened.
    Count,
    /// A part in percent: 100 at most.
    Part,
    /// Anything else.
    #[default]
    Other,
}

/// Are these several numbers that are all the same?
#[must_use]
pub fn are_equal(values: &[f64]) -> bool {
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    values.len() > 1 && most - least <= ROUNDING * most.abs().max(least.abs())
}

/// Where the mean of such repeats lies. Its ends are infinite where nothing is known.
///
/// A count's interval is that of Poisson's distribution for the total of all repeats: of none it is the rule
/// of three. For anything else, `q` is the least share of repeats with that number that the equal ones leave
/// likely; the others bring 0 at least, and at most 100 if it is a part in percent.
pub(super) fn interval(values: &[f64], kind: Kind, level: Level) -> Option<Interval> {
    let value = *values.first()?;
    let repeats = values.len();
    let tail = if level == Level::Ninety { 0.05 } else { 0.025 };
    let is_whole = value >= 0.0 && (value - value.round()).abs() < 1e-6;
    if kind == Kind::Count && is_whole {
        let total = value.round() * repeats as f64;
        let (low, high) = poisson(total, tail);
        return Some(Interval { low: low / repeats as f64, high: high / repeats as f64 });
    }
    if repeats >= ENOUGH_EQUAL {
        return Some(Interval { low: value, high: value });
    }
    if value < 0.0 {
        return Some(Interval { low: f64::NEG_INFINITY, high: f64::INFINITY });
    }
    let q = libm::pow(tail, 1.0 / repeats as f64);
    let most = if kind == Kind::Part && value <= 100.0 { 100.0 } else { f64::INFINITY };
    Some(Interval { low: q * value, high: value * q + most * (1.0 - q) })
}

/// How many of all repeats may bring another number at 95 %, after so many equal ones.
#[must_use]
pub fn may_differ(repeats: usize) -> f64 {
    1.0 - libm::pow(0.05, 1.0 / repeats.max(1) as f64)
}

/// The means for which so many events, or so few, are as unlikely as `tail`: the exact interval of a count.
fn poisson(count: f64, tail: f64) -> (f64, f64) {
    // Behind this, Wilson's and Hilferty's approximation is better than a thousandth of the interval.
    const SUMMED: f64 = 400.0;
    let z = if tail < 0.03 { 1.959_964 } else { 1.644_854 };
    let chi = |half: f64, z: f64| {
        let part = 1.0 / (9.0 * half);
        half * libm::pow(1.0 - part + z * part.sqrt(), 3.0)
    };
    if count > SUMMED {
        return (chi(count, -z), chi(count + 1.0, z));
    }
    // The chance of at most so many events around a mean.
    let at_most = |most: f64, mean: f64| {
        let (mut term, mut sum) = (libm::exp(-mean), 0.0);
        let mut number = 0.0;
        while number <= most {
            sum += term;
            number += 1.0;
            term *= mean / number;
        }
        sum
    };
    let solve = |rises: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, count + 10.0 * (count + 1.0).sqrt() + 10.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if rises(middle) { high = middle } else { low = middle }
        }
        high
    };
    let low = if count < 1.0 { 0.0 } else { solve(&|mean| 1.0 - at_most(count - 1.0, mean) > tail) };
    (low, solve(&|mean| at_most(count, mean) < tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, repeats: usize, kind: Kind) -> (f64, f64) {
        let interval = interval(&vec![value; repeats], kind, Level::NinetyFive).unwrap();
        (interval.low, interval.high)
    }

    fn near(found: (f64, f64), wanted: (f64, f64)) {
        let close = |one: f64, two: f64| (one - two).abs() < 2e-3 * two.abs().max(1.0);
        assert!(close(found.0, wanted.0) && close(found.1, wanted.1), "{found:?} and not {wanted:?}");
    }

    #[test]
    fn counts_have_the_interval_of_poissons_tables() {
        near(of(0.0, 3, Kind::Count), (0.0, 3.689 / 3.0));
        near(of(3.0, 3, Kind::Count), (4.115 / 3.0, 17.085 / 3.0));
        near(of(1.0, 2, Kind::Count), (0.242 / 2.0, 7.225 / 2.0));
        // 100 events: 81.36 to 121.63; 1,000: 938.97 to 1,063.94.
        near(of(50.0, 2, Kind::Count), (81.36 / 2.0, 121.63 / 2.0));
        near(of(500.0, 2, Kind::Count), (938.97 / 2.0, 1063.94 / 2.0));
    }

    #[test]
    fn what_is_no_count_is_as_sure_as_its_number_of_repeats() {
        let (low, high) = of(10.0, 3, Kind::Other);
        assert!((low - 2.924).abs() < 1e-3 && high == f64::INFINITY, "{low} {high}");
        let (low, high) = of(0.0, 3, Kind::Part);
        assert!(low == 0.0 && (high - 70.76).abs() < 0.01, "{low} {high}");
        assert_eq!(of(10.0, ENOUGH_EQUAL, Kind::Other), (10.0, 10.0));
        assert!(may_differ(ENOUGH_EQUAL) < 0.05 && may_differ(ENOUGH_EQUAL - 1) > 0.05);
    }

    #[test]
    fn rounding_makes_no_two_numbers_of_one() {
        assert!(are_equal(&[0.1 + 0.2, 0.3]) && are_equal(&[0.0, 0.0]));
        assert!(!are_equal(&[1.0, 1.001]) && !are_equal(&[5.0]) && !are_equal(&[]));
    }
}
