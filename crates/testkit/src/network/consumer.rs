//! Applications that ask.

use packet::ccnx::{InterestFields, Ticks};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, NackReason, Name, PitToken};

/// What a consumer asks for, and how long it goes on asking.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name.
    pub name: Name,
    /// Whether a longer name will do (NDN; in CCNx it always does).
    pub can_be_prefix: bool,
    /// Whether Data that is not fresh will not do (NDN).
    pub must_be_fresh: bool,
    /// How long to wait for an answer before asking again. Default 1 s.
    pub lifetime: Duration,
    /// How often to ask again. Default 0.
    pub retries: u32,
    /// How long to wait after a Nack before asking again. Default 50 ms.
    pub nack_delay: Duration,
    /// Forwarding hint (NDN).
    pub forwarding_hint: Vec<Name>,
    /// HopLimit (NDN).
    pub hop_limit: Option<u8>,
    /// What goes with the Interest to the local engine.
    pub header: LinkHeader,
}

impl Request {
    /// Asks once for exactly this name.
    pub fn new(name: Name) -> Self {
        Request {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            lifetime: Duration::from_secs(1),
            retries: 0,
            nack_delay: Duration::from_millis(50),
            forwarding_hint: Vec::new(),
            hop_limit: None,
            header: LinkHeader::default(),
        }
    }

    /// The same, asking again so many times.
    pub fn retries(self, retries: u32) -> Self {
        Request { retries, ..self }
    }

    /// The same with another lifetime.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        Request { lifetime, ..self }
    }

    /// The same with a PIT token, which the engine is to give back.
    pub fn pit_token(mut self, token: &[u8]) -> Self {
        self.header.pit_token = PitToken::new(token).expect("at most 32 bytes");
        self
    }

    fn interest(&self, dialect: Dialect, nonce: u32) -> Interest {
        match dialect {
            Dialect::Ndn => {
                let mut builder = InterestBuilder::new(self.name.clone())
                    .can_be_prefix(self.can_be_prefix)
                    .must_be_fresh(self.must_be_fresh)
                    .forwarding_hint(self.forwarding_hint.clone())
                    .nonce(nonce)
                    .lifetime(self.lifetime);
                if let Some(hops) = self.hop_limit {
                    builder = builder.hop_limit(hops);
                }
                builder.build().expect("a request fits into a packet")
            }
            Dialect::Ccnx => {
                let nonce = nonce.to_be_bytes();
                let fields = InterestFields {
                    nonce: Some(&nonce),
                    lifetime: Some(Ticks::from_duration(self.lifetime)),
                    ..InterestFields::default()
                };
                let wire = fields.encode(&self.name).expect("a request fits into a packet");
                Interest::decode_ccnx(Buffer::from(wire)).expect("what was encoded decodes")
            }
        }
    }
}

impl From<&str> for Request {
    /// Asks once for exactly the name with this URI.
    fn from(uri: &str) -> Self {
        Request::new(uri.parse().expect("a name"))
    }
}

/// What became of a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Data came.
    Fetched(Fetched),
    /// The last attempt came back.
    Nacked(NackReason),
    /// The last attempt was not answered.
    TimedOut,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// When it came.
    pub at: Instant,
    /// How long that was after the first Interest.
    pub delay: Duration,
    /// How many Interests it took.
    pub attempts: u32,
    /// The Data.
    pub data: Data,
    /// What came with it.
    pub header: LinkHeader,
}

#[derive(Debug)]
enum State {
    Waiting { from: Instant },
    Asked { deadline: Instant },
    Done(Outcome),
}

#[derive(Debug)]
struct Wanted {
    request: Request,
    state: State,
    attempts: u32,
    first_asked: Instant,
}

/// One application.
pub(super) struct Consumer {
    pub(super) node: usize,
    pub(super) port: usize,
    dialect: Dialect,
    /// Requests that may be asked for at once.
    pub(super) window: usize,
    wanted: Vec<Wanted>,
    /// Interests sent, and until when, less one for each Data that came.
    expected: Vec<(Interest, Instant)>,
    /// Data that came though no Interest asked for it, or more often than any did.
    pub(super) unasked: Vec<Data>,
    random: Random,
}

impl Consumer {
    pub(super) fn new(node: usize, port: usize, dialect: Dialect, random: Random) -> Self {
        Consumer {
            node,
            port,
            dialect,
            window: usize::MAX,
            wanted: Vec::new(),
            expected: Vec::new(),
            unasked: Vec::new(),
            random,
        }
    }

    pub(super) fn ask(&mut self, from: Instant, request: Request) -> usize {
        let state = State::Waiting { from };
        self.wanted.push(Wanted { request, state, attempts: 0, first_asked: from });
        self.wanted.len() - 1
    }

    pub(super) fn outcome(&self, request: usize) -> Option<&Outcome> {
        match &self.wanted.get(request)?.state {
            State::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    pub(super) fn requests(&self) -> impl Iterator<Item = (&Request, Option<&Outcome>)> {
        self.wanted.iter().map(|wanted| match &wanted.state {
            State::Done(outcome) => (&wanted.request, Some(outcome)),
            _ => (&wanted.request, None),
        })
    }

    pub(super) fn is_done(&self) -> bool {
        self.wanted.iter().all(|wanted| matches!(wanted.state, State::Done(_)))
    }

    fn has_room(&self) -> bool {
        let asked = self.wanted.iter().filter(|wanted| matches!(wanted.state, State::Asked { .. })).count();
        asked < self.window
    }

    /// The next Interest that is due.
    pub(super) fn poll_interest(&mut self, now: Instant) -> Option<(Interest, LinkHeader)> {
        let has_room = self.has_room();
        let wanted = self.wanted.iter_mut().find(|wanted| match wanted.state {
            State::Waiting { from } => from <= now && has_room,
            _ => false,
        })?;
        if wanted.attempts == 0 {
            wanted.first_asked = now;
        }
        wanted.attempts += 1;
        let deadline = now + wanted.request.lifetime;
        wanted.state = State::Asked { deadline };
        let interest = wanted.request.interest(self.dialect, self.random.next_u32());
        self.expected.retain(|(_, until)| *until >= now);
        self.expected.push((interest.clone(), deadline));
        Some((interest, wanted.request.header.clone()))
    }

    /// Gives up or asks again what was not answered in time.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        for wanted in &mut self.wanted {
            if let State::Asked { deadline } = wanted.state
                && deadline <= now
            {
                wanted.state = match wanted.attempts > wanted.request.retries {
                    true => State::Done(Outcome::TimedOut),
                    false => State::Waiting { from: now },
                };
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Instant {
        let has_room = self.has_room();
        let due = self.wanted.iter().filter_map(|wanted| match wanted.state {
            State::Waiting { from } => has_room.then_some(from),
            State::Asked { deadline } => Some(deadline),
            State::Done(_) => None,
        });
        due.min().unwrap_or(Instant::NEVER)
    }

    pub(super) fn handle_data(&mut self, now: Instant, data: &Data, header: &LinkHeader) {
        // A cache answers one Interest at a time, so of several that the Data fits the others may be answered later.
        let waiting = self.expected.iter().enumerate();
        let fitting = waiting.filter(|(_, (interest, until))| *until >= now && interest.matches(data));
        match fitting.min_by_key(|(_, (_, until))| *until).map(|(place, _)| place) {
            Some(place) => drop(self.expected.remove(place)),
            None => self.unasked.push(data.clone()),
        }
        for wanted in &mut self.wanted {
            let fits = matches!(wanted.state, State::Asked { .. })
                && wanted.request.interest(self.dialect, 0).matches(data);
            if fits {
                wanted.state = State::Done(Outcome::Fetched(Fetched {
                    at: now,
                    delay: now.saturating_since(wanted.first_asked),
                    attempts: wanted.attempts,
                    data: data.clone(),
                    header: header.clone(),
                }));
            }
        }
    }

    pub(super) fn handle_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) {
        for wanted in &mut self.wanted {
            let fits = matches!(wanted.state, State::Asked { .. })
                && wanted.request.name.as_ref() == interest.name()
                && wanted.request.can_be_prefix == interest.can_be_prefix()
                && wanted.request.must_be_fresh == interest.must_be_fresh();
            if fits {
                wanted.state = match wanted.attempts > wanted.request.retries {
                    true => State::Done(Outcome::Nacked(reason)),
                    false => State::Waiting { from: now + wanted.request.nack_delay },
                };
            }
        }
    }
}
