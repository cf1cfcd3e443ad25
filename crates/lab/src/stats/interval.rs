//! Where a number lies, and how sure that is.

/// How sure an interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// 90 %, which is two one-sided tests at 5 %.
    Ninety,
    /// 95 %.
    NinetyFive,
}

/// Where a number lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    pub(super) fn around(mean: f64, half: f64) -> Self {
        Interval { low: mean - half, high: mean + half }
    }

    /// One that holds both.
    pub(super) fn or_wider(self, other: Interval) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}
