//! Moments as people write them, in UTC.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    year: u64,
    month: u64,
    day: u64,
    seconds: u64,
}

impl Stamp {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Stamp::of(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    /// So many seconds after the epoch.
    #[must_use]
    pub fn of(seconds: u64) -> Self {
        // Days are counted from the first of March of the year 0, so that leap days come last.
        let days = seconds / 86_400 + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        Stamp { year, month, day, seconds: seconds % 86_400 }
    }

    /// For a file's name: `20260331-142309`.
    #[must_use]
    pub fn compact(self) -> String {
        let (hours, minutes, seconds) = self.clock();
        format!("{:04}{:02}{:02}-{hours:02}{minutes:02}{seconds:02}", self.year, self.month, self.day)
    }

    fn clock(self) -> (u64, u64, u64) {
        (self.seconds / 3600, self.seconds / 60 % 60, self.seconds % 60)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = self.clock();
        write!(
            f,
            "{:04}-{:02}-{:02} {hours:02}:{minutes:02}:{seconds:02} UTC",
            self.year, self.month, self.day
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_come_out() {
        assert_eq!(Stamp::of(0).to_string(), "1970-01-01 00:00:00 UTC");
        assert_eq!(Stamp::of(951_782_400).to_string(), "2000-02-29 00:00:00 UTC");
        assert_eq!(Stamp::of(1_335_953_368).to_string(), "2012-05-02 10:09:28 UTC");
        assert_eq!(Stamp::of(1_335_953_368).compact(), "20120502-100928");
    }
}
