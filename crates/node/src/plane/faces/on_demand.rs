//! Who holds the faces that nobody asked for: an address that holds most gives way to one that holds less.
//!
//! A program may send from all ports of its address, and one host has 2^64 addresses of IPv6, so what counts
//! is the address, or its first 64 bits. Who comes from an address with fewer faces gets the place of the
//! least recently used face of the address with most.

use std::collections::{BTreeSet, HashMap, VecDeque};

use engine::FaceId;
use packet::time::Instant;

use crate::face::Faces;
use crate::origin::Origin;

/// Entries looked at to find one that has not been used since it was last looked at.
const LOOKS: usize = 16;

/// Faces made on demand, of one kind, by where they lead.
#[derive(Debug, Default)]
pub(in crate::plane) struct OnDemandFaces {
    /// Faces of each origin, and when each was found to have been used last: the hand of a clock is at the
    /// front.
    held: HashMap<Origin, VecDeque<(FaceId, Instant)>>,
    by_count: BTreeSet<(usize, Origin)>,
    total: usize,
}

impl OnDemandFaces {
    pub(in crate::plane) fn add(&mut self, origin: Origin, face: FaceId, now: Instant) {
        let held = self.held.entry(origin).or_default();
        self.by_count.remove(&(held.len(), origin));
        held.push_back((face, now));
        self.by_count.insert((held.len(), origin));
        self.total += 1;
    }

    pub(in crate::plane) fn remove(&mut self, origin: Origin, face: FaceId) {
        let Some(held) = self.held.get_mut(&origin) else { return };
        let Some(at) = held.iter().position(|(other, _)| *other == face) else { return };
        self.by_count.remove(&(held.len(), origin));
        held.remove(at);
        self.total -= 1;
        if held.is_empty() {
            self.held.remove(&origin);
        } else {
            self.by_count.insert((held.len(), origin));
        }
    }

    pub(in crate::plane) fn total(&self) -> usize {
        self.total
    }

    pub(in crate::plane) fn count(&self, origin: Origin) -> usize {
        self.held.get(&origin).map_or(0, VecDeque::len)
    }

    /// Who holds most, and how many.
    pub(in crate::plane) fn most(&self) -> Option<(Origin, usize)> {
        self.by_count.last().map(|(count, origin)| (*origin, *count))
    }

    /// The face of an origin that is to go first: about the one that was not used for longest.
    pub(in crate::plane) fn least_recently_used(&mut self, origin: Origin, faces: &Faces) -> Option<FaceId> {
        let used = |face: FaceId| faces.get(&face).map(|face| face.activity.last_used);
        self.choose(origin, used)
    }

    fn choose(&mut self, origin: Origin, used: impl Fn(FaceId) -> Option<Instant>) -> Option<FaceId> {
        let held = self.held.get_mut(&origin)?;
        let mut oldest: Option<(Instant, FaceId)> = None;
        for _ in 0..LOOKS.min(held.len()) {
            let (face, seen) = held.pop_front()?;
            let last_used = used(face).unwrap_or(seen);
            held.push_back((face, last_used));
            if last_used <= seen {
                return Some(face);
            }
            if oldest.is_none_or(|(when, _)| last_used < when) {
                oldest = Some((last_used, face));
            }
        }
        oldest.map(|(_, face)| face)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Origin = Origin::Address(system::AddressPrefix::V4(1));
    const B: Origin = Origin::Address(system::AddressPrefix::V6(2));

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn who_holds_most_is_known_whatever_comes_and_goes() {
        let mut faces = OnDemandFaces::default();
        assert_eq!(faces.most(), None);
        (0..5).for_each(|face| faces.add(A, FaceId(face), at(0)));
        (5..8).for_each(|face| faces.add(B, FaceId(face), at(0)));
        assert_eq!((faces.most(), faces.total()), (Some((A, 5)), 8));
        (0..4).for_each(|face| faces.remove(A, FaceId(face)));
        faces.remove(A, FaceId(77));
        assert_eq!((faces.most(), faces.count(A)), (Some((B, 3)), 1));
        (4..8).for_each(|face| [A, B].into_iter().for_each(|origin| faces.remove(origin, FaceId(face))));
        assert_eq!((faces.most(), faces.total()), (None, 0));
        assert!(faces.held.is_empty() && faces.by_count.is_empty());
    }

    #[test]
    fn a_face_in_use_outlasts_all_that_are_not() {
        let mut faces = OnDemandFaces::default();
        (0..100).for_each(|face| faces.add(A, FaceId(face), at(0)));
        let used = |face: FaceId| Some(if face.0.is_multiple_of(10) { at(9) } else { at(0) });
        for _ in 0..90 {
            let going = faces.choose(A, used).unwrap();
            assert_ne!(going.0 % 10, 0);
            faces.remove(A, going);
        }
        assert!(faces.choose(A, used).is_some(), "where all are in use one must go all the same");
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_origin_and_mapped_ones_are_those_of_ipv4() {
        let of = |text: &str| Origin::of_address(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
