//! The CCNx codec: messages of CCNx 0.8 as ccnd frames them, one after the other.
//!
//! A stream is a sequence of messages, and so is a datagram. A datagram of one byte or none is a heartbeat,
//! which only says that its sender is there. The first message in a wrapper (CCNProtocolDataUnit) that comes
//! over a unix socket makes the peer a link adapter: from then on it is sent wrapped messages, too.
//!
//! Over links whose peers want it, messages travel in packets of NDNLP v1, which cuts, acknowledges and sends
//! again. The state machine for that is [`link::v1`].

pub(super) mod link_settings;

use engine::Transmit;
use engine::batch::Acceptance;
use link::v1::{Config, LinkService};
use packet::ccnx::{
    Dtag, Framer, MAX_MESSAGE_BYTES, Message, Reader, SequenceNumber, message_len, ndnlp, pdu,
};
use packet::random::Random;
use packet::time::Instant;
use packet::{Buffer, Dialect, Interest, LinkHeader, Packet, PacketKind};

use super::drops::joined;
use super::{Frame, FrameSink, Framing, LinkSettings, PacketInput};
use crate::drop_reason::{DropCounters, DropReason};

/// One end of a CCNx link.
pub(crate) struct CcnxCodec {
    settings: LinkSettings,
    /// Finds the ends of messages in a stream.
    framer: Framer,
    /// Whether a message has come by the stream, so that what follows is no request for the status page.
    has_begun: bool,
    /// Whether one was read.
    has_read: bool,
    /// Whether the peer is a link adapter, which wraps messages and wants them wrapped, or sends packets of
    /// NDNLP over a stream.
    is_adapter: bool,
    /// What carries messages where they do not travel as they are.
    link: Option<Box<LinkService>>,
    random: Random,
    /// Interests that wait to leave together, in one datagram.
    together: Vec<u8>,
    /// The number that the next datagram of the peer should have, once it has sent one.
    expected: Option<SequenceNumber>,
    drops: DropCounters,
}

/// Bytes of a wrapper around a message.
const WRAPPER_BYTES: usize = pdu::EMPTY_PDU.len();
/// How a request for the status page begins.
const REQUEST: &[u8] = b"GET ";
/// A request is complete at its second blank, or when there are so many bytes.
const REQUEST_BYTES: usize = 15;
/// Numbers of datagrams that may be missing at once and count as lost; if there are more, the peer has
/// probably begun anew.
const MAX_LOST: u64 = 255;

impl CcnxCodec {
    /// A codec; `None` if the settings do not fit together.
    pub(crate) fn new(settings: LinkSettings, mut random: Random) -> Option<Self> {
        let link = match settings.ndnlp {
            true => Some(new_link(&settings, &mut random)?),
            false => None,
        };
        Some(CcnxCodec {
            settings,
            link,
            random,
            framer: framer(),
            has_begun: false,
            has_read: false,
            is_adapter: false,
            together: Vec::new(),
            expected: None,
            drops: DropCounters::default(),
        })
    }

    pub(super) fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    /// Nothing of this link can be switched.
    pub(super) fn set_settings(&mut self, settings: LinkSettings) -> bool {
        self.settings == settings
    }

    /// Whether the peer has turned out to be a link adapter: its messages come from other hosts.
    pub(super) fn is_adapter(&self) -> bool {
        self.is_adapter
    }

    fn is_stream(&self) -> bool {
        self.settings.transport_mtu_bytes.is_none()
    }

    /// Where the first message of `stream` ends. It is asked with all that has come of that message.
    #[inline]
    pub(super) fn framing(&mut self, stream: &[u8]) -> Framing {
        if !self.has_begun && is_request(stream) {
            return request_framing(stream);
        }
        match self.framer.scan(stream) {
            Ok(Some(length)) => {
                self.has_begun = true;
                Framing::Complete(length)
            }
            Ok(None) => Framing::Incomplete,
            Err(_) => Framing::Invalid,
        }
    }

    /// What comes next begins another stream.
    pub(super) fn begin_stream(&mut self) {
        (self.framer, self.has_begun, self.has_read, self.is_adapter) = (framer(), false, false, false);
        if !self.settings.ndnlp {
            self.link = None;
        }
    }

    /// Takes in one message of a stream, or a datagram of any number of them.
    #[inline]
    pub(super) fn receive(&mut self, frame: Frame<'_>, input: &mut PacketInput<'_>) {
        if self.link.is_some() {
            return self.receive_packet(frame, input);
        }
        if self.is_stream() {
            if !self.has_read && self.begins_with_ndnlp(frame.bytes) {
                return self.receive_packet(frame, input);
            }
            return self.read(frame.bytes, input);
        }
        if frame.bytes.len() > 1 {
            self.read_all(frame.bytes, input);
        }
    }

    /// Whether the first message of a connection is a packet of NDNLP: then all are, in both directions. What
    /// comes by it comes from other hosts.
    #[cold]
    fn begins_with_ndnlp(&mut self, frame: &[u8]) -> bool {
        self.has_read = true;
        if self.settings.may_be_adapter || !is_ndnlp1(frame) {
            return false;
        }
        self.link = new_link(&self.settings, &mut self.random);
        self.is_adapter = self.link.is_some();
        self.is_adapter
    }

    /// Takes in a packet of NDNLP, and the messages that are complete now.
    #[inline(never)]
    fn receive_packet(&mut self, Frame { now, bytes, .. }: Frame<'_>, input: &mut PacketInput<'_>) {
        let Some(link) = &mut self.link else { return };
        // The service has counted what was wrong with it, and may have messages all the same.
        let _ = link.receive(now, bytes);
        while let Some(message) = self.link.as_mut().and_then(|link| link.poll_deliver()) {
            self.read_all(&message, input);
        }
    }

    fn read_all(&mut self, mut bytes: &[u8], input: &mut PacketInput<'_>) {
        while !bytes.is_empty() {
            if matches!(Kind::of(bytes), Kind::Packet)
                && let Some(rest) = self.read_first_packet(bytes, input)
            {
                bytes = rest;
                continue;
            }
            let length = message_len(bytes).ok().flatten();
            let Some((message, rest)) = length.and_then(|length| bytes.split_at_checked(length)) else {
                // Where the next one begins cannot be known.
                self.drops.add(DropReason::MalformedPacket, 1);
                return;
            };
            self.read(message, input);
            bytes = rest;
        }
    }

    /// Reads one whole message.
    fn read(&mut self, message: &[u8], input: &mut PacketInput<'_>) {
        match Kind::of(message) {
            Kind::Packet => self.read_packet(message, input),
            Kind::Wrapper if self.settings.may_be_adapter => {
                self.is_adapter = true;
                // It holds whole elements, the framer has seen to that.
                if let Ok(inside) = pdu::unwrap_pdu(message) {
                    self.read_wrapped(inside, input);
                }
            }
            Kind::SequenceNumber => match SequenceNumber::decode(message) {
                Ok(number) => self.count_datagram(number),
                Err(_) => self.drops.add(DropReason::MalformedPacket, 1),
            },
            Kind::Wrapper | Kind::Other => self.drops.add(DropReason::UnknownPacketType, 1),
        }
    }

    fn read_wrapped(&mut self, mut inside: &[u8], input: &mut PacketInput<'_>) {
        while let Some((message, rest)) =
            message_len(inside).ok().flatten().and_then(|length| inside.split_at_checked(length))
        {
            match Kind::of(message) {
                Kind::Packet => self.read_packet(message, input),
                _ => self.drops.add(DropReason::UnknownPacketType, 1),
            }
            inside = rest;
        }
    }

    fn read_packet(&mut self, message: &[u8], input: &mut PacketInput<'_>) {
        if self.read_first_packet(message, input).is_none_or(|rest| !rest.is_empty()) {
            self.drops.add(DropReason::MalformedPacket, 1);
        }
    }

    /// Reads the packet that `bytes` begin with where it lies; gives what follows it. `None` if it is none.
    #[inline]
    fn read_first_packet<'b>(
        &mut self,
        bytes: &'b [u8],
        PacketInput { engine, arrivals }: &mut PacketInput<'_>,
    ) -> Option<&'b [u8]> {
        arrivals.decode_ccnx(engine, bytes, |interest| self.accept(interest))
    }

    /// An Interest may name the face that it shall leave by. That is between an application and its
    /// forwarder, and goes no further.
    #[inline(always)]
    fn accept(&mut self, interest: &mut Interest) -> Acceptance {
        let Some(face) = interest.face_id() else { return Acceptance::Plain };
        let header = LinkHeader { next_hop_face: Some(face.into()), ..LinkHeader::NONE };
        let Ok(without) = interest.clone().without_face_id() else {
            self.drops.add(DropReason::MalformedPacket, 1);
            return Acceptance::LeftOut;
        };
        *interest = without;
        if self.settings.local_fields { Acceptance::WithHeader(header) } else { Acceptance::Plain }
    }

    fn count_datagram(&mut self, number: SequenceNumber) {
        if let Some(expected) = self.expected.filter(|last| last.width_bytes() == number.width_bytes()) {
            let missing = expected.distance_to(number);
            if missing < MAX_LOST {
                self.drops.add(DropReason::LostDatagram, missing);
            }
        }
        self.expected = Some(number.next());
    }

    /// Turns a packet into frames, or lets it wait for others.
    #[inline]
    pub(super) fn send(&mut self, now: Instant, transmit: Transmit, sink: &mut impl FrameSink) {
        let is_interest = match &transmit.packet {
            Packet::Interest(_) => true,
            Packet::Data(_) => false,
            Packet::Nack(..) => {
                self.drops.add(DropReason::NackToCcnx, 1);
                return;
            }
        };
        let wire = transmit.packet.into_wire();
        if let Some(link) = &mut self.link {
            // The service has counted what it does not take.
            let _ = link.send(now, wire);
            return self.poll_frames(now, sink);
        }
        if self.is_adapter {
            sink.bytes().extend_from_slice(&pdu::OPENING);
            sink.end_frame(Some(wire));
            sink.bytes().push(pdu::CLOSE);
            return sink.end_frame(None);
        }
        if self.settings.transport_mtu_bytes.is_some_and(|most| wire.len() > most) {
            self.drops.add(DropReason::PacketTooLarge, 1);
            return;
        }
        if is_interest && self.settings.stuffed_bytes > 0 {
            return self.send_together(now, wire, sink);
        }
        sink.end_frame(Some(wire));
    }

    fn send_together(&mut self, now: Instant, wire: Buffer, sink: &mut impl FrameSink) {
        if self.together.len() + wire.len() > self.settings.stuffed_bytes {
            self.poll_frames(now, sink);
        }
        if wire.len() > self.settings.stuffed_bytes {
            return sink.end_frame(Some(wire));
        }
        self.together.extend_from_slice(&wire);
    }

    /// Whether something waits to leave together with what may follow in the same turn, or to be
    /// acknowledged.
    #[inline]
    pub(super) fn wants_poll(&self) -> bool {
        !self.together.is_empty() || self.link.is_some()
    }

    /// Whether what stands around a message stands in frames of its own, or messages are cut.
    #[inline]
    pub(super) fn keeps_order(&self) -> bool {
        self.is_adapter || self.link.is_some()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, sink: &mut impl FrameSink) {
        if let Some(link) = &mut self.link {
            link.handle_timeout(now);
        }
        self.poll_frames(now, sink);
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.link.as_ref().map_or(Instant::NEVER, |link| link.next_deadline())
    }

    #[inline]
    pub(super) fn partial_bytes(&self) -> usize {
        self.link.as_ref().map_or(0, |link| link.usage().partial_bytes)
    }

    #[inline]
    pub(super) fn waiting_bytes(&self) -> usize {
        self.link.as_ref().map_or(0, |link| link.waiting_bytes())
    }

    pub(super) fn evict_waiting_packets(&mut self) {
        if let Some(link) = &mut self.link {
            link.evict_waiting_messages();
        }
    }

    pub(super) fn evict_partial_packets(&mut self) {
        if let Some(link) = &mut self.link {
            link.evict_partial_messages();
        }
    }

    pub(super) fn poll_frames(&mut self, now: Instant, sink: &mut impl FrameSink) {
        if let Some(link) = &mut self.link {
            while link.poll_transmit(now, sink.bytes()).is_some() {
                sink.end_frame(None);
            }
        }
        if !self.together.is_empty() {
            sink.bytes().extend_from_slice(&self.together);
            self.together.clear();
            sink.end_frame(None);
        }
    }

    pub(super) fn drops(&self) -> Vec<(&'static str, u64)> {
        let of_link = self.link.as_ref().map(|link| link.drops().occurred());
        joined(&[self.drops.occurred(), of_link.unwrap_or_default()])
    }
}

fn framer() -> Framer {
    Framer::new(MAX_MESSAGE_BYTES + WRAPPER_BYTES)
}

fn new_link(settings: &LinkSettings, random: &mut Random) -> Option<Box<LinkService>> {
    let random = Random::from_seed(random.next_u64());
    LinkService::new(ndnlp_config(settings), random).ok().map(Box::new)
}

/// The parameters of the paper but for those that the link is known to have.
fn ndnlp_config(settings: &LinkSettings) -> Config {
    let LinkSettings { ndnlp1_timings, transport_mtu_bytes, reliability, .. } = settings;
    let config = Config::of_neighbour(ndnlp1_timings, *transport_mtu_bytes, *reliability);
    let pacing = config.pacing.filter(|_| !settings.multi_access);
    Config { pacing, ..config }
}

/// What a message is, by its first bytes.
enum Kind {
    Packet,
    Wrapper,
    SequenceNumber,
    Other,
}

impl Kind {
    #[inline]
    fn of(message: &[u8]) -> Kind {
        match message {
            [0x01, 0xd2, ..] | [0x04, 0x82, ..] => Kind::Packet,
            _ => Kind::of_rare(message),
        }
    }

    #[cold]
    fn of_rare(message: &[u8]) -> Kind {
        let reader = Reader::new(message, "message");
        if PacketKind::announced(Dialect::Ccnx, message).is_some() {
            Kind::Packet
        } else if reader.next_is(Dtag::PROTOCOL_DATA_UNIT) {
            Kind::Wrapper
        } else if reader.next_is(Dtag::SEQUENCE_NUMBER) {
            Kind::SequenceNumber
        } else {
            Kind::Other
        }
    }
}

/// Whether a stream begins, as far as it has come, with a request for the status page. A message that began
/// like that would be of an element that nobody has defined.
fn is_request(stream: &[u8]) -> bool {
    let common = stream.len().min(REQUEST.len());
    common > 0 && stream.get(..common) == REQUEST.get(..common)
}

fn request_framing(stream: &[u8]) -> Framing {
    let blanks = stream.iter().enumerate().filter(|(_, byte)| **byte == b' ');
    match blanks.map(|(place, _)| place + 1).nth(1) {
        Some(end) if end <= REQUEST_BYTES => Framing::StatusRequest(end),
        _ if stream.len() >= REQUEST_BYTES => Framing::StatusRequest(REQUEST_BYTES),
        _ => Framing::Incomplete,
    }
}

/// Whether a stranger's datagram is at least one message or a heartbeat, so that noise makes no faces.
pub(super) fn is_welcome(frame: &[u8]) -> bool {
    is_heartbeat(frame)
        || is_ndnlp1(frame)
        || matches!(message_len(frame), Ok(Some(length)) if frame.get(..length).is_some_and(is_message))
}

/// Whether a frame is a packet of NDNLP v1, perhaps padded.
pub(super) fn is_ndnlp1(frame: &[u8]) -> bool {
    ndnlp::LinkPacket::decode(frame).is_ok()
}

/// Whether a datagram only says that its sender is there.
pub(super) fn is_heartbeat(frame: &[u8]) -> bool {
    frame.len() <= 1
}

fn is_message(element: &[u8]) -> bool {
    matches!(Kind::of(element), Kind::Packet | Kind::SequenceNumber)
}

/// The name of the first packet in a frame, in canonical form.
pub(super) fn name_in(frame: &[u8]) -> Option<Vec<u8>> {
    let message = message_len(frame).ok().flatten().and_then(|length| frame.get(..length));
    let message = match message {
        Some(message) if matches!(Kind::of(message), Kind::Wrapper) => {
            let inside = pdu::unwrap_pdu(message).unwrap_or_default();
            message_len(inside).ok().flatten().and_then(|length| inside.get(..length))
        }
        message => message,
    };
    let mut name = Vec::new();
    match Message::decode(message?) {
        Ok(Message::Interest(view)) => view.name().append_canonical(&mut name),
        Ok(Message::ContentObject(view)) => view.name().append_canonical(&mut name),
        _ => return None,
    }
    Some(name)
}

#[cfg(test)]
mod tests;
