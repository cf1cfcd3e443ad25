//! Which faces Interests under a registered prefix go to: its own, and as in ccnd those of shorter prefixes
//! that are registered with CHILD_INHERIT, unless a longer one captures them.
//!
//! The engine asks the longest prefix alone. So that costs it nothing, what a prefix inherits is among its
//! own next hops there, and follows every change.

use std::collections::BTreeMap;

use engine::{FaceId, NextHop};
use packet::ccnx::management::ForwardingFlags;
use packet::{Dialect, Name};

use super::registrations::Registration;
use crate::control::{NextHopChange, NodeControl};

/// Who wants to be asked only where there is nobody else costs so much.
const LAST_COST: u64 = 1000;
/// What is inherited is asked after what is a prefix's own, but before the last.
const INHERITED_COST: u64 = 100;

pub(super) type Entries = BTreeMap<(Name, FaceId), Registration>;

/// What the engine was told, for each registered prefix.
#[derive(Debug, Default)]
pub(super) struct Inheritance(BTreeMap<Name, BTreeMap<FaceId, u64>>);

impl Inheritance {
    /// Has the engine know what follows from `entries` for `prefix` and the prefixes below it. Says whether
    /// it takes the hop that `essential` names, if it is among them.
    pub(super) fn update(
        &mut self,
        node: &mut dyn NodeControl,
        entries: &Entries,
        prefix: &Name,
        essential: Option<FaceId>,
    ) -> bool {
        // Who registers again has lost it, maybe.
        if let Some(face) = essential.filter(|face| next_hops(entries, prefix).contains_key(face)) {
            self.0.get_mut(prefix).and_then(|told| told.remove(&face));
        }
        let below = |name: &Name| prefix.as_ref().is_prefix_of(name.as_ref());
        let registered = entries.range((prefix.clone(), FaceId(0))..).map(|((name, _), _)| name);
        let known = self.0.range(prefix.clone()..).map(|(name, _)| name);
        let mut names: Vec<Name> = registered
            .take_while(|name| below(name))
            .chain(known.take_while(|name| below(name)))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        let mut changes = Vec::new();
        for name in names {
            self.compare(entries, &name, &mut changes);
        }
        let failed = node.change_next_hops(Dialect::Ccnx, changes);
        let mut is_taken = true;
        for (change, _) in failed {
            if let NextHopChange::Add { prefix: name, hop, .. } = change {
                is_taken &= !(name == *prefix && Some(hop.face) == essential);
                self.0.entry(name).or_default().remove(&hop.face);
            }
        }
        is_taken
    }

    /// Whether a prefix has a next hop only because a shorter one has it.
    pub(super) fn is_inherited(&self, entries: &Entries, prefix: &Name, face: FaceId) -> bool {
        let is_told = self.0.get(prefix).is_some_and(|told| told.contains_key(&face));
        is_told && !entries.contains_key(&(prefix.clone(), face))
    }

    /// A face is gone, and its next hops with it.
    pub(super) fn forget(&mut self, is_there: impl Fn(FaceId) -> bool) {
        self.0.values_mut().for_each(|hops| hops.retain(|face, _| is_there(*face)));
        self.0.retain(|_, hops| !hops.is_empty());
    }

    fn compare(&mut self, entries: &Entries, name: &Name, changes: &mut Vec<NextHopChange>) {
        let wanted = next_hops(entries, name);
        let told = self.0.remove(name).unwrap_or_default();
        for face in told.keys().filter(|face| !wanted.contains_key(face)) {
            changes.push(NextHopChange::Remove { prefix: name.clone(), face: *face });
        }
        for (&face, &cost) in wanted.iter().filter(|(face, cost)| told.get(face) != Some(cost)) {
            let hop = NextHop { face, cost };
            changes.push(NextHopChange::Add { prefix: name.clone(), hop, announcement: None });
        }
        if !wanted.is_empty() {
            self.0.insert(name.clone(), wanted);
        }
    }
}

/// The next hops of a prefix, with what they cost; none of one that nobody has registered.
fn next_hops(entries: &Entries, name: &Name) -> BTreeMap<FaceId, u64> {
    let mut hops = BTreeMap::new();
    let mut is_captured = false;
    let whole = name.as_ref().component_count();
    for count in (0..=whole).rev() {
        let level = name.prefix(count);
        let own = entries.range((level.clone(), FaceId(0))..=(level, FaceId(u32::MAX)));
        let mut captures = false;
        for ((_, face), Registration { flags, .. }) in own {
            let has = |flag| flags.contains(flag);
            let is_inherited =
                has(ForwardingFlags::CHILD_INHERIT) && !(is_captured && has(ForwardingFlags::CAPTURE_OK));
            captures |= has(ForwardingFlags::CAPTURE);
            if has(ForwardingFlags::ACTIVE) && (count == whole || is_inherited) {
                let last = if has(ForwardingFlags::LAST) { LAST_COST } else { 0 };
                let distance = if count == whole { 0 } else { INHERITED_COST };
                hops.entry(*face).or_insert(last + distance);
            }
        }
        if count == whole && hops.is_empty() {
            return hops;
        }
        is_captured |= captures;
    }
    hops
}

#[cfg(test)]
mod tests {
    use packet::ccnx::uri;
    use packet::time::Instant;

    use super::*;

    fn hops(registered: &[(&str, u32, u32)], name: &str) -> Vec<(u32, u64)> {
        let entries: Entries = registered
            .iter()
            .map(|&(prefix, face, flags)| {
                let registration = Registration { flags: ForwardingFlags(flags), until: Instant::NEVER };
                ((uri::parse(prefix).unwrap(), FaceId(face)), registration)
            })
            .collect();
        let hops = next_hops(&entries, &uri::parse(name).unwrap());
        hops.into_iter().map(|(face, cost)| (face.0, cost)).collect()
    }

    #[test]
    fn shorter_prefixes_are_inherited_unless_they_do_not_want_it_or_are_captured() {
        let [active, inherit, last, capture, capture_ok] = [1, 2, 8, 16, 128];
        let usual = active | inherit;
        let registered = [
            ("ccnx:/", 1, usual),
            ("ccnx:/a", 2, active),
            ("ccnx:/a", 3, usual | last),
            ("ccnx:/a", 4, usual | capture_ok),
            ("ccnx:/a/b", 5, active),
            ("ccnx:/a/c", 6, active | capture),
            ("ccnx:/a/d", 7, inherit),
            ("ccnx:/ab", 8, usual),
        ];
        assert_eq!(hops(&registered, "ccnx:/a"), [(1, 100), (2, 0), (3, 1000), (4, 0)]);
        assert_eq!(hops(&registered, "ccnx:/a/b"), [(1, 100), (3, 1100), (4, 100), (5, 0)]);
        assert_eq!(hops(&registered, "ccnx:/a/c"), [(1, 100), (3, 1100), (6, 0)]);
        // What is not active is none of its own, and what nobody registered has nothing to inherit for.
        assert_eq!(hops(&registered, "ccnx:/a/d"), []);
        assert_eq!(hops(&registered, "ccnx:/a/e"), []);
    }
}
