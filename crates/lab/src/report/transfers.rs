//! The transfer graph: when each file's download began and ended, one bar a file.

use super::scale::{marks, short};
use super::svg::{Anchor, Svg};
use crate::analysis::TransferTable;

/// More bars than this are drawn as lines without space between them.
const MOST_ROWS_WITH_SPACE: usize = 60;

/// Draws the downloads of a workload in the order in which they began.
pub(super) fn draw(name: &str, table: &TransferTable, end: f64, width: f64) -> Svg {
    let mut list: Vec<_> = table.transfers.iter().filter(|transfer| transfer.start.is_some()).collect();
    list.sort_by(|a, b| a.start.unwrap_or(0.0).total_cmp(&b.start.unwrap_or(0.0)));
    let count = list.len().max(1);
    let step =
        if count <= MOST_ROWS_WITH_SPACE { 11.0f64.min(330.0 / count as f64) } else { 330.0 / count as f64 };
    let (left, top) = (46.0, 26.0);
    let height = top + step * count as f64 + 36.0;
    let (floor, edge) = (height - 34.0, width - 12.0);
    let mut svg = Svg::new(&format!("Downloads of {name}"), width, height);
    let caption = format!("Downloads of `{name}` from start to stop, {count} files");
    svg.text("title", (4.0, 14.0), Anchor::Start, &caption);
    let end = if end > 0.0 { end } else { 1.0 };
    let x = |at: f64| left + at.clamp(0.0, end) / end * (edge - left);
    for mark in marks(end, 8.0).into_iter().filter(|mark| *mark <= end * 1.000_1) {
        svg.line("faint", (x(mark), top), (x(mark), floor));
        svg.text("soft", (x(mark), floor + 14.0), Anchor::Middle, &short(mark));
    }
    svg.line("axis", (left, floor), (edge, floor));
    svg.text("soft", ((left + edge) / 2.0, height - 5.0), Anchor::Middle, "time (s)");
    let space = if step >= 4.0 { step * 0.25 } else { 0.0 };
    for (row, transfer) in list.iter().enumerate() {
        let at = top + step * row as f64;
        let start = transfer.start.unwrap_or(0.0);
        let stop = transfer.stop.unwrap_or(end);
        let class = if transfer.state == "complete" { "k0" } else { "bad" };
        let hint = format!("{}: {} from {start:.3} s to {stop:.3} s", transfer.name, transfer.state);
        let size = ((x(stop) - x(start)).max(1.0), (step - space).max(0.6));
        svg.rectangle(class, (x(start), at), size, &hint);
        let every = (20.0 / step).ceil().max(1.0) as usize;
        if row % every == 0 && step * every as f64 >= 10.0 {
            svg.text(
                "soft",
                (left - 6.0, at + (step - space) / 2.0 + 4.0),
                Anchor::End,
                &transfer.number.to_string(),
            );
        }
    }
    svg
}
