//! Parquet, as little of it as a table of numbers and texts needs: data pages of version 1, plain encoding.
//! Every reader of Parquet reads that. After <https://parquet.apache.org/docs/file-format/>.
//!
//! The layout is `PAR1`, for each row group and column one page with its header, the footer, the footer's
//! length, `PAR1`. Headers and footer are Thrift structs in the compact protocol.

mod thrift;

use std::io::{self, Write};

use thrift::Compact;

const MAGIC: &[u8] = b"PAR1";
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const GZIP: i64 = 2;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Real,
    /// Numbers of which some are missing: those that are not finite.
    OptionalReal,
    /// Words.
    Text,
    /// Yes or no.
    Boolean,
}

impl Kind {
    /// The number of the physical type.
    fn physical(self) -> i64 {
        match self {
            Kind::Whole => 2,
            Kind::Real | Kind::OptionalReal => 5,
            Kind::Text => 6,
            Kind::Boolean => 0,
        }
    }

    /// Required, or optional.
    fn repetition(self) -> i64 {
        i64::from(self == Kind::OptionalReal)
    }
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it holds.
    pub kind: Kind,
}

/// Compresses bytes as gzip does; `None` if it cannot, and then they are written as they are.
pub type Gzip = fn(&[u8]) -> Option<Vec<u8>>;

/// The values of one column in one row group.
#[derive(Debug)]
pub struct Values {
    kind: Kind,
    plain: Vec<u8>,
    /// Which are there, of a kind of which some are missing; the values themselves if they are yes or no.
    present: Vec<bool>,
}

impl Values {
    /// Adds a whole number. The column must be of such.
    pub fn whole(&mut self, number: i64) {
        debug_assert_eq!(self.kind, Kind::Whole);
        self.plain.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds a number. The column must be of such.
    pub fn real(&mut self, number: f64) {
        debug_assert!(matches!(self.kind, Kind::Real | Kind::OptionalReal));
        let is_there = self.kind == Kind::Real || number.is_finite();
        self.present.push(is_there);
        if is_there {
            self.plain.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Adds a text. The column must be of such.
    pub fn text(&mut self, text: &str) {
        debug_assert_eq!(self.kind, Kind::Text);
        self.plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.plain.extend_from_slice(text.as_bytes());
    }

    /// Adds a yes or no. The column must be of such.
    pub fn boolean(&mut self, value: bool) {
        debug_assert_eq!(self.kind, Kind::Boolean);
        self.present.push(value);
    }

    /// The content of a page.
    fn page(self) -> Vec<u8> {
        if self.kind == Kind::Boolean {
            // Eight in a byte, the first in the lowest bit.
            let byte = |bits: &[bool]| bits.iter().rev().fold(0u8, |byte, bit| byte << 1 | u8::from(*bit));
            return self.present.chunks(8).map(byte).collect();
        }
        if self.kind != Kind::OptionalReal {
            return self.plain;
        }
        let mut page = definition_levels(&self.present);
        page.extend(self.plain);
        page
    }
}

/// Which values are there, as runs: the hybrid encoding with a width of one bit.
fn definition_levels(present: &[bool]) -> Vec<u8> {
    let mut runs = Vec::new();
    for run in present.chunk_by(|a, b| a == b) {
        thrift::unsigned(&mut runs, (run.len() as u64) << 1);
        runs.push(u8::from(run.first() == Some(&true)));
    }
    let mut out = (runs.len() as u32).to_le_bytes().to_vec();
    out.extend(runs);
    out
}

/// Where a column of a row group is, and how many bytes it has there and unpacked.
#[derive(Debug)]
struct Chunk {
    offset: i64,
    packed: i64,
    unpacked: i64,
    codec: i64,
}

/// Writes a table.
#[derive(Debug)]
pub struct Writer<'a, W> {
    out: W,
    columns: &'a [Column<'a>],
    gzip: Option<Gzip>,
    offset: i64,
    /// Of each row group, its columns and rows.
    groups: Vec<(Vec<Chunk>, i64)>,
}

impl<'a, W: Write> Writer<'a, W> {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut out: W, columns: &'a [Column<'a>], gzip: Option<Gzip>) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Writer { out, columns, gzip, offset: MAGIC.len() as i64, groups: Vec::new() })
    }

    /// Adds a row group: so many rows, of which `fill` gives the values column by column, by their places.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn group(&mut self, rows: usize, mut fill: impl FnMut(usize, &mut Values)) -> io::Result<()> {
        let mut chunks = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let plain = Vec::with_capacity(rows * 8);
            let mut values = Values { kind: column.kind, plain, present: Vec::new() };
            fill(place, &mut values);
            chunks.push(self.page(rows, &values.page())?);
        }
        self.groups.push((chunks, rows as i64));
        Ok(())
    }

    fn page(&mut self, rows: usize, plain: &[u8]) -> io::Result<Chunk> {
        let packed = self.gzip.and_then(|gzip| gzip(plain));
        let codec = if packed.is_some() { GZIP } else { UNCOMPRESSED };
        let content = packed.as_deref().unwrap_or(plain);
        let mut header = Compact::default();
        header.integer(1, 0); // type: data page
        header.integer(2, plain.len() as i64);
        header.integer(3, content.len() as i64);
        header.begin(5); // data page header
        header.integer(1, rows as i64);
        header.integer(2, PLAIN);
        header.integer(3, RLE); // definition levels, where the column is optional
        header.integer(4, RLE); // repetition levels: none are written
        header.end();
        let header = header.finish();
        self.out.write_all(&header)?;
        self.out.write_all(content)?;
        let (packed, unpacked) = ((header.len() + content.len()) as i64, (header.len() + plain.len()) as i64);
        let chunk = Chunk { offset: self.offset, packed, unpacked, codec };
        self.offset += packed;
        Ok(chunk)
    }

    /// Ends the file, which the program `application` has written.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self, application: &str) -> io::Result<()> {
        let footer = self.footer(application);
        self.out.write_all(&footer)?;
        self.out.write_all(&(footer.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)
    }

    fn footer(&self, application: &str) -> Vec<u8> {
        let mut out = Compact::default();
        out.integer(1, 1); // version
        out.list(2, self.columns.len() + 1);
        out.element();
        out.text(4, "table");
        out.integer(5, self.columns.len() as i64); // children
        out.end();
        for column in self.columns {
            out.element();
            out.integer(1, column.kind.physical());
            out.integer(3, column.kind.repetition());
            out.text(4, column.name);
            if column.kind == Kind::Text {
                out.integer(6, 0); // converted type: UTF8
            }
            out.end();
        }
        out.long(3, self.groups.iter().map(|(_, rows)| rows).sum());
        out.list(4, self.groups.len());
        for (chunks, rows) in &self.groups {
            out.element();
            out.list(1, chunks.len());
            for (chunk, column) in chunks.iter().zip(self.columns) {
                out.element();
                out.long(2, chunk.offset);
                out.begin(3); // column metadata
                out.integer(1, column.kind.physical());
                out.integers(2, &[PLAIN, RLE]);
                out.texts(3, &[column.name]);
                out.integer(4, chunk.codec);
                out.long(5, *rows);
                out.long(6, chunk.unpacked);
                out.long(7, chunk.packed);
                out.long(9, chunk.offset);
                out.end();
                out.end();
            }
            out.long(2, chunks.iter().map(|chunk| chunk.unpacked).sum());
            out.long(3, *rows);
            out.end();
        }
        out.text(6, application);
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column<'static>; 5] = [
        Column { name: "time_ns", kind: Kind::Whole },
        Column { name: "node", kind: Kind::Whole },
        Column { name: "application", kind: Kind::Whole },
        Column { name: "what", kind: Kind::Text },
        Column { name: "value", kind: Kind::Real },
    ];

    /// The bytes of this table were read with Arrow's reader (pyarrow) and gave these rows and columns; a
    /// change of them must be read so again.
    #[test]
    fn a_table_is_written_as_other_readers_read_it() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, &COLUMNS, None).unwrap();
        writer
            .group(2, |column, values| match column {
                0 => [1_000_000, 2_000_000].iter().for_each(|time| values.whole(*time)),
                1 => [2, 2].iter().for_each(|node| values.whole(*node)),
                2 => [3, 3].iter().for_each(|application| values.whole(*application)),
                3 => ["rate", "window"].iter().for_each(|what| values.text(what)),
                _ => [1.5, -3.0].iter().for_each(|value| values.real(*value)),
            })
            .unwrap();
        writer.finish("cairn").unwrap();
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
    fn levels_are_runs_of_what_is_there() {
        // A length of four bytes, then runs: two that are there, three that are not, one that is.
        let levels = definition_levels(&[true, true, false, false, false, true]);
        assert_eq!(levels, [6, 0, 0, 0, 2 << 1, 1, 3 << 1, 0, 1 << 1, 1]);
    }

    #[test]
    fn eight_booleans_share_a_byte() {
        let mut values = Values { kind: Kind::Boolean, plain: Vec::new(), present: Vec::new() };
        for value in [true, false, false, true, false, false, false, true, true, false] {
            values.boolean(value);
        }
        assert_eq!(values.page(), [0b1000_1001, 0b01]);
    }

    #[test]
    fn a_page_that_is_packed_is_written_packed_and_one_that_cannot_be_as_it_is() {
        let columns = [Column { name: "mean", kind: Kind::OptionalReal }];
        let written = |gzip: Option<Gzip>| {
            let mut file = Vec::new();
            let mut writer = Writer::new(&mut file, &columns, gzip).unwrap();
            writer.group(2, |_, values| [0.5, f64::NAN].iter().for_each(|one| values.real(*one))).unwrap();
            writer.finish("cairn").unwrap();
            file
        };
        let holds = |file: &[u8], part: &[u8]| file.windows(part.len()).any(|window| window == part);
        let plain = [&[4, 0, 0, 0, 2, 1, 2, 0][..], &0.5f64.to_le_bytes()].concat();
        assert!(holds(&written(None), &plain));
        assert_eq!(written(Some(|_| None)), written(None));
        let packed = written(Some(|_| Some(b"packed".to_vec())));
        assert!(holds(&packed, b"packed") && !holds(&packed, &plain));
    }
}
