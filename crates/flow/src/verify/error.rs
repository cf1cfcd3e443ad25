//! Why a packet is refused.

use packet::{NackReason, Name, hex};
use thiserror::Error;
use trust::VerifyError;
use trust::manifest::{ManifestError, SegmentVerdict};

/// Why a verifier refuses a packet.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VerificationError {
    /// It carries no signature at all, not even a digest.
    #[error("it carries no signature")]
    NoSignature,
    /// Its digest, or its signature, does not hold.
    #[error(transparent)]
    Signature(#[from] VerifyError),
    /// It does not lead up to a trust anchor under the rules.
    #[error(transparent)]
    NotTrusted(#[from] trust::validator::ValidationError),
    /// It is not the segment that the manifest lists.
    #[error("it is not the segment that the manifest lists")]
    Forged,
    /// The manifest ends before it.
    #[error("the manifest does not list it")]
    NotInObject,
    /// More segments wait for the part of the manifest that speaks of them than are kept.
    #[error("the manifest does not speak of it yet")]
    NotListedYet,
    /// The first packet of the object's manifest is refused.
    #[error("its manifest is refused: {0}")]
    Manifest(Box<VerificationError>),
    /// The manifest is not one, or not this object's.
    #[error(transparent)]
    BadManifest(#[from] ManifestError),
    /// The manifest came back.
    #[error("it has no manifest: {name} came back ({reason})")]
    ManifestNack {
        /// The packet of the manifest that was asked for.
        name: Name,
        /// Why it came back.
        reason: NackReason,
    },
    /// Nobody answers for the manifest.
    #[error("it has no manifest, or nobody answers for {0}")]
    ManifestTimeout(Name),
    /// Anchors are named, and the publisher of CCNx that signed it is none of them.
    #[error("{} is no trust anchor", hex::encode(.0))]
    NotAnAnchor([u8; 32]),
    /// Packets of one object are signed by two publishers of CCNx.
    #[error("{} signed it, and {} what came before", hex::encode(.publisher), hex::encode(.before))]
    OtherPublisher {
        /// Who signed it.
        publisher: [u8; 32],
        /// Who signed what came before.
        before: [u8; 32],
    },
    /// The keys of as many publishers as may be are being fetched.
    #[error("keys of too many publishers are being fetched")]
    TooManyPublishers,
    /// Nobody answers for the key of the publisher of CCNx that signed it.
    #[error("nobody answers for the key of its publisher, {}", hex::encode(.0))]
    NoKey([u8; 32]),
    /// A rule of the application's own, in its words.
    #[error("{0}")]
    Other(String),
}

impl VerificationError {
    /// Why a segment is refused of which a manifest says this, if it is.
    pub(super) fn of_listed(verdict: SegmentVerdict) -> Option<Self> {
        match verdict {
            SegmentVerdict::Verified => None,
            SegmentVerdict::Forged => Some(VerificationError::Forged),
            SegmentVerdict::NotInObject => Some(VerificationError::NotInObject),
            SegmentVerdict::Unknown => Some(VerificationError::NotListedYet),
        }
    }
}

impl From<&str> for VerificationError {
    fn from(words: &str) -> Self {
        VerificationError::Other(words.to_owned())
    }
}
