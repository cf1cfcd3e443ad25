//! What a fetch works with, what it can end with, and how far it is.

use packet::time::Duration;
use packet::{AnyName, Dialect, NackReason, Name};
use thiserror::Error;

use crate::naming::{MetadataError, NamingConvention};
use crate::transfer::TransferConfig;
use crate::verify::VerificationError;

/// How the version is found if the name has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// By metadata (Realtime Data Retrieval).
    #[default]
    Metadata,
    /// By asking for the name as a prefix and taking the version of what comes.
    Prefix,
    /// By metadata, and by prefix if nobody answers that.
    MetadataThenPrefix,
    /// Not at all: segments lie right under the name.
    Unversioned,
}

/// Who checks Data before it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// Nobody.
    #[default]
    None,
    /// The owner: it takes each packet from [`Fetcher::poll_unverified`](super::Fetcher::poll_unverified) and
    /// answers with [`Fetcher::accept`](super::Fetcher::accept) or
    /// [`Fetcher::refuse`](super::Fetcher::refuse), at once or later and in any order.
    Owner,
}

/// What a [`Fetcher`](super::Fetcher) works with.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchConfig {
    /// In which dialect. In CCNx the version is found by asking for later and later ones, which stands in
    /// place of metadata, and neither hop limits nor delegations are sent.
    pub dialect: Dialect,
    /// How fast to ask, and what counts as lost.
    pub transfer: TransferConfig,
    /// How the version is found if the name has none.
    pub discovery: Discovery,
    /// How long to wait for an answer to discovery, and how often to try.
    pub discovery_timeout: Duration,
    /// See `discovery_timeout`.
    pub discovery_attempts: u32,
    /// Who checks Data.
    pub verification: Verification,
    /// InterestLifetime.
    pub lifetime: Duration,
    /// Whether segments must be fresh. Discovery always asks for fresh packets.
    pub must_be_fresh: bool,
    /// HopLimit.
    pub hop_limit: Option<u8>,
    /// Delegations under which to look for the name.
    pub forwarding_hint: Vec<Name>,
    /// The first segment that is wanted: more than 0 to go on with a fetch that was broken off. The name
    /// must have its version then, or parts of two versions could be joined.
    pub first_segment: u64,
    /// The first segment behind those that are wanted, for a part of an object; [`None`]: all to the end. The
    /// fetch is complete there, wherever the object ends.
    pub end_segment: Option<u64>,
    /// Bytes of packets that may be kept because the reader has not taken them, or because one before them
    /// is missing.
    pub buffer_bytes: usize,
    /// How segments are written in names. [`None`]: as in what discovery finds, or typed.
    pub convention: Option<NamingConvention>,
}

impl Default for FetchConfig {
    fn default() -> Self {
        FetchConfig {
            dialect: Dialect::Ndn,
            transfer: TransferConfig::default(),
            discovery: Discovery::Metadata,
            discovery_timeout: Duration::from_secs(1),
            discovery_attempts: 4,
            verification: Verification::None,
            lifetime: Duration::from_secs(4),
            must_be_fresh: false,
            hop_limit: None,
            forwarding_hint: Vec::new(),
            first_segment: 0,
            end_segment: None,
            buffer_bytes: 16 << 20,
            convention: None,
        }
    }
}

/// Why a fetch ended before its object did. Names are shown as their dialect writes them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FetchError {
    /// Nobody answered discovery.
    #[error("no answer for {name} after {attempts} attempts: is it published, and is there a route to it?")]
    NotFound {
        /// What was asked for last.
        name: AnyName,
        /// How often.
        attempts: u32,
    },
    /// Discovery came back.
    #[error("{name} came back: {reason}")]
    DiscoveryNack {
        /// What was asked for.
        name: AnyName,
        /// Why it came back.
        reason: NackReason,
    },
    /// What discovery found makes no sense.
    #[error("metadata {name} is of no use: {problem}")]
    BadMetadata {
        /// The packet.
        name: AnyName,
        /// What is wrong.
        problem: MetadataError,
    },
    /// A segment will not come.
    #[error("segment {segment} of {name} did not come: {}", reason_text(*.reason))]
    Segment {
        /// The object.
        name: AnyName,
        /// Which segment.
        segment: u64,
        /// Why its last Interest came back, if it did.
        reason: Option<NackReason>,
    },
    /// The owner would have nothing of what came.
    #[error("none of the last {count} packets was accepted; {name}: {error}")]
    NoneAccepted {
        /// How many.
        count: u32,
        /// The last of them.
        name: AnyName,
        /// What is wrong with it.
        error: VerificationError,
    },
    /// The producer says by a packet that it has no such object.
    #[error("the producer refuses {name}")]
    Refused {
        /// The packet that says so.
        name: AnyName,
    },
    /// Packets came, and the owner would have none of them.
    #[error("{name} was not accepted: {error}")]
    NotAccepted {
        /// The packet.
        name: AnyName,
        /// What is wrong with it.
        error: VerificationError,
    },
    /// A name became too long with version and segment.
    #[error("{name} is too long for a segment number")]
    NameTooLong {
        /// The object.
        name: AnyName,
    },
    /// A fetch can go on only with the version it began with.
    #[error("to go on at segment {first_segment} the name must have its version, and {name} has none")]
    NoVersion {
        /// The object.
        name: AnyName,
        /// Where to go on.
        first_segment: u64,
    },
}

impl FetchError {
    /// What it is about: an object, or a packet.
    pub fn name(&self) -> &AnyName {
        match self {
            FetchError::NotFound { name, .. }
            | FetchError::DiscoveryNack { name, .. }
            | FetchError::BadMetadata { name, .. }
            | FetchError::Segment { name, .. }
            | FetchError::NoneAccepted { name, .. }
            | FetchError::Refused { name }
            | FetchError::NotAccepted { name, .. }
            | FetchError::NameTooLong { name }
            | FetchError::NoVersion { name, .. } => name,
        }
    }
}

fn reason_text(reason: Option<NackReason>) -> String {
    match reason {
        Some(reason) => format!("it came back: {reason}"),
        None => "no answer".into(),
    }
}

/// How far a fetch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Segments handed to the reader.
    pub segments: u64,
    /// Content bytes handed to the reader.
    pub content_bytes: u64,
    /// Segments of the whole object, those before the first wanted one included, as soon as it is known.
    pub total_segments: Option<u64>,
    /// Bytes of the whole object, if metadata said so.
    pub total_bytes: Option<u64>,
    /// Bytes of packets that are kept for the reader.
    pub buffered_bytes: usize,
    /// Packets that did not fit into the buffer and were asked for again.
    pub dropped_full: u64,
    /// Packets that are not about this object, or not what they should be.
    pub strange: u64,
}
