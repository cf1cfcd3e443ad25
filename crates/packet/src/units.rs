//! Quantities as people write them: `10 Mbit/s`, `1.5 s`, `64 KiB`, `30/min`, `25 %`. Command lines,
//! experiments, scenarios and topologies read them here, so that a text means the same to each.

use thiserror::Error;

use crate::time::Duration;

/// A text that is not the quantity that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not {what}: {why}; write for example {example}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    why: String,
    example: &'static str,
}

/// What can be measured, and in which units: a number, and behind it a unit with or without a prefix.
///
/// ```
/// use cairn_packet::units::{Quantity, SPAN};
///
/// // A bare number means what the reader says, or nothing.
/// const MILLIS: Quantity = SPAN.with_bare("ms");
/// assert_eq!(MILLIS.read("250"), Ok(250e6));
/// assert!(SPAN.read("250").is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// As in "is not a rate".
    pub what: &'static str,
    /// How to write one.
    pub example: &'static str,
    units: &'static [(&'static str, f64)],
    prefixes: &'static [(&'static str, f64)],
    bare: Option<&'static str>,
    /// The units that numbers are shown in, from small to large.
    shown: &'static [(&'static str, f64)],
}

const DECIMAL: &[(&str, f64)] = &[("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
const BINARY_TOO: &[(&str, f64)] = &[
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
];
const DAY: f64 = 86_400e9;

/// A span of time, in nanoseconds. A year has 365 days.
pub const SPAN: Quantity = Quantity {
    what: "a span of time",
    example: "500 ms",
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("m", 60e9),
        ("h", 3600e9),
        ("d", DAY),
        ("y", 365.0 * DAY),
    ],
    prefixes: &[],
    bare: None,
    shown: &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
};

/// A size, in bytes.
pub const SIZE: Quantity = Quantity {
    what: "a size",
    example: "10 Mbit",
    units: &[("B", 1.0), ("bytes", 1.0), ("bit", 0.125)],
    prefixes: BINARY_TOO,
    bare: None,
    shown: &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)],
};

/// A rate, in bits a second.
pub const RATE: Quantity = Quantity {
    what: "a rate",
    example: "100 Mbit/s",
    units: &[("bit/s", 1.0), ("B/s", 8.0), ("bits/s", 1.0), ("b/s", 1.0), ("bps", 1.0), ("Bps", 8.0)],
    prefixes: DECIMAL,
    bare: None,
    shown: &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)],
};

/// How often, in a second.
pub const FREQUENCY: Quantity = Quantity {
    what: "a number of times",
    example: "100/s",
    units: &[("/s", 1.0), ("/ms", 1e3), ("/min", 1.0 / 60.0), ("/m", 1.0 / 60.0), ("/h", 1.0 / 3600.0)],
    prefixes: DECIMAL,
    bare: None,
    shown: &[("/s", 1.0)],
};

/// A part of a whole, which is 1.
pub const SHARE: Quantity = Quantity {
    what: "a share",
    example: "25 %",
    units: &[("%", 0.01)],
    prefixes: &[],
    bare: None,
    shown: &[("%", 0.01)],
};

impl Quantity {
    /// The same, where a number without a unit, or with a prefix alone, counts these.
    pub const fn with_bare(self, unit: &'static str) -> Self {
        Quantity { bare: Some(unit), ..self }
    }

    /// Reads a finite number of at least zero in the unit that the quantity is counted in.
    ///
    /// # Errors
    /// No number, another unit, or too large a number.
    pub fn read(&self, text: &str) -> Result<f64, UnitError> {
        let wrong = |why: &str| self.wrong(text, why.to_owned());
        if text.trim_start().starts_with('-') {
            return Err(wrong("it must not be negative"));
        }
        let (number, unit) = split(text).ok_or_else(|| wrong("it does not begin with a number"))?;
        let factor = self.factor(&unit).ok_or_else(|| {
            let known: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
            let prefixes = if self.prefixes.is_empty() { "" } else { ", with a prefix such as k or M" };
            self.wrong(text, format!("the unit must be one of {}{prefixes}", known.join(", ")))
        })?;
        let value = number * factor;
        if value.is_finite() { Ok(value) } else { Err(wrong("it is too large")) }
    }

    /// Shows a number in the largest unit of which it is at least one, with at most so many digits that
    /// count, and all of those before the point.
    ///
    /// ```
    /// use cairn_packet::units::{SIZE, SPAN};
    /// assert_eq!(SPAN.show(1_234_567.0, 4), "1.235 ms");
    /// assert_eq!(SIZE.show(64_000.0, 4), "64 kB");
    /// ```
    pub fn show(&self, value: f64, digits: usize) -> String {
        let (unit, number) = self.in_shown_unit(value);
        let before_point = 1 + std::iter::successors(Some(number), |left| Some(left / 10.0))
            .take_while(|left| *left >= 10.0)
            .count();
        let decimals = digits.saturating_sub(before_point);
        let text = format!("{number:.decimals$}");
        let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        with_unit(text, unit)
    }

    /// Shows a number with all its digits, so that it reads back as itself.
    pub fn show_exact(&self, value: f64) -> String {
        let (unit, number) = self.in_shown_unit(value);
        // The division by a unit leaves an error far behind the point; what was not divided has none.
        let number = if number == value { value } else { (number * 1e12).round() / 1e12 };
        with_unit(&number.to_string(), unit)
    }

    /// A number in the largest unit of which it is at least one.
    fn in_shown_unit(&self, value: f64) -> (&'static str, f64) {
        let fits = self.shown.iter().rfind(|(_, factor)| value >= *factor);
        let (unit, factor) = fits.or(self.shown.first()).copied().unwrap_or(("", 1.0));
        (unit, value / factor)
    }

    fn factor(&self, unit: &str) -> Option<f64> {
        let of = |name: &str| {
            let name = if name.is_empty() { self.bare? } else { name };
            self.units.iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor)
        };
        of(unit).or_else(|| {
            self.prefixes.iter().find_map(|(prefix, times)| Some(of(unit.strip_prefix(prefix)?)? * times))
        })
    }

    /// Reads a number of at least `least`, rounded to a whole one.
    fn read_whole(&self, text: &str, least: f64) -> Result<u64, UnitError> {
        let value = self.read(text)?.round();
        if value < least {
            Err(self.wrong(text, "it must be above zero".to_owned()))
        } else if value < 1.8e19 {
            Ok(value as u64)
        } else {
            Err(self.wrong(text, "it is too large".to_owned()))
        }
    }

    fn wrong(&self, text: &str, why: String) -> UnitError {
        UnitError { text: text.to_owned(), what: self.what, why, example: self.example }
    }
}

/// `10 Mbit/s`, `2/s`.
fn with_unit(number: &str, unit: &str) -> String {
    let blank = if unit.starts_with('/') { "" } else { " " };
    format!("{number}{blank}{unit}")
}

/// Splits `12.5 Mbps` into a number and a unit. Lines below may part the digits, as in `1_000_000`, and so
/// may blanks between thousands.
fn split(text: &str) -> Option<(f64, String)> {
    let text = ungrouped(text.trim());
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_');
    let (number, unit) = text.split_at_checked(text.find(|c| !is_part(c)).unwrap_or(text.len()))?;
    let number: f64 = number.replace('_', "").parse().ok()?;
    number.is_finite().then(|| (number, unit.trim().replace(GREEK_MU, MICRO)))
}

/// The letter of the Greek alphabet, and the sign that looks like it.
const GREEK_MU: char = '\u{3bc}';
const MICRO: &str = "\u{b5}";

/// Blanks that stand between thousands: the plain one, one that breaks no line, and the thin one.
const BLANKS: [char; 3] = [' ', '\u{a0}', '\u{202f}'];

/// A text whose number has no blanks between its thousands any more.
///
/// ```
/// use cairn_packet::units::ungrouped;
/// assert_eq!(ungrouped("10\u{202f}623 kB"), "10623 kB");
/// assert_eq!(ungrouped("40 1/s"), "40 1/s");
/// ```
pub fn ungrouped(text: &str) -> String {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(text);
    let Some((head, mut rest)) = text.split_at_checked(first).filter(|_| (1..=3).contains(&first)) else {
        return text.to_owned();
    };
    let mut number = head.to_owned();
    while let Some(group) = rest.strip_prefix(BLANKS).filter(|group| digits(group) == 3) {
        let Some((thousand, behind)) = group.split_at_checked(3) else { break };
        number.push_str(thousand);
        rest = behind;
    }
    number + rest
}

/// Reads a span of time: `50ms`, `1.5 s`, `2min`, `0`.
///
/// ```
/// use cairn_packet::time::Duration;
/// assert_eq!(cairn_packet::units::duration("1.5 ms"), Ok(Duration::from_micros(1500)));
/// ```
///
/// # Errors
/// Not a span of time.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    let text = if text.trim() == "0" { "0s" } else { text };
    SPAN.read_whole(text, 0.0).map(Duration::from_nanos)
}

/// Reads a span of time whose bare numbers count milliseconds, as other NDN tools have it.
///
/// # Errors
/// Not a span of time.
pub fn duration_or_millis(text: &str) -> Result<Duration, UnitError> {
    SPAN.with_bare("ms").read_whole(text, 0.0).map(Duration::from_nanos)
}

/// Reads a rate in bits a second: `10Mbps`, `10 Mbit/s`, `1.5Gb/s`, `125MBps` (bytes), `9600` (bits).
///
/// ```
/// assert_eq!(cairn_packet::units::rate("1.5 Gbit/s"), Ok(1_500_000_000));
/// assert_eq!(cairn_packet::units::rate("10KBps"), Ok(80_000));
/// ```
///
/// # Errors
/// Not a rate, or one that is not above zero.
pub fn rate(text: &str) -> Result<u64, UnitError> {
    RATE.with_bare("bit/s").read_whole(text, 1.0)
}

/// Reads a size in bytes: `1250`, `1250 B`, `8 kB`, `8k`, `64KiB`, `10 Mbit`.
///
/// ```
/// assert_eq!(cairn_packet::units::bytes("64KiB"), Ok(65_536));
/// ```
///
/// # Errors
/// Not a size.
pub fn bytes(text: &str) -> Result<u64, UnitError> {
    SIZE.with_bare("B").read_whole(text, 0.0)
}

/// Reads how often a second: `100`, `100/s`, `6k/min`.
///
/// ```
/// assert_eq!(cairn_packet::units::per_second("6k/m"), Ok(100.0));
/// ```
///
/// # Errors
/// Not that, or not above zero.
pub fn per_second(text: &str) -> Result<f64, UnitError> {
    match FREQUENCY.with_bare("/s").read(text)? {
        often if often > 0.0 => Ok(often),
        _ => Err(FREQUENCY.wrong(text, "it must be above zero".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_understood() {
        for (text, bits) in
            [("10Mbps", 10_000_000), ("9600", 9600), ("125MBps", 1_000_000_000), ("100 Mbit/s", 100_000_000)]
        {
            assert_eq!(rate(text), Ok(bits), "{text}");
        }
        for (text, size) in [
            ("8 kB", 8000),
            ("8k", 8000),
            ("1.5GB", 1_500_000_000),
            ("10 Mbit", 1_250_000),
            ("1_281_250 B", 1_281_250),
            ("2 MiB", 2 << 20),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for (text, nanos) in [
            ("0.1s", 100_000_000),
            ("0", 0),
            ("10us", 10_000),
            ("2 m", 120_000_000_000),
            ("1d", 86_400_000_000_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        assert_eq!(duration_or_millis("250"), Ok(Duration::from_millis(250)));
        assert_eq!(
            (per_second("5"), per_second("6k/m"), FREQUENCY.read("2/s")),
            (Ok(5.0), Ok(100.0), Ok(2.0))
        );
        assert_eq!(SHARE.read("25 %"), Ok(0.25));
    }

    #[test]
    fn thousands_may_be_set_apart_by_any_blank_and_a_micro_may_be_a_greek_mu() {
        for text in ["1 281 250 B", "1\u{202f}281\u{202f}250\u{a0}B", "1\u{a0}281 250 B", "1 281.25 kB"] {
            assert_eq!(bytes(text), Ok(1_281_250), "{text}");
        }
        assert_eq!(FREQUENCY.read("12 345/s"), Ok(12_345.0));
        for text in ["9000 us", "9000 \u{b5}s", "9000 \u{3bc}s", "9 000 \u{3bc}s"] {
            assert_eq!(duration(text), Ok(Duration::from_millis(9)), "{text}");
        }
        // What parts anything else is no group of thousands.
        for text in ["1 28 B", "1 2812 B", "1234 567 B", "1.5 000 kB", "1  000 B"] {
            assert!(SIZE.read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_units_there_are_and_an_example() {
        for text in ["", "fast", "s", "10", "-1ms", "10 x", "1..2s", "1e3ms", "NaNs", "600y"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["", "0bps", "Mbps", "10 Mbpsx", "10 kk"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert!(SIZE.read("100").is_err() && bytes("1P").is_err() && SHARE.read("0.1").is_err());
        assert!(per_second("0/s").is_err() && per_second("1/y").is_err());
        let error = SHARE.read("ten").unwrap_err().to_string();
        assert_eq!(error, "\"ten\" is not a share: it does not begin with a number; write for example 25 %");
        let error = RATE.read("100 Mpps").unwrap_err().to_string();
        assert!(error.contains("100 Mpps") && error.contains("bit/s, B/s"), "{error}");
    }

    #[test]
    fn a_number_is_shown_in_the_unit_that_suits_it() {
        for (nanos, shown) in [
            (0.0, "0 ns"),
            (999.0, "999 ns"),
            (1_000.0, "1 µs"),
            (12_345.0, "12.35 µs"),
            (100e6, "100 ms"),
            (600e9, "600 s"),
            (123_456e9, "123456 s"),
        ] {
            assert_eq!(SPAN.show(nanos, 4), shown);
        }
        assert_eq!((SIZE.show(7_000.0, 4), SIZE.show(1e15, 4)), ("7 kB".into(), "1000 TB".into()));
        assert_eq!(
            (RATE.show(1_544_000.0, 4), FREQUENCY.show(0.5, 4)),
            ("1.544 Mbit/s".into(), "0.5/s".into())
        );
        assert_eq!((SHARE.show(0.255, 4), SHARE.show_exact(0.255)), ("25.5 %".into(), "25.5 %".into()));
    }

    proptest! {
        #[test]
        fn what_is_shown_with_all_digits_reads_back_as_itself(number in 0..1_000_000_000_000_000u64, bits: f64) {
            let exact = number as f64;
            prop_assert_eq!(bytes(&SIZE.show_exact(exact)), Ok(number));
            prop_assert_eq!(duration(&SPAN.show_exact(exact)), Ok(Duration::from_nanos(number)));
            prop_assert_eq!(RATE.read(&RATE.show_exact(exact)).map(f64::round), Ok(exact));
            let often = bits.abs().min(1e12);
            prop_assert_eq!(FREQUENCY.read(&FREQUENCY.show_exact(often)), Ok(often));
        }

        #[test]
        fn no_text_panics(text in "[0-9._]{0,6}.{0,12}") {
            let _ = (rate(&text), duration(&text), bytes(&text), per_second(&text));
        }
    }
}
