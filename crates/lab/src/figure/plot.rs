//! What all charts share: title, axes, the room between them.

use super::axis::{Axis, Range};
use super::drawing::{Anchor, Drawing, Style};
use super::palette::Paint;

/// The room a chart has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The least room left of the plot, so that charts below each other are in line.
    pub left: f64,
    /// The least room right of it.
    pub right: f64,
    /// Is the horizontal axis written out? Of charts that share one, only the lowest does.
    pub foot: bool,
}

impl Frame {
    /// Of this size, with the margins that its labels need.
    #[must_use]
    pub const fn new(width: f64, height: f64) -> Self {
        Frame { width, height, left: 0.0, right: 10.0, foot: true }
    }

    /// With margins of at least this width.
    #[must_use]
    pub const fn aligned(self, margins: (f64, f64)) -> Self {
        Frame { left: margins.0, right: margins.1, ..self }
    }

    /// Without names and numbers of the horizontal axis.
    #[must_use]
    pub const fn without_foot(self) -> Self {
        Frame { foot: false, ..self }
    }

    /// Where the plot ends below.
    pub(super) fn floor(&self) -> f64 {
        self.height - if self.foot { 34.0 } else { 8.0 }
    }
}

/// A title in one line, or in two where one has not room for it.
pub(super) fn headline(title: &str, room: f64) -> Vec<(String, Style)> {
    let style = Style::TITLE;
    let mut lines = style.wrap(title, room).into_iter();
    let first = lines.next().unwrap_or_default();
    let rest = lines.collect::<Vec<_>>().join(" ");
    let rest = (!rest.is_empty()).then(|| (style.fit(&rest, room), style));
    [(first, style)].into_iter().chain(rest).collect()
}

/// What stands above the plot: its title, and what the vertical axis is when the title does not say it.
pub(super) struct Head {
    lines: Vec<(String, Style)>,
}

impl Head {
    pub(super) fn new(title: &str, y: &Range, axis: &Axis, frame: Frame) -> Self {
        let mut lines = Vec::new();
        if title.is_empty() || axis.name.eq_ignore_ascii_case(title) {
            lines.extend(headline(&y.caption, frame.width));
        } else if axis.name.is_empty() {
            let caption =
                if y.caption.is_empty() { title.to_owned() } else { format!("{title} ({})", y.caption) };
            lines.extend(headline(&caption, frame.width));
        } else {
            lines.extend(headline(title, frame.width));
            lines.push((Style::LABEL.fit(&y.caption, frame.width), Style::LABEL));
        }
        Head { lines }
    }

    pub(super) fn height(&self) -> f64 {
        10.0 + 16.0 * self.lines.len() as f64
    }

    pub(super) fn draw(&self, drawing: &mut Drawing) {
        for (row, (line, style)) in self.lines.iter().enumerate() {
            drawing.text((0.0, 13.0 + 16.0 * row as f64), Anchor::Start, line, *style);
        }
    }
}

/// A plot in the making: the drawing, and where its corners are.
pub(super) struct Plot {
    pub(super) drawing: Drawing,
    pub(super) left: f64,
    pub(super) edge: f64,
    pub(super) top: f64,
    pub(super) floor: f64,
    pub(super) y: Range,
}

/// How wide the numbers of an axis are.
pub(super) fn label_room(range: &Range) -> f64 {
    let widest = range.marks.iter().map(|mark| Style::LABEL.width(&range.label(*mark))).fold(0.0, f64::max);
    widest + 8.0
}

/// About how many marks a vertical axis of that height has.
pub(super) fn wanted_marks(height: f64) -> f64 {
    (height / 27.0).max(2.6)
}

impl Plot {
    /// With its lines across and their numbers.
    pub(super) fn new(title: &str, frame: Frame, top: f64, right: f64, y: Range) -> Self {
        let mut plot = Plot {
            drawing: Drawing::new(title, frame.width, frame.height),
            left: frame.left.max(label_room(&y)),
            edge: frame.width - right.max(frame.right),
            top,
            floor: frame.floor(),
            y,
        };
        for mark in plot.y.marks.clone() {
            let at = plot.up(mark);
            let paint = if mark == 0.0 { Paint::Soft } else { Paint::Faint };
            plot.drawing.line((plot.left, at), (plot.edge, at), paint);
            let label = plot.y.label(mark);
            plot.drawing.text((plot.left - 6.0, at + 4.0), Anchor::End, &label, Style::LABEL);
        }
        plot
    }

    pub(super) fn up(&self, value: f64) -> f64 {
        self.floor - self.y.place(value) * (self.floor - self.top)
    }

    pub(super) fn across(&self, x: &Range, value: f64) -> f64 {
        self.left + x.place(value).clamp(0.0, 1.0) * (self.edge - self.left)
    }

    /// Numbers and name of the horizontal axis.
    pub(super) fn foot(&mut self, x: &Range) {
        for mark in x.marks.clone() {
            let at = self.across(x, mark);
            self.drawing.line((at, self.floor), (at, self.floor + 4.0), Paint::Soft);
            let label = x.label(mark);
            self.drawing.text((at, self.floor + 16.0), Anchor::Middle, &label, Style::LABEL);
        }
        self.caption(&x.caption.clone());
    }

    /// The name of the horizontal axis.
    pub(super) fn caption(&mut self, caption: &str) {
        let style = Style::LABEL;
        let caption = style.fit(caption, self.drawing.width);
        // In the middle of the plot, or as near to it as it has room.
        let half = style.width(&caption) / 2.0;
        let middle = ((self.left + self.edge) / 2.0).clamp(half, (self.drawing.width - half).max(half));
        self.drawing.text((middle, self.drawing.height - 4.0), Anchor::Middle, &caption, style);
    }
}
