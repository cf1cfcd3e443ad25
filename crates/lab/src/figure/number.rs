//! Numbers as people read them: short, with thousands set apart, with a unit and its prefix.

use crate::stats::{DrawnOrders, Estimate};

/// A width of less than this part of a number is one of rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

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

/// A number for where there is little room, with a prefix from ten thousand on.
#[must_use]
pub(crate) fn brief(value: f64) -> String {
    // What is rounded up to the next prefix is written with that.
    let (factor, prefix) = match value.abs() {
        size if size >= 999.5e6 => (1e9, "G"),
        size if size >= 999.5e3 => (1e6, "M"),
        size if size >= 9999.5 => (1e3, "k"),
        _ => (1.0, ""),
    };
    if value.is_finite() { format!("{}{prefix}", short(value / factor)) } else { short(value) }
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

/// The unit that a number is written in, and the factor to it. Measures count bytes; what links carry in a
/// second is written in bits, as their rates are, so that one can be held against the other.
pub(crate) fn written_in(unit: &str) -> (&str, f64) {
    if unit == "B/s" { ("bit/s", 8.0) } else { (unit, 1.0) }
}

/// A number with its unit and a prefix.
#[must_use]
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    let (unit, times) = written_in(unit);
    let value = value * times;
    let (factor, prefix) = prefix(value.abs(), unit);
    let space = if unit.is_empty() { "" } else { "\u{a0}" };
    format!("{}{space}{prefix}{unit}", short(value / factor))
}

/// Half the width of an interval around a number: in the unit and with the prefix that the number is written
/// in, and with two digits, for more of them say nothing.
#[must_use]
pub(crate) fn half_width(half: f64, around: f64, unit: &str) -> String {
    let (unit, times) = written_in(unit);
    let (factor, prefix) = prefix((around * times).abs(), unit);
    let value = half * times / factor;
    let digits = if value > 0.0 { 10f64.powf(1.0 - value.log10().floor()) } else { 1.0 };
    let space = if unit.is_empty() { "" } else { "\u{a0}" };
    let text = match short((value * digits).round() / digits) {
        // What is there is not written as nothing.
        nothing if nothing == "0" && value > 0.0 => format!("{value:.1e}"),
        text => text,
    };
    format!("{text}{space}{prefix}{unit}")
}

/// A number of a file, in the unit and with the prefix that its size has, and with all of its digits: what is
/// at most 99.99 is not at most 100.
#[must_use]
pub(crate) fn exact(value: f64, unit: &str) -> String {
    let (unit, times) = written_in(unit);
    let value = value * times;
    let (factor, prefix) = prefix(value.abs(), unit);
    let space = if unit.is_empty() { "" } else { "\u{a0}" };
    // What arithmetic adds to a number is behind its twelfth digit.
    let rounded: f64 = format!("{:.11e}", value / factor).parse().unwrap_or(value / factor);
    format!("{}{space}{prefix}{unit}", grouped(&rounded.to_string()))
}

/// Digits of a number that count, where it is surer than that.
const MAX_DIGITS: i32 = 5;

/// The digits of a number that is not 0 before the point: 2 of 10, 0 of 0.1, −1 of 0.01.
fn magnitude(value: f64) -> i32 {
    // As it is written, so that nothing is rounded up to more digits.
    format!("{value:.1e}").split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0) + 1
}

/// A number, rounded to so many digits behind the point, or before it where there are fewer than none.
fn to_place(value: f64, place: i32) -> String {
    if place >= 0 {
        return grouped(&format!("{value:.*}", usize::try_from(place).unwrap_or(0)));
    }
    let step = 10f64.powi(-place);
    grouped(&format!("{:.0}", (value / step).round() * step))
}

/// A mean and half the width of its interval, to the same place behind the point.
struct Rounded {
    place: i32,
    /// Half the width is less than that place.
    is_less: bool,
}

impl Rounded {
    /// To so many digits of the width, and to as many of the mean as anybody reads.
    fn to(mean: f64, half: f64, digits: i32) -> Self {
        let place = digits - magnitude(half);
        let (least, most) = match mean {
            0.0 => (place, place),
            // One digit of the mean is there, however wide it is.
            _ => (1 - magnitude(mean), MAX_DIGITS.max(digits) - magnitude(mean)),
        };
        let place = place.clamp(least.min(most), most);
        Rounded { place, is_less: half < 10f64.powi(-place) }
    }
}

/// A mean with its unit, and half the width of its interval, which is more than nothing: two digits of that,
/// and both to the same place. Of a width that is less than the last place of a mean of five digits it is
/// said that it is less.
fn with_half(mean: f64, half: f64, unit: &str, digits: i32) -> (String, String) {
    let (unit, times) = written_in(unit);
    let (factor, prefix) = prefix((mean * times).abs(), unit);
    let (mean, half) = (mean * times / factor, half * times / factor);
    let Rounded { place, is_less } = Rounded::to(mean, half, digits);
    let space = if unit.is_empty() { "" } else { "\u{a0}" };
    let half = match is_less {
        true => format!("< {}", to_place(10f64.powi(-place), place)),
        false => to_place(half, place),
    };
    (format!("{}{space}{prefix}{unit}", to_place(mean, place)), format!("± {half}{space}{prefix}{unit}"))
}

/// A difference by the interval that it lies in, with so many digits that it lies on that side of nothing, or
/// on both, as it is written.
#[must_use]
pub(crate) fn difference_words(low: f64, high: f64, unit: &str) -> String {
    let (mean, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let holds_nothing = |mean: f64, half: f64| mean.abs() <= half;
    let is_so = |digits: &i32| {
        let (_, times) = written_in(unit);
        let (factor, _) = prefix((mean * times).abs(), unit);
        let (mean, half) = (mean * times / factor, half * times / factor);
        let place = Rounded::to(mean, half, *digits).place;
        let step = 10f64.powi(place);
        let read = |value: f64| (value * step).round();
        holds_nothing(read(mean), read(half)) == holds_nothing(mean, half)
    };
    let digits = (2..=9).find(is_so).unwrap_or(2);
    let (mean, half) = with_half(mean, half, unit, digits);
    format!("{mean} {half}")
}

/// A mean with so many digits behind the point, and half the width of its interval, if it has any.
#[must_use]
pub(crate) fn with_spread(mean: f64, half: Option<f64>, digits: usize) -> String {
    let half = half.filter(|half| half.is_finite() && *half > ROUNDING * mean.abs());
    let least = 0.5 * 10f64.powi(-i32::try_from(digits).unwrap_or(i32::MAX));
    match half {
        None => format!("{mean:.digits$}"),
        Some(half) if half < least => format!("{mean:.digits$} ± {half:.1e}"),
        Some(half) => format!("{mean:.digits$} ± {half:.digits$}"),
    }
}

/// A number over repeats with its unit, and how sure it is. Repeats that all brought the same number have a
/// deviation of nothing; that the next one would bring it as well is not known, so that they are told and not
/// an interval. A single one has an interval only where nothing in it is random. Where it hangs on the order
/// of what happens at one instant, or may do so, the orders are told, and between which numbers they lie.
#[must_use]
pub(crate) fn estimated(half: Option<f64>, estimate: &Estimate, unit: &str) -> (String, Option<String>) {
    let mean = estimate.mean;
    // What arithmetic leaves of equal numbers is no spread.
    let half = half.map(|half| if half <= ROUNDING * mean.abs() { 0.0 } else { half });
    let wide = half.filter(|half| *half > 0.0);
    let (shown, written) = match wide.filter(|half| half.is_finite() && mean.is_finite()) {
        Some(half) => {
            let (shown, written) = with_half(mean, half, unit, 2);
            (shown, Some(written))
        }
        None => (with_unit(mean, unit), wide.map(|half| format!("± {}", half_width(half, mean, unit)))),
    };
    if let Some(DrawnOrders { drawn, least, most }) = estimate.orders {
        let orders = drawn_orders(drawn);
        return match written {
            Some(written) => (shown, Some(format!("{written} ({orders})"))),
            None if drawn < 2 => (shown, Some(format!("({orders})"))),
            None if most - least <= ROUNDING * mean.abs() => (shown, Some(format!("({orders}, all equal)"))),
            None => {
                let between = apart(least, most, unit);
                let spread = match nearer_than(least, most, unit) {
                    Some(step) => format!("({orders}, less than {step} apart)"),
                    None => format!("({orders}, {} to {})", between(least), between(most)),
                };
                (between(mean), Some(spread))
            }
        };
    }
    let spread = match half {
        Some(half) if half <= 0.0 && estimate.count > 1 => Some(format!("in each of {}", estimate.count)),
        Some(half) if half <= 0.0 => Some("exactly".to_owned()),
        _ => written,
    };
    (shown, spread)
}

/// How numbers between two are written, so that those two are told apart as far as anybody reads.
struct Apart {
    /// As any number is: the two are equal, or that tells them apart.
    is_plain: bool,
    factor: f64,
    /// Digits behind the point.
    place: usize,
    /// The unit with its prefix, and the space before it.
    unit: String,
}

impl Apart {
    fn of(least: f64, most: f64, unit: &str) -> Self {
        let is_plain =
            most - least <= ROUNDING * most.abs() || with_unit(least, unit) != with_unit(most, unit);
        let (written, times) = written_in(unit);
        let (factor, prefix) = prefix((most * times).abs(), written);
        let factor = times / factor;
        let last = (MAX_DIGITS - magnitude(most * factor)).max(0);
        let place = (1 - magnitude((most - least) * factor)).clamp(0, last);
        let space = if written.is_empty() { "" } else { "\u{a0}" };
        let unit = format!("{space}{prefix}{written}");
        Apart { is_plain, factor, place: usize::try_from(place).unwrap_or(0), unit }
    }

    fn written(&self, value: f64) -> String {
        format!("{}{}", grouped(&format!("{:.*}", self.place, value * self.factor)), self.unit)
    }
}

/// Writes numbers of which these are the least and the most, each with as many digits as tell the two apart,
/// and no more than anybody reads: what lies between them is written as something between them.
pub(crate) fn apart(least: f64, most: f64, unit: &str) -> impl Fn(f64) -> String {
    let apart = Apart::of(least, most, unit);
    move |value| if apart.is_plain { with_unit(value, unit) } else { apart.written(value) }
}

/// Of two numbers that as many digits as anybody reads do not tell apart, than what they are nearer to each
/// other.
fn nearer_than(least: f64, most: f64, unit: &str) -> Option<String> {
    let apart = Apart::of(least, most, unit);
    let step = 0.1f64.powi(i32::try_from(apart.place).unwrap_or(0));
    let is_near = !apart.is_plain && (most - least) * apart.factor < step;
    is_near.then(|| apart.written(step / apart.factor))
}

/// So many drawn orders, in words.
#[must_use]
pub(crate) fn drawn_orders(drawn: u64) -> String {
    match drawn {
        0 => "the planned order alone".to_owned(),
        1 => "1 drawn order".to_owned(),
        many => format!("{many} drawn orders"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_unit_of_its_number() {
        assert_eq!(half_width(4821.0, 2_170_000.0, "B"), "0.0048\u{a0}MB");
        assert_eq!(half_width(217_300.0, 901_000.0, "bit/s"), "220\u{a0}kbit/s");
        assert_eq!(
            (half_width(0.115, 84.0, "%"), half_width(0.0, 5e6, "B")),
            ("0.12\u{a0}%".into(), "0\u{a0}MB".into())
        );
        assert_eq!(half_width(97.9, 167.0, ""), "98");
        assert_eq!(half_width(1.234e-7, 0.5, "s"), "1.2e-7\u{a0}s", "it is not nothing");
    }

    #[test]
    fn what_a_link_carries_has_the_unit_of_its_rate() {
        assert_eq!(with_unit(1_250_000.0, "B/s"), with_unit(10e6, "bit/s"));
        assert_eq!(half_width(125_000.0, 1_250_000.0, "B/s"), "1\u{a0}Mbit/s");
    }

    #[test]
    fn equal_repeats_are_told_and_no_certainty_is_made_of_them() {
        let of = |half, values: &[f64]| estimated(half, &Estimate::of(values).unwrap(), "s").1;
        assert_eq!(of(Some(0.0), &[7.0; 3]).as_deref(), Some("in each of 3"));
        assert_eq!(of(Some(0.5), &[7.0; 3]).as_deref(), Some("± 0.50\u{a0}s"));
        assert_eq!(of(Some(0.0), &[7.0]).as_deref(), Some("exactly"), "nothing random in it");
        assert_eq!(of(None, &[7.0]), None);
        assert_eq!(of(Some(1e-12), &[7.0; 3]).as_deref(), Some("in each of 3"), "that is rounding");
    }

    #[test]
    fn of_what_hangs_on_an_order_the_orders_are_told() {
        let of = |half, drawn: &[f64]| {
            let orders = Some(DrawnOrders::of(drawn, &[7.0]));
            estimated(half, &Estimate { orders, ..Estimate::of(&[7.0, 7.5]).unwrap() }, "s").1.unwrap()
        };
        assert_eq!(of(None, &[]), "(the planned order alone)");
        assert_eq!(of(None, &[7.0]), "(1 drawn order)");
        assert_eq!(of(None, &[7.0; 5]), "(5 drawn orders, all equal)");
        assert_eq!(of(None, &[7.0, 6.0, 8.0]), "(3 drawn orders, 6\u{a0}s to 8\u{a0}s)");
        assert_eq!(of(None, &[7.0, 7.0, 7.0004]), "(3 drawn orders, 7.0000\u{a0}s to 7.0004\u{a0}s)");
        assert_eq!(of(Some(0.5), &[6.0; 20]), "± 0.50\u{a0}s (20 drawn orders)");
    }

    #[test]
    fn a_mean_is_written_between_the_numbers_between_which_it_lies() {
        let of = |drawn: &[f64], unit: &str| {
            let orders = Some(DrawnOrders::of(drawn, &[]));
            let (mean, spread) = estimated(None, &Estimate { orders, ..Estimate::of(drawn).unwrap() }, unit);
            format!("{mean} {}", spread.unwrap_or_default()).replace('\u{a0}', " ")
        };
        assert_eq!(
            of(&[2_130_500.0, 2_130_875.0, 2_130_750.0], "B/s"),
            "17.046 Mbit/s (3 drawn orders, 17.044 Mbit/s to 17.047 Mbit/s)"
        );
        // More digits nobody reads.
        assert_eq!(
            of(&[1_206_713.337, 1_206_713.338, 1_206_713.339], "B/s"),
            "9.6537 Mbit/s (3 drawn orders, less than 0.0001 Mbit/s apart)"
        );
        assert_eq!(
            of(&[314_705.0, 314_706.0], ""),
            "314\u{202f}706 (2 drawn orders, 314\u{202f}705 to 314\u{202f}706)"
        );
        assert_eq!(of(&[7.0, 8.0], "s"), "7.5 s (2 drawn orders, 7 s to 8 s)");
        assert_eq!(of(&[7.0, 7.0], "s"), "7 s (2 drawn orders, all equal)");
    }

    #[test]
    fn a_number_and_its_width_are_written_to_the_same_place_and_a_width_of_less_as_less() {
        let of = |mean: f64, half: f64, unit: &str| {
            let estimate = Estimate { mean, ..Estimate::of(&[1.0, 2.0]).unwrap() };
            let (mean, half) = estimated(Some(half), &estimate, unit);
            format!("{mean} {}", half.unwrap_or_default()).replace(['\u{a0}', '\u{202f}'], " ")
        };
        for (mean, half, unit, written) in [
            (2_125_016.4, 53.75, "B/s", "17.000 Mbit/s ± < 0.001 Mbit/s"),
            (203.0, 0.000_01, "1/s", "203.00 1/s ± < 0.01 1/s"),
            (17.004, 0.023, "s", "17.004 s ± 0.023 s"),
            (17.004, 0.0023, "s", "17.004 s ± 0.002 s"),
            (14.6, 11.0, "%", "15 % ± 11 %"),
            (1234.6, 98.7, "", "1235 ± 99"),
            (152_345.0, 2345.0, "", "152 300 ± 2300"),
            (0.52, 98.0, "", "0.5 ± 98.0"),
            (0.0997, 0.0996, "s", "0.10 s ± 0.10 s"),
            (0.0, 0.25, "ms", "0.00 ms ± 0.25 ms"),
        ] {
            assert_eq!(of(mean, half, unit), written);
        }
    }

    #[test]
    fn a_difference_lies_as_it_is_written_on_the_side_of_nothing_on_which_it_is() {
        let of =
            |mean: f64, half: f64| difference_words(mean - half, mean + half, "s").replace('\u{a0}', " ");
        assert_eq!(of(0.1642, 0.1645), "0.16 s ± 0.16 s");
        assert_eq!(of(0.1642, 0.1633), "0.164 s ± 0.163 s");
        assert_eq!(of(-0.1642, 0.1633), "-0.164 s ± 0.163 s");
        assert_eq!(of(5.0, 0.2), "5.00 s ± 0.20 s");
    }

    #[test]
    fn a_number_of_a_file_has_all_its_digits() {
        let of = |value, unit| exact(value, unit).replace(['\u{a0}', '\u{202f}'], " ");
        assert_eq!((of(99.99, "%"), of(1_800_000.0, "B/s")), ("99.99 %".into(), "14.4 Mbit/s".into()));
        assert_eq!((of(0.1 + 0.2, "s"), of(-1.0, "")), ("0.3 s".into(), "-1".into()));
        assert_eq!((of(120_000.0, ""), of(0.001, "ms")), ("120 000".into(), "0.001 ms".into()));
    }

    #[test]
    fn no_width_is_written_as_nothing() {
        let written = [Some(0.25), Some(0.001), Some(0.0), Some(f64::NAN), None];
        let written = written.map(|half| with_spread(1.5, half, 2));
        assert_eq!(written, ["1.50 ± 0.25", "1.50 ± 1.0e-3", "1.50", "1.50", "1.50"]);
    }

    #[test]
    fn where_there_is_little_room_thousands_have_a_prefix() {
        for (value, text) in [
            (0.615, "0.615"),
            (1476.0, "1476"),
            (9999.4, "9999"),
            (9999.6, "10k"),
            (97_768.0, "97.8k"),
            (314_705.0, "315k"),
            (999_600.0, "1M"),
            (2_283_599.0, "2.28M"),
            (-48_000.0, "-48k"),
            (3.2e9, "3.2G"),
        ] {
            assert_eq!(brief(value), text);
        }
        assert_eq!((brief(f64::NAN), brief(f64::INFINITY)), ("–".into(), "–".into()));
    }

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(short(0.0), "0");
        assert_eq!(short(150_000.0), "150\u{202f}000");
        assert_eq!(short(4.20), "4.2");
        assert_eq!(short(0.001_234), "0.00123");
        assert_eq!(short(-0.000_000_1), "0");
        assert_eq!(short(f64::NAN), "–");
        assert_eq!(with_unit(5_100_000.0, "B"), "5.1\u{a0}MB");
        assert_eq!(with_unit(83.7, "%"), "83.7\u{a0}%");
        assert_eq!(with_unit(12_345.0, "1/s"), "12\u{202f}345\u{a0}1/s", "only bits and bytes have prefixes");
    }
}
