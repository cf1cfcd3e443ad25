//! A document as a PDF: laid out on sheets, which are drawings, and those written down. Figures stay vectors,
//! words can be searched and copied.

mod blocks;
mod sheets;
mod table;
mod write;

use std::collections::BTreeSet;
use std::iter;

use super::document::{Block, Document};
use crate::figure::{Anchor, Drawing};
use sheets::Sheets;

/// Around a figure.
const EDGE: f64 = 8.0;
/// A line of a note below one.
const LINE: f64 = 12.0;

/// The whole file. What its font lacks is told before everything else.
pub(super) fn render(document: &Document) -> Vec<u8> {
    let mut sheets = laid_out(document, &document.blocks);
    if let Some(note) = missing_letters(&sheets.missing(), "report.html has them") {
        let noted: Vec<Block> =
            iter::once(Block::Remark(note)).chain(document.blocks.iter().cloned()).collect();
        sheets = laid_out(document, &noted);
    }
    let (pages, marks) = sheets.finish();
    write::write(&document.title, &pages, &marks)
}

fn laid_out(document: &Document, blocks: &[Block]) -> Sheets {
    let mut sheets = Sheets::new(document);
    sheets.blocks(blocks);
    sheets
}

/// That the font lacks these letters, by their numbers, for they cannot be drawn here either; nothing where
/// it lacks none.
fn missing_letters(missing: &BTreeSet<char>, others: &str) -> Option<String> {
    let all: Vec<String> = missing.iter().map(|letter| format!("U+{:04X}", u32::from(*letter))).collect();
    let told =
        || format!("Boxes stand for letters that the font of this file lacks; {others}: {}.", all.join(", "));
    (!all.is_empty()).then(told)
}

/// One figure as a page of its own size, for papers.
pub(crate) fn figure(drawing: &Drawing) -> Vec<u8> {
    pages(&drawing.title, std::slice::from_ref(drawing))
}

/// Drawings as pages of their own sizes.
pub(super) fn pages(title: &str, drawings: &[Drawing]) -> Vec<u8> {
    let page = |drawing: &Drawing| {
        let mut page = Drawing::new(&drawing.title, drawing.width + 2.0 * EDGE, drawing.height + 2.0 * EDGE);
        page.put(drawing, (EDGE, EDGE), 1.0);
        let note = missing_letters(&sheets::missing(std::slice::from_ref(drawing)), "the SVG has them");
        for line in note.iter().flat_map(|note| sheets::SMALL.wrap(note, drawing.width)) {
            page.height += LINE;
            page.text((EDGE, page.height - EDGE), Anchor::Start, &line, sheets::SMALL);
        }
        page
    };
    write::write(title, &drawings.iter().map(page).collect::<Vec<_>>(), &[])
}

#[cfg(test)]
mod tests {
    use super::super::document::{Figure, Table};
    use super::*;
    use crate::figure::{Axis, LineChart, Series};

    #[test]
    fn letters_that_the_font_lacks_are_found_and_those_that_it_has_are_not() {
        let blocks = vec![Block::Paragraph("Grüße, → and ρ: 日本 or 日".into())];
        let document = Document { title: "t".into(), place: String::new(), blocks };
        let mut sheets = Sheets::new(&document);
        sheets.blocks(&document.blocks);
        assert_eq!(sheets.missing().into_iter().collect::<String>(), "日本");
        let (without, with) = (Document { blocks: Vec::new(), ..document.clone() }, render(&document));
        assert!(with.len() > render(&without).len());
        let mut drawing = Drawing::new("t", 200.0, 40.0);
        let plain = figure(&drawing).len();
        drawing.text((0.0, 20.0), Anchor::Start, "日", sheets::SMALL);
        assert!(figure(&drawing).len() > plain + 500, "a figure of its own says it, too");
    }

    #[test]
    fn every_block_is_laid_out_and_nothing_leaves_the_sheet() {
        let mut table = Table::new(&["node", "#mean"]);
        for row in 0..200 {
            table.rows.push(vec![format!("n{row}").into(), "1.5".into()]);
        }
        let chart = LineChart {
            title: "t".into(),
            x: Axis::new("time", "s"),
            y: Axis::new("", "%"),
            series: vec![Series { label: "a".into(), points: vec![(0.0, 1.0), (1.0, 2.0)] }],
        };
        let figure = Figure {
            name: "f".into(),
            drawing: chart.draw(crate::figure::Frame::new(1400.0, 2000.0), 0),
            caption: "word ".repeat(300),
            data: None,
        };
        let document = Document {
            title: "A title".into(),
            place: "here".into(),
            blocks: vec![
                Block::Chapter { title: "First".into(), anchor: "first".into() },
                Block::Paragraph("some `code` and many words ".repeat(100)),
                Block::Table(table),
                Block::Figure(figure.clone()),
                Block::Gallery(vec![figure.clone(); 5]),
                Block::Code("x = 1\n".repeat(120)),
            ],
        };
        let mut sheets = Sheets::new(&document);
        sheets.blocks(&document.blocks);
        let (pages, marks) = sheets.finish();
        assert!(pages.len() > 6, "{} pages", pages.len());
        assert_eq!(marks.len(), 1);
        for page in &pages {
            let (width, height) = page.size();
            for place in sheets::places(page) {
                let inside = (0.0..=width).contains(&place.0) && (0.0..=height).contains(&place.1);
                assert!(inside, "{place:?} is not on the sheet");
            }
        }
        let alone = super::figure(&figure.drawing);
        assert!(alone.starts_with(b"%PDF-1."), "a figure is a file of its own, too");
        let file = render(&document);
        assert!(file.starts_with(b"%PDF-1.") && file.len() > 10_000);
    }
}
