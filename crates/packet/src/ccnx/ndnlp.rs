//! Packets of NDNLP version 1, the link protocol for CCNx (NDN-0006, section 2.1).
//!
//! A *message* is what the network layer sends, a *packet* is what goes over the link. A data packet carries
//! a message or a fragment of one; an acknowledgement packet lists data packets that have arrived, as
//! bitmaps.
//!
//! ```
//! use cairn_packet::ccnx::ndnlp::{Flags, Fragment, LinkData, LinkPacket, Sequence};
//! let data = LinkData {
//!     sequence: Sequence::new(0x8a48_10d0_f08b),
//!     flags: Flags::ACK_REQUESTED,
//!     fragment: Fragment::WHOLE,
//!     payload: b"message",
//! };
//! let frame = data.encode();
//! assert_eq!(LinkPacket::decode(&frame), Ok(LinkPacket::Data(data)));
//! ```

use std::fmt;

use crate::ccnx::block::{
    body_element_len, element_len, header_len, write_blob_element, write_close, write_open,
};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// A packet as found on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPacket<'a> {
    /// A message or a fragment of one.
    Data(LinkData<'a>),
    /// What has arrived at the other end.
    Ack(LinkAck<'a>),
}

impl<'a> LinkPacket<'a> {
    /// Reads the packet at the start of `frame`. Bytes behind its end are padding of the layer below and
    /// ignored.
    ///
    /// # Errors
    /// Anything but the elements of NDN-0006, section 2.1, in their order and with their sizes.
    pub fn decode(frame: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(frame, "NDNLP packet");
        if reader.next_is(Dtag::NDNLP_ACK) {
            LinkAck::read(&mut reader).map(LinkPacket::Ack)
        } else {
            LinkData::read(&mut reader).map(LinkPacket::Data)
        }
    }
}

/// A link data packet (section 2.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkData<'a> {
    /// Number of this packet on this link.
    pub sequence: Sequence,
    /// What the sender asks for.
    pub flags: Flags,
    /// Which part of the message this is.
    pub fragment: Fragment,
    /// The message, or the fragment of it.
    pub payload: &'a [u8],
}

impl<'a> LinkData<'a> {
    /// Sequence number of the first fragment, which identifies the message on this link (section 2.2.2).
    pub fn message(&self) -> Sequence {
        self.sequence.minus(self.fragment.index.into())
    }

    /// Length of the packet, in bytes.
    pub fn encoded_len(&self) -> usize {
        element_len(Dtag::NDNLP_DATA, self.content_len())
    }

    /// The packet's bytes. Index and count of the fragment are left out for a whole message, as ndnld does.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_len());
        self.encode_into(&mut out);
        out
    }

    /// Appends the packet's bytes to `out`.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        write_open(out, Dtag::NDNLP_DATA);
        write_blob_element(out, Dtag::NDNLP_SEQUENCE, &self.sequence.to_bytes());
        write_blob_element(out, Dtag::NDNLP_FLAGS, &self.flags.bits().to_be_bytes());
        if self.fragment != Fragment::WHOLE {
            write_blob_element(out, Dtag::NDNLP_FRAG_INDEX, &self.fragment.index.to_be_bytes());
            write_blob_element(out, Dtag::NDNLP_FRAG_COUNT, &self.fragment.count.to_be_bytes());
        }
        write_blob_element(out, Dtag::NDNLP_PAYLOAD, self.payload);
        write_close(out);
    }

    fn content_len(&self) -> usize {
        let fragment = match self.fragment {
            Fragment::WHOLE => 0,
            _ => body_element_len(Dtag::NDNLP_FRAG_INDEX, 2) + body_element_len(Dtag::NDNLP_FRAG_COUNT, 2),
        };
        body_element_len(Dtag::NDNLP_SEQUENCE, Sequence::BYTES)
            + body_element_len(Dtag::NDNLP_FLAGS, 2)
            + fragment
            + body_element_len(Dtag::NDNLP_PAYLOAD, self.payload.len())
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::NDNLP_DATA, "NdnlpData")?;
        let sequence = *reader.array_element(Dtag::NDNLP_SEQUENCE, "NdnlpSequence")?;
        let flags = *reader.array_element(Dtag::NDNLP_FLAGS, "NdnlpFlags")?;
        let index = reader.optional_array(Dtag::NDNLP_FRAG_INDEX, "NdnlpFragIndex")?;
        let count = reader.optional_array(Dtag::NDNLP_FRAG_COUNT, "NdnlpFragCount")?;
        let payload = reader.blob_element(Dtag::NDNLP_PAYLOAD, "NdnlpPayload", ..)?;
        reader.close("NdnlpData")?;
        Ok(LinkData {
            sequence: Sequence::from_bytes(sequence),
            flags: Flags::from_bits(u16::from_be_bytes(flags)),
            fragment: Fragment {
                index: index.map_or(Fragment::WHOLE.index, |bytes| u16::from_be_bytes(*bytes)),
                count: count.map_or(Fragment::WHOLE.count, |bytes| u16::from_be_bytes(*bytes)),
            },
            payload,
        })
    }
}

/// The longest payload that fits a link of `mtu_bytes`, by the rule of ndnld: the length of a payload as long
/// as the MTU and the two fragment fields are counted whether they are needed or not. Zero when nothing fits.
pub const fn max_payload_bytes(mtu_bytes: usize) -> usize {
    const AROUND_PAYLOAD: usize = element_len(Dtag::NDNLP_DATA, 0)
        + body_element_len(Dtag::NDNLP_SEQUENCE, Sequence::BYTES)
        + body_element_len(Dtag::NDNLP_FLAGS, 2)
        + body_element_len(Dtag::NDNLP_FRAG_INDEX, 2)
        + body_element_len(Dtag::NDNLP_FRAG_COUNT, 2)
        + element_len(Dtag::NDNLP_PAYLOAD, 0);
    mtu_bytes.saturating_sub(AROUND_PAYLOAD + header_len(mtu_bytes as u64))
}

/// A link acknowledgement packet (section 2.1.2): one or more blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAck<'a> {
    /// The blocks' bytes, which were all read once without an error.
    blocks: &'a [u8],
}

impl<'a> LinkAck<'a> {
    /// The blocks, in the order of the packet.
    pub fn blocks(&self) -> impl Iterator<Item = AckBlock<'a>> + use<'a> {
        let mut reader = Reader::new(self.blocks, "NdnlpAck");
        std::iter::from_fn(move || AckBlock::read(&mut reader).ok())
    }

    /// Every sequence number that is acknowledged, in the order of the packet.
    pub fn sequences(&self) -> impl Iterator<Item = Sequence> + use<'a> {
        self.blocks().flat_map(|block| block.sequences())
    }

    /// Length of a packet with blocks of these lengths in bytes, as [`AckBlock::encoded_len`] gives them.
    pub fn encoded_len(block_lens: impl IntoIterator<Item = usize>) -> usize {
        element_len(Dtag::NDNLP_ACK, block_lens.into_iter().sum())
    }

    /// Appends a packet made of `blocks` to `out`. There should be at least one.
    pub fn encode_into(blocks: &[AckBlock<'_>], out: &mut Vec<u8>) {
        out.reserve(LinkAck::encoded_len(blocks.iter().map(AckBlock::encoded_len)));
        write_open(out, Dtag::NDNLP_ACK);
        for block in blocks {
            block.write(out);
        }
        write_close(out);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::NDNLP_ACK, "NdnlpAck")?;
        let start = reader.position();
        AckBlock::read(reader)?;
        while reader.next_is(Dtag::NDNLP_ACK_BLOCK) {
            AckBlock::read(reader)?;
        }
        let blocks = reader.read_since(start);
        reader.close("NdnlpAck")?;
        Ok(LinkAck { blocks })
    }
}

/// One acknowledgement block: which packets have arrived of a run of consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckBlock<'a> {
    /// Number of the packet that the bitmap's first bit stands for.
    pub base: Sequence,
    /// One bit a packet, the most significant bit of each byte first; a set bit acknowledges, a clear one
    /// says nothing.
    pub bitmap: &'a [u8],
}

impl<'a> AckBlock<'a> {
    /// The sequence numbers that are acknowledged, ascending (modulo 2^48).
    pub fn sequences(self) -> impl Iterator<Item = Sequence> + use<'a> {
        let bytes = self.bitmap.iter().zip(0u64..);
        bytes.flat_map(move |(&byte, index)| {
            (0..8u64)
                .filter(move |bit| byte & 0x80 >> bit != 0)
                .map(move |bit| self.base.plus(index * 8 + bit))
        })
    }

    /// Length of the block within a packet, in bytes.
    pub fn encoded_len(&self) -> usize {
        AckBlock::len_with_bitmap(self.bitmap.len())
    }

    /// Length within a packet of a block with a bitmap of `bitmap_len` bytes.
    pub const fn len_with_bitmap(bitmap_len: usize) -> usize {
        element_len(
            Dtag::NDNLP_ACK_BLOCK,
            body_element_len(Dtag::NDNLP_SEQUENCE_BASE, Sequence::BYTES)
                + body_element_len(Dtag::NDNLP_BITMAP, bitmap_len),
        )
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_open(out, Dtag::NDNLP_ACK_BLOCK);
        write_blob_element(out, Dtag::NDNLP_SEQUENCE_BASE, &self.base.to_bytes());
        write_blob_element(out, Dtag::NDNLP_BITMAP, self.bitmap);
        write_close(out);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::NDNLP_ACK_BLOCK, "NdnlpAckBlock")?;
        let base = *reader.array_element(Dtag::NDNLP_SEQUENCE_BASE, "NdnlpSequenceBase")?;
        let bitmap = reader.blob_element(Dtag::NDNLP_BITMAP, "NdnlpBitmap", ..)?;
        reader.close("NdnlpAckBlock")?;
        Ok(AckBlock { base: Sequence::from_bytes(base), bitmap })
    }
}

/// The number of a packet on a link: 48 bits that wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sequence(u64);

impl Sequence {
    /// Length on the wire.
    pub const BYTES: usize = 6;
    const MASK: u64 = (1 << 48) - 1;

    /// The sequence number `number` modulo 2^48.
    pub const fn new(number: u64) -> Self {
        Sequence(number & Self::MASK)
    }

    /// The number, below 2^48.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number `count` packets later.
    #[must_use]
    pub const fn plus(self, count: u64) -> Self {
        Sequence::new(self.0.wrapping_add(count))
    }

    /// The number `count` packets earlier.
    #[must_use]
    pub const fn minus(self, count: u64) -> Self {
        Sequence::new(self.0.wrapping_sub(count))
    }

    /// How many packets after `earlier` this one is, modulo 2^48.
    pub const fn since(self, earlier: Sequence) -> u64 {
        self.minus(earlier.0).0
    }

    /// The number as it is on the wire.
    pub const fn to_bytes(self) -> [u8; Sequence::BYTES] {
        let [_, _, a, b, c, d, e, f] = self.0.to_be_bytes();
        [a, b, c, d, e, f]
    }

    /// The number that is on the wire as `bytes`.
    pub const fn from_bytes([a, b, c, d, e, f]: [u8; Sequence::BYTES]) -> Self {
        Sequence(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sequence({self})")
    }
}

/// NdnlpFlags: what the sender of a data packet asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// Nothing.
    pub const NONE: Flags = Flags(0);
    /// RLA, "requesting link acknowledgement". The paper calls it bit 0; ndnld sends the most significant
    /// bit.
    pub const ACK_REQUESTED: Flags = Flags(0x8000);

    /// The flags that are on the wire as `bits`, those without a meaning included.
    pub const fn from_bits(bits: u16) -> Self {
        Flags(bits)
    }

    /// The bits on the wire.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether the sender wants this packet acknowledged.
    pub const fn ack_requested(self) -> bool {
        self.0 & Flags::ACK_REQUESTED.0 != 0
    }
}

/// Which part of a message a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Number of this fragment, from 0.
    pub index: u16,
    /// Number of fragments in the message.
    pub count: u16,
}

impl Fragment {
    /// The only fragment of its message, which is what a packet without fragment fields carries.
    pub const WHOLE: Fragment = Fragment { index: 0, count: 1 };

    /// False when there can be no such fragment. A receiver acknowledges such a packet if asked to, then
    /// drops it, so the decoder lets it pass.
    pub const fn is_possible(self) -> bool {
        self.index < self.count
    }

    /// Whether the message ends with this fragment.
    pub const fn is_last(self) -> bool {
        self.index as u32 + 1 == self.count as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Rule;

    const DATA: &[u8] = b"NdL\x82NdL\x8a\xb5\x12\x34\x56\x78\x9a\xbc\0NdL\x92\x95\x80\0\0NdL\x9a\x95\0\x04\0\
        NdL\xa2\x95\0\x0b\0NdL\xaa\xddccccccccccc\0\0";

    #[test]
    fn sequence_numbers_wrap_at_48_bits() {
        let last = Sequence::new(u64::MAX);
        assert_eq!(last.get(), (1 << 48) - 1);
        assert_eq!(last.plus(1), Sequence::new(0));
        assert_eq!(Sequence::new(2).minus(5), last.minus(2));
        assert_eq!(Sequence::new(2).since(last), 3);
        assert_eq!(Sequence::from_bytes(last.to_bytes()), last);
        assert_eq!(Sequence::new(0x8a48_10d0_f08b).to_string(), "8a4810d0f08b");
    }

    /// The sizes ndnld arrives at for Ethernet and UDP (NDN-0006, figure 4: 4 × 1452 + 1186 bytes in five
    /// packets).
    #[test]
    fn full_packets_fill_the_mtu() {
        assert_eq!(max_payload_bytes(1500), 1452);
        assert_eq!(max_payload_bytes(1420), 1372);
        assert_eq!(max_payload_bytes(10), 0);
        for mtu_bytes in [100, 1420, 1500, 9000, 300_000] {
            let payload = vec![0; max_payload_bytes(mtu_bytes)];
            let fragment = Fragment { index: 1, count: 2 };
            let full =
                LinkData { sequence: Sequence::new(1), flags: Flags::NONE, fragment, payload: &payload };
            let whole = LinkData { fragment: Fragment::WHOLE, ..full };
            assert_eq!(full.encode().len(), mtu_bytes);
            assert_eq!(full.encoded_len(), mtu_bytes);
            assert_eq!(whole.encode().len(), mtu_bytes - 16);
        }
    }

    #[test]
    fn a_bitmaps_first_bit_is_its_most_significant() {
        let base = Sequence::new((1 << 48) - 2);
        let block = AckBlock { base, bitmap: &[0b1010_0001, 0x80] };
        let numbers: Vec<u64> = block.sequences().map(Sequence::get).collect();
        assert_eq!(numbers, [(1 << 48) - 2, 0, 5, 6]);
    }

    #[test]
    fn padding_is_ignored_and_everything_else_is_exact() {
        let Ok(LinkPacket::Data(data)) = LinkPacket::decode(DATA) else { panic!() };
        assert_eq!(data.payload, b"ccccccccccc");
        assert_eq!(data.encode(), DATA);
        let padded = [DATA, &[0; 6]].concat();
        assert_eq!(LinkPacket::decode(&padded), Ok(LinkPacket::Data(data)));

        let refused = |from: &[u8], to: &[u8]| {
            let at = DATA.windows(from.len()).position(|window| window == from).unwrap();
            let changed = [&DATA[..at], to, &DATA[at + from.len()..]].concat();
            let error = LinkPacket::decode(&changed).unwrap_err();
            (error.field, error.rule)
        };
        assert_eq!(refused(b"\x95\x80\0\0", b"\x8d\x80\0"), ("NdnlpFlags", Rule::BadLength(1)));
        assert_eq!(refused(b"NdL\x8a", b"NdL\x92"), ("NdnlpSequence", Rule::UnexpectedType(20_653_250)));
        assert_eq!(refused(b"NdL\x9a", b"NdL\xa2"), ("NdnlpPayload", Rule::UnexpectedType(20_653_252)));
        assert_eq!(refused(b"NdL\x82", b"NdL\xba"), ("NdnlpData", Rule::UnexpectedType(20_653_255)));
    }

    #[test]
    fn impossible_fragments_are_told_apart() {
        let possible = |index, count| Fragment { index, count }.is_possible();
        assert!(possible(0, 1) && possible(65_534, 65_535));
        assert!(!possible(0, 0) && !possible(1, 1) && !possible(65_535, 65_535));
        assert!(Fragment::WHOLE.is_last() && !Fragment { index: 0, count: 0 }.is_last());
    }
}
