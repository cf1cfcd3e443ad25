//! Spans: when each of many things began and ended, one below the other.

use super::axis::Axis;
use super::drawing::{Anchor, Drawing, Style};
use super::palette::Paint;
use super::plot::{Frame, headline};

/// One thing that lasted. Neighbours of one label share a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its number or name, written at the left where there is room.
    pub label: String,
    /// When it began.
    pub start: f64,
    /// When it ended.
    pub stop: f64,
    /// Did it end well?
    pub good: bool,
    /// What is said of it when someone points at it.
    pub hint: String,
}

/// Spans over a common time, the first at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanChart {
    /// What it shows.
    pub title: String,
    /// The time.
    pub x: Axis,
    /// What the things are called together, such as `files`.
    pub y: String,
    /// The things.
    pub spans: Vec<Span>,
}

impl SpanChart {
    /// A height at which each span can be seen: more for more, up to a limit.
    #[must_use]
    pub fn height(&self) -> f64 {
        // Of a few rows each has its label, below a title of two lines as well.
        let (count, few) = (self.rows().len(), 12);
        70.0 + (count as f64 * if count <= few { 18.0 } else { 11.0 }).clamp(22.0, 340.0)
    }

    /// Spans by row: those that follow each other and have one label.
    fn rows(&self) -> Vec<&[Span]> {
        self.spans.chunk_by(|one, next| one.label == next.label).collect()
    }

    /// The room that labels need to the left and right.
    #[must_use]
    pub fn margins(&self) -> (f64, f64) {
        let widest = self.spans.iter().map(|span| Style::LABEL.width(&span.label)).fold(0.0, f64::max);
        (widest + 10.0, 10.0)
    }

    /// The drawing.
    #[must_use]
    pub fn draw(&self, frame: Frame) -> Drawing {
        let mut drawing = Drawing::new(&self.title, frame.width, frame.height);
        let title = headline(&self.title, frame.width);
        for (row, (line, style)) in title.iter().enumerate() {
            drawing.text((0.0, 13.0 + 16.0 * row as f64), Anchor::Start, line, *style);
        }
        let (top, floor) = (10.0 + 16.0 * title.len() as f64, frame.floor());
        let (left, edge) = (frame.left.max(self.margins().0), frame.width - frame.right);
        let ends = self.spans.iter().flat_map(|span| [span.start, span.stop]);
        let x = self.x.fit(ends, (edge - left) / 62.0);
        let across = |value: f64| left + x.place(value).clamp(0.0, 1.0) * (edge - left);
        for mark in &x.marks {
            drawing.line((across(*mark), top), (across(*mark), floor), Paint::Faint);
            if frame.foot {
                let at = (across(*mark), floor + 16.0);
                drawing.text(at, Anchor::Middle, &x.label(*mark), Style::LABEL);
            }
        }
        drawing.line((left, floor), (edge, floor), Paint::Soft);
        if frame.foot {
            let at = ((left + edge) / 2.0, frame.height - 4.0);
            drawing.text(at, Anchor::Middle, &x.caption, Style::LABEL);
        }
        let rows = self.rows();
        let step = (floor - top) / rows.len().max(1) as f64;
        let space = if step >= 4.0 { step * 0.25 } else { 0.0 };
        // As many labels as do not lie on each other.
        let round = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter();
        let every = round.into_iter().find(|every| *every as f64 * step >= 13.0).unwrap_or(5000);
        for (row, spans) in rows.iter().enumerate() {
            let at = top + step * row as f64;
            for span in *spans {
                let paint = if span.good { Paint::Series(0) } else { Paint::Bad };
                let size = ((across(span.stop) - across(span.start)).max(1.0), (step - space).max(0.5));
                drawing.rectangle((across(span.start), at), size, paint, &span.hint);
            }
            if let Some(span) = spans.first().filter(|_| row % every == 0) {
                let middle = (left - 6.0, at + (step - space) / 2.0 + 4.0);
                drawing.text(middle, Anchor::End, &span.label, Style::LABEL);
            }
        }
        drawing
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;

    #[test]
    fn spans_of_one_label_share_a_row() {
        let span = |label: &str, start: f64| Span {
            label: label.to_owned(),
            start,
            stop: start + 1.0,
            good: true,
            hint: String::new(),
        };
        let chart = SpanChart {
            title: "Busy".into(),
            x: Axis::new("time", "s").exactly(0.0, 9.0),
            y: "node".into(),
            spans: vec![span("n1", 0.0), span("n1", 3.0), span("n2", 1.0)],
        };
        let drawing = chart.draw(Frame::new(700.0, chart.height()));
        let tops: Vec<f64> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Rectangle { at, .. } => Some(at.1),
                _ => None,
            })
            .collect();
        assert!(tops.len() == 3 && tops[0] == tops[1] && tops[1] < tops[2], "{tops:?}");
        let is_label = |shape: &&Shape| matches!(shape, Shape::Text { anchor: Anchor::End, .. });
        assert_eq!(drawing.shapes.iter().filter(is_label).count(), 2);
    }

    #[test]
    fn five_hundred_spans_fit_and_their_labels_do_not_lie_on_each_other() {
        let span = |number: u32| Span {
            label: number.to_string(),
            start: f64::from(number) / 10.0,
            stop: f64::from(number) / 10.0 + 30.0,
            good: number != 7,
            hint: String::new(),
        };
        let chart = SpanChart {
            title: "Downloads".into(),
            x: Axis::new("time", "s").exactly(0.0, 80.0),
            y: "files".into(),
            spans: (0..500).map(span).collect(),
        };
        let height = chart.height();
        assert!(height < 450.0);
        let drawing = chart.draw(Frame::new(700.0, height));
        let bars = drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Rectangle { .. })).count();
        let bad = |shape: &&Shape| matches!(shape, Shape::Rectangle { paint: Paint::Bad, .. });
        assert_eq!((bars, drawing.shapes.iter().filter(bad).count()), (500, 1));
        let labels: Vec<f64> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text { at, anchor: Anchor::End, .. } => Some(at.1),
                _ => None,
            })
            .collect();
        assert!(labels.len() > 10 && labels.windows(2).all(|pair| pair[1] - pair[0] > 12.0));
    }
}
