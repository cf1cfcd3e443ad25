//! What is being fetched: a name, and how segments are written below it.

use packet::ccnx::{ContentKind, markers};
use packet::ndn::tlv;
use packet::{Component, ComponentKind, ContentType, Data, Dialect, Name, NameRef};

use super::FetchConfig;
use crate::naming::{NamingConvention, segment_number, version_number};

/// What is being fetched.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The name that segment numbers are appended to.
    pub(super) name: Name,
    pub(super) convention: NamingConvention,
}

impl Object {
    /// The segment that `name` names, if it is one of this object.
    pub(super) fn segment(&self, name: NameRef<'_>) -> Option<u64> {
        let rest = name.canonical().strip_prefix(&self.name.canonical()[..])?;
        let mut reader = tlv::Reader::new(rest, "Name");
        let element = reader.element().ok()??;
        reader.is_empty().then_some(())?;
        let kind = ComponentKind::new(u16::try_from(element.kind).ok()?)?;
        self.convention.segment_of(Component::new(kind, element.value))
    }
}

/// The last segment's number, as FinalBlockId says.
pub(super) fn final_segment(data: &Data) -> Option<u64> {
    match data.ccnx() {
        Some(object) => object.final_block_id().and_then(markers::parse_segment),
        None => data.final_block().and_then(segment_number),
    }
}

/// Whether the producer says by this packet that it has no such object.
pub(super) fn is_refusal(data: &Data) -> bool {
    match data.ccnx() {
        Some(object) => object.kind() == ContentKind::Nack,
        None => data.content_type() == Some(ContentType::NACK),
    }
}

/// The segment that a packet's last component names, and how.
pub(super) fn numbered(last: Component<'_>, dialect: Dialect) -> Option<(u64, NamingConvention)> {
    let convention = match (dialect, last.kind) {
        (Dialect::Ccnx, _) => NamingConvention::Ccnx,
        (Dialect::Ndn, ComponentKind::SEGMENT) => NamingConvention::Typed,
        (Dialect::Ndn, _) => NamingConvention::Marker,
    };
    Some((convention.segment_of(last)?, convention))
}

/// Whether a name ends in a version.
pub(super) fn is_versioned(name: &Name, dialect: Dialect) -> bool {
    let last = name.as_ref().last();
    match dialect {
        Dialect::Ndn => last.and_then(version_number).is_some(),
        Dialect::Ccnx => last.is_some_and(|last| markers::parse_version(last.value).is_some()),
    }
}

pub(super) fn convention_of(name: &Name, config: &FetchConfig) -> NamingConvention {
    if config.dialect == Dialect::Ccnx {
        return NamingConvention::Ccnx;
    }
    let marked = name
        .as_ref()
        .last()
        .is_some_and(|last| last.kind == ComponentKind::GENERIC && version_number(last).is_some());
    config.convention.unwrap_or(if marked { NamingConvention::Marker } else { NamingConvention::Typed })
}
