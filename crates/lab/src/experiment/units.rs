//! Numbers with units, as people write them: `"100 Mbit/s"`, `"5 ms"`, `"10 Mbit"`, `"25 %"`.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use super::describe::Described;

/// Why a text is not the quantity that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}: {why}; write for example {example}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    why: String,
    example: &'static str,
}

/// A number and the letters behind it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(_, letter)| !(letter.is_ascii_digit() || matches!(letter, '.' | '_')))
        .map_or(text.len(), |(at, _)| at);
    let (number, unit) = text.split_at_checked(end)?;
    let number = number.replace('_', "").parse().ok()?;
    Some((number, unit.trim()))
}

/// Parses `text` with a table of units and their factors.
fn parse(
    text: &str,
    units: &[(&str, f64)],
    what: &'static str,
    example: &'static str,
) -> Result<f64, UnitError> {
    let error = |why: String| UnitError { text: text.to_owned(), what, why, example };
    if text.trim_start().starts_with('-') {
        return Err(error("it must not be negative".into()));
    }
    let Some((number, unit)) = split(text) else {
        return Err(error("it does not start with a number".into()));
    };
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        let known: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
        return Err(error(format!("the unit must be one of {}", known.join(", "))));
    };
    let value = number * factor;
    if value.is_finite() { Ok(value) } else { Err(error("it is too large".into())) }
}

const TIMES: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
    ("bit", 0.125),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
];
const RATES: &[(&str, f64)] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("B/s", 8.0),
    ("kB/s", 8e3),
    ("MB/s", 8e6),
];
const FREQUENCIES: &[(&str, f64)] = &[("/s", 1.0), ("/min", 1.0 / 60.0), ("/h", 1.0 / 3600.0)];
const SHARES: &[(&str, f64)] = &[("%", 0.01)];

macro_rules! quantity {
    ($(#[doc = $about:literal])* $name:ident, $type:ty, $units:expr, $what:literal, $example:literal, $cast:expr) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub $type);

        impl FromStr for $name {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<Self, UnitError> {
                let cast: fn(f64) -> $type = $cast;
                parse(text, $units, $what, $example).map(|value| $name(cast(value)))
            }
        }

        impl Described for $name {
            fn kind() -> String {
                concat!($what, ", such as `", $example, "`").to_owned()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;
                impl Visitor<'_> for Reader {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($what, ", such as ", $example))
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_f64<E: de::Error>(self, value: f64) -> Result<$name, E> {
                        Err(E::custom(format!(concat!("`{}` is a bare number, without a unit; write for example ", $example), value)))
                    }

                    #[allow(clippy::cast_precision_loss)]
                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$name, E> {
                        self.visit_f64(value as f64)
                    }
                }
                deserializer.deserialize_any(Reader)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

quantity!(
    /// A span of time in nanoseconds.
    Span, u64, TIMES, "a span of time", "\"500 ms\"", whole
);
quantity!(
    /// A number of bytes.
    Size, u64, SIZES, "a size", "\"10 Mbit\"", whole
);
quantity!(
    /// Bits in a second.
    Rate, u64, RATES, "a rate", "\"100 Mbit/s\"", whole
);
quantity!(
    /// Events in a second.
    Frequency, f64, FREQUENCIES, "a number of times", "\"100/s\"", |value| value
);
quantity!(
    /// A part of a whole, 0 to 1 (or above, where it counts processor cores).
    Share, f64, SHARES, "a share", "\"25 %\"", |value| value
);

impl Span {
    /// In seconds.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As the standard library's duration.
    #[must_use]
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

/// The largest unit that leaves a short number of at least one.
#[allow(clippy::cast_precision_loss)]
fn write_with(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, f64)]) -> fmt::Result {
    let fits = |factor: f64| value as f64 >= factor;
    let (name, factor) =
        units.iter().rfind(|(_, factor)| fits(*factor)).or(units.first()).copied().unwrap_or(("", 1.0));
    let number = value as f64 / factor;
    write!(f, "{} {name}", (number * 1e6).round() / 1e6)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with(f, self.0, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with(f, self.0, &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with(f, self.0, &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)])
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", (self.0 * 1e8).round() / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_understood() {
        assert_eq!("5 ms".parse(), Ok(Span(5_000_000)));
        assert_eq!("1.5s".parse(), Ok(Span(1_500_000_000)));
        assert_eq!("10 Mbit".parse(), Ok(Size(1_250_000)));
        assert_eq!("1_281_250 B".parse(), Ok(Size(1_281_250)));
        assert_eq!("100 Mbit/s".parse(), Ok(Rate(100_000_000)));
        assert_eq!("2/s".parse(), Ok(Frequency(2.0)));
        assert_eq!("25 %".parse(), Ok(Share(0.25)));
    }

    #[test]
    fn a_missing_or_wrong_unit_is_refused_with_the_units_there_are() {
        let error = "100 Mbps".parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("Mbit/s") && error.contains("100 Mbps"), "{error}");
        assert!("100".parse::<Span>().is_err());
        assert!("-5 ms".parse::<Span>().is_err());
        assert!("0.1".parse::<Share>().is_err(), "a tenth, or a tenth of a percent?");
        assert!("".parse::<Size>().is_err());
    }

    #[test]
    fn a_written_quantity_reads_back_as_itself() {
        for span in [Span(0), Span(1), Span(1_500), Span(20_000_000), Span(61_000_000_000)] {
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        for rate in [Rate(8), Rate(1_544_000), Rate(2_500_000_000)] {
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
        assert_eq!(Share(0.255).to_string().parse(), Ok(Share(0.255)));
    }
}
