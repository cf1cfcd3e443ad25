//! Parquet, as little of it as a table of numbers and texts needs: data pages of version 1, plain encoding,
//! no compression, required columns only. Every reader of Parquet reads that.
//!
//! The layout is `PAR1`, for each row group and column one page with its header, the footer, the footer's
//! length, `PAR1`. Headers and footer are Thrift structs in the compact protocol.

use std::io::{self, Write};

use super::records::{Cell, CellKind, Record};

const MAGIC: &[u8] = b"PAR1";
const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes rows as one file.
pub(super) fn write<R: Record>(rows: &[R], mut to: impl Write) -> io::Result<()> {
    to.write_all(MAGIC)?;
    let mut offset = MAGIC.len() as i64;
    let mut groups = Vec::new();
    for rows in rows.chunks(ROWS_PER_GROUP) {
        let mut chunks = Vec::new();
        for column in 0..R::COLUMNS.len() {
            let page = page(rows, column);
            to.write_all(&page)?;
            chunks.push(Chunk { offset, bytes: page.len() as i64 });
            offset += page.len() as i64;
        }
        groups.push((chunks, rows.len() as i64));
    }
    let footer = footer::<R>(rows.len() as i64, &groups);
    to.write_all(&footer)?;
    to.write_all(&(footer.len() as u32).to_le_bytes())?;
    to.write_all(MAGIC)
}

/// Where a column of a row group is.
struct Chunk {
    offset: i64,
    bytes: i64,
}

/// One column of some rows, with its header.
fn page<R: Record>(rows: &[R], column: usize) -> Vec<u8> {
    let mut values = Vec::with_capacity(rows.len() * 8);
    for row in rows {
        match row.cells().get(column) {
            Some(Cell::Whole(number)) => values.extend_from_slice(&number.to_le_bytes()),
            Some(Cell::Real(number)) => values.extend_from_slice(&number.to_le_bytes()),
            Some(Cell::Text(text)) => {
                values.extend_from_slice(&(text.len() as u32).to_le_bytes());
                values.extend_from_slice(text.as_bytes());
            }
            None => {}
        }
    }
    let mut header = Compact::default();
    header.integer(1, 0); // type: data page
    header.integer(2, values.len() as i64); // uncompressed size
    header.integer(3, values.len() as i64); // compressed size
    header.begin(5); // data page header
    header.integer(1, rows.len() as i64);
    header.integer(2, PLAIN);
    header.integer(3, RLE); // definition levels: none are written, for the column is required
    header.integer(4, RLE); // repetition levels: the same
    header.end();
    header.finish(&values)
}

const PLAIN: i64 = 0;
const RLE: i64 = 3;

fn footer<R: Record>(rows: i64, groups: &[(Vec<Chunk>, i64)]) -> Vec<u8> {
    let mut out = Compact::default();
    out.integer(1, 1); // version
    out.list(2, R::COLUMNS.len() + 1);
    out.element();
    out.text(4, "table");
    out.integer(5, R::COLUMNS.len() as i64); // children
    out.end();
    for (name, kind) in R::COLUMNS {
        out.element();
        out.integer(1, physical_type(*kind));
        out.integer(3, 0); // required
        out.text(4, name);
        if *kind == CellKind::Text {
            out.integer(6, 0); // converted type: UTF8
        }
        out.end();
    }
    out.long(3, rows);
    out.list(4, groups.len());
    for (chunks, rows) in groups {
        out.element();
        out.list(1, chunks.len());
        for (chunk, (name, kind)) in chunks.iter().zip(R::COLUMNS) {
            out.element();
            out.long(2, chunk.offset);
            out.begin(3); // column metadata
            out.integer(1, physical_type(*kind));
            out.integers(2, &[PLAIN, RLE]);
            out.texts(3, &[name]);
            out.integer(4, 0); // uncompressed
            out.long(5, *rows);
            out.long(6, chunk.bytes);
            out.long(7, chunk.bytes);
            out.long(9, chunk.offset);
            out.end();
            out.end();
        }
        out.long(2, chunks.iter().map(|chunk| chunk.bytes).sum());
        out.long(3, *rows);
        out.end();
    }
    out.text(6, "cairn");
    out.finish(&[])
}

fn physical_type(kind: CellKind) -> i64 {
    match kind {
        CellKind::Whole => 2,
        CellKind::Real => 5,
        CellKind::Text => 6,
    }
}

/// Thrift's compact protocol, writing only.
#[derive(Default)]
struct Compact {
    out: Vec<u8>,
    /// The number of the last field of each open struct but the innermost.
    outer: Vec<i16>,
    last: i16,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Compact {
    fn field(&mut self, number: i16, kind: u8) {
        // Fields come in order and close together here, so the step always fits into four bits.
        self.out.push(((number - self.last) as u8) << 4 | kind);
        self.last = number;
    }

    fn unsigned(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    fn zigzag(&mut self, number: i64) {
        self.unsigned((number << 1 ^ number >> 63) as u64);
    }

    fn integer(&mut self, field: i16, number: i64) {
        self.field(field, I32);
        self.zigzag(number);
    }

    fn long(&mut self, field: i16, number: i64) {
        self.field(field, I64);
        self.zigzag(number);
    }

    fn bytes(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, field: i16, text: &str) {
        self.field(field, BINARY);
        self.bytes(text);
    }

    fn list_header(&mut self, field: i16, len: usize, kind: u8) {
        self.field(field, LIST);
        if len < 15 {
            self.out.push((len as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            self.unsigned(len as u64);
        }
    }

    /// A list of structs, each between `element` and `end`.
    fn list(&mut self, field: i16, len: usize) {
        self.list_header(field, len, STRUCT);
    }

    fn integers(&mut self, field: i16, numbers: &[i64]) {
        self.list_header(field, numbers.len(), I32);
        for &number in numbers {
            self.zigzag(number);
        }
    }

    fn texts(&mut self, field: i16, texts: &[&str]) {
        self.list_header(field, texts.len(), BINARY);
        for text in texts {
            self.bytes(text);
        }
    }

    fn begin(&mut self, field: i16) {
        self.field(field, STRUCT);
        self.element();
    }

    fn element(&mut self) {
        self.outer.push(self.last);
        self.last = 0;
    }

    fn end(&mut self) {
        self.out.push(0);
        self.last = self.outer.pop().unwrap_or(0);
    }

    fn finish(mut self, values: &[u8]) -> Vec<u8> {
        self.out.push(0);
        self.out.extend_from_slice(values);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ValueRecord;
    use crate::{AppId, NodeId};
    use packet::time::Instant;

    fn row(millis: u64, what: &'static str, value: f64) -> ValueRecord {
        ValueRecord {
            time: Instant::from_millis(millis),
            node: NodeId(2),
            application: AppId(3),
            what,
            value,
        }
    }

    /// The bytes of this table were read with Arrow's reader (pyarrow) and gave these rows and columns; a
    /// change of them must be read so again.
    #[test]
    fn a_table_is_written_as_other_readers_read_it() {
        let mut file = Vec::new();
        write(&[row(1, "rate", 1.5), row(2, "window", -3.0)], &mut file).unwrap();
        let hex: String = file.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, GOLDEN);
    }

    const GOLDEN: &str = "\
        504152311500152015202c1504150015061506000040420f000000000080841e00000000001500152015202c150415001506\
        15060000020000000000000002000000000000001500152015202c1504150015061506000003000000000000000300000000\
        0000001500152415242c1504150015061506000004000000726174650600000077696e646f771500152015202c1504150015\
        0615060000000000000000f83f00000000000008c01502196c48057461626c65150a0015042500180774696d655f6e730015\
        04250018046e6f64650015042500180b6170706c69636174696f6e00150c2500180477686174250000150a2500180576616c\
        7565001604191c195c26081c15041925000619180774696d655f6e73150016041642164226080000264a1c15041925000619\
        18046e6f64651500160416421642264a0000268c011c15041925000619180b6170706c69636174696f6e1500160416421642\
        268c01000026ce011c150c1925000619180477686174150016041646164626ce0100002694021c150a192500061918057661\
        6c75651500160416421642269402000016ce021604002805636169726e000301000050415231";

    #[test]
    fn rows_are_divided_into_groups_and_none_make_a_file_too() {
        let mut file = Vec::new();
        write::<ValueRecord>(&[], &mut file).unwrap();
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let rows = vec![row(1, "x", 0.0); ROWS_PER_GROUP + 1];
        let mut file = Vec::new();
        write(&rows, &mut file).unwrap();
        // Four columns of eight bytes and one of four bytes of length and one of text, for each row.
        assert!(file.len() > rows.len() * 37 && file.len() < rows.len() * 37 + 2_000);
    }
}
