//! Quantiles, by one definition wherever a number is shown.

/// The number that so great a part of sorted numbers does not exceed: 0.5 for the median. `at` gives the
/// number in a place from 0 to `count - 1`; between two places it is found by proportion (definition 7 of
/// Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996, which R and NumPy use, too). `None`
/// when there are no numbers.
///
/// ```
/// use cairn_packet::quantile;
/// let sorted = [10, 20, 30, 40];
/// assert_eq!(quantile(sorted.len(), 0.5, |place| sorted[place].into()), Some(25.0));
/// ```
pub fn quantile(count: usize, part: f64, at: impl Fn(usize) -> f64) -> Option<f64> {
    let last = count.checked_sub(1)?;
    let place = part.clamp(0.0, 1.0) * last as f64;
    let below = (place as usize).min(last);
    let (low, high) = (at(below), at(last.min(below + 1)));
    Some(low + (high - low) * (place - below as f64))
}

/// The median of numbers in any order, which are sorted on the way. Not a number when there are none.
pub fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let at = |place: usize| numbers.get(place).copied().unwrap_or(f64::NAN);
    quantile(numbers.len(), 0.5, at).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_places_it_is_found_by_proportion() {
        let of = |numbers: &[f64], part| quantile(numbers.len(), part, |place| numbers[place]);
        assert_eq!(of(&[0.0, 10.0], 0.25), Some(2.5));
        assert_eq!(of(&[3.0], 0.99), Some(3.0));
        assert_eq!((of(&[1.0, 2.0, 3.0], 0.0), of(&[1.0, 2.0, 3.0], 1.0)), (Some(1.0), Some(3.0)));
        assert_eq!(of(&[], 0.5), None);
        assert_eq!((of(&[1.0, 2.0], -1.0), of(&[1.0, 2.0], 2.0)), (Some(1.0), Some(2.0)));
        assert_eq!(of(&[1.0, 2.0], f64::NAN).map(f64::is_nan), Some(true));
    }

    #[test]
    fn the_median_of_an_even_number_of_numbers_is_between_the_middle_ones() {
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert!(median(&mut []).is_nan());
    }
}
