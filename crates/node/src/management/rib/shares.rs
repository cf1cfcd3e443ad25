//! What neighbours may have of the RIB.
//!
//! Routes that neighbours put there are charged to the address they came from, as faces and pending Interests
//! are: who has many ports, or many addresses of one network, has one share. All neighbours together never
//! have more than half, so there is always room for the applications of this host and for its operator.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use packet::Name;

use super::{RibFull, RibRoute, cost_bytes};

/// What all neighbours may have together: one part of so many.
const PARTS_FOR_NEIGHBOURS: usize = 2;
/// What one address of neighbours may have: one part of so many.
const PARTS_FOR_AN_ADDRESS: usize = 8;

/// Whose share of the RIB a route takes up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// This host: its applications, its operator, its configuration.
    Host,
    /// The neighbours at one place: an address of IPv4, the first 64 bits of one of IPv6, or a link without
    /// IP.
    Neighbour(Arc<str>),
}

/// What there is a limit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Routes.
    Routes,
    /// Bytes of their names and announcements.
    Bytes,
    /// Prefixes that the forwarding table may have to keep for them: the components of their names.
    Prefixes,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Routes => "routes",
            Quantity::Bytes => "bytes of names and announcements",
            Quantity::Prefixes => "components of prefixes",
        })
    }
}

const QUANTITIES: [Quantity; 3] = [Quantity::Routes, Quantity::Bytes, Quantity::Prefixes];

/// An amount of each [`Quantity`].
type Amounts = [usize; QUANTITIES.len()];

/// What the neighbours have.
#[derive(Debug)]
pub(super) struct Shares {
    /// What there is for everybody.
    whole: Amounts,
    together: Amounts,
    by_address: BTreeMap<Arc<str>, Amounts>,
}

impl Shares {
    pub(super) fn new(max_routes: usize, max_bytes: usize, max_prefixes: usize) -> Self {
        let whole = [max_routes, max_bytes, max_prefixes];
        Shares { whole, together: [0; 3], by_address: BTreeMap::new() }
    }

    /// How much there is for everybody.
    pub(super) fn set_max(&mut self, what: Quantity, max: usize) {
        self.whole[what as usize] = max;
    }

    /// Whether the holder of `new` may have it in the place of `old`.
    pub(super) fn check(&self, prefix: &Name, new: &RibRoute, old: Option<&RibRoute>) -> Result<(), RibFull> {
        let Holder::Neighbour(address) = &new.holder else { return Ok(()) };
        let of_neighbour = old.filter(|old| old.holder != Holder::Host);
        let of_same = of_neighbour.filter(|old| old.holder == new.holder);
        let own = self.by_address.get(address).copied().unwrap_or_default();
        let (added, whole) = (amounts(prefix, new), self.whole);
        let given_back = |old: Option<&RibRoute>| old.map_or([0; 3], |old| amounts(prefix, old));
        let own = check(own, given_back(of_same), added, whole, PARTS_FOR_AN_ADDRESS);
        own.map_err(|(what, limit)| RibFull::Address { what, limit })?;
        let together = check(self.together, given_back(of_neighbour), added, whole, PARTS_FOR_NEIGHBOURS);
        together.map_err(|(what, limit)| RibFull::Neighbours { what, limit })
    }

    pub(super) fn add(&mut self, prefix: &Name, route: &RibRoute) {
        let Holder::Neighbour(address) = &route.holder else { return };
        let added = amounts(prefix, route);
        let own = self.by_address.entry(address.clone()).or_default();
        *own = zip(*own, added, usize::saturating_add);
        self.together = zip(self.together, added, usize::saturating_add);
    }

    pub(super) fn remove(&mut self, prefix: &Name, route: &RibRoute) {
        let Holder::Neighbour(address) = &route.holder else { return };
        let gone = amounts(prefix, route);
        self.together = zip(self.together, gone, usize::saturating_sub);
        if let Some(own) = self.by_address.get_mut(address) {
            *own = zip(*own, gone, usize::saturating_sub);
            // Routes are counted one by one: without one there is nothing left.
            if own[0] == 0 {
                self.by_address.remove(address);
            }
        }
    }

    /// What neighbours have, for tests of the arithmetic.
    #[cfg(test)]
    pub(super) fn held(&self) -> (Amounts, usize) {
        (self.together, self.by_address.len())
    }
}

/// What a route takes up.
fn amounts(prefix: &Name, route: &RibRoute) -> Amounts {
    [1, cost_bytes(prefix, route), prefix.as_ref().component_count()]
}

fn zip(one: Amounts, other: Amounts, with: impl Fn(usize, usize) -> usize) -> Amounts {
    std::array::from_fn(|place| with(one[place], other[place]))
}

/// Whether `held` may grow by `added` after `given_back`; else what there would be too much of, and how much
/// of it is allowed.
fn check(
    held: Amounts,
    given_back: Amounts,
    added: Amounts,
    whole: Amounts,
    parts: usize,
) -> Result<(), (Quantity, usize)> {
    for (place, what) in QUANTITIES.into_iter().enumerate() {
        let limit = (whole[place] / parts).max(1);
        let would_be = held[place].saturating_sub(given_back[place]).saturating_add(added[place]);
        // What gets no larger is no worse than before.
        if added[place] > given_back[place] && would_be > limit {
            return Err((what, limit));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use engine::FaceId;
    use management::{RouteFlags, RouteOrigin};
    use packet::time::Instant;

    use super::super::Rib;
    use super::*;

    fn route(face: u32, holder: &Holder) -> RibRoute {
        RibRoute {
            face: FaceId(face),
            origin: RouteOrigin::App,
            cost: 0,
            flags: RouteFlags::NONE,
            expires: Instant::NEVER,
            announcement: None,
            holder: holder.clone(),
            precedence: crate::management::rib::Precedence::LongestMatch,
            signer: None,
        }
    }

    fn at(address: &str) -> Holder {
        Holder::Neighbour(address.into())
    }

    /// Registers `/<start>/<number>` until it is refused; gives how many there are then, and why.
    fn fill(rib: &mut Rib, start: &str, face: u32, holder: &Holder) -> (usize, RibFull) {
        for number in 0.. {
            let prefix = format!("/{start}/{number:04}").parse().unwrap();
            if let Err(full) = rib.register(&prefix, route(face, holder)) {
                return (number, full);
            }
        }
        unreachable!("the RIB is bounded")
    }

    #[test]
    fn one_address_has_an_eighth_all_neighbours_half_and_this_host_the_rest() {
        let mut rib = Rib::new(80);
        let address = |limit| RibFull::Address { what: Quantity::Routes, limit };
        assert_eq!(fill(&mut rib, "a", 300, &at("a")), (10, address(10)));
        // Another face from the same address has nothing left.
        assert_eq!(fill(&mut rib, "b", 301, &at("a")), (0, address(10)));
        for neighbour in ["c", "d", "e"] {
            assert_eq!(fill(&mut rib, neighbour, 302, &at(neighbour)).0, 10);
        }
        let together = RibFull::Neighbours { what: Quantity::Routes, limit: 40 };
        assert_eq!(fill(&mut rib, "f", 303, &at("f")), (0, together));
        assert_eq!(rib.refused_for_share(), 6);
        assert_eq!(fill(&mut rib, "host", 304, &Holder::Host), (40, RibFull::Routes { limit: 80 }));
        // Who leaves gives back.
        assert_eq!(rib.remove_face(FaceId(300)), 10);
        assert_eq!(fill(&mut rib, "f", 303, &at("f")).0, 10);
    }

    #[test]
    fn long_names_take_up_bytes_and_prefixes_of_the_share() {
        let mut rib = Rib::new(1000).with_max_bytes(8000);
        let long = |number: usize| format!("/{number:04}{}", "x".repeat(394)).parse::<Name>().unwrap();
        assert_eq!(rib.register(&long(0), route(300, &at("a"))), Ok(()));
        assert_eq!(rib.register(&long(1), route(300, &at("a"))), Ok(()));
        let refused = rib.register(&long(2), route(300, &at("a")));
        assert_eq!(refused, Err(RibFull::Address { what: Quantity::Bytes, limit: 1000 }));
        let mut rib = Rib::new(1000).with_max_prefixes(80);
        let deep = |number: usize| format!("/{number}/2/3/4/5").parse::<Name>().unwrap();
        assert_eq!(rib.register(&deep(0), route(300, &at("a"))), Ok(()));
        assert_eq!(rib.register(&deep(1), route(300, &at("a"))), Ok(()));
        let refused = rib.register(&deep(2), route(300, &at("a")));
        assert_eq!(refused, Err(RibFull::Address { what: Quantity::Prefixes, limit: 10 }));
        assert_eq!(rib.register(&deep(2), route(300, &Holder::Host)), Ok(()));
    }

    #[test]
    fn a_route_that_is_replaced_is_charged_to_who_replaces_it() {
        let mut rib = Rib::new(16);
        let prefix: Name = "/a".parse().unwrap();
        rib.register(&prefix, route(300, &at("a"))).unwrap();
        let bytes = prefix.canonical().len();
        assert_eq!(rib.shares.held(), ([1, bytes, 1], 1));
        // The share is full, and replacing one's own goes on working.
        rib.register(&"/b".parse().unwrap(), route(300, &at("a"))).unwrap();
        rib.register(&prefix, route(300, &at("a"))).unwrap();
        assert_eq!(rib.shares.held(), ([2, 2 * bytes, 2], 1));
        rib.register(&prefix, route(300, &Holder::Host)).unwrap();
        assert_eq!(rib.shares.held(), ([1, bytes, 1], 1));
        rib.register(&prefix, route(300, &at("b"))).unwrap();
        assert_eq!(rib.shares.held(), ([2, 2 * bytes, 2], 2));
        assert_eq!(rib.remove_face(FaceId(300)), 2);
        assert_eq!(rib.shares.held(), ([0; 3], 0));
    }
}
