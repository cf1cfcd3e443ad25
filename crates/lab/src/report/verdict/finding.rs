//! What is said of a statement, by where what it compares lies.

use crate::stats::Interval;

/// What is said of an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    Confirmed,
    Contradicted,
    /// Why nobody can say.
    Unknown(String),
}

/// What several comparisons come to: one that fails is enough.
pub(super) fn all_of(parts: Vec<Finding>) -> Finding {
    if parts.contains(&Finding::Contradicted) {
        return Finding::Contradicted;
    }
    parts.into_iter().find(|part| matches!(part, Finding::Unknown(_))).unwrap_or(Finding::Confirmed)
}

/// Where the difference of what is compared lies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Its interval; nothing where nobody can say.
    pub(super) interval: Option<Interval>,
    /// The differences in repeats that are in no interval, because nobody has drawn their order of what
    /// happens at one instant.
    beside: Vec<f64>,
}

impl Difference {
    pub(super) fn of(interval: Option<Interval>, beside: Vec<f64>) -> Self {
        Difference { interval, beside }
    }

    /// What it comes to when something has to hold of it.
    pub(super) fn is(&self, holds: impl Fn(f64) -> bool) -> Finding {
        let Some(interval) = self.interval else {
            return Finding::Unknown("a single repeat does not say how sure its number is".to_owned());
        };
        let found = match (holds(interval.low), holds(interval.high)) {
            (true, true) => Finding::Confirmed,
            (false, false) => Finding::Contradicted,
            _ => Finding::Unknown("too uncertain: the interval holds both".to_owned()),
        };
        self.unless_orders_differ(found, holds)
    }

    /// The same where it has to lie between two numbers.
    pub(super) fn is_within(&self, low: f64, high: f64) -> Finding {
        let found = match self.interval {
            None => return self.is(|_| true),
            Some(interval) if interval.low >= low && interval.high <= high => Finding::Confirmed,
            Some(interval) if interval.high < low || interval.low > high => Finding::Contradicted,
            Some(_) => Finding::Unknown("too uncertain: the interval reaches beyond the margin".to_owned()),
        };
        self.unless_orders_differ(found, |difference| (low..=high).contains(&difference))
    }

    /// Drawn orders say nothing of one that none of them was like, and there are two that were not drawn.
    fn unless_orders_differ(&self, found: Finding, holds: impl Fn(f64) -> bool) -> Finding {
        let is_wanted = |difference: &f64| match found {
            Finding::Confirmed => holds(*difference),
            Finding::Contradicted => !holds(*difference),
            Finding::Unknown(_) => true,
        };
        if self.beside.iter().all(is_wanted) {
            return found;
        }
        let others = if found == Finding::Confirmed { "is as expected" } else { "is otherwise" };
        Finding::Unknown(format!(
            "it hangs on the order of what happens at one instant: with drawn orders it {others}, and as planned \
             or reversed it is not"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Level, Sample};

    fn at_least(values: &[f64], bound: f64) -> Finding {
        let sample = Sample { values: values.to_vec(), ..Sample::default() };
        Difference::of(sample.interval(Level::NinetyFive), Vec::new()).is(|value| value >= bound)
    }

    #[test]
    fn a_bound_holds_for_all_of_the_interval_or_for_none_of_it() {
        // 82.9 ± 36 against 66: the mean is above it, and nobody knows.
        assert!(matches!(at_least(&[80.07, 85.73], 66.0), Finding::Unknown(_)));
        assert_eq!(at_least(&[82.8, 82.9, 83.0, 82.9, 82.9], 66.0), Finding::Confirmed);
        assert_eq!(at_least(&[60.0, 60.1, 59.9, 60.0, 60.0], 66.0), Finding::Contradicted);
        // Most repeats may be unlike these, and few or equal ones say nothing of how far up others are.
        assert!(matches!(at_least(&[82.8, 82.9, 83.0, 82.9], 66.0), Finding::Unknown(_)));
        assert!(matches!(at_least(&[82.9; 5], 66.0), Finding::Unknown(_)));
        assert!(matches!(at_least(&[60.0, 60.1, 59.9], 1e9), Finding::Unknown(_)));
        assert!(
            matches!(at_least(&[82.9], 66.0), Finding::Unknown(_)),
            "one repeat does not say how sure it is"
        );
        assert_eq!(at_least(&[82.9; 60], 82.0), Finding::Confirmed);
    }

    #[test]
    fn sameness_needs_the_interval_within_the_margin() {
        let inside = |interval, low, high| Difference::of(interval, Vec::new()).is_within(low, high);
        let interval = |low, high| Some(Interval { low, high });
        assert_eq!(inside(interval(-1.0, 2.0), -5.0, 5.0), Finding::Confirmed);
        assert_eq!(inside(interval(6.0, 8.0), -5.0, 5.0), Finding::Contradicted);
        assert!(matches!(inside(interval(-1.0, 8.0), -5.0, 5.0), Finding::Unknown(_)));
    }

    #[test]
    fn an_order_that_was_not_drawn_and_says_otherwise_leaves_nothing_known() {
        let found = |beside: &[f64], bound: f64| {
            let interval = Some(Interval { low: 4.0, high: 6.0 });
            Difference::of(interval, beside.to_vec()).is(|value| value >= bound)
        };
        assert_eq!(found(&[3.5, 7.0], 3.0), Finding::Confirmed);
        assert!(matches!(found(&[2.5, 7.0], 3.0), Finding::Unknown(_)));
        assert_eq!(found(&[2.5, 7.0], 8.0), Finding::Contradicted);
        assert!(matches!(found(&[2.5, 9.0], 8.0), Finding::Unknown(_)));
        let within = Difference::of(Some(Interval { low: 4.0, high: 6.0 }), vec![4.0, 9.0]);
        assert!(matches!(within.is_within(3.0, 7.0), Finding::Unknown(_)));
        assert!(matches!(within.is_within(8.0, 10.0), Finding::Unknown(_)));
        assert_eq!(within.is_within(10.0, 11.0), Finding::Contradicted);
    }
}
