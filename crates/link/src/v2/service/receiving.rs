//! The way of a frame from the wire to its owner.

use packet::ndn::lp::LpPacketView;
use packet::time::Instant;
use packet::{Buffer, LinkHeader, NackReason, PacketKind};

use super::{Delivery, EndpointId, LinkService, Received};
use crate::DropReason;
use crate::v2::reassembler::Position;
use crate::v2::{DIALECT, fields};

impl LinkService {
    #[inline]
    pub(super) fn try_receive<'f>(
        &mut self,
        now: Instant,
        from: EndpointId,
        frame: &'f [u8],
    ) -> Result<Received<'f>, DropReason> {
        if let Some(outcome) = self.try_receive_bare(frame) {
            if outcome.is_ok() {
                self.note_heard_for_parity(frame);
            }
            return outcome;
        }
        let decoded = if self.config.padded_frames {
            LpPacketView::decode_first(frame)
        } else {
            LpPacketView::decode(frame).map(|view| (view, frame.len()))
        };
        let (view, used) = decoded.map_err(|_| DropReason::MalformedFrame)?;
        if self.parity.is_some() {
            if !view.parity.is_empty() {
                return self.receive_parity(now, from, view.parity).map(|()| Received::Taken);
            }
            self.note_heard_for_parity(frame.get(..used).unwrap_or_default());
        }
        self.take_in_reliability(now, &view)?;
        if self.pacing.pacer.is_some() && self.take_in_echo(now, &view, frame.len()) {
            return Ok(Received::Taken);
        }
        let Some(fragment) = view.fragment else {
            self.counters.idle_in += 1;
            return Ok(Received::Taken);
        };
        let (index, count) = (view.frag_index.unwrap_or(0), view.frag_count.unwrap_or(1));
        let fragmented = view.frag_index.is_some() || view.frag_count.is_some();
        if fragmented && self.reassembler.is_none() {
            return Err(DropReason::ReassemblyDisabled);
        }
        if index >= count {
            return Err(DropReason::FragIndexOutOfRange);
        }
        if count == 1 {
            let mut header = view.link_header();
            self.admit(fragment, &mut header, view.nack)?;
            return Ok(Received::Packet { packet: fragment, header, nack: view.nack });
        }
        self.receive_fragment(now, Position { from, sequence: 0, index, count }, &view, fragment)
            .map(|()| Received::Taken)
    }

    /// A network packet without an LpPacket around it has no fields to look after; `None` if the frame is
    /// something else.
    #[inline]
    fn try_receive_bare<'f>(&self, frame: &'f [u8]) -> Option<Result<Received<'f>, DropReason>> {
        let is_bare = PacketKind::announced(DIALECT, frame).is_some();
        if !is_bare || self.config.padded_frames {
            return None;
        }
        let kind = fields::kind_of(frame, None).map_err(|_| DropReason::MalformedFrame);
        Some(match kind {
            Ok(_) if frame.len() > self.config.max_packet_bytes => Err(DropReason::PacketTooLarge),
            Ok(_) => Ok(Received::Packet { packet: frame, header: LinkHeader::default(), nack: None }),
            Err(reason) => Err(reason),
        })
    }

    fn receive_fragment(
        &mut self,
        now: Instant,
        position: Position,
        view: &LpPacketView<'_>,
        fragment: &[u8],
    ) -> Result<(), DropReason> {
        self.counters.fragments_in += 1;
        let sequence = view.sequence.ok_or(DropReason::MissingSequence)?;
        let from = position.from;
        let position = Position { sequence, ..position };
        let Some(reassembler) = &mut self.reassembler else { return Err(DropReason::ReassemblyDisabled) };
        match reassembler.receive(now, position, view, fragment, &mut self.drops)? {
            None => Ok(()),
            Some(assembled) => {
                self.counters.reassembled += 1;
                self.deliver(from, assembled.packet, assembled.header, assembled.nack)
            }
        }
    }

    fn take_in_reliability(&mut self, now: Instant, view: &LpPacketView<'_>) -> Result<(), DropReason> {
        let Some(reliability) = &mut self.reliability else { return Ok(()) };
        if !view.acks.is_empty() {
            for ack in view.acks.iter() {
                if reliability.handle_ack(now, ack, &mut self.outgoing, &mut self.drops) {
                    self.counters.acks_in += 1;
                }
            }
            self.pace_by_acknowledgements(now);
        }
        match (&mut self.reliability, view.tx_sequence, view.fragment) {
            (Some(reliability), Some(tx_sequence), Some(_)) => {
                reliability.handle_frame(now, tx_sequence, view.sequence, &mut self.drops)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn deliver(
        &mut self,
        from: EndpointId,
        packet: Buffer,
        mut header: LinkHeader,
        nack: Option<NackReason>,
    ) -> Result<(), DropReason> {
        self.admit(&packet, &mut header, nack)?;
        if self.deliveries.len() >= self.config.max_deliveries {
            return Err(DropReason::DeliveryQueueFull);
        }
        self.counters.packets_in += 1;
        self.deliveries.push_back(Delivery { packet, header, nack, from });
        Ok(())
    }

    /// Checks a packet that arrived, and takes those fields out of its header that are to be ignored.
    #[inline]
    fn admit(
        &self,
        packet: &[u8],
        header: &mut LinkHeader,
        nack: Option<NackReason>,
    ) -> Result<(), DropReason> {
        if packet.len() > self.config.max_packet_bytes {
            return Err(DropReason::PacketTooLarge);
        }
        let kind = fields::kind_of(packet, nack)?;
        fields::admit(kind, header, &self.config)
    }
}
