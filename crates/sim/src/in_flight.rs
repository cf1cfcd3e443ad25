//! Packets on their way, by reference: what moves through the network is the number of a slot.

use packet::ndn::lp::{LpPacketView, types};
use packet::ndn::tlv;
use packet::{Dialect, LinkHeader, Packet, PacketKind, PrefixHashes};

use crate::arena::{Arena, FrameId, PacketId};

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
        let Some(packet) = &self.packet else { return 0 };
        let bare = packet.wire().len();
        let has_header = packet.dialect() == Dialect::Ndn;
        let nack = matches!(packet, Packet::Nack(..));
        let header = if has_header { link_header_bytes(&self.header, nack, bare) } else { 0 };
        (bare + header) as u32
    }

    /// The frame that a link would carry, if this one carried frames.
    pub(crate) fn frame(&self) -> Option<Vec<u8>> {
        let packet = self.packet.as_ref()?;
        let mut frame = Vec::new();
        match packet.dialect() {
            Dialect::Ndn => {
                let header = LpPacketView::with_header(&self.header);
                let view = LpPacketView { nack: packet.nack_reason(), ..header };
                LpPacketView { fragment: Some(packet.wire()), ..view }.encode(&mut frame);
            }
            Dialect::Ccnx => frame.extend_from_slice(packet.wire()),
        }
        Some(frame)
    }

    pub(crate) fn kind(&self) -> PacketKind {
        self.packet.as_ref().map_or(PacketKind::Interest, Packet::kind)
    }
}

/// What NDNLPv2 adds to a packet of `bare` bytes; nothing when there is nothing to say.
#[inline]
fn link_header_bytes(header: &LinkHeader, nack: bool, bare: usize) -> usize {
    let token = header.pit_token.as_bytes().len();
    let plain = token == 0
        && header.congestion_mark == 0
        && !nack
        && !header.non_discovery
        && header.prefix_announcement.is_none()
        && header.cache_policy.is_none()
        && header.explicit_rate.is_none();
    if plain { 0 } else { link_header_bytes_of_fields(header, nack, bare) }
}

#[cold]
fn link_header_bytes_of_fields(header: &LinkHeader, nack: bool, bare: usize) -> usize {
    let token = header.pit_token.as_bytes().len();
    let mut fields = 0;
    if token > 0 {
        fields += tlv::element_len(types::PIT_TOKEN, token);
    }
    if nack {
        fields += tlv::element_len(types::NACK, tlv::nni_element_len(types::NACK_REASON, 50));
    }
    if header.congestion_mark > 0 {
        fields += tlv::nni_element_len(types::CONGESTION_MARK, header.congestion_mark);
    }
    if header.non_discovery {
        fields += tlv::element_len(types::NON_DISCOVERY, 0);
    }
    if header.cache_policy.is_some() {
        fields += tlv::element_len(types::CACHE_POLICY, tlv::nni_element_len(types::CACHE_POLICY_TYPE, 1));
    }
    if let Some(announcement) = &header.prefix_announcement {
        fields += tlv::element_len(types::PREFIX_ANNOUNCEMENT, announcement.len());
    }
    if let Some(rate) = header.explicit_rate {
        fields += tlv::nni_element_len(types::EXPLICIT_RATE, rate.per_1000_s());
    }
    let value = fields + tlv::element_len(types::FRAGMENT, bare);
    tlv::element_len(types::LP_PACKET, value) - bare
}

/// All packets in flight in a network. A number is valid until its packet is released.
#[derive(Debug, Default)]
pub(crate) struct PacketsInFlight {
    slots: Arena<PacketId, InFlight>,
    free: Vec<PacketId>,
}

impl PacketsInFlight {
    #[inline]
    pub(crate) fn add(&mut self, packet: Packet, header: LinkHeader, hashes: &PrefixHashes) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                let slot = &mut self.slots[id];
                slot.packet = Some(packet);
                slot.header = header;
                slot.hashes = *hashes;
                slot.hops = 0;
                id
            }
            None => self.slots.push(InFlight { packet: Some(packet), header, hashes: *hashes, hops: 0 }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Buffer, CachePolicy, ExplicitRate, NackReason, PitToken};

    #[test]
    fn a_link_header_takes_as_many_bytes_as_the_encoder_writes() {
        let headers = [
            LinkHeader::default(),
            LinkHeader { pit_token: PitToken::new(&[1; 6]).unwrap(), ..LinkHeader::default() },
            LinkHeader { congestion_mark: 1, non_discovery: true, ..LinkHeader::default() },
            LinkHeader { cache_policy: Some(CachePolicy::NoCache), ..LinkHeader::default() },
            LinkHeader {
                prefix_announcement: Some(Buffer::from(vec![6; 40])),
                congestion_mark: 3,
                ..LinkHeader::default()
            },
            LinkHeader { explicit_rate: ExplicitRate::from_per_1000_s(998_400), ..LinkHeader::default() },
        ];
        for header in headers {
            for nack in [None, Some(NackReason::Congestion), Some(NackReason::NoRoute)] {
                if nack.is_none() && header == LinkHeader::default() {
                    // Goes without a link header at all, where the encoder would write an empty one.
                    assert_eq!(link_header_bytes(&header, false, 100), 0);
                    continue;
                }
                for bare in [10, 100, 240, 300, 1200, 8000] {
                    let packet = vec![5; bare];
                    let mut frame = Vec::new();
                    let view = LpPacketView { nack, ..LpPacketView::with_header(&header) };
                    LpPacketView { fragment: Some(&packet), ..view }.encode(&mut frame);
                    let expected = bare + link_header_bytes(&header, nack.is_some(), bare);
                    assert_eq!(expected, frame.len(), "{header:?} {nack:?} {bare}");
                }
            }
        }
    }
}
