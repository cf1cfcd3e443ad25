//! Publishing for CCNx: segments under a version, as its own tools write them.

use packet::ccnx::{SignedInfo, Ticks, markers};
use packet::{Component, Data, Dialect, Interest, Name};
use trust::ccnx::CcnxSigner;

use super::{Answer, PublishError, SegmentRange};

/// One version of an object in CCNx, ready to be asked for. Every segment is signed, and carries the key.
///
/// ```
/// use cairn_flow::{Answer, CcnxPublication};
/// use packet::ccnx::{Ticks, uri};
/// use trust::{KeyKind, PrivateKey, ccnx::CcnxSigner};
///
/// let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa)?)?;
/// let name = uri::parse("ccnx:/lab/file")?;
/// let publication = CcnxPublication::new(name, Ticks::from_unix(1_234_567_890, 0), 10_000, 4096, signer)?;
/// assert_eq!(publication.last_segment(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CcnxPublication {
    prefix: Name,
    name: Name,
    timestamp: Ticks,
    size_bytes: u64,
    segment_bytes: u64,
    last_segment: u64,
    last_component: Vec<u8>,
    freshness_seconds: Option<u32>,
    signer: CcnxSigner,
}

impl CcnxPublication {
    /// An object of `size_bytes` under `name`, in segments of `segment_bytes`; if the name has no version,
    /// `timestamp` is it.
    ///
    /// # Errors
    /// The name cannot be extended.
    pub fn new(
        name: Name,
        timestamp: Ticks,
        size_bytes: u64,
        segment_bytes: u64,
        signer: CcnxSigner,
    ) -> Result<Self, PublishError> {
        let segment_bytes = segment_bytes.max(1);
        let last_segment = size_bytes.div_ceil(segment_bytes).saturating_sub(1);
        let version = name.as_ref().last().and_then(|last| markers::parse_version(last.value));
        let (prefix, name) = match version {
            Some(_) => (name.prefix(name.as_ref().component_count().saturating_sub(1)), name),
            None => {
                let versioned = name.with(Component::generic(&markers::version(timestamp)))?;
                (name, versioned)
            }
        };
        let last_component = markers::segment(last_segment);
        Ok(CcnxPublication {
            prefix,
            name,
            timestamp,
            size_bytes,
            segment_bytes,
            last_segment,
            last_component,
            freshness_seconds: None,
            signer,
        })
    }

    /// The same with segments that count as fresh for so long after arrival; for ever otherwise.
    #[must_use]
    pub fn with_freshness_seconds(self, seconds: u32) -> Self {
        CcnxPublication { freshness_seconds: Some(seconds), ..self }
    }

    /// The object's name with its version.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The object's name without its version; what to register with a forwarder.
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// The number of the last segment.
    pub fn last_segment(&self) -> u64 {
        self.last_segment
    }

    /// Where the bytes of a segment are.
    pub fn range(&self, segment: u64) -> Option<SegmentRange> {
        let offset_bytes =
            segment.checked_mul(self.segment_bytes).filter(|_| segment <= self.last_segment)?;
        let len_bytes = self.size_bytes.saturating_sub(offset_bytes).min(self.segment_bytes);
        Some(SegmentRange { segment, offset_bytes, len_bytes })
    }

    /// What may answer `interest`: the segment that it names, with or without its digest, and segment 0 for a
    /// prefix of the object's name. Whether the packet matches is to be seen when it is there.
    pub fn answer(&self, interest: &Interest) -> Answer {
        let (asked, own) = (interest.name(), self.name.as_ref());
        if interest.dialect() != Dialect::Ccnx {
            return Answer::NotMine;
        }
        let range = match own.is_prefix_of(asked) {
            true => match asked.components().nth(own.component_count()) {
                None => self.range(0),
                Some(below) => markers::parse_segment(below.value).and_then(|segment| self.range(segment)),
            },
            false if asked.is_prefix_of(own) => self.range(0),
            false => return Answer::NotMine,
        };
        range.map_or(Answer::Refuse, Answer::Segment)
    }

    /// The packet of a segment.
    ///
    /// # Errors
    /// There is no such segment, or its content has another length; it cannot be signed.
    pub fn segment(&self, segment: u64, content: &[u8]) -> Result<Data, PublishError> {
        let last = self.last_segment;
        let range = self.range(segment).ok_or(PublishError::NoSegment { segment, last })?;
        if range.len_bytes != content.len() as u64 {
            let (expected_bytes, given_bytes) = (range.len_bytes, content.len());
            return Err(PublishError::WrongLength { segment, expected_bytes, given_bytes });
        }
        let name = self.name.with(Component::generic(&markers::segment(segment)))?;
        let final_block_id = (segment == last).then_some(&self.last_component[..]);
        let freshness_seconds = self.freshness_seconds;
        let complete = |info| SignedInfo { final_block_id, freshness_seconds, ..info };
        let wire = self.signer.sign(&name, content, self.timestamp, complete)?;
        Ok(Data::decode_ccnx(wire.into())?)
    }
}
