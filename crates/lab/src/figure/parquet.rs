//! The numbers behind a figure as Parquet: one row group, compressed with gzip. Words are required, numbers
//! may be missing.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use formats::parquet::{self, Kind, Writer};

use super::data::{Column, Data};

impl Data {
    /// How pages of Parquet files are compressed.
    pub(crate) fn gzip(page: &[u8]) -> Option<Vec<u8>> {
        // Memory does not refuse to be written to.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(page).ok()?;
        encoder.finish().ok()
    }

    /// The columns of a Parquet file that is written part by part.
    pub(crate) fn parquet_columns(&self) -> Vec<parquet::Column<'_>> {
        let kind = |column: &Column| match column {
            Column::Text(_) => Kind::Text,
            Column::Number(_) => Kind::OptionalReal,
            Column::Whole(_) => Kind::Whole,
            Column::Boolean(_) => Kind::Boolean,
        };
        self.columns.iter().map(|(name, column)| parquet::Column { name, kind: kind(column) }).collect()
    }

    /// All rows as one part of such a file: one row group.
    pub(crate) fn write_parquet_group<W: io::Write>(&self, writer: &mut Writer<'_, W>) -> io::Result<()> {
        let rows = self.rows();
        writer.group(rows, |place, values| match self.columns.get(place) {
            Some((_, Column::Text(list))) => list.iter().take(rows).for_each(|text| values.text(text)),
            Some((_, Column::Number(list))) => list.iter().take(rows).for_each(|number| values.real(*number)),
            Some((_, Column::Whole(list))) => list.iter().take(rows).for_each(|number| values.whole(*number)),
            Some((_, Column::Boolean(list))) => {
                list.iter().take(rows).for_each(|value| values.boolean(*value));
            }
            None => {}
        })
    }

    /// A Parquet file.
    #[must_use]
    pub fn to_parquet(&self) -> Vec<u8> {
        let (columns, mut file) = (self.parquet_columns(), Vec::new());
        let written = Writer::new(&mut file, &columns, Some(Data::gzip)).and_then(|mut writer| {
            self.write_parquet_group(&mut writer)?;
            writer.finish(concat!("cairn ", env!("CARGO_PKG_VERSION")))
        });
        debug_assert!(written.is_ok(), "memory does not refuse to be written to");
        file
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_first_page_is_where_the_footer_says_and_holds_the_words() {
        let data = Data::default()
            .words("node", vec!["n1".into(), "n2".into()])
            .numbers("mean", vec![0.5, f64::NAN]);
        let file = data.to_parquet();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
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
