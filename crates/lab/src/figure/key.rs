//! The key above a chart: what each colour is.

use super::drawing::{Anchor, Drawing, Style};
use super::names::ShortNames;
use super::palette::Paint;

const ROW: f64 = 15.0;
/// What a square in the colour of a label takes before it.
const SQUARE: f64 = 15.0;

/// Labels beside each other, in as many rows as they take. A single one needs no key.
pub(super) struct Key<'l> {
    labels: &'l [String],
    short: ShortNames,
    rows: Vec<Vec<(usize, f64)>>,
}

impl<'l> Key<'l> {
    pub(super) fn new(labels: &'l [String], room: f64) -> Self {
        let rows = if labels.len() > 1 { rows(labels, room) } else { Vec::new() };
        let short = Style::LABEL.fit_all(labels, room - SQUARE);
        Key { labels, short, rows }
    }

    pub(super) fn height(&self) -> f64 {
        ROW * self.rows.len() as f64
    }

    /// Draws it below `top`; the first label has colour number `colour`.
    pub(super) fn draw(&self, drawing: &mut Drawing, top: f64, colour: usize) {
        for (row, entries) in self.rows.iter().enumerate() {
            let at = top + ROW * row as f64;
            for (number, left) in entries {
                let label = self.short.shown.get(*number).map_or("", String::as_str);
                drawing.rectangle((*left, at), (10.0, 10.0), Paint::Series(colour + number), "");
                drawing.text((left + SQUARE, at + 9.0), Anchor::Start, label, Style::LABEL);
            }
        }
    }

    /// Says below a drawing that is done what its labels stand for, where they are numbered.
    pub(super) fn explain(&self, drawing: &mut Drawing) {
        if !self.rows.is_empty() {
            explain(drawing, &self.short, self.labels);
        }
    }
}

/// Says below a drawing that is done which name each number stands for, where names are numbered.
pub(crate) fn explain(drawing: &mut Drawing, short: &ShortNames, names: &[String]) {
    const BETWEEN: f64 = 14.0;
    if !short.are_numbered {
        return;
    }
    let style = Style::LABEL;
    let room = drawing.width;
    let mut at = (0.0, drawing.height + 4.0);
    let numbered = names.iter().enumerate().map(|(place, name)| format!("({}) {name}", place + 1));
    for line in numbered.flat_map(|text| style.wrap(&text, room)) {
        let wide = style.width(&line);
        let is_first = at.0 == 0.0;
        if is_first || at.0 + wide > room {
            at = (0.0, at.1 + if is_first { 0.0 } else { ROW });
        }
        drawing.text((at.0, at.1 + ROW - 5.0), Anchor::Start, &line, style);
        at.0 += wide + BETWEEN;
    }
    drawing.height = at.1 + ROW;
}

/// Rows of what fits beside each other: the number of each label, and where it begins.
fn rows(labels: &[String], room: f64) -> Vec<Vec<(usize, f64)>> {
    let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut at = 0.0;
    for (number, label) in labels.iter().enumerate() {
        let wide = SQUARE + Style::LABEL.width(label).min(room - SQUARE) + 14.0;
        if rows.is_empty() || at + wide - 14.0 > room {
            rows.push(Vec::new());
            at = 0.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((number, at));
        }
        at += wide;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_key_goes_on_in_the_next_row() {
        let labels: Vec<String> = (0..8).map(|n| format!("n4 at 25 %, Interests {n}0000")).collect();
        let rows = rows(&labels, 340.0);
        assert!(rows.len() >= 4 && rows.iter().map(Vec::len).sum::<usize>() == 8);
    }
}
