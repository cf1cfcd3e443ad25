//! How many repeats would decide what these leave open, where more of the same would.

use super::finding::too_few_orders;
use crate::stats::{FEWEST_ORDERS, Sample, may_differ};

/// What to do, of all that is compared; nothing where no number of repeats is missing. `what` stands before
/// it where it is about something else than these numbers themselves.
pub(super) fn advice(what: &str, samples: &[Sample]) -> Option<String> {
    let (enough_orders, few_orders): (Vec<&Sample>, Vec<&Sample>) =
        samples.iter().partition(|sample| sample.has_enough_orders());
    let is_open = |sample: &Sample| sample.values.len() > 1 && !sample.has_enough();
    let open: Vec<Sample> = enough_orders.into_iter().map(Sample::beside_random).filter(is_open).collect();
    let enough = open.iter().map(Sample::enough).max();
    // With a repeat more than orders have to be drawn there are as many of everything else.
    if let Some(drawn) = few_orders.iter().map(|sample| sample.values.len()).min()
        && enough.is_none_or(|enough| enough <= FEWEST_ORDERS + 1)
    {
        return Some(too_few_orders(drawn));
    }
    let repeats = open.iter().map(|sample| sample.values.len()).min()?;
    Some(format!(
        "too uncertain: {what}after {repeats} repeats {:.0} % of all may be unlike any of them; {} like these would \
         do",
        may_differ(repeats) * 100.0,
        enough?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(values: &[f64]) -> Sample {
        Sample { values: values.to_vec(), ..Sample::default() }
    }

    fn orders(drawn: &[f64]) -> Sample {
        let repeats = (1..=drawn.len() as u32).collect();
        Sample { repeats, planned: Some(vec![(0, 0.0)]), ..random(drawn) }
    }

    #[test]
    fn of_four_repeats_of_two_kinds_six_are_enough_where_the_random_ones_differ() {
        let differ = random(&[0.9, 1.0, 1.1, 1.2]);
        for tied in [orders(&[0.0; 3]), orders(&[0.1, 0.2, 0.3]), orders(&[])] {
            for pair in [[differ.clone(), tied.clone()], [tied.clone(), differ.clone()]] {
                let told = advice("", &pair).unwrap_or_default();
                assert!(told.contains("take `--repeats 6`"), "{told}");
            }
        }
        // Of equal random ones six say no more than four.
        let told = advice("", &[random(&[1.0; 4]), orders(&[0.0; 3])]).unwrap_or_default();
        assert!(told.contains("after 4 repeats 53 %") && told.contains("59 like these would do"), "{told}");
    }

    #[test]
    fn where_orders_are_enough_the_random_repeats_are_told_alone() {
        let told = advice("", &[random(&[0.9, 1.0, 1.1]), orders(&[0.0; 5])]).unwrap_or_default();
        assert!(told.contains("after 3 repeats 63 %") && told.contains("5 like these would do"), "{told}");
        assert_eq!(advice("", &[random(&[0.9, 1.0, 1.1, 1.2, 1.3]), orders(&[0.0; 5])]), None);
        assert_eq!(advice("", &[]), None);
    }
}
