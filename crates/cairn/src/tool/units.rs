//! Durations, sizes and rates as people write them.

use packet::time::Duration;

/// Reads `250ms`, `1.5s`, `2m`, `1h`, `3d`; a bare number counts milliseconds, as other NDN tools have it.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let nanos = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" | "" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        "y" => 365.0 * 86_400e9,
        _ => return Err(format!("{unit:?} is no unit of time: use ns, us, ms, s, m, h, d or y")),
    };
    Ok(Duration::from_secs_f64(number * nanos / 1e9))
}

/// The same, of something that takes time.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be more than zero".to_owned()),
        more => Ok(more),
    }
}

/// Reads `8000`, `8k`, `64KiB`, `1.5M`, `1GB`: powers of 1000, or of 1024 with an `i`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let unit = unit.strip_suffix(['B', 'b']).unwrap_or(unit);
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "Ki" => 1024.0,
        "M" => 1e6,
        "Mi" => 1024.0 * 1024.0,
        "G" => 1e9,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("{unit:?} is no unit of size: use k, M, G, or Ki, Mi, Gi")),
    };
    // A size beyond 64 bits saturates; a fraction of a byte is dropped.
    Ok((number * factor) as u64)
}

/// Reads `100`, `100/s`, `6k/m`: so many a second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let (count, per) = text.split_once('/').unwrap_or((text, "s"));
    let (number, unit) = split(count)?;
    let count = match unit {
        "" => number,
        "k" => number * 1e3,
        "M" => number * 1e6,
        _ => return Err(format!("{unit:?}: a rate is written 100/s, 5k/s or 30/m")),
    };
    let per = match per {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "ms" => 1e-3,
        _ => return Err(format!("{per:?}: a rate is per s, ms, m or h")),
    };
    if count > 0.0 { Ok(count / per) } else { Err("a rate is more than zero".into()) }
}

/// A time in the unit that suits it.
pub(crate) fn show_duration(duration: Duration) -> String {
    let secs = duration.as_secs_f64();
    match duration.as_nanos() {
        nanos @ 0..=999 => format!("{nanos} ns"),
        1_000..=999_999 => format!("{:.0} µs", secs * 1e6),
        1_000_000..=999_999_999 => format!("{:.3} ms", secs * 1e3),
        _ => format!("{secs:.3} s"),
    }
}

/// A size in the unit that suits it.
pub(crate) fn show_size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{:.2} kB", b / 1e3),
        b if b < 1e9 => format!("{:.2} MB", b / 1e6),
        b => format!("{:.2} GB", b / 1e9),
    }
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end).unwrap_or((text, ""));
    let number = number.parse().map_err(|_| format!("{text:?} does not begin with a number"))?;
    Ok((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2 m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("10us"), Ok(Duration::from_micros(10)));
        assert_eq!(size("8k"), Ok(8000));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("1.5GB"), Ok(1_500_000_000));
        assert_eq!(rate("6k/m"), Ok(100.0));
        assert_eq!(rate("5"), Ok(5.0));
        assert!(positive_duration("0").is_err() && positive_duration("1ns").is_ok());
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        for text in ["", "s", "1x", "-1s", "1..2s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(size("1T").is_err() && rate("0/s").is_err() && rate("1/y").is_err());
    }
}
