//! Which next hops follow from the routes: a prefix's own, and behind them what it inherits.
//!
//! A prefix's own next hops are worked out when one of its routes changes. Its heirs may be many, so they are
//! looked at later, some at a time: [`Rib::settle_inheriting`]. However often a prefix changes meanwhile, its
//! heirs are gone through once more at most.

use std::ops::Bound;

use management::RouteFlags;
use packet::Name;

use super::{Entry, Hop, Hops, MAX_NEXT_HOPS, Precedence, Rib};

/// Largest cost of a next hop, whatever a route says: what is inherited over all the components that a prefix
/// may have must still be dearer.
pub(super) const LARGEST_COST: u64 = u64::MAX >> 7;

/// How far the heirs of a prefix that has changed have been looked at.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// The last prefix that was looked at.
    done: Name,
    /// Up to where the heirs are gone through once more from the beginning, because of a change in the
    /// middle.
    again_until: Option<Name>,
    /// Where this round ends, if not behind the last heir.
    until: Option<Name>,
}

impl Rib {
    /// Works out the next hops of `prefix` anew after one of its routes has changed; its heirs wait if they
    /// may be concerned.
    pub(super) fn settle(&mut self, prefix: &Name, is_inherited: bool) {
        let inherited = self.inherited(prefix);
        self.settle_one(prefix, &inherited);
        if !is_inherited || self.next_inheriting(prefix, prefix).is_none() {
            return;
        }
        match self.sweeps.get_mut(prefix) {
            Some(sweep) => {
                sweep.again_until = Some(sweep.done.clone());
                sweep.until = None;
            }
            None => {
                let sweep = Sweep { done: prefix.clone(), again_until: None, until: None };
                self.sweeps.insert(prefix.clone(), sweep);
            }
        }
    }

    /// Whether prefixes wait until what they inherit is worked out.
    pub fn is_behind(&self) -> bool {
        !self.sweeps.is_empty()
    }

    /// Looks at up to `budget` prefixes that may inherit something else than before, and gives how many it
    /// were. Drain [`Rib::poll_update`] after it, before anything else is changed.
    pub fn settle_inheriting(&mut self, budget: usize) -> usize {
        let mut looked_at = 0;
        while looked_at < budget {
            let Some((root, sweep)) = self.sweeps.pop_first() else { break };
            let (count, rest) = self.sweep(&root, sweep, budget - looked_at);
            looked_at += count;
            if let Some(rest) = rest {
                self.sweeps.insert(root, rest);
            }
        }
        self.inheriting_settled += looked_at as u64;
        looked_at
    }

    fn sweep(&mut self, root: &Name, mut sweep: Sweep, budget: usize) -> (usize, Option<Sweep>) {
        // What is passed on, by the prefixes on the way to the heir that is looked at, shortest first.
        let mut path: Vec<(Name, Hops)> = Vec::new();
        let mut looked_at = 0;
        while looked_at < budget {
            let heir = self.next_inheriting(root, &sweep.done);
            let heir = heir.filter(|heir| sweep.until.as_ref().is_none_or(|until| heir <= until));
            let Some(heir) = heir else {
                let Some(until) = sweep.again_until.take() else { return (looked_at, None) };
                sweep = Sweep { done: root.clone(), again_until: None, until: Some(until) };
                path.clear();
                continue;
            };
            if path.is_empty() {
                path = self.path_to(&heir);
            }
            while path.last().is_some_and(|(above, _)| !above.as_ref().is_prefix_of(heir.as_ref())) {
                path.pop();
            }
            let inherited = path.last().map(|(_, passed)| passed.clone()).unwrap_or_default();
            let passed = self.entries.get(&heir).map(|entry| passed_on(entry, &inherited));
            self.settle_one(&heir, &inherited);
            path.extend(passed.map(|passed| (heir.clone(), passed)));
            sweep.done = heir;
            looked_at += 1;
        }
        (looked_at, Some(sweep))
    }

    fn settle_one(&mut self, prefix: &Name, inherited: &Hops) {
        let Some(entry) = self.entries.get(prefix) else { return };
        let (wanted, left_out) = wanted(entry, inherited);
        self.hops_left_out += left_out;
        self.install(prefix, wanted);
    }

    /// The first prefix behind `after`, in canonical order, that is longer than `root` and begins with it.
    fn next_inheriting(&self, root: &Name, after: &Name) -> Option<Name> {
        let behind = (Bound::Excluded(after), Bound::Unbounded);
        let (heir, _) = self.entries.range::<Name, _>(behind).next()?;
        root.as_ref().is_prefix_of(heir.as_ref()).then(|| heir.clone())
    }

    /// What the prefixes above `prefix` pass on to it.
    fn inherited(&self, prefix: &Name) -> Hops {
        self.path_to(prefix).pop().map(|(_, passed)| passed).unwrap_or_default()
    }

    /// The prefixes above `prefix` in the RIB, shortest first, with what each passes on.
    fn path_to(&self, prefix: &Name) -> Vec<(Name, Hops)> {
        let mut path: Vec<(Name, Hops)> = Vec::new();
        for len in 0..prefix.as_ref().component_count() {
            let above = prefix.prefix(len);
            let Some(entry) = self.entries.get(&above) else { continue };
            let none = Hops::new();
            let passed = passed_on(entry, path.last().map_or(&none, |(_, passed)| passed));
            path.push((above, passed));
        }
        path
    }
}

/// The next hops of an entry that could inherit `inherited`, and how many there would be beyond the limit.
fn wanted(entry: &Entry, inherited: &Hops) -> (Hops, u64) {
    // An entry without routes of its own is on its way out, and has no next hops.
    let inherits = !entry.captures() && !entry.routes.is_empty();
    with_inherited(entry.cheapest(|_| true), inherits.then_some(inherited))
}

/// What an entry that could inherit `inherited` passes on to its heirs.
fn passed_on(entry: &Entry, inherited: &Hops) -> Hops {
    let own = entry.cheapest(|route| route.flags.contains(RouteFlags::CHILD_INHERIT));
    with_inherited(own, (!entry.captures()).then_some(inherited)).0
}

/// A prefix's own next hops with what it inherits, as far as there is room; and how many there was no room
/// for.
///
/// The longest match comes first: what is inherited gets dearer, all of it by as much as makes its cheapest
/// next hop dearer than every own one. Own next hops that come behind applications get dearer than those that
/// are inherited in the same way.
fn with_inherited(own: Hops, inherited: Option<&Hops>) -> (Hops, u64) {
    let inherited = inherited.into_iter().flatten().filter(|(face, _)| !own.contains_key(face));
    let inherited = inherited.map(|(face, hop)| (*face, hop.clone()));
    let has_deferred = own.values().any(is_deferred);
    let (applications, others): (Vec<_>, Vec<_>) =
        inherited.partition(|(_, hop)| has_deferred && hop.is_of_application);
    let defers =
        !applications.is_empty() || own.values().any(|hop| hop.is_of_application && !is_deferred(hop));
    let own = own.into_iter();
    let (deferred, first): (Vec<_>, Vec<_>) = own.partition(|(_, hop)| defers && is_deferred(hop));
    let mut hops = Hops::new();
    let mut left_out = 0;
    for mut group in [first, applications, deferred, others] {
        group.sort_unstable_by_key(|(face, hop)| (hop.precedence, hop.cost, *face));
        let cheapest = group.iter().map(|(_, hop)| hop.cost).min().unwrap_or(0);
        let dearest_before = hops.values().map(|hop: &Hop| hop.cost).max();
        let shift = dearest_before.map_or(0, |dearest| (dearest + 1).saturating_sub(cheapest));
        let room = MAX_NEXT_HOPS.saturating_sub(hops.len());
        left_out += group.len().saturating_sub(room);
        let dearer = |hop: Hop| Hop { cost: hop.cost.saturating_add(shift), ..hop };
        hops.extend(group.into_iter().take(room).map(|(face, hop)| (face, dearer(hop))));
    }
    (hops, left_out as u64)
}

fn is_deferred(hop: &Hop) -> bool {
    hop.precedence == Precedence::BehindApplications
}
