//! What is wrong with a packet, where, and which rule it breaks.

use thiserror::Error;

/// A packet that could not be decoded. The field names the innermost element being read; the offset counts
/// bytes from the start of the decoded buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} at byte {offset}: {rule}")]
pub struct DecodeError {
    /// The element that was being read, in the words of its specification.
    pub field: &'static str,
    /// Where that element, or the offending byte in it, starts.
    pub offset: usize,
    /// The rule that was broken.
    pub rule: Rule,
}

/// The rules a decoder enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Rule {
    /// The bytes end before the element does.
    #[error("truncated: {missing} more bytes were announced")]
    Truncated {
        /// How many bytes are missing at least.
        missing: usize,
    },
    /// A number was not written in its shortest form.
    #[error("number is not in its shortest form")]
    NotShortest,
    /// A TLV-TYPE, or a component type, outside its legal range.
    #[error("type {0} is out of range")]
    TypeOutOfRange(u64),
    /// Another element was expected here.
    #[error("unexpected element of type {0}")]
    UnexpectedType(u64),
    /// An unrecognised element that may not be ignored.
    #[error("unrecognised critical element of type {0}")]
    UnrecognisedCritical(u64),
    /// A recognised element that came too late or twice and may not be ignored.
    #[error("element is out of order or repeated")]
    OutOfOrder,
    /// The length is not one the element may have.
    #[error("length {0} is not allowed here")]
    BadLength(usize),
    /// A required element is absent.
    #[error("missing")]
    Missing,
    /// The value is outside the range the specification gives.
    #[error("value {0} is not allowed here")]
    BadValue(u64),
    /// More bytes follow after the end of the packet.
    #[error("{0} bytes follow after the end")]
    Trailing(usize),
    /// The packet is larger than the protocol allows.
    #[error("{size} bytes are more than the limit of {limit}")]
    TooLarge {
        /// Size found.
        size: usize,
        /// Size allowed.
        limit: usize,
    },
    /// A list has more entries than it may.
    #[error("more than {limit} entries")]
    TooManyEntries {
        /// Entries allowed.
        limit: usize,
    },
    /// The name has more components than any packet's may have.
    #[error("{found} components are more than the limit of {limit}")]
    TooManyComponents {
        /// Components found.
        found: usize,
        /// Components allowed.
        limit: usize,
    },
    /// Elements are nested more deeply than any known message.
    #[error("nested too deeply")]
    TooDeep,
    /// A text that is not what the format asks for (UTF-8, decimal digits).
    #[error("malformed text")]
    BadText,
    /// ccnb: another kind of block was expected here.
    #[error("unexpected {0} block")]
    UnexpectedBlock(&'static str),
}

impl DecodeError {
    /// An error about `field` at `offset`.
    pub const fn new(field: &'static str, offset: usize, rule: Rule) -> Self {
        DecodeError { field, offset, rule }
    }

    /// The same error seen from an enclosing buffer in which this one starts at byte `base`.
    pub const fn shifted(self, base: usize) -> Self {
        DecodeError { field: self.field, offset: self.offset + base, rule: self.rule }
    }
}

/// A packet that cannot be encoded because what it should hold breaks a rule of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The packet would exceed the protocol's size limit.
    #[error("the packet would be {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Size it would have.
        size: usize,
        /// Size allowed.
        limit: usize,
    },
    /// A field holds something that cannot be put on the wire.
    #[error("{0}")]
    Invalid(DecodeError),
}

impl From<DecodeError> for EncodeError {
    fn from(error: DecodeError) -> Self {
        EncodeError::Invalid(error)
    }
}
