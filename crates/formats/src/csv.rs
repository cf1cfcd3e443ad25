//! Comma-separated values (RFC 4180), written and read as whole tables. Lines end in a line feed; a field is
//! in quotes where it holds a quote, a comma or a line's end.
//!
//! ```
//! use cairn_formats::csv;
//!
//! let table = csv::to_string([["name", "seconds"], ["/a, \"b\"", "0.5"]]);
//! assert_eq!(table, "name,seconds\n\"/a, \"\"b\"\"\",0.5\n");
//! let rows = csv::Reader::new(table.as_bytes()).collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(rows[1].get(0), Some("/a, \"b\""));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fmt::{Display, Write as _};
use std::io::{self, Read, Write};

/// One row that was read: its fields as text.
pub type Row = ::csv::StringRecord;

/// Writes a table, field by field or row by row.
#[derive(Debug)]
pub struct Writer<W: Write> {
    inner: ::csv::Writer<W>,
    /// The field that is being shown, kept so that a field needs no memory of its own.
    shown: String,
}

impl<W: Write> Writer<W> {
    /// An empty table. What is written goes to `to` by blocks.
    pub fn new(to: W) -> Self {
        // Whoever reads decides what a short row means.
        Writer { inner: ::csv::WriterBuilder::new().flexible(true).from_writer(to), shown: String::new() }
    }

    /// Writes one more field of the row that is open.
    ///
    /// # Errors
    /// Those of the writer below.
    pub fn field(&mut self, value: impl Display) -> io::Result<()> {
        self.shown.clear();
        write!(self.shown, "{value}").map_err(io::Error::other)?;
        Ok(self.inner.write_field(&self.shown)?)
    }

    /// Ends the row that is open.
    ///
    /// # Errors
    /// Those of the writer below.
    pub fn end_row(&mut self) -> io::Result<()> {
        Ok(self.inner.write_record(None::<&[u8]>)?)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// Those of the writer below.
    pub fn row<T: Display>(&mut self, fields: impl IntoIterator<Item = T>) -> io::Result<()> {
        fields.into_iter().try_for_each(|value| self.field(value))?;
        self.end_row()
    }

    /// Hands all that was written to the writer below, and flushes it.
    ///
    /// # Errors
    /// Those of the writer below.
    pub fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }

    /// Ends the table and gives back what it was written to.
    ///
    /// # Errors
    /// Those of the writer below.
    pub fn finish(self) -> io::Result<W> {
        self.inner.into_inner().map_err(|error| io::Error::new(error.error().kind(), error.to_string()))
    }
}

/// A table as text.
pub fn to_string<R, T>(rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = T>,
    T: Display,
{
    let mut writer = Writer::new(Vec::new());
    // Memory takes whatever it is given.
    let _ = rows.into_iter().try_for_each(|row| writer.row(row));
    writer.finish().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Reads a table row by row, the line of names like any other. Rows may differ in length; empty lines are
/// left out.
#[derive(Debug)]
pub struct Reader<R: Read> {
    inner: ::csv::Reader<R>,
}

impl<R: Read> Reader<R> {
    /// Reads from `from`, by blocks.
    pub fn new(from: R) -> Self {
        Reader { inner: ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(from) }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut row = Row::new();
        match self.inner.read_record(&mut row) {
            Ok(true) => Some(Ok(row)),
            Ok(false) => None,
            Err(error) => Some(Err(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again_whatever_the_fields_hold() {
        let fields = ["/a", "", "\"", ",", "one\ntwo", "one\r\ntwo", " ", "ä/%00", "'", "#"];
        let mut table = Writer::new(Vec::new());
        for first in fields {
            table.row(fields.iter().map(|second| format!("{first}{second}"))).unwrap();
        }
        let bytes = table.finish().unwrap();
        let rows: Vec<Row> = Reader::new(bytes.as_slice()).map(Result::unwrap).collect();
        assert_eq!(rows.len(), fields.len());
        for (row, first) in rows.iter().zip(fields) {
            let expected: Vec<String> = fields.iter().map(|second| format!("{first}{second}")).collect();
            assert!(row.iter().eq(expected.iter().map(String::as_str)), "{row:?}");
        }
    }

    #[test]
    fn rows_may_be_short_long_and_cut_off() {
        let rows: Vec<Row> = Reader::new("a,b\n1\n\n1,2,3\n1,\"2".as_bytes()).map(Result::unwrap).collect();
        let lengths: Vec<usize> = rows.iter().map(Row::len).collect();
        assert_eq!(lengths, [2, 1, 3, 2]);
    }

    #[test]
    fn what_is_not_text_is_an_error_and_no_panic() {
        let mut rows = Reader::new(&b"a,b\n\xff,1\n"[..]);
        assert!(rows.next().unwrap().is_ok());
        assert!(rows.next().unwrap().is_err());
    }

    #[test]
    fn numbers_keep_all_digits() {
        assert_eq!(
            to_string([[0.1 + 0.2, 1e300_f64.recip(), -3.0]]),
            format!("0.30000000000000004,{},-3\n", 1e-300)
        );
    }
}
