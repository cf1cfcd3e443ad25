//! The routing information base: routes as they were registered, and the next hops that follow from them.
//!
//! A prefix has at most one route for each face and origin. Of several on one face the cheapest counts. A
//! route that is marked for it is inherited by all longer prefixes in the RIB, unless one on the way, or the
//! heir itself, has a route marked to capture; an own route on a face, or that of a nearer ancestor, goes
//! before an inherited one. The longest match comes first whatever it costs: what is inherited is made dearer
//! than all that the heir has itself. Only what a neighbour without a key has registered comes behind what is
//! inherited from applications of this host ([`Precedence`]).
//!
//! The RIB is told what happens and hands out what is to change in the forwarding table,
//! [`Rib::poll_update`]. It knows neither the table nor the time of day.

mod inherit;
#[cfg(test)]
mod oracle;
mod shares;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use engine::FaceId;
use management::{RouteFlags, RouteOrigin};
use packet::time::Instant;
use packet::{Buffer, Name, NameRef};
use thiserror::Error;

use inherit::{LARGEST_COST, Sweep};
use shares::Shares;
pub use shares::{Holder, Quantity};

use super::signer::RouteSigner;

/// A route of one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RibRoute {
    /// The face it leads by.
    pub face: FaceId,
    /// Who made it.
    pub origin: RouteOrigin,
    /// What it costs.
    pub cost: u64,
    /// How it is inherited.
    pub flags: RouteFlags,
    /// When it ends; [`Instant::NEVER`] if it does not.
    pub expires: Instant,
    /// The announcement it was learned from, a whole Data.
    pub announcement: Option<Buffer>,
    /// Whose share it takes up.
    pub holder: Holder,
    /// What it comes behind.
    pub precedence: Precedence,
    /// Whose key made it, where keys are asked for.
    pub signer: Option<Arc<RouteSigner>>,
}

impl RibRoute {
    /// Whether it leads to an application of this host, which has registered it itself.
    fn is_of_application(&self) -> bool {
        self.holder == Holder::Host && self.origin == RouteOrigin::App
    }
}

/// What the next hops of a route come behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// Nothing that is inherited: the longest match comes first.
    LongestMatch,
    /// What is inherited from applications of this host: the route is that of somebody who has shown no key,
    /// and a longer name does not hide an application.
    BehindApplications,
}

/// A change to the forwarding table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FibUpdate {
    /// A next hop to add, or one whose cost to change.
    Add {
        /// The prefix.
        prefix: Name,
        /// The next hop.
        face: FaceId,
        /// What it costs.
        cost: u64,
        /// The announcement that the route was learned from.
        announcement: Option<Buffer>,
    },
    /// A next hop to remove.
    Remove {
        /// The prefix.
        prefix: Name,
        /// The next hop.
        face: FaceId,
    },
}

/// The RIB has no room for another route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RibFull {
    /// There are as many as there may be.
    #[error("the RIB holds {limit} routes, as many as it may")]
    Routes {
        /// The limit.
        limit: usize,
    },
    /// Their names and announcements take as much memory as they may.
    #[error("the names and announcements of the routes in the RIB take {limit} bytes, as much as they may")]
    Bytes {
        /// The limit.
        limit: usize,
    },
    /// The neighbours at one address have as much as they may.
    #[error("neighbours at one address may have {limit} {what} in the RIB, and have them")]
    Address {
        /// Of what.
        what: Quantity,
        /// The limit.
        limit: usize,
    },
    /// All neighbours together have as much as they may.
    #[error("all neighbours together may have {limit} {what} in the RIB, and have them")]
    Neighbours {
        /// Of what.
        what: Quantity,
        /// The limit.
        limit: usize,
    },
}

/// Next hops of one prefix at most: as many as the forwarding table takes. The cheapest count, and own ones
/// before inherited ones. Without a limit routes at the root would multiply with the prefixes below.
pub const MAX_NEXT_HOPS: usize = engine::MAX_NEXT_HOPS;

/// Routes that end with one call.
const EXPIRED_AT_ONCE: usize = 1024;

/// A next hop that follows from routes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hop {
    cost: u64,
    announcement: Option<Buffer>,
    precedence: Precedence,
    is_of_application: bool,
}

/// The next hops of one prefix, by face.
type Hops = BTreeMap<FaceId, Hop>;

#[derive(Clone, Debug, Default)]
struct Entry {
    routes: BTreeMap<(FaceId, RouteOrigin), RibRoute>,
    /// What the forwarding table was told.
    installed: Hops,
}

impl Entry {
    fn captures(&self) -> bool {
        self.routes.values().any(|route| route.flags.contains(RouteFlags::CAPTURE))
    }

    /// The route that comes first on each face, among those that `wanted` accepts.
    fn cheapest(&self, wanted: impl Fn(&RibRoute) -> bool) -> Hops {
        let mut hops = Hops::new();
        for route in self.routes.values().filter(|route| wanted(route)) {
            let hop = Hop {
                cost: route.cost.min(LARGEST_COST),
                announcement: route.announcement.clone(),
                precedence: route.precedence,
                is_of_application: route.is_of_application(),
            };
            let known = hops.entry(route.face).or_insert_with(|| hop.clone());
            let leads_to_application = known.is_of_application || hop.is_of_application;
            if (hop.precedence, hop.cost) < (known.precedence, known.cost) {
                *known = hop;
            }
            known.is_of_application = leads_to_application;
        }
        hops
    }
}

/// The routing information base.
///
/// # Calling order
/// After each call that takes `&mut self`, drain [`Rib::poll_update`]. Call [`Rib::expire`] at
/// [`Rib::next_deadline`], and [`Rib::settle_inheriting`] as long as [`Rib::is_behind`].
#[derive(Debug)]
pub struct Rib {
    entries: BTreeMap<Name, Entry>,
    /// Prefixes that have a route by a face.
    by_face: BTreeMap<FaceId, BTreeSet<Name>>,
    /// Routes that end, in the order in which they do.
    expirations: BTreeSet<(Instant, Name, FaceId, RouteOrigin)>,
    updates: VecDeque<FibUpdate>,
    /// Prefixes that have changed and of which the heirs are still to be looked at.
    sweeps: BTreeMap<Name, Sweep>,
    inheriting_settled: u64,
    route_count: usize,
    /// Those among them that a key has made.
    signed_count: usize,
    max_routes: usize,
    /// Bytes of names and announcements of all routes.
    bytes: usize,
    max_bytes: usize,
    shares: Shares,
    refused: u64,
    refused_for_share: u64,
    hops_left_out: u64,
}

impl Rib {
    /// An empty RIB that holds up to `max_routes`.
    pub fn new(max_routes: usize) -> Self {
        Rib {
            entries: BTreeMap::new(),
            by_face: BTreeMap::new(),
            expirations: BTreeSet::new(),
            updates: VecDeque::new(),
            sweeps: BTreeMap::new(),
            inheriting_settled: 0,
            route_count: 0,
            signed_count: 0,
            max_routes,
            bytes: 0,
            max_bytes: usize::MAX,
            shares: Shares::new(max_routes, usize::MAX, usize::MAX),
            refused: 0,
            refused_for_share: 0,
            hops_left_out: 0,
        }
    }

    /// The same, with a limit for the bytes of the routes' names and announcements.
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self.shares.set_max(Quantity::Bytes, max_bytes);
        self
    }

    /// The same, told how many prefixes the forwarding table holds. Neighbours may have their part of them;
    /// the table itself sees to it that there are not more.
    pub fn with_max_prefixes(mut self, max_prefixes: usize) -> Self {
        self.shares.set_max(Quantity::Prefixes, max_prefixes);
        self
    }

    // Getters.

    /// All prefixes with their routes, in canonical order.
    pub fn entries(&self) -> impl Iterator<Item = (&Name, impl Iterator<Item = &RibRoute>)> {
        self.entries.iter().map(|(prefix, entry)| (prefix, entry.routes.values()))
    }

    /// One route.
    pub fn route(&self, prefix: &Name, face: FaceId, origin: RouteOrigin) -> Option<&RibRoute> {
        self.entries.get(prefix)?.routes.get(&(face, origin))
    }

    /// The longest prefix of `name` that has a route by this face of this origin.
    pub fn longest_prefix(&self, name: NameRef<'_>, face: FaceId, origin: RouteOrigin) -> Option<&Name> {
        (0..=name.component_count()).rev().find_map(|len| {
            let (prefix, entry) = self.entries.get_key_value(&name.prefix(len).to_name())?;
            entry.routes.contains_key(&(face, origin)).then_some(prefix)
        })
    }

    /// Bytes of the names and announcements of all routes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Routes held.
    pub fn route_count(&self) -> usize {
        self.route_count
    }

    /// Those among them that a key has made.
    pub fn signed_count(&self) -> usize {
        self.signed_count
    }

    /// Routes that were refused for want of room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Those among them that were refused because neighbours have as much as they may.
    pub fn refused_for_share(&self) -> u64 {
        self.refused_for_share
    }

    /// How often a next hop was left out because its prefix had [`MAX_NEXT_HOPS`] better ones.
    pub fn hops_left_out(&self) -> u64 {
        self.hops_left_out
    }

    /// How often it was worked out what a prefix inherits because one above it had changed.
    pub fn inheriting_settled(&self) -> u64 {
        self.inheriting_settled
    }

    /// When [`Rib::expire`] should be called next; [`Instant::NEVER`] if no route ends.
    pub fn next_deadline(&self) -> Instant {
        self.expirations.first().map_or(Instant::NEVER, |(at, ..)| *at)
    }

    // Commands.

    /// Adds a route, or replaces the one of the same face and origin.
    ///
    /// # Errors
    /// The RIB is full, or the share of who wants the route. Replacing one's own always works, but for an
    /// announcement or a signer that is larger than the one before.
    pub fn register(&mut self, prefix: &Name, route: RibRoute) -> Result<(), RibFull> {
        let key = (route.face, route.origin);
        let old = self.entries.get(prefix).and_then(|entry| entry.routes.get(&key));
        let is_new = old.is_none();
        if is_new && self.route_count >= self.max_routes {
            self.refused += 1;
            return Err(RibFull::Routes { limit: self.max_routes });
        }
        let (cost, old_cost) = (cost_bytes(prefix, &route), old.map_or(0, |old| cost_bytes(prefix, old)));
        if cost > old_cost && self.bytes - old_cost + cost > self.max_bytes {
            self.refused += 1;
            return Err(RibFull::Bytes { limit: self.max_bytes });
        }
        if let Err(full) = self.shares.check(prefix, &route, old) {
            self.refused += 1;
            self.refused_for_share += 1;
            return Err(full);
        }
        self.bytes = self.bytes - old_cost + cost;
        if let Some(old) = old {
            self.shares.remove(prefix, old);
        }
        self.shares.add(prefix, &route);
        if route.expires < Instant::NEVER {
            self.expirations.insert((route.expires, prefix.clone(), route.face, route.origin));
        }
        self.by_face.entry(route.face).or_default().insert(prefix.clone());
        let entry = self.entries.entry(prefix.clone()).or_default();
        let captured = entry.captures();
        let expires = route.expires;
        self.signed_count += usize::from(route.signer.is_some());
        let old = entry.routes.insert(key, route);
        self.route_count += usize::from(is_new);
        self.signed_count -= usize::from(old.as_ref().is_some_and(|old| old.signer.is_some()));
        let passes_on = |route: &RibRoute| route.flags.contains(RouteFlags::CHILD_INHERIT);
        let is_inherited = captured != entry.captures()
            || old.as_ref().is_some_and(passes_on)
            || entry.routes.get(&key).is_some_and(passes_on);
        if let Some(old) = old.filter(|old| old.expires < Instant::NEVER && old.expires != expires) {
            self.expirations.remove(&(old.expires, prefix.clone(), old.face, old.origin));
        }
        self.settle(prefix, is_inherited);
        Ok(())
    }

    /// Removes a route; false if there is none.
    pub fn unregister(&mut self, prefix: &Name, face: FaceId, origin: RouteOrigin) -> bool {
        let Some(entry) = self.entries.get_mut(prefix) else { return false };
        let captured = entry.captures();
        let Some(route) = entry.routes.remove(&(face, origin)) else { return false };
        let is_inherited = captured != entry.captures() || route.flags.contains(RouteFlags::CHILD_INHERIT);
        let is_last_on_face = entry.routes.keys().all(|(other, _)| *other != face);
        if is_last_on_face && let Some(prefixes) = self.by_face.get_mut(&face) {
            prefixes.remove(prefix);
            if prefixes.is_empty() {
                self.by_face.remove(&face);
            }
        }
        self.route_count -= 1;
        self.signed_count -= usize::from(route.signer.is_some());
        self.bytes -= cost_bytes(prefix, &route);
        self.shares.remove(prefix, &route);
        self.expirations.remove(&(route.expires, prefix.clone(), face, origin));
        self.settle(prefix, is_inherited);
        true
    }

    /// Removes all routes by a face; gives how many there were.
    pub fn remove_face(&mut self, face: FaceId) -> usize {
        let mut removed = 0;
        for prefix in self.by_face.get(&face).cloned().unwrap_or_default() {
            let routes = self.entries.get(&prefix).map(|entry| &entry.routes);
            let origins: Vec<RouteOrigin> = routes
                .into_iter()
                .flat_map(|routes| routes.keys())
                .filter(|(other, _)| *other == face)
                .map(|(_, origin)| *origin)
                .collect();
            for origin in origins {
                removed += usize::from(self.unregister(&prefix, face, origin));
            }
        }
        removed
    }

    // What the world tells.

    /// Removes routes that have ended by `now`; gives how many. Of very many, [`Rib::next_deadline`] keeps
    /// asking for the rest.
    pub fn expire(&mut self, now: Instant) -> usize {
        let mut ended = 0;
        while ended < EXPIRED_AT_ONCE
            && let Some((at, prefix, face, origin)) = self.expirations.first().cloned()
        {
            if at > now {
                break;
            }
            self.unregister(&prefix, face, origin);
            ended += 1;
        }
        ended
    }

    /// The forwarding table did not take a next hop. It is offered again when something around it changes.
    pub fn handle_refusal(&mut self, prefix: &Name, face: FaceId) {
        if let Some(entry) = self.entries.get_mut(prefix) {
            entry.installed.remove(&face);
        }
    }

    // What the RIB has for the world.

    /// The next change to make in the forwarding table.
    pub fn poll_update(&mut self) -> Option<FibUpdate> {
        self.updates.pop_front()
    }

    /// Brings the forwarding table in line with what is wanted for `prefix`.
    fn install(&mut self, prefix: &Name, wanted: Hops) {
        let Some(entry) = self.entries.get_mut(prefix) else { return };
        for face in entry.installed.keys().filter(|face| !wanted.contains_key(face)) {
            self.updates.push_back(FibUpdate::Remove { prefix: prefix.clone(), face: *face });
        }
        for (face, hop) in &wanted {
            let told = entry.installed.get(face).map(|told| (told.cost, &told.announcement));
            if told != Some((hop.cost, &hop.announcement)) {
                self.updates.push_back(FibUpdate::Add {
                    prefix: prefix.clone(),
                    face: *face,
                    cost: hop.cost,
                    announcement: hop.announcement.clone(),
                });
            }
        }
        entry.installed = wanted;
        if entry.routes.is_empty() && entry.installed.is_empty() {
            self.entries.remove(prefix);
        }
    }
}

/// What a route is charged with.
fn cost_bytes(prefix: &Name, route: &RibRoute) -> usize {
    let announcement = route.announcement.as_ref().map_or(0, |announcement| announcement.len());
    let signer = route.signer.as_ref().map_or(0, |signer| signer.cost_bytes());
    prefix.canonical().len() + announcement + signer
}
