//! Verification of what a fetch brings: by arithmetic alone, by a chain of certificates, or by a manifest.
//!
//! A [`Verifier`] is a state machine like the fetch: it is given packets, takes its time, asks for
//! certificates or manifests by Interests that its owner sends, and hands out verdicts. What it has computed
//! is a value, [`Cost`], so that a simulated node can be charged for it.

mod anchored;
mod error;
mod integrity;
mod manifest;
mod missing;
mod publisher;
mod requests;
mod unverified;

use packet::time::Instant;
use packet::{Data, Interest, NackReason, NameRef, Now};

pub use anchored::AnchoredVerifier;
pub use error::VerificationError;
pub use integrity::IntegrityVerifier;
pub use manifest::ManifestVerifier;
pub use publisher::PublisherVerifier;
pub use unverified::{Unverified, UnverifiedKind};

/// What verification has computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Signatures checked with a key, those of certificates included.
    pub signatures: u64,
    /// Bytes hashed, for signatures and for digests.
    pub hashed_bytes: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.signatures += other.signatures;
        self.hashed_bytes += other.hashed_bytes;
    }
}

/// A verdict about one packet of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationOutcome {
    /// Which packet.
    pub subject: UnverifiedKind,
    /// Why it is refused, if it is.
    pub refused: Option<VerificationError>,
}

/// Checks the packets of a fetch, asking for others where it needs them.
///
/// # Calling order
/// Tell it what comes (`handle_*`); after each of these take its verdicts ([`Verifier::poll_outcome`]), give
/// them to the fetch, send its Interests ([`Verifier::poll_interest`]), and call
/// [`Verifier::handle_timeout`] when [`Verifier::next_deadline`] has come. Every packet gets exactly one
/// verdict, unless [`Verifier::hopeless`] says that there is no point in waiting for it.
pub trait Verifier: Send {
    /// A packet to be verified, at once or later.
    fn handle_packet(&mut self, now: Now, packet: Unverified);

    /// A Data came that the fetch did not ask for; says whether this verifier did.
    fn handle_data(&mut self, now: Now, data: &Data) -> bool;

    /// An Interest came back that the fetch did not express.
    fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason);

    /// Time has passed.
    fn handle_timeout(&mut self, now: Now);

    /// The reader has got everything before this segment.
    fn handle_delivered(&mut self, _segment: u64) {}

    /// The next verdict.
    fn poll_outcome(&mut self) -> Option<VerificationOutcome>;

    /// Why it will accept nothing any more, whatever comes.
    fn hopeless(&self) -> Option<&VerificationError> {
        None
    }

    /// The next Interest to send.
    fn poll_interest(&mut self, now: Now) -> Option<Interest>;

    /// The implicit digest that a segment must have, if that is known: then it can be asked for by that.
    fn digest_of(&self, _segment: u64) -> Option<[u8; 32]> {
        None
    }

    /// When to call [`Verifier::handle_timeout`] next; [`Instant::NEVER`] if nothing waits.
    fn next_deadline(&self) -> Instant;

    /// What has been computed since this was last asked for.
    fn take_cost(&mut self) -> Cost;

    /// What was checked and what was not, for people.
    fn summary(&self) -> Summary;
}

/// What a verifier found out, in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Whether the rules vouch for every byte.
    pub trusted: bool,
    /// Who signed, as far as it was said or checked.
    pub signers: Vec<String>,
    /// A sentence for people.
    pub text: String,
}

/// Whether an Interest that came back for this reason may get through a moment later. It is asked again when
/// its time is up.
fn may_pass(reason: NackReason) -> bool {
    matches!(reason, NackReason::Congestion | NackReason::Duplicate)
}

/// Adds `signer` to those seen, if it is new; at most eight are kept.
fn note_signer(signers: &mut Vec<String>, signer: String) {
    if signers.len() < 8 && !signers.contains(&signer) {
        signers.push(signer);
    }
}
