//! What is in a captured frame, of which perhaps only the first bytes were kept.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use packet::ETHERTYPE;
use packet::ndn::lp::is_lp_packet;
use packet::ndn::lp::types::{FRAG_INDEX, FRAGMENT, NACK};
use packet::ndn::tlv::read_number;
use packet::ndn::types::{NAME, NONCE};
use packet::{Dialect, NackReason, PacketKind};

const ETHERTYPE_IPV4: u16 = 0x0800;
const TCP: u8 = 6;
const UDP: u8 = 17;

const MAX_PACKET_BYTES: u64 = 64 << 10;

/// One NDN packet in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DissectedPacket {
    /// What it is; nothing for a later fragment of a packet, or a link's own message.
    pub kind: Option<PacketKind>,
    /// The name's bytes, when they were kept.
    pub name: Option<Vec<u8>>,
    /// The nonce of an Interest, when it was kept.
    pub nonce: Option<u32>,
    /// Bytes of the whole packet, with link header.
    pub length: u64,
}

/// What is in a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// IP addresses and ports, when it is an IP packet.
    pub ends: Option<(Ipv4Addr, u16, Ipv4Addr, u16)>,
    /// The IP protocol; 0 for NDN on Ethernet.
    pub protocol: u8,
    /// Bytes above UDP, TCP or Ethernet: what the NDN layer sent or received.
    pub payload: u32,
    /// The packets that begin in this frame.
    pub packets: Vec<DissectedPacket>,
}

impl Summary {
    /// The sender, for people.
    #[must_use]
    pub fn source(&self) -> String {
        self.ends.map_or_else(String::new, |(address, ..)| address.to_string())
    }

    /// The receiver, for people.
    #[must_use]
    pub fn destination(&self) -> String {
        self.ends.map_or_else(String::new, |(_, _, address, _)| address.to_string())
    }

    /// The highest protocol that was recognised.
    #[must_use]
    pub fn protocol(&self) -> &'static str {
        match (self.packets.is_empty(), self.protocol) {
            (false, _) => "NDN",
            (true, TCP) => "TCP",
            (true, UDP) => "UDP",
            (true, 0) => "Ethernet",
            (true, _) => "IPv4",
        }
    }

    /// The packets' kinds and names, for people.
    #[must_use]
    pub fn info(&self) -> String {
        let words = self.packets.iter().map(|packet| {
            let kind = match packet.kind {
                Some(PacketKind::Interest) => "Interest",
                Some(PacketKind::Data) => "Data",
                Some(PacketKind::Nack) => "Nack",
                None => "fragment",
            };
            match packet.name.as_deref().and_then(|name| packet::NameRef::decode(name).ok()) {
                Some(name) => format!("{kind}, {name}"),
                None => kind.to_owned(),
            }
        });
        words.collect::<Vec<_>>().join("; ")
    }
}

/// Takes frames apart, and keeps in mind where packets begin in byte streams.
#[derive(Debug, Default)]
pub struct Dissector {
    /// For each direction of a TCP connection, where in the sequence the next packet begins.
    streams: BTreeMap<(Ipv4Addr, u16, Ipv4Addr, u16), Stream>,
}

#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Sequence number at which a packet begins.
    boundary: u32,
    /// False when the boundary was lost in bytes that were not kept.
    known: bool,
    /// The highest sequence number seen: what lies below was sent again.
    highest: u32,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Dissector {
    /// Takes a frame apart, whose true length was `length`. Nothing when it is neither IPv4 nor NDN.
    pub fn dissect(&mut self, frame: &[u8], length: u32) -> Option<Summary> {
        match u16_at(frame, 12)? {
            ETHERTYPE => {
                let mut packets = Vec::new();
                datagram(frame.get(14..)?, &mut packets);
                Some(Summary { payload: length.saturating_sub(14), packets, ..Summary::default() })
            }
            ETHERTYPE_IPV4 => self.ipv4(frame.get(14..)?),
            _ => None,
        }
    }

    fn ipv4(&mut self, bytes: &[u8]) -> Option<Summary> {
        let head = usize::from(bytes.first()? & 0x0F) * 4;
        let total = u32::from(u16_at(bytes, 2)?);
        let offset = u16_at(bytes, 6)? & 0x1FFF;
        let protocol = *bytes.get(9)?;
        let (from, to) = (Ipv4Addr::from(u32_at(bytes, 12)?), Ipv4Addr::from(u32_at(bytes, 16)?));
        let body = bytes.get(head..)?;
        let body_length = total.saturating_sub(u32::try_from(head).ok()?);
        let mut summary = Summary { ends: Some((from, 0, to, 0)), protocol, ..Summary::default() };
        if offset != 0 {
            // A later fragment of an IP packet: all of it is payload.
            summary.payload = body_length;
            return Some(summary);
        }
        let ports = (u16_at(body, 0)?, u16_at(body, 2)?);
        summary.ends = Some((from, ports.0, to, ports.1));
        match protocol {
            UDP => {
                summary.payload = body_length.saturating_sub(8);
                datagram(body.get(8..)?, &mut summary.packets);
            }
            TCP => {
                let start = usize::from(body.get(12)? >> 4) * 4;
                summary.payload = body_length.saturating_sub(u32::try_from(start).ok()?);
                let syn = body.get(13)? & 2 != 0;
                let sequence = u32_at(body, 4)?;
                let segment = Segment { sequence, syn, payload: summary.payload };
                let bytes = body.get(start..).unwrap_or_default();
                self.stream((from, ports.0, to, ports.1), segment, bytes, &mut summary.packets);
            }
            _ => {}
        }
        Some(summary)
    }

    /// Finds the packets that begin in a piece of a byte stream.
    fn stream(
        &mut self,
        key: (Ipv4Addr, u16, Ipv4Addr, u16),
        segment: Segment,
        bytes: &[u8],
        packets: &mut Vec<DissectedPacket>,
    ) {
        let Segment { sequence, syn, payload } = segment;
        if syn {
            let next = sequence.wrapping_add(1);
            self.streams.insert(key, Stream { boundary: next, known: true, highest: next });
            return;
        }
        if payload == 0 {
            return;
        }
        let fresh = Stream { boundary: sequence, known: false, highest: sequence };
        let stream = self.streams.entry(key).or_insert(fresh);
        let end = sequence.wrapping_add(payload);
        let is_behind = |a: u32, b: u32| a.wrapping_sub(b) > u32::MAX / 2;
        if is_behind(sequence, stream.highest) {
            // Sent again by TCP; its packets were counted the first time.
            return;
        }
        stream.highest = end;
        let starts_like_ndn =
            packet_head(bytes).is_some_and(|(_, _, length)| is_outer(bytes) && length <= MAX_PACKET_BYTES);
        if !stream.known && starts_like_ndn {
            *stream = Stream { boundary: sequence, known: true, highest: end };
        }
        // A sender that missed bytes of ours makes the boundary lie before this segment.
        if stream.known && is_behind(stream.boundary, sequence) {
            stream.known = starts_like_ndn;
            stream.boundary = sequence;
        }
        while stream.known && is_behind(stream.boundary, end) {
            let at = stream.boundary.wrapping_sub(sequence) as usize;
            let rest = bytes.get(at..).unwrap_or_default();
            let Some((packet, length)) = packet(rest) else {
                stream.known = false;
                return;
            };
            packets.push(packet);
            stream.boundary = stream.boundary.wrapping_add(u32::try_from(length).unwrap_or(1));
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    sequence: u32,
    syn: bool,
    payload: u32,
}

/// The packets of a datagram or an Ethernet frame; some senders put several into one.
fn datagram(mut bytes: &[u8], packets: &mut Vec<DissectedPacket>) {
    while let Some((packet, length)) = packet(bytes) {
        packets.push(packet);
        bytes = usize::try_from(length).ok().and_then(|length| bytes.get(length..)).unwrap_or_default();
    }
}

/// Type, length of the head, length of the whole.
fn packet_head(bytes: &[u8]) -> Option<(u32, usize, u64)> {
    let (kind, at) = read_number(bytes, 0).ok()?;
    let (length, at) = read_number(bytes, at).ok()?;
    Some((u32::try_from(kind).ok()?, at, length.saturating_add(at as u64)))
}

fn is_outer(bytes: &[u8]) -> bool {
    kind_of(bytes, None).is_some() || is_lp_packet(bytes)
}

fn kind_of(bytes: &[u8], nack: Option<NackReason>) -> Option<PacketKind> {
    PacketKind::of(Dialect::Ndn, bytes, nack).ok()
}

/// The packet that `bytes` begin with, though perhaps not all of it is there, and its whole length.
fn packet(bytes: &[u8]) -> Option<(DissectedPacket, u64)> {
    let (_, head, length) = packet_head(bytes)?;
    if !is_outer(bytes) || length > MAX_PACKET_BYTES {
        return None;
    }
    let inside = bytes.get(head..bytes.len().min(usize::try_from(length).ok()?))?;
    let (kind, body) = match kind_of(bytes, None) {
        Some(kind) => (Some(kind), Some(inside)),
        None => link_packet(inside),
    };
    let name = body.and_then(name_in);
    let nonce = body.filter(|_| kind == Some(PacketKind::Interest)).and_then(nonce_in);
    Some((DissectedPacket { kind, name, nonce, length }, length))
}

/// What an LpPacket carries, and the inside of that.
fn link_packet(mut fields: &[u8]) -> (Option<PacketKind>, Option<&[u8]>) {
    let (mut nack, mut later) = (None, false);
    while let Some((kind, head, length)) = packet_head(fields) {
        let value = fields.get(head..).unwrap_or_default();
        match kind {
            NACK => nack = Some(NackReason::Unspecified),
            FRAG_INDEX => {
                let end = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(head);
                later = value.get(..end).is_some_and(|value| value.iter().any(|byte| *byte != 0));
            }
            FRAGMENT if later => return (None, None),
            FRAGMENT => {
                let Some((_, head, _)) = packet_head(value) else { return (None, None) };
                return match kind_of(value, nack) {
                    Some(kind) => (Some(kind), value.get(head..)),
                    None => (None, None),
                };
            }
            _ => {}
        }
        fields = usize::try_from(length).ok().and_then(|length| fields.get(length..)).unwrap_or_default();
    }
    (None, None)
}

/// The name that the inside of an Interest or Data begins with, as canonical bytes.
fn name_in(inside: &[u8]) -> Option<Vec<u8>> {
    let (kind, head, length) = packet_head(inside)?;
    (kind == NAME).then_some(())?;
    inside.get(head..usize::try_from(length).ok()?).map(<[u8]>::to_vec)
}

/// The nonce of an Interest, which stands somewhere behind its name.
fn nonce_in(mut fields: &[u8]) -> Option<u32> {
    loop {
        let (kind, head, length) = packet_head(fields)?;
        if kind == NONCE {
            return u32_at(fields, head).filter(|_| length == head as u64 + 4);
        }
        fields = fields.get(usize::try_from(length).ok()?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::InterestBuilder;

    fn interest(name: &str) -> Vec<u8> {
        InterestBuilder::new(name.parse().unwrap()).nonce(1).build().unwrap().wire().to_vec()
    }

    fn ethernet(protocol: u8, transport: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend(u16::try_from(20 + transport.len() + payload.len()).unwrap().to_be_bytes());
        frame.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend(transport);
        frame.extend(payload);
        frame
    }

    fn tcp(sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut head = vec![0x18, 0xdb, 0xc0, 0x00];
        head.extend(sequence.to_be_bytes());
        head.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        ethernet(TCP, &head, payload)
    }

    #[test]
    fn an_interest_in_a_datagram_is_found_with_its_name() {
        let frame = ethernet(UDP, &[0x18, 0xdb, 0x18, 0xdb, 0, 0, 0, 0], &interest("/a/b"));
        let summary = Dissector::default().dissect(&frame, u32::try_from(frame.len()).unwrap()).unwrap();
        assert_eq!(summary.info(), "Interest, /a/b");
        assert_eq!(summary.protocol(), "NDN");
        assert_eq!(summary.payload as usize, interest("/a/b").len());
    }

    #[test]
    fn a_nack_and_a_later_fragment_are_told_from_an_interest() {
        let mut nack = vec![0x64, 0, 0xFD, 3, 0x20, 0, 0x50];
        let inner = interest("/a");
        nack.push(u8::try_from(inner.len()).unwrap());
        nack.extend(&inner);
        nack[1] = u8::try_from(nack.len() - 2).unwrap();
        assert_eq!(packet(&nack).unwrap().0.kind, Some(PacketKind::Nack));
        let later = [0x64, 7, 0x52, 1, 1, 0x50, 2, 1, 2];
        assert_eq!(packet(&later).unwrap().0.kind, None);
    }

    #[test]
    fn packets_that_cross_segments_of_a_stream_are_found_once_each() {
        let stream: Vec<u8> = (0..50).flat_map(|number| interest(&format!("/a/{number}"))).collect();
        let mut dissector = Dissector::default();
        let mut found = Vec::new();
        let frame = tcp(999, 2, &[]);
        dissector.dissect(&frame, 54);
        for (number, piece) in stream.chunks(100).enumerate() {
            let frame = tcp(1000 + u32::try_from(number * 100).unwrap(), 0x10, piece);
            for _ in 0..2 {
                // The second time is TCP sending again.
                let summary = dissector.dissect(&frame, u32::try_from(frame.len()).unwrap()).unwrap();
                found.extend(summary.packets);
            }
        }
        assert!(found.len() >= 40, "only {} found: heads that cross a segment's end are lost", found.len());
        assert!(found.iter().all(|packet| packet.kind == Some(PacketKind::Interest)));
    }

    #[test]
    fn no_frame_whatever_its_bytes_makes_the_dissector_panic() {
        let mut random = packet::random::Random::from_seed(3);
        let mut dissector = Dissector::default();
        for _ in 0..20_000 {
            let length = random.below(120);
            let mut frame: Vec<u8> = (0..length).map(|_| random.next_u32() as u8).collect();
            if let Some(kind) = frame.get_mut(12..14) {
                kind.copy_from_slice(if random.chance(0.5) { &[8, 0] } else { &[0x86, 0x24] });
            }
            if let Some(protocol) = frame.get_mut(23) {
                *protocol = if random.chance(0.5) { TCP } else { UDP };
            }
            dissector.dissect(&frame, 60);
        }
    }
}
