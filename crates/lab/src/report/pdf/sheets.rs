//! From blocks to sheets of paper: where each line stands, and when a new sheet begins.

use super::super::document::{Block, Document, Figure};
use super::table;
#[cfg(test)]
use crate::figure::Shape;
use crate::figure::text::{width, wrap};
use crate::figure::{Anchor, Drawing, Paint, Place, Style, Weight};

/// A4, in points.
const SHEET: Place = (595.28, 841.89);
pub(super) const LEFT: f64 = 48.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 56.0;
/// Between the margins.
pub(super) const ROOM: f64 = SHEET.0 - 2.0 * LEFT;

const BODY: Style = Style { paint: Paint::Ink, size: 9.5, weight: Weight::Regular };
const SMALL: Style = Style { paint: Paint::Soft, size: 8.5, weight: Weight::Regular };
/// Between figures beside each other.
const GAP: f64 = 14.0;
/// Lines of text are kept this short, because longer ones are hard to read.
const MEASURE: f64 = 430.0;

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
fn plain(text: &str) -> String {
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

    /// Is there room for something of this height? If not, a new sheet begins; says whether one did.
    pub(super) fn make_room(&mut self, height: f64) -> bool {
        let is_full = self.y + height > SHEET.1 - BOTTOM && self.y > TOP;
        if is_full {
            self.begin();
        }
        is_full
    }

    fn text(&mut self, text: &str, style: Style, room: f64, after: f64) {
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

    /// Blocks one below the other.
    pub(super) fn blocks(&mut self, blocks: &[Block]) {
        for (place, block) in blocks.iter().enumerate() {
            let next = blocks.get(place + 1).map_or(0.0, opening);
            self.block(block, next);
        }
    }

    /// A block; `next` is how much of the following one must stand on the same sheet as a title.
    fn block(&mut self, block: &Block, next: f64) {
        match block {
            Block::Chapter { title, .. } => self.chapter(title, next),
            Block::Heading(title) => {
                self.down(6.0);
                self.make_room(24.0 + next);
                self.text(title, Style { weight: Weight::Bold, size: 10.5, ..BODY }, ROOM, 3.0);
            }
            Block::Paragraph(text) => self.text(text, BODY, MEASURE, 5.0),
            Block::Remark(text) => self.text(text, SMALL, MEASURE, 5.0),
            Block::Warning(text) => self.text(text, BODY.in_paint(Paint::Bad), MEASURE, 5.0),
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => table::draw(self, table),
            Block::Figure(figure) => self.figures(std::slice::from_ref(figure), 1),
            Block::Gallery(figures) => self.figures(figures, 2),
            Block::Code(text) => {
                for line in text.lines() {
                    // Indentation is part of the text.
                    let indent = line.len() - line.trim_start().len();
                    let line = format!("{}{}", "\u{a0}".repeat(indent), line.trim_start());
                    self.text(&line, Style { size: 8.0, ..BODY }, ROOM, 0.0);
                }
                self.down(6.0);
            }
            Block::Folded { title, blocks } => {
                self.block(&Block::Heading(title.clone()), blocks.first().map_or(0.0, opening));
                self.blocks(blocks);
            }
        }
    }

    fn chapter(&mut self, title: &str, next: f64) {
        self.down(16.0);
        self.make_room(40.0 + next.max(60.0));
        let (page, y) = (self.pages.len().saturating_sub(1), self.y);
        self.marks.push((plain(title), page, y));
        if let Some(page) = self.page() {
            page.line((LEFT, y), (LEFT + ROOM, y), Paint::Faint);
        }
        self.down(7.0);
        self.text(title, Style { weight: Weight::Bold, size: 13.0, ..BODY }, ROOM, 4.0);
    }

    fn facts(&mut self, facts: &[(String, String)]) {
        let value = Style { weight: Weight::Bold, size: 13.0, ..BODY };
        let columns = facts.len().clamp(4, 5);
        for row in facts.chunks(columns) {
            let step = ROOM / columns as f64;
            let lines = |name: &str| wrap(&plain(name), 7.5, Weight::Regular, step - 22.0);
            let most = row.iter().map(|(_, name)| lines(name).len()).max().unwrap_or(1);
            let height = 30.0 + 10.0 * most as f64;
            self.make_room(height + 8.0);
            let y = self.y;
            for (number, (fact, name)) in row.iter().enumerate() {
                let x = LEFT + step * number as f64;
                let Some(page) = self.pages.last_mut() else { continue };
                let hint = "";
                page.rectangle((x, y), (step - 8.0, height), Paint::Card, hint);
                page.text((x + 8.0, y + 18.0), Anchor::Start, fact, value);
                for (line, words) in lines(name).iter().enumerate() {
                    let at = (x + 8.0, y + 31.0 + 10.0 * line as f64);
                    page.text(at, Anchor::Start, words, Style { size: 7.5, ..SMALL });
                }
            }
            self.down(height + 8.0);
        }
        self.down(2.0);
    }

    /// Figures in columns, each row as high as its highest figure.
    fn figures(&mut self, figures: &[Figure], columns: usize) {
        let room = column(columns);
        for row in figures.chunks(columns) {
            let height = row_height(row, columns);
            // A caption stays with its figure, at least with its first lines.
            let caption = row.iter().any(|figure| !figure.caption.is_empty());
            self.make_room(height + if caption { 44.0 } else { 0.0 });
            let y = self.y;
            for (place, figure) in row.iter().enumerate() {
                let x = LEFT + (room + GAP) * place as f64;
                if let Some(page) = self.page() {
                    page.put(&figure.drawing, (x, y), scale(figure, columns));
                }
            }
            self.down(height + 6.0);
            for figure in row.iter().filter(|figure| !figure.caption.is_empty()) {
                self.text(&figure.caption, SMALL, MEASURE, 2.0);
            }
            self.down(8.0);
        }
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

/// The width of one of so many columns.
fn column(columns: usize) -> f64 {
    (ROOM - GAP * (columns - 1) as f64) / columns as f64
}

/// How much smaller a figure is on paper.
fn scale(figure: &Figure, columns: usize) -> f64 {
    let (width, height) = figure.drawing.size();
    let most = SHEET.1 - TOP - BOTTOM - 90.0;
    (column(columns) / width.max(1.0)).min(most / height.max(1.0)).min(1.0)
}

fn row_height(row: &[Figure], columns: usize) -> f64 {
    row.iter().map(|figure| figure.drawing.size().1 * scale(figure, columns)).fold(0.0, f64::max)
}

/// How high the first part of a block is that is not broken.
fn opening(block: &Block) -> f64 {
    match block {
        Block::Gallery(figures) => {
            row_height(figures.get(..figures.len().min(2)).unwrap_or_default(), 2) + 8.0
        }
        Block::Figure(figure) => row_height(std::slice::from_ref(figure), 1) + 50.0,
        Block::Heading(_) | Block::Folded { .. } => 200.0,
        Block::Chapter { .. } => 0.0,
        _ => 45.0,
    }
}

/// The extreme places of what is on a sheet.
#[cfg(test)]
pub(super) fn places(page: &Drawing) -> Vec<Place> {
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
pub(super) fn extent(at: Place, anchor: Anchor, text: &str, style: Style) -> (f64, f64) {
    let wide = width(text, style.size, style.weight);
    let start = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - wide / 2.0,
        Anchor::End => at.0 - wide,
    };
    (start, start + wide)
}
