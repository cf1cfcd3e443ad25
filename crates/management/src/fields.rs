//! Reading and writing the fields of one container.
//!
//! Reading is tolerant, as NFD's command decoders are: fields may stand in any order, the first of a kind
//! counts, and what is not known is passed over. Writing is strict: callers write fields in the order of the
//! specification, which other implementations rely on.

use packet::Name;
use packet::error::{DecodeError, Rule};
use packet::ndn::tlv::{self, Element, Reader};
use packet::ndn::types::NAME;

pub(crate) use packet::ndn::tlv::{write_container, write_name, write_optional_nni as write_number};

/// The fields inside one container, all of them well-formed elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    reader: Reader<'a>,
    start: usize,
}

impl<'a> Fields<'a> {
    /// The fields that `reader` has still to read.
    pub(crate) fn new(reader: Reader<'a>) -> Result<Self, DecodeError> {
        let mut walk = reader;
        while walk.element()?.is_some() {}
        Ok(Fields { reader, start: reader.position() })
    }

    /// The fields inside the element of type `kind` that `wire` begins with.
    pub(crate) fn of_element(wire: &'a [u8], kind: u32, field: &'static str) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, field);
        let element = reader.required(kind, field)?;
        Fields::new(reader.inside(element, field))
    }

    /// The fields inside `element`, one of these.
    pub(crate) fn inside(&self, element: Element<'a>, field: &'static str) -> Result<Self, DecodeError> {
        Fields::new(self.reader.inside(element, field))
    }

    /// All elements, in their order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let mut reader = self.reader;
        // They were checked by `new`.
        std::iter::from_fn(move || reader.element().ok().flatten())
    }

    /// All elements of type `kind`, in their order.
    pub(crate) fn all(&self, kind: u32) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.elements().filter(move |element| element.kind == kind)
    }

    pub(crate) fn first(&self, kind: u32) -> Option<Element<'a>> {
        self.all(kind).next()
    }

    pub(crate) fn number(&self, kind: u32, field: &'static str) -> Result<Option<u64>, DecodeError> {
        self.first(kind).map(|element| tlv::read_nni(element, field)).transpose()
    }

    pub(crate) fn required_number(&self, kind: u32, field: &'static str) -> Result<u64, DecodeError> {
        self.number(kind, field)?.ok_or_else(|| self.missing(field))
    }

    pub(crate) fn text(&self, kind: u32, field: &'static str) -> Result<Option<String>, DecodeError> {
        self.first(kind).map(|element| read_text(element, field)).transpose()
    }

    pub(crate) fn required_text(&self, kind: u32, field: &'static str) -> Result<String, DecodeError> {
        self.text(kind, field)?.ok_or_else(|| self.missing(field))
    }

    pub(crate) fn name(&self) -> Result<Option<Name>, DecodeError> {
        self.first(NAME).map(tlv::read_name).transpose()
    }

    pub(crate) fn required_name(&self) -> Result<Name, DecodeError> {
        self.name()?.ok_or_else(|| self.missing("Name"))
    }

    /// The Name inside the element of type `kind`.
    pub(crate) fn wrapped_name(&self, kind: u32, field: &'static str) -> Result<Option<Name>, DecodeError> {
        let Some(element) = self.first(kind) else { return Ok(None) };
        self.inside(element, field)?.required_name().map(Some)
    }

    pub(crate) fn missing(&self, field: &'static str) -> DecodeError {
        DecodeError::new(field, self.start, Rule::Missing)
    }
}

fn read_text(element: Element<'_>, field: &'static str) -> Result<String, DecodeError> {
    match std::str::from_utf8(element.value) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(DecodeError::new(field, element.start, Rule::BadText)),
    }
}

/// Appends the text if there is one.
pub(crate) fn write_text(out: &mut Vec<u8>, kind: u32, value: Option<&str>) {
    if let Some(value) = value {
        tlv::write_element(out, kind, value.as_bytes());
    }
}

/// Appends a Name inside an element of type `kind`.
pub(crate) fn write_wrapped_name(out: &mut Vec<u8>, kind: u32, name: &Name) {
    tlv::write_header(out, kind, tlv::element_len(NAME, name.canonical().len()));
    write_name(out, name);
}
