//! Which next hops follow from the routes: a prefix's own, and what it inherits.

use std::ops::Bound;

use management::RouteFlags;
use packet::Name;

use super::{Entry, Hops, MAX_NEXT_HOPS, Rib};

impl Rib {
    /// Works out the next hops of `prefix` anew after one of its routes has changed, and of its heirs if they may be
    /// concerned; hands out what differs from before.
    pub(super) fn settle(&mut self, prefix: &Name, reaches_heirs: bool) {
        let inherited = self.inherited(prefix);
        let Some(entry) = self.entries.get(prefix) else { return };
        let (wanted, mut left_out) = wanted(entry, &inherited);
        // What is passed on, by the prefixes on the way from `prefix` to the heir that is looked at.
        let mut path = vec![(prefix.clone(), passed_on(entry, &inherited))];
        self.install(prefix, wanted);
        self.hops_left_out += left_out;
        if !reaches_heirs {
            return;
        }
        for heir in self.heirs(prefix) {
            while path.last().is_some_and(|(ancestor, _)| !ancestor.as_ref().is_prefix_of(heir.as_ref())) {
                path.pop();
            }
            let (Some((_, inherited)), Some(entry)) = (path.last(), self.entries.get(&heir)) else {
                continue;
            };
            let hops;
            (hops, left_out) = self::wanted(entry, inherited);
            let passed = passed_on(entry, inherited);
            path.push((heir.clone(), passed));
            self.install(&heir, hops);
            self.hops_left_out += left_out;
        }
    }

    /// All longer prefixes in the RIB, in canonical order: every ancestor before its heirs.
    fn heirs(&self, prefix: &Name) -> Vec<Name> {
        let behind = (Bound::Excluded(prefix), Bound::Unbounded);
        let is_heir = |name: &&Name| prefix.as_ref().is_prefix_of(name.as_ref());
        self.entries.range::<Name, _>(behind).map(|(name, _)| name).take_while(is_heir).cloned().collect()
    }

    /// What the prefixes above `prefix` pass on to it.
    fn inherited(&self, prefix: &Name) -> Hops {
        let len = prefix.as_ref().component_count();
        let mut hops = Hops::new();
        for ancestor in (0..len).rev().filter_map(|len| self.entries.get(&prefix.prefix(len))) {
            // The nearest ancestor on a face goes first.
            for (face, hop) in ancestor.cheapest(|route| route.flags.contains(RouteFlags::CHILD_INHERIT)) {
                hops.entry(face).or_insert(hop);
            }
            if ancestor.captures() {
                break;
            }
        }
        keep_cheapest(&mut hops);
        hops
    }
}

/// The next hops of an entry that could inherit `inherited`, and how many there would be beyond the limit.
fn wanted(entry: &Entry, inherited: &Hops) -> (Hops, u64) {
    let mut hops = entry.cheapest(|_| true);
    let mut left_out = keep_cheapest(&mut hops);
    // An entry without routes of its own is on its way out, and has no next hops.
    if !entry.captures() && !entry.routes.is_empty() {
        left_out += inherit(&mut hops, inherited);
    }
    (hops, left_out)
}

/// Adds what is inherited, as far as there is room; gives how much there was no room for.
fn inherit(hops: &mut Hops, inherited: &Hops) -> u64 {
    let new: Vec<_> = inherited.iter().filter(|(face, _)| !hops.contains_key(face)).collect();
    let room = MAX_NEXT_HOPS.saturating_sub(hops.len());
    let left_out = new.len().saturating_sub(room);
    hops.extend(new.into_iter().take(room).map(|(face, hop)| (*face, hop.clone())));
    left_out as u64
}

/// Leaves the cheapest next hops that there is room for; gives how many go.
fn keep_cheapest(hops: &mut Hops) -> u64 {
    let left_out = hops.len().saturating_sub(MAX_NEXT_HOPS);
    if left_out > 0 {
        let mut by_cost: Vec<_> = hops.iter().map(|(face, hop)| (hop.cost, *face)).collect();
        by_cost.sort_unstable();
        for (_, face) in by_cost.into_iter().skip(MAX_NEXT_HOPS) {
            hops.remove(&face);
        }
    }
    left_out as u64
}

/// What an entry that could inherit `inherited` passes on to its heirs.
fn passed_on(entry: &Entry, inherited: &Hops) -> Hops {
    let mut hops = entry.cheapest(|route| route.flags.contains(RouteFlags::CHILD_INHERIT));
    keep_cheapest(&mut hops);
    if !entry.captures() {
        inherit(&mut hops, inherited);
    }
    hops
}
