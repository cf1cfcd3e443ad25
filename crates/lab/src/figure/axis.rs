//! Axes: names, units, ranges and round numbers along them.

use super::number::{brief, prefix, short};

/// How numbers lie along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios; only for numbers above zero.
    Logarithmic,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured.
    pub name: String,
    /// In what; empty for plain numbers.
    pub unit: String,
    /// How numbers lie along it.
    pub scale: Scale,
    /// The range that it shows at least.
    pub at_least: Option<(f64, f64)>,
    /// Does it end at its numbers, and not at the next round one?
    pub exact: bool,
    /// Places along it where a dashed line stands across a line chart, such as moments when something
    /// happened.
    pub marked: Vec<f64>,
}

impl Axis {
    /// A linear axis that fits the data.
    pub fn new(name: &str, unit: &str) -> Self {
        Axis {
            name: name.into(),
            unit: unit.into(),
            scale: Scale::Linear,
            at_least: None,
            exact: false,
            marked: Vec::new(),
        }
    }

    /// With the zero on it.
    pub fn with_zero(self) -> Self {
        self.showing(0.0, 0.0)
    }

    /// With these numbers on it.
    pub fn showing(self, low: f64, high: f64) -> Self {
        Axis { at_least: Some((low, high)), ..self }
    }

    /// From one number to another, and not to the next round ones.
    pub fn exactly(self, low: f64, high: f64) -> Self {
        Axis { at_least: Some((low, high)), exact: true, ..self }
    }

    /// With a dashed line across the chart at each of these places.
    pub fn marked_at(self, marked: impl IntoIterator<Item = f64>) -> Self {
        Axis { marked: marked.into_iter().collect(), ..self }
    }

    /// With equal steps for equal ratios.
    pub fn logarithmic(self) -> Self {
        Axis { scale: Scale::Logarithmic, ..self }
    }

    /// Name and unit.
    pub(crate) fn caption(&self) -> String {
        self.caption_with("")
    }

    /// What a column of its numbers is called in a chart of that title, which alone says what they are where
    /// they have no unit.
    pub(crate) fn column(&self, title: &str) -> String {
        let caption = self.caption();
        if caption.is_empty() { title.to_owned() } else { caption }
    }

    fn caption_with(&self, letter: &str) -> String {
        match (self.name.as_str(), self.unit.as_str()) {
            (name, "") => name.to_owned(),
            ("", unit) => format!("{letter}{unit}"),
            (name, unit) => format!("{name} ({letter}{unit})"),
        }
    }

    /// The range for these values, with about so many round numbers to mark.
    pub(super) fn fit(&self, values: impl Iterator<Item = f64>, wanted: f64) -> Range {
        let start = self.at_least.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        let usable = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let (low, high) = if self.exact {
            start
        } else {
            values.filter(usable).fold(start, |(low, high), value| (low.min(value), high.max(value)))
        };
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let high = if high > low { high } else { low + 1.0 };
        let (factor, letter) = prefix(high.abs().max(low.abs()), &self.unit);
        let caption = self.caption_with(letter);
        let range = Range { low, high, scale: self.scale, marks: Vec::new(), factor, caption };
        match self.scale {
            Scale::Linear => range.linear(wanted, self.exact),
            Scale::Logarithmic => range.logarithmic(),
        }
    }
}

/// What an axis shows.
#[derive(Clone, Debug)]
pub(super) struct Range {
    low: f64,
    high: f64,
    scale: Scale,
    pub(super) marks: Vec<f64>,
    factor: f64,
    /// Name and unit, with the prefix that the marks are written in.
    pub(super) caption: String,
}

impl Range {
    fn linear(self, wanted: f64, exact: bool) -> Self {
        let step = round_step((self.high - self.low) / self.factor / wanted.max(1.0)) * self.factor;
        // A hair of tolerance: what is at a mark but for rounding is at the mark.
        let (mut first, mut last) =
            ((self.low / step + 1e-9).floor() as i64, (self.high / step - 1e-9).ceil() as i64);
        if exact {
            first = (self.low / step - 1e-9).ceil() as i64;
            last = (self.high / step + 1e-9).floor() as i64;
        }
        let marks: Vec<f64> = (first..=last).map(|number| number as f64 * step).collect();
        if exact {
            return Range { marks, ..self };
        }
        Range { low: first as f64 * step, high: last as f64 * step, marks, ..self }
    }

    fn logarithmic(self) -> Self {
        const MAX_MARKS: usize = 8;
        let low = self.low.max(f64::MIN_POSITIVE);
        let (first, last) = (low.log10().floor() as i32, (self.high.log10().ceil() as i32));
        let last = last.max(first + 1);
        let of_power = |power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power));
        let ends: Vec<f64> = (first..=last).flat_map(of_power).collect();
        // From the last round number below all to the first above all; a hair of tolerance as before.
        let begin = ends.iter().rposition(|end| *end <= low * 1.001).unwrap_or(0);
        let end = ends.iter().position(|end| *end >= self.high * 0.999).unwrap_or(ends.len() - 1);
        let ends = ends.get(begin..=end.max(begin + 1)).unwrap_or(&ends).to_vec();
        let (Some(low), Some(high)) = (ends.first().copied(), ends.last().copied()) else { return self };
        // Over about two powers of ten there is room for all of them.
        let powers = (first..=last).map(|power| 10f64.powi(power)).filter(|mark| (low..=high).contains(mark));
        let marks = if ends.len() <= MAX_MARKS { ends } else { powers.collect() };
        Range { low, high, marks, ..self }
    }

    /// Where `value` lies, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value.max(self.low) / self.low).log10() / (self.high / self.low).log10(),
        }
    }

    /// What is written at a mark.
    pub(super) fn label(&self, mark: f64) -> String {
        short(mark / self.factor)
    }

    /// What is written beside a value, where there is little room.
    pub(super) fn brief(&self, value: f64) -> String {
        brief(value / self.factor)
    }
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * 0.999).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_enclose_the_data() {
        let range = Axis::new("rate", "1/s").fit([3.0, 997.0].into_iter(), 6.0);
        assert_eq!(range.marks, [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!((range.place(0.0), range.place(1000.0)), (0.0, 1.0));
        let range = Axis::new("tick", "ms").logarithmic().fit([0.05, 20.0].into_iter(), 6.0);
        assert_eq!(range.marks, [0.1, 1.0, 10.0]);
        assert!((range.place(1.0) - 0.5).abs() < 1e-9);
        assert_eq!((range.place(0.05), range.place(20.0)), (0.0, 1.0), "an axis ends near its last value");
        let range = Axis::new("delay", "ms").logarithmic().fit([1.0, 128.0].into_iter(), 6.0);
        assert_eq!(range.marks, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        let range = Axis::new("delay", "ms").logarithmic().fit([1.0, 1280.0].into_iter(), 6.0);
        assert_eq!(
            (range.marks.as_slice(), range.place(2000.0)),
            ([1.0, 10.0, 100.0, 1000.0].as_slice(), 1.0)
        );
        let range = Axis::new("share", "%").logarithmic().fit([10.0, 90.0].into_iter(), 6.0);
        assert_eq!(range.marks, [10.0, 20.0, 50.0, 100.0]);
        let range = Axis::new("share", "%").logarithmic().fit([6.0, 100.0].into_iter(), 6.0);
        assert_eq!((range.marks.len(), range.marks[0], range.place(100.0)), (5, 5.0, 1.0));
        let range = Axis::new("share", "%").logarithmic().fit([2.0, 2.0].into_iter(), 6.0);
        assert!(range.marks.len() >= 2 && range.place(2.0) == 0.0, "{:?}", range.marks);
        for most in [0.003, 1.0, 7.0, 123.0, 98_765.0, 5e9] {
            let range = Axis::new("", "B").with_zero().fit([most].into_iter(), 4.0);
            assert!(range.place(most) <= 1.0 && range.marks.len() <= 7, "{most}: {:?}", range.marks);
        }
    }

    #[test]
    fn an_exact_axis_ends_where_it_was_told() {
        let range = Axis::new("time", "s").exactly(0.0, 33.2).fit([90.0].into_iter(), 4.0);
        assert_eq!((range.place(0.0), range.place(33.2)), (0.0, 1.0));
        assert_eq!(range.marks, [0.0, 10.0, 20.0, 30.0]);
    }

    #[test]
    fn no_data_and_equal_data_still_make_an_axis() {
        for values in [vec![], vec![5.0], vec![f64::NAN, f64::INFINITY]] {
            let range = Axis::new("x", "").fit(values.iter().copied(), 6.0);
            assert!(range.marks.len() >= 2 && range.place(0.5).is_finite(), "{values:?}");
        }
    }

    #[test]
    fn marks_of_bytes_are_written_with_a_prefix_that_the_caption_names() {
        let range = Axis::new("Memory", "B").with_zero().fit([19e6].into_iter(), 4.0);
        assert_eq!(range.caption, "Memory (MB)");
        let labels: Vec<String> = range.marks.iter().map(|mark| range.label(*mark)).collect();
        assert_eq!(labels, ["0", "5", "10", "15", "20"]);
    }
}
