//! What is being fetched: a name, and how segments are written below it.

use packet::ndn::tlv;
use packet::{Component, ComponentKind, Name, NameRef};

use crate::naming::NamingConvention;

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
