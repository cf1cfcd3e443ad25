//! Publishing for CCNx: segments under a version, as its own tools write them.

use std::ops::RangeInclusive;

use packet::ccnx::{SignedInfo, Ticks, markers};
use packet::{Component, Data, Dialect, Interest, Name};
use trust::ccnx::{CcnxSigner, SignedTree};
use trust::sha256;

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
    in_trees: bool,
    signer: CcnxSigner,
}

/// Segments that have one signature together, if they are signed in Merkle trees.
pub const TREE_SEGMENTS: u64 = 128;

/// Some segments that follow each other and have one signature together.
#[derive(Clone, Debug)]
pub struct SegmentTree {
    first: u64,
    tree: SignedTree,
}

impl SegmentTree {
    /// Whether this segment is among them.
    pub fn holds(&self, segment: u64) -> bool {
        segment.checked_sub(self.first).is_some_and(|leaf| leaf < self.tree.leaf_count() as u64)
    }

    /// Bytes of memory that it takes.
    pub fn footprint_bytes(&self) -> usize {
        self.tree.footprint_bytes()
    }
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
            in_trees: false,
            signer,
        })
    }

    /// The same with segments that count as fresh for so long after arrival; for ever otherwise.
    #[must_use]
    pub fn with_freshness_seconds(self, seconds: u32) -> Self {
        CcnxPublication { freshness_seconds: Some(seconds), ..self }
    }

    /// The same with one signature for up to [`TREE_SEGMENTS`] segments, to whose root each carries its way.
    #[must_use]
    pub fn with_trees(self) -> Self {
        CcnxPublication { in_trees: true, ..self }
    }

    /// The segments that have one signature with this one; `None` if it has its own.
    pub fn tree_of(&self, segment: u64) -> Option<RangeInclusive<u64>> {
        let first = segment - segment % TREE_SEGMENTS;
        let last = self.last_segment.min(first.saturating_add(TREE_SEGMENTS - 1));
        (self.in_trees && segment <= self.last_segment && last > first).then_some(first..=last)
    }

    /// What stands for a segment in its tree.
    ///
    /// # Errors
    /// There is no such segment, or its content has another length.
    pub fn leaf(&self, segment: u64, content: &[u8]) -> Result<[u8; 32], PublishError> {
        Ok(sha256(&self.signed_bytes(segment, content)?))
    }

    /// Signs the segments from `first` on, whose leaves these are.
    ///
    /// # Errors
    /// They cannot be signed.
    pub fn sign_tree(&self, first: u64, leaves: &[[u8; 32]]) -> Result<SegmentTree, PublishError> {
        Ok(SegmentTree { first, tree: self.signer.sign_tree(leaves)? })
    }

    /// The packet of a segment that is in this tree.
    ///
    /// # Errors
    /// There is no such segment, or its content is another than when the tree was made.
    pub fn segment_in(&self, tree: &SegmentTree, segment: u64, content: &[u8]) -> Result<Data, PublishError> {
        let signed_bytes = self.signed_bytes(segment, content)?;
        let leaf = segment.checked_sub(tree.first).and_then(|leaf| usize::try_from(leaf).ok());
        let wire = leaf.map(|leaf| tree.tree.object(leaf, &signed_bytes)).transpose()?.flatten();
        let wire = wire.ok_or(PublishError::ContentChanged { segment })?;
        Ok(Data::decode_ccnx(wire.into())?)
    }

    /// The object's name with its version.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Where what describes the object as a whole is, as the file streams of CCNx write it: the
    /// [`FileHeader`](packet::ccnx::management::FileHeader), an object with a version of its own.
    ///
    /// # Errors
    /// The name cannot be extended.
    pub fn header_name(&self) -> Result<Name, PublishError> {
        let metadata = self.name.with(Component::generic(markers::METADATA))?;
        Ok(metadata.with(Component::generic(markers::HEADER))?)
    }

    /// Bytes in a segment; the last one may have fewer.
    pub fn segment_bytes(&self) -> u64 {
        self.segment_bytes
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
        let name = self.checked_name(segment, content)?;
        Ok(self.signer.sign_data(&name, content, self.timestamp, |info| self.complete(segment, info))?)
    }

    fn signed_bytes(&self, segment: u64, content: &[u8]) -> Result<Vec<u8>, PublishError> {
        let name = self.checked_name(segment, content)?;
        let complete = |info| self.complete(segment, info);
        Ok(self.signer.signed_bytes(&name, content, self.timestamp, complete)?)
    }

    /// The name of a segment, if this may be its content.
    fn checked_name(&self, segment: u64, content: &[u8]) -> Result<Name, PublishError> {
        let last = self.last_segment;
        let range = self.range(segment).ok_or(PublishError::NoSegment { segment, last })?;
        if range.len_bytes != content.len() as u64 {
            let (expected_bytes, given_bytes) = (range.len_bytes, content.len());
            return Err(PublishError::WrongLength { segment, expected_bytes, given_bytes });
        }
        Ok(self.name.with(Component::generic(&markers::segment(segment)))?)
    }

    /// What every segment says of itself.
    fn complete<'a>(&'a self, segment: u64, info: SignedInfo<'a>) -> SignedInfo<'a> {
        let final_block_id = (segment == self.last_segment).then_some(&self.last_component[..]);
        SignedInfo { final_block_id, freshness_seconds: self.freshness_seconds, ..info }
    }
}
