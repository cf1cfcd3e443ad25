//! Grids: a number for each pair of row and column, as a shade and in words.

use super::drawing::{Anchor, Drawing, Style};
use super::palette::{Dash, HEATS, Paint};

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

    /// Where the first column begins, and how wide each is.
    fn columns_from(&self) -> (f64, f64) {
        let names = self.rows.iter().map(|row| &row.name).chain([&self.y]);
        let left = names.map(|name| Style::LABEL.width(name)).fold(0.0, f64::max) + 12.0;
        (left, (WIDTH - left) / self.columns.len().max(1) as f64)
    }

    /// The drawing, with a line between neighbours of which one is marked and the other is not. `marked` has
    /// an entry for each cell, row after row.
    pub fn with_boundary(&self, marked: &[Vec<bool>]) -> Drawing {
        let mut drawing = self.drawing();
        let (left, width) = self.columns_from();
        // In the middle of the gap between cells.
        let corner =
            |row: usize, column: usize| (left + width * column as f64 - 1.0, TOP + ROW * row as f64 - 1.0);
        let is_marked = |row: usize, column: usize| marked.get(row).and_then(|row| row.get(column)).copied();
        for row in 0..self.rows.len() {
            for column in 0..self.columns.len() {
                let here = is_marked(row, column);
                let is_other = |other: Option<bool>| other.is_some() && other != here;
                if is_other(is_marked(row, column + 1)) {
                    let line = vec![corner(row, column + 1), corner(row + 1, column + 1)];
                    drawing.path(line, Paint::Bad, Dash::Solid);
                }
                if is_other(is_marked(row + 1, column)) {
                    let line = vec![corner(row + 1, column), corner(row + 1, column + 1)];
                    drawing.path(line, Paint::Bad, Dash::Solid);
                }
            }
        }
        drawing
    }

    /// The drawing.
    pub fn drawing(&self) -> Drawing {
        let style = Style::LABEL;
        let floor = TOP + ROW * self.rows.len() as f64;
        let mut drawing = Drawing::new(&self.title, WIDTH, floor + 24.0);
        drawing.text((0.0, 13.0), Anchor::Start, &self.title, Style::TITLE);
        let (left, width) = self.columns_from();
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
    fn a_boundary_runs_where_marked_cells_meet_others_and_nowhere_else() {
        let cell = || GridCell { text: "1".into(), shade: 0.0 };
        let row = |name: &str| GridRow { name: name.into(), cells: vec![cell(), cell(), cell()] };
        let chart = GridChart {
            title: "t".into(),
            x: "x".into(),
            y: "y".into(),
            columns: vec!["a".into(), "b".into(), "c".into()],
            rows: vec![row("one"), row("two")],
        };
        let lines = |marked: &[Vec<bool>]| {
            chart.with_boundary(marked).to_svg().len().saturating_sub(chart.to_svg().len())
        };
        let all = |value| vec![vec![value; 3]; 2];
        assert_eq!((lines(&all(true)), lines(&all(false))), (0, 0));
        let mut corner = all(false);
        corner[0][0] = true;
        let mut column = all(false);
        (column[0][1], column[1][1]) = (true, true);
        // A corner has two sides within the grid, a column four.
        let (two, four) = (lines(&corner), lines(&column));
        assert!(two > 0 && four.abs_diff(2 * two) <= 8, "{two} {four}");
    }

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
