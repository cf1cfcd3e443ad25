//! Line charts.

use super::axis::Axis;
use super::drawing::{Anchor, Drawing, Point, Style};
use super::key::explain;
use super::names::ShortNames;
use super::palette::{Dash, Paint};
use super::plot::{Frame, Head, Plot, label_room, wanted_marks};

/// Points drawn for a series; of more, the lowest and highest of each stretch are.
const MAX_POINTS: usize = 1200;
/// The part of a chart that labels of lines take at most.
const LABELS: f64 = 0.4;
/// How wide the dot at a point is.
const DOT: f64 = 6.0;
/// How much wider it is for each that lies on it …
const RING: f64 = 4.0;
/// … up to so many.
const MAX_RINGS: usize = 2;
/// Labels begin so much farther from lines that end in dots.
const BESIDE_DOTS: f64 = 4.0;
/// How long a piece of its line before a label is, where lines are told apart by their dashes …
const SAMPLE: f64 = 18.0;
/// … and how far from the label.
const BESIDE_SAMPLE: f64 = 4.0;
/// From one label to the next below it.
const APART: f64 = 13.0;

/// Points joined by a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Written at the end of the line. A single series without a label is drawn with the area below it.
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
    /// The drawing of a figure that stands alone.
    pub fn drawing(&self) -> Drawing {
        self.draw(super::STANDARD, 0)
    }

    /// The same as a file.
    pub fn to_svg(&self) -> String {
        self.drawing().to_svg()
    }

    /// Room that labels need to the left and to the right, to bring charts in line.
    pub fn margins(&self, frame: Frame) -> (f64, f64) {
        self.margins_from(frame, 0)
    }

    /// The same where the first series has colour number `colour`.
    fn margins_from(&self, frame: Frame, colour: usize) -> (f64, f64) {
        let y = self.y.fit(self.values(), wanted_marks(frame.height - 60.0));
        let labels = labels_of(&self.series, frame).shown.into_iter();
        let widest = labels.map(|label| Style::LABEL.width(&label)).fold(0.0, f64::max);
        (label_room(&y), if widest > 0.0 { widest + 10.0 + self.sample(colour) } else { 10.0 })
    }

    /// The room that a piece of each line takes before its label; none where all lines are whole.
    fn sample(&self, colour: usize) -> f64 {
        let numbers = (colour..).zip(&self.series).filter(|(_, series)| !series.label.is_empty());
        let are_dashed = numbers.map(|(number, _)| Dash::of_series(number)).any(|dash| dash != Dash::Solid);
        if are_dashed { SAMPLE + BESIDE_SAMPLE } else { 0.0 }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|series| series.points.iter().map(|point| point.1))
    }

    /// The drawing; the first series has colour number `colour`, the next the one after it.
    pub fn draw(&self, frame: Frame, colour: usize) -> Drawing {
        self.draw_with(frame, &[], colour)
    }

    /// The same with a dot at each point, and with whiskers: for each series how far each of its points may
    /// be off, up and down. What is not a number has none.
    pub fn draw_with(&self, frame: Frame, whiskers: &[Vec<f64>], colour: usize) -> Drawing {
        let marks = wanted_marks(frame.height - 60.0);
        let tops = self.series.iter().zip(whiskers).flat_map(|(series, halves)| {
            series.points.iter().zip(halves).map(|(point, half)| point.1 + half)
        });
        let y = self.y.fit(self.values().chain(tops.filter(|top| top.is_finite())), marks);
        let head = Head::new(&self.title, &y, &self.y, frame);
        let beside_dots = if whiskers.is_empty() { 0.0 } else { BESIDE_DOTS };
        let right = self.margins_from(frame, colour).1 + beside_dots;
        let mut plot = Plot::new(&self.title, frame, head.height(), right, y);
        head.draw(&mut plot.drawing);
        let along = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let x = self.x.fit(along, (plot.edge - plot.left) / 62.0);
        if frame.foot {
            plot.foot(&x);
        } else {
            plot.drawing.line((plot.left, plot.floor), (plot.edge, plot.floor), Paint::Faint);
        }
        for mark in &self.x.marked {
            let at = plot.across(&x, *mark);
            plot.drawing.path(vec![(at, plot.top), (at, plot.floor)], Paint::Soft, Dash::Dashes);
        }
        let shaded = matches!(self.series.as_slice(), [only] if only.label.is_empty());
        let (short, mut labels, mut dots) = (labels_of(&self.series, frame), Vec::new(), Vec::new());
        for (number, series) in self.series.iter().enumerate() {
            let drawn: Vec<Point> = thinned(&series.points)
                .iter()
                .filter(|(px, py)| px.is_finite() && py.is_finite())
                .map(|(px, py)| (plot.across(&x, *px), plot.up(*py)))
                .collect();
            if shaded {
                plot.drawing.area(&drawn, plot.floor, Paint::Shade(colour));
            }
            for ((px, py), half) in series.points.iter().zip(whiskers.get(number).into_iter().flatten()) {
                if half.is_finite() && *half > 0.0 {
                    let at = plot.across(&x, *px);
                    let ends = vec![(at, plot.up(py + half)), (at, plot.up((py - half).max(0.0)))];
                    plot.drawing.path(ends, Paint::Series(colour + number), Dash::Solid);
                }
            }
            let Some(last) = drawn.last().copied() else { continue };
            if !whiskers.is_empty() {
                dots.extend(drawn.iter().map(|at| (*at, Paint::Series(colour + number))));
            }
            let dash = Dash::of_series(colour + number);
            plot.drawing.path(drawn, Paint::Series(colour + number), dash);
            let label = short.shown.get(number).cloned().unwrap_or_default();
            labels.push((last.1, Paint::Series(colour + number), (label, dash)));
        }
        for (at, across, paint) in rings(&dots) {
            plot.drawing.disc(at, across, paint, "");
        }
        let (beside, sample) = (plot.edge + 6.0 + beside_dots, self.sample(colour));
        for (at, paint, (text, dash)) in spread(labels, plot.top, plot.floor) {
            if sample > 0.0 {
                plot.drawing.path(vec![(beside, at), (beside + SAMPLE, at)], paint, dash);
            }
            let style = Style::LABEL.in_paint(paint);
            plot.drawing.text((beside + sample, at + 4.0), Anchor::Start, &text, style);
        }
        let mut drawing = plot.drawing;
        let names: Vec<String> = self.series.iter().map(|series| series.label.clone()).collect();
        explain(&mut drawing, &short, &names);
        drawing
    }
}

/// How wide each dot is: those that lie below others look out from behind them.
fn rings(dots: &[(Point, Paint)]) -> Vec<(Point, f64, Paint)> {
    let lies_on = |other: &Point, at: &Point| (other.0 - at.0).hypot(other.1 - at.1) < DOT / 2.0;
    let ring = |(number, (at, paint)): (usize, &(Point, Paint))| {
        let later = dots.iter().skip(number + 1);
        let above = later.filter(|(other, of)| of != paint && lies_on(other, at)).count();
        (*at, DOT + RING * above.min(MAX_RINGS) as f64, *paint)
    };
    dots.iter().enumerate().map(ring).collect()
}

/// What is written at the end of each line: no more than leaves room for the plot.
fn labels_of(series: &[Series], frame: Frame) -> ShortNames {
    Style::LABEL.fit_all(series.iter().map(|series| &series.label), frame.width * LABELS)
}

/// Few enough points to draw, with all peaks.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MAX_POINTS / 2);
    let extremes = |chunk: &[(f64, f64)]| {
        let least = chunk.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        match (least, most) {
            (Some(a), Some(b)) if a.0 <= b.0 => vec![a, b],
            (Some(a), Some(b)) => vec![b, a],
            _ => Vec::new(),
        }
    };
    points.chunks(stretch).flat_map(extremes).collect()
}

/// Labels in order from the top, moved apart where they would lie on each other.
fn spread<T>(mut labels: Vec<(f64, Paint, T)>, top: f64, floor: f64) -> Vec<(f64, Paint, T)> {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Where there is not room for all at this distance, they share what there is.
    let apart = APART.min((floor - top) / labels.len().saturating_sub(1).max(1) as f64);
    let mut least = top;
    for label in &mut labels {
        label.0 = label.0.max(least);
        least = label.0 + apart;
    }
    // Too far down: push them up again from the bottom.
    let mut most = floor;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - apart;
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
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
    fn labels_never_lie_on_each_other_nor_outside() {
        let labels = |count: u32| (0..count).map(|n| (240.0 + f64::from(n), Paint::Ink, "label")).collect();
        let placed = spread(labels(12), 40.0, 250.0);
        assert!(placed.windows(2).all(|pair| pair[1].0 - pair[0].0 > APART - 0.1));
        assert!(placed.iter().all(|label| label.0 <= 250.0 && label.0 >= 40.0));
        let crowded = spread(labels(30), 40.0, 250.0);
        assert!(crowded.iter().all(|label| label.0 <= 250.1 && label.0 >= 39.9));
    }

    #[test]
    fn every_series_is_drawn_and_labelled_in_its_colour() {
        let series = |label: &str| Series { label: label.into(), points: vec![(0.0, 1.0), (1.0, 2.0)] };
        let chart = LineChart {
            title: "Rates".into(),
            x: Axis::new("time", "s"),
            y: Axis::new("rate", "1/s"),
            series: vec![series("first"), series("second")],
        };
        let svg = chart.to_svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains(">first<") && svg.contains(">second<") && svg.contains(">rate (1/s)<"));
        assert!(svg.contains(">time (s)<"));
    }

    #[test]
    fn where_lines_are_told_apart_by_dashes_each_label_has_a_piece_of_its_line() {
        let series = |number: u32| Series {
            label: format!("line {number}"),
            points: vec![(0.0, f64::from(number)), (1.0, f64::from(number))],
        };
        let chart = |lines: u32| LineChart {
            title: "Rates".into(),
            x: Axis::new("time", "s"),
            y: Axis::new("rate", "1/s"),
            series: (0..lines).map(series).collect(),
        };
        let paths = |lines: u32| {
            let look = |shape: &Shape| match shape {
                Shape::Path { paint, dash, .. } => Some((*paint, *dash)),
                _ => None,
            };
            chart(lines).drawing().shapes.iter().filter_map(look).collect::<Vec<_>>()
        };
        assert_eq!(paths(4).len(), 4, "whole lines need no piece");
        let eight = paths(8);
        let (lines, mut pieces) = eight.split_at(8);
        let mut found = pieces.to_vec();
        found.reverse();
        pieces = &found;
        assert_eq!(lines, pieces, "the lowest line has the lowest label");
        assert!(lines.iter().filter(|(_, dash)| *dash == Dash::Dashes).count() == 4);
        assert_eq!(chart(8).drawing().misplaced(), [""; 0]);
    }

    #[test]
    fn dots_of_lines_that_are_one_are_rings_around_each_other() {
        // The first two are of one line, a step apart; the fourth lies on both, the last on the third.
        let places = [((5.0, 5.0), 0), ((6.0, 5.0), 0), ((50.0, 5.0), 0), ((5.0, 6.0), 1), ((50.0, 5.0), 2)];
        let dots = places.map(|(at, number)| (at, Paint::Series(number)));
        let wide: Vec<f64> = rings(&dots).into_iter().map(|(_, across, _)| across).collect();
        assert_eq!(wide, [DOT + RING, DOT + RING, DOT + RING, DOT, DOT]);
    }

    #[test]
    fn with_whiskers_each_point_has_a_dot() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN)];
        let chart = LineChart {
            title: "t".into(),
            x: Axis::new("share", "%"),
            y: Axis::new("", ""),
            series: vec![Series { label: "n1".into(), points }],
        };
        let frame = Frame::new(300.0, 200.0);
        let dots = |drawing: &Drawing| {
            let is_dot = |shape: &&Shape| matches!(shape, Shape::Rectangle { size: (DOT, DOT), .. });
            drawing.shapes.iter().filter(is_dot).count()
        };
        assert_eq!(dots(&chart.draw_with(frame, &[vec![0.1, f64::NAN, 0.2]], 0)), 2);
        assert_eq!(dots(&chart.draw(frame, 0)), 0);
    }

    #[test]
    fn what_is_marked_along_the_axis_stands_across_the_plot() {
        let chart = |marked: &[f64]| LineChart {
            title: "t".into(),
            x: Axis::new("time", "s").exactly(0.0, 10.0).marked_at(marked.iter().copied()),
            y: Axis::new("", ""),
            series: vec![Series { label: String::new(), points: vec![(0.0, 1.0), (10.0, 2.0)] }],
        };
        let dashed = |marked: &[f64]| {
            let drawing = chart(marked).drawing();
            let of = |shape: &Shape| match shape {
                Shape::Path { points, dash: Dash::Dashes, .. } => points.first().map(|point| point.0),
                _ => None,
            };
            drawing.shapes.iter().filter_map(of).collect::<Vec<f64>>()
        };
        assert!(dashed(&[]).is_empty());
        let places = dashed(&[0.0, 5.0, 10.0]);
        assert!((places[0] + places[2] - 2.0 * places[1]).abs() < 1e-9, "{places:?}");
    }

    #[test]
    fn charts_with_the_same_margins_have_their_plots_in_line() {
        let chart = |most: f64| LineChart {
            title: "t".into(),
            x: Axis::new("time", "s").exactly(0.0, 1.0),
            y: Axis::new("", "").with_zero(),
            series: vec![Series { label: String::new(), points: vec![(0.0, most), (1.0, most)] }],
        };
        let (small, large) = (chart(3.0), chart(150_000.0));
        let frame = Frame::new(300.0, 120.0);
        let margins = large.margins(frame);
        assert!(margins.0 > small.margins(frame).0);
        let start = |chart: &LineChart| {
            chart.draw(frame.aligned(margins), 0).shapes.iter().find_map(|shape| match shape {
                Shape::Path { points, .. } => points.first().map(|point| point.0),
                _ => None,
            })
        };
        assert_eq!(start(&small), start(&large));
    }
}
