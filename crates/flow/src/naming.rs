//! How versions and segments are written in names (NDN naming conventions), and what metadata says (Realtime
//! Data Retrieval).

use packet::ccnx::markers;
use packet::ndn::{tlv, types};
use packet::{Component, ComponentKind, DecodeError, Dialect, Name, NameRef};
use thiserror::Error;

/// The dialect of all that is published and fetched by these conventions; Interests of another ask for
/// something else.
pub(crate) const DIALECT: Dialect = Dialect::Ndn;

/// How numbers in names are told from other components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamingConvention {
    /// By the component's type (revision 3): `/a/v=1/seg=0`.
    #[default]
    Typed,
    /// By the first byte of a generic component (revision 1), as older applications have it.
    Marker,
    /// As CCNx 0.8 has it: the same markers, and numbers in as few bytes as will do.
    Ccnx,
}

impl NamingConvention {
    /// `name` with a version.
    ///
    /// # Errors
    /// The name would be over-long.
    pub fn with_version(self, name: &Name, version: u64) -> Result<Name, DecodeError> {
        self.with_number(name, version, ComponentKind::VERSION, markers::VERSION)
    }

    /// `name` with a segment number.
    ///
    /// # Errors
    /// The name would be over-long.
    pub fn with_segment(self, name: &Name, segment: u64) -> Result<Name, DecodeError> {
        self.with_number(name, segment, ComponentKind::SEGMENT, markers::SEGMENT)
    }

    fn with_number(
        self,
        name: &Name,
        number: u64,
        kind: ComponentKind,
        marker: u8,
    ) -> Result<Name, DecodeError> {
        let mut value = Vec::with_capacity(9);
        name.with(self.component(&mut value, number, kind, marker))
    }

    /// Appends the component with a segment number, as it stands in a name.
    pub(crate) fn append_segment(self, out: &mut Vec<u8>, segment: u64) {
        let mut value = Vec::with_capacity(9);
        self.component(&mut value, segment, ComponentKind::SEGMENT, markers::SEGMENT).append_to(out);
    }

    /// The segment number that a component holds; those of NDN are read by either of its conventions.
    pub(crate) fn segment_of(self, component: Component<'_>) -> Option<u64> {
        match self {
            NamingConvention::Typed | NamingConvention::Marker => segment_number(component),
            NamingConvention::Ccnx => markers::parse_segment(component.value),
        }
    }

    /// The segment number that a component holds, if it is written just as this convention of NDN writes it.
    /// The other convention's component would be another name, and so would a number in more bytes than it
    /// needs.
    pub(crate) fn own_segment_of(self, component: Component<'_>) -> Option<u64> {
        let segment = segment_number(component)?;
        let (kind, marker_bytes) = match self {
            NamingConvention::Typed => (ComponentKind::SEGMENT, 0),
            NamingConvention::Marker => (ComponentKind::GENERIC, 1),
            // Objects of CCNx are published otherwise.
            NamingConvention::Ccnx => return None,
        };
        let same = component.kind == kind && component.value.len() == marker_bytes + tlv::nni_len(segment);
        same.then_some(segment)
    }

    /// The component with a number, whose value is put together in `value`.
    fn component(self, value: &mut Vec<u8>, number: u64, kind: ComponentKind, marker: u8) -> Component<'_> {
        let kind = match self {
            NamingConvention::Typed => kind,
            NamingConvention::Marker => {
                value.push(marker);
                ComponentKind::GENERIC
            }
            NamingConvention::Ccnx => {
                let zeros = number.leading_zeros() as usize / 8;
                value.push(marker);
                value.extend_from_slice(number.to_be_bytes().get(zeros..).unwrap_or_default());
                return Component::generic(value);
            }
        };
        tlv::write_nni(value, number);
        Component::new(kind, value)
    }
}

/// The segment number that a component holds by either convention.
pub fn segment_number(component: Component<'_>) -> Option<u64> {
    number(component, ComponentKind::SEGMENT, markers::SEGMENT)
}

/// The version that a component holds by either convention.
pub fn version_number(component: Component<'_>) -> Option<u64> {
    number(component, ComponentKind::VERSION, markers::VERSION)
}

fn number(component: Component<'_>, kind: ComponentKind, marker: u8) -> Option<u64> {
    match component.kind {
        ComponentKind::GENERIC => match component.value.split_first() {
            Some((first, rest)) if *first == marker => Component::generic(rest).number(),
            _ => None,
        },
        other if other == kind => component.number(),
        _ => None,
    }
}

/// The keyword component under which a producer tells about the latest version.
pub const METADATA: Component<'static> = Component::new(ComponentKind::KEYWORD, b"metadata");

/// What a metadata packet says about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The object's name with its version.
    pub name: Name,
    /// The number of the last segment.
    pub last_segment: Option<u64>,
    /// Bytes in each segment but the last.
    pub segment_bytes: Option<u64>,
    /// Bytes in all.
    pub size_bytes: Option<u64>,
}

/// Why a metadata packet does not tell of an object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MetadataError {
    /// It cannot be read.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
    /// It is about something else than what was asked for.
    #[error("it tells of {0}")]
    OtherObject(Name),
}

/// Bytes in each segment but the last, in file-server metadata.
const SEGMENT_SIZE: u32 = 0xf500;
/// Bytes in all, in file-server metadata.
const SIZE: u32 = 0xf502;

impl Metadata {
    /// Appends the content of a metadata packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        tlv::write_name(out, &self.name);
        if let Some(last) = self.last_segment {
            let mut number = Vec::with_capacity(8);
            tlv::write_nni(&mut number, last);
            let mut block = Vec::with_capacity(12);
            Component::new(ComponentKind::SEGMENT, &number).append_to(&mut block);
            tlv::write_element(out, types::FINAL_BLOCK_ID, &block);
        }
        for (kind, value) in [(SEGMENT_SIZE, self.segment_bytes), (SIZE, self.size_bytes)] {
            if let Some(value) = value {
                tlv::write_nni_element(out, kind, value);
            }
        }
    }

    /// Reads what should tell of an object whose name begins with `asked`.
    ///
    /// # Errors
    /// It cannot be read, or tells of something else.
    pub(crate) fn of_object(asked: &Name, content: &[u8]) -> Result<Self, MetadataError> {
        let metadata = Metadata::decode(content)?;
        match asked.as_ref().is_prefix_of(metadata.name.as_ref()) {
            true => Ok(metadata),
            false => Err(MetadataError::OtherObject(metadata.name)),
        }
    }

    /// Reads the content of a metadata packet. The first name counts; what else stands there is an extension,
    /// and skipped whatever its number, as other consumers do.
    ///
    /// # Errors
    /// Broken TLVs, a broken name, or none.
    pub fn decode(content: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = tlv::Reader::new(content, "metadata");
        let (mut name, mut last_segment, mut segment_bytes, mut size_bytes) = (None, None, None, None);
        while let Some(element) = reader.element()? {
            match element.kind {
                types::NAME if name.is_none() => name = Some(tlv::read_name(element)?),
                types::FINAL_BLOCK_ID => {
                    last_segment =
                        NameRef::decode(element.value).ok().and_then(NameRef::last).and_then(segment_number);
                }
                SEGMENT_SIZE => segment_bytes = tlv::read_nni(element, "SegmentSize").ok(),
                SIZE => size_bytes = tlv::read_nni(element, "Size").ok(),
                _ => {}
            }
        }
        let missing = || DecodeError::new("Name", content.len(), packet::Rule::Missing);
        Ok(Metadata { name: name.ok_or_else(missing)?, last_segment, segment_bytes, size_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_by_either_convention_and_read_by_both() {
        let name: Name = "/A".parse().unwrap();
        for (convention, expected) in
            [(NamingConvention::Typed, "080141320102"), (NamingConvention::Marker, "08014108020002")]
        {
            let name = convention.with_segment(&name, 2).unwrap();
            assert_eq!(packet::hex::encode(name.canonical()), expected);
            assert_eq!(name.as_ref().last().and_then(segment_number), Some(2));
            assert_eq!(name.as_ref().last().and_then(version_number), None);
        }
        let typed = NamingConvention::Typed.with_version(&name, 1_617_592_200_702).unwrap();
        assert_eq!(&typed.canonical()[3..], b"\x36\x08\x00\x00\x01\x78\xa0\x02\x2d\xfe");
        let marked = NamingConvention::Marker.with_version(&name, 300).unwrap();
        assert_eq!(&marked.canonical()[3..], b"\x08\x03\xfd\x01\x2c");
        assert_eq!(marked.as_ref().last().and_then(version_number), Some(300));
    }

    #[test]
    fn metadata_begins_with_the_versioned_name() {
        let metadata = Metadata {
            name: "/A/v=1".parse().unwrap(),
            last_segment: None,
            segment_bytes: None,
            size_bytes: None,
        };
        let mut content = Vec::new();
        metadata.encode(&mut content);
        // As the specification's example.
        assert_eq!(content, b"\x07\x06\x08\x01\x41\x36\x01\x01");
        assert_eq!(Metadata::decode(&content), Ok(metadata));
    }

    #[test]
    fn metadata_of_a_file_server_tells_sizes_and_unknown_elements_are_skipped() {
        // 99 is critical by its number, and yet an extension here.
        let content = b"\x63\x00\x07\x06\x08\x01\x41\x36\x01\x01\x1a\x03\x32\x01\x09\xfd\xf5\x00\x02\x1f\x40\xfd\xf5\x02\x04\x00\x01\x13\x88\xfd\xf5\x04\x02\x81\xa4";
        let metadata = Metadata::decode(content).unwrap();
        assert_eq!(metadata.name.to_string(), "/A/v=1");
        assert_eq!(
            (metadata.last_segment, metadata.segment_bytes, metadata.size_bytes),
            (Some(9), Some(8000), Some(70536))
        );
        let mut again = Vec::new();
        metadata.encode(&mut again);
        assert_eq!(Metadata::decode(&again), Ok(metadata));
        assert!(Metadata::decode(b"").is_err());
        assert!(Metadata::decode(b"\x07\x05\x08").is_err());
    }
}
