//! Tables of the trace as Parquet.

use std::io::{self, Write};

use formats::parquet::{Column, Kind, Writer};

use super::records::{Cell, CellKind, Record};

const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes rows as one file.
pub(super) fn write<R: Record>(rows: &[R], to: impl Write) -> io::Result<()> {
    let column = |(name, kind): &(&'static str, CellKind)| {
        let kind = match kind {
            CellKind::Whole => Kind::Whole,
            CellKind::Real => Kind::Real,
            CellKind::Text => Kind::Text,
        };
        Column { name, kind }
    };
    let columns: Vec<Column<'_>> = R::COLUMNS.iter().map(column).collect();
    let mut file = Writer::new(to, &columns, None)?;
    for rows in rows.chunks(ROWS_PER_GROUP) {
        file.group(rows.len(), |place, values| {
            for row in rows {
                match row.cells().get(place) {
                    Some(Cell::Whole(number)) => values.whole(*number),
                    Some(Cell::Real(number)) => values.real(*number),
                    Some(Cell::Text(text)) => values.text(text),
                    None => {}
                }
            }
        })?;
    }
    file.finish("cairn")
}

#[cfg(test)]
mod tests {
    use packet::time::Instant;

    use super::*;
    use crate::trace::ValueRecord;
    use crate::{AppId, NodeId};

    #[test]
    fn rows_are_divided_into_groups_and_none_make_a_file_too() {
        let mut file = Vec::new();
        write::<ValueRecord>(&[], &mut file).unwrap();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        let (node, application) = (NodeId(2), AppId(3));
        let row = ValueRecord { time: Instant::ZERO, node, application, what: "x", value: 0.0 };
        let rows = vec![row; ROWS_PER_GROUP + 1];
        let mut file = Vec::new();
        write(&rows, &mut file).unwrap();
        // Four columns of eight bytes and one of four bytes of length and one of text, for each row.
        assert!(file.len() > rows.len() * 37 && file.len() < rows.len() * 37 + 2_000);
    }
}
