//! Fetches lists of revoked keys, and adds what is new in them to the file with such records. What verifies
//! keys reads that file again when it has changed, and knows nothing of this service.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use flow::naming::version_number;
use flow::verify::AnchoredVerifier;
use flow::{Discovery, FetchConfig, FetchError, Fetcher, Verification, VerifiedFetch};
use formats::printable::printable_path;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Dialect, Name, Now, Packet, UnixTime};
use system::Clock;
use trust::policy::Policy;
use trust::validator::ValidatorLimits;
use trust::{Certificate, Validator};

use crate::config::{Config, ConfigError};
use crate::inner_service::{InnerService, ServiceThread, open_face};
use crate::management::{RevocationFile, RevocationList, read_certificate};
use crate::remote_control::RemoteControl;
use crate::start_error::StartError;
use crate::sys::random_words;
use crate::transport::inner::{InnerFace, InnerLimits, InnerPacket};

/// What may wait for it: segments of a list, and certificates.
const LIMITS: InnerLimits = InnerLimits { packets: 256, bytes: 4 << 20 };
/// The largest list that is taken in.
const MAX_LIST_BYTES: usize = 4 << 20;
/// How soon what failed is tried again, if that is sooner than the next fetch.
const RETRY: Duration = Duration::from_secs(5);
/// Most lists.
const MAX_LISTS: usize = 64;

/// What a configuration says about it.
#[derive(Clone, Debug)]
pub(crate) struct RevocationSource {
    file: PathBuf,
    lists: Vec<Name>,
    every: Duration,
    anchors: Vec<Certificate>,
}

/// Where records of revoked keys come from; `None` if they are not fetched.
///
/// # Errors
/// A name that is none, or one for which nobody could vouch; no file to add to.
pub(crate) fn read(config: &Config) -> Result<Option<RevocationSource>, ConfigError> {
    let section = &config.management;
    // Whatever else is wrong with it.
    RevocationList::of_section(section)?;
    let wrong =
        |what: &dyn std::fmt::Display| ConfigError::new(format!("management.revocations_from: {what}"));
    let (false, Some(file)) = (section.revocations_from.is_empty(), &section.revocations) else {
        return Ok(None);
    };
    if section.revocations_from.len() > MAX_LISTS {
        return Err(wrong(&format_args!("there are more than {MAX_LISTS} lists")));
    }
    let mut anchors = Vec::new();
    let believed = config.authorize.iter().map(|key| &key.certificate);
    for path in believed.chain(&config.verification.anchors) {
        let read = read_certificate(path);
        anchors.push(read.map_err(|why| wrong(&format_args!("{}: {why}", printable_path(path))))?);
    }
    let mut lists = Vec::new();
    for text in &section.revocations_from {
        let name: Name = text.parse().map_err(|error| wrong(&format_args!("{text}: {error}")))?;
        if !anchors.iter().any(|anchor| anchor.identity().is_prefix_of(name.as_ref())) {
            let known = "[[authorize]] and verification.anchors name no certificate of anybody above it";
            return Err(wrong(&format_args!("nobody can vouch for {name}: {known}")));
        }
        lists.push(name);
    }
    let every = Duration::from_secs(section.revocations_every_secs.max(1));
    Ok(Some(RevocationSource { file: file.clone(), lists, every, anchors }))
}

/// One list on its way.
struct ListFetch {
    name: Name,
    fetch: VerifiedFetch,
    bytes: Vec<u8>,
}

/// Why a list was not taken in.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("it has more than {} MiB", MAX_LIST_BYTES >> 20)]
    TooLarge,
    #[error("{0} has no version that says when it was made")]
    NoVersion(Name),
    #[error(transparent)]
    TakeIn(#[from] crate::management::TakeInError),
}

/// Asks for one list after the other, and for all of them again after a while.
pub(crate) struct RevocationService {
    clock: Clock,
    source: RevocationSource,
    file: RevocationFile,
    /// Records that are known count for the signers of lists, too.
    known: RevocationList,
    random: Random,
    current: Option<ListFetch>,
    /// Which list is the next.
    place: usize,
    /// When it is asked for.
    next: Instant,
    has_failed: bool,
    /// What the log was told last: it is told once.
    told: Option<String>,
}

impl RevocationService {
    /// Starts it if the configuration names a list.
    ///
    /// # Errors
    /// The configuration makes no sense, or there can be no face or no thread.
    pub(crate) fn start_if_enabled(
        config: &Config,
        clock: Clock,
        remote: &RemoteControl,
    ) -> Result<Option<ServiceThread>, StartError> {
        let Some(source) = read(config)? else { return Ok(None) };
        let [seed] = random_words()?;
        let face = open_face(&mut remote.clone(), "revocations", Dialect::Ndn, LIMITS)?;
        let service = RevocationService {
            clock,
            file: RevocationFile::new(&source.file, source.lists.iter().cloned()),
            known: RevocationList::watching(&source.file),
            source,
            random: Random::from_seed(seed),
            current: None,
            place: 0,
            next: clock.now(),
            has_failed: false,
            told: None,
        };
        Ok(Some(ServiceThread::start("revocations", clock, face, service)?))
    }

    fn begin(&mut self, now: Instant) {
        let Some(name) = self.source.lists.get(self.place).cloned() else { return };
        let config = FetchConfig {
            discovery: Discovery::MetadataThenPrefix,
            verification: Verification::Owner,
            ..FetchConfig::default()
        };
        let fetcher = Fetcher::new(name.clone(), config, now, self.random.next_u64());
        let random = Random::from_seed(self.random.next_u64());
        let anchors = self.source.anchors.clone();
        let mut validator = Validator::new(Policy::Hierarchical, anchors, ValidatorLimits::default(), random);
        validator.set_revocations(self.known.current());
        let fetch = VerifiedFetch::new(fetcher, Box::new(AnchoredVerifier::new(validator)));
        self.current = Some(ListFetch { name, fetch, bytes: Vec::new() });
    }

    /// Takes in a list that has come; gives the number of new records.
    fn take_in(&mut self, now: UnixTime, list: &ListFetch) -> Result<usize, ListError> {
        let object = list.fetch.fetcher().object_name().unwrap_or(&list.name);
        let version = object.as_ref().last().and_then(version_number);
        let made = version.ok_or_else(|| ListError::NoVersion(object.clone()))?;
        Ok(self.file.take_in(&list.name, UnixTime::from_millis(made), now, &list.bytes)?)
    }

    fn conclude(&mut self, now: Now, list: &ListFetch, outcome: Result<(), ListError>) {
        let name = &list.name;
        match outcome.and_then(|()| self.take_in(now.unix, list)) {
            Ok(added) => {
                self.told = None;
                if added > 0 {
                    tracing::warn!(list = %name, added, "keys have been revoked");
                }
            }
            Err(error) => {
                self.has_failed = true;
                let text = format!("the list of revoked keys {name} was not taken in: {error}");
                if self.told.as_ref() != Some(&text) {
                    tracing::warn!("{text}");
                    self.told = Some(text);
                }
            }
        }
        self.place += 1;
        self.next = now.instant;
        if self.place >= self.source.lists.len() {
            let pause = if self.has_failed { self.source.every.min(RETRY) } else { self.source.every };
            (self.place, self.has_failed, self.next) = (0, false, now.instant + pause);
        }
    }
}

impl ListFetch {
    /// Takes what has come and sends what there is to send; says how it ended, if it has.
    fn go_on(&mut self, now: Now, face: &mut InnerFace) -> Option<Result<(), ListError>> {
        let mut segments = Vec::new();
        self.fetch.poll_segments(usize::MAX, &mut segments);
        for segment in &segments {
            self.bytes.extend_from_slice(segment.data.content());
        }
        if self.bytes.len() > MAX_LIST_BYTES {
            return Some(Err(ListError::TooLarge));
        }
        if let Some(outcome) = self.fetch.outcome() {
            return Some(outcome.map_err(ListError::from));
        }
        while let Some((interest, _)) = self.fetch.poll_interest(now) {
            // One that finds no room is asked for again.
            let _ = face.send(InnerPacket::interest(interest));
        }
        None
    }
}

impl InnerService for RevocationService {
    fn handle_packet(&mut self, _face: &mut InnerFace, packet: InnerPacket) {
        let now = self.clock.both();
        let Some(ListFetch { fetch, .. }) = &mut self.current else { return };
        match packet.packet {
            Packet::Data(data) => drop(fetch.handle_data(now, &data, &packet.header)),
            Packet::Nack(interest, reason) => fetch.handle_nack(now, interest.name(), reason),
            // Nothing is registered for it.
            Packet::Interest(_) => {}
        }
    }

    fn proceed(&mut self, face: &mut InnerFace) {
        let now = self.clock.both();
        if self.current.is_none() && self.next <= now.instant {
            self.begin(now.instant);
        }
        let Some(mut list) = self.current.take() else { return };
        if list.fetch.next_deadline() <= now.instant {
            list.fetch.handle_timeout(now);
        }
        match list.go_on(now, face) {
            Some(outcome) => self.conclude(now, &list, outcome),
            None => self.current = Some(list),
        }
    }

    fn other(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn next_deadline(&self, _now: Instant) -> Instant {
        self.current.as_ref().map_or(self.next, |list| list.fetch.next_deadline())
    }
}
