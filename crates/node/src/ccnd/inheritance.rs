//! Which faces Interests under a registered prefix go to: its own, and as in ccnd those of shorter prefixes
//! that are registered with CHILD_INHERIT, unless a longer one captures them.
//!
//! The engine asks the longest prefix alone. So that costs it nothing, what a prefix inherits is among its
//! own next hops there, and follows every change. It takes no room from them, and what the engine was told by
//! others, by the configuration for example, it leaves alone.

use std::collections::{BTreeMap, BTreeSet};

use engine::{FaceId, MAX_NEXT_HOPS, NamespaceRules, NextHop};
use packet::Name;
use packet::ccnx::management::ForwardingFlags;

use super::DIALECT;
use super::entries::{Entries, Registration};
use crate::control::{NextHopChange, NodeControl};

/// Who wants to be asked only where there is nobody else costs so much.
const LAST_COST: u64 = 1000;
/// What is inherited is asked after what is a prefix's own, but before the last.
const INHERITED_COST: u64 = 100;
/// Who sees every Interest anyway is asked instead of others only where nobody but the last is left.
const TAP_COST: u64 = 500;

type Hops = BTreeMap<FaceId, Hop>;

/// A next hop that a prefix has by registrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop {
    cost: u64,
    /// Whether it is registered for the prefix itself.
    is_own: bool,
    /// Whether it sees every new Interest, whoever else is asked.
    is_tap: bool,
}

/// What the engine was told, for each registered prefix: next hops, and rules where there are any.
#[derive(Debug, Default)]
pub(super) struct Inheritance(BTreeMap<Name, Hops>, BTreeMap<Name, NamespaceRules>);

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
        let ruled = self.1.range(prefix.clone()..).map(|(name, _)| name);
        let mut names: Vec<Name> = registered
            .take_while(|name| below(name))
            .chain(known.take_while(|name| below(name)))
            .chain(ruled.take_while(|name| below(name)))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        let with_hops = |name: Name| {
            let hops = next_hops(entries, &name);
            (name, hops)
        };
        let wanted: Vec<(Name, Hops)> = names.into_iter().map(with_hops).collect();
        let inherits = |hops: &Hops| hops.values().any(|hop| !hop.is_own);
        let is_inheriting =
            |(name, hops): &(Name, Hops)| inherits(hops) || self.0.get(name).is_some_and(inherits);
        // The engine's table may be long, and matters only to what is inherited.
        let present = if wanted.iter().any(is_inheriting) { present(node, prefix) } else { BTreeMap::new() };
        let mut changes = Vec::new();
        for (name, hops) in wanted {
            self.compare_rules(&name, rules(entries, &name, &hops), &mut changes);
            let present = present.get(&name).map_or(&[][..], |present| present);
            self.compare(name, hops, present, &mut changes);
        }
        let failed = node.change_next_hops(DIALECT, changes);
        let mut is_taken = true;
        for (change, _) in failed {
            if let NextHopChange::Add { prefix: name, hop, .. } = change {
                is_taken &= !(name == *prefix && Some(hop.face) == essential);
                self.0.entry(name).or_default().remove(&hop.face);
            }
        }
        is_taken
    }

    /// What is to change so that `rules` hold for a prefix.
    fn compare_rules(&mut self, name: &Name, rules: NamespaceRules, changes: &mut Vec<NextHopChange>) {
        let told = self.1.remove(name).unwrap_or_default();
        if told != rules {
            changes.push(NextHopChange::SetRules { prefix: name.clone(), rules: rules.clone() });
        }
        if rules != NamespaceRules::default() {
            self.1.insert(name.clone(), rules);
        }
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

    /// What is to change so that a prefix, for which the engine has the next hops `present`, has `wanted`.
    fn compare(
        &mut self,
        name: Name,
        mut wanted: Hops,
        present: &[NextHop],
        changes: &mut Vec<NextHopChange>,
    ) {
        let told = self.0.remove(&name).unwrap_or_default();
        // Whoever has changed its cost has made it theirs.
        let is_ours = |hop: &NextHop| told.get(&hop.face).is_some_and(|told| told.cost == hop.cost);
        let foreign: BTreeSet<FaceId> =
            present.iter().filter(|hop| !is_ours(hop)).map(|hop| hop.face).collect();
        leave_room(&mut wanted, &foreign);
        for (face, hop) in told.iter().filter(|(face, _)| !wanted.contains_key(face)) {
            if hop.is_own || !foreign.contains(face) {
                changes.push(NextHopChange::Remove { prefix: name.clone(), face: *face });
            }
        }
        for (&face, hop) in wanted.iter().filter(|(face, hop)| told.get(face) != Some(hop)) {
            let hop = NextHop { face, cost: hop.cost };
            changes.push(NextHopChange::Add { prefix: name.clone(), hop, announcement: None });
        }
        if !wanted.is_empty() {
            self.0.insert(name, wanted);
        }
    }
}

/// The engine's next hops for `prefix` and the prefixes below it, whoever told it of them.
fn present(node: &mut dyn NodeControl, prefix: &Name) -> BTreeMap<Name, Vec<NextHop>> {
    let routes = node.routes(DIALECT).into_iter();
    let below = routes.filter(|route| prefix.as_ref().is_prefix_of(route.prefix.as_ref()));
    below.map(|route| (route.prefix, route.next_hops)).collect()
}

/// Leaves of what is inherited what `foreign` next hops do not stand for already, and as many, cheapest
/// first, as there is room for beside them and the prefix's own.
fn leave_room(hops: &mut Hops, foreign: &BTreeSet<FaceId>) {
    hops.retain(|face, hop| hop.is_own || !foreign.contains(face));
    let own = hops.values().filter(|hop| hop.is_own).count();
    let others = foreign.iter().filter(|face| !hops.contains_key(face)).count();
    let mut inherited: Vec<(u64, FaceId)> =
        hops.iter().filter(|(_, hop)| !hop.is_own).map(|(face, hop)| (hop.cost, *face)).collect();
    inherited.sort_unstable();
    for (_, face) in inherited.into_iter().skip(MAX_NEXT_HOPS.saturating_sub(own + others)) {
        hops.remove(&face);
    }
}

/// The next hops of a prefix, with what they cost; none of one that nobody has registered.
fn next_hops(entries: &Entries, name: &Name) -> Hops {
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
                let is_own = count == whole;
                let distance = if is_own { 0 } else { INHERITED_COST };
                let tap = if has(ForwardingFlags::TAP) { TAP_COST } else { 0 };
                let cost = last + tap + distance;
                let hop = hops.entry(*face).or_insert(Hop { cost, is_own, is_tap: false });
                hop.is_tap |= has(ForwardingFlags::TAP);
            }
        }
        if count == whole && hops.is_empty() {
            return hops;
        }
        is_captured |= captures;
    }
    hops
}

/// What holds for names under a prefix that has these next hops. That it stays on this host is what any
/// entry of it says, also one that is not active, and holds below it without being inherited.
fn rules(entries: &Entries, name: &Name, hops: &Hops) -> NamespaceRules {
    let mut own = entries.range((name.clone(), FaceId(0))..=(name.clone(), FaceId(u32::MAX)));
    NamespaceRules {
        stays_on_host: own.any(|(_, registration)| registration.flags.contains(ForwardingFlags::LOCAL)),
        taps: hops.iter().filter(|(_, hop)| hop.is_tap).map(|(face, _)| *face).collect(),
    }
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
        hops.into_iter().map(|(face, hop)| (face.0, hop.cost)).collect()
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
