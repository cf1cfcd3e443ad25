//! Bars in groups.

use super::axis::Axis;
use super::drawing::{Anchor, Drawing, Point, Shape, Style};
use super::groups::Groups;
use super::names::ShortNames;
use super::number::short;
use super::palette::Paint;
use super::plot::{Frame, Plot, wanted_marks};

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
        let groups = Groups {
            title: &self.title,
            x: &self.x,
            axis: &self.y,
            labels: &self.labels,
            names: self.groups.iter().map(|group| group.name.clone()).collect(),
        };
        groups.draw(frame, y, colour, |plot| self.bars(plot, colour, &deviation))
    }

    /// Gives what the groups are called below them.
    fn bars(
        &self,
        plot: &mut Plot,
        colour: usize,
        deviation: &dyn Fn(usize, usize) -> Option<f64>,
    ) -> ShortNames {
        let room = (plot.edge - plot.left) / self.groups.len().max(1) as f64;
        let bar = (room * 0.8 / self.labels.len().max(1) as f64).min(56.0);
        let names = Style::LABEL.fit_all(self.groups.iter().map(|group| &group.name), room - 8.0);
        let mut numbers = Vec::new();
        for ((place, group), name) in self.groups.iter().enumerate().zip(&names.shown) {
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
        if bar >= NUMBERED {
            numbers.into_iter().for_each(|(at, text)| number_at(&mut plot.drawing, at, &text));
        }
        names
    }
}

/// Writes a number above its bar, where it touches nothing: all bars are there by now. Where a line of the
/// ground would pass through it, it stands a little higher; where there is no room it is left out.
fn number_at(drawing: &mut Drawing, (across, down): Point, text: &str) {
    const HIGHER: u32 = 12;
    const ABOVE: f64 = 2.5;
    let style = Style::LABEL;
    let places = (0..=HIGHER).map(|higher| (across, down - f64::from(higher)));
    let clear: Vec<Point> = places.filter(|at| drawing.is_clear(*at, Anchor::Middle, text, style)).collect();
    // One that touches it from above looks no better.
    let is_at = |at: Point| drawing.lines_below(at, Anchor::Middle, text, style) > 0;
    let is_struck = |at: &&Point| is_at(**at) || is_at((at.0, at.1 - ABOVE));
    let best = clear.iter().find(|at| !is_struck(at)).or(clear.first()).copied();
    // Farther up, and above a neighbour of about this height, it would be taken for that of another bar.
    let is_its_own =
        clear.first() == Some(&(across, down)) && !is_above_others(drawing, (across, down), text);
    if let Some(at) = best.filter(|_| is_its_own) {
        drawing.text(at, Anchor::Middle, text, style);
    }
}

/// Does a number above its bar reach over another one that ends near below?
fn is_above_others(drawing: &Drawing, (across, down): Point, text: &str) -> bool {
    const NEAR: f64 = 14.0;
    let half = Style::LABEL.width(text) / 2.0 - 1.0;
    drawing.shapes.iter().any(|shape| match shape {
        Shape::Rectangle { at: (left, top), size, .. } => {
            let right = left + size.0;
            let is_own = (*left..=right).contains(&across);
            let is_below = (down - 6.0..down + NEAR).contains(top);
            !is_own && is_below && *left < across + half && right > across - half
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
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
    fn no_number_touches_the_bar_of_another_and_no_line_strikes_one_through() {
        let values = [[1.56, 0.925, 0.748], [1.13, 0.587, 0.442], [0.00173, 0.00344, 0.00346]];
        let group = |(number, values): (usize, &[f64; 3])| BarGroup {
            name: format!("router-north-0{}-backbone", number + 1),
            values: values.to_vec(),
        };
        let labels = ["10", "20", "30"].map(|n| format!("a case of {n} Mbit/s")).to_vec();
        let chart = BarChart { labels, groups: values.iter().enumerate().map(group).collect(), ..chart() };
        for (width, deviations) in [(344.0, vec![]), (344.0, vec![vec![3.6, 5.4, 3.7]; 3]), (560.0, vec![])] {
            let drawing = chart.draw(Frame::new(width, 255.0), &deviations, 0);
            let mut shown = 0;
            for shape in &drawing.shapes {
                let Shape::Text { at, text, .. } = shape else { continue };
                if !values.iter().flatten().any(|value| value.to_string() == *text) {
                    continue;
                }
                shown += 1;
                assert_eq!(
                    drawing.lines_below(*at, Anchor::Middle, text, Style::LABEL),
                    0,
                    "{width}: {text}"
                );
                let half = Style::LABEL.width(text) / 2.0;
                for bar in &drawing.shapes {
                    let Shape::Rectangle { at: corner, size, .. } = bar else { continue };
                    let apart = (corner.0 - at.0 - half).max(at.0 - half - corner.0 - size.0);
                    // One that ends above the number is a square of the key.
                    let is_beside = corner.1 <= at.1 && corner.1 + size.1 > at.1 - 8.0;
                    assert!(apart >= 1.0 || !is_beside, "{width}: {text} is {apart} beside a bar");
                }
            }
            assert!(shown >= 2, "{width}: {shown}");
        }
    }

    #[test]
    fn names_that_are_numbered_have_a_key_below() {
        let names = ["consumer", "commander", "computer", "customer"];
        let group = |name: &str| BarGroup { name: name.into(), values: vec![1.0] };
        let groups = names.iter().map(|name| group(name)).collect();
        let chart = BarChart { labels: vec![String::new()], groups, ..chart() };
        let drawing = chart.draw(Frame::new(140.0, 190.0), &[], 0);
        let words = words(&drawing);
        for (number, name) in names.iter().enumerate() {
            assert!(words.contains(&format!("({}) {name}", number + 1).as_str()), "{words:?}");
            assert!(words.contains(&(number + 1).to_string().as_str()), "{words:?}");
        }
        assert_eq!(drawing.misplaced(), [""; 0]);
        assert!(drawing.size().1 > 190.0);
        assert_eq!(
            chart.draw(Frame::new(600.0, 190.0), &[], 0).size().1,
            190.0,
            "where there is room there is none"
        );
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
