use super::{decode_all, optional_u32, write_optional_blob, write_optional_decimal, write_optional_text};
use crate::ccnx::block::{write_close, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// FaceInstance: creates or destroys a face of ccnd, or reports one (CCNx 0.8, "Registration").
///
/// Which fields must be there depends on the verb, so that is left to whoever acts on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceInstance<'a> {
    /// The verb: `newface` or `destroyface`; absent from answers.
    pub action: Option<&'a str>,
    /// CCNDID: the digest of ccnd's public key.
    pub ccnd_id: Option<&'a [u8; 32]>,
    /// The face.
    pub face_id: Option<u32>,
    /// What the face runs over.
    pub ip_protocol: Option<IpProtocol>,
    /// The other end's numeric IP address.
    pub host: Option<&'a str>,
    /// The other end's port.
    pub port: Option<u16>,
    /// The address of the interface to send multicasts from.
    pub multicast_interface: Option<&'a str>,
    /// How far multicasts may go; 1 unless given.
    pub multicast_ttl: Option<u8>,
    /// How long the face shall exist, or will go on to, in seconds.
    pub freshness_seconds: Option<u32>,
}

/// IPProto: the protocol number of what a face runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpProtocol(pub u8);

impl IpProtocol {
    /// TCP.
    pub const TCP: IpProtocol = IpProtocol(6);
    /// UDP.
    pub const UDP: IpProtocol = IpProtocol(17);
}

impl<'a> FaceInstance<'a> {
    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order, or a value outside its range.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "FaceInstance", Self::read)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::FACE_INSTANCE, "FaceInstance")?;
        let face = FaceInstance {
            action: reader.optional_text(Dtag::ACTION, "Action")?,
            ccnd_id: reader.optional_array(Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, "PublisherPublicKeyDigest")?,
            face_id: optional_u32(reader, Dtag::FACE_ID, "FaceID")?,
            ip_protocol: reader
                .optional_decimal(Dtag::IP_PROTO, "IPProto", u8::MAX.into())?
                .map(|number| IpProtocol(number as u8)),
            host: reader.optional_text(Dtag::HOST, "Host")?,
            port: reader.optional_decimal(Dtag::PORT, "Port", u16::MAX.into())?.map(|port| port as u16),
            multicast_interface: reader.optional_text(Dtag::MULTICAST_INTERFACE, "MulticastInterface")?,
            multicast_ttl: reader
                .optional_decimal(Dtag::MULTICAST_TTL, "MulticastTTL", u8::MAX.into())?
                .map(|ttl| ttl as u8),
            freshness_seconds: optional_u32(reader, Dtag::FRESHNESS_SECONDS, "FreshnessSeconds")?,
        };
        reader.close("FaceInstance")?;
        Ok(face)
    }

    /// The element's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::FACE_INSTANCE);
        write_optional_text(&mut out, Dtag::ACTION, self.action);
        write_optional_blob(&mut out, Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, self.ccnd_id.map(|id| &id[..]));
        write_optional_decimal(&mut out, Dtag::FACE_ID, self.face_id);
        write_optional_decimal(&mut out, Dtag::IP_PROTO, self.ip_protocol.map(|protocol| protocol.0));
        write_optional_text(&mut out, Dtag::HOST, self.host);
        write_optional_decimal(&mut out, Dtag::PORT, self.port);
        write_optional_text(&mut out, Dtag::MULTICAST_INTERFACE, self.multicast_interface);
        write_optional_decimal(&mut out, Dtag::MULTICAST_TTL, self.multicast_ttl);
        write_optional_decimal(&mut out, Dtag::FRESHNESS_SECONDS, self.freshness_seconds);
        write_close(&mut out);
        out
    }
}
