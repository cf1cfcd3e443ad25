//! Is this packet from somebody who may write it? From the packet up to a trust anchor.

mod cache;
mod chain;
mod outcome;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Interest, Name, NameRef};

use crate::certificate::{Certificate, UnixTime, names};
use crate::policy::Policy;
use crate::revocation::Revocations;
use cache::CertificateCache;
use chain::Chain;

use outcome::of_ndn;
pub use outcome::{CertificateFetchError, Outcome, Subject, ValidationError, ValidationId};

/// How much a [`Validator`] does and keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidatorLimits {
    /// Packets that wait for certificates. More are refused.
    pub pending: usize,
    /// Certificates between a packet and the trust anchor. Longer chains are refused.
    pub depth: usize,
    /// Verified certificates that are kept; at the limit the one that was verified first goes.
    pub cached: usize,
    /// How long a verified certificate is kept, in seconds.
    pub cached_secs: u64,
    /// Certificates that are asked for at once. Packets that need yet another are refused: whoever makes up
    /// keys has us ask no more.
    pub fetches: usize,
    /// How often a certificate is asked for.
    pub fetch_attempts: u32,
    /// How long one asking waits.
    pub fetch_lifetime: Duration,
}

impl Default for ValidatorLimits {
    fn default() -> Self {
        ValidatorLimits {
            pending: 1024,
            depth: 10,
            cached: 1000,
            cached_secs: 3600,
            fetches: 32,
            fetch_attempts: 3,
            fetch_lifetime: Duration::from_secs(2),
        }
    }
}

/// What a [`Validator`] has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValidatorCounters {
    /// Packets found to be trusted.
    pub accepted: u64,
    /// Packets refused, for whatever reason.
    pub refused: u64,
    /// Packets refused because too many were waiting.
    pub refused_full: u64,
    /// Packets refused because too many certificates were asked for.
    pub refused_fetches: u64,
    /// Interests for certificates.
    pub interests: u64,
    /// Verified certificates that had to go before their time.
    pub cache_evicted: u64,
    /// Signatures checked with a key, those of certificates included.
    pub signatures_checked: u64,
    /// Bytes of packets hashed for that.
    pub hashed_bytes: u64,
}

/// Decides whether packets are signed by somebody who may, fetching certificates where they are missing.
///
/// Calling order: [`Validator::validate`] for each packet; then drain [`Validator::poll_interest`], send what
/// it gives, and report what comes back with [`Validator::handle_data`] or [`Validator::handle_failure`];
/// drain [`Validator::poll_outcome`] after each of these. Every packet gets exactly one outcome. The owner
/// keeps the timers of the Interests; an Interest that is never reported keeps its packets waiting.
#[derive(Debug)]
pub struct Validator {
    policy: Policy,
    anchors: Vec<Certificate>,
    limits: ValidatorLimits,
    revocations: Arc<Revocations>,
    cache: CertificateCache,
    waiting: BTreeMap<ValidationId, Chain>,
    fetches: BTreeMap<Name, Fetch>,
    interests: VecDeque<Interest>,
    outcomes: VecDeque<Outcome>,
    counters: ValidatorCounters,
    random: Random,
    next_id: u64,
}

/// A certificate that was asked for.
#[derive(Debug)]
struct Fetch {
    waiting: Vec<ValidationId>,
    attempts_left: u32,
}

impl Validator {
    /// Trusts `anchors` without proof, and what follows from them under `policy`. Nonces come out of
    /// `random`.
    pub fn new(
        policy: Policy,
        anchors: impl IntoIterator<Item = Certificate>,
        limits: ValidatorLimits,
        random: Random,
    ) -> Self {
        Validator {
            policy,
            anchors: anchors.into_iter().collect(),
            limits,
            revocations: Arc::default(),
            cache: CertificateCache::new(limits.cached),
            waiting: BTreeMap::new(),
            fetches: BTreeMap::new(),
            interests: VecDeque::new(),
            outcomes: VecDeque::new(),
            counters: ValidatorCounters::default(),
            random,
            next_id: 0,
        }
    }

    /// What it trusts without proof.
    pub fn anchors(&self) -> &[Certificate] {
        &self.anchors
    }

    /// How much it does and keeps.
    pub fn limits(&self) -> ValidatorLimits {
        self.limits
    }

    /// Refuses from now on what these records revoke, anchors included. What was verified before is verified
    /// again.
    pub fn set_revocations(&mut self, revocations: Arc<Revocations>) {
        self.revocations = revocations;
        self.cache.clear();
    }

    /// What it has done.
    pub fn counters(&self) -> ValidatorCounters {
        ValidatorCounters { cache_evicted: self.cache.evicted(), ..self.counters }
    }

    /// How many packets wait for certificates.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether another packet may wait, and will not be refused only because too many do.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < self.limits.pending
    }

    /// Begins to validate a packet. The outcome, under the returned id, may be there at once.
    pub fn validate(&mut self, now: UnixTime, subject: Subject) -> ValidationId {
        let id = ValidationId(self.next_id);
        self.next_id += 1;
        match Chain::new(subject.clone()) {
            Err(error) => self.conclude(id, subject, Err(error)),
            Ok(_) if !self.has_room() => {
                self.counters.refused_full += 1;
                self.conclude(id, subject, Err(ValidationError::Full(self.limits.pending)));
            }
            Ok(chain) => self.climb(now, id, chain),
        }
        id
    }

    /// A Data has come that may be a certificate we asked for; says whether it was.
    pub fn handle_data(&mut self, now: UnixTime, data: &Data) -> bool {
        let asked: Vec<Name> =
            self.fetches.keys().filter(|name| name.as_ref().is_prefix_of(data.name())).cloned().collect();
        let was_asked = !asked.is_empty();
        for locator in asked {
            let Some(fetch) = self.fetches.remove(&locator) else { continue };
            let certificate = Certificate::new(data.clone());
            for id in fetch.waiting {
                let Some(mut chain) = self.waiting.remove(&id) else { continue };
                let added = match &certificate {
                    // A name that only begins like the one that was asked for is another key's.
                    Ok(other) if Some(other.key_name()) != names::key_of(locator.as_ref()) => {
                        let (asked, name) = (of_ndn(locator.as_ref()), of_ndn(other.name()));
                        Err(ValidationError::OtherKey { asked, name })
                    }
                    Ok(certificate) => chain.push(now, certificate.clone(), self.limits.depth),
                    Err(error) => {
                        let name = of_ndn(data.name());
                        Err(ValidationError::NotACertificate { name, error: Box::new(error.clone()) })
                    }
                };
                match added {
                    Ok(()) => self.climb(now, id, chain),
                    Err(error) => self.conclude(id, chain.into_subject(), Err(error)),
                }
            }
        }
        was_asked
    }

    /// An Interest that [`Validator::poll_interest`] gave was not answered. It is tried again, or its packets
    /// are refused.
    pub fn handle_failure(&mut self, name: NameRef<'_>, failure: CertificateFetchError) {
        let name = name.to_name();
        let Some(fetch) = self.fetches.get_mut(&name) else { return };
        if fetch.attempts_left > 0 && failure == CertificateFetchError::Timeout {
            fetch.attempts_left -= 1;
            self.ask(&name);
            return;
        }
        let waiting = self.fetches.remove(&name).map(|fetch| fetch.waiting).unwrap_or_default();
        for id in waiting {
            if let Some(chain) = self.waiting.remove(&id) {
                let error = ValidationError::NotFetched { name: of_ndn(name.as_ref()), failure };
                self.conclude(id, chain.into_subject(), Err(error));
            }
        }
    }

    /// The next Interest for a certificate.
    pub fn poll_interest(&mut self) -> Option<Interest> {
        self.interests.pop_front()
    }

    /// How many certificates came, one above the other, that prove nothing without the one that is asked for
    /// by this name: of several chains that wait for it, the shortest. Zero if none does.
    pub fn unproven_below(&self, name: NameRef<'_>) -> usize {
        let Some(fetch) = self.fetches.get(&name.to_name()) else { return 0 };
        let lengths = fetch.waiting.iter().filter_map(|id| Some(self.waiting.get(id)?.certificates().len()));
        lengths.min().unwrap_or(0)
    }

    /// The next decision.
    pub fn poll_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Goes up from the top of `chain` until it is decided, or a certificate is missing.
    fn climb(&mut self, now: UnixTime, id: ValidationId, chain: Chain) {
        let step = chain.locator().and_then(|locator| {
            if let Some(claim) = chain.claim() {
                self.policy.check(claim).map_err(ValidationError::Policy)?;
            }
            Ok((locator.to_name(), self.trusted(now, locator)))
        });
        match step {
            Err(error) => self.conclude(id, chain.into_subject(), Err(error)),
            Ok((_, Some((certificate, certificate_until)))) => {
                let verdict = chain.verify_down(&certificate, &self.revocations, &mut self.counters);
                if verdict.is_ok() {
                    // What was verified by something counts no longer than that.
                    let mut until = certificate_until.min(now.plus_secs(self.limits.cached_secs));
                    for verified in chain.certificates().iter().rev() {
                        until = until.min(verified.validity().not_after);
                        self.cache.insert(verified.clone(), until);
                    }
                }
                let signer = chain.signer_of_subject(&certificate);
                self.conclude(id, chain.into_subject(), verdict.map(|()| signer));
            }
            Ok((locator, None)) => self.wait(id, chain, &locator),
        }
    }

    /// A certificate of the key that `locator` names, if it is an anchor or was verified before, and counts
    /// now; and until when it does.
    fn trusted(&self, now: UnixTime, locator: NameRef<'_>) -> Option<(Certificate, UnixTime)> {
        let key = names::key_of(locator)?;
        let anchor =
            self.anchors.iter().find(|anchor| anchor.key_name() == key && anchor.validity().contains(now));
        let anchor = anchor.map(|anchor| (anchor, anchor.validity().not_after));
        anchor.or_else(|| self.cache.find(now, key)).map(|(certificate, until)| (certificate.clone(), until))
    }

    fn wait(&mut self, id: ValidationId, chain: Chain, locator: &Name) {
        if self.fetches.len() >= self.limits.fetches && !self.fetches.contains_key(locator) {
            self.counters.refused_fetches += 1;
            let error = ValidationError::TooManyFetches(self.limits.fetches);
            return self.conclude(id, chain.into_subject(), Err(error));
        }
        self.waiting.insert(id, chain);
        match self.fetches.get_mut(locator) {
            Some(fetch) => fetch.waiting.push(id),
            None => {
                let attempts_left = self.limits.fetch_attempts.saturating_sub(1);
                self.fetches.insert(locator.clone(), Fetch { waiting: vec![id], attempts_left });
                self.ask(locator);
            }
        }
    }

    fn ask(&mut self, locator: &Name) {
        let exact = names::is_certificate_name(locator.as_ref());
        let interest = InterestBuilder::new(locator.clone())
            .can_be_prefix(!exact)
            .must_be_fresh(!exact)
            .lifetime(self.limits.fetch_lifetime)
            .nonce(self.random.next_u32())
            .build();
        // The name came out of a packet and a little is added, so it always fits one; if it did not, the
        // owner's failure report would never come, and so the wait ends here.
        match interest {
            Ok(interest) => {
                self.counters.interests += 1;
                self.interests.push_back(interest);
            }
            Err(_) => self.handle_failure(locator.as_ref(), CertificateFetchError::Unsendable),
        }
    }

    fn conclude(
        &mut self,
        id: ValidationId,
        subject: Subject,
        verdict: Result<Certificate, ValidationError>,
    ) {
        match verdict {
            Ok(_) => self.counters.accepted += 1,
            Err(_) => self.counters.refused += 1,
        }
        self.outcomes.push_back(Outcome { id, subject, verdict });
    }
}
