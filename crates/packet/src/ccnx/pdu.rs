//! What CCNx sends beside Interests and ContentObjects: sequence numbers, and the wrapper for link adapters.

use crate::ccnx::block::{body_element_len, element_len, write_blob_element, write_close, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::{DecodeError, Rule};

/// The CCNProtocolDataUnit with nothing in it. A link adapter (udplink, ndnld) sends it to ccnd to say what
/// it is; from then on ccnd wraps everything it sends on that face.
pub const EMPTY_PDU: [u8; 5] = *b"CCN\x82\x00";

/// What stands before a message in a CCNProtocolDataUnit; behind it stands [`CLOSE`].
pub const OPENING: [u8; 4] = *b"CCN\x82";

pub use crate::ccnx::block::CLOSE;

/// What is in the CCNProtocolDataUnit that fills `wire`: whole messages one after the other, usually one, or
/// none.
///
/// # Errors
/// Anything but a CCNProtocolDataUnit with whole elements in it.
pub fn unwrap_pdu(wire: &[u8]) -> Result<&[u8], DecodeError> {
    let mut reader = Reader::new(wire, FIELD);
    let content = read_pdu(&mut reader)?;
    reader.finish()?;
    Ok(content)
}

/// The CCNProtocolDataUnit around `message`, which is one whole message.
pub fn wrap_pdu(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(element_len(Dtag::PROTOCOL_DATA_UNIT, message.len()));
    write_open(&mut out, Dtag::PROTOCOL_DATA_UNIT);
    out.extend_from_slice(message);
    write_close(&mut out);
    out
}

const FIELD: &str = "CCNProtocolDataUnit";

fn read_pdu<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    reader.open(Dtag::PROTOCOL_DATA_UNIT, FIELD)?;
    let start = reader.position();
    while !reader.at_close() {
        reader.skip_element_inside(FIELD, 1)?;
    }
    let content = reader.read_since(start);
    reader.close(FIELD)?;
    Ok(content)
}

/// SequenceNumber: counts the datagrams between two ccnd, so that the receiver can tell how many were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceNumber {
    number: u64,
    width: u8,
}

impl SequenceNumber {
    /// How many bytes the number may have.
    pub const WIDTHS: std::ops::RangeInclusive<usize> = 1..=6;

    /// A counter in the two bytes that ccnd uses.
    pub const fn new(counter: u16) -> Self {
        SequenceNumber { number: counter as u64, width: 2 }
    }

    /// The number that is on the wire as `bytes`; `None` unless there are 1 to 6.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let width = u8::try_from(bytes.len()).ok().filter(|_| Self::WIDTHS.contains(&bytes.len()))?;
        let number = bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        Some(SequenceNumber { number, width })
    }

    /// The number, below 2^48.
    pub const fn get(self) -> u64 {
        self.number
    }

    /// Bytes of the number on the wire. Numbers of one sender wrap around at this width.
    pub const fn width_bytes(self) -> usize {
        self.width as usize
    }

    /// The number behind this one, of the same width.
    #[must_use]
    pub const fn next(self) -> Self {
        let last = (1 << (8 * self.width)) - 1;
        SequenceNumber { number: if self.number >= last { 0 } else { self.number + 1 }, width: self.width }
    }

    /// How many numbers `later`, which has the same width, comes behind this one.
    pub const fn distance_to(self, later: Self) -> u64 {
        later.number.wrapping_sub(self.number) & ((1 << (8 * self.width)) - 1)
    }

    /// Reads a SequenceNumber element that fills `wire`.
    ///
    /// # Errors
    /// Anything but one BLOB of 1 to 6 bytes in it.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "SequenceNumber");
        let bytes = reader.blob_element(Dtag::SEQUENCE_NUMBER, "SequenceNumber", Self::WIDTHS)?;
        reader.finish()?;
        Self::from_bytes(bytes).ok_or(DecodeError::new("SequenceNumber", 0, Rule::BadLength(bytes.len())))
    }

    /// The element's bytes.
    pub fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(body_element_len(Dtag::SEQUENCE_NUMBER, self.width_bytes()));
        let bytes = self.number.to_be_bytes();
        let digits = bytes.get(bytes.len() - self.width_bytes()..).unwrap_or_default();
        write_blob_element(&mut out, Dtag::SEQUENCE_NUMBER, digits);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccnx::block::MAX_DEPTH;
    use crate::ccnx::framer::message_len;

    #[test]
    fn a_wrapper_holds_whole_messages_or_nothing() {
        assert_eq!(unwrap_pdu(&EMPTY_PDU), Ok(&[][..]));
        assert_eq!(wrap_pdu(&[]), EMPTY_PDU);
        let name = [0xf2, 0xfa, 0x00, 0x00];
        assert_eq!(unwrap_pdu(&wrap_pdu(&name)), Ok(&name[..]));
        assert_eq!(unwrap_pdu(&wrap_pdu(&[name, name].concat())), Ok(&[name, name].concat()[..]));
        let refused = |wire: &[u8]| unwrap_pdu(wire).unwrap_err();
        assert_eq!(refused(&name).rule, Rule::UnexpectedType(14));
        assert_eq!(refused(&wrap_pdu(&name[..3])).rule, Rule::Truncated { missing: 1 });
        assert_eq!(refused(&wrap_pdu(&[0x8d, 1])), DecodeError::new(FIELD, 4, Rule::UnexpectedBlock("BLOB")));
        assert_eq!(refused(&[&EMPTY_PDU[..], &[0]].concat()).rule, Rule::Trailing(1));
    }

    #[test]
    fn a_wrapper_that_can_be_opened_can_be_framed_however_deeply_what_it_holds_is_nested() {
        for depth in 1..=MAX_DEPTH as usize + 1 {
            let wire = wrap_pdu(&[vec![0xf2; depth], vec![0x00; depth]].concat());
            let is_framed = message_len(&wire) == Ok(Some(wire.len()));
            assert_eq!((depth, unwrap_pdu(&wire).is_ok()), (depth, is_framed));
            assert_eq!((depth, is_framed), (depth, depth < MAX_DEPTH as usize));
        }
    }

    #[test]
    fn sequence_numbers_count_around_at_their_width() {
        let number = |bytes: &[u8]| SequenceNumber::from_bytes(bytes).unwrap();
        assert_eq!(SequenceNumber::new(0xffff).next(), SequenceNumber::new(0));
        assert_eq!(number(&[0xff; 6]).next(), number(&[0; 6]));
        assert_eq!(number(&[0xff]).next().next(), number(&[1]));
        assert_eq!(SequenceNumber::new(0xfffe).distance_to(SequenceNumber::new(3)), 5);
        assert_eq!(SequenceNumber::new(7).distance_to(SequenceNumber::new(7)), 0);
    }

    #[test]
    fn sequence_numbers_keep_their_width() {
        // The sample of ccnx-0.8, section 7.
        assert_eq!(SequenceNumber::new(0x0102).encode(), [0x10, 0x82, 0x95, 0x01, 0x02, 0x00]);
        for width in 0..=7 {
            let mut wire = Vec::new();
            write_blob_element(&mut wire, Dtag::SEQUENCE_NUMBER, &vec![0x0f; width]);
            match SequenceNumber::decode(&wire) {
                Ok(number) => {
                    assert!((1..=6).contains(&width));
                    assert_eq!((number.width_bytes(), number.encode()), (width, wire));
                }
                Err(error) => assert_eq!((error.offset, error.rule), (0, Rule::BadLength(width))),
            }
        }
    }
}
