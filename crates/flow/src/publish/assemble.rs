//! Putting the packet of a segment together around its content, where the content lies.
//!
//! All segments of a publication are written alike: only number, content and signature differ. What does not
//! is kept as it was encoded once, and memory is used again, so that a segment costs what its bytes cost:
//! they are read to where they leave from, and signed there.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use packet::ndn::tlv::{self, PACKET_HEADER_BYTES};
use packet::ndn::{DataBuilder, types};
use packet::{Buffer, Data, EncodeError};
use trust::Signer;

use super::{Authenticity, Publication, PublishError, SegmentRange};

/// Bytes that the header of a signature takes at most.
const SIGNATURE_HEADER_BYTES: usize = 4;

/// What all segments of a publication have in common, encoded.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    /// MetaInfo, with its header.
    meta_info: Vec<u8>,
    /// SignatureInfo, with its header.
    signature_info: Vec<u8>,
}

impl Common {
    /// As in a packet that `builder` makes and `signer` would sign.
    pub(super) fn of(builder: &DataBuilder, signer: &Signer) -> Result<Self, PublishError> {
        let sample = builder.build_signed(&signer.signature_info(), |_| Vec::new())?;
        let signed = sample.ndn().map(|view| view.signed_portion()).unwrap_or_default();
        let mut common = Common::default();
        let mut elements = tlv::Reader::new(signed, "Data");
        while let Some(element) = elements.element()? {
            let whole = || signed.get(element.start..element.end()).unwrap_or_default().to_vec();
            match element.kind {
                types::META_INFO => common.meta_info = whole(),
                types::SIGNATURE_INFO => common.signature_info = whole(),
                _ => {}
            }
        }
        Ok(common)
    }
}

/// Memory of segments, to be used again when nobody refers to the packets in it any more.
///
/// It remembers what was used last, up to [`SegmentMemory::MAX_KEPT`] packets, and takes the oldest of them
/// first: owners that keep some packets for a while had best let go of the oldest first, too.
#[derive(Debug, Default)]
pub struct SegmentMemory {
    /// The one that was used longest ago is first.
    kept: VecDeque<Arc<[u8]>>,
}

impl SegmentMemory {
    /// How many packets' memory is remembered.
    pub const MAX_KEPT: usize = 1024;

    /// Nothing yet.
    pub fn new() -> Self {
        SegmentMemory::default()
    }

    /// Memory of at least so many bytes that nobody else refers to.
    fn take(&mut self, bytes: usize) -> Arc<[u8]> {
        if self.kept.front_mut().is_some_and(|memory| Arc::get_mut(memory).is_some())
            && let Some(memory) = self.kept.pop_front().filter(|memory| memory.len() >= bytes)
        {
            return memory;
        }
        std::iter::repeat_n(0, bytes).collect()
    }

    fn keep(&mut self, memory: Arc<[u8]>) {
        self.kept.push_back(memory);
        if self.kept.len() > SegmentMemory::MAX_KEPT {
            self.kept.pop_front();
        }
    }
}

/// A segment in the making: there is room for its content, see [`OpenSegment::content_mut`].
#[derive(Debug)]
pub struct OpenSegment {
    memory: Arc<[u8]>,
    segment: u64,
    content: Range<usize>,
}

impl OpenSegment {
    /// Which segment.
    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// Where the content has to be written; what lies there is of no meaning.
    pub fn content_mut(&mut self) -> &mut [u8] {
        let content = self.content.clone();
        Arc::get_mut(&mut self.memory).and_then(|memory| memory.get_mut(content)).unwrap_or_default()
    }
}

impl Publication {
    /// Begins a segment in memory that is used again. When its content is written, [`Publication::seal`]
    /// makes the packet.
    ///
    /// ```
    /// use cairn_flow::{Publication, PublicationConfig, SegmentMemory};
    /// use trust::Signer;
    ///
    /// let config = PublicationConfig::new("/lab/file".parse()?, 1, 20_000, Signer::digest());
    /// let publication = Publication::new(config)?;
    /// let mut memory = SegmentMemory::new();
    /// let mut open = publication.open_segment(2, &mut memory)?;
    /// open.content_mut().fill(7);
    /// let data = publication.seal(open, &mut memory)?;
    /// assert_eq!(data.content(), [7; 4000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no such segment.
    pub fn open_segment(
        &self,
        segment: u64,
        memory: &mut SegmentMemory,
    ) -> Result<OpenSegment, PublishError> {
        let range =
            self.range(segment).ok_or(PublishError::NoSegment { segment, last: self.last_segment })?;
        let head = self.head(range);
        // A segment is smaller than a packet.
        let content_bytes = usize::try_from(range.len_bytes).unwrap_or(0);
        let start = PACKET_HEADER_BYTES + head.len();
        let signature_bytes = SIGNATURE_HEADER_BYTES + self.segment_signer().max_signature_bytes();
        let max_bytes = start + content_bytes + self.common.signature_info.len() + signature_bytes;
        let mut memory = memory.take(max_bytes);
        put(&mut memory, PACKET_HEADER_BYTES, &head);
        Ok(OpenSegment { memory, segment, content: start..start + content_bytes })
    }

    /// Makes the packet of a segment whose content is written.
    ///
    /// # Errors
    /// The signer fails.
    pub fn seal(&self, open: OpenSegment, memory: &mut SegmentMemory) -> Result<Data, PublishError> {
        let OpenSegment { memory: mut bytes, content, .. } = open;
        let signed_end = put(&mut bytes, content.end, &self.common.signature_info);
        let signature =
            self.segment_signer().sign(bytes.get(PACKET_HEADER_BYTES..signed_end).unwrap_or_default())?;
        let mut header = Vec::with_capacity(SIGNATURE_HEADER_BYTES);
        tlv::write_header(&mut header, types::SIGNATURE_VALUE, signature.len());
        let value_start = put(&mut bytes, signed_end, &header);
        let end = put(&mut bytes, value_start, &signature);
        // The header is written last: it tells the length of all.
        let start = Arc::get_mut(&mut bytes)
            .and_then(|bytes| tlv::write_packet_header(bytes, types::DATA, end))
            .ok_or(EncodeError::TooLarge { size: end, limit: tlv::MAX_PACKET_BYTES })?;
        let whole = Buffer::from(bytes.clone());
        memory.keep(bytes);
        let size = end - start;
        let too_large = EncodeError::TooLarge { size, limit: tlv::MAX_PACKET_BYTES };
        let packet = whole.slice(start..end).filter(|_| size <= tlv::MAX_PACKET_BYTES).ok_or(too_large)?;
        Ok(Data::decode_ndn(packet).map_err(EncodeError::from)?)
    }

    /// What stands before the content, the packet's own header excepted.
    fn head(&self, range: SegmentRange) -> Vec<u8> {
        // A segment is smaller than a packet.
        let content_bytes = usize::try_from(range.len_bytes).unwrap_or(0);
        let mut number = Vec::with_capacity(16);
        self.config.convention.append_segment(&mut number, range.segment);
        let prefix = self.name.canonical();
        let mut head = Vec::with_capacity(prefix.len() + number.len() + self.common.meta_info.len() + 8);
        tlv::write_header(&mut head, types::NAME, prefix.len() + number.len());
        head.extend_from_slice(prefix);
        head.extend_from_slice(&number);
        head.extend_from_slice(&self.common.meta_info);
        tlv::write_header(&mut head, types::CONTENT, content_bytes);
        head
    }

    /// Signs segments.
    pub(super) fn segment_signer(&self) -> &Signer {
        match self.config.authenticity {
            Authenticity::EachPacket => &self.config.signer,
            Authenticity::Manifest => &self.digest,
        }
    }
}

/// Writes `bytes` into memory that nobody else refers to and that has room for them; says where they end.
fn put(memory: &mut Arc<[u8]>, at: usize, bytes: &[u8]) -> usize {
    let end = at + bytes.len();
    if let Some(place) = Arc::get_mut(memory).and_then(|memory| memory.get_mut(at..end)) {
        place.copy_from_slice(bytes);
    }
    end
}
