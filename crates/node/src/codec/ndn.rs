//! The NDN codec: packets of format v0.3 in NDNLPv2.

pub(super) mod link_settings;

use engine::Transmit;
use link::v2::{
    Config, CongestionConfig, EndpointId, FragmentationConfig, Framed, LinkService, PacingConfig,
    ParityConfig, ParityCounters, ReassemblyConfig, Received, ReliabilityConfig,
};
use packet::ndn::lp::{LpPacketView, frame_len};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::Instant;
use packet::{Buffer, Dialect, LinkHeader, LinkType, NackReason};

use super::drops::joined;
use super::{Frame, FrameSink, Framing, LinkSettings, PacketInput};
use crate::drop_reason::{DropCounters, DropReason};

/// One end of an NDN link.
pub(crate) struct NdnCodec {
    service: LinkService,
    settings: LinkSettings,
    /// What was wrong with packets in frames that were good.
    drops: DropCounters,
    /// Whether something may wait in the service: reassembled packets, and frames to be sent or acknowledged.
    may_wait: bool,
}

/// Where the first element of `stream` ends.
#[inline]
pub(super) fn framing(stream: &[u8]) -> Framing {
    match frame_len(stream) {
        Ok(Some(length)) => Framing::Complete(length),
        Ok(None) => Framing::Incomplete,
        Err(_) => Framing::Invalid,
    }
}

/// Whether a stranger's frame is at least one, so that noise makes no faces.
pub(super) fn is_welcome(frame: &[u8]) -> bool {
    LpPacketView::decode_first(frame).is_ok()
}

/// The name of the packet in a frame. A first fragment need not hold all of its packet, but the name.
pub(super) fn name_in(frame: &[u8]) -> Option<&[u8]> {
    let (view, _) = LpPacketView::decode_first(frame).ok()?;
    let packet = view.fragment.filter(|_| view.frag_index.unwrap_or(0) == 0)?;
    let (_, length_start) = tlv::read_number(packet, 0).ok()?;
    let (_, value_start) = tlv::read_number(packet, length_start).ok()?;
    let mut inside = tlv::Reader::new(packet.get(value_start..)?, "Name");
    Some(inside.required(packet::ndn::types::NAME, "Name").ok()?.value)
}

impl NdnCodec {
    /// A codec; `None` if the settings do not fit together.
    pub(crate) fn new(settings: LinkSettings, random: Random) -> Option<Self> {
        let service = LinkService::new(config(&settings), random).ok()?;
        let may_wait = may_wait(&settings);
        Some(NdnCodec { service, settings, drops: DropCounters::default(), may_wait })
    }

    pub(super) fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    pub(super) fn set_settings(&mut self, settings: LinkSettings) -> bool {
        let fits = self.service.set_config(config(&settings)).is_ok();
        if fits {
            self.may_wait = may_wait(&settings);
            self.settings = settings;
        }
        fits
    }

    #[inline]
    pub(super) fn receive(&mut self, Frame { now, from, bytes }: Frame<'_>, input: &mut PacketInput<'_>) {
        if self.service.receive_bare(bytes) {
            return self.read(bytes, None, None, input);
        }
        match self.service.receive_frame(now, EndpointId(from), bytes) {
            Ok(Received::Packet { packet, header, nack }) => self.read(packet, Some(header), nack, input),
            Ok(Received::Taken) => self.receive_reassembled(input),
            // The service has counted it.
            Err(_) => {}
        }
    }

    #[inline(always)]
    fn read(
        &mut self,
        packet: &[u8],
        header: Option<LinkHeader>,
        nack: Option<NackReason>,
        PacketInput { engine, arrivals }: &mut PacketInput<'_>,
    ) {
        if arrivals.decode_ndn(engine, packet, nack, header).is_err() {
            self.drops.add(DropReason::MalformedPacket, 1);
        }
    }

    #[cold]
    fn receive_reassembled(&mut self, PacketInput { engine, arrivals }: &mut PacketInput<'_>) {
        while let Some(delivery) = self.service.poll_deliver() {
            let (packet, header) = (delivery.packet, Some(delivery.header));
            if arrivals.decode_owned(engine, Dialect::Ndn, packet, delivery.nack, header).is_err() {
                self.drops.add(DropReason::MalformedPacket, 1);
            }
        }
    }

    #[inline]
    pub(super) fn send(&mut self, now: Instant, transmit: Transmit, sink: &mut impl FrameSink) {
        // Applications are told more about their packets.
        if self.settings.local_fields || !transmit.is_bare() {
            return self.send_with_header(now, transmit, sink);
        }
        let wire = transmit.packet.into_wire();
        if self.service.frame_bare(now, &wire) {
            sink.end_frame(Some(wire));
        } else {
            self.send_framed(now, wire, LinkHeader::NONE, None, sink);
        }
    }

    #[inline(never)]
    fn send_with_header(&mut self, now: Instant, transmit: Transmit, sink: &mut impl FrameSink) {
        let (packet, header) = transmit.into_parts();
        let nack = packet.nack_reason();
        self.send_framed(now, packet.into_wire(), header, nack, sink);
    }

    #[inline(never)]
    fn send_framed(
        &mut self,
        now: Instant,
        wire: Buffer,
        header: LinkHeader,
        nack: Option<NackReason>,
        sink: &mut impl FrameSink,
    ) {
        match self.service.frame(now, header, nack, &wire, sink.bytes()) {
            Ok(Framed::Whole) => {
                sink.end_frame(Some(wire));
                if self.service.wants_poll() {
                    self.poll_frames(now, sink);
                }
            }
            Ok(Framed::Taken) => self.poll_frames(now, sink),
            // The service has counted it.
            Err(_) => {}
        }
    }

    pub(super) fn poll_frames(&mut self, now: Instant, sink: &mut impl FrameSink) {
        while self.service.poll_transmit(now, sink.bytes()).is_some() {
            sink.end_frame(None);
        }
    }

    /// The largest frame that the path was found to carry, if that has changed since the last call.
    pub(super) fn poll_path_mtu(&mut self) -> Option<usize> {
        self.service.poll_path_mtu()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, sink: &mut impl FrameSink) {
        self.service.handle_timeout(now);
        self.poll_frames(now, sink);
    }

    pub(super) fn next_deadline(&self) -> Instant {
        if self.may_wait { self.service.next_deadline() } else { Instant::NEVER }
    }

    pub(super) fn handle_send_queue(&mut self, queued_bytes: u64) {
        self.service.handle_send_queue(Some(queued_bytes));
    }

    #[inline]
    pub(super) fn partial_bytes(&self) -> usize {
        if self.may_wait { self.service.usage().partial_bytes } else { 0 }
    }

    #[inline]
    pub(super) fn waiting_bytes(&self) -> usize {
        if self.may_wait { self.service.waiting_bytes() } else { 0 }
    }

    pub(super) fn mtu_bytes(&self) -> Option<usize> {
        self.service.mtu_bytes()
    }

    #[inline]
    pub(super) fn wants_poll(&self) -> bool {
        self.service.wants_poll()
    }

    /// Whether frames must leave in the order in which they were made.
    #[inline]
    pub(super) fn keeps_order(&self) -> bool {
        let is_held_back = self.service.waiting_bytes() > 0 || self.service.wants_poll();
        self.settings.reliability || is_held_back || self.service.sends_parity()
    }

    pub(super) fn evict_partial_packets(&mut self) {
        self.service.evict_partial_packets();
    }

    pub(super) fn evict_waiting_packets(&mut self) {
        self.service.evict_waiting_packets();
    }

    pub(super) fn parity_counters(&self) -> ParityCounters {
        self.service.counters().parity
    }

    pub(super) fn drops(&self) -> Vec<(&'static str, u64)> {
        joined(&[self.drops.occurred(), self.service.drops().occurred()])
    }
}

fn may_wait(settings: &LinkSettings) -> bool {
    settings.reliability || settings.fragmentation || settings.parity
}

fn config(settings: &LinkSettings) -> Config {
    let fragments = settings.fragmentation && settings.transport_mtu_bytes.is_some();
    Config {
        transport_mtu_bytes: settings.transport_mtu_bytes.map(|bytes| bytes.min(tlv::MAX_PACKET_BYTES)),
        mtu_override_bytes: settings.mtu_override_bytes,
        link_type: if settings.multi_access { LinkType::MultiAccess } else { LinkType::PointToPoint },
        padded_frames: settings.padded_frames,
        fragmentation: fragments.then(FragmentationConfig::default),
        reassembly: fragments.then(ReassemblyConfig::default),
        reliability: settings.reliability.then(ReliabilityConfig::default),
        congestion_marking: settings.congestion_marking.then_some(CongestionConfig {
            threshold_bytes: settings.congestion.threshold_bytes,
            interval: settings.congestion.interval,
        }),
        pacing: settings.receive_capacity_bytes.filter(|_| !settings.multi_access).map(|bytes| {
            PacingConfig {
                receive_capacity_bytes: bytes,
                probe_path_mtu: settings.probe_path_mtu,
                ..PacingConfig::default()
            }
        }),
        parity: (settings.parity && settings.multi_access).then(ParityConfig::default),
        // What the memory for waiting packets allows counts, not how many they are.
        max_outgoing_packets: if settings.receive_capacity_bytes.is_some() { 1 << 14 } else { 1024 },
        local_fields: settings.local_fields,
        ..Config::default()
    }
}
