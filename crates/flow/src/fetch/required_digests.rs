//! Segments that are asked for by their implicit digest, because something else came under their names.

use std::collections::BTreeMap;

use packet::ndn::InterestBuilder;
use packet::{Component, ComponentKind, Name, NameRef};

use super::MAX_REFUSED_IN_A_ROW;

/// The digests of segments that were refused. No cache and nobody on the way can answer with another packet
/// then.
#[derive(Debug, Default)]
pub(super) struct RequiredDigests(BTreeMap<u64, [u8; 32]>);

impl RequiredDigests {
    /// Of more than are refused before a fetch ends none need be known.
    pub(super) fn insert(&mut self, segment: u64, digest: [u8; 32]) {
        if self.0.len() < MAX_REFUSED_IN_A_ROW as usize {
            self.0.insert(segment, digest);
        }
    }

    pub(super) fn remove(&mut self, segment: u64) {
        self.0.remove(&segment);
    }

    /// The Interest for a segment of this name; without its digest if the name would become too long.
    pub(super) fn interest(&self, segment: u64, name: Name) -> InterestBuilder {
        let digest = self.0.get(&segment);
        let digest = digest.map(|digest| Component::new(ComponentKind::IMPLICIT_DIGEST, digest));
        InterestBuilder::new(digest.and_then(|digest| name.with(digest).ok()).unwrap_or(name))
    }
}

/// What an Interest asks for, less the digest that the answer must have.
pub(super) fn without_digest(name: NameRef<'_>) -> NameRef<'_> {
    match name.last() {
        Some(last) if last.kind == ComponentKind::IMPLICIT_DIGEST => name.prefix(name.component_count() - 1),
        _ => name,
    }
}
