use super::{decode_all, optional_u32, write_optional_blob, write_optional_decimal, write_optional_text};
use crate::ccnx::block::{write_close, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::ndnlp::Flags;
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// NdnldConnection: creates, destroys or reports a connection of ndnld (NDN-0006, section 3.3.1).
///
/// Requests and answers are sent under `/ccnx/ndnld/<CCNDID>/control`; several in one answer stand in a
/// [`Collection`](super::Collection). Which fields must be there depends on the verb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NdnldConnection<'a> {
    /// The verb: `connect`, `disconnect` or `listconnections`.
    pub action: Option<&'a str>,
    /// The connection's face on ccnd, by which it is known.
    pub face_id: Option<u32>,
    /// `ether` or `udp`; `ip` for IP alone, which the paper has and ndnld has not.
    pub lower_protocol: Option<&'a str>,
    /// The other end: a MAC address as hex digits and colons, or an IP address.
    pub host: Option<&'a str>,
    /// The Ethernet interface.
    pub local_interface: Option<&'a str>,
    /// Whether every packet asks for an acknowledgement.
    pub flags: Option<Flags>,
    /// How many sent packets are kept for retransmission; 100 unless given.
    pub sent_packets_capacity: Option<u32>,
    /// How often a packet is sent again; 5 unless given.
    pub retransmit_count: Option<u32>,
    /// After how many milliseconds a packet is sent again; 1000 unless given.
    pub retransmit_millis: Option<u32>,
    /// For how many milliseconds an acknowledgement may be held back; 300 unless given.
    pub acknowledge_millis: Option<u32>,
    /// `normal` or `error`; in answers.
    pub status: Option<&'a str>,
}

impl<'a> NdnldConnection<'a> {
    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order, or a value outside its range.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "NdnldConnection", Self::read)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::NDNLD_CONNECTION, "NdnldConnection")?;
        let connection = NdnldConnection {
            action: reader.optional_text(Dtag::ACTION, "Action")?,
            face_id: optional_u32(reader, Dtag::FACE_ID, "FaceID")?,
            lower_protocol: reader.optional_text(Dtag::NDNLD_LOWER_PROTOCOL, "NdnldLowerProtocol")?,
            host: reader.optional_text(Dtag::HOST, "Host")?,
            local_interface: reader.optional_text(Dtag::NDNLD_LOCAL_INTERFACE, "NdnldLocalInterface")?,
            flags: reader
                .optional_array(Dtag::FORWARDING_FLAGS, "ForwardingFlags")?
                .map(|bytes| Flags::from_bits(u16::from_be_bytes(*bytes))),
            sent_packets_capacity: optional_u32(
                reader,
                Dtag::NDNLD_SENT_PKTS_CAPACITY,
                "NdnldSentPktsCapacity",
            )?,
            retransmit_count: optional_u32(reader, Dtag::NDNLD_RETRANSMIT_COUNT, "NdnldRetransmitCount")?,
            retransmit_millis: optional_u32(reader, Dtag::NDNLD_RETRANSMIT_TIME, "NdnldRetransmitTime")?,
            acknowledge_millis: optional_u32(reader, Dtag::NDNLD_ACKNOWLEDGE_TIME, "NdnldAcknowledgeTime")?,
            status: reader.optional_text(Dtag::STATUS_CODE, "StatusCode")?,
        };
        reader.close("NdnldConnection")?;
        Ok(connection)
    }

    /// The element's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::NDNLD_CONNECTION);
        write_optional_text(&mut out, Dtag::ACTION, self.action);
        write_optional_decimal(&mut out, Dtag::FACE_ID, self.face_id);
        write_optional_text(&mut out, Dtag::NDNLD_LOWER_PROTOCOL, self.lower_protocol);
        write_optional_text(&mut out, Dtag::HOST, self.host);
        write_optional_text(&mut out, Dtag::NDNLD_LOCAL_INTERFACE, self.local_interface);
        let flags = self.flags.map(|flags| flags.bits().to_be_bytes());
        write_optional_blob(&mut out, Dtag::FORWARDING_FLAGS, flags.as_ref().map(|bytes| &bytes[..]));
        write_optional_decimal(&mut out, Dtag::NDNLD_SENT_PKTS_CAPACITY, self.sent_packets_capacity);
        write_optional_decimal(&mut out, Dtag::NDNLD_RETRANSMIT_COUNT, self.retransmit_count);
        write_optional_decimal(&mut out, Dtag::NDNLD_RETRANSMIT_TIME, self.retransmit_millis);
        write_optional_decimal(&mut out, Dtag::NDNLD_ACKNOWLEDGE_TIME, self.acknowledge_millis);
        write_optional_text(&mut out, Dtag::STATUS_CODE, self.status);
        write_close(&mut out);
        out
    }
}
