//! What came of a statement of a paper, in the lab's words.

use crate::stats::{Interval, Level, Sample};

/// What came of a statement is called as in a report.
pub(super) use crate::report::Outcome as Verdict;

impl Verdict {
    pub(super) fn when(holds: bool) -> Self {
        if holds { Verdict::Confirmed } else { Verdict::Contradicted }
    }

    /// Of all of a statement that has several parts.
    pub(super) fn all(parts: impl IntoIterator<Item = Verdict>) -> Self {
        let parts: Vec<Verdict> = parts.into_iter().collect();
        let any = |verdict| parts.contains(&verdict);
        match () {
            () if any(Verdict::Contradicted) => Verdict::Contradicted,
            () if any(Verdict::NotTestable) || parts.is_empty() => Verdict::NotTestable,
            () => Verdict::Confirmed,
        }
    }

    /// Whether a number is above another, when it lies so far from it.
    pub(super) fn above(difference: Option<Interval>, least: f64) -> Self {
        match difference {
            Some(Interval { low, .. }) if low > least => Verdict::Confirmed,
            Some(Interval { high, .. }) if high <= least => Verdict::Contradicted,
            _ => Verdict::NotTestable,
        }
    }

    /// Whether `one` is less than so many times `other`: all of the 95 % interval of the difference says so.
    pub(super) fn less(one: &Sample, times: f64, other: &Sample) -> Self {
        match one.less(times, other, false, Level::NinetyFive) {
            Some(Interval { high, .. }) if high < 0.0 => Verdict::Confirmed,
            Some(Interval { low, .. }) if low >= 0.0 => Verdict::Contradicted,
            _ => Verdict::NotTestable,
        }
    }

    /// The verdict on the opposite of a statement.
    pub(super) fn of_the_opposite(self) -> Self {
        match self {
            Verdict::Confirmed => Verdict::Contradicted,
            Verdict::Contradicted => Verdict::Confirmed,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_parts_the_worst_counts() {
        use Verdict::{Confirmed, Contradicted, NotTestable};
        assert_eq!(Verdict::all([Confirmed, Confirmed]), Confirmed);
        assert_eq!(Verdict::all([Confirmed, NotTestable]), NotTestable);
        assert_eq!(Verdict::all([NotTestable, Contradicted]), Contradicted);
        assert_eq!(Verdict::all([]), NotTestable);
    }

    #[test]
    fn what_an_interval_does_not_settle_is_not_testable() {
        let interval = |low, high| Some(Interval { low, high });
        assert_eq!(Verdict::above(interval(0.1, 0.3), 0.0), Verdict::Confirmed);
        assert_eq!(Verdict::above(interval(-0.1, 0.3), 0.0), Verdict::NotTestable);
        assert_eq!(Verdict::above(interval(-0.3, -0.1), 0.0), Verdict::Contradicted);
        assert_eq!(Verdict::above(None, 0.0), Verdict::NotTestable);
        let sample = |values: [f64; 3]| Sample { values: values.repeat(20), ..Sample::default() };
        let (low, high) = (sample([1.0, 1.5, 0.5]), sample([2.0, 2.5, 1.5]));
        assert_eq!(Verdict::less(&low, 1.0, &high), Verdict::Confirmed);
        assert_eq!(Verdict::less(&low, 0.5, &high), Verdict::NotTestable);
        assert_eq!(Verdict::less(&low, 0.2, &high), Verdict::Contradicted);
    }
}
