//! One number of each repeat, and on which of them its mean and its interval rest.
//!
//! In virtual time the first two repeats of an experiment in which nothing is random take orders of what
//! happens at one instant that nobody has drawn. Where the order makes a difference these two are no sample:
//! of three that come together the middle one stays in the middle, and more repeats make it no less so. They
//! are looked at beside the others, and do not count among them.

use super::data::CaseData;
use crate::order::{OrderSeen, Simultaneous};
use crate::stats::{Counted, Estimate, are_equal};

/// Of fewer draws nothing follows.
const FEWEST_DRAWN: usize = 3;
/// So many repeats that agree, with so many draws among them, are taken for all orders.
const ENOUGH_ORDERS: usize = 5;

/// On which repeats a mean and its interval rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// On all.
    All,
    /// On those whose order was drawn.
    Drawn,
    /// On none: too few orders were drawn.
    TooFewDrawn,
}

/// The number of one repeat.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: f64,
    counted: Option<Counted>,
    /// The order that it took; nothing on a clock of the world, and in runs of earlier versions.
    order: Option<OrderSeen>,
}

impl Number {
    /// The order that it took, if that is no draw, though another could have brought another number.
    fn fixed(&self) -> Option<Simultaneous> {
        let seen = self.order.filter(|seen| seen.may_matter)?;
        (seen.order != Simultaneous::Drawn).then_some(seen.order)
    }
}

/// One number of each valid repeat of a case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers(Vec<Number>);

impl Numbers {
    /// Those of a measure; none where no valid repeat has it.
    pub(super) fn of(case: &CaseData, key: &str, summary: &str) -> Self {
        let valid = case.results.iter().filter(|result| result.is_valid());
        let number = |result: &crate::analysis::RepeatResult| {
            let value = result.values.get(key)?.named(summary)?;
            let (counted, order) = (result.counts.get(key).copied(), result.outcome.simultaneous);
            Some(Number { value, counted, order })
        };
        Numbers(valid.filter_map(number).collect())
    }

    /// Numbers of which there is one of each repeat; of others nobody knows which order they took.
    pub(super) fn of_each(case: &CaseData, values: &[f64]) -> Self {
        let has_all = case.results.len() == values.len();
        let order = |repeat: usize| case.results.get(repeat).filter(|_| has_all)?.outcome.simultaneous;
        let number =
            |(repeat, value): (usize, &f64)| Number { value: *value, counted: None, order: order(repeat) };
        Numbers(values.iter().enumerate().map(number).collect())
    }

    /// What is reckoned from these and others of the same repeats.
    pub(crate) fn with(self, others: Numbers, of: impl Fn(f64, f64) -> f64) -> Self {
        let both = self.0.into_iter().zip(others.0);
        let number =
            |(one, two): (Number, Number)| Number { value: of(one.value, two.value), counted: None, ..one };
        Numbers(both.map(number).collect())
    }

    /// All of them, in the order of the repeats.
    pub(crate) fn all(&self) -> Vec<f64> {
        self.0.iter().map(|number| number.value).collect()
    }

    /// Numbers that are all the same show nothing that hangs on an order, so that all of them count.
    pub(crate) fn basis(&self) -> Basis {
        let fixed = self.0.iter().filter(|number| number.fixed().is_some()).count();
        match self.0.len() - fixed {
            _ if fixed == 0 || are_equal(&self.all()) || self.0.len() == 1 => Basis::All,
            drawn if drawn < FEWEST_DRAWN => Basis::TooFewDrawn,
            _ => Basis::Drawn,
        }
    }

    fn used(&self) -> impl Iterator<Item = &Number> {
        let only_drawn = self.basis() == Basis::Drawn;
        self.0.iter().filter(move |number| !only_drawn || number.fixed().is_none())
    }

    /// Those that the mean and the interval rest on. Where too few orders were drawn these are all, and there
    /// is no interval.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.used().map(|number| number.value).collect()
    }

    /// What was counted of these; nothing where one of them does not say.
    pub(crate) fn counts(&self) -> Vec<Counted> {
        self.used().map(|number| number.counted).collect::<Option<_>>().unwrap_or_default()
    }

    /// Those that are looked at beside the ones that count, with the order that they took.
    pub(crate) fn fixed(&self) -> Vec<(Simultaneous, f64)> {
        let is_beside = self.basis() == Basis::Drawn;
        let beside = self.0.iter().filter(|_| is_beside);
        beside.filter_map(|number| Some((number.fixed()?, number.value))).collect()
    }

    /// Over the repeats that count.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let found = Estimate::of(&self.values())?;
        Some(match self.basis() {
            Basis::TooFewDrawn => Estimate { half90: None, half95: None, ..found },
            Basis::All | Basis::Drawn => Estimate { repeats: self.0.len() as u64, ..found },
        })
    }

    /// The orders that they took; nothing where one of them does not say, as in runs of earlier versions.
    pub(super) fn orders(&self) -> Option<Vec<OrderSeen>> {
        self.0.iter().map(|number| number.order).collect()
    }
}

/// Were so many orders tried that numbers that agree in all of them are taken for exact?
pub(super) fn are_enough(orders: &[OrderSeen]) -> bool {
    let drawn = orders.iter().filter(|seen| seen.order == Simultaneous::Drawn).count();
    orders.len() >= ENOUGH_ORDERS && drawn >= FEWEST_DRAWN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of repeats that took the orders which repeats take where nothing is random.
    fn numbers(values: &[f64], may_matter: bool) -> Numbers {
        let number = |(repeat, value): (u32, &f64)| {
            let order = Simultaneous::of_repeat(repeat, false);
            Number { value: *value, counted: None, order: Some(OrderSeen { order, may_matter }) }
        };
        Numbers((0..).zip(values).map(number).collect())
    }

    #[test]
    fn a_mean_rests_on_drawn_orders_where_the_order_matters_and_on_all_repeats_elsewhere() {
        let values = [9.0, 1.0, 4.0, 5.0, 6.0];
        let tied = numbers(&values, true);
        assert_eq!((tied.basis(), tied.values()), (Basis::Drawn, vec![4.0, 5.0, 6.0]));
        assert_eq!(tied.fixed(), [(Simultaneous::Planned, 9.0), (Simultaneous::Reversed, 1.0)]);
        let found = tied.estimate().unwrap();
        assert_eq!((found.count, found.repeats, found.mean), (3, 5, 5.0));
        let apart = numbers(&values, false);
        assert_eq!((apart.basis(), apart.values().len(), apart.fixed().len()), (Basis::All, 5, 0));
        assert_eq!(numbers(&[2.0; 5], true).basis(), Basis::All);
        let few = numbers(&values[..4], true);
        assert_eq!((few.basis(), few.values().len()), (Basis::TooFewDrawn, 4));
        assert_eq!(few.estimate().unwrap().half95, None, "two draws are no sample");
    }

    #[test]
    fn five_repeats_of_which_three_are_drawn_are_enough_and_neither_four_nor_five_others_are() {
        let orders = |values: &[f64]| numbers(values, true).orders().unwrap();
        assert!(are_enough(&orders(&[1.0; 5])) && !are_enough(&orders(&[1.0; 4])));
        let mut planned = orders(&[1.0; 5]);
        planned.iter_mut().for_each(|seen| seen.order = Simultaneous::Planned);
        assert!(!are_enough(&planned));
    }
}
