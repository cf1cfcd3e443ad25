//! With trust anchors: every packet must lead up to one, under the rules.

use std::collections::{BTreeMap, VecDeque};

use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name, NameRef, Now};
use trust::validator::{CertificateFetchError, ValidationId};
use trust::{Validator, ValidatorLimits};

use super::missing::Missing;
use super::unverified::{Unverified, UnverifiedKind};

use super::{Cost, Summary, VerificationOutcome, Verifier, may_pass, note_signer};

/// A certificate that is asked for.
#[derive(Debug)]
struct PendingCertificate {
    attempts: u32,
    /// From one attempt to the next.
    interval: Duration,
    /// When the last attempt is given up; [`Instant::NEVER`] while the next one waits to be sent.
    deadline: Instant,
}

/// Validates every packet.
///
/// All attempts to get one certificate together take no longer than one Interest lives by the validator's
/// limits, and less while others are missing: that a certificate exists is nothing but the word of the packet
/// that names it. One that did not come is not waited for again for ten seconds, unless it comes late. Nor is
/// one waited for as long that is to vouch for a long chain, or follows chains that led nowhere: whoever
/// makes up keys can have each certify the next, and show each in the last moment.
#[derive(Debug)]
pub struct AnchoredVerifier {
    validator: Validator,
    /// Packets that wait until the validator has room: as many as the fetch keeps at most.
    held: VecDeque<Unverified>,
    subjects: BTreeMap<ValidationId, UnverifiedKind>,
    asked: BTreeMap<Name, PendingCertificate>,
    missing: Missing<Name>,
    interests: VecDeque<Interest>,
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
            missing: Missing::new(),
            interests: VecDeque::new(),
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
        self.collect(now.instant);
        while self.validator.has_room()
            && let Some(packet) = self.held.pop_front()
        {
            let id = self.validator.validate(now.unix, trust::validator::Subject::Data(packet.data));
            self.subjects.insert(id, packet.subject);
            self.collect(now.instant);
        }
    }

    fn collect(&mut self, now: Instant) {
        while let Some(interest) = self.validator.poll_interest() {
            let name = interest.name().to_name();
            if self.missing.has(now, &name) {
                self.validator.handle_failure(name.as_ref(), CertificateFetchError::RecentTimeout);
            } else {
                self.interests.push_back(interest);
            }
        }
        while let Some(outcome) = self.validator.poll_outcome() {
            let Some(subject) = self.subjects.remove(&outcome.id) else { continue };
            let refused = match outcome.verdict {
                Ok(signer) => {
                    note_signer(&mut self.signers, signer.name().to_string());
                    None
                }
                Err(error) => {
                    self.refused += 1;
                    if error.is_about_certificates_above(outcome.subject.name()) {
                        self.missing.note_in_vain(now);
                    }
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
        self.missing.forget(|name| name.as_ref().is_prefix_of(data.name()));
        if ours {
            self.asked.retain(|name, _| !name.as_ref().is_prefix_of(data.name()));
            self.interests.retain(|interest| !interest.name().is_prefix_of(data.name()));
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
        let ValidatorLimits { fetch_attempts, fetch_lifetime, .. } = self.validator.limits();
        while let Some(entry) = self.asked.iter_mut().find(|(_, asked)| asked.deadline <= now.instant) {
            let (name, asked) = entry;
            let late = now.instant.saturating_since(asked.deadline);
            asked.deadline = Instant::NEVER;
            let name = name.clone();
            if asked.attempts >= fetch_attempts {
                self.asked.remove(&name);
                // So late there was an outage, and it need not be missing.
                if late <= fetch_lifetime {
                    self.missing.note(now.instant, name.clone());
                }
            }
            self.validator.handle_failure(name.as_ref(), CertificateFetchError::Timeout);
        }
        self.go_on(now);
    }

    fn poll_outcome(&mut self) -> Option<VerificationOutcome> {
        self.verdicts.pop_front()
    }

    fn poll_interest(&mut self, now: Now) -> Option<Interest> {
        let interest = self.interests.pop_front()?;
        let limits = self.validator.limits();
        let unproven = self.validator.unproven_below(interest.name());
        let wait = self.missing.wait_for_next(now.instant, limits.fetch_lifetime, unproven);
        let interval = Duration::from_nanos(wait.as_nanos() / u64::from(limits.fetch_attempts.max(1)));
        let first = PendingCertificate { attempts: 0, interval, deadline: Instant::NEVER };
        let asked = self.asked.entry(interest.name().to_name()).or_insert(first);
        asked.attempts += 1;
        asked.deadline = now.instant + asked.interval;
        Some(interest)
    }

    fn next_deadline(&self) -> Instant {
        self.asked.values().map(|asked| asked.deadline).min().unwrap_or(Instant::NEVER)
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
