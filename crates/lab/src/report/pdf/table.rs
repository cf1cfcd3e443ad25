//! Tables on paper: columns as wide as they need to be, titles again on every sheet.

use super::super::document::{Cell, Table, Tone};
use super::sheets::{LEFT, ROOM, Sheets};
use crate::figure::text::{parts, width, wrap};
use crate::figure::{Anchor, Paint, Style, Weight};

const SIZE: f64 = 8.0;
const MIN_SIZE: f64 = 5.5;
const GAP: f64 = 10.0;
/// Words that are longer may be broken, where one may be.
const LONG_WORD: f64 = 70.0;
/// A name that nothing may be broken in is torn only beyond this.
const LONG_PART: f64 = 160.0;

/// How wide a text is on one line, and how wide what may not be broken of it is.
fn extent(text: &str, size: f64, weight: Weight) -> (f64, f64) {
    let plain = text.replace('`', "");
    let wide = |text: &str| width(text, size, weight);
    let unbroken = |word: &str| match wide(word) {
        whole if whole <= LONG_WORD => whole,
        _ => parts(word).map(wide).fold(0.0, f64::max).min(LONG_PART),
    };
    let longest = plain.split([' ', '\n']).map(unbroken).fold(0.0, f64::max);
    (plain.split('\n').map(wide).fold(0.0, f64::max), longest)
}

/// Columns that may together be no wider than there is room: those that are wider than the others are cut
/// first, so that a word in a narrow column is whole.
fn cut_to(widths: &[f64], room: f64) -> Vec<f64> {
    let mut sorted = widths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut left, mut most) = (room, f64::INFINITY);
    for (place, width) in sorted.iter().enumerate() {
        let part = left / (sorted.len() - place) as f64;
        if *width > part {
            most = part;
            break;
        }
        left -= width;
    }
    widths.iter().map(|width| width.min(most)).collect()
}

/// How the words of a cell look.
fn look(cell: &Cell) -> (Paint, Weight) {
    match cell.tone {
        Tone::Plain => (Paint::Ink, Weight::Regular),
        Tone::Soft => (Paint::Soft, Weight::Regular),
        Tone::Good => (Paint::Good, Weight::Bold),
        Tone::Bad => (Paint::Bad, Weight::Bold),
    }
}

/// The size of the words and the width of each column.
fn columns(table: &Table) -> (f64, Vec<f64>) {
    let mut size = SIZE;
    loop {
        let mut wanted = Vec::new();
        for (place, (title, number)) in table.columns.iter().enumerate() {
            let (title_most, title_least) = extent(title, size, Weight::Regular);
            let cells = table.rows.iter().filter_map(|row| row.get(place));
            let (mut most, mut least) = (if *number { title_least } else { title_most }, title_least);
            for cell in cells {
                let (wide, word) = extent(&cell.text, size, look(cell).1);
                let (wide_more, word_more) = extent(&cell.more, size, Weight::Regular);
                most = most.max(wide).max(wide_more);
                // A number stands on one line, what is said of it need not.
                least = least.max(if *number { wide } else { word }).max(word_more);
            }
            wanted.push((most, least));
        }
        let room = ROOM - GAP * table.columns.len().saturating_sub(1) as f64;
        let most: f64 = wanted.iter().map(|(most, _)| most).sum();
        let least: f64 = wanted.iter().map(|(_, least)| least).sum();
        if most <= room {
            return (size, wanted.into_iter().map(|(most, _)| most).collect());
        }
        if least <= room || size <= MIN_SIZE {
            if least > room {
                let widths: Vec<f64> = wanted.into_iter().map(|(_, least)| least).collect();
                return (size, cut_to(&widths, room));
            }
            // What is left beyond the least is shared by how much more each would like.
            let part = ((room - least) / (most - least).max(1e-9)).clamp(0.0, 1.0);
            return (size, wanted.into_iter().map(|(most, least)| least + (most - least) * part).collect());
        }
        size -= 0.5;
    }
}

/// The lines of a cell with their colours.
fn lines(cell: &Cell, size: f64, room: f64) -> Vec<(String, Paint, Weight)> {
    let (paint, weight) = look(cell);
    let mut list: Vec<_> = wrap(&cell.text.replace('`', ""), size, weight, room + 0.01)
        .into_iter()
        .map(|line| (line, paint, weight))
        .collect();
    if !cell.more.is_empty() {
        let more = wrap(&cell.more.replace('`', ""), size, Weight::Regular, room + 0.01);
        list.extend(more.into_iter().map(|line| (line, Paint::Soft, Weight::Regular)));
    }
    list
}

pub(super) fn draw(sheets: &mut Sheets, table: &Table) {
    let (size, widths) = columns(table);
    let titles: Vec<Cell> =
        table.columns.iter().map(|(title, _)| Cell::new(title.as_str()).toned(Tone::Soft)).collect();
    let head = |sheets: &mut Sheets| {
        if table.has_titles() {
            row(sheets, table, &titles, size, &widths);
        }
    };
    sheets.make_room(4.0 * SIZE * 1.4);
    head(sheets);
    for cells in &table.rows {
        let count = cells.iter().zip(&widths).map(|(cell, wide)| lines(cell, size, *wide).len()).max();
        if sheets.make_room(count.unwrap_or(1) as f64 * size * 1.35 + 5.0) {
            head(sheets);
        }
        row(sheets, table, cells, size, &widths);
    }
    sheets.down(8.0);
}

fn row(sheets: &mut Sheets, table: &Table, cells: &[Cell], size: f64, widths: &[f64]) {
    let leading = size * 1.35;
    let y = sheets.y();
    let mut x = LEFT;
    let mut height = leading;
    for ((cell, wide), (_, number)) in cells.iter().zip(widths).zip(&table.columns) {
        let list = lines(cell, size, *wide);
        height = height.max(list.len() as f64 * leading);
        for (place, (text, paint, weight)) in list.iter().enumerate() {
            let down = y + size + 2.0 + leading * place as f64;
            let (at, anchor) = if *number { (x + wide, Anchor::End) } else { (x, Anchor::Start) };
            if let Some(page) = sheets.page() {
                page.text((at, down), anchor, text, Style { paint: *paint, size, weight: *weight });
            }
        }
        x += wide + GAP;
    }
    let floor = y + height + 4.0;
    if let Some(page) = sheets.page() {
        page.line((LEFT, floor), (x - GAP, floor), Paint::Faint);
    }
    sheets.down(height + 5.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_the_sheet_and_numbers_are_not_broken() {
        let mut table = Table::new(&["expected", "the paper", "#measured"]);
        table.rows.push(vec![
            "a long sentence about what is expected of a node in a network ".repeat(3).into(),
            "another long sentence of the paper ".repeat(4).into(),
            "150 000 ± 3".into(),
        ]);
        let (size, widths) = columns(&table);
        assert!(widths.iter().sum::<f64>() <= ROOM && (size - SIZE).abs() < 1e-9);
        assert!(widths[2] >= width("150 000 ± 3", size, Weight::Regular));
    }

    #[test]
    fn no_word_is_torn_where_a_name_beside_it_can_be_broken() {
        let mut table = Table::new(&["expected", "case", "the paper", "must be", "#measured", ""]);
        let statement = Cell::new("Losses on one of two paths cost more than half of what both carry")
            .with("`a-very-long-name.of-a-workload/and-a-prefix/that/goes/on/and/on.goodput.mean`");
        let found = Cell::new("14.4\u{a0}Mbit/s")
            .with("± 0.5\u{a0}Mbit/s (3 drawn orders, 6\u{a0}s to 8\u{a0}s) [1]");
        let why =
            "it hangs on the order of what happens at one instant: of 5 drawn orders 3 meet it ".repeat(3);
        let verdict = Cell::new("contradicted").with(why).toned(Tone::Bad);
        let case = "loss 10 %, ".repeat(9);
        table.rows.push(vec![
            statement,
            case.into(),
            "one sentence of the paper ".repeat(9).into(),
            "at least 14.4\u{a0}Mbit/s".into(),
            found,
            verdict,
        ]);
        let (size, widths) = columns(&table);
        assert!(size > 7.0 && widths.iter().sum::<f64>() <= ROOM, "{size} {widths:?}");
        for (cell, room) in table.rows[0].iter().zip(&widths) {
            let words = format!("{} {}", cell.text, cell.more).replace('`', "");
            for word in lines(cell, size, *room).iter().flat_map(|(line, ..)| line.split(' ')) {
                let is_whole = words
                    .split(' ')
                    .any(|whole| whole == word || parts(whole).any(|part| word.ends_with(part)));
                assert!(is_whole, "{word:?} is torn");
            }
        }
    }

    #[test]
    fn where_there_is_no_room_wide_columns_are_cut_before_narrow_ones() {
        assert_eq!(cut_to(&[50.0, 300.0, 20.0, 200.0], 270.0), [50.0, 100.0, 20.0, 100.0]);
        assert_eq!(cut_to(&[50.0, 20.0], 270.0), [50.0, 20.0]);
    }

    #[test]
    fn a_table_of_many_columns_is_set_smaller() {
        let mut table = Table::new(&["#processor"; 14]);
        table.rows.push(vec!["123 456.7 MB".into(); 14]);
        let (size, widths) = columns(&table);
        assert!(size < SIZE && widths.iter().sum::<f64>() <= ROOM);
    }
}
