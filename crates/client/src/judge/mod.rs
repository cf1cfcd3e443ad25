//! Who checks what a fetch brings: nobody but arithmetic, a chain of certificates, or a manifest.

mod anchored;
mod integrity;
mod manifest;
mod requests;

use flow::{Subject, Unverified};
use packet::time::Instant;
use packet::{Data, Interest, NackReason, NameRef};
use trust::UnixTime;

pub use anchored::AnchoredJudge;
pub use integrity::IntegrityJudge;
pub use manifest::ManifestJudge;

/// Both clocks: one for deadlines, one for the validity of certificates.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// For deadlines.
    pub instant: Instant,
    /// For validity periods.
    pub unix: UnixTime,
}

/// A verdict about one packet of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which packet.
    pub subject: Subject,
    /// Why it is refused, in words, if it is.
    pub refused: Option<String>,
}

/// Checks the packets of a fetch, asking for others where it needs them.
///
/// Owns no socket: [`fetch`](crate::fetch()) gives it packets and takes verdicts and Interests from it.
pub trait Judge {
    /// A packet to be judged, at once or later.
    fn handle_packet(&mut self, now: Now, packet: Unverified);

    /// A Data came that the fetch did not ask for; says whether this judge did.
    fn handle_data(&mut self, now: Now, data: &Data) -> bool;

    /// An Interest came back that the fetch did not express.
    fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason);

    /// Time has passed.
    fn handle_timeout(&mut self, now: Now);

    /// The reader has got everything before this segment.
    fn handle_delivered(&mut self, _segment: u64) {}

    /// The next verdict.
    fn poll_verdict(&mut self) -> Option<Verdict>;

    /// Why it will accept nothing any more, whatever comes.
    fn hopeless(&self) -> Option<&str> {
        None
    }

    /// The next Interest to send.
    fn poll_interest(&mut self, now: Now) -> Option<Interest>;

    /// The implicit digest that a segment must have, if that is known: then it can be asked for by that.
    fn digest_of(&self, _segment: u64) -> Option<[u8; 32]> {
        None
    }

    /// When to call [`Judge::handle_timeout`] next; [`Instant::NEVER`] if nothing waits.
    fn next_deadline(&self) -> Instant;

    /// What was checked and what was not, for people.
    fn summary(&self) -> Summary;
}

/// What a judge found out, in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Whether the rules vouch for every byte.
    pub trusted: bool,
    /// Who signed, as far as it was said or checked.
    pub signers: Vec<String>,
    /// A sentence for people.
    pub text: String,
}

/// Whether an Interest that came back for this reason may get through a moment later. It is asked again when its time is up.
fn may_pass(reason: NackReason) -> bool {
    matches!(reason, NackReason::Congestion | NackReason::Duplicate)
}

/// Adds `signer` to those seen, if it is new; at most eight are kept.
fn note_signer(signers: &mut Vec<String>, signer: String) {
    if signers.len() < 8 && !signers.contains(&signer) {
        signers.push(signer);
    }
}
