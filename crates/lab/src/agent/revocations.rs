//! Lists of revoked keys: owners publish them, and whoever verifies fetches them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use flow::source::{MemoryObject, Reply};
use flow::verify::AnchoredVerifier;
use flow::{Discovery, FetchConfig, Fetcher, Publication, PublicationConfig, Verification, VerifiedFetch};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name, Now, UnixTime};
use trust::files::add_published_revocations;
use trust::{Certificate, Policy, Revocations, Signer, Validator, ValidatorLimits};

use super::activity::Activity;
use super::error::{self, JobError};
use crate::experiment::plan::{ContentPlan, EarlierKey};
use crate::keys::{self, KeyRole};

/// How often a list is signed anew.
const EVERY: Duration = Duration::from_millis(250);
/// From the end of one fetch to the begin of the next, as a node does it that is told to be quick.
const PAUSE: Duration = Duration::from_secs(1);
/// The part of the seed that decides what fetching draws.
const DRAWS: u64 = 0x7265_766f;

/// The list of one owner. Before its time it is empty.
#[derive(Debug)]
pub(super) struct PublishedList {
    name: Name,
    signer: Signer,
    record: Vec<u8>,
    from: Instant,
    /// The latest versions, with their numbers.
    versions: Vec<(u64, MemoryObject<Publication, Vec<u8>>)>,
}

impl PublishedList {
    /// That of a content, if its owner publishes one.
    pub(super) fn of(content: &ContentPlan, seed: u64) -> Result<Option<Self>, JobError> {
        let Some(EarlierKey::Published(at_ns)) = content.signed else { return Ok(None) };
        let authority = keys::list_authority(&content.prefix);
        Ok(Some(PublishedList {
            name: error::name(&keys::list_name(&content.prefix))?,
            signer: keys::signer(seed, KeyRole::Trusted, authority)?,
            record: keys::revocation(seed, &content.prefix)?.data().wire().to_vec(),
            from: Instant::from_nanos(at_ns),
            versions: Vec::new(),
        }))
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    /// The Data for an Interest below the list's name. What cannot be made is no answer.
    pub(super) fn answer(&mut self, now: Instant, interest: &Interest) -> Option<Data> {
        if !self.name.as_ref().is_prefix_of(interest.name()) {
            return None;
        }
        let version = 1 + now.as_nanos() / EVERY.as_nanos() * (EVERY.as_nanos() / 1_000_000);
        if self.versions.last().is_none_or(|(last, _)| *last < version) {
            let bytes = if now < self.from { Vec::new() } else { self.record.clone() };
            let size = bytes.len() as u64;
            let config = PublicationConfig::new(self.name.clone(), version, size, self.signer.clone());
            self.versions.push((version, MemoryObject::new(Publication::new(config).ok()?, bytes)));
            if self.versions.len() > 2 {
                self.versions.remove(0);
            }
        }
        let mut replies = self.versions.iter().rev().map(|(_, object)| object.reply(interest));
        replies.find_map(|reply| match reply {
            Ok(Some(Reply::Data(data))) => Some(data),
            _ => None,
        })
    }
}

/// Records that have come, for whoever verifies.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownRecords(Arc<Mutex<Arc<Revocations>>>);

impl KnownRecords {
    /// These to begin with.
    pub(crate) fn with(records: Revocations) -> Self {
        KnownRecords(Arc::new(Mutex::new(Arc::new(records))))
    }

    /// Those of now.
    pub(crate) fn current(&self) -> Arc<Revocations> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what a list says.
    fn take_in(&self, list: &[u8], name: &Name) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = (**known).clone();
        // A list that was verified and cannot be read is the publisher's mistake, and says nothing.
        if add_published_revocations(list, name.as_ref(), &mut records).is_ok_and(|added| added > 0) {
            *known = Arc::new(records);
        }
    }
}

/// Fetches the list of one owner again and again.
pub(crate) struct RevocationWatch {
    name: Name,
    anchor: Certificate,
    known: KnownRecords,
    random: Random,
    epoch_ns: u64,
    current: Option<(VerifiedFetch, Vec<u8>)>,
    next: Instant,
}

impl RevocationWatch {
    /// For the list of that content's owner; what it says goes to `known`. `at` is the node that asks.
    pub(crate) fn new(
        content: &ContentPlan,
        known: KnownRecords,
        (seed, at): (u64, usize),
        epoch_ns: u64,
    ) -> Result<Self, JobError> {
        let name = error::name(&keys::list_name(&content.prefix))?;
        let anchor = keys::certificate(seed, keys::list_authority(&content.prefix))?;
        let random = Random::derive(seed ^ DRAWS, at as u64);
        Ok(RevocationWatch { name, anchor, known, random, epoch_ns, current: None, next: Instant::ZERO })
    }

    fn now(&self, now: Instant) -> Now {
        let unix_ns = self.epoch_ns.saturating_add(now.as_nanos());
        Now { instant: now, unix: UnixTime::from_millis(unix_ns / 1_000_000) }
    }

    fn begin(&mut self, now: Instant) {
        let config = FetchConfig {
            discovery: Discovery::Metadata,
            discovery_timeout: PAUSE,
            verification: Verification::Owner,
            ..FetchConfig::default()
        };
        let fetcher = Fetcher::new(self.name.clone(), config, now, self.random.next_u64());
        let (anchors, random) = ([self.anchor.clone()], Random::from_seed(self.random.next_u64()));
        let validator = Validator::new(Policy::Hierarchical, anchors, ValidatorLimits::default(), random);
        let verifier = Box::new(AnchoredVerifier::new(validator));
        self.current = Some((VerifiedFetch::new(fetcher, verifier), Vec::new()));
    }

    /// Takes what has come, and says whether the fetch is over.
    fn settle(&mut self, now: Instant) {
        let Some((fetch, bytes)) = &mut self.current else { return };
        let mut segments = Vec::new();
        fetch.poll_segments(usize::MAX, &mut segments);
        for segment in &segments {
            bytes.extend_from_slice(segment.data.content());
        }
        let Some(outcome) = fetch.outcome() else { return };
        if outcome.is_ok() {
            self.known.take_in(bytes, &self.name);
        }
        (self.current, self.next) = (None, now + PAUSE);
    }
}

impl Activity for RevocationWatch {
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        let at = self.now(now);
        let Some((fetch, _)) = &mut self.current else { return false };
        let is_ours = fetch.handle_data(at, data, &LinkHeader::NONE);
        self.settle(now);
        is_ours
    }

    fn receive_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) -> bool {
        if !self.name.as_ref().is_prefix_of(interest.name()) {
            return false;
        }
        let at = self.now(now);
        if let Some((fetch, _)) = &mut self.current {
            fetch.handle_nack(at, interest.name(), reason);
        }
        self.settle(now);
        true
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.current.is_none() && self.next <= now {
            self.begin(now);
        }
        let at = self.now(now);
        if let Some((fetch, _)) = &mut self.current
            && fetch.next_deadline() <= now
        {
            fetch.handle_timeout(at);
        }
        self.settle(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        let at = self.now(now);
        let (fetch, _) = self.current.as_mut()?;
        fetch.poll_interest(at).map(|(interest, _)| interest)
    }

    fn next_deadline(&self) -> Instant {
        self.current.as_ref().map_or(self.next, |(fetch, _)| fetch.next_deadline())
    }

    /// It has no end, and nobody waits for one.
    fn is_complete(&self) -> bool {
        true
    }

    fn finish(&mut self, _now: Instant) -> io::Result<()> {
        Ok(())
    }
}
