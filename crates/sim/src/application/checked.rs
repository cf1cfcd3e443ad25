//! Applications that can be checked: who asks knows what he may get, who answers says what was made.

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, NackReason, Name, NameRef, Packet, PitToken};

use super::late_replies::LateReplies;
use super::{Application, Context};
use crate::dialect;
use crate::dialect::request::Request;

/// What a [`CheckedProducer`] answers with. The content follows from the name, so that anybody can tell
/// whether Data arrived as it was made.
#[derive(Clone, Debug)]
pub struct Produce {
    /// What it answers under.
    pub prefix: Name,
    /// Bytes of content. Default 100.
    pub content_bytes: usize,
    /// How long the Data is fresh; whole seconds in CCNx. Default zero, which is: never.
    pub freshness: Duration,
    /// How long an answer takes. Default zero.
    pub reply_delay: Duration,
    /// Whether Interests are answered at all. Default true.
    pub answers: bool,
    /// What it speaks. Default NDN.
    pub dialect: Dialect,
}

impl Produce {
    /// Under a prefix, with 100 bytes, at once, in NDN.
    pub fn new(prefix: Name) -> Self {
        Produce {
            prefix,
            content_bytes: 100,
            freshness: Duration::ZERO,
            reply_delay: Duration::ZERO,
            answers: true,
            dialect: Dialect::Ndn,
        }
    }

    /// Whether Data is, byte for byte, what is made for its name.
    pub fn made(&self, data: &Data) -> bool {
        self.prefix.as_ref().is_prefix_of(data.name())
            && self.data(data.name()).is_some_and(|made| made.wire() == data.wire())
    }

    /// The Data under a name: always the same for the same name. `None` if it would exceed a packet.
    pub fn data(&self, name: NameRef<'_>) -> Option<Data> {
        let mix =
            |sum: u64, byte: &u8| sum.rotate_left(5).wrapping_mul(31).wrapping_add(u64::from(*byte) + 1);
        let mut random = Random::from_seed(name.canonical().iter().fold(0, mix));
        let content: Vec<u8> = (0..self.content_bytes).map(|_| random.next_u64() as u8).collect();
        let name = name.to_name();
        dialect::checked_data(self.dialect, &name, &content, self.freshness)
    }
}

/// Answers as a [`Produce`] says.
#[derive(Clone, Debug)]
pub struct CheckedProducer {
    produce: Produce,
    asked: u64,
    replies: LateReplies<(Data, PitToken)>,
}

impl CheckedProducer {
    /// Answers as `produce` says.
    pub fn new(produce: Produce) -> Self {
        CheckedProducer { replies: LateReplies::new(produce.reply_delay), produce, asked: 0 }
    }

    /// Interests that reached it.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    fn reply(context: &mut Context<'_>, (data, pit_token): (Data, PitToken)) {
        match pit_token.as_bytes() {
            [] => context.send_data(data),
            _ => context.send(Packet::Data(data), LinkHeader { pit_token, ..LinkHeader::default() }),
        }
    }
}

impl Application for CheckedProducer {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, header: &LinkHeader) {
        self.asked += 1;
        if !self.produce.answers || interest.dialect() != self.produce.dialect {
            return;
        }
        let Some(data) = self.produce.data(interest.name()).filter(|data| interest.matches(data)) else {
            return;
        };
        if let Some(reply) = self.replies.hold(context, (data, header.pit_token.clone())) {
            Self::reply(context, reply);
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        while let Some(reply) = self.replies.due(context) {
            Self::reply(context, reply);
        }
    }

    fn prefixes(&self) -> Vec<Name> {
        vec![self.produce.prefix.clone()]
    }
}

/// What became of a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Data came.
    Fetched(Box<Fetched>),
    /// The last attempt came back.
    Nacked(NackReason),
    /// The last attempt was not answered.
    TimedOut,
    /// Its Interest would not fit into a packet.
    TooLong,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// How long it came after the first Interest.
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
    Asked { until: Instant },
    Done(Outcome),
}

#[derive(Debug)]
struct Attempted {
    request: Request,
    state: State,
    attempts: u32,
    first_asked: Instant,
}

impl Attempted {
    /// Another attempt from a time on, or this outcome if there were enough.
    fn try_again(&mut self, from: Instant, otherwise: Outcome) {
        self.state = match self.attempts >= self.request.attempts {
            true => State::Done(otherwise),
            false => State::Waiting { from },
        };
    }
}

/// Asks for what it is told to, some at a time, and keeps an eye on what it gets.
///
/// Requests that are added while time passes are asked for when the application is called next; to have that
/// at once, ask in [`Network::with_application`](crate::Network::with_application) to be woken.
#[derive(Debug)]
pub struct CheckedConsumer {
    /// Requests that may be asked for at once.
    pub window: usize,
    /// How much later than its own lifetime says an Interest may be answered, because its node takes it up
    /// later or by another clock. Default none.
    pub lateness: Duration,
    dialect: Dialect,
    requests: Vec<Attempted>,
    /// Interests sent and until when each may be answered, less one for each Data that came.
    expected: Vec<(Interest, Instant)>,
    unasked: Vec<Name>,
    received: Vec<Data>,
}

impl CheckedConsumer {
    /// With nothing to ask for yet. The face it is added with must be of the same dialect.
    pub fn new(dialect: Dialect, window: usize) -> Self {
        CheckedConsumer {
            window,
            lateness: Duration::ZERO,
            dialect,
            requests: Vec::new(),
            expected: Vec::new(),
            unasked: Vec::new(),
            received: Vec::new(),
        }
    }

    /// Asks for something from a time on; gives the number of the request, from zero.
    pub fn request(&mut self, from: Instant, request: Request) -> usize {
        self.requests.push(Attempted {
            request,
            state: State::Waiting { from },
            attempts: 0,
            first_asked: from,
        });
        self.requests.len() - 1
    }

    /// All requests and what became of them; `None` for those that are still asked for.
    pub fn requests(&self) -> impl Iterator<Item = (&Request, Option<&Outcome>)> {
        self.requests.iter().map(|one| match &one.state {
            State::Done(outcome) => (&one.request, Some(outcome)),
            _ => (&one.request, None),
        })
    }

    /// Stops asking for anything, and forgets what became of it.
    pub fn forget_requests(&mut self) {
        self.requests.clear();
    }

    /// Whether something became of every request.
    pub fn is_done(&self) -> bool {
        self.requests().all(|(_, outcome)| outcome.is_some())
    }

    /// Names of Data that came though no Interest asked for it, or more often than any did.
    pub fn unasked(&self) -> &[Name] {
        &self.unasked
    }

    /// Takes all Data that came since this was last called.
    pub fn take_received(&mut self) -> Vec<Data> {
        std::mem::take(&mut self.received)
    }

    fn end_waits(&mut self, now: Instant) {
        for one in &mut self.requests {
            if let State::Asked { until } = one.state
                && until <= now
            {
                one.try_again(now, Outcome::TimedOut);
            }
        }
    }

    fn ask(&mut self, context: &mut Context<'_>, now: Instant) {
        let mut asked = self.requests.iter().filter(|one| matches!(one.state, State::Asked { .. })).count();
        for one in &mut self.requests {
            let State::Waiting { from } = one.state else { continue };
            if from > now || asked >= self.window {
                continue;
            }
            let nonce = context.random().next_u32();
            let Some(interest) = dialect::interest_of(&one.request, self.dialect, nonce) else {
                one.state = State::Done(Outcome::TooLong);
                continue;
            };
            if one.attempts == 0 {
                one.first_asked = now;
            }
            let until = now + one.request.lifetime;
            one.attempts += 1;
            one.state = State::Asked { until };
            asked += 1;
            self.expected.retain(|(_, until)| *until >= now);
            self.expected.push((interest.clone(), until + self.lateness));
            context.send(Packet::Interest(interest), one.request.header.clone());
        }
        let has_room = asked < self.window;
        let next = self.requests.iter().filter_map(|one| match one.state {
            State::Waiting { from } => has_room.then_some(from),
            State::Asked { until } => Some(until),
            State::Done(_) => None,
        });
        context.wake_at(next.min().unwrap_or(Instant::NEVER));
    }
}

impl Application for CheckedConsumer {
    fn start(&mut self, context: &mut Context<'_>) {
        self.handle_timer(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        self.end_waits(now);
        self.ask(context, now);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = context.now();
        // A cache answers one Interest at a time, so of several that the Data fits the others may be answered
        // later.
        let fitting = self.expected.iter().enumerate();
        let fitting = fitting.filter(|(_, (interest, until))| *until >= now && interest.matches(data));
        match fitting.min_by_key(|(_, (_, until))| *until).map(|(place, _)| place) {
            Some(place) => drop(self.expected.remove(place)),
            None => self.unasked.push(data.name().to_name()),
        }
        self.received.push(data.clone());
        for one in &mut self.requests {
            if matches!(one.state, State::Asked { .. }) && one.request.is_answered_by(data) {
                one.state = State::Done(Outcome::Fetched(Box::new(Fetched {
                    delay: now.saturating_since(one.first_asked),
                    attempts: one.attempts,
                    data: data.clone(),
                    header: header.clone(),
                })));
            }
        }
        self.ask(context, now);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = context.now();
        for one in &mut self.requests {
            let same = one.request.name.as_ref() == interest.name()
                && one.request.can_be_prefix == interest.can_be_prefix()
                && one.request.must_be_fresh == interest.must_be_fresh();
            if same && matches!(one.state, State::Asked { .. }) {
                let from = now + one.request.nack_delay;
                one.try_again(from, Outcome::Nacked(reason));
            }
        }
        self.ask(context, now);
    }
}
