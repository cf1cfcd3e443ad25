//! Packets and frames on their way, by reference: what moves through the network is the number of a slot.

use packet::{LinkHeader, Packet, PacketKind, PrefixHashes};

use crate::arena::{Arena, FrameId, PacketId, Pool};
use crate::dialect;

/// What crosses a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnLink {
    /// A packet, by reference.
    Packet(PacketId),
    /// A frame of the link's services.
    Frame(FrameId),
}

/// A packet with all that goes with it from one node to the next.
#[derive(Clone, Debug)]
pub(crate) struct InFlight {
    /// Absent while somebody has taken the packet out to look at it.
    pub(crate) packet: Option<Packet>,
    pub(crate) header: LinkHeader,
    /// Of the packet's name. All engines of a network share one key, so a name is hashed once and not at
    /// each hop.
    pub(crate) hashes: PrefixHashes,
    /// Links crossed since an application or a cache sent it.
    pub(crate) hops: u32,
}

impl InFlight {
    /// Bytes of the packet in the link header of its dialect.
    #[inline]
    pub(crate) fn size_bytes(&self) -> u32 {
        self.packet.as_ref().map_or(0, |packet| dialect::size_bytes(packet, &self.header) as u32)
    }

    /// The frame that a link would carry, if this one carried frames.
    pub(crate) fn frame(&self) -> Option<Vec<u8>> {
        self.packet.as_ref().map(|packet| dialect::frame(packet, &self.header))
    }

    pub(crate) fn kind(&self) -> PacketKind {
        self.packet.as_ref().map_or(PacketKind::Interest, Packet::kind)
    }
}

/// All packets and frames in flight in a network. A number is valid until what it stands for is released.
#[derive(Debug, Default)]
pub(crate) struct AllInFlight {
    slots: Arena<PacketId, InFlight>,
    free: Vec<PacketId>,
    /// For links that carry frames.
    pub(crate) frames: Pool<FrameId, Vec<u8>>,
}

impl AllInFlight {
    #[inline]
    pub(crate) fn add(&mut self, packet: Packet, header: LinkHeader, hashes: &PrefixHashes) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                let slot = &mut self.slots[id];
                slot.packet = Some(packet);
                slot.header = header;
                slot.hashes.copy_known(hashes);
                slot.hops = 0;
                id
            }
            None => self.slots.push(InFlight { packet: Some(packet), header, hashes: *hashes, hops: 0 }),
        }
    }

    /// Takes a packet out, to be put in elsewhere.
    pub(crate) fn remove(&mut self, id: PacketId) -> InFlight {
        let InFlight { packet, header, hashes, hops } = &mut self.slots[id];
        let removed =
            InFlight { packet: packet.take(), header: std::mem::take(header), hashes: *hashes, hops: *hops };
        self.free.push(id);
        removed
    }

    /// Puts in what was removed elsewhere.
    pub(crate) fn put(&mut self, in_flight: InFlight) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.slots[id] = in_flight;
                id
            }
            None => self.slots.push(in_flight),
        }
    }

    pub(crate) fn copy_of(&mut self, id: PacketId) -> PacketId {
        let InFlight { packet, header, hashes, hops } = self.slots[id].clone();
        match packet {
            Some(packet) => {
                let copy = self.add(packet, header, &hashes);
                self.get_mut(copy).hops = hops;
                copy
            }
            None => id,
        }
    }

    /// A second one of what a link brings twice.
    pub(crate) fn duplicate(&mut self, carried: OnLink) -> OnLink {
        match carried {
            OnLink::Packet(packet_id) => OnLink::Packet(self.copy_of(packet_id)),
            OnLink::Frame(frame) => OnLink::Frame(self.frames.add(self.frames.get(frame).clone())),
        }
    }

    /// Forgets what will not arrive.
    pub(crate) fn discard(&mut self, carried: OnLink) {
        match carried {
            OnLink::Packet(packet_id) => self.release(packet_id),
            OnLink::Frame(frame) => drop(self.frames.take(frame)),
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &InFlight {
        &self.slots[id]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut InFlight {
        &mut self.slots[id]
    }

    #[inline]
    pub(crate) fn release(&mut self, id: PacketId) {
        self.slots[id].packet = None;
        self.free.push(id);
    }

    /// Packets under way, or waiting somewhere.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
