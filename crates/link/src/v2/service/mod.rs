//! One end of an NDNLPv2 link.

mod acks;
mod pacing;
mod parity;
mod receiving;
mod unsent;

use std::collections::VecDeque;

use packet::ndn::lp::{Acks, LpPacketView};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader, NackReason, PacketKind};

use acks::fitting_acks;
use pacing::Pacing;
use unsent::Unsent;

use super::config::{Config, ConfigError};
use super::congestion::CongestionMarker;
use super::fields;
use super::fragmenter::{self, FragmentPlan, FrameRoom};
use super::outgoing::{FrameRef, OutgoingPacket, OutgoingStore};
use super::parity::Parity;
use super::reassembler::Reassembler;
use super::reliability::Reliability;
use super::report::{Counters, Usage};
use super::results::{Delivery, EndpointId, Framed, Received};
use crate::DropReason;
use crate::drop_reason::DropCounters;

/// One end of an NDNLPv2 link, without the socket.
///
/// **Calling order.** `now` never goes back. After every [`send`](Self::send), [`receive`](Self::receive) and
/// [`handle_timeout`](Self::handle_timeout), in whatever batches suit the owner:
///
/// 1. take frames with [`poll_transmit`](Self::poll_transmit) and packets with
///    [`poll_deliver`](Self::poll_deliver), each until there are none;
/// 2. call [`handle_timeout`](Self::handle_timeout) when [`next_deadline`](Self::next_deadline) has come.
///
/// [`handle_send_queue`](Self::handle_send_queue) tells how much the transport has still to send; without it
/// there are no congestion marks.
///
/// Nobody is told of a packet that was given up after all retries of one of its frames, as in NFD; it is
/// counted as [`DropReason::RetriesExhausted`]. Whoever asked for it asks again, and strategies that measure
/// see that no answer came.
///
/// **Limits.** Whatever the peer sends, memory is bounded by the limits in [`Config`]; what happens at a
/// limit stands there, and [`drops`](Self::drops) counts it.
#[derive(Debug)]
pub struct LinkService {
    config: Config,
    random: Random,
    /// The Sequence of the next frame that gets one.
    next_sequence: u64,
    outgoing: OutgoingStore,
    unsent: Unsent,
    reliability: Option<Reliability>,
    reassembler: Option<Reassembler>,
    marking: Marking,
    pacing: Pacing,
    /// On links with many ends alone.
    parity: Option<Box<Parity>>,
    deliveries: VecDeque<Delivery>,
    /// What [`poll_path_mtu`](Self::poll_path_mtu) gives next.
    new_path_mtu_bytes: Option<usize>,
    counters: Counters,
    drops: DropCounters,
}

/// Congestion marks: what decides on them, and by what.
#[derive(Debug, Default)]
struct Marking {
    marker: Option<CongestionMarker>,
    /// Bytes in the transport's send queue, if it can tell.
    queued_bytes: Option<u64>,
}

impl LinkService {
    /// A service for one link. `random` gives the first sequence numbers and nothing else.
    ///
    /// # Errors
    /// When the parameters make no sense.
    pub fn new(config: Config, random: Random) -> Result<Self, ConfigError> {
        config.check()?;
        let mut service = LinkService {
            next_sequence: 0,
            outgoing: OutgoingStore::default(),
            unsent: Unsent::default(),
            reliability: None,
            reassembler: None,
            marking: Marking::default(),
            pacing: Pacing::default(),
            parity: None,
            deliveries: VecDeque::new(),
            new_path_mtu_bytes: None,
            counters: Counters::default(),
            drops: DropCounters::default(),
            config,
            random,
        };
        service.next_sequence = service.random.next_u64();
        service.start_reliability();
        service.start_reassembly();
        service.start_marking();
        service.start_pacing();
        service.start_parity();
        Ok(service)
    }

    /// The parameters in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What has been dropped so far, and why.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    /// What is held at present.
    pub fn usage(&self) -> Usage {
        Usage {
            partial_packets: self.reassembler.as_ref().map_or(0, Reassembler::len),
            partial_bytes: self.reassembler.as_ref().map_or(0, Reassembler::bytes),
            outgoing_packets: self.outgoing.len(),
            outgoing_bytes: self.outgoing.bytes(),
            waiting_packets: self.unsent.len(),
            unacknowledged_frames: self.reliability.as_ref().map_or(0, Reliability::window_len),
            pending_acks: self.reliability.as_ref().map_or(0, Reliability::pending_ack_count),
            deliveries: self.deliveries.len(),
        }
    }

    /// The retransmission timeout, with reliability on.
    pub fn retransmission_timeout(&self) -> Option<Duration> {
        self.reliability.as_ref().map(|reliability| reliability.rto().timeout())
    }

    /// The smoothed round-trip time of frames and their acks, once one has been measured.
    pub fn smoothed_round_trip(&self) -> Option<Duration> {
        self.reliability.as_ref().and_then(|reliability| reliability.rto().smoothed_round_trip())
    }

    /// Changes the parameters while the link is in use, as management does. Parts whose own parameters change
    /// start anew and forget what they held: reliability the packets to be sent or acknowledged, reassembly
    /// the incomplete ones.
    ///
    /// # Errors
    /// When the new parameters make no sense; the old ones then stay in force.
    pub fn set_config(&mut self, config: Config) -> Result<(), ConfigError> {
        config.check()?;
        let old = std::mem::replace(&mut self.config, config);
        if self.config.reliability != old.reliability {
            self.drops.add(DropReason::Reconfigured, self.outgoing.len() as u64);
            self.outgoing = OutgoingStore::default();
            self.unsent = Unsent::default();
            self.start_reliability();
        }
        if self.config.pacing != old.pacing || self.config.reliability.is_some() != old.reliability.is_some()
        {
            self.start_pacing();
        }
        self.follow_mtu();
        if self.config.parity != old.parity || self.config.effective_mtu_bytes() != old.effective_mtu_bytes()
        {
            self.start_parity();
        }
        if self.config.reassembly != old.reassembly || self.config.max_packet_bytes != old.max_packet_bytes {
            let incomplete = self.reassembler.as_ref().map_or(0, Reassembler::len);
            self.drops.add(DropReason::Reconfigured, incomplete as u64);
            self.start_reassembly();
        }
        if self.config.congestion_marking != old.congestion_marking {
            self.start_marking();
        }
        Ok(())
    }

    /// Accepts a network packet for sending.
    ///
    /// # Errors
    /// Why the packet was dropped.
    pub fn send(
        &mut self,
        now: Instant,
        header: LinkHeader,
        nack: Option<NackReason>,
        packet: Buffer,
    ) -> Result<(), DropReason> {
        let outcome = self.try_send(now, header, nack, packet);
        self.count_drop(outcome)
    }

    /// Sends a whole network packet that has nothing to tell this link but itself, if the link has nothing to
    /// tell about it either: then the packet is a frame as it stands, and has been counted as one. If
    /// not, it has to go by [`frame`](Self::frame).
    #[inline]
    pub fn frame_bare(&mut self, now: Instant, packet: &[u8]) -> bool {
        let config = &self.config;
        let largest = config.effective_mtu_bytes().unwrap_or(usize::MAX).min(config.max_packet_bytes);
        let is_free = self.pacing.bare_until.is_free(now, packet.len());
        let is_calm = match (&self.marking.marker, self.marking.queued_bytes) {
            (Some(marker), Some(queued_bytes)) => marker.is_calm(queued_bytes),
            _ => true,
        };
        let bare = is_free
            && self.reliability.is_none()
            && self.unsent.is_empty()
            && is_calm
            && packet.len() <= largest
            && self.is_bare_for_parity(now, packet);
        self.counters.packets_out += u64::from(bare);
        self.counters.frames_out += u64::from(bare);
        bare
    }

    /// The same without a copy where that is possible: when the packet fits into one frame and nothing waits
    /// before it, appends to `frame` what stands before the packet in that frame.
    ///
    /// # Errors
    /// Why the packet was dropped.
    #[inline]
    pub fn frame(
        &mut self,
        now: Instant,
        mut header: LinkHeader,
        nack: Option<NackReason>,
        packet: &Buffer,
        frame: &mut Vec<u8>,
    ) -> Result<Framed, DropReason> {
        let whole = self.reliability.is_none() && self.unsent.is_empty();
        if !whole || !self.may_leave(now, packet.len()) {
            return self.send(now, header, nack, packet.clone()).map(|()| Framed::Taken);
        }
        let outcome = fields::kind_of(packet, nack).and_then(|kind| self.check_outgoing(kind, packet));
        self.count_drop(outcome)?;
        fields::strip(&mut header, &self.config);
        self.mark(now, &mut header);
        let mtu_bytes = self.mtu_bytes().unwrap_or(usize::MAX);
        if nack.is_none() && header.is_empty() && packet.len() <= mtu_bytes {
            // There is nothing to say about the packet: it goes as it is.
            self.note_leaving(now, packet.len());
            self.note_leaving_for_parity(now, &[], packet);
            self.counters.packets_out += 1;
            self.counters.frames_out += 1;
            return Ok(Framed::Whole);
        }
        let fields = LpPacketView { nack, fragment: Some(packet), ..LpPacketView::with_header(&header) };
        if fields.encoded_len() > mtu_bytes {
            let outcome = self.enqueue(header, nack, packet.clone());
            return self.count_drop(outcome).map(|()| Framed::Taken);
        }
        let start = frame.len();
        fields.encode_head(frame);
        let frame_len = fields.encoded_len();
        self.note_leaving_for_parity(now, frame.get(start..).unwrap_or_default(), packet);
        self.note_leaving(now, frame_len);
        self.counters.packets_out += 1;
        self.counters.frames_out += 1;
        Ok(Framed::Whole)
    }

    /// Takes in a frame. Whatever comes of it is handed out by the `poll_*` methods.
    ///
    /// # Errors
    /// Why the frame, or the packet it completed, was dropped. Its acks have been heeded if it decoded.
    pub fn receive(&mut self, now: Instant, from: EndpointId, frame: &[u8]) -> Result<(), DropReason> {
        self.counters.frames_in += 1;
        self.pacing.received_bytes += frame.len() as u64;
        let outcome = match self.try_receive(now, from, frame) {
            Ok(Received::Packet { packet, header, nack }) => {
                self.deliver(from, Buffer::copy_from(packet), header, nack)
            }
            outcome => outcome.map(|_| ()),
        };
        self.count_drop(outcome)
    }

    /// Takes in a frame that is a network packet as it stands, with no field around it: most are. False if it
    /// is none, or not plainly one; then nothing was counted, and it has to go by
    /// [`receive_frame`](Self::receive_frame).
    #[inline]
    pub fn receive_bare(&mut self, frame: &[u8]) -> bool {
        let config = &self.config;
        let bare = !config.padded_frames
            && frame.len() <= config.max_packet_bytes
            && fields::plain_kind_of(frame).is_some();
        self.counters.frames_in += u64::from(bare);
        self.pacing.received_bytes += frame.len() as u64;
        self.counters.packets_in += u64::from(bare);
        if bare {
            self.note_heard_for_parity(frame);
        }
        bare
    }

    /// The same without a copy where that is possible: gives the packet if all of it is in the frame.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    #[inline]
    pub fn receive_frame<'f>(
        &mut self,
        now: Instant,
        from: EndpointId,
        frame: &'f [u8],
    ) -> Result<Received<'f>, DropReason> {
        self.counters.frames_in += 1;
        self.pacing.received_bytes += frame.len() as u64;
        let outcome = self.try_receive(now, from, frame).map_err(|reason| self.drops.count(reason))?;
        if let Received::Packet { .. } = outcome {
            self.counters.packets_in += 1;
        }
        Ok(outcome)
    }

    /// Lets time pass: discards incomplete packets, finds losses, lets acks go.
    pub fn handle_timeout(&mut self, now: Instant) {
        let retransmission_span = self.retransmission_span();
        if let Some(reassembler) = &mut self.reassembler {
            reassembler.handle_timeout(now, retransmission_span, &mut self.drops);
        }
        if let Some(reliability) = &mut self.reliability {
            reliability.handle_timeout(now, &mut self.outgoing, &mut self.drops);
        }
        self.pace_by_acknowledgements(now);
        self.pass_time_for_pacer(now);
        if let Some(parity) = &mut self.parity {
            parity.sender.handle_timeout(now);
        }
    }

    /// Learns how many bytes the transport has still to send, or that it cannot tell.
    pub fn handle_send_queue(&mut self, queued_bytes: Option<u64>) {
        self.marking.queued_bytes = queued_bytes;
    }

    /// Appends the next frame to `frames` and gives its length, if there is one to send. Several calls with
    /// the same buffer put frames one behind the other, as segmentation offload wants them.
    pub fn poll_transmit(&mut self, now: Instant, frames: &mut Vec<u8>) -> Option<usize> {
        let before = frames.len();
        let _ = self.transmit_reply(frames)
            || self.transmit_parity(frames)
            || self.transmit_request(now, frames)
            || self.transmit_packet(now, frames)
            // A packet that was held back just now may wait for an echo that has to be asked for.
            || self.transmit_request(now, frames)
            || self.transmit_idle(frames);
        let len = frames.len() - before;
        if len == 0 {
            return None;
        }
        self.counters.frames_out += 1;
        Some(len)
    }

    /// The next network packet that arrived.
    pub fn poll_deliver(&mut self) -> Option<Delivery> {
        self.deliveries.pop_front()
    }

    /// The largest frame that the path was found to carry, in bytes, if that has changed since the last call.
    /// Packets are cut to it already.
    pub fn poll_path_mtu(&mut self) -> Option<usize> {
        self.new_path_mtu_bytes.take()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next; [`Instant::NEVER`] if nothing
    /// waits.
    pub fn next_deadline(&self) -> Instant {
        let reassembly = self
            .reassembler
            .as_ref()
            .map_or(Instant::NEVER, |part| part.next_deadline(self.retransmission_span()));
        let reliability = self.reliability.as_ref().map_or(Instant::NEVER, Reliability::next_deadline);
        let pacing = self.pacing.pacer.as_ref().map_or(Instant::NEVER, |pacer| pacer.next_deadline());
        let parity = self.parity.as_ref().map_or(Instant::NEVER, |parity| parity.sender.next_deadline());
        reassembly.min(reliability).min(pacing).min(parity)
    }

    fn start_reliability(&mut self) {
        self.reliability = self.config.reliability.clone().map(|parameters| {
            self.next_sequence = parameters.first_sequence.unwrap_or(self.next_sequence);
            let first_tx_sequence = parameters.first_tx_sequence.unwrap_or_else(|| self.random.next_u64());
            Reliability::new(parameters, first_tx_sequence)
        });
    }

    /// Drops all incomplete packets, for an owner of many services whose memory for them is used up.
    pub fn evict_partial_packets(&mut self) {
        let incomplete = self.reassembler.as_ref().map_or(0, Reassembler::len);
        self.drops.add(DropReason::PartialEvicted, incomplete as u64);
        self.start_reassembly();
    }

    fn start_reassembly(&mut self) {
        let max_packet_bytes = self.config.max_packet_bytes;
        self.reassembler =
            self.config.reassembly.clone().map(|parameters| Reassembler::new(parameters, max_packet_bytes));
    }

    fn start_marking(&mut self) {
        self.marking.marker = self.config.congestion_marking.clone().map(CongestionMarker::new);
    }

    /// How long the peer may take to send a lost frame again.
    fn retransmission_span(&self) -> Duration {
        self.reliability.as_ref().map_or(Duration::ZERO, Reliability::retransmission_span)
    }

    fn count_drop(&mut self, outcome: Result<(), DropReason>) -> Result<(), DropReason> {
        outcome.map_err(|reason| self.drops.count(reason))
    }

    fn try_send(
        &mut self,
        now: Instant,
        mut header: LinkHeader,
        nack: Option<NackReason>,
        packet: Buffer,
    ) -> Result<(), DropReason> {
        let kind = fields::kind_of(&packet, nack)?;
        self.check_outgoing(kind, &packet)?;
        if self.unsent.len() >= self.config.max_outgoing_packets || self.has_waiting_enough() {
            return Err(DropReason::SendQueueFull);
        }
        fields::strip(&mut header, &self.config);
        self.mark(now, &mut header);
        self.enqueue(header, nack, packet)
    }

    #[inline]
    fn check_outgoing(&self, kind: PacketKind, packet: &[u8]) -> Result<(), DropReason> {
        if packet.len() > self.config.max_packet_bytes {
            return Err(DropReason::PacketTooLarge);
        }
        if kind == PacketKind::Nack && !self.config.link_type.is_point_to_point() {
            return Err(DropReason::NackOnMultiAccess);
        }
        Ok(())
    }

    #[inline]
    fn mark(&mut self, now: Instant, header: &mut LinkHeader) {
        let waiting = self.pacing.pacer.as_ref().map(|_| self.unsent.bytes() as u64);
        let queued_bytes =
            self.marking.queued_bytes.map_or(waiting, |queued| Some(queued + waiting.unwrap_or(0)));
        if let (Some(marker), Some(queued_bytes)) = (&mut self.marking.marker, queued_bytes)
            && marker.shall_mark(now, queued_bytes)
        {
            header.congestion_mark = 1;
            self.counters.congestion_marks_out += 1;
        }
    }

    /// Takes a packet that has been checked, and keeps it until its frames are taken.
    fn enqueue(
        &mut self,
        header: LinkHeader,
        nack: Option<NackReason>,
        packet: Buffer,
    ) -> Result<(), DropReason> {
        let plan = self.plan(&header, nack, packet.len())?;
        let numbered = plan.count > 1 || self.reliability.is_some();
        let first_sequence = numbered.then_some(self.next_sequence);
        if numbered {
            self.next_sequence = self.next_sequence.wrapping_add(plan.count.into());
        }
        let outgoing = OutgoingPacket {
            packet,
            header,
            nack,
            plan,
            first_sequence,
            next_fragment: 0,
            outstanding: plan.count,
            settled: Vec::new(),
        };
        let len = outgoing.packet.len();
        self.unsent.push(self.outgoing.insert(outgoing), len);
        self.counters.packets_out += 1;
        Ok(())
    }

    fn plan(
        &self,
        header: &LinkHeader,
        nack: Option<NackReason>,
        packet_len: usize,
    ) -> Result<FragmentPlan, DropReason> {
        let Some(mtu_bytes) = self.mtu_bytes() else {
            return Ok(FragmentPlan::whole(packet_len));
        };
        let fields = LpPacketView { nack, ..LpPacketView::with_header(header) };
        let room = FrameRoom {
            mtu_bytes,
            first_header_len: fields.header_len(),
            other_header_len: fields.repeated_on_fragments().header_len(),
            reliable: self.reliability.is_some(),
            max_fragments: self.config.fragmentation.as_ref().map(|parameters| parameters.max_fragments),
        };
        fragmenter::plan(packet_len, &room)
    }

    /// Sends a frame that was lost, or else one that has never been sent. When the neighbour cannot take the
    /// lost one yet, none goes before it: smaller ones could do so for ever.
    fn transmit_packet(&mut self, now: Instant, frames: &mut Vec<u8>) -> bool {
        match self.reliability.as_mut().and_then(|reliability| reliability.next_lost(&self.outgoing)) {
            Some(lost) => self.transmit_lost(now, lost, frames),
            None => self.transmit_unsent(now, frames),
        }
    }

    /// Sends a lost frame again, with the same Sequence and a new TxSequence.
    fn transmit_lost(&mut self, now: Instant, lost: FrameRef, frames: &mut Vec<u8>) -> bool {
        if !self.may_transmit(now, lost.key, lost.fragment) {
            return false;
        }
        let Some(frame) = self.reliability.as_mut().and_then(Reliability::take_lost) else { return false };
        self.counters.retransmissions += 1;
        self.transmit_frame(now, frame, frames);
        true
    }

    fn transmit_unsent(&mut self, now: Instant, frames: &mut Vec<u8>) -> bool {
        while let Some(key) = self.unsent.first() {
            // The packet may have been given up after some of its frames.
            let Some(next) = self.outgoing.get(key).map(|packet| packet.next_fragment) else {
                self.unsent.pop();
                continue;
            };
            if !self.may_transmit(now, key, next) {
                return false;
            }
            let Some(packet) = self.outgoing.get_mut(key) else { return false };
            let fragment = packet.next_fragment;
            packet.next_fragment += 1;
            let last = packet.next_fragment >= packet.plan.count;
            if packet.plan.count > 1 {
                self.counters.fragments_out += 1;
            }
            if last {
                self.unsent.pop();
            }
            self.transmit_frame(now, FrameRef { key, fragment, retries: 0 }, frames);
            if last && self.reliability.is_none() {
                self.outgoing.remove(key);
            }
            return true;
        }
        false
    }

    fn transmit_frame(&mut self, now: Instant, frame: FrameRef, frames: &mut Vec<u8>) {
        let mtu_bytes = self.mtu_bytes();
        let position = self.note_transmitting(now, frame);
        let Some(reliability) = &mut self.reliability else {
            let start = frames.len();
            if let Some(packet) = self.outgoing.get(frame.key) {
                packet.frame(frame.fragment, None).encode(frames);
            }
            return self.note_leaving_for_parity(now, &[], frames.get(start..).unwrap_or_default());
        };
        let waiting_bytes = self.unsent.bytes();
        let left = (frame, position);
        let (outgoing, drops) = (&mut self.outgoing, &mut self.drops);
        let tx_sequence = reliability.note_sent(now, left, waiting_bytes, outgoing, drops);
        let Some(packet) = self.outgoing.get(frame.key) else { return };
        let mut fields = packet.frame(frame.fragment, Some(tx_sequence));
        let mut count = 0;
        if !reliability.pending_acks().is_empty() {
            let acks = fitting_acks(reliability.pending_acks(), fields.encoded_len(), mtu_bytes);
            count = acks.len();
            fields.acks = Acks::of(acks);
        }
        fields.encode(frames);
        reliability.take_acks(count);
        self.counters.acks_out += count as u64;
    }
}
