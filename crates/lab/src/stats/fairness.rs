//! How evenly something is divided.

/// Jain's index: 1 if all have the same, 1/n if one of n has everything; 1 as well if nobody has anything.
#[must_use]
pub fn fairness(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (values.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_the_part_of_those_who_share_evenly() {
        assert_eq!(fairness(&[3.0, 3.0, 0.0, 0.0]), 0.5);
        assert_eq!((fairness(&[7.0; 5]), fairness(&[0.0; 5]), fairness(&[])), (1.0, 1.0, 1.0));
    }
}
