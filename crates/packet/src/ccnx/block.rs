//! Blocks: the unit of ccnb, a number and a kind in one header, and what follows it.
//!
//! A header is a base-128 number, big-endian, whose bytes have a clear high bit, but for the last: that one
//! has the high bit set, the lowest four bits of the number, and three bits of [`BlockKind`]. One byte 00 is
//! a kind of its own and closes the innermost open element. There are no lengths around elements, so the end
//! of an element is known only after everything in it has been read.
//!
//! Since a header cannot start with 00, each number has exactly one spelling. A BLOB or UDATA of zero bytes
//! is left out; Cairn's decoders refuse one that is written, because two spellings of one name would be two
//! keys in a table.

use crate::ccnx::dtag::Dtag;
use crate::error::Rule;

/// The byte that ends the innermost open element.
pub const CLOSE: u8 = 0x00;

/// How deeply elements may be nested. The deepest message known nests seven: a ContentObject in a protocol
/// data unit, with a KeyName in its KeyLocator.
pub const MAX_DEPTH: u32 = 32;

/// The largest number a header may hold.
pub const MAX_NUMBER: u64 = (1 << 60) - 1;

/// The longest header, in bytes.
pub const MAX_HEADER_BYTES: usize = header_len(MAX_NUMBER);

/// What a block is, the three lowest bits of its header's last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Opens an extension, a processing instruction; the number is its subtype. No protocol message has one.
    Ext,
    /// Opens an element whose name is spelt out; the number is the length of the name less one.
    Tag,
    /// Opens an element whose name is in the dictionary; the number is the [`Dtag`].
    Dtag,
    /// An attribute whose name is spelt out; the number is the length of the name less one. A UDATA follows.
    Attr,
    /// An attribute whose name is in the dictionary. A UDATA follows.
    Dattr,
    /// Bytes; the number says how many.
    Blob,
    /// UTF-8 text; the number says how many bytes.
    Udata,
    /// The end of the innermost open element: one byte, no number.
    Close,
}

impl BlockKind {
    /// The kind's name in the CCNx documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            BlockKind::Ext => "EXT",
            BlockKind::Tag => "TAG",
            BlockKind::Dtag => "DTAG",
            BlockKind::Attr => "ATTR",
            BlockKind::Dattr => "DATTR",
            BlockKind::Blob => "BLOB",
            BlockKind::Udata => "UDATA",
            BlockKind::Close => "CLOSE",
        }
    }

    /// The three bits; `None` for a close, which is a byte of its own.
    const fn code(self) -> Option<u8> {
        match self {
            BlockKind::Ext => Some(0),
            BlockKind::Tag => Some(1),
            BlockKind::Dtag => Some(2),
            BlockKind::Attr => Some(3),
            BlockKind::Dattr => Some(4),
            BlockKind::Blob => Some(5),
            BlockKind::Udata => Some(6),
            BlockKind::Close => None,
        }
    }

    #[inline]
    fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => BlockKind::Ext,
            1 => BlockKind::Tag,
            2 => BlockKind::Dtag,
            3 => BlockKind::Attr,
            4 => BlockKind::Dattr,
            5 => BlockKind::Blob,
            6 => BlockKind::Udata,
            _ => return None,
        })
    }
}

/// A block header as found on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the block is.
    pub kind: BlockKind,
    /// What the number means depends on the kind; zero for a close.
    pub number: u64,
    /// Length of the header itself, in bytes.
    pub len: usize,
}

impl Header {
    /// True for a header that opens the element `tag`.
    #[inline]
    pub fn opens(&self, tag: Dtag) -> bool {
        self.kind == BlockKind::Dtag && self.number == tag.number()
    }

    /// The header of `len` bytes that ends with the byte `last`; those before it hold `high`.
    #[inline]
    fn ending_with(last: u8, high: u64, len: usize) -> Option<Self> {
        let kind = BlockKind::from_code(last & 0x07)?;
        Some(Header { kind, number: high << 4 | u64::from(last >> 3 & 0x0f), len })
    }

    /// Bytes that belong to the block after its header: the name of a TAG or ATTR, the content of a BLOB or
    /// UDATA. `None` when there are more than this machine can address.
    pub fn body_len(&self) -> Option<usize> {
        match self.kind {
            BlockKind::Blob | BlockKind::Udata => usize::try_from(self.number).ok(),
            BlockKind::Tag | BlockKind::Attr => usize::try_from(self.number + 1).ok(),
            BlockKind::Ext | BlockKind::Dtag | BlockKind::Dattr | BlockKind::Close => Some(0),
        }
    }
}

/// Reads the header at the start of `bytes`; `None` when the bytes end before it does.
///
/// # Errors
/// [`Rule::BadValue`] for a number above [`MAX_NUMBER`], [`Rule::TypeOutOfRange`] for the one kind that does
/// not exist.
pub fn read_header(bytes: &[u8]) -> Result<Option<Header>, Rule> {
    let mut high = 0u64;
    for (index, &byte) in bytes.iter().enumerate() {
        if byte & 0x80 != 0 {
            let code = byte & 0x07;
            let header = Header::ending_with(byte, high, index + 1);
            return header.map(Some).ok_or(Rule::TypeOutOfRange(code.into()));
        }
        if byte == CLOSE && index == 0 {
            return Ok(Some(Header { kind: BlockKind::Close, number: 0, len: 1 }));
        }
        if high > MAX_NUMBER >> 11 {
            return Err(Rule::BadValue(high));
        }
        high = high << 7 | u64::from(byte);
    }
    Ok(None)
}

/// Lengths of the header that `bytes` begin with, if it is one of this kind, and of what follows it.
#[inline(always)]
pub(crate) fn body_lengths(bytes: &[u8], kind: BlockKind) -> Option<(usize, usize)> {
    let low = |last: u8| usize::from(last >> 3 & 0x0f);
    let is_kind = |last: u8| Some(last & 0x07) == kind.code();
    match *bytes {
        [last, ..] if last & 0x80 != 0 => is_kind(last).then(|| (1, low(last))),
        [CLOSE, ..] => None,
        [high, last, ..] if last & 0x80 != 0 => {
            is_kind(last).then(|| (2, usize::from(high) << 4 | low(last)))
        }
        _ => long_body_lengths(bytes, kind),
    }
}

fn long_body_lengths(bytes: &[u8], kind: BlockKind) -> Option<(usize, usize)> {
    let header = read_header(bytes).ok().flatten().filter(|header| header.kind == kind)?;
    Some((header.len, header.body_len().unwrap_or(usize::MAX)))
}

/// Bytes that a header with `number` takes.
pub const fn header_len(number: u64) -> usize {
    let mut len = 1;
    let mut rest = number >> 4;
    while rest > 0 {
        len += 1;
        rest >>= 7;
    }
    len
}

impl Dtag {
    /// Bytes of the header that opens the element.
    #[inline(always)]
    pub(crate) const fn header_len(self) -> usize {
        header_len(self.number())
    }

    /// Whether the first of the blocks in `bytes` opens the element. `first` are the first four of the bytes,
    /// the first one the lowest, zeros for those that are missing.
    #[inline(always)]
    pub(crate) fn starts(self, first: u32, bytes: &[u8]) -> bool {
        match self.spelling() {
            Some((spelling, mask)) => first & mask == spelling,
            None => {
                let header = read_header(bytes).ok().flatten();
                header.is_some_and(|header| header.kind == BlockKind::Dtag && header.number == self.number())
            }
        }
    }

    /// The header that opens the element, its first byte the lowest of a word, and a word in which these
    /// bytes are ones; `None` for a tag of more than four bytes, which is in no dictionary.
    #[inline(always)]
    fn spelling(self) -> Option<(u32, u32)> {
        let number = self.number();
        let last = 0x80 | (number as u32 & 0x0f) << 3 | 0x02;
        let high = |shift: u32| (number >> shift) as u32 & 0x7f;
        Some(match self.header_len() {
            1 => (last, 0xff),
            2 => (high(4) | last << 8, 0xffff),
            3 => (high(11) | high(4) << 8 | last << 16, 0xff_ffff),
            4 => (high(18) | high(11) << 8 | high(4) << 16 | last << 24, 0xffff_ffff),
            _ => return None,
        })
    }
}

/// Bytes of a BLOB or UDATA block with `len` bytes in it; nothing at all when it is empty.
pub const fn body_len(len: usize) -> usize {
    if len == 0 { 0 } else { header_len(len as u64) + len }
}

/// Bytes of an element `tag` with `content_len` bytes between its header and its close.
pub const fn element_len(tag: Dtag, content_len: usize) -> usize {
    header_len(tag.number()) + content_len + 1
}

/// Bytes of an element `tag` that holds one BLOB or UDATA of `len` bytes.
pub const fn body_element_len(tag: Dtag, len: usize) -> usize {
    element_len(tag, body_len(len))
}

/// Bytes of an element `tag` that holds `value` in decimal digits.
pub const fn decimal_element_len(tag: Dtag, value: u64) -> usize {
    body_element_len(tag, decimal_len(value))
}

/// Decimal digits of `value`.
pub const fn decimal_len(value: u64) -> usize {
    match value.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

/// Appends a header. A close has no number; one that is given is ignored.
#[inline]
pub fn write_header(out: &mut Vec<u8>, kind: BlockKind, number: u64) {
    let Some(code) = kind.code() else {
        return out.push(CLOSE);
    };
    let mut shift = 4 + 7 * (header_len(number) - 1);
    while shift > 4 {
        shift -= 7;
        out.push((number >> shift & 0x7f) as u8);
    }
    out.push(0x80 | (number as u8 & 0x0f) << 3 | code);
}

/// Opens the element `tag`; [`write_close`] ends it.
#[inline]
pub fn write_open(out: &mut Vec<u8>, tag: Dtag) {
    write_header(out, BlockKind::Dtag, tag.number());
}

/// Ends the innermost open element.
#[inline]
pub fn write_close(out: &mut Vec<u8>) {
    out.push(CLOSE);
}

/// Appends a BLOB; nothing when there are no bytes.
#[inline]
pub fn write_blob(out: &mut Vec<u8>, bytes: &[u8]) {
    write_body(out, BlockKind::Blob, bytes);
}

/// Appends a UDATA; nothing when there is no text.
#[inline]
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    write_body(out, BlockKind::Udata, text.as_bytes());
}

/// Appends an element that holds one BLOB.
#[inline]
pub fn write_blob_element(out: &mut Vec<u8>, tag: Dtag, bytes: &[u8]) {
    write_open(out, tag);
    write_blob(out, bytes);
    write_close(out);
}

/// Appends an element that holds one UDATA.
pub fn write_text_element(out: &mut Vec<u8>, tag: Dtag, text: &str) {
    write_open(out, tag);
    write_text(out, text);
    write_close(out);
}

/// Appends an element that holds `value` as decimal digits in a UDATA.
pub fn write_decimal_element(out: &mut Vec<u8>, tag: Dtag, value: u64) {
    write_open(out, tag);
    let digits = decimal_len(value);
    write_header(out, BlockKind::Udata, digits as u64);
    for place in (0..digits as u32).rev() {
        out.push(b'0' + (value / 10u64.pow(place) % 10) as u8);
    }
    write_close(out);
}

fn write_body(out: &mut Vec<u8>, kind: BlockKind, bytes: &[u8]) {
    if !bytes.is_empty() {
        write_header(out, kind, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: BlockKind, number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        write_header(&mut out, kind, number);
        out
    }

    /// The table of ccnx-0.8, section 1.
    #[test]
    fn headers_are_those_of_the_specification() {
        let cases: &[(BlockKind, u64, &[u8])] = &[
            (BlockKind::Dtag, 14, &[0xf2]),
            (BlockKind::Dtag, 15, &[0xfa]),
            (BlockKind::Dtag, 26, &[0x01, 0xd2]),
            (BlockKind::Dtag, 64, &[0x04, 0x82]),
            (BlockKind::Dtag, 128, &[0x08, 0x82]),
            (BlockKind::Dtag, 256, &[0x10, 0x82]),
            (BlockKind::Dtag, 17_702_112, b"CCN\x82"),
            (BlockKind::Dtag, 20_653_248, b"NdL\x82"),
            (BlockKind::Blob, 1, &[0x8d]),
            (BlockKind::Blob, 15, &[0xfd]),
            (BlockKind::Blob, 16, &[0x01, 0x85]),
            (BlockKind::Blob, 32, &[0x02, 0x85]),
            (BlockKind::Blob, 127, &[0x07, 0xfd]),
            (BlockKind::Blob, 128, &[0x08, 0x85]),
            (BlockKind::Blob, 2048, &[0x01, 0x00, 0x85]),
            (BlockKind::Blob, 8192, &[0x04, 0x00, 0x85]),
            (BlockKind::Udata, 8192, &[0x04, 0x00, 0x86]),
        ];
        for &(kind, number, bytes) in cases {
            assert_eq!(written(kind, number), bytes, "{kind:?} {number}");
            assert_eq!(read_header(bytes), Ok(Some(Header { kind, number, len: bytes.len() })));
        }
    }

    #[test]
    fn every_number_next_to_a_change_of_length_survives_and_has_one_spelling() {
        let kinds = [
            BlockKind::Ext,
            BlockKind::Tag,
            BlockKind::Dtag,
            BlockKind::Attr,
            BlockKind::Dattr,
            BlockKind::Blob,
            BlockKind::Udata,
        ];
        for bits in 0..=60 {
            for number in [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                for kind in kinds {
                    let bytes = written(kind, number);
                    assert_eq!(bytes.len(), header_len(number));
                    let read = read_header(&bytes);
                    if number <= MAX_NUMBER {
                        assert_eq!(read, Ok(Some(Header { kind, number, len: bytes.len() })));
                        assert!(bytes.len() <= MAX_HEADER_BYTES);
                    } else {
                        assert!(matches!(read, Err(Rule::BadValue(_))), "{number}: {read:?}");
                    }
                    for cut in 0..bytes.len().min(MAX_HEADER_BYTES) {
                        assert_eq!(read_header(&bytes[..cut]), Ok(None));
                    }
                }
            }
        }
    }

    #[test]
    fn the_kind_that_does_not_exist_is_refused() {
        assert_eq!(read_header(&[0x87]), Err(Rule::TypeOutOfRange(7)));
        assert_eq!(read_header(&[0x7f; 20]), Err(Rule::BadValue((1 << 56) - 1)));
        assert_eq!(read_header(&[CLOSE]), Ok(Some(Header { kind: BlockKind::Close, number: 0, len: 1 })));
    }

    #[test]
    fn announced_lengths_are_the_lengths_written() {
        for value in [0, 9, 10, 99, 100, 65_535, u64::MAX] {
            let mut out = Vec::new();
            write_decimal_element(&mut out, Dtag::SCOPE, value);
            assert_eq!(out.len(), decimal_element_len(Dtag::SCOPE, value));
            assert!(out.ends_with(format!("{value}\0").as_bytes()), "{out:02x?}");
        }
        for len in [0, 1, 15, 16, 2047, 2048] {
            let bytes = vec![0xcc; len];
            let mut out = Vec::new();
            write_blob_element(&mut out, Dtag::CONTENT, &bytes);
            assert_eq!(out.len(), body_element_len(Dtag::CONTENT, len));
        }
    }

    /// The bytes of the large numbers were chosen to read as text (CCNx 0.8 tagname.csvdict; NDN-0006).
    #[test]
    fn the_large_numbers_spell_ccn_and_ndl_on_the_wire() {
        let header = |tag: Dtag| {
            let mut out = Vec::new();
            write_open(&mut out, tag);
            out
        };
        assert_eq!(header(Dtag::PROTOCOL_DATA_UNIT), b"CCN\x82");
        assert_eq!(header(Dtag::NDNLP_DATA), b"NdL\x82");
        assert_eq!(header(Dtag::NDNLP_ACK), b"NdL\xb2");
        assert_eq!(header(Dtag::NDNLD_CONNECTION), b"NdM\x82");
    }
}
