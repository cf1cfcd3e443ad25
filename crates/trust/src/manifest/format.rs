//! The content of a manifest packet.

use packet::ndn::tlv::{self, Reader};
use packet::{DecodeError, Rule};

/// TLV-TYPEs, from the range that applications may use. Even, so that readers of an older version skip what
/// is new.
const FIRST_SEGMENT: u32 = 62_754;
const SEGMENT_DIGESTS: u32 = 62_756;
const NEXT_MANIFEST: u32 = 62_758;

pub(super) type Digest = [u8; 32];

/// One manifest packet's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// The number of the first segment in the list.
    pub(super) first_segment: u64,
    /// Implicit digests of segments one after the other.
    pub(super) digests: Vec<Digest>,
    /// Implicit digest of the next manifest packet.
    pub(super) next: Option<Digest>,
}

impl Content {
    pub(super) fn encode(first_segment: u64, digests: &[Digest], next: Option<Digest>) -> Vec<u8> {
        let mut out = Vec::with_capacity(digests.len() * 32 + 64);
        tlv::write_nni_element(&mut out, FIRST_SEGMENT, first_segment);
        tlv::write_header(&mut out, SEGMENT_DIGESTS, digests.len() * 32);
        for digest in digests {
            out.extend_from_slice(digest);
        }
        if let Some(next) = next {
            tlv::write_element(&mut out, NEXT_MANIFEST, &next);
        }
        out
    }

    pub(super) fn decode(content: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(content, "Manifest");
        let first = reader.required(FIRST_SEGMENT, "FirstSegment")?;
        let first_segment = tlv::read_nni(first, "FirstSegment")?;
        let list = reader.required(SEGMENT_DIGESTS, "SegmentDigests")?;
        let (digests, rest) = list.value.as_chunks::<32>();
        if !rest.is_empty() {
            return Err(DecodeError::new("SegmentDigests", list.start, Rule::BadLength(list.value.len())));
        }
        let mut next = None;
        while let Some(element) = reader.element()? {
            match element.kind {
                NEXT_MANIFEST if next.is_none() => {
                    let length = Rule::BadLength(element.value.len());
                    let digest = element.value.try_into();
                    next = Some(digest.map_err(|_| DecodeError::new("NextManifest", element.start, length))?);
                }
                _ => tlv::skip_unexpected(element, element.kind == NEXT_MANIFEST, "Manifest")?,
            }
        }
        Ok(Content { first_segment, digests: digests.to_vec(), next })
    }
}
