//! Bars in groups.

use super::axis::Axis;
use super::drawing::{Anchor, Drawing, Style};
use super::key::Key;
use super::number::short;
use super::palette::Paint;
use super::plot::{Frame, Head, Plot, wanted_marks};

/// Above narrower bars nobody sees which of them a number is of.
const NUMBERED: f64 = 10.0;

/// Bars that belong together, one for each label of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct BarGroup {
    /// Written below the group.
    pub name: String,
    /// As many as the chart has labels; not a number for a bar that is missing.
    pub values: Vec<f64>,
}

/// Bars in groups over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// What it shows.
    pub title: String,
    /// What the groups differ in.
    pub x: String,
    /// The axis along the left.
    pub y: Axis,
    /// What the bars of a group are.
    pub labels: Vec<String>,
    /// The groups.
    pub groups: Vec<BarGroup>,
}

impl BarChart {
    /// The drawing of a figure that stands alone.
    pub fn drawing(&self) -> Drawing {
        self.draw(super::STANDARD, &[], 0)
    }

    /// The same as a file.
    pub fn to_svg(&self) -> String {
        self.drawing().to_svg()
    }

    /// The drawing. `deviations` are those of each bar of each group, drawn as whiskers; an empty list means
    /// none. The first label has colour number `colour`.
    pub fn draw(&self, frame: Frame, deviations: &[Vec<f64>], colour: usize) -> Drawing {
        let deviation = |group: usize, bar: usize| {
            let found = deviations.get(group).and_then(|list| list.get(bar)).copied();
            found.filter(|deviation| deviation.is_finite() && *deviation > 0.0)
        };
        let reach = self.groups.iter().enumerate().flat_map(|(group, list)| {
            let tops = list.values.iter().enumerate();
            tops.map(move |(bar, value)| value + deviation(group, bar).unwrap_or(0.0))
        });
        // A bar that does not begin at zero lies.
        let (low, high) = self.y.at_least.unwrap_or((0.0, 0.0));
        let axis = self.y.clone().showing(low.min(0.0), high.max(0.0));
        let y = axis.fit(reach, wanted_marks(frame.height - 60.0));
        let head = Head::new(&self.title, &y, &self.y, frame);
        let key = Key::new(&self.labels, frame.width);
        let top = head.height() + key.height() + 8.0;
        let mut plot = Plot::new(&self.title, frame, top, 10.0, y);
        head.draw(&mut plot.drawing);
        key.draw(&mut plot.drawing, head.height() - 4.0, colour);
        self.bars(&mut plot, colour, &deviation);
        if frame.foot {
            plot.caption(&self.x);
        }
        plot.drawing
    }

    fn bars(&self, plot: &mut Plot, colour: usize, deviation: &dyn Fn(usize, usize) -> Option<f64>) {
        let room = (plot.edge - plot.left) / self.groups.len().max(1) as f64;
        let bar = (room * 0.8 / self.labels.len().max(1) as f64).min(56.0);
        let names = Style::LABEL.fit_all(self.groups.iter().map(|group| &group.name), room - 2.0);
        let mut numbers = Vec::new();
        for ((place, group), name) in self.groups.iter().enumerate().zip(&names) {
            let middle = plot.left + room * (place as f64 + 0.5);
            let left = middle - bar * self.labels.len() as f64 / 2.0;
            for (number, value) in group.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                let (x, top) = (left + bar * number as f64, plot.up(*value));
                let what = self.labels.get(number).map_or("", String::as_str);
                let spread = deviation(place, number);
                let told = spread.map(short).filter(|told| told != "0");
                let more = told.map_or_else(String::new, |told| format!(" ± {told}"));
                let hint = format!("{}, {what}: {}{more} {}", group.name, short(*value), self.y.unit);
                let size = ((bar * 0.92).max(0.8), (plot.floor - top).max(0.0));
                plot.drawing.rectangle((x + bar * 0.04, top), size, Paint::Series(colour + number), &hint);
                let mut above = top;
                // One that could not be seen would be a blot on its bar.
                let is_seen = |spread: &f64| plot.up(value - spread) - plot.up(value + spread) >= 2.0;
                if let Some(spread) = spread.filter(is_seen) {
                    let centre = x + bar / 2.0;
                    let (high, low) = (plot.up(value + spread), plot.up((value - spread).max(0.0)));
                    plot.drawing.line((centre, high), (centre, low), Paint::Ink);
                    plot.drawing.line((centre - 3.0, high), (centre + 3.0, high), Paint::Ink);
                    plot.drawing.line((centre - 3.0, low), (centre + 3.0, low), Paint::Ink);
                    above = high;
                }
                numbers.push(((x + bar / 2.0, above - 4.0), plot.y.brief(*value)));
            }
            plot.drawing.text((middle, plot.floor + 15.0), Anchor::Middle, name, Style::LABEL);
        }
        if bar < NUMBERED {
            return;
        }
        // Each number above its bar, where it lies on nothing: all bars are there by now.
        for (at, text) in numbers {
            if plot.drawing.is_clear(at, Anchor::Middle, &text, Style::LABEL) {
                plot.drawing.text(at, Anchor::Middle, &text, Style::LABEL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;

    fn chart() -> BarChart {
        BarChart {
            title: "throughput".into(),
            x: "pairs".into(),
            y: Axis::new("throughput", "Mbps"),
            labels: vec!["fine".into(), "5 ms".into()],
            groups: vec![
                BarGroup { name: "1".into(), values: vec![90.0, 74.0] },
                BarGroup { name: "2".into(), values: vec![50.0, f64::NAN] },
            ],
        }
    }

    #[test]
    fn bars_begin_at_zero_and_missing_ones_are_left_out() {
        let svg = chart().to_svg();
        // Three bars, two of the key, one page.
        assert_eq!(svg.matches("<rect").count(), 6);
        assert!(svg.contains(">0</text>") && svg.contains("1, 5 ms: 74 Mbps"));
    }

    #[test]
    fn whiskers_stay_within_the_plot() {
        let deviations = [vec![40.0, f64::NAN], vec![60.0, 1.0]];
        let drawing = chart().draw(Frame::new(344.0, 220.0), &deviations, 0);
        let whiskers: Vec<(f64, f64)> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Line { from, to, paint: Paint::Ink, .. } if from.0 == to.0 => Some((from.1, to.1)),
                _ => None,
            })
            .collect();
        assert_eq!(whiskers.len(), 2, "a deviation that is not a number is not drawn");
        assert!(whiskers.iter().all(|(high, low)| *high > 20.0 && *low <= 186.1), "{whiskers:?}");
    }
    /// What is written in a drawing.
    fn words(drawing: &Drawing) -> Vec<&str> {
        let shapes = drawing.shapes.iter();
        shapes
            .filter_map(|shape| match shape {
                Shape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_wide_number_does_not_keep_the_others_away() {
        let group = |number: usize, value: f64| BarGroup { name: format!("n{number}"), values: vec![value] };
        let values = [1476.0, 1476.0, 1476.0, 23.4, 0.615];
        let groups = values.into_iter().enumerate().map(|(number, value)| group(number + 1, value)).collect();
        let chart = BarChart { labels: vec![String::new()], groups, ..chart() };
        let drawing = chart.draw(Frame::new(226.0, 190.0), &[], 0);
        let count = |word: &str| words(&drawing).into_iter().filter(|found| *found == word).count();
        assert_eq!((count("1476"), count("23.4"), count("0.615")), (3, 1, 1), "{:?}", words(&drawing));
        assert_eq!(drawing.misplaced(), [""; 0]);
    }

    #[test]
    fn numbers_are_left_out_where_they_would_lie_on_another_a_bar_or_a_whisker_and_nowhere_else() {
        // Neighbours of the same height, higher ones and lower ones, with and without whiskers.
        let values = |group: usize| {
            (0..4).map(|bar| [123_456.0, 98_765.0, 123_999.0, 0.617][(group + bar) % 4]).collect::<Vec<f64>>()
        };
        let groups = (0..5).map(|group| BarGroup { name: format!("n{group}"), values: values(group) });
        let labels = (0..4).map(|number| format!("case {number}")).collect();
        let chart = BarChart { labels, groups: groups.collect(), ..chart() };
        let deviations: Vec<Vec<f64>> = (0..5).map(|group| vec![9000.0 * f64::from(group); 4]).collect();
        for width in [240.0, 300.0, 344.0, 420.0, 900.0] {
            let drawing = chart.draw(Frame::new(width, 260.0), &deviations, 0);
            assert_eq!(drawing.misplaced(), [""; 0], "{width}");
            let numbers = words(&drawing).into_iter().filter(|word| word.ends_with('k') || *word == "0.617");
            let (shown, all) = (numbers.count(), 20);
            let is_wide = width > 800.0;
            assert!(if is_wide { shown == all } else { shown < all }, "{width}: {shown}");
            // Without the numbers, each that was left out has no clear place beside those that are there.
            let is_number = |shape: &Shape| matches!(shape, Shape::Text { text, .. } if text.ends_with('k'));
            let (placed, ground): (Vec<Shape>, Vec<Shape>) =
                drawing.shapes.iter().cloned().partition(is_number);
            let bare = Drawing { shapes: ground, ..drawing.clone() };
            for shape in placed {
                let Shape::Text { at, anchor, text, style } = shape else { continue };
                assert!(bare.is_clear(at, anchor, &text, style), "{width}: {text} lies on something");
            }
        }
    }
}
