//! Grids: a number for each pair of row and column, as a shade and in words.

use super::drawing::{Anchor, Drawing, Style};
use super::palette::{HEATS, Paint};

const WIDTH: f64 = super::STANDARD.width;
const TOP: f64 = 50.0;
const ROW: f64 = 24.0;

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct GridCell {
    /// Written in it.
    pub text: String,
    /// From 0.0, light, to 1.0, dark; not a number for a cell without an answer.
    pub shade: f64,
}

/// A row of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// Written to the left of it.
    pub name: String,
    /// As many as the chart has columns.
    pub cells: Vec<GridCell>,
}

/// Shaded cells with their numbers in them: for what would be too many lines or bars to tell apart. The
/// shades are steps of one colour that differ in lightness, and say nothing that the words do not.
#[derive(Clone, Debug, PartialEq)]
pub struct GridChart {
    /// What it shows.
    pub title: String,
    /// What the columns are, with their unit, and what the words and shades mean.
    pub x: String,
    /// What the rows are.
    pub y: String,
    /// Written above the columns.
    pub columns: Vec<String>,
    /// From the top.
    pub rows: Vec<GridRow>,
}

impl GridChart {
    /// The drawing as a file of its own.
    pub fn to_svg(&self) -> String {
        self.drawing().to_svg()
    }

    /// The drawing.
    pub fn drawing(&self) -> Drawing {
        let style = Style::LABEL;
        let floor = TOP + ROW * self.rows.len() as f64;
        let mut drawing = Drawing::new(&self.title, WIDTH, floor + 24.0);
        drawing.text((0.0, 13.0), Anchor::Start, &self.title, Style::TITLE);
        let names = self.rows.iter().map(|row| &row.name).chain([&self.y]);
        let left = names.map(|name| style.width(name)).fold(0.0, f64::max) + 12.0;
        let width = (WIDTH - left) / self.columns.len().max(1) as f64;
        let place = |column: usize| left + width * column as f64;
        drawing.text((0.0, TOP - 8.0), Anchor::Start, &self.y, style);
        for (column, name) in self.columns.iter().enumerate() {
            drawing.text((place(column) + width / 2.0, TOP - 8.0), Anchor::Middle, name, style);
        }
        for (number, row) in self.rows.iter().enumerate() {
            let top = TOP + ROW * number as f64;
            drawing.text((0.0, top + 15.0), Anchor::Start, &row.name, style);
            for (column, cell) in row.cells.iter().enumerate() {
                let name = self.columns.get(column).map_or("", String::as_str);
                let hint = format!("{}, {name}: {}", row.name, cell.text);
                let (fill, ink) = paints(cell.shade);
                let left = place(column);
                drawing.rectangle((left, top), (width - 2.0, ROW - 2.0), fill, &hint);
                let middle = (left + width / 2.0 - 1.0, top + 15.0);
                drawing.text(middle, Anchor::Middle, &cell.text, style.in_paint(ink));
            }
        }
        drawing.text(((left + WIDTH) / 2.0, floor + 16.0), Anchor::Middle, &self.x, style);
        drawing
    }
}

/// What a cell and the words in it are drawn in.
fn paints(shade: f64) -> (Paint, Paint) {
    if shade.is_nan() {
        return (Paint::NoHeat, Paint::OnLight);
    }
    let step = (shade.clamp(0.0, 1.0) * (HEATS - 1) as f64).round() as usize;
    (Paint::Heat(step), Paint::on_heat(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_drawn_with_its_words_and_darker_means_more() {
        let cell = |text: &str, shade| GridCell { text: text.into(), shade };
        let row = |name: &str, cells| GridRow { name: name.into(), cells };
        let chart = GridChart {
            title: "which clock?".into(),
            x: "link".into(),
            y: "controller".into(),
            columns: vec!["10 Mbps".into(), "1 Gbps".into()],
            rows: vec![
                row("first", vec![cell("1 ms", 0.0), cell("2 ms", 0.5)]),
                row("second", vec![cell("3 ms", 1.0), cell("–", f64::NAN)]),
            ],
        };
        let svg = chart.to_svg();
        assert_eq!(svg.matches("<rect").count(), 5, "four cells and the page");
        for text in ["which clock?", ">10 Mbps<", ">second<", ">2 ms<", ">–<", "second, 10 Mbps: 3 ms"] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(paints(0.0).0, Paint::Heat(0));
        assert_eq!(paints(1.0).0, Paint::Heat(HEATS - 1));
    }
}
