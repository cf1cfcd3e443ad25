//! What turns packets into frames and back: the one place of the client that knows the languages forwarders
//! speak.

use link::v2::{Config, EndpointId, Framed, LinkService, Received};
use packet::ccnx::{Framer, MAX_MESSAGE_BYTES, Message, message_len};
use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::ndn::{self, lp};
use packet::random::Random;
use packet::time::Instant;
use packet::{Buffer, Data, DecodeError, Dialect, LinkHeader, NackReason, Packet, PacketKind};

use crate::arrivals::Arrivals;
use crate::error::Unsendable;

/// What a connection's frames are made of.
#[derive(Debug)]
pub(crate) enum Codec {
    /// NDN packets in NDNLPv2.
    Ndn(Box<LinkService>),
    /// Messages of CCNx as they are, one after the other; this finds their ends in a stream.
    Ccnx(Framer),
}

/// A packet on its way out.
pub(crate) struct OutgoingPacket<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) wire: &'a Buffer,
    pub(crate) header: LinkHeader,
    pub(crate) nack: Option<NackReason>,
}

impl Codec {
    pub(crate) fn new(dialect: Dialect, is_datagram: bool, random: Random) -> Result<Self, Unsendable> {
        match dialect {
            Dialect::Ndn => {
                let config = Config {
                    transport_mtu_bytes: is_datagram.then_some(MAX_PACKET_BYTES),
                    local_fields: true,
                    congestion_marking: None,
                    ..Config::default()
                };
                Ok(Codec::Ndn(Box::new(LinkService::new(config, random)?)))
            }
            Dialect::Ccnx => Ok(Codec::Ccnx(Framer::new(MAX_MESSAGE_BYTES))),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Codec::Ndn(_) => Dialect::Ndn,
            Codec::Ccnx(_) => Dialect::Ccnx,
        }
    }

    /// The length of the frame that `stream` begins with; `None` if it is not whole yet. Asked with all that
    /// has come since the frame before.
    pub(crate) fn frame_len(&mut self, stream: &[u8]) -> Result<Option<usize>, DecodeError> {
        match self {
            Codec::Ndn(_) => lp::frame_len(stream),
            Codec::Ccnx(framer) => framer.scan(stream),
        }
    }

    /// Appends the frames of a packet to `output`, and tells the length of each.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        packet: OutgoingPacket<'_>,
        output: &mut Vec<u8>,
        mut end_frame: impl FnMut(usize),
    ) -> Result<(), Unsendable> {
        let start = output.len();
        let OutgoingPacket { dialect, wire, header, nack } = packet;
        if dialect != self.dialect() {
            return Err(Unsendable::OtherDialect);
        }
        match self {
            Codec::Ndn(link) => match link.frame(now, header, nack, wire, output) {
                Ok(Framed::Whole) => {
                    output.extend_from_slice(wire);
                    end_frame(output.len() - start);
                }
                Ok(Framed::Taken) => {
                    while let Some(length) = link.poll_transmit(now, output) {
                        end_frame(length);
                    }
                }
                Err(reason) => return Err(Unsendable::Link(reason)),
            },
            Codec::Ccnx(_) if nack.is_some() => return Err(Unsendable::NackToCcnx),
            Codec::Ccnx(_) => {
                output.extend_from_slice(wire);
                end_frame(wire.len());
            }
        }
        Ok(())
    }

    /// Takes in a frame; the packets that are whole now join `arrivals`.
    pub(crate) fn receive(&mut self, now: Instant, frame: &[u8], arrivals: &mut Arrivals) {
        match self {
            Codec::Ndn(link) => receive_ndn(link, now, frame, arrivals),
            Codec::Ccnx(_) => receive_ccnx(frame, arrivals),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if let Codec::Ndn(link) = self {
            link.handle_timeout(now);
        }
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        match self {
            Codec::Ndn(link) => link.next_deadline(),
            Codec::Ccnx(_) => Instant::NEVER,
        }
    }
}

fn receive_ndn(link: &mut LinkService, now: Instant, frame: &[u8], arrivals: &mut Arrivals) {
    match link.receive_frame(now, EndpointId(0), frame) {
        Ok(Received::Packet { packet, header, nack }) => match PacketKind::of(Dialect::Ndn, packet, nack) {
            Ok(PacketKind::Data) => {
                let spare = arrivals.spare_for(packet.len());
                let data = ndn::DataView::decode(packet).map(|view| Data::copy_of(view, spare));
                arrivals.push(data.map(Packet::Data), header);
            }
            _ => arrivals.push(Packet::decode(Dialect::Ndn, Buffer::copy_from(packet), nack), header),
        },
        Ok(Received::Taken) => {
            while let Some(delivery) = link.poll_deliver() {
                arrivals.push(Packet::decode(Dialect::Ndn, delivery.packet, delivery.nack), delivery.header);
            }
        }
        Err(_) => arrivals.counters.malformed += 1,
    }
}

/// A frame of a stream is one message; a datagram holds any number of them. One of a byte or none only says
/// that the forwarder is there.
fn receive_ccnx(mut frame: &[u8], arrivals: &mut Arrivals) {
    while frame.len() > 1 {
        let length = message_len(frame).ok().flatten();
        let Some((message, rest)) = length.and_then(|length| frame.split_at_checked(length)) else {
            // Where the next one begins cannot be known.
            arrivals.counters.malformed += 1;
            return;
        };
        frame = rest;
        if PacketKind::of(Dialect::Ccnx, message, None).is_ok() {
            let packet = Packet::decode(Dialect::Ccnx, Buffer::copy_from(message), None);
            arrivals.push(packet, LinkHeader::NONE);
        } else if !matches!(Message::decode(message), Ok(Message::SequenceNumber(_))) {
            arrivals.counters.malformed += 1;
        }
    }
}
