//! Sheets of paper: where each line stands, and when a new sheet begins.

use std::collections::BTreeSet;

use super::super::document::Document;
use crate::figure::font::is_missing;
use crate::figure::text::{width, wrap};
use crate::figure::{Anchor, Drawing, Paint, Point, Shape, Style, Weight};

/// A4, in points.
pub(super) const SHEET: Point = (595.28, 841.89);
pub(super) const LEFT: f64 = 48.0;
pub(super) const TOP: f64 = 50.0;
pub(super) const BOTTOM: f64 = 56.0;
/// Between the margins.
pub(super) const ROOM: f64 = SHEET.0 - 2.0 * LEFT;

pub(super) const SMALL: Style = Style { paint: Paint::Soft, size: 8.5, weight: Weight::Regular };
/// Lines of text are kept this short, because longer ones are hard to read.
pub(super) const MEASURE: f64 = 430.0;

/// A heading, for the list of contents: its title, its page and how far down.
pub(super) type Mark = (String, usize, f64);

/// Sheets in the making.
pub(super) struct Sheets {
    title: String,
    pages: Vec<Drawing>,
    marks: Vec<Mark>,
    /// Where the next thing goes.
    y: f64,
}

/// Words between backticks are code on the page, and plain on paper.
pub(super) fn plain(text: &str) -> String {
    text.replace('`', "")
}

impl Sheets {
    pub(super) fn new(document: &Document) -> Self {
        let mut sheets =
            Sheets { title: plain(&document.title), pages: Vec::new(), marks: Vec::new(), y: TOP };
        sheets.begin();
        sheets.text(&document.place, SMALL, MEASURE, 0.0);
        let title = Style { paint: Paint::Ink, size: 20.0, weight: Weight::Bold };
        sheets.text(&document.title, title, ROOM, 8.0);
        sheets
    }

    fn begin(&mut self) {
        self.pages.push(Drawing::new(&self.title, SHEET.0, SHEET.1));
        self.y = TOP;
    }

    pub(super) fn page(&mut self) -> Option<&mut Drawing> {
        self.pages.last_mut()
    }

    pub(super) fn y(&self) -> f64 {
        self.y
    }

    pub(super) fn down(&mut self, by: f64) {
        self.y += by;
    }

    /// A heading for the list of contents stands here.
    pub(super) fn mark(&mut self, title: &str) {
        self.marks.push((plain(title), self.pages.len().saturating_sub(1), self.y));
    }

    /// Is there room for something of this height? If not, a new sheet begins; says whether one did.
    pub(super) fn make_room(&mut self, height: f64) -> bool {
        let is_full = self.y + height > SHEET.1 - BOTTOM && self.y > TOP;
        if is_full {
            self.begin();
        }
        is_full
    }

    /// A text in lines of at most `room`, with `after` below it.
    pub(super) fn text(&mut self, text: &str, style: Style, room: f64, after: f64) {
        let leading = style.size * 1.4;
        for line in wrap(&plain(text), style.size, style.weight, room) {
            self.make_room(leading);
            let at = (LEFT, self.y + style.size);
            if let Some(page) = self.page() {
                page.text(at, Anchor::Start, &line, style);
            }
            self.down(leading);
        }
        self.down(after);
    }

    /// The letters on the sheets that the font lacks.
    pub(super) fn missing(&self) -> BTreeSet<char> {
        missing(&self.pages)
    }

    /// All sheets, with their numbers.
    pub(super) fn finish(mut self) -> (Vec<Drawing>, Vec<Mark>) {
        let count = self.pages.len();
        let style = Style { size: 7.5, ..SMALL };
        let y = SHEET.1 - 30.0;
        for (number, page) in self.pages.iter_mut().enumerate() {
            let title = crate::figure::text::fit(&self.title, 7.5, Weight::Regular, ROOM - 80.0);
            page.text((LEFT, y), Anchor::Start, &title, style);
            page.text((LEFT + ROOM, y), Anchor::End, &format!("{} of {count}", number + 1), style);
        }
        (self.pages, self.marks)
    }
}

/// The letters of drawings that the font lacks.
pub(super) fn missing(drawings: &[Drawing]) -> BTreeSet<char> {
    let texts = drawings.iter().flat_map(|drawing| &drawing.shapes).filter_map(|shape| match shape {
        Shape::Text { text, style, .. } => Some((text, style.weight)),
        _ => None,
    });
    let lacked = |(text, weight): (&String, Weight)| {
        text.chars().filter(move |letter| is_missing(*letter, weight)).collect::<Vec<_>>()
    };
    texts.flat_map(lacked).collect()
}

/// The extreme places of what is on a sheet.
#[cfg(test)]
pub(super) fn places(page: &Drawing) -> Vec<Point> {
    let mut list = Vec::new();
    for shape in &page.shapes {
        match shape {
            Shape::Line { from, to, .. } => list.extend([*from, *to]),
            Shape::Path { points, .. } | Shape::Area { points, .. } => list.extend(points),
            Shape::Rectangle { at, size, .. } | Shape::Border { at, size, .. } => {
                list.extend([*at, (at.0 + size.0, at.1 + size.1)]);
            }
            Shape::Text { at, anchor, text, style } => {
                let (start, end) = extent(*at, *anchor, text, *style);
                list.extend([(start, at.1), (end, at.1)]);
            }
        }
    }
    list
}

/// From where to where a text goes.
pub(super) fn extent(at: Point, anchor: Anchor, text: &str, style: Style) -> (f64, f64) {
    let wide = width(text, style.size, style.weight);
    let start = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - wide / 2.0,
        Anchor::End => at.0 - wide,
    };
    (start, start + wide)
}
