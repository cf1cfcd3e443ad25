//! A network packet of any kind, in either dialect.

use std::fmt;

use crate::Dialect;
use crate::buffer::Buffer;
use crate::ccnx::{Dtag, Reader};
use crate::data::Data;
use crate::error::{DecodeError, Rule};
use crate::hash::{NameHasher, PrefixHashes};
use crate::interest::{Interest, Nonce};
use crate::link_header::NackReason;
use crate::name::{NameRef, WireName};
use crate::ndn::types;

/// What travels over a link, without what travels beside it ([`LinkHeader`](crate::LinkHeader)).
///
/// ```
/// use cairn_packet::ndn::InterestBuilder;
/// use cairn_packet::{Dialect, NackReason, Packet, PacketKind};
///
/// let wire = InterestBuilder::new("/lab/file".parse()?).nonce(7).build()?.into_wire();
/// let asked = Packet::decode(Dialect::Ndn, wire.clone(), None)?;
/// let refused = Packet::decode(Dialect::Ndn, wire, Some(NackReason::Congestion))?;
/// assert_eq!((asked.kind(), refused.kind()), (PacketKind::Interest, PacketKind::Nack));
/// assert_eq!(asked.name(), refused.name());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Its kind takes a whole word, so that what lies behind is moved in whole words, too, which is quicker.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum Packet {
    /// An Interest.
    Interest(Interest),
    /// Data.
    Data(Data),
    /// An Interest that goes back to where it came from.
    Nack(Interest, NackReason),
}

/// The three kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// An Interest.
    Interest,
    /// Data.
    Data,
    /// An Interest that goes back to where it came from.
    Nack,
}

impl Packet {
    /// Reads the Interest or Data that fills `wire`; an Interest that came with the reason of a Nack is that
    /// Nack.
    ///
    /// # Errors
    /// Those of the packet that its first bytes announce, or that they announce none.
    pub fn decode(dialect: Dialect, wire: Buffer, nack: Option<NackReason>) -> Result<Self, DecodeError> {
        let kind = PacketKind::of(dialect, &wire, nack)?;
        Ok(match (dialect, kind) {
            (dialect, PacketKind::Data) => Packet::Data(Data::decode(dialect, wire)?),
            (Dialect::Ndn, _) => Packet::asked_or_nacked(Interest::decode_ndn(wire)?, nack),
            (Dialect::Ccnx, _) => Packet::asked_or_nacked(Interest::decode_ccnx(wire)?, nack),
        })
    }

    /// The same, hashing the name on the way.
    ///
    /// # Errors
    /// As [`Packet::decode`].
    pub fn decode_hashed(
        dialect: Dialect,
        wire: Buffer,
        nack: Option<NackReason>,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let kind = PacketKind::of(dialect, &wire, nack)?;
        Ok(match (dialect, kind) {
            (Dialect::Ndn, PacketKind::Data) => Packet::Data(Data::decode_ndn_hashed(wire, hasher, hashes)?),
            (Dialect::Ccnx, PacketKind::Data) => {
                Packet::Data(Data::decode_ccnx_hashed(wire, hasher, hashes)?)
            }
            (Dialect::Ndn, _) => {
                Packet::asked_or_nacked(Interest::decode_ndn_hashed(wire, hasher, hashes)?, nack)
            }
            (Dialect::Ccnx, _) => {
                Packet::asked_or_nacked(Interest::decode_ccnx_hashed(wire, hasher, hashes)?, nack)
            }
        })
    }

    /// An Interest, or the Nack that it is if a reason came with it.
    #[inline]
    pub fn asked_or_nacked(interest: Interest, nack: Option<NackReason>) -> Self {
        match nack {
            None => Packet::Interest(interest),
            Some(reason) => Packet::Nack(interest, reason),
        }
    }

    /// Its kind.
    #[inline]
    pub fn kind(&self) -> PacketKind {
        match self {
            Packet::Interest(_) => PacketKind::Interest,
            Packet::Data(_) => PacketKind::Data,
            Packet::Nack(..) => PacketKind::Nack,
        }
    }

    /// The language it is written in.
    #[inline]
    pub fn dialect(&self) -> Dialect {
        match self {
            Packet::Interest(interest) | Packet::Nack(interest, _) => interest.dialect(),
            Packet::Data(data) => data.dialect(),
        }
    }

    /// Its name.
    #[inline]
    pub fn name(&self) -> NameRef<'_> {
        match self {
            Packet::Interest(interest) | Packet::Nack(interest, _) => interest.name(),
            Packet::Data(data) => data.name(),
        }
    }

    /// Its name in the form that it has on the wire.
    #[inline]
    pub fn wire_name(&self) -> WireName<'_> {
        match self {
            Packet::Interest(interest) | Packet::Nack(interest, _) => interest.wire_name(),
            Packet::Data(data) => data.wire_name(),
        }
    }

    /// The nonce of an Interest, or of one that goes back.
    #[inline]
    pub fn nonce(&self) -> Option<Nonce> {
        match self {
            Packet::Interest(interest) | Packet::Nack(interest, _) => interest.nonce(),
            Packet::Data(_) => None,
        }
    }

    /// Why an Interest goes back; `None` if it does not.
    #[inline]
    pub fn nack_reason(&self) -> Option<NackReason> {
        match self {
            Packet::Nack(_, reason) => Some(*reason),
            Packet::Interest(_) | Packet::Data(_) => None,
        }
    }

    /// Its bytes; those of a Nack are its Interest's.
    #[inline]
    pub fn wire(&self) -> &Buffer {
        match self {
            Packet::Interest(interest) | Packet::Nack(interest, _) => interest.wire(),
            Packet::Data(data) => data.wire(),
        }
    }

    /// The same, taking it apart.
    #[inline(always)]
    pub fn into_wire(self) -> Buffer {
        match self {
            Packet::Interest(interest) | Packet::Nack(interest, _) => interest.into_wire(),
            Packet::Data(data) => data.into_wire(),
        }
    }
}

impl PacketKind {
    /// The kind of the packet in `wire`, by its first bytes and the reason that came with it.
    ///
    /// # Errors
    /// Neither an Interest nor a Data begins like this.
    #[inline]
    pub fn of(dialect: Dialect, wire: &[u8], nack: Option<NackReason>) -> Result<Self, DecodeError> {
        match (PacketKind::announced(dialect, wire), nack) {
            (Some(PacketKind::Interest), Some(_)) => Ok(PacketKind::Nack),
            (kind, _) => kind.ok_or_else(|| neither(wire)),
        }
    }

    /// Interest or Data, as the first bytes of `wire` announce; `None` if they announce neither.
    #[inline]
    pub fn announced(dialect: Dialect, wire: &[u8]) -> Option<Self> {
        match dialect {
            Dialect::Ndn => match u32::from(*wire.first()?) {
                types::INTEREST => Some(PacketKind::Interest),
                types::DATA => Some(PacketKind::Data),
                _ => None,
            },
            Dialect::Ccnx => {
                let reader = Reader::new(wire, "message");
                let is_data = || reader.next_is(Dtag::CONTENT_OBJECT).then_some(PacketKind::Data);
                reader.next_is(Dtag::INTEREST).then_some(PacketKind::Interest).or_else(is_data)
            }
        }
    }

    /// The word used in traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            PacketKind::Interest => "interest",
            PacketKind::Data => "data",
            PacketKind::Nack => "nack",
        }
    }
}

impl fmt::Display for PacketKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cold]
fn neither(wire: &[u8]) -> DecodeError {
    let rule = wire.first().map_or(Rule::Missing, |&byte| Rule::UnexpectedType(byte.into()));
    DecodeError::new("Packet", 0, rule)
}
