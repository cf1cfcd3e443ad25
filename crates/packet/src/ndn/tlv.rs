//! Type-Length-Value elements of NDN packet format v0.3, section 1: numbers, elements, and the one rule for
//! elements a decoder does not know.

use super::types;
use crate::error::{DecodeError, Rule};
use crate::name::{Name, NameRef};

/// The largest network-layer packet, a whole Interest or Data TLV (NDN packet format, section 7).
pub const MAX_PACKET_BYTES: usize = 8800;

/// One element as found on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// TLV-TYPE, 1 to 2^32-1.
    pub kind: u32,
    /// TLV-VALUE.
    pub value: &'a [u8],
    /// Where the element starts, in bytes from the start of the reader's buffer.
    pub start: usize,
    /// Where the value starts.
    pub value_start: usize,
}

impl Element<'_> {
    /// Where the element ends, which is where the next one starts.
    pub fn end(&self) -> usize {
        self.value_start + self.value.len()
    }
}

/// Reads elements one after the other, never past the end of what it was given.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Where `rest` ends, in bytes from the start of the whole buffer.
    end: usize,
    field: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads all of `wire`; errors name `field` until a more precise one is known.
    #[inline]
    pub fn new(wire: &'a [u8], field: &'static str) -> Self {
        Reader { rest: wire, end: wire.len(), field }
    }

    /// Reads the elements inside `element`, which this reader or one on the same buffer returned. Offsets
    /// keep counting from the start of the whole buffer.
    #[inline]
    pub fn inside(&self, element: Element<'a>, field: &'static str) -> Reader<'a> {
        Reader { rest: element.value, end: element.end(), field }
    }

    /// Offset of the next byte to be read.
    #[inline]
    pub fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// True when everything has been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next element, or `None` at the end.
    #[inline(always)]
    pub fn element(&mut self) -> Result<Option<Element<'a>>, DecodeError> {
        // Almost every element has a one-byte type and a one-byte length.
        if let Some((&[kind @ 1..=252, length @ 0..=252], rest)) = self.rest.split_first_chunk()
            && let Some((value, rest)) = rest.split_at_checked(length.into())
        {
            let start = self.position();
            self.rest = rest;
            return Ok(Some(Element { kind: kind.into(), value, start, value_start: start + 2 }));
        }
        if self.rest.is_empty() { Ok(None) } else { self.long_element().map(Some) }
    }

    /// The next element if it has type `kind`, at most 252, a length of at most 65,535 and no flaw; leaves
    /// anything else in place, for [`element`](Self::element) to read or to refuse. Costs a third of
    /// that.
    #[inline(always)]
    pub fn plain(&mut self, kind: u32) -> Option<Element<'a>> {
        let (&[first, length], rest) = self.rest.split_first_chunk()?;
        // 253 and more are no types but say how long the type is.
        if u32::from(first) != kind || first > 252 {
            return None;
        }
        let start = self.position();
        let (header, (value, rest)) = match length {
            0..=252 => (2, rest.split_at_checked(length.into())?),
            253 => {
                let (&digits, rest) = rest.split_first_chunk()?;
                let length = u16::from_be_bytes(digits);
                (4, rest.split_at_checked(length.into()).filter(|_| length > 252)?)
            }
            _ => return None,
        };
        self.rest = rest;
        Some(Element { kind, value, start, value_start: start + header })
    }

    /// The value of the next element if it has type `kind`, at most 252, and `LEN` bytes, fewer than 253;
    /// leaves anything else in place, as [`plain`](Self::plain) does.
    #[inline(always)]
    pub(crate) fn fixed<const LEN: usize>(&mut self, kind: u32) -> Option<&'a [u8; LEN]> {
        let (&[first, length], rest) = self.rest.split_first_chunk()?;
        let (value, rest) = rest.split_first_chunk()?;
        if u32::from(first) != kind || first > 252 || usize::from(length) != LEN || LEN > 252 {
            return None;
        }
        self.rest = rest;
        Some(value)
    }

    /// The next element if its type is one of 3 to 252 and its length at most 252; leaves anything else in
    /// place, as [`plain`](Self::plain) does.
    #[inline(always)]
    pub(crate) fn short(&mut self) -> Option<Element<'a>> {
        let (&[kind @ 3..=252, length @ 0..=252], rest) = self.rest.split_first_chunk()? else { return None };
        let (value, rest) = rest.split_at_checked(length.into())?;
        let start = self.position();
        self.rest = rest;
        Some(Element { kind: kind.into(), value, start, value_start: start + 2 })
    }

    /// The next element, of whatever form, which must be there.
    #[inline(never)]
    fn long_element(&mut self) -> Result<Element<'a>, DecodeError> {
        let start = self.position();
        let (kind, length_at) = self.number(0)?;
        let (length, value_at) = self.number(length_at)?;
        let kind = match u32::try_from(kind) {
            Ok(kind) if kind > 0 => kind,
            _ => return Err(self.error(start, Rule::TypeOutOfRange(kind))),
        };
        let value = self.rest.get(value_at..).unwrap_or_default();
        match usize::try_from(length).ok().and_then(|length| value.split_at_checked(length)) {
            Some((value, rest)) => {
                self.rest = rest;
                Ok(Element { kind, value, start, value_start: start + value_at })
            }
            None => {
                let missing = length - value.len() as u64;
                Err(self.error(start, Rule::Truncated { missing: missing as usize }))
            }
        }
    }

    /// The next element if it has type `kind`; leaves any other in place.
    #[inline]
    pub fn optional(&mut self, kind: u32) -> Result<Option<Element<'a>>, DecodeError> {
        let before = *self;
        match self.element()? {
            Some(element) if element.kind == kind => Ok(Some(element)),
            _ => {
                *self = before;
                Ok(None)
            }
        }
    }

    /// The next element, which must be there and have type `kind`.
    #[inline(always)]
    pub fn required(&mut self, kind: u32, field: &'static str) -> Result<Element<'a>, DecodeError> {
        match self.plain(kind) {
            Some(element) => Ok(element),
            None => self.required_of_any_form(kind, field),
        }
    }

    #[inline(never)]
    fn required_of_any_form(&mut self, kind: u32, field: &'static str) -> Result<Element<'a>, DecodeError> {
        let before = self.position();
        match self.element()? {
            Some(element) if element.kind == kind => Ok(element),
            other => Err(not_there(other, before, field)),
        }
    }

    /// Fails if anything is left.
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.error(self.position(), Rule::Trailing(self.rest.len())))
        }
    }

    /// The VAR-NUMBER `at` bytes from the next one to be read, and how far from there it ends.
    #[inline]
    fn number(&self, at: usize) -> Result<(u64, usize), DecodeError> {
        read_number(self.rest, at).map_err(|rule| self.error(self.position() + at, rule))
    }

    #[cold]
    fn error(&self, offset: usize, rule: Rule) -> DecodeError {
        DecodeError::new(self.field, offset, rule)
    }
}

#[cold]
fn not_there(found: Option<Element<'_>>, offset: usize, field: &'static str) -> DecodeError {
    let rule = found.map_or(Rule::Missing, |element| Rule::UnexpectedType(element.kind.into()));
    DecodeError::new(field, offset, rule)
}

/// Reads the VAR-NUMBER at `at`; gives it and the offset behind it.
///
/// Only the shortest form is accepted. Other implementations tolerate longer forms; Cairn does not, because
/// two spellings of one name would then be two keys in every table.
#[inline]
pub fn read_number(bytes: &[u8], at: usize) -> Result<(u64, usize), Rule> {
    let rest = bytes.get(at..).unwrap_or_default();
    let Some((&first, rest)) = rest.split_first() else {
        return Err(Rule::Truncated { missing: 1 });
    };
    let (width, smallest) = match first {
        0..=252 => return Ok((first.into(), at + 1)),
        253 => (2, 253),
        254 => (4, 1 << 16),
        255 => (8, 1 << 32),
    };
    let Some(digits) = rest.get(..width) else {
        return Err(Rule::Truncated { missing: width - rest.len() });
    };
    let value = digits.iter().fold(0u64, |value, &digit| value << 8 | u64::from(digit));
    if value < smallest { Err(Rule::NotShortest) } else { Ok((value, at + 1 + width)) }
}

/// Reads a NonNegativeInteger: 1, 2, 4 or 8 bytes, big-endian, of any width that fits (section 1.2).
#[inline]
pub fn read_nni(element: Element<'_>, field: &'static str) -> Result<u64, DecodeError> {
    match element.value.len() {
        1 | 2 | 4 | 8 => Ok(element.value.iter().fold(0u64, |value, &digit| value << 8 | u64::from(digit))),
        length => Err(DecodeError::new(field, element.start, Rule::BadLength(length))),
    }
}

/// Reads the Name that `element` is.
///
/// # Errors
/// Its components are broken, or too many.
pub fn read_name(element: Element<'_>) -> Result<Name, DecodeError> {
    let name = NameRef::decode(element.value).map_err(|error| error.shifted(element.value_start))?;
    Ok(name.to_name())
}

/// What to do with an element that is not expected where it stands, whether unknown, repeated or late
/// (section 1.3): types up to 31 and odd types are critical and spoil the packet, others are skipped.
#[inline]
pub fn is_critical(kind: u32) -> bool {
    kind <= 31 || kind % 2 == 1
}

/// Applies [`is_critical`] to an unexpected element.
#[cold]
pub fn skip_unexpected(element: Element<'_>, known: bool, field: &'static str) -> Result<(), DecodeError> {
    match (is_critical(element.kind), known) {
        (false, _) => Ok(()),
        (true, true) => Err(DecodeError::new(field, element.start, Rule::OutOfOrder)),
        (true, false) => {
            Err(DecodeError::new(field, element.start, Rule::UnrecognisedCritical(element.kind.into())))
        }
    }
}

/// Bytes that the VAR-NUMBER `value` takes.
pub const fn number_len(value: u64) -> usize {
    match value {
        0..=252 => 1,
        253..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Bytes that the NonNegativeInteger `value` takes in its shortest form.
pub const fn nni_len(value: u64) -> usize {
    match value {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// Bytes of an element of type `kind` with `value_len` bytes of value.
pub const fn element_len(kind: u32, value_len: usize) -> usize {
    number_len(kind as u64) + number_len(value_len as u64) + value_len
}

/// Bytes of an element of type `kind` that holds the NonNegativeInteger `value`.
pub const fn nni_element_len(kind: u32, value: u64) -> usize {
    element_len(kind, nni_len(value))
}

/// Appends the VAR-NUMBER `value` in its shortest form.
#[inline]
pub fn write_number(out: &mut Vec<u8>, value: u64) {
    match number_len(value) {
        1 => out.push(value as u8),
        3 => {
            out.push(253);
            out.extend_from_slice(&(value as u16).to_be_bytes());
        }
        5 => {
            out.push(254);
            out.extend_from_slice(&(value as u32).to_be_bytes());
        }
        _ => {
            out.push(255);
            out.extend_from_slice(&value.to_be_bytes());
        }
    }
}

/// Appends type and length; the caller appends exactly `value_len` bytes of value next.
#[inline]
pub fn write_header(out: &mut Vec<u8>, kind: u32, value_len: usize) {
    write_number(out, kind.into());
    write_number(out, value_len as u64);
}

/// Bytes of the header of the largest packet: the room to leave for it when the length of the packet is only
/// known behind it.
pub const PACKET_HEADER_BYTES: usize = 4;

/// Writes the header of a packet, whose type takes one byte, in front of its value, which is the bytes of
/// `wire` from [`PACKET_HEADER_BYTES`] to `end`. Says where the packet begins; `None` if the header has no
/// room there, as it has for each packet that may be sent.
///
/// ```
/// use cairn_packet::ndn::{tlv, types};
/// let mut wire = [0, 0, 0, 0, 7, 1, 8];
/// assert_eq!(tlv::write_packet_header(&mut wire, types::DATA, 7), Some(2));
/// assert_eq!(wire[2..], [6, 3, 7, 1, 8]);
/// ```
pub fn write_packet_header(wire: &mut [u8], kind: u32, end: usize) -> Option<usize> {
    let kind = u8::try_from(kind).ok().filter(|kind| *kind < 253)?;
    let len = u16::try_from(end.checked_sub(PACKET_HEADER_BYTES)?).ok()?;
    let [high, low] = len.to_be_bytes();
    let (short, long) = ([kind, low], [kind, 253, high, low]);
    let header = if len < 253 { &short[..] } else { &long };
    let start = PACKET_HEADER_BYTES - header.len();
    wire.get_mut(start..PACKET_HEADER_BYTES)?.copy_from_slice(header);
    Some(start)
}

/// Appends a whole element.
#[inline]
pub fn write_element(out: &mut Vec<u8>, kind: u32, value: &[u8]) {
    write_header(out, kind, value.len());
    out.extend_from_slice(value);
}

/// Appends the digits of a NonNegativeInteger in its shortest form, without type and length.
#[inline]
pub fn write_nni(out: &mut Vec<u8>, value: u64) {
    let digits = value.to_be_bytes();
    out.extend_from_slice(&digits[8 - nni_len(value)..]);
}

/// Appends an element of type `kind` that holds the NonNegativeInteger `value`.
#[inline]
pub fn write_nni_element(out: &mut Vec<u8>, kind: u32, value: u64) {
    write_header(out, kind, nni_len(value));
    write_nni(out, value);
}

/// Appends the same if there is a `value`.
#[inline]
pub fn write_optional_nni(out: &mut Vec<u8>, kind: u32, value: Option<u64>) {
    if let Some(value) = value {
        write_nni_element(out, kind, value);
    }
}

/// Appends a Name.
#[inline]
pub fn write_name(out: &mut Vec<u8>, name: &Name) {
    write_element(out, types::NAME, name.canonical());
}

/// Appends an element of type `kind` whose value `write` appends.
pub fn write_container(out: &mut Vec<u8>, kind: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let mut value = Vec::new();
    write(&mut value);
    write_element(out, kind, &value);
}
