//! What clients have registered: for each prefix and face, how and until when.

use std::collections::BTreeMap;

use engine::FaceId;
use packet::Name;
use packet::ccnx::management::ForwardingFlags;
use packet::time::Instant;

/// All registrations, those of a prefix beside each other.
pub(super) type Entries = BTreeMap<(Name, FaceId), Registration>;

/// What was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Registration {
    pub(super) flags: ForwardingFlags,
    pub(super) until: Instant,
}
