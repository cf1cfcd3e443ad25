//! Without a trust anchor: what arithmetic can tell.

use std::collections::VecDeque;

use packet::ndn::{KeyLocator, SignatureType};
use packet::time::Instant;
use packet::{Data, Interest, NackReason, NameRef, Now};

use super::unverified::Unverified;

use super::{Cost, Summary, VerificationError, VerificationOutcome, Verifier, note_signer};

/// Checks digest signatures, and notes who claims to have signed otherwise.
#[derive(Debug, Default)]
pub struct IntegrityVerifier {
    verdicts: VecDeque<VerificationOutcome>,
    signers: Vec<String>,
    digests: u64,
    unchecked: u64,
    unsigned: u64,
    cost: Cost,
}

impl IntegrityVerifier {
    /// Nothing seen yet.
    pub fn new() -> Self {
        IntegrityVerifier::default()
    }

    /// Why a packet is refused.
    fn check(&mut self, data: &Data) -> Option<VerificationError> {
        let Some(info) = data.ndn().and_then(|view| view.signature_info()) else {
            return Some(VerificationError::NoSignature);
        };
        match info.signature_type {
            SignatureType::DIGEST_SHA256 => {
                self.digests += 1;
                self.cost.hashed_bytes += data.wire().len() as u64;
                trust::SignatureVerifier::digest().verify_data(data).err().map(VerificationError::from)
            }
            SignatureType::NULL => {
                self.unsigned += 1;
                None
            }
            _ => {
                self.unchecked += 1;
                if let Some(KeyLocator::Name(name)) = info.key_locator {
                    note_signer(&mut self.signers, name.to_string());
                }
                None
            }
        }
    }
}

impl Verifier for IntegrityVerifier {
    fn handle_packet(&mut self, _now: Now, packet: Unverified) {
        let refused = self.check(&packet.data);
        self.verdicts.push_back(VerificationOutcome { subject: packet.subject, refused });
    }

    fn handle_data(&mut self, _now: Now, _data: &Data) -> bool {
        false
    }

    fn handle_nack(&mut self, _now: Now, _name: NameRef<'_>, _reason: NackReason) {}

    fn handle_timeout(&mut self, _now: Now) {}

    fn poll_outcome(&mut self) -> Option<VerificationOutcome> {
        self.verdicts.pop_front()
    }

    fn poll_interest(&mut self, _now: Now) -> Option<Interest> {
        None
    }

    fn next_deadline(&self) -> Instant {
        Instant::NEVER
    }

    fn take_cost(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }

    fn summary(&self) -> Summary {
        let text = if self.unchecked > 0 {
            let signers = self.signers.join(", ");
            format!(
                "nobody's word was checked: it says it is signed by {signers}, and no trust anchor was given to check that"
            )
        } else if self.unsigned > 0 {
            "it is not signed at all: nobody knows who wrote it, nor whether it arrived as it was written"
                .into()
        } else {
            "its digests are right, so it is whole; who wrote it is not known, for nobody signed it".into()
        };
        Summary { trusted: false, signers: self.signers.clone(), text }
    }
}
