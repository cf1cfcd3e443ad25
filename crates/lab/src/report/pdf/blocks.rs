//! The blocks of a document, laid out on sheets one below the other.

use super::super::document::{Block, Figure};
use super::sheets::{BOTTOM, LEFT, MEASURE, ROOM, SHEET, SMALL, Sheets, TOP, plain};
use super::table;
use crate::figure::text::wrap;
use crate::figure::{Anchor, Paint, Style, Weight};

const BODY: Style = Style { paint: Paint::Ink, size: 9.5, weight: Weight::Regular };
/// Between figures beside each other.
const GAP: f64 = 14.0;

impl Sheets {
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
        self.mark(title);
        let y = self.y();
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
            let y = self.y();
            for (number, (fact, name)) in row.iter().enumerate() {
                let x = LEFT + step * number as f64;
                let Some(page) = self.page() else { continue };
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
            let y = self.y();
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
