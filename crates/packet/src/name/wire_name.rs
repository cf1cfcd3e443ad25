//! The name of a packet in the form that it has on the wire.

use super::{Component, NameRef};
use crate::Dialect;
use crate::ccnx::CcnxNameRef;

/// A name as the packet that it was found in has it. Nothing has to be written anew to hash it, or to compare
/// it with another of its dialect.
#[derive(Clone, Copy, Debug)]
pub enum WireName<'a> {
    /// In a packet of NDN, whose names are in canonical form.
    Ndn(NameRef<'a>),
    /// In a packet of CCNx.
    Ccnx(CcnxNameRef<'a>),
}

impl<'a> WireName<'a> {
    /// The language that it is written in.
    #[inline]
    pub fn dialect(&self) -> Dialect {
        match self {
            WireName::Ndn(_) => Dialect::Ndn,
            WireName::Ccnx(_) => Dialect::Ccnx,
        }
    }

    /// Whether the components of `prefix` are the first ones of this.
    #[inline]
    pub fn begins_with(&self, prefix: NameRef<'_>) -> bool {
        match self {
            WireName::Ndn(name) => prefix.is_prefix_of(*name),
            WireName::Ccnx(name) => name.begins_with(prefix),
        }
    }

    /// The component behind the prefix of `count` components, if there is one.
    pub fn component(&self, count: usize) -> Option<Component<'a>> {
        match self {
            WireName::Ndn(name) => name.component(count),
            WireName::Ccnx(name) => name.component(count).map(Component::generic),
        }
    }

    /// Appends the canonical form.
    pub fn append_canonical(&self, out: &mut Vec<u8>) {
        match self {
            WireName::Ndn(name) => out.extend_from_slice(name.canonical()),
            WireName::Ccnx(name) => name.append_canonical(out),
        }
    }
}
