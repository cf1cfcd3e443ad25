//! Publishing an object: cuts it into segments, names and signs them, and says what answers an Interest.
//!
//! A [`Publication`] knows an object's name, version and size, and holds none of its bytes: its owner reads
//! those of a segment when somebody asks for it. So an object of any size can be served from a file in
//! constant memory.

mod assemble;
mod authenticity;
mod ccnx;
mod manifest;
mod size;

use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{ContentType, Data, DecodeError, EncodeError, Interest, Name, NameRef};
use thiserror::Error;
use trust::manifest::ManifestError;
use trust::{SignError, Signer};

use crate::naming::{DIALECT, METADATA, Metadata, NamingConvention, version_number};

use assemble::Common;
use manifest::Listing;

pub use assemble::{OpenSegment, SegmentMemory};
pub use authenticity::Authenticity;
pub use ccnx::{CcnxPublication, SegmentTree, TREE_SEGMENTS};
pub use size::{SegmentSize, SegmentSizeError, USUAL_CONTENT_BYTES};

/// What is published, and how.
#[derive(Clone, Debug)]
pub struct PublicationConfig {
    /// The name. If it ends in a version that one is used, otherwise `version` is appended.
    pub name: Name,
    /// The version; by convention milliseconds since the Unix epoch.
    pub version: u64,
    /// Bytes in all.
    pub size_bytes: u64,
    /// Bytes in a segment.
    pub segment_size: SegmentSize,
    /// How long segments count as fresh after arrival; zero leaves the field out.
    pub freshness: Duration,
    /// How long metadata counts as fresh. Short: it is how consumers find the latest version.
    pub metadata_freshness: Duration,
    /// How versions and segments are written.
    pub convention: NamingConvention,
    /// ContentType of segments.
    pub content_type: ContentType,
    /// Signs every packet, or the manifest.
    pub signer: Signer,
    /// Whether it is the one or the other.
    pub authenticity: Authenticity,
}

impl PublicationConfig {
    /// What the chunk tools of NDN do unless they are told otherwise: 8000 bytes a segment, fresh for 10 s,
    /// typed names.
    pub fn new(name: Name, version: u64, size_bytes: u64, signer: Signer) -> Self {
        PublicationConfig {
            name,
            version,
            size_bytes,
            segment_size: SegmentSize::default(),
            freshness: Duration::from_secs(10),
            metadata_freshness: Duration::from_millis(10),
            convention: NamingConvention::Typed,
            content_type: ContentType::BLOB,
            signer,
            authenticity: Authenticity::EachPacket,
        }
    }
}

/// Why something cannot be published.
#[derive(Debug, Error)]
pub enum PublishError {
    /// Name, signature and the rest leave no room for content.
    #[error(
        "a packet of {packet_bytes} bytes has no room for content: {overhead_bytes} bytes go to name, \
         signature and headers; use a shorter name or a larger packet"
    )]
    NoRoom {
        /// Bytes that a packet may have.
        packet_bytes: usize,
        /// Bytes of it that are not content.
        overhead_bytes: usize,
    },
    /// The content given is not what the segment holds.
    #[error("segment {segment} has {expected_bytes} bytes, and {given_bytes} were given")]
    WrongLength {
        /// Which segment.
        segment: u64,
        /// Its length.
        expected_bytes: u64,
        /// What was given.
        given_bytes: usize,
    },
    /// The content given is not what it was when its segment was signed together with others.
    #[error("segment {segment} has changed since it was signed")]
    ContentChanged {
        /// Which segment.
        segment: u64,
    },
    /// There is no such segment.
    #[error("there is no segment {segment}: the last is {last}")]
    NoSegment {
        /// What was asked for.
        segment: u64,
        /// The last there is.
        last: u64,
    },
    /// The name cannot be extended.
    #[error(transparent)]
    Name(#[from] DecodeError),
    /// A packet cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A packet cannot be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The manifest cannot be made.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Versions and segments are named in the older way.
    #[error("a manifest needs typed names of versions and segments")]
    ManifestNames,
}

/// Where the bytes of a segment are in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRange {
    /// Which segment.
    pub segment: u64,
    /// Its first byte in the object.
    pub offset_bytes: u64,
    /// Its length.
    pub len_bytes: u64,
}

/// What answers an Interest.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The segment with these bytes: read them and call [`Publication::segment`].
    Segment(SegmentRange),
    /// This packet.
    Data(Data),
    /// Nothing, and nothing ever will: tell the consumer by a Nack without a reason, as the chunk tools do.
    Refuse,
    /// The Interest is not about this object.
    NotMine,
}

/// One version of an object, ready to be asked for.
///
/// ```
/// use cairn_flow::{Answer, Publication, PublicationConfig};
/// use packet::ndn::InterestBuilder;
/// use trust::Signer;
///
/// let bytes = vec![7u8; 20_000];
/// let config = PublicationConfig::new("/lab/file".parse()?, 1, bytes.len() as u64, Signer::digest());
/// let publication = Publication::new(config)?;
/// assert_eq!(publication.last_segment(), 2);
///
/// let interest = InterestBuilder::new("/lab/file/v=1/seg=2".parse()?).build()?;
/// let Answer::Segment(range) = publication.answer(&interest)? else { unreachable!() };
/// let start = range.offset_bytes as usize;
/// let data = publication.segment(range.segment, &bytes[start..start + range.len_bytes as usize])?;
/// assert_eq!(data.content().len(), 4000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Publication {
    config: PublicationConfig,
    /// With version.
    name: Name,
    /// Without version.
    prefix: Name,
    segment_bytes: u64,
    last_segment: u64,
    /// What all segments have in common.
    common: Common,
    /// Signs segments that a manifest lists.
    digest: Signer,
    metadata_prefix: Name,
    metadata_name: Name,
    listing: Option<Listing>,
}

impl Publication {
    /// Prepares an object for publication. An empty object has one empty segment.
    ///
    /// # Errors
    /// A name that is too long; packets without room for content.
    pub fn new(config: PublicationConfig) -> Result<Self, PublishError> {
        let count = config.name.as_ref().component_count();
        let versioned = config.name.as_ref().last().and_then(version_number).is_some();
        let (prefix, name) = match versioned {
            true => (config.name.prefix(count - 1), config.name.clone()),
            false => (config.name.clone(), config.convention.with_version(&config.name, config.version)?),
        };
        let segment_bytes = size::content_bytes(&config, &name)?;
        let last_segment = config.size_bytes.div_ceil(segment_bytes).saturating_sub(1);
        let final_block = config.convention.with_segment(&Name::root(), last_segment)?;
        let metadata_prefix = prefix.with(METADATA)?;
        let version = name.as_ref().last().and_then(version_number).unwrap_or(config.version);
        let metadata_name = config.convention.with_version(&metadata_prefix, version)?;
        let metadata_name = config.convention.with_segment(&metadata_name, 0)?;
        let listing = Listing::start(&config, &name)?;
        let digest = Signer::digest();
        let signer = match config.authenticity {
            Authenticity::EachPacket => &config.signer,
            Authenticity::Manifest => &digest,
        };
        let sample = builder(&config, name.clone(), final_block.as_ref());
        Ok(Publication {
            common: Common::of(&sample, signer)?,
            digest,
            listing,
            config,
            name,
            prefix,
            segment_bytes,
            last_segment,
            metadata_prefix,
            metadata_name,
        })
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

    /// Content bytes in each segment but the last.
    pub fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    /// Where the bytes of a segment are.
    pub fn range(&self, segment: u64) -> Option<SegmentRange> {
        if segment > self.last_segment {
            return None;
        }
        let offset_bytes = segment * self.segment_bytes;
        let len_bytes = self.config.size_bytes.saturating_sub(offset_bytes).min(self.segment_bytes);
        Some(SegmentRange { segment, offset_bytes, len_bytes })
    }

    /// What answers `interest`.
    ///
    /// A segment by its exact name; segment 0 for a prefix, if the Interest says that it is one; metadata for
    /// discovery; packets of the manifest, if there is one. Whatever
    /// else lies under this version, or asks for metadata without saying that the name is a prefix, is
    /// refused.
    ///
    /// # Errors
    /// Metadata cannot be signed.
    pub fn answer(&self, interest: &Interest) -> Result<Answer, PublishError> {
        if interest.dialect() != DIALECT {
            return Ok(Answer::NotMine);
        }
        let asked = interest.name();
        if let Some(answer) = self.listing.as_ref().and_then(|listing| listing.answer(interest)) {
            return Ok(answer);
        }
        // A digest at the end names one packet; whether ours is that one only its bytes can tell.
        let name = match interest.implicit_digest() {
            Some(_) if asked.last().is_some_and(|last| last.kind.is_digest()) => {
                asked.prefix(asked.component_count() - 1)
            }
            _ => asked,
        };
        let whole = name == asked;
        if self.metadata_prefix.as_ref().is_prefix_of(name) {
            return self.answer_discovery(interest, name);
        }
        if self.name.as_ref().is_prefix_of(name) && name != self.name.as_ref() {
            return Ok(match self.segment_of(name).and_then(|segment| self.range(segment)) {
                Some(range) => Answer::Segment(range),
                None => Answer::Refuse,
            });
        }
        if !name.is_prefix_of(self.name.as_ref()) || !whole {
            return Ok(Answer::NotMine);
        }
        Ok(match self.range(0) {
            Some(range) if interest.can_be_prefix() => Answer::Segment(range),
            _ => Answer::Refuse,
        })
    }

    /// The packet of a segment.
    ///
    /// # Errors
    /// No such segment; content that has not the segment's length; the signer fails.
    pub fn segment(&self, segment: u64, content: &[u8]) -> Result<Data, PublishError> {
        let range =
            self.range(segment).ok_or(PublishError::NoSegment { segment, last: self.last_segment })?;
        if content.len() as u64 != range.len_bytes {
            let expected_bytes = range.len_bytes;
            return Err(PublishError::WrongLength { segment, expected_bytes, given_bytes: content.len() });
        }
        let mut memory = SegmentMemory::new();
        let mut open = self.open_segment(segment, &mut memory)?;
        open.content_mut().copy_from_slice(content);
        self.seal(open, &mut memory)
    }

    /// The packet that tells this version's name, and how large the object is.
    ///
    /// # Errors
    /// The signer fails.
    pub fn metadata(&self) -> Result<Data, PublishError> {
        let metadata = Metadata {
            name: self.name.clone(),
            last_segment: Some(self.last_segment),
            segment_bytes: Some(self.segment_bytes),
            size_bytes: Some(self.config.size_bytes),
        };
        let mut content = Vec::new();
        metadata.encode(&mut content);
        let segment = self.metadata_name.as_ref().last().unwrap_or(METADATA);
        let builder = DataBuilder::new(self.metadata_name.clone())
            .freshness(self.config.metadata_freshness)
            .final_block(segment)
            .content(content);
        Ok(self.config.signer.sign_data(&builder)?)
    }

    fn answer_discovery(&self, interest: &Interest, name: NameRef<'_>) -> Result<Answer, PublishError> {
        let exact = name == self.metadata_name.as_ref();
        let prefix = interest.can_be_prefix() && name.is_prefix_of(self.metadata_name.as_ref());
        if exact || prefix { Ok(Answer::Data(self.metadata()?)) } else { Ok(Answer::Refuse) }
    }

    /// The segment number at the end of `name`, which begins with this version's name.
    fn segment_of(&self, name: NameRef<'_>) -> Option<u64> {
        let rest = name.canonical().get(self.name.canonical().len()..)?;
        let rest = NameRef::decode(rest).ok().filter(|rest| rest.component_count() == 1)?;
        self.config.convention.own_segment_of(rest.last()?)
    }
}

fn builder(config: &PublicationConfig, name: Name, final_block: NameRef<'_>) -> DataBuilder {
    let mut builder = DataBuilder::new(name).content_type(config.content_type);
    if config.freshness > Duration::ZERO {
        builder = builder.freshness(config.freshness);
    }
    match final_block.last() {
        Some(component) => builder.final_block(component),
        None => builder,
    }
}

#[cfg(test)]
mod tests;
