//! Time of the calendar, for what outlives a process: certificates, announcements, stored packets. The owner
//! reads a clock that people set, and hands it in.

use std::fmt;

use crate::time::Duration;

/// Milliseconds since 1 January 1970, UTC, without leap seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime(u64);

/// Seconds of a day.
const DAY: u64 = 86_400;

impl UnixTime {
    /// The beginning of 1970.
    pub const ZERO: UnixTime = UnixTime(0);
    /// The last second that certificates can name, 31 December 9999.
    pub const END: UnixTime = UnixTime::from_secs(253_402_300_799);

    /// So many milliseconds after the beginning of 1970.
    pub const fn from_millis(millis: u64) -> Self {
        UnixTime(millis)
    }

    /// So many seconds after the beginning of 1970.
    pub const fn from_secs(secs: u64) -> Self {
        UnixTime(secs.saturating_mul(1000))
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the beginning of 1970.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// So much later.
    pub fn after(self, duration: Duration) -> Self {
        UnixTime(self.0.saturating_add(duration.as_millis()))
    }

    /// This time and so many seconds, at most [`UnixTime::END`].
    pub fn plus_secs(self, secs: u64) -> Self {
        UnixTime(self.0.saturating_add(secs.saturating_mul(1000))).min(UnixTime::END)
    }

    /// This time less so many seconds, at least the beginning of 1970.
    pub fn minus_secs(self, secs: u64) -> Self {
        UnixTime(self.0.saturating_sub(secs.saturating_mul(1000)))
    }

    /// Reads the form of ValidityPeriod, `YYYYMMDDThhmmss`. Years before 1970 count as its beginning.
    pub fn from_iso(text: &[u8]) -> Option<Self> {
        let text: &[u8; 15] = text.try_into().ok()?;
        let [y1, y2, y3, y4, m1, m2, d1, d2, b'T', h1, h2, i1, i2, s1, s2] = *text else { return None };
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0u64, |number, digit| {
                digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
            })
        };
        let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
        let (hour, minute, second) = (number(&[h1, h2])?, number(&[i1, i2])?, number(&[s1, s2])?);
        let valid = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        if !valid || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        if year < 1970 {
            return Some(UnixTime::ZERO);
        }
        let days = days_before_year(year) - days_before_year(1970)
            + (1..month).map(|month| days_in(year, month)).sum::<u64>()
            + day
            - 1;
        Some(UnixTime::from_secs(days * DAY + hour * 3600 + minute * 60 + second))
    }

    /// Writes the form of ValidityPeriod, rounded down to seconds. What lies behind [`UnixTime::END`] is
    /// written as that.
    pub fn to_iso(self) -> [u8; 15] {
        let [year, month, day, hour, minute, second] = self.parts();
        let mut out = *b"00000000T000000";
        let fields =
            [(0, 4, year), (4, 2, month), (6, 2, day), (9, 2, hour), (11, 2, minute), (13, 2, second)];
        for (start, width, mut number) in fields {
            for slot in out.iter_mut().skip(start).take(width).rev() {
                // A digit fits a byte.
                *slot = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        out
    }

    /// Year, month, day, hour, minute, second.
    fn parts(self) -> [u64; 6] {
        let secs = self.min(UnixTime::END).as_secs();
        let (mut days, rest) = (secs / DAY, secs % DAY);
        // A year has at least 365 days, so this is never beyond the right one by more than a few years.
        let mut year = 1970 + days / 366;
        while days_before_year(year + 1) - days_before_year(1970) <= days {
            year += 1;
        }
        days -= days_before_year(year) - days_before_year(1970);
        let mut month = 1;
        while days >= days_in(year, month) {
            days -= days_in(year, month);
            month += 1;
        }
        [year, month, days + 1, rest / 3600, rest / 60 % 60, rest % 60]
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [year, month, day, hour, minute, second] = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the beginning of year 0 to the beginning of `year`.
fn days_before_year(year: u64) -> u64 {
    let past = year.saturating_sub(1);
    if year == 0 { 0 } else { year * 365 + past / 4 - past / 100 + past / 400 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_dates_are_read_and_written() {
        for (text, secs) in [
            ("19700101T000000", 0),
            ("20000229T123456", 951_827_696),
            ("20240101T000000", 1_704_067_200),
            ("20380119T031408", 2_147_483_648),
            ("99991231T235959", 253_402_300_799),
        ] {
            assert_eq!(UnixTime::from_iso(text.as_bytes()), Some(UnixTime::from_secs(secs)), "{text}");
            assert_eq!(UnixTime::from_secs(secs).to_iso(), text.as_bytes(), "{text}");
        }
    }

    #[test]
    fn people_read_the_day_the_second_and_the_zone() {
        for (secs, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_335_953_368, "2012-05-02 10:09:28 UTC"),
        ] {
            assert_eq!(UnixTime::from_secs(secs).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "20230229T000000",
            "20241301T000000",
            "20240001T000000",
            "20240101T240000",
            "20240101 000000",
            "2024",
        ] {
            assert_eq!(UnixTime::from_iso(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_second_is_read_back(secs in 0u64..253_402_300_800) {
            let time = UnixTime::from_secs(secs);
            prop_assert_eq!(UnixTime::from_iso(&time.to_iso()), Some(time));
        }
    }
}
