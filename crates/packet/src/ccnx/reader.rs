//! Reading ccnb elements one after the other.

use std::ops::RangeBounds;

use crate::ccnx::block::{BlockKind, CLOSE, Header, body_lengths, read_header};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::framer::Framer;
use crate::error::{DecodeError, Rule};

/// Reads the blocks of `wire` one after the other, borrowing what it gives out.
///
/// ccnb has no lengths around elements, so the reader enters an element with [`open`](Reader::open), reads
/// what is in it, and leaves with [`close`](Reader::close), which refuses anything that is left. Errors name
/// the field that was asked for and the offset, from the start of `wire`, of the block that is wrong.
///
/// ```
/// use cairn_packet::ccnx::{Dtag, Reader};
/// let wire = [0x07, 0x82, 0x07, 0x8a, 0x9e, b'4', b'5', b'0', 0, 0];
/// let mut reader = Reader::new(&wire, "StatusResponse");
/// reader.open(Dtag::STATUS_RESPONSE, "StatusResponse")?;
/// let code = reader.decimal_element(Dtag::STATUS_CODE, "StatusCode", 999)?;
/// let text = reader.optional_text(Dtag::STATUS_TEXT, "StatusText")?;
/// reader.close("StatusResponse")?;
/// reader.finish()?;
/// assert_eq!((code, text), (450, None));
/// # Ok::<(), cairn_packet::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    wire: &'a [u8],
    /// What has not been read.
    rest: &'a [u8],
    /// The first four bytes of that, zeros behind the end. Each tag has one spelling, so to compare
    /// these with it says whether it is next; nothing has to be decoded.
    next: u32,
    field: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads all of `wire`; errors that belong to no particular element name `field`.
    pub fn new(wire: &'a [u8], field: &'static str) -> Self {
        Reader { wire, rest: wire, next: first_bytes(wire), field }
    }

    /// Offset of the next byte to be read.
    pub fn position(&self) -> usize {
        self.wire.len() - self.rest.len()
    }

    /// True when everything has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything from offset `start` up to the next byte to be read.
    pub fn read_since(&self, start: usize) -> &'a [u8] {
        self.wire.get(start..self.position()).unwrap_or_default()
    }

    /// Everything from the next byte to be read on.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on behind so many bytes, which hold whole blocks that were read in another way.
    pub(crate) fn skip(&mut self, bytes: usize) {
        if bytes > 0 {
            self.advance(bytes);
        }
    }

    /// The header of the next block, which stays in place; `None` if there is none that can be read. Whatever
    /// is then asked for fails for that reason.
    #[inline]
    pub fn peek(&self) -> Option<Header> {
        read_header(self.rest()).ok().flatten()
    }

    /// True when the next block opens the element `tag`.
    #[inline(always)]
    pub fn next_is(&self, tag: Dtag) -> bool {
        tag.starts(self.next, self.rest())
    }

    /// True when the next block is a close.
    #[inline(always)]
    pub fn at_close(&self) -> bool {
        self.next as u8 == CLOSE && !self.is_empty()
    }

    /// Enters the element `tag`, which must be next.
    #[inline(always)]
    pub fn open(&mut self, tag: Dtag, field: &'static str) -> Result<(), DecodeError> {
        if self.try_open(tag) { Ok(()) } else { Err(self.unexpected(field)) }
    }

    /// Enters the element `tag` if it is next, and says whether it was.
    #[inline(always)]
    pub fn try_open(&mut self, tag: Dtag) -> bool {
        let is_next = self.next_is(tag);
        if is_next {
            self.advance(tag.header_len());
        }
        is_next
    }

    /// Leaves the element that was entered last; there must be nothing left in it.
    #[inline(always)]
    pub fn close(&mut self, field: &'static str) -> Result<(), DecodeError> {
        if !self.at_close() {
            return Err(self.unexpected(field));
        }
        self.advance(1);
        Ok(())
    }

    /// The next block, if it is a BLOB, else no bytes at all: an empty BLOB is left out on the wire.
    #[inline(always)]
    pub fn blob(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        self.body(BlockKind::Blob, field)
    }

    /// The next block, if it is a UDATA, else no text at all: an empty UDATA is left out on the wire.
    pub fn text(&mut self, field: &'static str) -> Result<&'a str, DecodeError> {
        let start = self.position();
        let bytes = self.body(BlockKind::Udata, field)?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::new(field, start, Rule::BadText))
    }

    /// The element `tag`, which must be next and hold one BLOB with one of the `lengths` in bytes.
    #[inline(always)]
    pub fn blob_element(
        &mut self,
        tag: Dtag,
        field: &'static str,
        lengths: impl RangeBounds<usize>,
    ) -> Result<&'a [u8], DecodeError> {
        let start = self.position();
        let bytes = self.element(tag, BlockKind::Blob, field)?;
        if !lengths.contains(&bytes.len()) {
            return Err(DecodeError::new(field, start, Rule::BadLength(bytes.len())));
        }
        Ok(bytes)
    }

    /// Like [`blob_element`](Reader::blob_element), but `None` if another block is next.
    #[inline(always)]
    pub fn optional_blob(
        &mut self,
        tag: Dtag,
        field: &'static str,
        lengths: impl RangeBounds<usize>,
    ) -> Result<Option<&'a [u8]>, DecodeError> {
        if self.next_is(tag) { self.blob_element(tag, field, lengths).map(Some) } else { Ok(None) }
    }

    /// The element `tag`, which must be next and hold a BLOB of exactly `N` bytes.
    #[inline(always)]
    pub fn array_element<const N: usize>(
        &mut self,
        tag: Dtag,
        field: &'static str,
    ) -> Result<&'a [u8; N], DecodeError> {
        let start = self.position();
        let bytes = self.blob_element(tag, field, ..)?;
        bytes.try_into().map_err(|_| DecodeError::new(field, start, Rule::BadLength(bytes.len())))
    }

    /// Like [`array_element`](Reader::array_element), but `None` if another block is next.
    #[inline(always)]
    pub fn optional_array<const N: usize>(
        &mut self,
        tag: Dtag,
        field: &'static str,
    ) -> Result<Option<&'a [u8; N]>, DecodeError> {
        if self.next_is(tag) { self.array_element(tag, field).map(Some) } else { Ok(None) }
    }

    /// The element `tag`, which must be next and hold one UDATA.
    pub fn text_element(&mut self, tag: Dtag, field: &'static str) -> Result<&'a str, DecodeError> {
        self.open(tag, field)?;
        let text = self.text(field)?;
        self.close(field)?;
        Ok(text)
    }

    /// Like [`text_element`](Reader::text_element), but `None` if another block is next.
    pub fn optional_text(&mut self, tag: Dtag, field: &'static str) -> Result<Option<&'a str>, DecodeError> {
        if self.next_is(tag) { self.text_element(tag, field).map(Some) } else { Ok(None) }
    }

    /// The element `tag`, which must be next and hold a number up to `largest` in decimal digits.
    #[inline(always)]
    pub fn decimal_element(
        &mut self,
        tag: Dtag,
        field: &'static str,
        largest: u64,
    ) -> Result<u64, DecodeError> {
        let start = self.position() + tag.header_len();
        let digits = self.element(tag, BlockKind::Udata, field)?;
        read_decimal(digits, largest).map_err(|rule| DecodeError::new(field, start, rule))
    }

    /// Like [`decimal_element`](Reader::decimal_element), but `None` if another block is next.
    #[inline(always)]
    pub fn optional_decimal(
        &mut self,
        tag: Dtag,
        field: &'static str,
        largest: u64,
    ) -> Result<Option<u64>, DecodeError> {
        if self.next_is(tag) { self.decimal_element(tag, field, largest).map(Some) } else { Ok(None) }
    }

    /// Steps over the next element, whatever is in it, and gives its bytes.
    pub fn skip_element(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        self.skip_element_inside(field, 0)
    }

    /// The same for an element that stands in `outer` others, with which it may not be nested too deeply.
    pub(crate) fn skip_element_inside(
        &mut self,
        field: &'static str,
        outer: u32,
    ) -> Result<&'a [u8], DecodeError> {
        let rest = self.rest();
        let mut framer = Framer::inside(outer);
        match framer.scan(rest) {
            Ok(Some(len)) => {
                let start = self.position();
                self.advance(len);
                Ok(self.read_since(start))
            }
            Ok(None) => {
                let missing = framer.known_bytes().saturating_sub(rest.len()).max(1);
                Err(self.error(field, Rule::Truncated { missing }))
            }
            Err(error) => Err(DecodeError { field, ..error.shifted(self.position()) }),
        }
    }

    /// Fails if anything is left.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(self.error(self.field, Rule::Trailing(left))),
        }
    }

    /// The body of the element `tag`, which must be next and hold nothing else.
    #[inline(always)]
    pub(crate) fn element(
        &mut self,
        tag: Dtag,
        kind: BlockKind,
        field: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        if self.next_is(tag)
            && let Some((body, rest)) = self.whole_element(tag, kind)
        {
            (self.rest, self.next) = (rest, first_bytes(rest));
            return Ok(body);
        }
        let body;
        (body, *self) = self.element_by_parts(tag, kind, field)?;
        Ok(body)
    }

    /// The body of the element that is next, and what follows it, if nothing is wrong with it nor missing.
    #[inline(always)]
    fn whole_element(&self, tag: Dtag, kind: BlockKind) -> Option<(&'a [u8], &'a [u8])> {
        let inside = self.rest.get(tag.header_len()..)?;
        let (header_len, body_len) = body_lengths(inside, kind)?;
        let (body, behind) = inside.get(header_len..)?.split_at_checked(body_len)?;
        match behind {
            [CLOSE, rest @ ..] if !body.is_empty() => Some((body, rest)),
            _ => None,
        }
    }

    /// The same one after the other, to find what is wrong. The reader comes and goes by value, so that it
    /// may stay in registers elsewhere.
    #[cold]
    #[inline(never)]
    fn element_by_parts(
        mut self,
        tag: Dtag,
        kind: BlockKind,
        field: &'static str,
    ) -> Result<(&'a [u8], Self), DecodeError> {
        self.open(tag, field)?;
        let body = self.body(kind, field)?;
        self.close(field)?;
        Ok((body, self))
    }

    #[inline(always)]
    fn body(&mut self, kind: BlockKind, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let Some((header_len, body_len)) = body_lengths(self.rest(), kind) else {
            // Empty, but still a place in the buffer.
            return Ok(self.rest.get(..0).unwrap_or_default());
        };
        let behind_header = self.rest.get(header_len..).unwrap_or_default();
        match behind_header.split_at_checked(body_len) {
            Some((body, rest)) if !body.is_empty() => {
                (self.rest, self.next) = (rest, first_bytes(rest));
                Ok(body)
            }
            _ => Err(self.no_body(self.position() + header_len, body_len, field)),
        }
    }

    #[cold]
    fn no_body(self, start: usize, body_len: usize, field: &'static str) -> DecodeError {
        if body_len == 0 {
            return self.error(field, Rule::BadLength(0));
        }
        let end = start.saturating_add(body_len);
        self.error(field, Rule::Truncated { missing: end.saturating_sub(self.wire.len()) })
    }

    #[inline(always)]
    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.next = first_bytes(self.rest);
    }

    /// Why the next block is not the one that was asked for.
    #[cold]
    fn unexpected(self, field: &'static str) -> DecodeError {
        let rest = self.rest();
        let rule = match read_header(rest) {
            Ok(None) => Rule::Truncated { missing: 1 },
            Ok(Some(Header { kind: BlockKind::Dtag, number, .. })) => Rule::UnexpectedType(number),
            Ok(Some(Header { kind: BlockKind::Close, .. })) => Rule::Missing,
            Ok(Some(Header { kind, .. })) => Rule::UnexpectedBlock(kind.as_str()),
            Err(rule) => rule,
        };
        self.error(field, rule)
    }

    #[cold]
    fn error(self, field: &'static str, rule: Rule) -> DecodeError {
        DecodeError::new(field, self.position(), rule)
    }
}

/// As many bytes as the longest spelling of a tag has, the first of them the lowest.
#[inline(always)]
fn first_bytes(rest: &[u8]) -> u32 {
    match (rest.first_chunk(), rest) {
        (Some(bytes), _) => u32::from_le_bytes(*bytes),
        // Most packets end with two closes.
        (None, []) => 0,
        (None, [last]) => u32::from(*last),
        (None, _) => last_bytes(rest),
    }
}

#[cold]
fn last_bytes(rest: &[u8]) -> u32 {
    u32::from_le_bytes(match *rest {
        [a, b] => [a, b, 0, 0],
        [a, b, c] => [a, b, c, 0],
        _ => [0; 4],
    })
}

/// Reads decimal digits: at least one, leading zeros allowed, nothing else.
fn read_decimal(digits: &[u8], largest: u64) -> Result<u64, Rule> {
    if digits.is_empty() {
        return Err(Rule::BadLength(0));
    }
    let mut value = 0u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return Err(Rule::BadText);
        }
        value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    }
    if value > largest { Err(Rule::BadValue(value)) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: usize, rule: Rule) -> DecodeError {
        DecodeError::new("F", offset, rule)
    }

    #[test]
    fn elements_are_read_in_order_and_only_where_they_stand() {
        // Name { Component "a", Component "" }
        let wire = [0xf2, 0xfa, 0x8d, b'a', 0x00, 0xfa, 0x00, 0x00];
        let mut reader = Reader::new(&wire, "F");
        assert_eq!(reader.open(Dtag::INTEREST, "F"), Err(at(0, Rule::UnexpectedType(14))));
        reader.open(Dtag::NAME, "F").unwrap();
        assert_eq!(reader.optional_blob(Dtag::NONCE, "F", ..), Ok(None));
        assert_eq!(reader.blob_element(Dtag::COMPONENT, "F", ..), Ok(&b"a"[..]));
        assert_eq!(reader.close("F"), Err(at(5, Rule::UnexpectedType(15))));
        assert_eq!(reader.blob_element(Dtag::COMPONENT, "F", ..), Ok(&b""[..]));
        assert_eq!(reader.open(Dtag::COMPONENT, "F"), Err(at(7, Rule::Missing)));
        assert_eq!(reader.finish(), Err(at(7, Rule::Trailing(1))));
        reader.close("F").unwrap();
        reader.finish().unwrap();
        assert_eq!(reader.open(Dtag::COMPONENT, "F"), Err(at(8, Rule::Truncated { missing: 1 })));
        assert_eq!(reader.close("F"), Err(at(8, Rule::Truncated { missing: 1 })));
    }

    #[test]
    fn wrong_blocks_lengths_and_digits_are_refused_where_they_stand() {
        let blob =
            |wire: &[u8]| Reader::new(wire, "F").blob_element(Dtag::NAME, "F", 1..=2).map(<[u8]>::to_vec);
        assert_eq!(blob(&[0xf2, 0x95, 1, 2, 0]), Ok(vec![1, 2]));
        assert_eq!(blob(&[0xf2, 0x9d, 1, 2, 3, 0]), Err(at(0, Rule::BadLength(3))));
        assert_eq!(blob(&[0xf2, 0]), Err(at(0, Rule::BadLength(0))));
        assert_eq!(blob(&[0xf2, 0x85, 0]), Err(at(1, Rule::BadLength(0))));
        assert_eq!(blob(&[0xf2, 0x8e, b'1', 0]), Err(at(1, Rule::UnexpectedBlock("UDATA"))));
        assert_eq!(blob(&[0xf2, 0x8d, 1, 0x8d, 1, 0]), Err(at(3, Rule::UnexpectedBlock("BLOB"))));
        assert_eq!(blob(&[0xf2, 0x95, 1]), Err(at(1, Rule::Truncated { missing: 1 })));
        assert_eq!(blob(&[0xf2, 0x01]), Err(at(1, Rule::Truncated { missing: 1 })));

        let number = |digits: &str| {
            let mut wire = Vec::new();
            crate::ccnx::block::write_text_element(&mut wire, Dtag::NAME, digits);
            Reader::new(&wire, "F").decimal_element(Dtag::NAME, "F", 99)
        };
        assert_eq!(number("0"), Ok(0));
        assert_eq!(number("0099"), Ok(99));
        assert_eq!(number(""), Err(at(1, Rule::BadLength(0))));
        assert_eq!(number("100"), Err(at(1, Rule::BadValue(100))));
        assert_eq!(number("99999999999999999999999"), Err(at(1, Rule::BadValue(u64::MAX))));
        assert_eq!(number("-1"), Err(at(1, Rule::BadText)));
        assert_eq!(number("1 "), Err(at(1, Rule::BadText)));

        let text = |wire: &[u8]| Reader::new(wire, "F").text_element(Dtag::NAME, "F").map(str::to_owned);
        assert_eq!(text(&[0xf2, 0x96, 0xc3, 0xbc, 0]), Ok("ü".to_owned()));
        assert_eq!(text(&[0xf2, 0x8e, 0xc3, 0]), Err(at(1, Rule::BadText)));
    }

    #[test]
    fn skipping_steps_over_exactly_one_element() {
        let wire = [0xf2, 0xfa, 0x8d, b'a', 0x00, 0x00, 0xfa, 0x00];
        let mut reader = Reader::new(&wire, "F");
        assert_eq!(reader.skip_element("F"), Ok(&wire[..6]));
        assert_eq!(reader.skip_element("F"), Ok(&wire[6..]));
        assert_eq!(reader.skip_element("F"), Err(at(8, Rule::Truncated { missing: 1 })));
        let mut cut = Reader::new(&wire[..4], "F");
        assert_eq!(cut.skip_element("F"), Err(at(0, Rule::Truncated { missing: 2 })));
        let mut wrong = Reader::new(&[0x8d, 1], "F");
        assert_eq!(wrong.skip_element("F"), Err(at(0, Rule::UnexpectedBlock("BLOB"))));
    }
}
