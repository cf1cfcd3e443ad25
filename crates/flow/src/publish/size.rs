//! How much content fits into a segment.

use packet::Name;
use packet::ndn::tlv::MAX_PACKET_BYTES;
use thiserror::Error;

use super::{Authenticity, PublicationConfig, PublishError, builder};
use trust::Signer;

/// How much content a segment holds. Never more than fits into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentSize {
    /// So many bytes of content, or what fits.
    Content(u32),
    /// As much content as fits into a packet of so many bytes: the unit of a link less what the link itself
    /// adds.
    Packet(u32),
    /// As much content as the largest packet of the protocol holds.
    Largest,
}

/// Bytes of content in a Data packet that leave room for any usual name and signature, as in the chunk tools
/// of NDN.
pub const USUAL_CONTENT_BYTES: u32 = 8000;

/// Content that no packet can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a segment has 1 to {most} bytes, less what name and signature take, not {0}", most = MAX_PACKET_BYTES)]
pub struct SegmentSizeError(pub u64);

impl SegmentSize {
    /// So many bytes of content, or what fits.
    ///
    /// # Errors
    /// None, or more than the largest packet has.
    pub fn of_content(bytes: u64) -> Result<Self, SegmentSizeError> {
        match u32::try_from(bytes) {
            Ok(content) if (1..=MAX_PACKET_BYTES).contains(&(content as usize)) => {
                Ok(SegmentSize::Content(content))
            }
            _ => Err(SegmentSizeError(bytes)),
        }
    }
}

impl Default for SegmentSize {
    /// The [usual](USUAL_CONTENT_BYTES) content.
    fn default() -> Self {
        SegmentSize::Content(USUAL_CONTENT_BYTES)
    }
}

/// Content bytes in a segment of the object with the versioned name `name`: as many as fit beside the longest
/// segment number and the largest signature.
pub(super) fn content_bytes(config: &PublicationConfig, name: &Name) -> Result<u64, PublishError> {
    let packet_bytes = match config.segment_size {
        SegmentSize::Packet(bytes) => (bytes as usize).min(MAX_PACKET_BYTES),
        SegmentSize::Content(_) | SegmentSize::Largest => MAX_PACKET_BYTES,
    };
    // The number of segments depends on their size and the size on the digits of the number: the widest that
    // is possible, one byte of content each, is close enough.
    let most = config.size_bytes.saturating_sub(1);
    let widest = config.convention.with_segment(name, most)?;
    let last = config.convention.with_segment(&Name::root(), most)?;
    let digest = Signer::digest();
    let signer = match config.authenticity {
        Authenticity::EachPacket => &config.signer,
        Authenticity::Manifest => &digest,
    };
    let signature = vec![0; signer.max_signature_bytes()];
    let empty = builder(config, widest, last.as_ref())
        .content(Vec::new())
        .build_signed(&signer.signature_info(), |_| signature)?;
    // The headers of packet and content are longer when there is content, by two bytes each at most.
    let overhead_bytes = empty.wire().len() + 4;
    let room = packet_bytes.saturating_sub(overhead_bytes);
    let wanted = match config.segment_size {
        SegmentSize::Content(bytes) => (bytes as usize).min(room),
        SegmentSize::Packet(_) | SegmentSize::Largest => room,
    };
    match wanted {
        0 => Err(PublishError::NoRoom { packet_bytes, overhead_bytes }),
        bytes => Ok(bytes as u64),
    }
}
