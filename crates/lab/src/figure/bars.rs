//! Bars in groups.

use super::axis::{Axis, label};
use super::line::{frame, up};
use super::svg::{Anchor, Svg, text_colour};
use super::{HEIGHT, WIDTH};

const LEFT: f64 = 70.0;
const RIGHT: f64 = 130.0;
const BOTTOM: f64 = 50.0;

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
    /// The drawing.
    pub fn to_svg(&self) -> String {
        let values = self.groups.iter().flat_map(|group| group.values.iter().copied());
        let y = self.y.clone().beginning_at_zero().fit(values);
        let mut svg = Svg::new(&self.title);
        frame(&mut svg, &self.title, &self.y, &y, RIGHT);
        let floor = HEIGHT - BOTTOM;
        let whole = self
            .groups
            .iter()
            .flat_map(|group| &group.values)
            .all(|value| value.is_nan() || value.fract() == 0.0);
        let room = (WIDTH - RIGHT - LEFT) / self.groups.len().max(1) as f64;
        let bar = room * 0.8 / self.labels.len().max(1) as f64;
        for (place, group) in self.groups.iter().enumerate() {
            let left = LEFT + room * (place as f64 + 0.1);
            for (number, value) in group.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                let (x, top) = (left + bar * number as f64, up(&y, *value));
                let what = self.labels.get(number).map_or("", String::as_str);
                let title = format!("{}, {what}: {}", group.name, label(*value));
                svg.bar(number, x, top, bar * 0.92, (floor - top).max(0.0), &title);
                if bar > 22.0 {
                    let digits = usize::from(!whole && *value < 100.0);
                    let shown = format!("{value:.digits$}");
                    svg.text("text small", (x + bar * 0.46, top - 3.0), Anchor::Middle, &shown);
                }
            }
            svg.text("text", (left + room * 0.4, floor + 18.0), Anchor::Middle, &group.name);
        }
        svg.line("axis", (LEFT, floor), (WIDTH - RIGHT, floor));
        svg.text("text", ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0), Anchor::Middle, &self.x);
        for (number, text) in self.labels.iter().enumerate() {
            let at = (WIDTH - RIGHT + 10.0, 60.0 + 18.0 * number as f64);
            svg.bar(number, at.0, at.1 - 9.0, 10.0, 10.0, text);
            svg.text(&text_colour(number), (at.0 + 16.0, at.1), Anchor::Start, text);
        }
        svg.finish()
    }
}

impl Axis {
    /// A bar that does not begin at zero lies.
    fn beginning_at_zero(self) -> Self {
        let (low, high) = self.at_least.unwrap_or((0.0, 0.0));
        self.showing(low.min(0.0), high.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_begin_at_zero_and_missing_ones_are_left_out() {
        let chart = BarChart {
            title: "throughput".into(),
            x: "pairs".into(),
            y: Axis::new("throughput", "Mbps"),
            labels: vec!["fine".into(), "5 ms".into()],
            groups: vec![
                BarGroup { name: "1".into(), values: vec![90.0, 74.0] },
                BarGroup { name: "2".into(), values: vec![50.0, f64::NAN] },
            ],
        };
        let svg = chart.to_svg();
        // Three bars, two of the legend, one page.
        assert_eq!(svg.matches("<rect").count(), 6);
        assert!(svg.contains(">0</text>") && svg.contains("1, 5 ms: 74"));
        assert!(svg.contains(">90</text>"), "counts have no digits behind the point");
    }
}
