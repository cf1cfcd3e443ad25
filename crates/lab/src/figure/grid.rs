//! Grids: a number for each pair of row and column, as a shade and in words.

use super::WIDTH;
use super::svg::{Anchor, Svg};

const TOP: f64 = 66.0;
const ROW: f64 = 24.0;
const LETTER: f64 = 6.6;
const RIGHT: f64 = 16.0;

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

/// Shaded cells with their numbers in them: for what would be too many lines or bars to tell apart. The shades are steps of one
/// colour that differ in lightness, and say nothing that the words do not.
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
    /// The drawing.
    pub fn to_svg(&self) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + 44.0;
        let mut svg = Svg::sized(&self.title, WIDTH, height);
        svg.text("text", (12.0, 22.0), Anchor::Start, &self.title);
        let longest = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let left = (24.0 + LETTER * longest as f64).max(24.0 + LETTER * self.y.chars().count() as f64);
        let width = (WIDTH - RIGHT - left) / self.columns.len().max(1) as f64;
        let place = |column: usize| left + width * column as f64;
        svg.text("text", (12.0, TOP - 8.0), Anchor::Start, &self.y);
        for (column, name) in self.columns.iter().enumerate() {
            svg.text("text", (place(column) + width / 2.0, TOP - 8.0), Anchor::Middle, name);
        }
        for (number, row) in self.rows.iter().enumerate() {
            let top = TOP + ROW * number as f64;
            svg.text("text", (12.0, top + 16.0), Anchor::Start, &row.name);
            for (column, cell) in row.cells.iter().enumerate() {
                let name = self.columns.get(column).map_or("", String::as_str);
                let title = format!("{}, {name}: {}", row.name, cell.text);
                let (fill, ink) = colours(cell.shade);
                let corner = (place(column), top);
                svg.cell(corner, (width - 2.0, ROW - 2.0), &fill, &title);
                svg.inked_text((corner.0 + width / 2.0 - 1.0, top + 15.0), ink, &cell.text);
            }
        }
        svg.text("text", ((left + WIDTH - RIGHT) / 2.0, height - 14.0), Anchor::Middle, &self.x);
        svg.finish()
    }
}

/// Colour of a cell, and of what is written in it.
fn colours(shade: f64) -> (String, &'static str) {
    if shade.is_nan() {
        return ("#e4e4e4".into(), "#222");
    }
    // Between a very light and a very dark blue, by way of a middle one: lightness falls evenly.
    const STEPS: [[f64; 3]; 3] = [[238.0, 245.0, 252.0], [86.0, 155.0, 205.0], [10.0, 48.0, 96.0]];
    let at = shade.clamp(0.0, 1.0) * 2.0;
    let (from, to) = if at < 1.0 { (STEPS[0], STEPS[1]) } else { (STEPS[1], STEPS[2]) };
    let part = at - at.floor().min(1.0);
    let mixed = |channel: usize| (from[channel] + (to[channel] - from[channel]) * part).round() as u8;
    let fill = format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
    (fill, if shade < 0.62 { "#111" } else { "#fff" })
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
        let lightness = |shade: f64| {
            let fill = colours(shade).0;
            let channel = |at: usize| f64::from(u8::from_str_radix(&fill[at..at + 2], 16).unwrap());
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let steps: Vec<f64> = (0..=10).map(|step| lightness(f64::from(step) / 10.0)).collect();
        assert!(steps.is_sorted_by(|a, b| a > b), "{steps:?}");
    }
}
