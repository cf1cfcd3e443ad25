//! Tables of records, and their way into files.

use std::io::{self, Write};

use formats::csv;

use super::records::{Cell, Record};

/// Records in the order in which they came.
#[derive(Clone, Debug)]
pub struct Table<R> {
    rows: Vec<R>,
    max_rows: usize,
    lost: u64,
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Table { rows: Vec::new(), max_rows: usize::MAX, lost: 0 }
    }
}

impl<R> Table<R> {
    /// The records.
    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Records that found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes the records out, so that a long run can be looked at piece by piece. What comes next finds an
    /// empty table.
    pub fn take(&mut self) -> Vec<R> {
        std::mem::take(&mut self.rows)
    }

    /// Puts records that were taken behind those that are there, as far as there is room.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = R>) {
        rows.into_iter().for_each(|row| self.push(row));
    }

    pub(crate) fn limit(&mut self, max_rows: usize) {
        self.max_rows = max_rows;
    }

    pub(crate) fn push(&mut self, row: R) {
        if self.rows.len() < self.max_rows {
            self.rows.push(row);
        } else {
            self.lost += 1;
        }
    }
}

impl<R: Record> Table<R> {
    /// Writes the table as CSV (RFC 4180) with a line of column names.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, to: impl Write) -> io::Result<()> {
        let mut table = csv::Writer::new(to);
        table.row(R::COLUMNS.iter().map(|(name, _)| *name))?;
        for row in &self.rows {
            for cell in row.cells() {
                match cell {
                    Cell::Whole(number) => table.field(number)?,
                    Cell::Real(number) => table.field(number)?,
                    Cell::Text(text) => table.field(text)?,
                }
            }
            table.end_row()?;
        }
        table.flush()
    }

    /// Writes the table as a Parquet file: one row group for every million rows, plain encoding, no
    /// compression.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_parquet(&self, to: impl Write) -> io::Result<()> {
        super::parquet::write(&self.rows, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{PacketRecord, ValueRecord};
    use crate::{AppId, EndId, LinkId, NodeId};
    use packet::PacketKind;
    use packet::time::Instant;

    #[test]
    fn a_table_becomes_lines_of_values_between_commas() {
        let mut table = Table::default();
        table.limit(2);
        for (what, value) in [("rate", 1.5), ("a,\"b\"", -3.0), ("lost", 0.0)] {
            let (node, application) = (NodeId(2), AppId(3));
            table.push(ValueRecord { time: Instant::from_millis(1), node, application, what, value });
        }
        let mut csv = Vec::new();
        table.write_csv(&mut csv).unwrap();
        let expected = "time_ns,node,application,what,value\n1000000,2,3,rate,1.5\n\
                        1000000,2,3,\"a,\"\"b\"\"\",-3\n";
        assert_eq!(String::from_utf8(csv).unwrap(), expected);
        assert_eq!((table.rows().len(), table.lost()), (2, 1));
    }

    #[test]
    fn what_was_taken_can_be_put_back_as_far_as_there_is_room() {
        let mut table = Table::default();
        table.limit(2);
        (0..2).for_each(|number| table.push(number));
        let taken = table.take();
        table.extend(taken.into_iter().chain([7]));
        assert_eq!((table.rows(), table.lost()), (&[0, 1][..], 1));
    }

    #[test]
    fn every_record_has_a_cell_for_every_column() {
        let record = PacketRecord {
            time: Instant::ZERO,
            link: LinkId(1),
            from_end: EndId(0),
            kind: PacketKind::Data,
            bytes: 7,
            hops: 2,
            name: "/a".parse().unwrap(),
            nonce: None,
        };
        assert_eq!(record.cells().len(), PacketRecord::COLUMNS.len());
        assert_eq!(record.cells()[6], Cell::Text("/a".into()));
    }
}
