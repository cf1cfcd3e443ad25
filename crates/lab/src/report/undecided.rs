//! Why nobody can say of some measures of two runs whether they differ.

use std::collections::BTreeMap;

use crate::stats::{ENOUGH, FEWEST, FEWEST_ORDERS, Sample};

/// What numbers would need that leave open whether they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Undecided {
    FewRepeats,
    EqualRepeats,
    FewOrders,
    OrdersDiffer,
}

impl Undecided {
    fn of(samples: &[Sample; 2]) -> Self {
        let random = || samples.iter().filter(|sample| !sample.hangs_on_order() && !sample.has_enough());
        if samples.iter().any(|sample| !sample.has_enough_orders()) {
            Undecided::FewOrders
        } else if random().any(|sample| sample.values.len() < FEWEST) {
            Undecided::FewRepeats
        } else if random().next().is_some() {
            Undecided::EqualRepeats
        } else {
            Undecided::OrdersDiffer
        }
    }

    fn words(self) -> String {
        match self {
            Undecided::FewRepeats => format!("with fewer than {FEWEST} repeats"),
            Undecided::EqualRepeats => format!("with fewer than {ENOUGH} repeats that are all equal"),
            Undecided::FewOrders => format!("with fewer than {FEWEST_ORDERS} drawn orders"),
            Undecided::OrdersDiffer => "of which orders say different things".to_owned(),
        }
    }
}

/// Of how many pairs of numbers nobody can say whether they differ, and why.
pub(super) fn words<'a>(undecided: impl Iterator<Item = &'a [Sample; 2]>) -> String {
    let mut counts: BTreeMap<Undecided, usize> = BTreeMap::new();
    for samples in undecided {
        *counts.entry(Undecided::of(samples)).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let why: Vec<String> = match counts.len() {
        1 => counts.keys().map(|why| why.words()).collect(),
        _ => counts.iter().map(|(why, count)| format!("{count} {}", why.words())).collect(),
    };
    let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
    format!("of {all} nobody can say{why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_nobody_can_say_is_said_of_the_numbers_that_are_there() {
        let random = |values: &[f64]| Sample { values: values.to_vec(), ..Sample::default() };
        let orders = |values: &[f64]| Sample { planned: Some(vec![(0, 1.0)]), ..random(values) };
        let (equal, differ) = (random(&[1.0; 6]), random(&[1.0, 1.1, 1.2, 0.9, 1.0, 1.3]));
        let said = |pairs: &[[Sample; 2]]| words(pairs.iter());
        assert_eq!(said(&[]), "of 0 nobody can say");
        let six = [[equal.clone(), differ.clone()], [equal.clone(), equal.clone()]];
        assert_eq!(said(&six), "of 2 nobody can say: with fewer than 59 repeats that are all equal");
        let mixed = [
            [equal, differ.clone()],
            [random(&[1.0, 1.2]), differ.clone()],
            [orders(&[1.0; 3]), differ.clone()],
            [orders(&[1.0, 1.0, 1.0, 1.0, 9.0]), differ],
        ];
        let told = "of 4 nobody can say: 1 with fewer than 5 repeats, 1 with fewer than 59 repeats that are all \
                    equal, 1 with fewer than 5 drawn orders, 1 of which orders say different things";
        assert_eq!(said(&mixed), told);
    }
}
