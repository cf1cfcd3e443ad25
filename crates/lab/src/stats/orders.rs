//! What follows from repeats that differ in nothing but the order of what happens at one instant.
//!
//! Of such orders there may be few, or one in many that brings something else, and how a handful of them
//! spreads says nothing of their mean. So the claim is another: that a statement holds of most orders. If
//! half of all orders failed it, n that are drawn would all meet it with a probability of 0.5^n: 3.1 % for
//! five. Of the mean only many orders say something.

use serde::{Deserialize, Serialize};

use super::difference::Sample;
use super::interval::{Interval, Level};
use super::unseen::are_equal;

/// So many drawn orders that are all of one kind say of which kind most are.
pub const FEWEST_ORDERS: usize = 5;
/// How so many spread says how well their mean is known.
pub const MANY_ORDERS: usize = 20;

/// What a verdict on such repeats is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// More than half of all orders.
    MostOrders,
    /// The mean over all orders.
    MeanOfOrders,
    /// A statement of several parts: most orders in one, and their mean in another.
    MostOrdersAndTheirMean,
}

impl Claim {
    /// What two parts of a statement come to together.
    #[must_use]
    pub fn and(self, other: Claim) -> Claim {
        if self == other { self } else { Claim::MostOrdersAndTheirMean }
    }

    /// Behind a verdict: "confirmed of most orders".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Claim::MostOrders => "of most orders",
            Claim::MeanOfOrders => "on the mean of the orders",
            Claim::MostOrdersAndTheirMean => "of most orders and on their mean",
        }
    }

    /// Where something happens: "fails it in most orders".
    #[must_use]
    pub const fn place(self) -> &'static str {
        match self {
            Claim::MostOrders => "in most orders",
            Claim::MeanOfOrders => "on the mean of the orders",
            Claim::MostOrdersAndTheirMean => "in most orders and on their mean",
        }
    }
}

/// The orders that a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DrawnOrders {
    /// How many were drawn; none where the planned one is all there is.
    pub drawn: u64,
    /// The least of their numbers.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

impl DrawnOrders {
    /// Of the numbers of drawn orders, or of the others where none was drawn.
    #[must_use]
    pub fn of(drawn: &[f64], others: &[f64]) -> Self {
        let values = if drawn.is_empty() { others } else { drawn };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        DrawnOrders { drawn: drawn.len() as u64, least, most }
    }
}

/// A number in one order, and what it is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The number.
    pub value: f64,
    /// The other one, as many times as it counts.
    pub other: f64,
}

impl Compared {
    /// By how much it is more.
    #[must_use]
    pub fn difference(self) -> f64 {
        self.value - self.other
    }
}

/// A comparison in every order that was tried.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByOrder {
    /// In those that were drawn.
    pub drawn: Vec<Compared>,
    /// In those that nobody has drawn: the planned one. They can take a finding back, and count for nothing
    /// else.
    pub planned: Vec<Compared>,
}

/// What orders say of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfOrders {
    /// All of them meet it, or none does: so it is with most.
    All {
        /// Do they?
        met: bool,
    },
    /// So it is with all that were drawn, and as planned it is not.
    NotAsPlanned {
        /// Do those that were drawn meet it?
        met: bool,
    },
    /// Some of them meet it, and there are so many that their mean can be judged.
    Many,
    /// Some of them meet it, and of the mean they are too few.
    Mixed {
        /// So many do.
        met: usize,
    },
    /// Too few were drawn.
    TooFew,
}

impl ByOrder {
    /// Whether a statement holds in them. `fewest` have to be drawn.
    #[must_use]
    pub fn say(&self, fewest: usize, holds: impl Fn(Compared) -> bool) -> OfOrders {
        let drawn = self.drawn.len();
        let met = self.drawn.iter().filter(|one| holds(**one)).count();
        let is_as_planned = self.planned.iter().all(|one| holds(*one) == (met > 0));
        match met {
            _ if drawn < fewest => OfOrders::TooFew,
            _ if (met == drawn || met == 0) && is_as_planned => OfOrders::All { met: met > 0 },
            _ if met == drawn || met == 0 => OfOrders::NotAsPlanned { met: met > 0 },
            _ if drawn >= MANY_ORDERS => OfOrders::Many,
            met => OfOrders::Mixed { met },
        }
    }

    /// Where the mean of the differences lies; nothing where too few orders were drawn, or all are the same.
    #[must_use]
    pub fn interval(&self, level: Level) -> Option<Interval> {
        let values: Vec<f64> = self.drawn.iter().map(|one| one.difference()).collect();
        let is_known = values.len() >= MANY_ORDERS && !are_equal(&values);
        is_known.then(|| Sample { values, ..Sample::default() }.interval(level)).flatten()
    }
}

/// A number in one repeat, and whether anybody has drawn its order.
struct InRepeat {
    value: f64,
    is_planned: bool,
}

impl Sample {
    /// Do its numbers differ, if they do, by the order of what happens at one instant alone?
    #[must_use]
    pub fn hangs_on_order(&self) -> bool {
        self.planned.is_some()
    }

    /// All numbers, those of orders that nobody has drawn among them.
    pub fn all(&self) -> impl Iterator<Item = f64> {
        let planned = self.planned.iter().flatten().map(|(_, value)| *value);
        self.values.iter().copied().chain(planned)
    }

    /// Can another repeat bring another number by more than the order of what happens at one instant?
    fn is_random(&self) -> bool {
        !self.exact && !self.hangs_on_order()
    }

    /// Does one of the two hang on an order, and is the other random? Then the numbers of their repeats have
    /// nothing to do with each other.
    #[must_use]
    pub fn is_mixed_with(&self, other: &Sample) -> bool {
        self.hangs_on_order() && other.is_random() || self.is_random() && other.hangs_on_order()
    }

    /// What stands for it beside something random: the orders that were drawn, as a sample like any other.
    /// Where these are all equal it is that number in most orders, by which it has no spread. The planned
    /// order is no draw.
    #[must_use]
    pub fn beside_random(&self) -> Sample {
        if !self.hangs_on_order() {
            return self.clone();
        }
        let drawn = Sample { planned: None, counts: Vec::new(), ..self.clone() };
        match self.values.first() {
            Some(first) if self.is_one_in_most_orders() => {
                Sample { values: vec![*first], exact: true, ..drawn }
            }
            _ => drawn,
        }
    }

    /// Is it the same in so many drawn orders that it is in most? What the setting makes so shows in any.
    #[must_use]
    pub fn is_one_in_most_orders(&self) -> bool {
        self.hangs_on_order()
            && self.has_enough_orders()
            && (self.values.len() == 1 || are_equal(&self.values))
    }

    /// Is what follows from its drawn orders beside something random a matter of most orders? They are equal
    /// then, or too few to show where their mean lies: so each of them has to say the same alone.
    #[must_use]
    pub fn is_of_most_orders(&self) -> bool {
        self.hangs_on_order() && (self.is_one_in_most_orders() || self.values.len() < MANY_ORDERS)
    }

    /// Were so many orders drawn that something can be said of it?
    #[must_use]
    pub fn has_enough_orders(&self) -> bool {
        !self.hangs_on_order() || self.values.len() >= if self.by_construction { 1 } else { FEWEST_ORDERS }
    }

    /// Beside so many times another, repeat by repeat. Nothing where neither hangs on an order, or one of
    /// them is random.
    #[must_use]
    pub fn by_order(&self, times: f64, other: &Sample) -> Option<ByOrder> {
        let mut repeats: Vec<u32> = Vec::new();
        for sample in [self, other] {
            if let Some(planned) = &sample.planned {
                repeats.extend(planned.iter().map(|(repeat, _)| *repeat));
                repeats.extend((0..sample.values.len()).filter_map(|place| sample.repeat(place)));
            }
        }
        if self.is_random() || other.is_random() || self.exact && other.exact {
            return None;
        }
        repeats.sort_unstable();
        repeats.dedup();
        let mut found = ByOrder::default();
        for repeat in repeats {
            let Some((one, two)) = self.in_repeat(repeat).zip(other.in_repeat(repeat)) else { continue };
            let compared = Compared { value: one.value, other: times * two.value };
            let list = if one.is_planned || two.is_planned { &mut found.planned } else { &mut found.drawn };
            list.push(compared);
        }
        Some(found)
    }

    /// Of which repeat a number is.
    fn repeat(&self, place: usize) -> Option<u32> {
        match self.repeats.as_slice() {
            [] => u32::try_from(place).ok(),
            repeats => repeats.get(place).copied(),
        }
    }

    /// What is exact is the same in every repeat.
    fn in_repeat(&self, repeat: u32) -> Option<InRepeat> {
        if self.exact {
            return self.values.first().map(|value| InRepeat { value: *value, is_planned: false });
        }
        let planned = self.planned.iter().flatten().find(|(planned, _)| *planned == repeat);
        if let Some((_, value)) = planned {
            return Some(InRepeat { value: *value, is_planned: true });
        }
        let place = (0..self.values.len()).find(|place| self.repeat(*place) == Some(repeat))?;
        self.values.get(place).map(|value| InRepeat { value: *value, is_planned: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of drawn orders, behind that of the planned one.
    fn orders(planned: f64, drawn: &[f64]) -> Sample {
        let repeats = (1..=drawn.len() as u32).collect();
        Sample { values: drawn.to_vec(), repeats, planned: Some(vec![(0, planned)]), ..Sample::default() }
    }

    fn exact(value: f64) -> Sample {
        Sample { values: vec![value], exact: true, ..Sample::default() }
    }

    fn at_least(planned: f64, drawn: &[f64], bound: f64) -> OfOrders {
        let by_order = orders(planned, drawn).by_order(1.0, &exact(bound)).unwrap();
        by_order.say(FEWEST_ORDERS, |one| one.difference() >= 0.0)
    }

    #[test]
    fn five_drawn_orders_of_one_kind_say_of_which_kind_most_are_and_four_do_not() {
        for drawn in [[3.0, 4.0, 5.0, 6.0, 7.0], [3.0; 5]] {
            assert_eq!(at_least(3.0, &drawn, 3.0), OfOrders::All { met: true });
            assert_eq!(at_least(3.0, &drawn, 8.0), OfOrders::All { met: false });
            assert_eq!(at_least(3.0, &drawn[..4], 3.0), OfOrders::TooFew);
        }
        assert_eq!(at_least(3.0, &[], 3.0), OfOrders::TooFew);
        let chance = 0.5f64.powi(FEWEST_ORDERS as i32);
        assert!(chance < 0.05 && 2.0 * chance > 0.05, "with one less it is more than 5 %");
    }

    #[test]
    fn the_planned_order_takes_a_finding_back_and_counts_for_nothing_else() {
        let drawn = [3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(at_least(2.0, &drawn, 3.0), OfOrders::NotAsPlanned { met: true });
        assert_eq!(at_least(9.0, &drawn, 8.0), OfOrders::NotAsPlanned { met: false });
        assert_eq!(at_least(9.0, &drawn, 4.0), OfOrders::Mixed { met: 4 });
        assert_eq!(at_least(9.0, &drawn[..4], 1.0), OfOrders::TooFew, "it is no fifth");
    }

    #[test]
    fn the_mean_of_orders_has_an_interval_of_many_that_differ_alone() {
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        let by_order = |drawn: &[f64]| orders(0.0, drawn).by_order(1.0, &exact(9.0)).unwrap();
        assert_eq!(by_order(&many).say(FEWEST_ORDERS, |one| one.value > 4.0), OfOrders::Many);
        let interval = by_order(&many).interval(Level::NinetyFive).unwrap();
        assert!((interval.low + interval.high - 1.0).abs() < 1e-9, "about 9.5 less 9: {interval:?}");
        assert_eq!(by_order(&many[..19]).interval(Level::NinetyFive), None);
        assert_eq!(by_order(&[3.0; 30]).interval(Level::NinetyFive), None, "nobody has seen how they spread");
        assert_eq!(by_order(&many).say(FEWEST_ORDERS, |one| one.value >= 0.0), OfOrders::All { met: true });
    }

    #[test]
    fn orders_of_two_cases_are_compared_repeat_by_repeat_and_what_is_exact_with_each() {
        let (one, two) = (orders(1.0, &[10.0, 20.0, 30.0]), orders(2.0, &[5.0, 6.0, 7.0]));
        let both = one.by_order(2.0, &two).unwrap();
        let differences: Vec<f64> = both.drawn.iter().map(|one| one.difference()).collect();
        assert_eq!((differences, both.planned.len()), (vec![0.0, 8.0, 16.0], 1));
        let against = exact(4.0).by_order(1.0, &one).unwrap();
        assert_eq!((against.drawn.len(), against.drawn[0].difference()), (3, -6.0));
        // A repeat that the other has not got is none of both.
        let some = Sample { repeats: vec![1, 3, 4], ..orders(1.0, &[5.0, 6.0, 7.0]) };
        let both = one.by_order(1.0, &some).unwrap();
        assert_eq!((both.drawn.len(), both.planned.len()), (2, 1));
    }

    #[test]
    fn what_is_random_is_held_against_drawn_orders_by_their_spread_and_never_one_by_one() {
        let random = Sample { values: vec![1.0, 2.0, 3.0, 2.0, 1.5, 2.5], ..Sample::default() };
        let tied = orders(90.0, &[5.0, 6.0, 7.0, 6.0, 5.5]);
        for (one, two) in [(&random, &tied), (&tied, &random), (&random, &random)] {
            assert_eq!(one.by_order(1.0, two), None);
        }
        assert!(random.is_mixed_with(&tied) && tied.is_mixed_with(&random));
        assert!(!tied.is_mixed_with(&tied) && !tied.is_mixed_with(&exact(1.0)));
        // By Welch's rule, and the planned order is no draw.
        let plain = Sample { values: tied.values.clone(), ..Sample::default() };
        let welch = plain.less(1.0, &random, false, Level::NinetyFive);
        assert!(welch.is_some_and(|interval| interval.low > 2.0 && interval.high < 6.0), "{welch:?}");
        assert_eq!(tied.less(1.0, &random, false, Level::NinetyFive), welch);
        // Where all that were drawn are equal there is the spread of the other alone.
        let own = random.interval(Level::NinetyFive).unwrap();
        let found = random.less(2.0, &orders(90.0, &[4.0; 5]), false, Level::NinetyFive).unwrap();
        assert!((found.low - own.low + 8.0).abs() + (found.high - own.high + 8.0).abs() < 1e-9, "{found:?}");
        // Four are too few for that, and one says nothing.
        let few = random.less(1.0, &orders(4.0, &[4.0; 4]), false, Level::NinetyFive).unwrap();
        assert_eq!(few.low, f64::NEG_INFINITY);
        assert_eq!(random.less(1.0, &orders(4.0, &[4.0]), false, Level::NinetyFive), None);
    }
}
