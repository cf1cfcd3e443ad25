//! Axes: round numbers for marks, and prefixes that keep them short.

/// Marks at round numbers that cover `0..=most`, about `wanted` of them. The last is the axis's end.
#[must_use]
pub(super) fn marks(most: f64, wanted: f64) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0, 1.0];
    }
    let rough = most / wanted;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(power * 10.0);
    let mut list = vec![0.0];
    let mut count = 1.0;
    while list.last().is_some_and(|last| *last < most * 0.999_999) {
        list.push(step * count);
        count += 1.0;
    }
    list
}

/// A factor and the prefix that goes with it, for numbers up to `most` of a unit.
#[must_use]
pub(super) fn prefix(most: f64, unit: &str) -> (f64, &'static str) {
    if matches!(unit, "%" | "s" | "" | "Interests") || unit.starts_with("Interests") && most < 1e4 {
        return (1.0, "");
    }
    match most {
        most if most >= 1e9 => (1e9, "G"),
        most if most >= 1e6 => (1e6, "M"),
        most if most >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// A number as short as its size allows.
#[must_use]
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    grouped(text)
}

/// Thousands set apart.
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
pub(super) fn with_unit(value: f64, unit: &str) -> String {
    let (factor, prefix) = prefix(value.abs(), unit);
    let space = if unit.is_empty() && prefix.is_empty() { "" } else { " " };
    format!("{}{space}{prefix}{unit}", short(value / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_cover_everything() {
        assert_eq!(marks(9.3, 4.0), [0.0, 5.0, 10.0]);
        assert_eq!(marks(100.0, 4.0), [0.0, 50.0, 100.0]);
        assert_eq!(marks(0.0, 4.0), [0.0, 1.0]);
        for most in [0.003, 1.0, 7.0, 123.0, 98_765.0, 5e9] {
            let list = marks(most, 4.0);
            assert!(*list.last().unwrap() >= most * 0.999 && list.len() <= 7, "{most}: {list:?}");
        }
    }

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(short(0.0), "0");
        assert_eq!(short(150_000.0), "150\u{202f}000");
        assert_eq!(short(4.20), "4.2");
        assert_eq!(with_unit(5_100_000.0, "B/s"), "5.1 MB/s");
        assert_eq!(with_unit(83.7, "%"), "83.7 %");
    }
}
