//! Axes: names, units, ranges and round numbers along them.

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
}

impl Axis {
    /// A linear axis that fits the data.
    pub fn new(name: &str, unit: &str) -> Self {
        Axis { name: name.into(), unit: unit.into(), scale: Scale::Linear, at_least: None }
    }

    /// With the zero on it.
    pub fn with_zero(self) -> Self {
        self.showing(0.0, 0.0)
    }

    /// With these numbers on it.
    pub fn showing(self, low: f64, high: f64) -> Self {
        Axis { at_least: Some((low, high)), ..self }
    }

    /// With equal steps for equal ratios.
    pub fn logarithmic(self) -> Self {
        Axis { scale: Scale::Logarithmic, ..self }
    }

    pub(crate) fn caption(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }

    /// The range and the round numbers to mark for these values.
    pub(super) fn fit(&self, values: impl Iterator<Item = f64>) -> Range {
        let start = self.at_least.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        let usable = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let (low, high) =
            values.filter(usable).fold(start, |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        match self.scale {
            Scale::Linear => Range::linear(low, if high > low { high } else { low + 1.0 }),
            Scale::Logarithmic => Range::logarithmic(low.max(f64::MIN_POSITIVE), high),
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
}

impl Range {
    fn linear(low: f64, high: f64) -> Self {
        let step = round_step((high - low) / 6.0);
        let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
        let marks: Vec<f64> = (first..=last).map(|number| number as f64 * step).collect();
        Range { low: first as f64 * step, high: last as f64 * step, scale: Scale::Linear, marks }
    }

    fn logarithmic(low: f64, high: f64) -> Self {
        let (first, last) = (low.log10().floor() as i32, (high.log10().ceil() as i32));
        let last = last.max(first + 1);
        let marks = (first..=last).map(|power| 10f64.powi(power)).collect();
        Range { low: 10f64.powi(first), high: 10f64.powi(last), scale: Scale::Logarithmic, marks }
    }

    /// Where `value` lies, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value.max(self.low) / self.low).log10() / (self.high / self.low).log10(),
        }
    }
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(1.0)
}

/// A number as short as it may be.
pub(super) fn label(number: f64) -> String {
    let size = number.abs();
    if size >= 1e6 {
        format!("{}M", trimmed(number / 1e6))
    } else if size >= 1e5 {
        format!("{}k", trimmed(number / 1e3))
    } else {
        trimmed(number)
    }
}

fn trimmed(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_enclose_the_data() {
        let range = Axis::new("rate", "1/s").fit([3.0, 997.0].into_iter());
        assert_eq!(range.marks, [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!((range.place(0.0), range.place(1000.0)), (0.0, 1.0));
        let range = Axis::new("tick", "ms").logarithmic().fit([0.05, 20.0].into_iter());
        assert_eq!(range.marks.len(), 5);
        assert!((range.place(1.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn no_data_and_equal_data_still_make_an_axis() {
        for values in [vec![], vec![5.0], vec![f64::NAN, f64::INFINITY]] {
            let range = Axis::new("x", "").fit(values.iter().copied());
            assert!(range.marks.len() >= 2 && range.place(0.5).is_finite(), "{values:?}");
        }
    }

    #[test]
    fn labels_are_short() {
        let labels: Vec<String> =
            [0.0, 0.25, 1000.0, 20_000.0, 200_000.0, 1.5e6].into_iter().map(label).collect();
        assert_eq!(labels, ["0", "0.25", "1000", "20000", "200k", "1.5M"]);
    }
}
