//! Line charts.

use super::axis::{Axis, Range, label};
use super::svg::{Anchor, Svg, text_colour};
use super::{HEIGHT, WIDTH};

const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Points drawn for a series; of more, the lowest and highest of each stretch are.
const MAX_POINTS: usize = 1500;

/// Points joined by a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Written at the end of the line.
    pub label: String,
    /// In order along the x axis.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common x axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// The axis along the bottom.
    pub x: Axis,
    /// The axis along the left.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

impl LineChart {
    /// The drawing.
    pub fn to_svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let x = self.x.fit(points().map(|point| point.0));
        let y = self.y.fit(points().map(|point| point.1));
        let mut svg = Svg::new(&self.title);
        frame(&mut svg, &self.title, &self.y, &y, RIGHT);
        for mark in &x.marks {
            let at = across(&x, *mark);
            svg.line("faint", (at, TOP), (at, HEIGHT - BOTTOM));
            svg.text("text", (at, HEIGHT - BOTTOM + 18.0), Anchor::Middle, &label(*mark));
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        svg.text("text", (middle, HEIGHT - 10.0), Anchor::Middle, &self.x.caption());
        svg.line("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
        let mut labels = Vec::new();
        for (number, series) in self.series.iter().enumerate() {
            let drawn: Vec<(f64, f64)> =
                thinned(&series.points).iter().map(|(px, py)| (across(&x, *px), up(&y, *py))).collect();
            svg.polyline(number, &drawn);
            if let Some(last) = drawn.last() {
                labels.push((last.1, number, series.label.as_str()));
            }
        }
        for (at, number, text) in spread(labels) {
            svg.text(&text_colour(number), (WIDTH - RIGHT + 8.0, at + 4.0), Anchor::Start, text);
        }
        svg.finish()
    }
}

/// Title, y axis and the lines across.
pub(super) fn frame(svg: &mut Svg, title: &str, axis: &Axis, range: &Range, right: f64) {
    svg.text("text", (LEFT, 22.0), Anchor::Start, title);
    for mark in &range.marks {
        let at = up(range, *mark);
        svg.line("faint", (LEFT, at), (WIDTH - right, at));
        svg.text("text", (LEFT - 8.0, at + 4.0), Anchor::End, &label(*mark));
    }
    svg.upright_text((18.0, (TOP + HEIGHT - BOTTOM) / 2.0), &axis.caption());
}

fn across(range: &Range, value: f64) -> f64 {
    LEFT + range.place(value) * (WIDTH - RIGHT - LEFT)
}

pub(super) fn up(range: &Range, value: f64) -> f64 {
    HEIGHT - BOTTOM - range.place(value) * (HEIGHT - BOTTOM - TOP)
}

/// Few enough points to draw, with all peaks.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MAX_POINTS / 2);
    points
        .chunks(stretch)
        .flat_map(|chunk| {
            let place = |better: fn(f64, f64) -> bool| {
                (1..chunk.len())
                    .fold(0, |best, place| if better(chunk[place].1, chunk[best].1) { place } else { best })
            };
            let (low, high) = (place(|a, b| a < b), place(|a, b| a > b));
            [chunk[low.min(high)], chunk[low.max(high)]]
        })
        .collect()
}

/// Labels in order from the top, moved apart where they would lie on each other.
fn spread(mut labels: Vec<(f64, usize, &str)>) -> Vec<(f64, usize, &str)> {
    const APART: f64 = 15.0;
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    for place in 1..labels.len() {
        labels[place].0 = labels[place].0.max(labels[place - 1].0 + APART);
    }
    // Too far down: push them up again from the bottom.
    let mut floor = HEIGHT - BOTTOM;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(floor);
        floor = label.0 - APART;
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_every_peak_and_the_order() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|x| (f64::from(x), 1.0)).collect();
        points[5_001].1 = 0.0;
        points[77_777].1 = 9.0;
        let thin = thinned(&points);
        assert!(thin.len() <= MAX_POINTS + 2);
        assert!(thin.contains(&(5_001.0, 0.0)) && thin.contains(&(77_777.0, 9.0)));
        assert!(thin.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn labels_never_lie_on_each_other() {
        let labels = spread((0..12).map(|number| (340.0 + f64::from(number), 0, "label")).collect());
        assert!(labels.windows(2).all(|pair| pair[1].0 - pair[0].0 > 14.9));
        assert!(labels.iter().all(|label| label.0 <= HEIGHT - BOTTOM && label.0 > TOP));
    }

    #[test]
    fn every_series_is_drawn_and_labelled_and_text_is_escaped() {
        let series = |label: &str| Series { label: label.into(), points: vec![(0.0, 1.0), (1.0, 2.0)] };
        let chart = LineChart {
            title: "a < b & c".into(),
            x: Axis::new("time", "s"),
            y: Axis::new("rate", "1/s"),
            series: vec![series("first"), series("second")],
        };
        let svg = chart.to_svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains(">first<") && svg.contains(">second<") && svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains("prefers-color-scheme: dark"));
    }
}
