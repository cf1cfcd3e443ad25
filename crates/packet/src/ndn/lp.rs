//! NDNLPv2: the LpPacket that carries a network packet, or a slice of one, over one hop.
//!
//! A frame on an NDN link is one element: a bare Interest or Data, or an LpPacket (type 100) whose header
//! fields stand in ascending order of their types and whose Fragment, if there is one, comes last.
//! [`LpPacketView`] is both directions of that: [`LpPacketView::decode`] borrows every field from the frame
//! and allocates nothing; [`LpPacketView::encode`] knows every length beforehand and writes each byte once.
//!
//! ```
//! use cairn_packet::NackReason;
//! use cairn_packet::ndn::lp::LpPacketView;
//!
//! let interest = [0x05, 0x0b, 7, 3, 8, 1, b'A', 0x0a, 4, 1, 2, 3, 4];
//! let nack = LpPacketView {
//!     nack: Some(NackReason::NoRoute),
//!     fragment: Some(&interest),
//!     ..LpPacketView::default()
//! };
//! let mut frame = Vec::new();
//! nack.encode(&mut frame);
//! assert_eq!(LpPacketView::decode(&frame), Ok(nack));
//! ```
//!
//! Rules for fields that are unknown, late or repeated (NDNLPv2 has its own, stricter than those of network
//! packets): an unknown field may be skipped only if its type lies in 800..=959 and is a multiple of four;
//! fields out of order, and any field but Ack given twice, spoil the packet. ndn-cxx does the same.

mod acks;
mod stream;

pub use acks::Acks;
pub use stream::{frame_len, is_lp_packet};

use crate::buffer::Buffer;
use crate::error::{DecodeError, Rule};
use crate::explicit_rate::ExplicitRate;
use crate::link_header::{CachePolicy, LinkHeader, NackReason, PitToken};
use crate::ndn::tlv::{self, Element, Reader};

/// TLV-TYPE numbers of NDNLPv2 and of the two packets that may stand bare in a frame.
pub mod types {
    pub use crate::ndn::types::{DATA, INTEREST};

    /// A whole network packet or a slice of one.
    pub const FRAGMENT: u32 = 80;
    /// 64-bit number of this frame; slices of one packet have consecutive ones.
    pub const SEQUENCE: u32 = 81;
    /// Position of this slice in its packet, from zero.
    pub const FRAG_INDEX: u32 = 82;
    /// Number of slices of the packet.
    pub const FRAG_COUNT: u32 = 83;
    /// Opaque bytes that an answer must carry back.
    pub const PIT_TOKEN: u32 = 98;
    /// The LpPacket that holds all of these.
    pub const LP_PACKET: u32 = 100;
    /// Marks the Interest in the Fragment as sent back.
    pub const NACK: u32 = 800;
    /// Why it was sent back; inside Nack.
    pub const NACK_REASON: u32 = 801;
    /// Forwarder to application: where the packet came from.
    pub const INCOMING_FACE_ID: u32 = 812;
    /// Application to forwarder: where the Interest must go.
    pub const NEXT_HOP_FACE_ID: u32 = 816;
    /// Application to forwarder: whether the Data may be cached.
    pub const CACHE_POLICY: u32 = 820;
    /// The policy itself; inside CachePolicy.
    pub const CACHE_POLICY_TYPE: u32 = 821;
    /// A queue on the way was too long.
    pub const CONGESTION_MARK: u32 = 832;
    /// A TxSequence that arrived.
    pub const ACK: u32 = 836;
    /// 64-bit number of this transmission, which the peer acknowledges.
    pub const TX_SEQUENCE: u32 = 840;
    /// The Interest must not be flooded.
    pub const NON_DISCOVERY: u32 = 844;
    /// A Data that announces a prefix.
    pub const PREFIX_ANNOUNCEMENT: u32 = 848;
    /// Cairn's own: Interests in 1,000 seconds that routers allow a consumer. Peers that do not know it skip
    /// it.
    pub const EXPLICIT_RATE: u32 = 936;
    /// Cairn's own: a number that the neighbour's link sends back at once. Peers that do not know it skip it.
    pub const ECHO_REQUEST: u32 = 940;
    /// Cairn's own: bytes that the sender's receive buffer holds. Peers that do not know it skip it.
    pub const RECEIVE_CAPACITY: u32 = 944;
    /// Cairn's own: the number of an EchoRequest that arrived. Peers that do not know it skip it.
    pub const ECHO_REPLY: u32 = 948;
    /// Cairn's own: bytes without meaning, which make a frame as large as it is to be. Peers skip it.
    pub const PADDING: u32 = 952;
    /// Cairn's own: what frames that left before have in common, to rebuild one that was lost. Peers that do
    /// not know it skip it, and see a frame without a packet.
    pub const PARITY: u32 = 956;
}

use types::*;

/// Bytes of one Ack element: three of type, one of length, eight of number.
pub const ACK_BYTES: usize = 12;

/// The largest frame in a stream: a packet of the largest size, and a kilobyte for what the link puts before
/// it.
pub const MAX_FRAME_BYTES: usize = tlv::MAX_PACKET_BYTES + 1024;

/// The fields of one frame, borrowed: from the frame when decoded, from the sender's tables when encoded.
///
/// The default has no field at all; encoded it is an empty LpPacket, which some peers send as a keep-alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LpPacketView<'a> {
    /// Sequence: needed for fragmentation and reliability.
    pub sequence: Option<u64>,
    /// FragIndex; absent means 0.
    pub frag_index: Option<u64>,
    /// FragCount; absent means 1.
    pub frag_count: Option<u64>,
    /// PitToken: 1 to 32 bytes, or empty for none.
    pub pit_token: &'a [u8],
    /// Nack: the Interest in the Fragment comes back unanswered.
    pub nack: Option<NackReason>,
    /// IncomingFaceId.
    pub incoming_face: Option<u64>,
    /// NextHopFaceId.
    pub next_hop_face: Option<u64>,
    /// CachePolicy.
    pub cache_policy: Option<CachePolicy>,
    /// CongestionMark; zero for none.
    pub congestion_mark: u64,
    /// Acks: TxSequence numbers that the sender of this frame has received.
    pub acks: Acks<'a>,
    /// TxSequence: the receiver shall acknowledge this number.
    pub tx_sequence: Option<u64>,
    /// NonDiscovery.
    pub non_discovery: bool,
    /// PrefixAnnouncement: one whole Data element.
    pub prefix_announcement: Option<&'a [u8]>,
    /// ExplicitRate; zero on the wire counts as none.
    pub explicit_rate: Option<ExplicitRate>,
    /// EchoRequest or EchoReply: whether this end hears the other.
    pub echo: Option<Echo>,
    /// ReceiveCapacity in bytes; zero for none.
    pub receive_capacity: u64,
    /// Bytes of value in a Padding field; zero for none.
    pub padding: usize,
    /// Parity: the value of the field, which the link reads; empty for none.
    pub parity: &'a [u8],
    /// Fragment, never empty; without it the frame is an IDLE packet that only carries acks.
    pub fragment: Option<&'a [u8]>,
}

/// A link asks whether it is heard, or says that it has heard. The number is the asking side's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Echo {
    /// The receiver shall send the number back.
    Request(u64),
    /// A number that was asked for.
    Reply(u64),
}

impl<'a> LpPacketView<'a> {
    /// Decodes a frame that is exactly one element, as a datagram or a WebSocket message must be.
    ///
    /// # Errors
    /// Any broken rule of NDNLPv2, or bytes behind the element. The network packet inside is not looked at.
    pub fn decode(frame: &'a [u8]) -> Result<Self, DecodeError> {
        let (view, used) = Self::decode_first(frame)?;
        match frame.len() - used {
            0 => Ok(view),
            trailing => Err(DecodeError::new("LpPacket", used, Rule::Trailing(trailing))),
        }
    }

    /// Decodes the element that starts `frame` and tells how many bytes it takes. For links that pad, such as
    /// Ethernet, whatever follows is no error.
    ///
    /// # Errors
    /// Any broken rule of NDNLPv2.
    pub fn decode_first(frame: &'a [u8]) -> Result<(Self, usize), DecodeError> {
        let mut reader = Reader::new(frame, "LpPacket");
        let Some(outer) = reader.element()? else {
            return Err(DecodeError::new("LpPacket", 0, Rule::Missing));
        };
        let view = match outer.kind {
            LP_PACKET => decode_fields(frame, reader.inside(outer, "LpPacket"))?,
            INTEREST | DATA => LpPacketView { fragment: frame.get(..outer.end()), ..Self::default() },
            other => return Err(DecodeError::new("LpPacket", 0, Rule::UnexpectedType(other.into()))),
        };
        Ok((view, outer.end()))
    }

    /// The network-layer fields as the rest of the stack knows them. Only tokens of more than 14 bytes and
    /// prefix announcements are copied to the heap.
    pub fn link_header(&self) -> LinkHeader {
        LinkHeader {
            pit_token: PitToken::new(self.pit_token).unwrap_or_default(),
            congestion_mark: self.congestion_mark,
            incoming_face: self.incoming_face,
            next_hop_face: self.next_hop_face,
            cache_policy: self.cache_policy,
            non_discovery: self.non_discovery,
            prefix_announcement: self.prefix_announcement.map(Buffer::copy_from),
            explicit_rate: self.explicit_rate,
        }
    }

    /// A packet with the network-layer fields of `header` and nothing else yet.
    pub fn with_header(header: &'a LinkHeader) -> Self {
        LpPacketView {
            pit_token: header.pit_token.as_bytes(),
            congestion_mark: header.congestion_mark,
            incoming_face: header.incoming_face,
            next_hop_face: header.next_hop_face,
            cache_policy: header.cache_policy,
            non_discovery: header.non_discovery,
            prefix_announcement: header.prefix_announcement.as_deref(),
            explicit_rate: header.explicit_rate,
            ..Self::default()
        }
    }

    /// The network-layer fields that stand on every fragment of a packet, not on the first alone: PitToken
    /// and CongestionMark. NFD and NDNts read them from the first fragment, ndnd from the one that
    /// arrives last, and none of them minds the repetition.
    pub fn repeated_on_fragments(&self) -> Self {
        LpPacketView { pit_token: self.pit_token, congestion_mark: self.congestion_mark, ..Self::default() }
    }

    /// Bytes of all fields but the Fragment.
    pub fn header_len(&self) -> usize {
        let number = |kind, value: Option<u64>| value.map_or(0, |value| tlv::nni_element_len(kind, value));
        let fixed = |kind, value: Option<u64>| value.map_or(0, |_| tlv::element_len(kind, 8));
        let mut len = fixed(SEQUENCE, self.sequence)
            + number(FRAG_INDEX, self.frag_index)
            + number(FRAG_COUNT, self.frag_count)
            + self.acks.len() * ACK_BYTES
            + fixed(TX_SEQUENCE, self.tx_sequence);
        if !self.pit_token.is_empty() {
            len += tlv::element_len(PIT_TOKEN, self.pit_token.len());
        }
        if self.congestion_mark != 0 {
            len += tlv::nni_element_len(CONGESTION_MARK, self.congestion_mark);
        }
        len + self.rare_fields_len()
    }

    /// Bytes of the whole frame, which is the bare network packet when there is nothing else to say.
    pub fn encoded_len(&self) -> usize {
        let header = self.header_len();
        match self.fragment {
            Some(fragment) if header == 0 && stands_bare(fragment) => fragment.len(),
            _ => tlv::element_len(LP_PACKET, self.value_len(header)),
        }
    }

    /// Appends the frame to `frame`, in one pass and with at most one reallocation.
    ///
    /// The caller keeps `pit_token` within 32 bytes, as [`PitToken`] does, and `fragment` from being empty.
    pub fn encode(&self, frame: &mut Vec<u8>) {
        frame.reserve(self.encoded_len());
        self.encode_head(frame);
        if let Some(fragment) = self.fragment {
            frame.extend_from_slice(fragment);
        }
    }

    /// Appends all of the frame that stands before the Fragment's value: nothing at all when the network
    /// packet goes bare. With it a sender writes the head from here and the packet from where it lies.
    #[inline]
    pub fn encode_head(&self, frame: &mut Vec<u8>) {
        let header = self.header_len();
        if let Some(fragment) = self.fragment
            && header == 0
            && stands_bare(fragment)
        {
            return;
        }
        let value_len = self.value_len(header);
        tlv::write_header(frame, LP_PACKET, value_len);
        if let Some(sequence) = self.sequence {
            write_fixed(frame, SEQUENCE, sequence);
        }
        if let Some(index) = self.frag_index {
            tlv::write_nni_element(frame, FRAG_INDEX, index);
        }
        if let Some(count) = self.frag_count {
            tlv::write_nni_element(frame, FRAG_COUNT, count);
        }
        if !self.pit_token.is_empty() {
            tlv::write_element(frame, PIT_TOKEN, self.pit_token);
        }
        self.write_before_mark(frame);
        if self.congestion_mark != 0 {
            tlv::write_nni_element(frame, CONGESTION_MARK, self.congestion_mark);
        }
        for ack in self.acks.iter() {
            write_fixed(frame, ACK, ack);
        }
        if let Some(tx_sequence) = self.tx_sequence {
            write_fixed(frame, TX_SEQUENCE, tx_sequence);
        }
        if self.non_discovery {
            tlv::write_header(frame, NON_DISCOVERY, 0);
        }
        if let Some(announcement) = self.prefix_announcement {
            tlv::write_element(frame, PREFIX_ANNOUNCEMENT, announcement);
        }
        if let Some(rate) = self.explicit_rate {
            tlv::write_nni_element(frame, EXPLICIT_RATE, rate.per_1000_s());
        }
        self.write_of_the_link(frame);
        if let Some(fragment) = self.fragment {
            tlv::write_header(frame, FRAGMENT, fragment.len());
        }
    }

    fn value_len(&self, header_len: usize) -> usize {
        header_len + self.fragment.map_or(0, |fragment| tlv::element_len(FRAGMENT, fragment.len()))
    }

    fn rare_fields_len(&self) -> usize {
        let mut len = 0;
        if let Some(reason) = self.nack {
            len += tlv::element_len(NACK, nack_value_len(reason));
        }
        for (kind, face) in [(INCOMING_FACE_ID, self.incoming_face), (NEXT_HOP_FACE_ID, self.next_hop_face)] {
            len += face.map_or(0, |face| tlv::nni_element_len(kind, face));
        }
        if self.cache_policy.is_some() {
            len += tlv::element_len(CACHE_POLICY, NO_CACHE_VALUE_LEN);
        }
        if self.non_discovery {
            len += tlv::element_len(NON_DISCOVERY, 0);
        }
        if let Some(announcement) = self.prefix_announcement {
            len += tlv::element_len(PREFIX_ANNOUNCEMENT, announcement.len());
        }
        if let Some(rate) = self.explicit_rate {
            len += tlv::nni_element_len(EXPLICIT_RATE, rate.per_1000_s());
        }
        len += self.echo.map_or(0, |_| tlv::element_len(ECHO_REQUEST, 8));
        if self.receive_capacity != 0 {
            len += tlv::nni_element_len(RECEIVE_CAPACITY, self.receive_capacity);
        }
        if self.padding != 0 {
            len += tlv::element_len(PADDING, self.padding);
        }
        if !self.parity.is_empty() {
            len += tlv::element_len(PARITY, self.parity.len());
        }
        len
    }

    fn write_of_the_link(&self, frame: &mut Vec<u8>) {
        if let Some(Echo::Request(number)) = self.echo {
            write_fixed(frame, ECHO_REQUEST, number);
        }
        if self.receive_capacity != 0 {
            tlv::write_nni_element(frame, RECEIVE_CAPACITY, self.receive_capacity);
        }
        if let Some(Echo::Reply(number)) = self.echo {
            write_fixed(frame, ECHO_REPLY, number);
        }
        if self.padding != 0 {
            tlv::write_header(frame, PADDING, self.padding);
            frame.resize(frame.len() + self.padding, 0);
        }
        if !self.parity.is_empty() {
            tlv::write_element(frame, PARITY, self.parity);
        }
    }

    fn write_before_mark(&self, frame: &mut Vec<u8>) {
        if let Some(reason) = self.nack {
            tlv::write_header(frame, NACK, nack_value_len(reason));
            if let Some(code) = reason.code() {
                tlv::write_nni_element(frame, NACK_REASON, code);
            }
        }
        if let Some(face) = self.incoming_face {
            tlv::write_nni_element(frame, INCOMING_FACE_ID, face);
        }
        if let Some(face) = self.next_hop_face {
            tlv::write_nni_element(frame, NEXT_HOP_FACE_ID, face);
        }
        if let Some(CachePolicy::NoCache) = self.cache_policy {
            tlv::write_header(frame, CACHE_POLICY, NO_CACHE_VALUE_LEN);
            tlv::write_nni_element(frame, CACHE_POLICY_TYPE, NO_CACHE);
        }
    }
}

const NO_CACHE: u64 = 1;
const NO_CACHE_VALUE_LEN: usize = tlv::nni_element_len(CACHE_POLICY_TYPE, NO_CACHE);

fn nack_value_len(reason: NackReason) -> usize {
    reason.code().map_or(0, |code| tlv::nni_element_len(NACK_REASON, code))
}

/// Whether `fragment` may go without an LpPacket around it: only a whole Interest or Data is read back alike.
fn stands_bare(fragment: &[u8]) -> bool {
    let mut reader = Reader::new(fragment, "Fragment");
    match reader.element() {
        Ok(Some(packet)) => matches!(packet.kind, INTEREST | DATA) && reader.is_empty(),
        _ => false,
    }
}

fn write_fixed(frame: &mut Vec<u8>, kind: u32, value: u64) {
    tlv::write_header(frame, kind, 8);
    frame.extend_from_slice(&value.to_be_bytes());
}

fn decode_fields<'a>(frame: &'a [u8], mut fields: Reader<'a>) -> Result<LpPacketView<'a>, DecodeError> {
    let mut view = LpPacketView::default();
    let mut latest = 0;
    while let Some(field) = fields.element()? {
        // Fragment has the smallest type and the last place.
        let place = if field.kind == FRAGMENT { u32::MAX } else { field.kind };
        let repeated = place == latest && field.kind != ACK && is_known(field.kind);
        if place < latest || repeated {
            return Err(DecodeError::new(field_name(field.kind), field.start, Rule::OutOfOrder));
        }
        latest = place;
        decode_field(&mut view, field, frame, &fields)?;
    }
    Ok(view)
}

#[inline]
fn decode_field<'a>(
    view: &mut LpPacketView<'a>,
    field: Element<'a>,
    frame: &'a [u8],
    reader: &Reader<'a>,
) -> Result<(), DecodeError> {
    match field.kind {
        FRAGMENT if field.value.is_empty() => return Err(bad_length(field)),
        FRAGMENT => view.fragment = Some(field.value),
        SEQUENCE => view.sequence = Some(read_fixed(field)?),
        FRAG_INDEX => view.frag_index = Some(tlv::read_nni(field, "FragIndex")?),
        FRAG_COUNT => view.frag_count = Some(tlv::read_nni(field, "FragCount")?),
        TX_SEQUENCE => view.tx_sequence = Some(read_fixed(field)?),
        ACK => {
            read_fixed(field)?;
            view.acks.push_wire(frame, field);
        }
        PIT_TOKEN if !(1..=PitToken::MAX_BYTES).contains(&field.value.len()) => {
            return Err(bad_length(field));
        }
        PIT_TOKEN => view.pit_token = field.value,
        CONGESTION_MARK => view.congestion_mark = tlv::read_nni(field, "CongestionMark")?,
        NACK => view.nack = Some(decode_nack(reader.inside(field, "Nack"))?),
        INCOMING_FACE_ID => view.incoming_face = Some(tlv::read_nni(field, "IncomingFaceId")?),
        NEXT_HOP_FACE_ID => view.next_hop_face = Some(tlv::read_nni(field, "NextHopFaceId")?),
        CACHE_POLICY => view.cache_policy = Some(decode_cache_policy(reader.inside(field, "CachePolicy"))?),
        NON_DISCOVERY if !field.value.is_empty() => return Err(bad_length(field)),
        NON_DISCOVERY => view.non_discovery = true,
        PREFIX_ANNOUNCEMENT => {
            let mut inner = reader.inside(field, "PrefixAnnouncement");
            inner.required(DATA, "PrefixAnnouncement")?;
            inner.finish()?;
            view.prefix_announcement = Some(field.value);
        }
        EXPLICIT_RATE => {
            view.explicit_rate = ExplicitRate::from_per_1000_s(tlv::read_nni(field, "ExplicitRate")?);
        }
        ECHO_REQUEST | RECEIVE_CAPACITY | ECHO_REPLY | PADDING => decode_echo_field(view, field)?,
        PARITY => view.parity = field.value,
        kind if is_ignorable(kind) => {}
        kind => {
            let rule = Rule::UnrecognisedCritical(kind.into());
            return Err(DecodeError::new("LpPacket", field.start, rule));
        }
    }
    Ok(())
}

#[cold]
fn decode_echo_field(view: &mut LpPacketView<'_>, field: Element<'_>) -> Result<(), DecodeError> {
    match field.kind {
        ECHO_REQUEST => view.echo = Some(Echo::Request(read_fixed(field)?)),
        RECEIVE_CAPACITY => view.receive_capacity = tlv::read_nni(field, "ReceiveCapacity")?,
        // Nobody asks and answers in one frame.
        ECHO_REPLY if view.echo.is_none() => view.echo = Some(Echo::Reply(read_fixed(field)?)),
        PADDING => view.padding = field.value.len(),
        _ => return Err(DecodeError::new("EchoReply", field.start, Rule::OutOfOrder)),
    }
    Ok(())
}

fn decode_nack(mut fields: Reader<'_>) -> Result<NackReason, DecodeError> {
    // Without a reason, and with one nobody knows, the Nack still stands.
    let mut reason = NackReason::Unspecified;
    while let Some(field) = fields.element()? {
        if field.kind == NACK_REASON {
            reason = NackReason::from_code(tlv::read_nni(field, "NackReason")?);
        }
    }
    Ok(reason)
}

fn decode_cache_policy(mut fields: Reader<'_>) -> Result<CachePolicy, DecodeError> {
    let policy = fields.required(CACHE_POLICY_TYPE, "CachePolicyType")?;
    match tlv::read_nni(policy, "CachePolicyType")? {
        NO_CACHE => Ok(CachePolicy::NoCache),
        other => Err(DecodeError::new("CachePolicyType", policy.start, Rule::BadValue(other))),
    }
}

#[inline]
fn read_fixed(field: Element<'_>) -> Result<u64, DecodeError> {
    <[u8; 8]>::try_from(field.value).map(u64::from_be_bytes).map_err(|_| bad_length(field))
}

#[cold]
fn bad_length(field: Element<'_>) -> DecodeError {
    DecodeError::new(field_name(field.kind), field.start, Rule::BadLength(field.value.len()))
}

fn is_ignorable(kind: u32) -> bool {
    (800..=959).contains(&kind) && kind.is_multiple_of(4)
}

fn is_known(kind: u32) -> bool {
    matches!(
        kind,
        FRAGMENT
            | SEQUENCE
            | FRAG_INDEX
            | FRAG_COUNT
            | PIT_TOKEN
            | NACK
            | INCOMING_FACE_ID
            | NEXT_HOP_FACE_ID
            | CACHE_POLICY
            | CONGESTION_MARK
            | ACK
            | TX_SEQUENCE
            | NON_DISCOVERY
            | PREFIX_ANNOUNCEMENT
            | EXPLICIT_RATE
            | ECHO_REQUEST
            | RECEIVE_CAPACITY
            | ECHO_REPLY
            | PADDING
            | PARITY
    )
}

fn field_name(kind: u32) -> &'static str {
    match kind {
        FRAGMENT => "Fragment",
        SEQUENCE => "Sequence",
        FRAG_INDEX => "FragIndex",
        FRAG_COUNT => "FragCount",
        PIT_TOKEN => "PitToken",
        NACK => "Nack",
        INCOMING_FACE_ID => "IncomingFaceId",
        NEXT_HOP_FACE_ID => "NextHopFaceId",
        CACHE_POLICY => "CachePolicy",
        CONGESTION_MARK => "CongestionMark",
        ACK => "Ack",
        TX_SEQUENCE => "TxSequence",
        NON_DISCOVERY => "NonDiscovery",
        PREFIX_ANNOUNCEMENT => "PrefixAnnouncement",
        EXPLICIT_RATE => "ExplicitRate",
        ECHO_REQUEST => "EchoRequest",
        RECEIVE_CAPACITY => "ReceiveCapacity",
        ECHO_REPLY => "EchoReply",
        PADDING => "Padding",
        PARITY => "Parity",
        _ => "LpPacket",
    }
}

#[cfg(test)]
mod tests;
