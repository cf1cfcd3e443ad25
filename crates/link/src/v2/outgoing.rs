//! Packets on their way out: kept until their last frame has left or, with reliability, has been
//! acknowledged.

use packet::ndn::lp::LpPacketView;
use packet::{Buffer, LinkHeader, NackReason};

use super::fragmenter::FragmentPlan;

/// One packet and how it is cut. Frames are written from it whenever they are sent, so that a packet is never
/// copied but into a frame.
#[derive(Debug)]
pub(crate) struct OutgoingPacket {
    pub(crate) packet: Buffer,
    pub(crate) header: LinkHeader,
    pub(crate) nack: Option<NackReason>,
    pub(crate) plan: FragmentPlan,
    /// Sequence of the first frame; `None` if frames carry none.
    pub(crate) first_sequence: Option<u64>,
    /// The first frame that has not been sent yet.
    pub(crate) next_fragment: u32,
    /// Frames that have neither been acknowledged nor forgotten.
    pub(crate) outstanding: u32,
    /// Those that were acknowledged after they had been sent again: the other transmission may be
    /// acknowledged, too.
    pub(crate) settled: Vec<u32>,
}

impl OutgoingPacket {
    /// The fields of frame number `index`, without acks.
    pub(crate) fn frame(&self, index: u32, tx_sequence: Option<u64>) -> LpPacketView<'_> {
        let all = LpPacketView { nack: self.nack, ..LpPacketView::with_header(&self.header) };
        let several = self.plan.count > 1;
        LpPacketView {
            sequence: self.first_sequence.map(|first| first.wrapping_add(index.into())),
            frag_index: several.then_some(index.into()),
            frag_count: several.then_some(self.plan.count.into()),
            tx_sequence,
            fragment: Some(self.plan.slice(&self.packet, index)),
            ..if index == 0 { all } else { all.repeated_on_fragments() }
        }
    }
}

/// Refers to one packet of an [`OutgoingStore`]; refers to nothing once that packet is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutgoingKey {
    place: u32,
    generation: u32,
}

/// One frame of a packet on its way out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameRef {
    pub(crate) key: OutgoingKey,
    pub(crate) fragment: u32,
    /// How often it has been sent again.
    pub(crate) retries: u32,
}

/// All packets on their way out. Places are used again, with a new generation.
#[derive(Debug, Default)]
pub(crate) struct OutgoingStore {
    places: Vec<Slot>,
    free: Vec<u32>,
    bytes: usize,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    packet: Option<OutgoingPacket>,
}

impl OutgoingStore {
    /// How many packets there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// The packets one of whose frames is longer than `payload_bytes`, taken out.
    pub(crate) fn remove_longer(&mut self, payload_bytes: usize) -> Vec<OutgoingPacket> {
        let longer = |packet: &OutgoingPacket| {
            let first = packet.plan.slice(&packet.packet, 0).len();
            first.max(packet.plan.slice(&packet.packet, 1).len()) > payload_bytes
        };
        let keys: Vec<_> = (0u32..)
            .zip(&self.places)
            .filter(|(_, place)| place.packet.as_ref().is_some_and(longer))
            .map(|(number, place)| OutgoingKey { place: number, generation: place.generation })
            .collect();
        keys.into_iter().filter_map(|key| self.remove(key)).collect()
    }

    /// Bytes of all packets.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn insert(&mut self, packet: OutgoingPacket) -> OutgoingKey {
        self.bytes += packet.packet.len();
        if let Some(place) = self.free.pop()
            && let Some(slot) = self.places.get_mut(place as usize)
        {
            slot.packet = Some(packet);
            return OutgoingKey { place, generation: slot.generation };
        }
        self.places.push(Slot { generation: 0, packet: Some(packet) });
        OutgoingKey { place: (self.places.len() - 1) as u32, generation: 0 }
    }

    pub(crate) fn get(&self, key: OutgoingKey) -> Option<&OutgoingPacket> {
        let place = self.places.get(key.place as usize)?;
        place.packet.as_ref().filter(|_| place.generation == key.generation)
    }

    pub(crate) fn get_mut(&mut self, key: OutgoingKey) -> Option<&mut OutgoingPacket> {
        let place = self.places.get_mut(key.place as usize)?;
        place.packet.as_mut().filter(|_| place.generation == key.generation)
    }

    pub(crate) fn remove(&mut self, key: OutgoingKey) -> Option<OutgoingPacket> {
        self.get(key)?;
        let place = self.places.get_mut(key.place as usize)?;
        let packet = place.packet.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(key.place);
        self.bytes -= packet.packet.len();
        Some(packet)
    }

    /// Whether a frame that was sent needs care still: its packet is here, and no other transmission of it
    /// was acknowledged.
    pub(crate) fn waits(&self, frame: FrameRef) -> bool {
        self.get(frame.key).is_some_and(|packet| !packet.settled.contains(&frame.fragment))
    }

    /// Notes that one frame of a packet needs no more care, and removes the packet after its last one.
    /// `again` tells whether other transmissions of the frame may come up later.
    pub(crate) fn settle_frame(&mut self, frame: FrameRef, again: bool) {
        if !self.waits(frame) {
            return;
        }
        let key = frame.key;
        let Some(packet) = self.get_mut(key) else { return };
        if again {
            packet.settled.push(frame.fragment);
        }
        packet.outstanding = packet.outstanding.saturating_sub(1);
        if packet.outstanding == 0 {
            self.remove(key);
        }
    }
}
