//! One part of a name: a type and any bytes.

use std::cmp::Ordering;

use crate::error::{DecodeError, Rule};
use crate::ndn::tlv::{self, Element};

/// TLV-TYPE of a name component, 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentKind(u16);

impl ComponentKind {
    /// ImplicitSha256DigestComponent: SHA-256 of the whole Data, 32 bytes.
    pub const IMPLICIT_DIGEST: ComponentKind = ComponentKind(1);
    /// ParametersSha256DigestComponent: SHA-256 of an Interest's parameters, 32 bytes.
    pub const PARAMETERS_DIGEST: ComponentKind = ComponentKind(2);
    /// GenericNameComponent.
    pub const GENERIC: ComponentKind = ComponentKind(8);
    /// KeywordNameComponent.
    pub const KEYWORD: ComponentKind = ComponentKind(32);
    /// SegmentNameComponent: index from 0.
    pub const SEGMENT: ComponentKind = ComponentKind(50);
    /// ByteOffsetNameComponent: bytes.
    pub const BYTE_OFFSET: ComponentKind = ComponentKind(52);
    /// VersionNameComponent: any growing number.
    pub const VERSION: ComponentKind = ComponentKind(54);
    /// TimestampNameComponent: microseconds since the Unix epoch.
    pub const TIMESTAMP: ComponentKind = ComponentKind(56);
    /// SequenceNumNameComponent: index from 0.
    pub const SEQUENCE_NUMBER: ComponentKind = ComponentKind(58);

    /// The kind with this number; `None` for 0.
    pub const fn new(number: u16) -> Option<Self> {
        if number == 0 { None } else { Some(ComponentKind(number)) }
    }

    /// The number on the wire.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// True for the two kinds whose value is a SHA-256 digest.
    pub const fn is_digest(self) -> bool {
        matches!(self, ComponentKind::IMPLICIT_DIGEST | ComponentKind::PARAMETERS_DIGEST)
    }
}

/// A borrowed component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component<'a> {
    /// Its type.
    pub kind: ComponentKind,
    /// Its bytes; may be empty.
    pub value: &'a [u8],
}

impl<'a> Component<'a> {
    /// A generic component.
    pub const fn generic(value: &'a [u8]) -> Self {
        Component { kind: ComponentKind::GENERIC, value }
    }

    /// A component of another kind.
    pub const fn new(kind: ComponentKind, value: &'a [u8]) -> Self {
        Component { kind, value }
    }

    /// The value as a NonNegativeInteger, if it is one in any legal width.
    pub fn number(self) -> Option<u64> {
        match self.value.len() {
            1 | 2 | 4 | 8 => Some(self.value.iter().fold(0, |number, &digit| number << 8 | u64::from(digit))),
            _ => None,
        }
    }

    /// Bytes of the component's TLV.
    #[inline]
    pub fn encoded_len(self) -> usize {
        tlv::element_len(self.kind.0.into(), self.value.len())
    }

    /// Appends the component's TLV.
    pub fn append_to(self, out: &mut Vec<u8>) {
        tlv::write_element(out, self.kind.0.into(), self.value);
    }

    /// Checks what a component must obey wherever it stands.
    pub(crate) fn check(self, offset: usize) -> Result<(), DecodeError> {
        if self.kind.is_digest() && self.value.len() != 32 {
            return Err(digest_length(self.kind, offset, self.value.len()));
        }
        Ok(())
    }

    /// The component in a TLV found inside a Name.
    #[inline]
    pub(crate) fn from_element(element: Element<'a>) -> Result<Self, DecodeError> {
        match u16::try_from(element.kind) {
            Ok(kind @ (1 | 2)) if element.value.len() != 32 => {
                Err(digest_length(ComponentKind(kind), element.start, element.value.len()))
            }
            Ok(kind) => Ok(Component { kind: ComponentKind(kind), value: element.value }),
            Err(_) => Err(DecodeError::new(
                "NameComponent",
                element.start,
                Rule::TypeOutOfRange(element.kind.into()),
            )),
        }
    }

    /// The component in a TLV that was checked before.
    #[inline]
    pub(crate) fn from_checked(element: Element<'a>) -> Self {
        Component { kind: ComponentKind(element.kind as u16), value: element.value }
    }
}

#[cold]
fn digest_length(kind: ComponentKind, offset: usize, length: usize) -> DecodeError {
    let field = match kind {
        ComponentKind::IMPLICIT_DIGEST => "ImplicitSha256DigestComponent",
        _ => "ParametersSha256DigestComponent",
    };
    DecodeError::new(field, offset, Rule::BadLength(length))
}

impl PartialOrd for Component<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Component<'_> {
    /// Canonical order: type, then length, then bytes.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.kind, self.value.len(), self.value).cmp(&(other.kind, other.value.len(), other.value))
    }
}
