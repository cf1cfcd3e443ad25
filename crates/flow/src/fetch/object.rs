//! What is being fetched: a name, and how segments are written below it.

use packet::ndn::tlv;
use packet::{Component, Name, NameRef};

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
        let kind = packet::ComponentKind::new(u16::try_from(element.kind).ok()?)?;
        segment_number(Component::new(kind, element.value))
    }
}

pub(super) fn convention_of(name: &Name, wanted: Option<NamingConvention>) -> NamingConvention {
    let marked = name
        .as_ref()
        .last()
        .is_some_and(|last| last.kind == packet::ComponentKind::GENERIC && version_number(last).is_some());
    wanted.unwrap_or(if marked { NamingConvention::Marker } else { NamingConvention::Typed })
}
