//! What CCNx's forwarding entries say beside the next hop (CCNx 0.8, ForwardingFlags): namespaces of this
//! host alone (LOCAL), and faces that are sent every new Interest beside where the strategy sends it (TAP).

use std::collections::BTreeMap;

use packet::{Name, NameHash, NameRef, PrefixHashes, WireName};
use smallvec::SmallVec;

use crate::face_id::FaceId;

/// What is said of one prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceRules {
    /// Interests under it come from this host and stay there, and so does Data (LOCAL).
    pub stays_on_host: bool,
    /// Of its next hops those that see every new Interest (TAP).
    pub taps: SmallVec<[FaceId; 1]>,
}

/// Prefixes of which something is said. Empty almost everywhere.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    rules: BTreeMap<NameHash, (Name, NamespaceRules)>,
    /// How many of them stay on this host.
    staying: usize,
}

impl Namespaces {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether any prefix stays on this host.
    #[inline]
    pub(crate) fn any_stays(&self) -> bool {
        self.staying > 0
    }

    /// Says of a prefix with this hash what holds there from now on.
    pub(crate) fn set(&mut self, prefix: NameRef<'_>, hash: NameHash, rules: NamespaceRules) {
        let stays = rules.stays_on_host;
        let before = match rules == NamespaceRules::default() {
            true => self.rules.remove(&hash),
            false => self.rules.insert(hash, (prefix.to_name(), rules)),
        };
        let stayed = before.is_some_and(|(_, before)| before.stays_on_host);
        self.staying = self.staying + usize::from(stays) - usize::from(stayed);
    }

    /// Whether a name with these hashes, or a prefix of it, stays on this host.
    pub(crate) fn stays_on_host(&self, name: WireName<'_>, hashes: &PrefixHashes) -> bool {
        let longest = hashes.longest_known_prefix();
        let lengths = (0..=longest).chain([hashes.component_count()]);
        self.any_stays()
            && lengths.filter_map(|length| hashes.prefix(length)).any(|hash| {
                let of_hash = self.rules.get(&hash);
                of_hash
                    .is_some_and(|(prefix, rules)| rules.stays_on_host && name.begins_with(prefix.as_ref()))
            })
    }

    /// The faces that see every new Interest whose next hops are those of the prefix with this hash.
    pub(crate) fn taps(&self, hash: NameHash) -> SmallVec<[FaceId; 1]> {
        self.rules.get(&hash).map(|(_, rules)| rules.taps.clone()).unwrap_or_default()
    }
}
