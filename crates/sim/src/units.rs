//! Rates, times and sizes as people write them.

use packet::time::Duration;
use thiserror::Error;

/// A text that is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not {what}; write it as {example}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    example: &'static str,
}

/// Splits `12.5 Mbps` into a number and a unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let number: f64 = number.parse().ok()?;
    number.is_finite().then(|| (number, unit.trim()))
}

/// Reads a rate in bits a second: `10Mbps`, `10 Mbit/s`, `1.5Gb/s`, `100kbps`, `125MBps` (bytes), `9600`
/// (bits).
///
/// ```
/// assert_eq!(sim::units::rate("1.5 Gbit/s"), Ok(1_500_000_000));
/// assert_eq!(sim::units::rate("10KBps"), Ok(80_000));
/// ```
///
/// # Errors
/// Not a rate, or one that is not above zero.
pub fn rate(text: &str) -> Result<u64, UnitError> {
    let wrong = || UnitError { text: text.to_owned(), what: "a rate", example: "10Mbps or 1.5 Gbit/s" };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let (scale, rest) = match unit.chars().next() {
        Some('k' | 'K') => (1e3, &unit[1..]),
        Some('M') => (1e6, &unit[1..]),
        Some('G') => (1e9, &unit[1..]),
        Some('T') => (1e12, &unit[1..]),
        _ => (1.0, unit),
    };
    let bits = match rest {
        "" if scale == 1.0 => 1.0,
        "bps" | "b/s" | "bit/s" | "bits/s" => 1.0,
        "Bps" | "B/s" => 8.0,
        _ => return Err(wrong()),
    };
    let rate = number * scale * bits;
    if (1.0..1e18).contains(&rate) { Ok(rate as u64) } else { Err(wrong()) }
}

/// Reads a span of time: `50ms`, `1.5 s`, `200us`, `2min`, `0`.
///
/// ```
/// use packet::time::Duration;
/// assert_eq!(sim::units::duration("1.5 ms"), Ok(Duration::from_micros(1500)));
/// ```
///
/// # Errors
/// Not a span of time.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    let wrong = || UnitError { text: text.to_owned(), what: "a span of time", example: "50ms or 1.5 s" };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let nanos = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        "" if number == 0.0 => 0.0,
        _ => return Err(wrong()),
    };
    // Rounded, for 0.1 s is not 99,999,999 ns.
    let nanos = number * nanos + 0.5;
    if nanos < 1.8e19 { Ok(Duration::from_nanos(nanos as u64)) } else { Err(wrong()) }
}

/// Reads a size in bytes: `1250`, `1250 B`, `8 kB`, `1MB`, `64KiB`.
///
/// ```
/// assert_eq!(sim::units::bytes("64KiB"), Ok(65_536));
/// ```
///
/// # Errors
/// Not a size.
pub fn bytes(text: &str) -> Result<u64, UnitError> {
    let wrong = || UnitError { text: text.to_owned(), what: "a size", example: "1250, 8 kB or 64 KiB" };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let scale = match unit {
        "" | "B" | "bytes" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1048576.0,
        "GiB" => 1073741824.0,
        _ => return Err(wrong()),
    };
    let bytes = number * scale;
    if bytes < 1e18 { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_read_and_nonsense_is_refused_with_an_example() {
        assert_eq!(rate("10Mbps"), Ok(10_000_000));
        assert_eq!(rate("9600"), Ok(9600));
        assert_eq!(rate("125MBps"), Ok(1_000_000_000));
        assert_eq!(duration("0.1s"), Ok(Duration::from_millis(100)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(bytes("8 kB"), Ok(8000));
        for text in ["", "fast", "10", "-1ms", "10 m", "1e3ms", "NaNs"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["", "0bps", "10 M", "Mbps", "10 Mbpsx"] {
            assert!(rate(text).is_err(), "{text}");
        }
        let error = rate("ten").unwrap_err().to_string();
        assert_eq!(error, "\"ten\" is not a rate; write it as 10Mbps or 1.5 Gbit/s");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,20}") {
            let _ = (rate(&text), duration(&text), bytes(&text));
        }
    }
}
