//! What goes on over one connection, all at once: requests that wait for an answer, sources that answer, and
//! fetches. It moves no bytes and reads no clock: whoever owns the socket tells it what came and sends what
//! it hands out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use flow::source::{ServeCounters, Server, ServerConfig, Source, SourceError};
use flow::verified::RequestKind;
use flow::{Segment, VerifiedFetch};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name, NameRef, Now, Packet};

use crate::event::Event;
use crate::pending::{Kind, PendingTable, RequestId};
use crate::proofs::Proofs;
use crate::refused_packet::RefusedPacketInfo;

/// Interests that wait for the application to look at them, and their bytes. More are dropped, and counted.
const MAX_WAITING: usize = 16 << 10;
const MAX_WAITING_BYTES: usize = 8 << 20;

/// Requests whose time is up that are told of in one step.
const MAX_EXPIRED_AT_ONCE: usize = 64;

/// What came of a request that somebody claimed.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Data(Data),
    Nack(NackReason),
    Timeout,
}

/// A packet to be sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) packet: Packet,
    /// That of an Interest; of an answer that of the Interest which it answers.
    pub(crate) header: LinkHeader,
}

/// A fetch under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FetchId(u64);

/// The faces by which Interests of a fetch have to leave the forwarder.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NextHops {
    /// Those for the object.
    pub(crate) object: Option<u64>,
    /// Those for what vouches for it.
    pub(crate) proof: Option<u64>,
}

struct Running {
    id: FetchId,
    fetch: VerifiedFetch,
    next_hops: NextHops,
    proofs: Proofs,
}

/// See the module's page.
///
/// # Calling order
/// Tell it what came ([`Session::handle_packet`]) and that time has passed ([`Session::handle_timeout`], when
/// [`Session::next_deadline`] has come). After each of these and after each command send what
/// [`Session::poll_transmit`] hands out.
#[derive(Default)]
pub(crate) struct Session {
    pending: PendingTable,
    /// Requests whose answers are no events, with the answers that have come.
    claimed: BTreeMap<RequestId, (Kind, Option<Answer>)>,
    /// Which of these have an answer.
    answered: BTreeSet<RequestId>,
    /// What came of the other requests, and failures, each with its place in the order of events.
    events: VecDeque<(u64, Event)>,
    /// How many of them are about requests.
    outcomes: usize,
    /// Interests that no source answers.
    interests: VecDeque<(u64, Interest, LinkHeader)>,
    interest_bytes: usize,
    next_event: u64,
    credentials: Vec<Data>,
    /// What answers Interests, by prefix. An application may have tens of thousands.
    sources: BTreeMap<Name, Server<Box<dyn Source + Send>>>,
    fetches: Vec<Running>,
    next_fetch: u64,
    outgoing: VecDeque<Outgoing>,
    unsolicited: u64,
    dropped: u64,
}

impl Session {
    /// How many Interests wait for an answer, or have one that was not handed out yet.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len() + self.outcomes
    }

    pub(crate) fn unsolicited(&self) -> u64 {
        self.unsolicited
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Notes an Interest that was sent, or is to be sent again when there is a forwarder.
    pub(crate) fn expect(
        &mut self,
        interest: Interest,
        now: Instant,
        timeout: Duration,
        kind: Kind,
    ) -> RequestId {
        self.pending.insert(interest, now, now + timeout, kind)
    }

    /// Forgets a request.
    pub(crate) fn forget(&mut self, id: RequestId) {
        self.pending.take(id);
        self.claimed.remove(&id);
        self.answered.remove(&id);
    }

    /// The answer to this request is kept for [`Session::take_answer`], and is no event.
    pub(crate) fn claim(&mut self, id: RequestId, kind: Kind) {
        self.claimed.insert(id, (kind, None));
    }

    /// Whether an answer to this request may still come, or has come and waits.
    #[cfg(feature = "async")]
    pub(crate) fn is_claimed(&self, id: RequestId) -> bool {
        self.claimed.contains_key(&id)
    }

    /// The answer to a request that was claimed, if it has come.
    pub(crate) fn take_answer(&mut self, id: RequestId) -> Option<Answer> {
        if !self.answered.remove(&id) {
            return None;
        }
        self.claimed.remove(&id)?.1
    }

    /// Which of the requests that were claimed have an answer that nobody has taken: hardly ever more than a
    /// few, however many wait.
    pub(crate) fn answered(&self) -> impl Iterator<Item = RequestId> {
        self.answered.iter().copied()
    }

    /// Shows these certificates to whoever asks for them.
    pub(crate) fn show_credentials(&mut self, certificates: Vec<Data>) {
        self.credentials = certificates;
    }

    /// Has `source` answer Interests under `prefix` from now on, in place of the one that did.
    pub(crate) fn attach(&mut self, prefix: Name, source: Box<dyn Source + Send>) {
        // It is over when it is detached.
        let server = Server::new(source, ServerConfig::default(), Instant::ZERO);
        self.sources.insert(prefix, server);
    }

    /// What the source has done that answers under `prefix`, if there is one.
    pub(crate) fn served(&self, prefix: &Name) -> Option<ServeCounters> {
        Some(*self.sources.get(prefix)?.counters())
    }

    /// Takes the source away that answers under `prefix`.
    pub(crate) fn detach(&mut self, prefix: &Name) {
        self.sources.remove(prefix);
    }

    /// The longest prefix of `name` under which something answers.
    fn source_of(&self, name: NameRef<'_>) -> Option<Name> {
        let mut end = name.to_name();
        loop {
            // Names are in the order in which all that begin with one follow it, so that the last one up to
            // the end is the longest prefix, or has what it has in common with `name`.
            let (found, _) = self.sources.range::<Name, _>(..=&end).next_back()?;
            if found.as_ref().is_prefix_of(name) {
                return Some(found.clone());
            }
            let pairs = found.as_ref().components().zip(name.components());
            end = name.prefix(pairs.take_while(|(here, there)| here == there).count()).to_name();
        }
    }

    pub(crate) fn begin_fetch(&mut self, fetch: VerifiedFetch, next_hops: NextHops) -> FetchId {
        let id = FetchId(self.next_fetch);
        self.next_fetch += 1;
        self.fetches.push(Running { id, fetch, next_hops, proofs: Proofs::default() });
        id
    }

    pub(crate) fn end_fetch(&mut self, id: FetchId) -> Option<VerifiedFetch> {
        let place = self.fetches.iter().position(|running| running.id == id)?;
        Some(self.fetches.remove(place).fetch)
    }

    /// Ends a fetch and gives it back to who began it, who has it run and ends it once.
    pub(crate) fn give_back(&mut self, id: FetchId) -> VerifiedFetch {
        match self.end_fetch(id) {
            Some(fetch) => fetch,
            None => unreachable!("nobody else ends it"),
        }
    }

    pub(crate) fn fetch(&self, id: FetchId) -> Option<&VerifiedFetch> {
        self.fetches.iter().find(|running| running.id == id).map(|running| &running.fetch)
    }

    /// The next segments that a fetch has brought.
    pub(crate) fn poll_segments(&mut self, id: FetchId, most: usize, segments: &mut Vec<Segment>) {
        if let Some(running) = self.fetches.iter_mut().find(|running| running.id == id) {
            running.fetch.poll_segments(most, segments);
        }
    }

    /// The next packet of a fetch that was refused: what is wrong, which may be what was to vouch for the
    /// packet.
    pub(crate) fn poll_refused(&mut self, id: FetchId) -> Option<RefusedPacketInfo> {
        let running = self.fetches.iter_mut().find(|running| running.id == id)?;
        let refused = running.fetch.poll_refused()?;
        Some(running.proofs.blame(refused))
    }

    /// A packet came.
    pub(crate) fn handle_packet(&mut self, now: Now, packet: Packet, header: LinkHeader) {
        match packet {
            Packet::Interest(interest) => self.handle_interest(now, interest, header),
            Packet::Data(data) => self.handle_data(now, &data, &header),
            Packet::Nack(interest, reason) => self.handle_nack(now, interest.name(), reason, &header),
        }
    }

    /// Time has passed. Fetches wait while there is no forwarder to ask.
    pub(crate) fn handle_timeout(&mut self, now: Now, has_forwarder: bool) {
        for _ in 0..MAX_EXPIRED_AT_ONCE {
            let Some(expired) = self.pending.take_expired(now.instant) else { break };
            self.conclude(expired.id, |_| Answer::Timeout, |id| Event::Timeout { id });
        }
        for running in self.fetches.iter_mut().filter(|_| has_forwarder) {
            if running.fetch.next_deadline() <= now.instant {
                running.fetch.handle_timeout(now);
            }
        }
    }

    /// When [`Session::handle_timeout`] has something to do, or a fetch may ask for more.
    pub(crate) fn next_deadline(&self, has_forwarder: bool) -> Instant {
        let fetches = self.fetches.iter().filter(|_| has_forwarder);
        let fetches = fetches.map(|running| running.fetch.next_deadline()).min();
        self.pending.next_deadline().min(fetches.unwrap_or(Instant::NEVER))
    }

    /// The next packet to send.
    pub(crate) fn poll_transmit(&mut self, now: Now) -> Option<Outgoing> {
        self.outgoing.pop_front().or_else(|| self.fetches.iter_mut().find_map(|running| running.poll(now)))
    }

    /// Drops answers that there is no room to send; says how many.
    pub(crate) fn drop_answers(&mut self) -> u64 {
        std::mem::take(&mut self.outgoing).len() as u64
    }

    /// The next thing that has happened, in its order.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        let interest_first = match (self.events.front(), self.interests.front()) {
            (Some((event, _)), Some((interest, ..))) => interest < event,
            (None, _) => true,
            (Some(_), None) => false,
        };
        if interest_first {
            return self.poll_interest().map(|(interest, header)| Event::Interest { interest, header });
        }
        let (_, event) = self.events.pop_front()?;
        self.outcomes -= usize::from(is_outcome(&event));
        Some(event)
    }

    /// The first source that cannot go on, if there is one.
    pub(crate) fn take_failure(&mut self) -> Option<(Name, Arc<SourceError>)> {
        let place = self.events.iter().position(|(_, event)| matches!(event, Event::SourceFailed { .. }))?;
        match self.events.remove(place) {
            Some((_, Event::SourceFailed { prefix, error })) => Some((prefix, error)),
            _ => None,
        }
    }

    /// The next Interest that no source has answered.
    pub(crate) fn poll_interest(&mut self) -> Option<(Interest, LinkHeader)> {
        let (_, interest, header) = self.interests.pop_front()?;
        self.interest_bytes -= interest.wire().len();
        Some((interest, header))
    }

    /// Forgets what has to do with a forwarder that went away; says how many answers nobody waits for now.
    pub(crate) fn handle_forwarder_gone(&mut self) -> u64 {
        self.pending.forget_commands();
        // Who asks a question goes on waiting for its answer.
        self.claimed.retain(|_, (kind, _)| *kind == Kind::Question);
        self.answered.retain(|id| self.claimed.contains_key(id));
        self.outgoing.clear();
        let dropped = self.interests.len() as u64;
        self.interests.clear();
        self.interest_bytes = 0;
        dropped
    }

    /// Forgets all that was asked, and what has come of it.
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.claimed.clear();
        self.answered.clear();
        self.events.clear();
        self.outcomes = 0;
        let _ = self.handle_forwarder_gone();
    }

    /// What waits for an answer that another forwarder could bring as well.
    pub(crate) fn questions(&mut self) -> impl Iterator<Item = &mut Interest> {
        self.pending.interests()
    }

    fn push_event(&mut self, event: Event) {
        self.outcomes += usize::from(is_outcome(&event));
        self.events.push_back((self.next_event, event));
        self.next_event += 1;
    }

    fn handle_interest(&mut self, now: Now, interest: Interest, header: LinkHeader) {
        if let Some(certificate) = self.credentials.iter().find(|shown| interest.matches(shown)) {
            let packet = Packet::Data(certificate.clone());
            return self.outgoing.push_back(Outgoing { packet, header });
        }
        if let Some(prefix) = self.source_of(interest.name())
            && let Some(server) = self.sources.get_mut(&prefix)
        {
            match server.handle_interest(now.instant, &interest) {
                Ok(reply) => {
                    let packet = reply.into_packet(&interest);
                    self.outgoing.extend(packet.map(|packet| Outgoing { packet, header }));
                }
                Err(error) => {
                    self.detach(&prefix);
                    self.push_event(Event::SourceFailed { prefix, error: Arc::new(error) });
                }
            }
            return;
        }
        let bytes = self.interest_bytes.saturating_add(interest.wire().len());
        if self.interests.len() >= MAX_WAITING || bytes > MAX_WAITING_BYTES {
            self.dropped += 1;
            return;
        }
        self.interest_bytes = bytes;
        self.interests.push_back((self.next_event, interest, header));
        self.next_event += 1;
    }

    fn handle_data(&mut self, now: Now, data: &Data, header: &LinkHeader) {
        let mut is_wanted = false;
        for running in &mut self.fetches {
            if running.fetch.handle_data(now, data, header) {
                running.proofs.note(data, header.incoming_face);
                is_wanted = true;
            }
        }
        if self.pending.len() > 0 {
            for answered in self.pending.take_answered(data) {
                is_wanted = true;
                let round_trip = now.instant.saturating_since(answered.sent);
                let event = |id| Event::Data { id, data: data.clone(), header: header.clone(), round_trip };
                self.conclude(answered.id, |_| Answer::Data(data.clone()), event);
            }
        }
        self.unsolicited += u64::from(!is_wanted);
    }

    fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason, header: &LinkHeader) {
        for running in &mut self.fetches {
            running.fetch.handle_nack(now, name, reason);
        }
        for refused in self.pending.take_named(name) {
            let round_trip = now.instant.saturating_since(refused.sent);
            let event = |id| Event::Nack { id, reason, header: header.clone(), round_trip };
            self.conclude(refused.id, |_| Answer::Nack(reason), event);
        }
    }

    /// Hands what came of a request to whoever claimed it, or makes an event of it.
    fn conclude(
        &mut self,
        id: RequestId,
        answer: impl FnOnce(RequestId) -> Answer,
        event: impl FnOnce(RequestId) -> Event,
    ) {
        match self.claimed.get_mut(&id) {
            Some((_, place)) => {
                *place = Some(answer(id));
                self.answered.insert(id);
            }
            None => self.push_event(event(id)),
        }
    }
}

fn is_outcome(event: &Event) -> bool {
    matches!(event, Event::Data { .. } | Event::Nack { .. } | Event::Timeout { .. })
}

impl Running {
    fn poll(&mut self, now: Now) -> Option<Outgoing> {
        let (interest, asks) = self.fetch.poll_interest(now)?;
        let next_hop_face = match asks {
            RequestKind::Object => self.next_hops.object,
            RequestKind::Proof => self.next_hops.proof,
        };
        let header = LinkHeader { next_hop_face, ..LinkHeader::default() };
        Some(Outgoing { packet: Packet::Interest(interest), header })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<&Name> = self.sources.keys().collect();
        let fetches: Vec<&VerifiedFetch> = self.fetches.iter().map(|running| &running.fetch).collect();
        let mut form = f.debug_struct("Session");
        form.field("pending", &self.pending).field("sources", &sources).field("fetches", &fetches);
        form.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use packet::random::Random;

    use super::*;

    /// A name of up to four components of few kinds, one of which is the beginning of another.
    fn random_name(random: &mut Random) -> Name {
        let words = ["a", "aa", "b", "%00", "%FF"];
        let count = random.next_u32() as usize % 5;
        let word = |random: &mut Random| words[random.next_u32() as usize % words.len()];
        let text: String = (0..count).map(|_| format!("/{}", word(random))).collect();
        if text.is_empty() { "/".parse().unwrap() } else { text.parse().unwrap() }
    }

    #[test]
    fn the_source_with_the_longest_prefix_answers_whatever_else_is_attached() {
        let mut random = Random::from_seed(7);
        for _ in 0..300 {
            let mut session = Session::default();
            for _ in 0..random.next_u32() % 40 {
                session.attach(random_name(&mut random), Box::new(flow::source::Packets::new([])));
            }
            let name = random_name(&mut random);
            let prefixes =
                session.sources.keys().filter(|prefix| prefix.as_ref().is_prefix_of(name.as_ref()));
            let longest = prefixes.max_by_key(|prefix| prefix.as_ref().component_count()).cloned();
            assert_eq!(session.source_of(name.as_ref()), longest, "{name}");
        }
    }
}
