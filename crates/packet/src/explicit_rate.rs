//! How fast a consumer may ask, as the routers on the way tell it.

use std::num::NonZeroU64;

/// A rate of Interests that travels with Data: the smallest that the routers on the way allow.
///
/// It is counted in Interests in 1,000 seconds, so that shares of slow links are not rounded away, and is
/// never zero: nobody could be told of a change, for without Interests there is no Data.
///
/// ```
/// use cairn_packet::ExplicitRate;
/// let share = ExplicitRate::from_per_second(998.4 / 10.0);
/// assert_eq!((share.per_1000_s(), share.per_second()), (99_840, 99.84));
/// assert!(share < ExplicitRate::from_per_second(100.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExplicitRate(NonZeroU64);

impl ExplicitRate {
    /// So many Interests in 1,000 seconds; `None` for none.
    pub const fn from_per_1000_s(interests: u64) -> Option<Self> {
        match NonZeroU64::new(interests) {
            Some(interests) => Some(ExplicitRate(interests)),
            None => None,
        }
    }

    /// So many Interests a second, rounded to a thousandth, or the smallest rate there is.
    pub fn from_per_second(interests: f64) -> Self {
        // The cast saturates, and makes nothing of what is no number.
        ExplicitRate(NonZeroU64::new((interests * 1000.0).round() as u64).unwrap_or(NonZeroU64::MIN))
    }

    /// Interests in 1,000 seconds.
    pub const fn per_1000_s(self) -> u64 {
        self.0.get()
    }

    /// Interests a second.
    pub fn per_second(self) -> f64 {
        self.0.get() as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_never_zero_whatever_it_is_made_of() {
        for interests in [0.0, -5.0, 0.0001, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(ExplicitRate::from_per_second(interests).per_1000_s(), 1, "{interests}");
        }
        assert_eq!(ExplicitRate::from_per_second(f64::INFINITY).per_1000_s(), u64::MAX);
        assert_eq!(ExplicitRate::from_per_1000_s(0), None);
    }
}
