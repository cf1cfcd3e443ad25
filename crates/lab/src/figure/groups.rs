//! What stands around groups of marks: the heading, the key, and what the groups are called below them.

use super::axis::{Axis, Range};
use super::drawing::Drawing;
use super::key::{Key, explain};
use super::names::ShortNames;
use super::plot::{Frame, Head, Plot};

/// A chart of groups but for its marks.
pub(super) struct Groups<'a> {
    pub(super) title: &'a str,
    /// What the groups differ in.
    pub(super) x: &'a str,
    pub(super) axis: &'a Axis,
    /// What the marks of a group are.
    pub(super) labels: &'a [String],
    pub(super) names: Vec<String>,
}

impl Groups<'_> {
    /// The drawing, with the marks that `fill` draws, which gives what the groups are called below them. The
    /// first label has colour number `colour`.
    pub(super) fn draw(
        &self,
        frame: Frame,
        y: Range,
        colour: usize,
        fill: impl FnOnce(&mut Plot) -> ShortNames,
    ) -> Drawing {
        let head = Head::new(self.title, &y, self.axis, frame);
        let key = Key::new(self.labels, frame.width);
        let top = head.height() + key.height() + 8.0;
        let mut plot = Plot::new(self.title, frame, top, 10.0, y);
        head.draw(&mut plot.drawing);
        key.draw(&mut plot.drawing, head.height() - 4.0, colour);
        let names = fill(&mut plot);
        if frame.foot {
            plot.caption(self.x);
        }
        let mut drawing = plot.drawing;
        key.explain(&mut drawing);
        explain(&mut drawing, &names, &self.names);
        drawing
    }
}
