//! One number of each repeat, and on which of them its mean and its interval rest.
//!
//! In virtual time nothing but the order of what happens at one instant may make repeats differ. The first
//! repeat takes the planned order then, which nobody has drawn. It is looked at beside the others, and does
//! not count among them.

use super::data::CaseData;
use crate::analysis::{NetworkCounts, RepeatResult};
use crate::order::{OrderSeen, Simultaneous};
use crate::stats::{Counted, Estimate, Sample, are_equal};

/// How sure the numbers of a case are, one of each valid repeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// Something is random, or it was measured on a clock of the world.
    #[default]
    Random,
    /// Nothing could make them others.
    Exact,
    /// Nothing is random, and all repeats took what happens at one instant in the same order: those of
    /// earlier versions did.
    OfEarlierVersion,
    /// Nothing else is random, and with another order of what happens at one instant they may be others.
    HangsOnOrder,
}

/// The number of one repeat.
#[derive(Debug, Clone, Copy)]
struct Number {
    repeat: u32,
    value: f64,
    counted: Option<Counted>,
    /// The order that it took; nothing on a clock of the world, and in runs of earlier versions.
    order: Option<OrderSeen>,
}

/// One number of each valid repeat of a case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    list: Vec<Number>,
    certainty: Certainty,
}

impl Numbers {
    /// Those of a measure; none where no valid repeat has it.
    pub(super) fn of(case: &CaseData, key: &str, summary: &str) -> Self {
        let number = |(repeat, result): (u32, &RepeatResult)| {
            let value = result.values.get(key)?.named(summary)?;
            let (counted, order) = (result.counts.get(key).copied(), result.outcome.simultaneous);
            Some(Number { repeat, value, counted, order })
        };
        let list: Vec<Number> = case.counting().filter_map(number).collect();
        let certainty = certainty(case, is_of_hashes(key), &list);
        Numbers { list, certainty }
    }

    /// Those of what virtual time counted; none where it is not there of each repeat.
    pub(super) fn of_counts(case: &CaseData, number: impl Fn(&NetworkCounts) -> Option<f64>) -> Self {
        let counts: Vec<&NetworkCounts> = case.counted().map(|(_, counts)| counts).collect();
        let number = |(repeat, result): (u32, &RepeatResult)| {
            let value = number(counts.get(repeat as usize)?)?;
            Some(Number { repeat, value, counted: None, order: result.outcome.simultaneous })
        };
        let list: Vec<Number> = case.counting().filter_map(number).collect();
        let certainty = certainty(case, false, &list);
        Numbers { list, certainty }
    }

    /// The same without those of repeats that are not as they were left.
    pub(super) fn without_changed(mut self, case: &CaseData) -> Self {
        let is_as_left = |repeat: u32| case.as_left.get(repeat as usize).copied().unwrap_or(true);
        self.list.retain(|number| is_as_left(number.repeat));
        self
    }

    /// What is reckoned from these and others of the same repeats.
    pub(crate) fn with(self, others: Numbers, of: impl Fn(f64, f64) -> f64) -> Self {
        let both = self.list.into_iter().zip(others.list);
        let number =
            |(one, two): (Number, Number)| Number { value: of(one.value, two.value), counted: None, ..one };
        Numbers { list: both.map(number).collect(), certainty: self.certainty }
    }

    /// How many repeats have one.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// All of them, in the order of the repeats.
    pub(crate) fn all(&self) -> Vec<f64> {
        self.list.iter().map(|number| number.value).collect()
    }

    /// Those that a mean and an interval rest on. `most` is the most that one of them can be.
    pub(crate) fn sample(&self, most: Option<f64>) -> Sample {
        let hangs = self.certainty == Certainty::HangsOnOrder;
        let is_planned =
            |number: &&Number| hangs && number.order.is_none_or(|seen| seen.order == Simultaneous::Planned);
        let (planned, counting): (Vec<&Number>, Vec<&Number>) = self.list.iter().partition(is_planned);
        Sample {
            values: counting.iter().map(|number| number.value).collect(),
            repeats: counting.iter().map(|number| number.repeat).collect(),
            planned: hangs.then(|| planned.iter().map(|number| (number.repeat, number.value)).collect()),
            exact: matches!(self.certainty, Certainty::Exact | Certainty::OfEarlierVersion),
            most,
            counts: counting.iter().map(|number| number.counted).collect::<Option<_>>().unwrap_or_default(),
            ..Sample::default()
        }
    }

    /// Over the repeats that count.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        Estimate::of_sample(&self.sample(None), self.len())
    }

    /// What stands beside the number; `words` writes it with its unit.
    pub(crate) fn detail(&self, words: impl Fn(f64) -> String) -> Option<String> {
        let one_instant = "the order of what happens at one instant";
        match self.certainty {
            Certainty::Random | Certainty::Exact => None,
            Certainty::OfEarlierVersion => Some(
                "of one order of what happens at one instant, as runs of earlier versions are".to_owned(),
            ),
            Certainty::HangsOnOrder if self.len() == 1 || are_equal(&self.all()) => {
                Some(format!("may hang on {one_instant}"))
            }
            Certainty::HangsOnOrder => {
                let planned = self.sample(None).planned.unwrap_or_default();
                let beside = planned.iter().map(|(_, value)| format!("; as planned it is {}", words(*value)));
                Some(format!("hangs on {one_instant}{}", beside.collect::<String>()))
            }
        }
    }
}

/// How sure numbers of a case are. What is `of_hashes` differs with the seed where nothing else does.
fn certainty(case: &CaseData, of_hashes: bool, list: &[Number]) -> Certainty {
    if !case.is_virtual || !case.plan.is_deterministic() {
        return Certainty::Random;
    }
    let Some(seen) = list.iter().map(|number| number.order).collect::<Option<Vec<OrderSeen>>>() else {
        return if of_hashes { Certainty::Random } else { Certainty::OfEarlierVersion };
    };
    match seen.iter().all(|one| one.may_matter) {
        true => Certainty::HangsOnOrder,
        false if of_hashes => Certainty::Random,
        false => Certainty::Exact,
    }
}

/// Is a measure one that hashes make another?
fn is_of_hashes(key: &str) -> bool {
    key.parse().is_ok_and(|measure: crate::experiment::measure::Measure| measure.is_of_hashes())
}

#[cfg(test)]
impl Numbers {
    /// Numbers of repeats in which nothing but their order is random, in those orders that repeats take.
    pub(super) fn of_orders(values: &[f64]) -> Self {
        let number = |(repeat, value): (u32, &f64)| {
            let order = Simultaneous::of_repeat(repeat, false);
            Number {
                repeat,
                value: *value,
                counted: None,
                order: Some(OrderSeen { order, may_matter: true }),
            }
        };
        let list = (0..).zip(values).map(number).collect();
        Numbers { list, certainty: Certainty::HangsOnOrder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_rests_on_drawn_orders_where_the_order_matters_and_the_planned_one_stands_beside() {
        let tied = Numbers::of_orders(&[9.0, 1.0, 4.0, 7.0]);
        let sample = tied.sample(None);
        assert_eq!(
            (sample.values.as_slice(), sample.repeats.as_slice()),
            (&[1.0, 4.0, 7.0][..], &[1, 2, 3][..])
        );
        assert_eq!(sample.planned, Some(vec![(0, 9.0)]));
        let found = tied.estimate().unwrap();
        let orders = found.orders.unwrap();
        assert_eq!((found.count, found.repeats, found.mean, found.half95), (3, 4, 4.0, None));
        assert_eq!((orders.drawn, orders.least, orders.most), (3, 1.0, 7.0));
        let detail = tied.detail(|value| format!("{value} s")).unwrap();
        assert_eq!(detail, "hangs on the order of what happens at one instant; as planned it is 9 s");
    }

    #[test]
    fn a_mean_of_orders_has_an_interval_from_twenty_drawn_ones_on_that_differ() {
        let values: Vec<f64> = (0..21).map(|repeat| f64::from(repeat % 5)).collect();
        assert_eq!(Numbers::of_orders(&values[..20]).estimate().unwrap().half95, None);
        assert!(Numbers::of_orders(&values).estimate().unwrap().half95.is_some_and(|half| half > 0.0));
        assert_eq!(Numbers::of_orders(&[2.0; 30]).estimate().unwrap().half95, None);
        let alone = Numbers::of_orders(&[2.0]).estimate().unwrap();
        assert_eq!((alone.mean, alone.half95, alone.orders.unwrap().drawn), (2.0, None, 0));
    }
}
