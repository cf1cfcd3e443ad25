//! What is known of each URL, and who waits for it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use flow::naming::{METADATA, version_number};
use flow::source::Reply;
use packet::ndn::DataBuilder;
use packet::{ContentType, Interest, LinkHeader, Name, NameRef, time};
use tokio::time::Instant;
use trust::Signer;

use super::object::{HeldVersion, OriginObject};
use super::web::ClientValidators;
use super::{OriginLimits, Sent};

/// How long it counts that the web server has no such thing, or could not be asked.
const REFUSED_FOR: Duration = Duration::from_secs(2);

/// What comes of an Interest.
#[derive(Debug)]
pub(super) enum Outcome {
    /// These are sent.
    Answer(Vec<Sent>),
    /// It waits for the web server, which is being asked.
    Waits,
    /// It waits, and the web server must be asked.
    Fetch,
}

#[derive(Debug)]
struct PendingInterest {
    interest: Interest,
    header: LinkHeader,
    until: Instant,
}

#[derive(Debug, Default)]
struct Entry {
    held: Option<OriginObject>,
    is_fetching: bool,
    /// Bytes that have come of an answer whose size is not known yet.
    incoming_bytes: u64,
    /// The web server would not or could not, until then.
    refused_until: Option<Instant>,
    waiting: VecDeque<PendingInterest>,
    /// When it was used last, in the order of uses.
    used: u64,
}

/// All URLs.
#[derive(Debug)]
pub(super) struct Table {
    entries: BTreeMap<Name, Entry>,
    limits: OriginLimits,
    /// Of all objects, and of answers that are on their way.
    kept_bytes: u64,
    uses: u64,
    pub(super) asked: u64,
}

/// The name of a URL in that of an Interest: without version, segment, metadata and digest.
pub(super) fn object_of(name: NameRef<'_>) -> Name {
    let is_about_object = |component: packet::Component<'_>| {
        component == METADATA
            || component.kind == packet::ComponentKind::VERSION
            || component.kind == packet::ComponentKind::SEGMENT
            || component.kind.is_digest()
    };
    let count = name.components().position(is_about_object);
    name.prefix(count.unwrap_or(name.component_count())).to_name()
}

/// The version in the name of an Interest for a segment.
fn version_in(object: &Name, name: NameRef<'_>) -> Option<u64> {
    name.component(object.as_ref().component_count()).and_then(version_number)
}

impl Table {
    pub(super) fn new(limits: OriginLimits) -> Self {
        Table { entries: BTreeMap::new(), limits, kept_bytes: 0, uses: 0, asked: 0 }
    }

    /// What the web server said of the state that is held.
    pub(super) fn known(&self, object: &Name) -> ClientValidators {
        let held = self.entries.get(object).and_then(|entry| entry.held.as_ref());
        held.filter(|held| held.is_complete()).map(|held| held.known.clone()).unwrap_or_default()
    }

    /// The version of an answer about this URL, which `version_of` makes of what is held.
    pub(super) fn next_version(
        &self,
        object: &Name,
        version_of: impl FnOnce(Option<HeldVersion<'_>>) -> u64,
    ) -> u64 {
        let held = self.entries.get(object).and_then(|entry| entry.held.as_ref());
        version_of(held.map(|held| HeldVersion { known: &held.known, version: held.version() }))
    }

    /// An Interest about this URL came.
    pub(super) fn ask(
        &mut self,
        object: &Name,
        interest: Interest,
        header: LinkHeader,
        signer: &Signer,
    ) -> Outcome {
        self.uses += 1;
        let uses = self.uses;
        if !self.entries.contains_key(object) && !self.make_room_for_entry() {
            return Outcome::Answer(vec![Sent::Nack(interest, header)]);
        }
        let entry = self.entries.entry(object.clone()).or_default();
        entry.used = uses;
        let version = version_in(object, interest.name());
        let held = entry.held.as_ref().filter(|held| match version {
            Some(version) => held.version() == version,
            None => held.is_fresh(),
        });
        if let Some(held) = held {
            match held.reply(&interest) {
                Ok(Some(Reply::Data(data))) => return Outcome::Answer(vec![Sent::Data(data, header)]),
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => return Outcome::Answer(vec![Sent::Nack(interest, header)]),
            }
        } else if entry.refused_until.is_some_and(|until| Instant::now() < until) {
            return Outcome::Answer(vec![nack_of_metadata(object, interest, header, signer)]);
        } else if version.is_some() && entry.held.as_ref().is_some_and(OriginObject::is_fresh) {
            // That state is gone.
            return Outcome::Answer(vec![Sent::Nack(interest, header)]);
        }
        if entry.waiting.len() >= self.limits.waiting {
            return Outcome::Answer(vec![Sent::Nack(interest, header)]);
        }
        let lifetime = Duration::from_nanos(interest.lifetime().as_nanos()).min(self.limits.timeout);
        entry.waiting.push_back(PendingInterest { interest, header, until: Instant::now() + lifetime });
        if entry.is_fetching || entry.held.as_ref().is_some_and(|held| !held.is_complete()) {
            return Outcome::Waits;
        }
        entry.is_fetching = true;
        self.asked += 1;
        Outcome::Fetch
    }

    /// More has come of an answer whose size is not known; false if that is too much. Its bytes count until
    /// it is taken up, or its fetch is over.
    pub(super) fn receive(&mut self, object: &Name, bytes: u64) -> bool {
        let so_far = self.entries.get(object).map_or(0, |entry| entry.incoming_bytes);
        if so_far.saturating_add(bytes) > self.limits.max_object_bytes || !self.make_room(object, bytes) {
            return false;
        }
        let Some(entry) = self.entries.get_mut(object) else { return false };
        entry.incoming_bytes += bytes;
        self.kept_bytes += bytes;
        true
    }

    fn release_incoming(&mut self, object: &Name) {
        let Some(entry) = self.entries.get_mut(object) else { return };
        self.kept_bytes -= std::mem::take(&mut entry.incoming_bytes);
    }

    /// Takes up what the web server sends; false if it is too much.
    pub(super) fn begin(&mut self, object: &Name, held: OriginObject) -> bool {
        let size = held.size_bytes();
        self.drop_held(object);
        self.release_incoming(object);
        if size > self.limits.max_object_bytes || !self.make_room(object, size) {
            return false;
        }
        let Some(entry) = self.entries.get_mut(object) else { return false };
        self.kept_bytes += size;
        (entry.held, entry.refused_until) = (Some(held), None);
        true
    }

    /// More bytes came; false if they are too many, or nobody keeps them any more.
    pub(super) fn push(&mut self, object: &Name, bytes: &[u8]) -> bool {
        let held = self.entries.get_mut(object).and_then(|entry| entry.held.as_mut());
        held.is_some_and(|held| held.push(bytes))
    }

    pub(super) fn is_complete(&self, object: &Name) -> bool {
        let held = self.entries.get(object).and_then(|entry| entry.held.as_ref());
        held.is_some_and(OriginObject::is_complete)
    }

    /// Whether these very bytes are held.
    pub(super) fn holds(&self, object: &Name, bytes: &[u8]) -> bool {
        let held = self.entries.get(object).and_then(|entry| entry.held.as_ref());
        held.is_some_and(|held| held.is_complete() && held.bytes() == bytes)
    }

    /// The web server says that nothing has changed; false if that is not here any more.
    pub(super) fn refresh(&mut self, object: &Name, fresh: Duration) -> bool {
        let held = self.entries.get_mut(object).and_then(|entry| entry.held.as_mut());
        let held = held.map(|held| held.fresh_until = Instant::now() + fresh);
        held.is_some()
    }

    /// The web server will not.
    pub(super) fn refuse(&mut self, object: &Name) {
        self.drop_held(object);
        if let Some(entry) = self.entries.get_mut(object) {
            entry.refused_until = Some(Instant::now() + REFUSED_FOR);
        }
    }

    /// Answers those who wait for what has come.
    pub(super) fn settle(&mut self, object: &Name, signer: &Signer) -> Vec<Sent> {
        let Some(entry) = self.entries.get_mut(object) else { return Vec::new() };
        let is_refused = entry.refused_until.is_some();
        let (now, mut sent) = (Instant::now(), Vec::new());
        for _ in 0..entry.waiting.len() {
            let Some(waiting) = entry.waiting.pop_front() else { break };
            if waiting.until < now {
                continue;
            }
            let PendingInterest { interest, header, .. } = waiting;
            let Some(held) = &entry.held else {
                match is_refused {
                    true => sent.push(nack_of_metadata(object, interest, header, signer)),
                    false => entry.waiting.push_back(PendingInterest { interest, header, ..waiting }),
                }
                continue;
            };
            match held.reply(&interest) {
                Ok(Some(Reply::Data(data))) => sent.push(Sent::Data(data, header)),
                Ok(None) => {
                    entry.waiting.push_back(PendingInterest { interest, header, until: waiting.until });
                }
                Ok(Some(_)) | Err(_) => sent.push(Sent::Nack(interest, header)),
            }
        }
        sent
    }

    /// The web server has said all that it says; `is_good` if that is of use.
    pub(super) fn fetched(&mut self, object: &Name, is_good: bool, signer: &Signer) -> Vec<Sent> {
        self.release_incoming(object);
        let is_complete = self.is_complete(object);
        if !is_good && !is_complete {
            self.drop_held(object);
        }
        let Some(entry) = self.entries.get_mut(object) else { return Vec::new() };
        entry.is_fetching = false;
        if !is_good {
            entry.refused_until = Some(Instant::now() + REFUSED_FOR);
            let waiting = std::mem::take(&mut entry.waiting);
            // It is not said that there is no such thing.
            return waiting.into_iter().map(|waiting| Sent::Nack(waiting.interest, waiting.header)).collect();
        }
        self.settle(object, signer)
    }

    fn drop_held(&mut self, object: &Name) {
        let held = self.entries.get_mut(object).and_then(|entry| entry.held.take());
        self.kept_bytes -= held.map_or(0, |held| held.size_bytes());
    }

    /// Drops what was used longest ago until so many bytes have room.
    fn make_room(&mut self, but: &Name, bytes: u64) -> bool {
        while self.kept_bytes.saturating_add(bytes) > self.limits.max_kept_bytes {
            let idle = self
                .entries
                .iter()
                .filter(|(name, entry)| *name != but && !entry.is_fetching && entry.held.is_some());
            let Some(oldest) = idle.min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone()) else {
                return false;
            };
            self.drop_held(&oldest);
        }
        true
    }

    /// Forgets the URL that was used longest ago, if there are too many.
    fn make_room_for_entry(&mut self) -> bool {
        if self.entries.len() < self.limits.urls {
            return true;
        }
        let idle = self.entries.iter().filter(|(_, entry)| !entry.is_fetching);
        let Some(oldest) = idle.min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone()) else {
            return false;
        };
        self.drop_held(&oldest);
        self.entries.remove(&oldest);
        true
    }
}

/// Says that there is nothing: by a packet to who asks for metadata, so that caches keep it for a moment.
fn nack_of_metadata(object: &Name, interest: Interest, header: LinkHeader, signer: &Signer) -> Sent {
    let name = object.with(METADATA).and_then(|name| flow::NamingConvention::Typed.with_version(&name, 0));
    let name = name.and_then(|name| flow::NamingConvention::Typed.with_segment(&name, 0));
    let millis = u64::try_from(REFUSED_FOR.as_millis()).unwrap_or(1);
    let data = name.ok().and_then(|name| {
        let data = DataBuilder::new(name).content_type(ContentType::NACK);
        signer.sign_data(&data.freshness(time::Duration::from_millis(millis))).ok()
    });
    match data.filter(|data| interest.matches(data)) {
        Some(data) => Sent::Data(data, header),
        None => Sent::Nack(interest, header),
    }
}
