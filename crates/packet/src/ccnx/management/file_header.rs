use super::{decode_all, write_optional_blob};
use crate::ccnx::block::{write_close, write_decimal_element, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// Header: what a file is that was cut into segments, as the file streams of CCNx 0.8 write it beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader<'a> {
    /// Number of the first segment.
    pub start: u64,
    /// How many segments there are.
    pub count: u64,
    /// Bytes in a segment; the last one may have fewer.
    pub block_size: u64,
    /// Bytes in all.
    pub length: u64,
    /// SHA-256 of all bytes.
    pub content_digest: Option<&'a [u8]>,
    /// The root of a Merkle tree over all segments, if there is one.
    pub root_digest: Option<&'a [u8]>,
}

impl<'a> FileHeader<'a> {
    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "Header", Self::read)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::HEADER, "Header")?;
        let header = FileHeader {
            start: reader.decimal_element(Dtag::START, "Start", u64::MAX)?,
            count: reader.decimal_element(Dtag::COUNT, "Count", u64::MAX)?,
            block_size: reader.decimal_element(Dtag::BLOCK_SIZE, "BlockSize", u64::MAX)?,
            length: reader.decimal_element(Dtag::LENGTH, "Length", u64::MAX)?,
            content_digest: reader.optional_blob(Dtag::CONTENT_DIGEST, "ContentDigest", 1..)?,
            root_digest: reader.optional_blob(Dtag::ROOT_DIGEST, "RootDigest", 1..)?,
        };
        reader.close("Header")?;
        Ok(header)
    }

    /// The element's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::HEADER);
        write_decimal_element(&mut out, Dtag::START, self.start);
        write_decimal_element(&mut out, Dtag::COUNT, self.count);
        write_decimal_element(&mut out, Dtag::BLOCK_SIZE, self.block_size);
        write_decimal_element(&mut out, Dtag::LENGTH, self.length);
        write_optional_blob(&mut out, Dtag::CONTENT_DIGEST, self.content_digest);
        write_optional_blob(&mut out, Dtag::ROOT_DIGEST, self.root_digest);
        write_close(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccnx::{ContentObjectView, markers};

    #[test]
    fn the_header_that_ccnputfile_wrote_is_read_and_stands_where_ours_does() {
        let vectors = testkit::vectors::load("ccnx");
        let vector = vectors.iter().find(|vector| vector.name.contains("content-header-of-a-file")).unwrap();
        let object = ContentObjectView::decode(&vector.bytes).unwrap();
        let header = FileHeader::decode(object.content()).unwrap();
        assert_eq!((header.start, header.count, header.block_size, header.length), (0, 3, 4096, 8300));
        assert_eq!(header.content_digest.map(<[u8]>::len), Some(32));
        assert_eq!(header.encode(), object.content());
        let name = object.name().to_name().unwrap();
        let below_version: Vec<&[u8]> = name.components().skip(4).map(|component| component.value).collect();
        assert_eq!(below_version[..2], [markers::METADATA, markers::HEADER]);
    }

    #[test]
    fn a_header_is_read_as_it_is_written_and_not_without_one_of_its_numbers() {
        let header = FileHeader {
            start: 0,
            count: 74,
            block_size: 4096,
            length: 300_000,
            content_digest: Some(&[7; 32]),
            root_digest: None,
        };
        let wire = header.encode();
        assert_eq!(FileHeader::decode(&wire), Ok(header));
        // Start, Count, BlockSize and Length are decimal numbers; 25 is a Header.
        assert!(wire.starts_with(&[0x01, 0xca]) && wire.windows(6).any(|bytes| bytes == b"300000"));
        for cut in 0..wire.len() {
            assert!(FileHeader::decode(&wire[..cut]).is_err(), "{cut}");
        }
        let without_start = [&wire[..2], &wire[6..]].concat();
        assert!(FileHeader::decode(&without_start).is_err());
    }
}
