//! With trust anchors: every packet must lead up to one, under the rules.

use std::collections::{BTreeMap, VecDeque};

use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name, NameRef, Now};
use trust::Validator;
use trust::validator::{CertificateFetchError, ValidationId};

use super::unverified::{Unverified, UnverifiedKind};

use super::{Cost, Summary, VerificationOutcome, Verifier, may_pass, note_signer};

/// How much longer than its lifetime an Interest for a certificate is waited for.
const GRACE: Duration = Duration::from_millis(100);

/// Validates every packet.
#[derive(Debug)]
pub struct AnchoredVerifier {
    validator: Validator,
    /// Packets that wait until the validator has room: as many as the fetch keeps at most.
    held: VecDeque<Unverified>,
    subjects: BTreeMap<ValidationId, UnverifiedKind>,
    asked: BTreeMap<Name, Instant>,
    verdicts: VecDeque<VerificationOutcome>,
    signers: Vec<String>,
    refused: u64,
    /// What the validator had computed when that was last asked for.
    charged: Cost,
}

impl AnchoredVerifier {
    /// Validates with `validator`.
    pub fn new(validator: Validator) -> Self {
        AnchoredVerifier {
            validator,
            held: VecDeque::new(),
            subjects: BTreeMap::new(),
            asked: BTreeMap::new(),
            verdicts: VecDeque::new(),
            signers: Vec::new(),
            refused: 0,
            charged: Cost::default(),
        }
    }

    /// What validates.
    pub fn validator(&self) -> &Validator {
        &self.validator
    }

    /// Has the validator look at what waits, as far as it has room, and takes what it has decided.
    fn go_on(&mut self, now: Now) {
        self.collect();
        while self.validator.has_room()
            && let Some(packet) = self.held.pop_front()
        {
            let id = self.validator.validate(now.unix, trust::validator::Subject::Data(packet.data));
            self.subjects.insert(id, packet.subject);
            self.collect();
        }
    }

    fn collect(&mut self) {
        while let Some(outcome) = self.validator.poll_outcome() {
            let Some(subject) = self.subjects.remove(&outcome.id) else { continue };
            let refused = match outcome.verdict {
                Ok(signer) => {
                    note_signer(&mut self.signers, signer.name().to_string());
                    None
                }
                Err(error) => {
                    self.refused += 1;
                    Some(error.into())
                }
            };
            self.verdicts.push_back(VerificationOutcome { subject, refused });
        }
    }
}

impl Verifier for AnchoredVerifier {
    fn handle_packet(&mut self, now: Now, packet: Unverified) {
        // Everything that comes while a certificate is fetched waits for it, and none of it is worth less
        // than the rest.
        self.held.push_back(packet);
        self.go_on(now);
    }

    fn handle_data(&mut self, now: Now, data: &Data) -> bool {
        let ours = self.validator.handle_data(now.unix, data);
        if ours {
            self.asked.retain(|name, _| !name.as_ref().is_prefix_of(data.name()));
            self.go_on(now);
        }
        ours
    }

    fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason) {
        if !may_pass(reason) && self.asked.remove(&name.to_name()).is_some() {
            self.validator.handle_failure(name, CertificateFetchError::Nack(reason));
            self.go_on(now);
        }
    }

    fn handle_timeout(&mut self, now: Now) {
        while let Some(entry) = self.asked.iter().find(|(_, deadline)| **deadline <= now.instant) {
            let name = entry.0.clone();
            self.asked.remove(&name);
            self.validator.handle_failure(name.as_ref(), CertificateFetchError::Timeout);
        }
        self.go_on(now);
    }

    fn poll_outcome(&mut self) -> Option<VerificationOutcome> {
        self.verdicts.pop_front()
    }

    fn poll_interest(&mut self, now: Now) -> Option<Interest> {
        let interest = self.validator.poll_interest()?;
        self.asked.insert(interest.name().to_name(), now.instant + interest.lifetime() + GRACE);
        Some(interest)
    }

    fn next_deadline(&self) -> Instant {
        self.asked.values().copied().min().unwrap_or(Instant::NEVER)
    }

    fn take_cost(&mut self) -> Cost {
        let counters = self.validator.counters();
        let all = Cost { signatures: counters.signatures_checked, hashed_bytes: counters.hashed_bytes };
        let before = std::mem::replace(&mut self.charged, all);
        Cost {
            signatures: all.signatures - before.signatures,
            hashed_bytes: all.hashed_bytes - before.hashed_bytes,
        }
    }

    fn summary(&self) -> Summary {
        let signers = self.signers.join(", ");
        let text = match self.refused {
            0 => format!("every packet is signed by {signers}, which a trust anchor vouches for"),
            count => {
                format!("{count} packets were refused and asked for again; the rest is signed by {signers}")
            }
        };
        Summary { trusted: !self.signers.is_empty(), signers: self.signers.clone(), text }
    }
}
