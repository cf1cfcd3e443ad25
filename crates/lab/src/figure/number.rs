//! Numbers as people read them: short, with thousands set apart, with a unit and its prefix.

/// A factor and the prefix that goes with it, for numbers up to `most` of a unit. Only bits and bytes have
/// prefixes.
#[must_use]
pub(crate) fn prefix(most: f64, unit: &str) -> (f64, &'static str) {
    if !(unit.starts_with("bit") || unit == "B" || unit.starts_with("B/")) {
        return (1.0, "");
    }
    match most {
        most if most >= 1e9 => (1e9, "G"),
        most if most >= 1e6 => (1e6, "M"),
        most if most >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// A number as short as its size allows: three digits that count.
#[must_use]
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    let digits = match size {
        size if size == 0.0 || size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        size if size >= 0.01 => 4,
        _ => 5,
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    grouped(if text == "-0" { "0" } else { text })
}

/// Thousands set apart, from five digits on.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A number with its unit and a prefix.
#[must_use]
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    let (factor, prefix) = prefix(value.abs(), unit);
    let space = if unit.is_empty() { "" } else { "\u{a0}" };
    format!("{}{space}{prefix}{unit}", short(value / factor))
}

/// Half the width of an interval around a number: in the unit and with the prefix that the number is written
/// in, and with two digits, for more of them say nothing.
#[must_use]
pub(crate) fn half_width(half: f64, around: f64, unit: &str) -> String {
    let (factor, prefix) = prefix(around.abs(), unit);
    let value = half / factor;
    let digits = if value > 0.0 { 10f64.powf(1.0 - value.log10().floor()) } else { 1.0 };
    let space = if unit.is_empty() { "" } else { "\u{a0}" };
    format!("{}{space}{prefix}{unit}", short((value * digits).round() / digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_unit_of_its_number() {
        assert_eq!(half_width(4821.0, 2_170_000.0, "B/s"), "0.0048\u{a0}MB/s");
        assert_eq!(half_width(217_300.0, 901_000.0, "B/s"), "220\u{a0}kB/s");
        assert_eq!(
            (half_width(0.115, 84.0, "%"), half_width(0.0, 5e6, "B")),
            ("0.12\u{a0}%".into(), "0\u{a0}MB".into())
        );
        assert_eq!(half_width(97.9, 167.0, ""), "98");
    }

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(short(0.0), "0");
        assert_eq!(short(150_000.0), "150\u{202f}000");
        assert_eq!(short(4.20), "4.2");
        assert_eq!(short(0.001_234), "0.00123");
        assert_eq!(short(-0.000_000_1), "0");
        assert_eq!(short(f64::NAN), "–");
        assert_eq!(with_unit(5_100_000.0, "B/s"), "5.1\u{a0}MB/s");
        assert_eq!(with_unit(83.7, "%"), "83.7\u{a0}%");
        assert_eq!(with_unit(12_345.0, "1/s"), "12\u{202f}345\u{a0}1/s", "only bits and bytes have prefixes");
    }
}
