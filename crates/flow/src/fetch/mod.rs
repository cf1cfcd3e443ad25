//! Fetching an object: finds its version, asks for its segments, and hands them to a reader in order.

mod buffer;
mod config;
mod dialect;
mod discovery;
mod object;
mod required_digests;
mod version_search;

use std::collections::VecDeque;

use packet::random::Random;
use packet::time::Instant;
use packet::{AnyName, Data, Interest, LinkHeader, NackReason, Name, NameRef};

use crate::naming::NamingConvention;
use crate::transfer::{Arrival, DataOutcome, Failure, Transfer};
use crate::verify::{Unverified, UnverifiedKind, VerificationError};
use buffer::Reorder;
use dialect::{Part, convention_below, final_segment, is_application_nack, is_versioned, numbered};
use discovery::Finder;
use object::Object;
use required_digests::RequiredDigests;

pub use config::{Discovery, FetchConfig, FetchError, Progress, Verification};

/// The next segment of the object.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Which segment.
    pub segment: u64,
    /// The packet; the segment is its content.
    pub data: Data,
}

/// Fetches one object.
///
/// Tell it what came ([`Fetcher::receive_data`], [`Fetcher::receive_nack`]) and that time has passed
/// ([`Fetcher::handle_timeout`]). After each of these verify what [`Fetcher::poll_unverified`] hands out, if
/// verification is the owner's, take the content from [`Fetcher::poll_content`], send what
/// [`Fetcher::poll_transmit`] hands out, and set the timer to [`Fetcher::next_deadline`]. A reader that takes
/// no content stops the fetch before the buffer is over its limit, and starts it again when it goes on.
///
/// ```
/// use cairn_flow::{Answer, FetchConfig, Fetcher, Publication, PublicationConfig};
/// use packet::LinkHeader;
/// use packet::time::Instant;
/// use trust::Signer;
///
/// let bytes = vec![7u8; 50_000];
/// let config = PublicationConfig::new("/lab/file".parse()?, 1, bytes.len() as u64, Signer::digest());
/// let publication = Publication::new(config)?;
///
/// let mut fetcher = Fetcher::new("/lab/file".parse()?, FetchConfig::default(), Instant::ZERO, 1);
/// let (mut now, mut got) = (Instant::ZERO, Vec::new());
/// while !fetcher.is_complete() {
///     while let Some(interest) = fetcher.poll_transmit(now) {
///         now += packet::time::Duration::from_millis(1);
///         let data = match publication.answer(&interest)? {
///             Answer::Data(data) => data,
///             Answer::Segment(range) => {
///                 let start = range.offset_bytes as usize;
///                 publication.segment(range.segment, &bytes[start..start + range.len_bytes as usize])?
///             }
///             Answer::Refuse | Answer::NotMine => unreachable!(),
///         };
///         fetcher.receive_data(now, data, &LinkHeader::default());
///         while let Some(segment) = fetcher.poll_content() {
///             got.extend_from_slice(segment.data.content());
///         }
///     }
/// }
/// assert_eq!(got, bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Fetcher {
    config: FetchConfig,
    /// As asked for by the owner.
    name: Name,
    phase: Phase,
    transfer: Transfer,
    buffer: Reorder,
    required_digests: RequiredDigests,
    unverified: VecDeque<Unverified>,
    /// The answer to discovery, while the owner looks at it.
    found: Option<Data>,
    nonces: Random,
    progress: Progress,
    /// Number of segments in all.
    end: Option<u64>,
    /// The same in the words of a packet that nobody has verified yet: it keeps us from asking for what is
    /// not there, and nothing else.
    hinted_end: Option<u64>,
    /// Segments that the owner has refused since it last accepted one.
    refused_in_a_row: u32,
    /// The first segment that will not come. It matters only if the object turns out to reach that far.
    failed: Option<Failure>,
}

/// Segments that the owner may refuse one after the other. A few may be forged, or damaged in somebody's
/// cache; so many are the object itself, and going on would only ask for all of it several times.
pub const MAX_REFUSED_IN_A_ROW: u32 = 24;

#[derive(Debug)]
enum Phase {
    Finding(Finder),
    Fetching(Object),
    Failed(FetchError),
}

impl Fetcher {
    /// A fetch of the object `name`, with or without its version. `seed` decides nonces, and what the
    /// controller does by chance.
    pub fn new(name: Name, config: FetchConfig, now: Instant, seed: u64) -> Self {
        let mut nonces = Random::from_seed(seed);
        let mut transfer = Transfer::new(&config.transfer, now, nonces.next_u64());
        let buffer = Reorder::new(config.first_segment, config.buffer_bytes);
        transfer.start_at(config.first_segment);
        let end = config.end_segment;
        if let Some(end) = end {
            transfer.set_end(end);
        }
        transfer.set_limit(buffer.limit());
        let versioned = is_versioned(&name, config.dialect);
        let object = Object { name: name.clone(), convention: convention_below(&name, &config) };
        let first_segment = config.first_segment;
        let phase = match config.discovery {
            _ if versioned => Phase::Fetching(object),
            Discovery::Unversioned => Phase::Fetching(object),
            _ if first_segment > 0 => {
                let name = AnyName::new(config.dialect, name.clone());
                Phase::Failed(FetchError::NoVersion { name, first_segment })
            }
            discovery => match Finder::new(&name, discovery, config.dialect, now) {
                Ok(finder) => Phase::Finding(finder),
                Err(error) => Phase::Failed(error),
            },
        };
        Fetcher {
            config,
            name,
            phase,
            transfer,
            buffer,
            required_digests: RequiredDigests::default(),
            unverified: VecDeque::new(),
            found: None,
            nonces,
            progress: Progress::default(),
            end,
            hinted_end: None,
            refused_in_a_row: 0,
            failed: None,
        }
    }

    /// A Data came, with what its last hop told beside it; says whether it is about this object.
    pub fn receive_data(&mut self, now: Instant, data: Data, header: &LinkHeader) -> bool {
        self.receive(now, data, Arrival::from(header))
    }

    /// The same with what is known of the way it came by.
    pub fn receive(&mut self, now: Instant, data: Data, arrival: Arrival) -> bool {
        match &mut self.phase {
            Phase::Finding(finder) if finder.is_answered_by(data.name()) => {
                finder.wait_for_owner();
                self.found = Some(data.clone());
                match self.config.verification {
                    Verification::None => self.accept(now, UnverifiedKind::Discovery),
                    Verification::Owner => {
                        self.unverified.push_back(Unverified { subject: UnverifiedKind::Discovery, data });
                    }
                }
            }
            Phase::Fetching(object) => match object.segment(data.name()) {
                Some(segment) => self.receive_segment(now, segment, data, arrival),
                None => return self.note_strange(),
            },
            Phase::Finding(_) | Phase::Failed(_) => return self.note_strange(),
        }
        true
    }

    /// An Interest came back.
    pub fn receive_nack(&mut self, now: Instant, interest: NameRef<'_>, reason: NackReason) {
        match &mut self.phase {
            Phase::Finding(finder) if finder.is_about(interest) => {
                if let Err(error) = finder.handle_nack(now, reason, &self.config) {
                    self.phase = Phase::Failed(error);
                }
            }
            Phase::Fetching(object) => match object.segment(required_digests::without_digest(interest)) {
                Some(segment) => {
                    self.transfer.handle_nack(now, segment, reason);
                    self.check_failures();
                }
                None => self.progress.strange += 1,
            },
            Phase::Finding(_) | Phase::Failed(_) => self.progress.strange += 1,
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.settle_version(now);
        match &mut self.phase {
            Phase::Finding(finder) => {
                if let Err(error) = finder.handle_timeout(now, &self.config) {
                    self.phase = Phase::Failed(error);
                }
            }
            Phase::Fetching(_) => {
                self.transfer.handle_timeout(now);
                self.check_failures();
            }
            Phase::Failed(_) => {}
        }
    }

    /// The owner has looked at a packet and found it good.
    pub fn accept(&mut self, now: Instant, subject: UnverifiedKind) {
        match subject {
            UnverifiedKind::Discovery => {
                if let Some(data) = self.found.take() {
                    self.begin(now, data);
                }
            }
            UnverifiedKind::Segment(segment) => {
                let Some(end) = self.buffer.peek(segment).map(final_segment) else { return };
                if self.buffer.peek(segment).is_some_and(is_application_nack) {
                    let name = self.buffer.remove(segment).map(|data| data.any_name());
                    let name = name.unwrap_or_else(|| self.any_name(&self.name));
                    self.phase = Phase::Failed(FetchError::Refused { name });
                    return;
                }
                self.refused_in_a_row = 0;
                self.required_digests.remove(segment);
                self.buffer.accept(segment);
                self.transfer.confirm(segment);
                if let Some(last) = end {
                    self.learn_last(segment, last);
                }
                self.move_limit();
                self.check_failures();
            }
        }
    }

    /// The owner has looked at a packet and will not have it. It is asked for again, as often as one that was
    /// lost; but when the owner refuses [`MAX_REFUSED_IN_A_ROW`] segments and accepts none between, there
    /// is nothing to be had here.
    pub fn refuse(&mut self, now: Instant, subject: UnverifiedKind, error: impl Into<VerificationError>) {
        let error = error.into();
        match (subject, &mut self.phase) {
            (UnverifiedKind::Discovery, Phase::Finding(finder)) => {
                let Some(data) = self.found.take() else { return };
                let error = FetchError::NotAccepted { name: data.any_name(), error };
                match finder.handle_refusal(now, &self.config, data.name(), error) {
                    Ok(()) => self.settle_version(now),
                    Err(error) => self.phase = Phase::Failed(error),
                }
            }
            (_, Phase::Failed(_)) => {}
            (UnverifiedKind::Segment(segment), _) => {
                let Some(data) = self.buffer.remove(segment) else { return };
                // Whatever it said of the end counts no more either.
                self.hinted_end = None;
                self.move_limit();
                let name = data.any_name();
                self.refused_in_a_row += 1;
                if self.refused_in_a_row >= MAX_REFUSED_IN_A_ROW {
                    let count = self.refused_in_a_row;
                    self.phase = Phase::Failed(FetchError::NoneAccepted { count, name, error });
                    return;
                }
                self.transfer.ask_again(now, segment);
                if self.transfer.poll_failure().is_some() {
                    self.phase = Phase::Failed(FetchError::NotAccepted { name, error });
                }
            }
            (UnverifiedKind::Discovery, _) => {}
        }
    }

    /// A packet that counts for nothing until [`Fetcher::accept`] or [`Fetcher::refuse`] is called for it.
    pub fn poll_unverified(&mut self) -> Option<Unverified> {
        self.unverified.pop_front()
    }

    /// The packet that the owner has not accepted or refused yet.
    pub fn under_verification(&self, subject: UnverifiedKind) -> Option<&Data> {
        match subject {
            UnverifiedKind::Discovery => self.found.as_ref(),
            UnverifiedKind::Segment(segment) => self.buffer.peek(segment),
        }
    }

    /// Asks for this segment by its implicit digest from now on, so that nobody can answer with another one.
    pub fn require_digest(&mut self, segment: u64, digest: [u8; 32]) {
        self.required_digests.insert(segment, digest);
    }

    /// The next segment of the object, in order.
    pub fn poll_content(&mut self) -> Option<Segment> {
        let segment = self.buffer.next();
        let data = self.buffer.pop()?;
        self.move_limit();
        self.progress.segments += 1;
        self.progress.content_bytes += data.content().len() as u64;
        Some(Segment { segment, data })
    }

    /// The next Interest to send now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        self.poll_interest(now)
    }

    /// When to call [`Fetcher::handle_timeout`] and [`Fetcher::poll_transmit`] again; a time that is past for
    /// at once.
    pub fn next_deadline(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Finding(finder) => finder.next_deadline(),
            Phase::Fetching(_) => self.transfer.next_deadline(),
            Phase::Failed(_) => None,
        }
    }

    /// True when the reader has taken the whole object.
    pub fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| self.buffer.next() >= end)
    }

    /// Why the fetch ended before its object did.
    pub fn error(&self) -> Option<&FetchError> {
        match &self.phase {
            Phase::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The object's name, with its version as soon as that is known.
    pub fn object_name(&self) -> Option<&Name> {
        match &self.phase {
            Phase::Fetching(object) => Some(&object.name),
            _ => None,
        }
    }

    /// The segment that the reader gets next: where another fetch could go on.
    pub fn next_segment(&self) -> u64 {
        self.buffer.next()
    }

    /// How far the fetch is.
    pub fn progress(&self) -> Progress {
        Progress { total_segments: self.end, buffered_bytes: self.buffer.bytes(), ..self.progress }
    }

    /// The transfer underneath: window, rate, round trips and counters.
    pub fn transfer(&self) -> &Transfer {
        &self.transfer
    }

    fn receive_segment(&mut self, now: Instant, segment: u64, data: Data, arrival: Arrival) {
        if self.transfer.handle_data(now, segment, arrival) != DataOutcome::Wanted {
            return;
        }
        if !self.buffer.insert(segment, data.clone(), false) {
            self.progress.dropped_full += 1;
            self.transfer.ask_again(now, segment);
            return;
        }
        self.hinted_end = final_segment(&data).map(|last| last.saturating_add(1)).or(self.hinted_end);
        self.move_limit();
        match self.config.verification {
            Verification::None => self.accept(now, UnverifiedKind::Segment(segment)),
            Verification::Owner => {
                self.unverified.push_back(Unverified { subject: UnverifiedKind::Segment(segment), data });
            }
        }
        self.check_failures();
    }

    /// Takes up any packet of the object: it has the version in its name and is, most often, segment 0.
    fn begin_with_segment(&mut self, data: Data) {
        let name = data.name();
        if let Part::Beside { object: name } = self.part_of(name) {
            let convention = convention_below(&name, &self.config);
            self.phase = Phase::Fetching(Object { name, convention });
            return;
        }
        let count = name.component_count();
        let found = name.last().and_then(|last| numbered(last, data.dialect()));
        let Some((segment, convention)) = found else {
            // An object of one packet that nobody cut.
            let name = name.to_name();
            self.buffer.insert(0, data, true);
            self.end = Some(1);
            self.transfer.set_end(0);
            self.phase = Phase::Fetching(Object { name, convention: NamingConvention::Typed });
            return;
        };
        self.phase = Phase::Fetching(Object { name: name.prefix(count - 1).to_name(), convention });
        if segment == self.buffer.next() {
            let last = final_segment(&data);
            self.buffer.insert(segment, data, true);
            self.transfer.start_at(segment + 1);
            if let Some(last) = last {
                self.learn_last(segment, last);
            }
        }
    }

    /// A packet says which segment is the last. It may say so late, and change its mind, but it cannot take
    /// back what the reader has.
    fn learn_last(&mut self, segment: u64, last: u64) {
        let end = last.saturating_add(1);
        if segment > last || end < self.buffer.next() {
            self.progress.strange += 1;
            return;
        }
        let end = end.min(self.config.end_segment.unwrap_or(u64::MAX));
        if self.end != Some(end) {
            self.end = Some(end);
            self.transfer.set_end(end);
            self.buffer.cut(end);
        }
    }

    /// Counts a packet that is not about this object.
    fn note_strange(&mut self) -> bool {
        self.progress.strange += 1;
        false
    }

    /// A segment that will not come ends the fetch, but only when it is sure that the object reaches that
    /// far: Interests for segments behind the end come back too, maybe before anybody has told where the
    /// end is.
    fn check_failures(&mut self) {
        while let Some(failure) = self.transfer.poll_failure() {
            if self.failed.is_none_or(|first| failure.item < first.item) {
                self.failed = Some(failure);
            }
        }
        let (Some(failure), Phase::Fetching(object)) = (self.failed, &self.phase) else { return };
        let is_sure = match self.end {
            Some(end) => failure.item < end,
            None => failure.item <= self.transfer.first_missing(),
        };
        if is_sure {
            let (name, segment, reason) = (self.any_name(&object.name), failure.item, failure.reason);
            self.phase = Phase::Failed(FetchError::Segment { name, segment, reason });
        }
    }

    /// Keeps Interests from going out for what there is no room for, or what does not seem to exist.
    fn move_limit(&mut self) {
        // A hint that has come to its end without the real one coming was wrong.
        let hint = self.hinted_end.filter(|hint| self.end.is_none() && *hint > self.transfer.first_missing());
        self.transfer.set_limit(self.buffer.limit().min(hint.unwrap_or(u64::MAX)));
    }

    /// One of its names, as errors have it.
    pub(crate) fn any_name(&self, name: &Name) -> AnyName {
        AnyName::new(self.config.dialect, name.clone())
    }

    fn fail_for_length(&mut self) -> Option<Interest> {
        self.phase = Phase::Failed(FetchError::NameTooLong { name: self.any_name(&self.name) });
        None
    }
}

#[cfg(test)]
mod tests;
