//! What is said of a statement, by where what it compares lies.

use crate::stats::{ByOrder, Claim, Compared, FEWEST_ORDERS, Interval, Level, MANY_ORDERS, OfOrders, Sample};

/// What is said of an expectation, and what of where it hangs on an order of what happens at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    Confirmed(Option<Claim>),
    Contradicted(Option<Claim>),
    /// Why nobody can say.
    Unknown(String),
}

/// What several comparisons come to: one that fails is enough.
pub(super) fn all_of(parts: Vec<Finding>) -> Finding {
    if let Some(failed) = parts.iter().find(|part| matches!(part, Finding::Contradicted(_))) {
        return failed.clone();
    }
    let mut claims = Vec::new();
    for part in parts {
        match part {
            Finding::Confirmed(claim) => claims.extend(claim),
            Finding::Contradicted(_) | Finding::Unknown(_) => return part,
        }
    }
    Finding::Confirmed(claims.into_iter().reduce(Claim::and))
}

/// The difference of what is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Difference {
    /// Its interval; nothing where nobody can say.
    Lies(Option<Interval>),
    /// It hangs on an order of what happens at one instant, or may do so: what it is in each.
    InOrders {
        /// In each of them.
        by_order: ByOrder,
        /// So many have to be drawn.
        fewest: usize,
        /// How sure the interval of their mean is.
        level: Level,
    },
    /// One side is random, and the other hangs on an order.
    Mixed(Mixed),
}

/// What is random held against orders that were drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mixed {
    /// Of the difference to all orders that were drawn, where so many were that this says something.
    interval: Option<Interval>,
    /// So many were drawn.
    drawn: usize,
    /// Are these too few?
    has_too_few: bool,
    /// Where they are equal, or too few to know their mean, the same for each of them alone: so it is in most
    /// orders if it is so in all.
    each: Option<EachOrder>,
}

/// The interval of a difference in single orders.
#[derive(Debug, Clone, PartialEq)]
struct EachOrder {
    drawn: Vec<Option<Interval>>,
    /// In those that nobody has drawn: they can take a finding back.
    planned: Vec<Option<Interval>>,
}

impl Mixed {
    /// Of two numbers of which one hangs on an order and the other is random.
    fn of(value: &Sample, times: f64, other: &Sample, level: Level) -> Self {
        let tied = if value.hangs_on_order() { value } else { other };
        let one = |number: f64| Sample { values: vec![number], exact: true, ..Sample::default() };
        let less = |number: f64| match value.hangs_on_order() {
            true => one(number).less(times, other, false, level),
            false => value.less(times, &one(number), false, level),
        };
        let each = || EachOrder {
            drawn: tied.values.iter().map(|number| less(*number)).collect(),
            planned: tied.planned.iter().flatten().map(|(_, number)| less(*number)).collect(),
        };
        Mixed {
            interval: value.less(times, other, false, level),
            drawn: tied.values.len(),
            has_too_few: !tied.has_enough_orders(),
            each: tied.is_of_most_orders().then(each),
        }
    }

    fn find(&self, lies: impl Fn(Interval) -> Result<bool, &'static str>) -> Finding {
        if self.has_too_few {
            return of_orders(OfOrders::TooFew, self.drawn);
        }
        let claim = self.each.is_some().then_some(Claim::MostOrders);
        let found = by_interval(self.interval, &lies, claim);
        let met = matches!(found, Finding::Confirmed(_));
        if !met && !matches!(found, Finding::Contradicted(_)) {
            return found;
        }
        let Some(each) = &self.each else { return found };
        let is_so = |interval: &&Option<Interval>| by_interval(**interval, &lies, claim) == found;
        let so = each.drawn.iter().filter(is_so).count();
        match each.planned.iter().all(|interval| is_so(&interval)) {
            _ if so < each.drawn.len() => {
                let met = if met { so } else { each.drawn.len() - so };
                of_orders(OfOrders::Mixed { met }, self.drawn)
            }
            true => found,
            false => of_orders(OfOrders::NotAsPlanned { met }, self.drawn),
        }
    }
}

impl Difference {
    /// Of a comparison in each order. What the setting makes so shows in any.
    pub(super) fn in_orders(by_order: ByOrder, by_construction: bool, level: Level) -> Self {
        let fewest = if by_construction { 1 } else { FEWEST_ORDERS };
        Difference::InOrders { by_order, fewest, level }
    }

    /// Of a number held against so many times another, where one of them hangs on an order and the other is
    /// random.
    pub(super) fn mixed(value: &Sample, times: f64, other: &Sample, level: Level) -> Self {
        Difference::Mixed(Mixed::of(value, times, other, level))
    }

    /// The interval that decides; nothing where single orders do, or too few were drawn.
    pub(super) fn interval(&self) -> Option<Interval> {
        match self {
            Difference::Lies(interval) => *interval,
            Difference::InOrders { by_order, level, .. } => by_order.interval(*level),
            Difference::Mixed(mixed) => mixed.interval.filter(|_| !mixed.has_too_few),
        }
    }

    /// What it comes to when something has to hold of it.
    pub(super) fn is(&self, holds: impl Fn(f64) -> bool) -> Finding {
        self.find(
            |one| holds(one.difference()),
            |Interval { low, high }| match (holds(low), holds(high)) {
                (true, true) => Ok(true),
                (false, false) => Ok(false),
                _ => Err("too uncertain: the interval holds both"),
            },
        )
    }

    /// The same where it has to lie between two numbers.
    pub(super) fn is_within(&self, low: f64, high: f64) -> Finding {
        self.find(|one| (low..=high).contains(&one.difference()), between(low, high))
    }

    /// The same where it has to be no more than a part of what it is held against, whose mean is known: in
    /// each order of what it is there.
    pub(super) fn is_within_part(&self, part: f64, mean: f64) -> Finding {
        let margin = mean.abs() * part;
        let is_near = |one: Compared| one.difference().abs() <= one.other.abs() * part;
        self.find(is_near, between(-margin, margin))
    }

    fn find(
        &self,
        holds: impl Fn(Compared) -> bool,
        lies: impl Fn(Interval) -> Result<bool, &'static str>,
    ) -> Finding {
        match self {
            Difference::Lies(interval) => by_interval(*interval, &lies, None),
            Difference::InOrders { by_order, fewest, level } => match by_order.say(*fewest, holds) {
                OfOrders::Many => by_interval(by_order.interval(*level), &lies, Some(Claim::MeanOfOrders)),
                said => of_orders(said, by_order.drawn.len()),
            },
            Difference::Mixed(mixed) => mixed.find(lies),
        }
    }
}

/// What an interval says.
fn by_interval(
    interval: Option<Interval>,
    lies: &impl Fn(Interval) -> Result<bool, &'static str>,
    claim: Option<Claim>,
) -> Finding {
    match interval.map(lies) {
        None => Finding::Unknown("a single repeat does not say how sure its number is".to_owned()),
        Some(Ok(true)) => Finding::Confirmed(claim),
        Some(Ok(false)) => Finding::Contradicted(claim),
        Some(Err(why)) => Finding::Unknown(why.to_owned()),
    }
}

/// Whether an interval lies between two numbers, or beyond one of them.
fn between(low: f64, high: f64) -> impl Fn(Interval) -> Result<bool, &'static str> {
    move |interval| match interval {
        Interval { low: from, high: to } if from >= low && to <= high => Ok(true),
        Interval { low: from, high: to } if to < low || from > high => Ok(false),
        _ => Err("too uncertain: the interval reaches beyond the margin"),
    }
}

const ONE_INSTANT: &str = "the order of what happens at one instant";

fn several(drawn: usize) -> String {
    if drawn == 1 { "1 drawn order".to_owned() } else { format!("{drawn} drawn orders") }
}

fn take(repeats: usize) -> String {
    format!("take `--repeats {repeats}`, or `repeats = {repeats}` in the file")
}

/// That so many drawn orders are too few, and what to do about it.
pub(super) fn too_few_orders(drawn: usize) -> String {
    format!(
        "it may hang on {ONE_INSTANT}, and {} of {FEWEST_ORDERS} that are needed are there: {}",
        several(drawn),
        take(FEWEST_ORDERS + 1)
    )
}

/// What is said of most orders, or why nothing is, where so many were drawn.
fn of_orders(said: OfOrders, drawn: usize) -> Finding {
    let several = several(drawn);
    Finding::Unknown(match said {
        OfOrders::All { met: true } => return Finding::Confirmed(Some(Claim::MostOrders)),
        OfOrders::All { met: false } => return Finding::Contradicted(Some(Claim::MostOrders)),
        OfOrders::NotAsPlanned { met } => {
            let (drawn, planned) = if met { ("as stated", "not") } else { ("otherwise", "as stated") };
            format!("it hangs on {ONE_INSTANT}: in {several} it is {drawn}, and as planned it is {planned}")
        }
        OfOrders::TooFew => too_few_orders(drawn),
        OfOrders::Mixed { met } => format!(
            "it hangs on {ONE_INSTANT}: {met} of {several} meet it, and of their mean fewer than {MANY_ORDERS} say \
             too little: {}",
            take(MANY_ORDERS + 1)
        ),
        OfOrders::Many => "it hangs on the order of what happens at one instant".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_least(values: &[f64], bound: f64) -> Finding {
        let sample = Sample { values: values.to_vec(), ..Sample::default() };
        Difference::Lies(sample.interval(Level::NinetyFive)).is(|value| value >= bound)
    }

    #[test]
    fn a_bound_holds_for_all_of_the_interval_or_for_none_of_it() {
        // 82.9 ± 36 against 66: the mean is above it, and nobody knows.
        assert!(matches!(at_least(&[80.07, 85.73], 66.0), Finding::Unknown(_)));
        assert_eq!(at_least(&[82.8, 82.9, 83.0, 82.9, 82.9], 66.0), Finding::Confirmed(None));
        assert_eq!(at_least(&[60.0, 60.1, 59.9, 60.0, 60.0], 66.0), Finding::Contradicted(None));
        // Most repeats may be unlike these, and few or equal ones say nothing of how far up others are.
        assert!(matches!(at_least(&[82.8, 82.9, 83.0, 82.9], 66.0), Finding::Unknown(_)));
        assert!(matches!(at_least(&[82.9; 5], 66.0), Finding::Unknown(_)));
        assert!(matches!(at_least(&[60.0, 60.1, 59.9], 1e9), Finding::Unknown(_)));
        assert!(
            matches!(at_least(&[82.9], 66.0), Finding::Unknown(_)),
            "one repeat does not say how sure it is"
        );
        assert_eq!(at_least(&[82.9; 60], 82.0), Finding::Confirmed(None));
    }

    #[test]
    fn sameness_needs_the_interval_within_the_margin() {
        let inside = |interval, low, high| Difference::Lies(interval).is_within(low, high);
        let interval = |low, high| Some(Interval { low, high });
        assert_eq!(inside(interval(-1.0, 2.0), -5.0, 5.0), Finding::Confirmed(None));
        assert_eq!(inside(interval(6.0, 8.0), -5.0, 5.0), Finding::Contradicted(None));
        assert!(matches!(inside(interval(-1.0, 8.0), -5.0, 5.0), Finding::Unknown(_)));
        let part = |low, high| Difference::Lies(interval(low, high)).is_within_part(0.1, 50.0);
        assert_eq!(
            (part(-1.0, 5.0), part(6.0, 8.0)),
            (Finding::Confirmed(None), Finding::Contradicted(None))
        );
    }

    fn in_orders(pairs: &[(f64, f64)]) -> Difference {
        let drawn = pairs.iter().map(|(value, other)| Compared { value: *value, other: *other }).collect();
        let by_order = ByOrder { drawn, planned: Vec::new() };
        Difference::in_orders(by_order, false, Level::Ninety)
    }

    #[test]
    fn in_orders_each_pair_has_to_be_within_the_margin_of_its_own_number() {
        let near: Vec<(f64, f64)> = (1..=5).map(|one| (f64::from(one) * 1.04, f64::from(one))).collect();
        assert_eq!(in_orders(&near).is_within_part(0.05, 3.0), Finding::Confirmed(Some(Claim::MostOrders)));
        assert_eq!(
            in_orders(&near).is_within_part(0.03, 3.0),
            Finding::Contradicted(Some(Claim::MostOrders))
        );
        let mut far = near;
        far[0].0 = 1.1;
        let Finding::Unknown(why) = in_orders(&far).is_within_part(0.05, 3.0) else {
            panic!("one is beyond")
        };
        assert!(why.contains("4 of 5 drawn orders meet it") && why.contains("`--repeats 21`"), "{why}");
    }

    fn tied(planned: f64, drawn: &[f64]) -> Sample {
        let repeats = (1..=drawn.len() as u32).collect();
        Sample { values: drawn.to_vec(), repeats, planned: Some(vec![(0, planned)]), ..Sample::default() }
    }

    #[test]
    fn what_is_random_is_held_against_drawn_orders_by_its_interval_and_the_planned_one_takes_it_back() {
        let lossy = Sample { values: vec![0.09, 0.25, 0.1, 0.11, 0.09, 0.15], ..Sample::default() };
        let more = |value: &Sample, other: &Sample| {
            Difference::mixed(value, 1.0, other, Level::NinetyFive).is(|difference| difference > 0.0)
        };
        // Each of the six is more than each order, and their mean may be less.
        assert!(matches!(more(&lossy, &tied(0.08, &[0.081, 0.08, 0.08, 0.081, 0.08])), Finding::Unknown(_)));
        assert!(matches!(more(&lossy, &tied(0.08, &[0.08; 5])), Finding::Unknown(_)));
        let few = more(&lossy, &tied(0.04, &[0.04; 4]));
        assert!(matches!(&few, Finding::Unknown(why) if why.contains("take `--repeats 6`")), "{few:?}");
        let most = |met: bool| match met {
            true => Finding::Confirmed(Some(Claim::MostOrders)),
            false => Finding::Contradicted(Some(Claim::MostOrders)),
        };
        assert_eq!(more(&lossy, &tied(0.04, &[0.05, 0.04, 0.04, 0.04, 0.05])), most(true));
        assert_eq!(more(&lossy, &tied(0.05, &[0.04; 5])), most(true));
        // Twenty orders and more say where their mean lies.
        let twenty = [[0.04; 10], [0.05; 10]].concat();
        assert_eq!(more(&lossy, &tied(9.0, &twenty)), Finding::Confirmed(None));
        // Two heaps of orders of which the greater was drawn alone: the mean of all is another.
        let close =
            Sample { values: vec![0.4341, 0.4338, 0.4344, 0.4340, 0.4339, 0.4345], ..Sample::default() };
        assert_eq!(more(&tied(0.5, &[0.497, 0.505, 0.497, 0.505, 0.505]), &close), most(true));
        // One order of five is on the other side, and their mean is not.
        let mixed = more(&tied(0.5, &[0.6, 0.6, 0.6, 0.6, 0.43]), &close);
        assert!(matches!(&mixed, Finding::Unknown(why) if why.contains("4 of 5 drawn orders")), "{mixed:?}");
        assert_eq!(more(&tied(0.05, &[0.04; 5]), &lossy), most(false));
        for planned in [0.12, 9.0] {
            let back = more(&lossy, &tied(planned, &[0.04; 5]));
            assert!(matches!(&back, Finding::Unknown(why) if why.contains("as planned")), "{back:?}");
        }
    }

    #[test]
    fn a_statement_is_of_what_its_parts_are_of_and_one_part_that_fails_decides() {
        let of = |claim| Finding::Confirmed(Some(claim));
        let (most, mean) = (of(Claim::MostOrders), of(Claim::MeanOfOrders));
        let none = Finding::Confirmed(None);
        assert_eq!(all_of(vec![none.clone(), most.clone(), most.clone()]), most);
        assert_eq!(all_of(vec![mean.clone(), none.clone()]), mean);
        assert_eq!(all_of(vec![most.clone(), mean, none]), of(Claim::MostOrdersAndTheirMean));
        let failed = Finding::Contradicted(Some(Claim::MostOrders));
        assert_eq!(all_of(vec![most.clone(), Finding::Unknown("x".to_owned()), failed.clone()]), failed);
        assert_eq!(all_of(vec![most, Finding::Unknown("x".to_owned())]), Finding::Unknown("x".to_owned()));
    }
}
