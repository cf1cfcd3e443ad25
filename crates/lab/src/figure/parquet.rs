//! The little of Apache Parquet that tables of words and numbers need: one row group, one page a column,
//! compressed with gzip.
//!
//! After the format's own description, <https://parquet.apache.org/docs/file-format/>. Metadata is written in
//! Thrift's compact protocol. Numbers are optional doubles, words are required strings.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::data::{Column, Data};

const MAGIC: &[u8; 4] = b"PAR1";
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
const REQUIRED: i64 = 0;
const OPTIONAL: i64 = 1;
const UTF8: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const GZIP: i64 = 2;
const DATA_PAGE: i64 = 0;

/// A structure in Thrift's compact protocol.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

impl Struct {
    fn head(&mut self, field: u8, kind: u8) {
        // Fields come in order and close to each other, so that the difference always fits.
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }

    fn int32(mut self, field: u8, value: i64) -> Self {
        self.head(field, 5);
        varint(&mut self.bytes, zigzag(value));
        self
    }

    fn int64(mut self, field: u8, value: usize) -> Self {
        self.head(field, 6);
        varint(&mut self.bytes, zigzag(value as i64));
        self
    }

    fn text(mut self, field: u8, text: &str) -> Self {
        self.head(field, 8);
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend(text.as_bytes());
        self
    }

    fn structure(mut self, field: u8, inner: Struct) -> Self {
        self.head(field, 12);
        self.bytes.extend(inner.end());
        self
    }

    /// A list of elements that are written already.
    fn list(mut self, field: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        self.head(field, 9);
        match u8::try_from(elements.len()) {
            Ok(count) if count < 15 => self.bytes.push(count << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                varint(&mut self.bytes, elements.len() as u64);
            }
        }
        self.bytes.extend(elements.iter().flatten());
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Which values are there, as runs: the hybrid encoding with a width of one bit.
fn definition_levels(present: &[bool]) -> Vec<u8> {
    let mut runs = Vec::new();
    for run in present.chunk_by(|a, b| a == b) {
        varint(&mut runs, (run.len() as u64) << 1);
        runs.push(u8::from(run.first() == Some(&true)));
    }
    let mut out = u32::try_from(runs.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    out.extend(runs);
    out
}

/// The content of a column's only page.
fn page(column: &Column, rows: usize) -> Vec<u8> {
    match column {
        Column::Text(list) => {
            let mut out = Vec::new();
            for text in list.iter().take(rows) {
                out.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
                out.extend(text.as_bytes());
            }
            out
        }
        Column::Number(list) => {
            let present: Vec<bool> = list.iter().take(rows).map(|number| number.is_finite()).collect();
            let mut out = definition_levels(&present);
            let numbers = list.iter().take(rows).filter(|number| number.is_finite());
            out.extend(numbers.flat_map(|number| number.to_le_bytes()));
            out
        }
    }
}

/// Compressed, or as it is when that cannot be; memory does not refuse to be written to.
fn packed(page: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(page).ok()?;
    encoder.finish().ok()
}

pub(super) fn write(data: &Data) -> Vec<u8> {
    let rows = data.rows();
    let mut file = MAGIC.to_vec();
    let root = Struct::default().text(4, "table").int32(5, data.columns.len() as i64);
    let (mut schema, mut chunks) = (vec![root.end()], Vec::new());
    let mut total = 0;
    for (name, column) in &data.columns {
        let (kind, repetition) = match column {
            Column::Text(_) => (BYTE_ARRAY, REQUIRED),
            Column::Number(_) => (DOUBLE, OPTIONAL),
        };
        let element = Struct::default().int32(1, kind).int32(3, repetition).text(4, name);
        schema.push(match column {
            Column::Text(_) => element.int32(6, UTF8).end(),
            Column::Number(_) => element.end(),
        });
        let start = file.len();
        let plain = page(column, rows);
        let (codec, packed) =
            packed(&plain).map_or_else(|| (UNCOMPRESSED, plain.clone()), |packed| (GZIP, packed));
        let of_values = Struct::default().int32(1, rows as i64).int32(2, PLAIN).int32(3, RLE).int32(4, RLE);
        let header = Struct::default()
            .int32(1, DATA_PAGE)
            .int32(2, plain.len() as i64)
            .int32(3, packed.len() as i64)
            .structure(5, of_values)
            .end();
        let length = header.len() + packed.len();
        let unpacked = header.len() + plain.len();
        file.extend(header);
        file.extend(packed);
        total += unpacked;
        let encodings: Vec<Vec<u8>> = [PLAIN, RLE].iter().map(|number| vec![zigzag(*number) as u8]).collect();
        let mut path = Vec::new();
        varint(&mut path, name.len() as u64);
        path.extend(name.as_bytes());
        let about = Struct::default()
            .int32(1, kind)
            .list(2, 5, &encodings)
            .list(3, 8, &[path])
            .int32(4, codec)
            .int64(5, rows)
            .int64(6, unpacked)
            .int64(7, length)
            .int64(9, start);
        chunks.push(Struct::default().int64(2, start).structure(3, about).end());
    }
    let group = Struct::default().list(1, 12, &chunks).int64(2, total).int64(3, rows).end();
    let footer = Struct::default()
        .int32(1, 1)
        .list(2, 12, &schema)
        .int64(3, rows)
        .list(4, 12, &[group])
        .text(6, concat!("cairn ", env!("CARGO_PKG_VERSION")))
        .end();
    let length = u32::try_from(footer.len()).unwrap_or(u32::MAX);
    file.extend(footer);
    file.extend(length.to_le_bytes());
    file.extend(MAGIC);
    file
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn levels_are_runs_of_what_is_there() {
        // A length of four bytes, then runs: two that are there, three that are not, one that is.
        let levels = definition_levels(&[true, true, false, false, false, true]);
        assert_eq!(levels, [6, 0, 0, 0, 2 << 1, 1, 3 << 1, 0, 1 << 1, 1]);
    }

    #[test]
    fn integers_are_written_as_thrift_does() {
        // Examples of the compact protocol's description: 50399 is df 89 03, zigzag of -1 is 1.
        let mut out = Vec::new();
        varint(&mut out, 50_399);
        assert_eq!(out, [0xdf, 0x89, 0x03]);
        assert_eq!((zigzag(0), zigzag(-1), zigzag(1), zigzag(-2)), (0, 1, 2, 3));
        assert_eq!(Struct::default().int32(1, 1).int32(3, -1).end(), [0x15, 2, 0x25, 1, 0]);
    }

    #[test]
    fn the_first_page_is_where_the_footer_says_and_holds_the_words() {
        let data = Data::default()
            .words("node", vec!["n1".into(), "n2".into()])
            .numbers("mean", vec![0.5, f64::NAN]);
        let file = data.to_parquet();
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let length = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        let footer = &file[file.len() - 8 - length..file.len() - 8];
        assert!(footer.windows(4).any(|part| part == b"mean"));
        // Type, sizes and the values' header take 15 bytes with these sizes; then the compressed words
        // follow.
        let packed = &file[4..file.len() - 8 - length];
        let start = packed.windows(3).position(|part| part == [0x1f, 0x8b, 8]).unwrap();
        let mut words = Vec::new();
        flate2::read::GzDecoder::new(&packed[start..]).read_to_end(&mut words).unwrap();
        assert_eq!(words, b"\x02\0\0\0n1\x02\0\0\0n2");
    }
}
