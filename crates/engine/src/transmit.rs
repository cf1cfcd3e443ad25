//! What the engine wants sent, and what it wants known.

use packet::{Buffer, CachePolicy, ExplicitRate, LinkHeader, Name, Packet, PitToken};

use crate::face_id::FaceId;

/// A packet to send by a face, and what travels with it. There is rarely much of that, and it is moved about
/// for every packet, so it takes little room until it is written out as a [`LinkHeader`].
#[derive(Clone, Debug)]
pub struct Transmit {
    /// The face.
    pub face: FaceId,
    /// The packet. Its bytes are shared with whoever else holds it.
    pub packet: Packet,
    /// What the next hop wants back, or this node.
    pub pit_token: PitToken,
    /// Of the packet that came in, or of the Interest that is answered.
    pub congestion_mark: u64,
    /// For Data, where it came from; for an Interest to a local face, who asked.
    pub incoming_face: Option<FaceId>,
    /// The announcement of a prefix that comes with Data, a whole Data.
    pub prefix_announcement: Option<Box<Buffer>>,
    /// The smallest rate that routers allow the consumer.
    pub explicit_rate: Option<ExplicitRate>,
    /// The Interest must not be flooded.
    pub non_discovery: bool,
    /// Whether the next node may keep the Data.
    pub cache_policy: Option<CachePolicy>,
}

impl Transmit {
    /// A packet with nothing but a token.
    #[inline(always)]
    pub(crate) fn plain(face: FaceId, packet: Packet, pit_token: PitToken) -> Self {
        Transmit {
            packet,
            pit_token,
            congestion_mark: 0,
            face,
            incoming_face: None,
            prefix_announcement: None,
            explicit_rate: None,
            non_discovery: false,
            cache_policy: None,
        }
    }

    /// Whether nothing at all has to travel with the packet, the face it came by left aside, which only local
    /// applications may be told. Its bytes can go as they are then.
    #[inline(always)]
    pub fn is_bare(&self) -> bool {
        let says_nothing = self.pit_token.is_none()
            && self.congestion_mark == 0
            && self.prefix_announcement.is_none()
            && self.explicit_rate.is_none()
            && !self.non_discovery
            && self.cache_policy.is_none();
        says_nothing && !matches!(self.packet, Packet::Nack(..))
    }

    /// The packet; all that travels with it takes the place of what `header` says.
    #[inline(always)]
    pub(crate) fn unpack(self, header: &mut LinkHeader) -> Packet {
        // Taken apart, so that no field is forgotten that may come: it would go on from another packet.
        let LinkHeader {
            pit_token,
            congestion_mark,
            incoming_face,
            next_hop_face,
            cache_policy,
            non_discovery,
            prefix_announcement,
            explicit_rate,
        } = header;
        *pit_token = self.pit_token;
        *congestion_mark = self.congestion_mark;
        *incoming_face = self.incoming_face.map(|face| face.0.into());
        *next_hop_face = None;
        *cache_policy = self.cache_policy;
        *non_discovery = self.non_discovery;
        if prefix_announcement.is_some() || self.prefix_announcement.is_some() {
            *prefix_announcement = self.prefix_announcement.map(|announcement| *announcement);
        }
        *explicit_rate = self.explicit_rate;
        self.packet
    }

    /// The packet, and all that travels with it.
    #[inline(always)]
    pub fn into_parts(self) -> (Packet, LinkHeader) {
        let mut header = LinkHeader::NONE;
        let packet = self.unpack(&mut header);
        (packet, header)
    }
}

/// Packets that wait to be taken, first come first served. All are taken before many more come.
#[derive(Debug, Default)]
pub(crate) struct TransmitQueue {
    /// The places of those that have been taken, of those that wait, and spare ones.
    places: Vec<Option<Transmit>>,
    /// How many have been taken.
    taken: usize,
    /// How many have come since the first of those.
    come: usize,
}

/// Places of packets that have been taken and more come before the last is, at most.
const MAX_TAKEN: usize = 4096;

impl TransmitQueue {
    /// Adds a packet.
    pub(crate) fn push(&mut self, packet: Transmit) {
        if let Some(vacant) = self.vacant() {
            vacant.fill(packet);
        }
    }

    /// A place for one more packet. There always is one.
    #[inline(always)]
    pub(crate) fn vacant(&mut self) -> Option<VacantPlace<'_>> {
        if self.come == self.places.len() || self.taken >= MAX_TAKEN {
            self.make_room();
        }
        let place = self.places.get_mut(self.come).filter(|place| place.is_none())?;
        Some(VacantPlace { place, come: &mut self.come })
    }

    #[inline(never)]
    fn make_room(&mut self) {
        self.places.drain(..self.taken);
        self.come -= self.taken;
        self.taken = 0;
        self.places.resize_with(self.come.max(32) * 2, || None);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Transmit> {
        if self.taken == self.come {
            (self.taken, self.come) = (0, 0);
            return None;
        }
        let packet = self.places.get_mut(self.taken)?.take();
        self.taken += 1;
        packet
    }

    /// The next, if there are no others and it `is_it`.
    #[inline(always)]
    pub(crate) fn pop_alone_if(&mut self, is_it: impl FnOnce(&mut Transmit) -> bool) -> Option<Transmit> {
        if self.come != self.taken + 1 {
            return None;
        }
        let packet = self.places.get_mut(self.taken)?.take_if(is_it)?;
        (self.taken, self.come) = (0, 0);
        Some(packet)
    }

    /// The next, if it goes to `face`.
    #[inline]
    pub(crate) fn pop_to(&mut self, face: FaceId) -> Option<Transmit> {
        let place = self.places.get_mut(self.taken)?;
        let packet = place.take_if(|packet| packet.face == face)?;
        self.taken += 1;
        Some(packet)
    }
}

/// A place in the queue that a packet is about to be put into.
pub(crate) struct VacantPlace<'q> {
    place: &'q mut Option<Transmit>,
    come: &'q mut usize,
}

impl VacantPlace<'_> {
    /// Puts a packet there. Written out in the argument it is made there: what is made elsewhere field by
    /// field and moved at once as a whole makes the processor wait.
    #[inline(always)]
    pub(crate) fn fill(self, packet: Transmit) {
        // There is nothing to drop, which the compiler does not know; see `Vacant::fill` of a slab.
        std::mem::forget(self.place.replace(packet));
        *self.come += 1;
    }
}

/// Something the owner may want to act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Data brought an announcement: its prefix can be reached by this face. The owner checks the
    /// announcement and adds the route if it believes it.
    RouteAnnounced {
        /// Where the Data came from.
        face: FaceId,
        /// The prefix announcement, a whole Data.
        announcement: Buffer,
    },
    /// A route that was learned does not lead on any more.
    RouteFailed {
        /// Where the Nack came from.
        face: FaceId,
        /// The name that could not be reached.
        name: Name,
    },
}

#[cfg(test)]
mod tests {
    use packet::ndn::InterestBuilder;

    use super::*;

    fn transmit(face: u32) -> Transmit {
        let interest = InterestBuilder::new("/a".parse().unwrap()).build().unwrap();
        Transmit::plain(FaceId(face), Packet::Interest(interest), PitToken::NONE)
    }

    fn faces(queue: &mut TransmitQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|transmit| transmit.face.0).collect()
    }

    #[test]
    fn a_packet_is_taken_as_the_only_one_if_no_other_waits_and_it_is_wanted() {
        let mut queue = TransmitQueue::default();
        assert!(queue.pop_alone_if(|_| true).is_none());
        for round in 0..3 * MAX_TAKEN as u32 {
            queue.push(transmit(round));
            assert!(queue.pop_alone_if(|_| false).is_none());
            assert_eq!(queue.pop_alone_if(|_| true).unwrap().face, FaceId(round));
            assert!(queue.places.len() <= 64);
        }
        for face in 0..3 {
            queue.push(transmit(face));
        }
        assert!(queue.pop_alone_if(|_| true).is_none());
        assert_eq!(queue.pop().unwrap().face, FaceId(0));
        assert!(queue.pop_alone_if(|_| true).is_none());
        assert_eq!(faces(&mut queue), [1, 2]);
    }

    #[test]
    fn packets_leave_in_the_order_in_which_they_came_however_many_wait() {
        let mut queue = TransmitQueue::default();
        let mut expected = 0;
        for face in 0..20_000 {
            queue.push(transmit(face));
            if face % 3 == 0 {
                assert_eq!(queue.pop().unwrap().face, FaceId(expected));
                expected += 1;
            }
        }
        assert_eq!(faces(&mut queue), (expected..20_000).collect::<Vec<_>>());
    }
}
