//! Who asks and who answers in a swarm run, and what they notice.

use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name, NameRef};

use crate::application::{Application, Context};

/// Answers with content that follows from the name, so that anybody can check it.
#[derive(Clone, Debug)]
pub(super) struct Answerer {
    pub(super) prefix: Name,
    pub(super) content_bytes: usize,
    pub(super) freshness: Duration,
}

impl Answerer {
    /// The Data under a name: always the same for the same name.
    pub(super) fn data(&self, name: NameRef<'_>) -> Option<Data> {
        let mix =
            |sum: u64, byte: &u8| sum.rotate_left(5).wrapping_mul(31).wrapping_add(u64::from(*byte) + 1);
        let mut random = Random::from_seed(name.canonical().iter().fold(0, mix));
        let content: Vec<u8> = (0..self.content_bytes).map(|_| random.next_u64() as u8).collect();
        DataBuilder::new(name.to_name()).freshness(self.freshness).content(content).build_with_digest().ok()
    }
}

impl Application for Answerer {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _header: &LinkHeader) {
        if let Some(data) = self.data(interest.name()).filter(|data| interest.matches(data)) {
            context.send_data(data);
        }
    }

    fn prefixes(&self) -> Vec<Name> {
        vec![self.prefix.clone()]
    }
}

/// Something to ask for.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) name: Name,
    pub(super) can_be_prefix: bool,
    pub(super) must_be_fresh: bool,
    pub(super) lifetime: Duration,
    pub(super) attempts: u32,
    pub(super) hop_limit: Option<u8>,
    pub(super) nack_delay: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting { from: Instant },
    Asked { until: Instant },
    Fetched,
    GivenUp,
}

#[derive(Debug)]
struct Wanted {
    wish: Wish,
    state: State,
    attempts: u32,
}

/// Asks for what it is told to, a few at a time, and keeps an eye on what it gets.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) window: usize,
    wanted: Vec<Wanted>,
    /// Interests sent and until when each may be answered, less one for each Data that came.
    expected: Vec<(Interest, Instant)>,
    /// Data that came though no Interest asked for it, or more often than any did.
    pub(super) unasked: Vec<Name>,
    pub(super) received: Vec<Data>,
}

impl Asker {
    pub(super) fn new(window: usize) -> Self {
        Asker { window, wanted: Vec::new(), expected: Vec::new(), unasked: Vec::new(), received: Vec::new() }
    }

    /// Wishes for something from a time on.
    pub(super) fn wish(&mut self, from: Instant, wish: Wish) {
        self.wanted.push(Wanted { wish, state: State::Waiting { from }, attempts: 0 });
    }

    pub(super) fn names(&self) -> Vec<Name> {
        self.wanted.iter().map(|wanted| wanted.wish.name.clone()).collect()
    }

    pub(super) fn forget_wishes(&mut self) {
        self.wanted.clear();
    }

    pub(super) fn is_done(&self) -> bool {
        self.wanted.iter().all(|wanted| matches!(wanted.state, State::Fetched | State::GivenUp))
    }

    /// What was asked for in vain.
    pub(super) fn given_up(&self) -> impl Iterator<Item = &Name> {
        let vain = self.wanted.iter().filter(|wanted| wanted.state != State::Fetched);
        vain.map(|wanted| &wanted.wish.name)
    }

    fn end_waits(&mut self, now: Instant) {
        for wanted in &mut self.wanted {
            if let State::Asked { until } = wanted.state
                && until <= now
            {
                wanted.try_again(now);
            }
        }
    }

    fn ask(&mut self, context: &mut Context<'_>, now: Instant) {
        let mut asked =
            self.wanted.iter().filter(|wanted| matches!(wanted.state, State::Asked { .. })).count();
        for wanted in &mut self.wanted {
            let State::Waiting { from } = wanted.state else { continue };
            if from > now || asked >= self.window {
                continue;
            }
            let wish = &wanted.wish;
            let mut builder = InterestBuilder::new(wish.name.clone())
                .can_be_prefix(wish.can_be_prefix)
                .must_be_fresh(wish.must_be_fresh)
                .nonce(context.random().next_u32())
                .lifetime(wish.lifetime);
            if let Some(hops) = wish.hop_limit {
                builder = builder.hop_limit(hops);
            }
            let Ok(interest) = builder.build() else { continue };
            let until = now + wish.lifetime;
            wanted.attempts += 1;
            wanted.state = State::Asked { until };
            asked += 1;
            self.expected.retain(|(_, until)| *until >= now);
            self.expected.push((interest.clone(), until));
            context.send_interest(interest);
        }
        let has_room = asked < self.window;
        let next = self.wanted.iter().filter_map(|wanted| match wanted.state {
            State::Waiting { from } => has_room.then_some(from),
            State::Asked { until } => Some(until),
            State::Fetched | State::GivenUp => None,
        });
        context.wake_at(next.min().unwrap_or(Instant::NEVER));
    }
}

impl Wanted {
    fn try_again(&mut self, from: Instant) {
        self.state = match self.attempts >= self.wish.attempts {
            true => State::GivenUp,
            false => State::Waiting { from },
        };
    }

    fn is_answered_by(&self, data: &Data) -> bool {
        let name = self.wish.name.as_ref();
        name == data.name() || self.wish.can_be_prefix && name.is_prefix_of(data.name())
    }
}

impl Application for Asker {
    fn start(&mut self, context: &mut Context<'_>) {
        self.handle_timer(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        self.end_waits(now);
        self.ask(context, now);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, _header: &LinkHeader) {
        let now = context.now();
        let fitting = self.expected.iter().enumerate();
        let fitting = fitting.filter(|(_, (interest, until))| *until >= now && interest.matches(data));
        match fitting.min_by_key(|(_, (_, until))| *until).map(|(place, _)| place) {
            Some(place) => drop(self.expected.remove(place)),
            None => self.unasked.push(data.name().to_name()),
        }
        self.received.push(data.clone());
        for wanted in &mut self.wanted {
            if matches!(wanted.state, State::Asked { .. }) && wanted.is_answered_by(data) {
                wanted.state = State::Fetched;
            }
        }
        self.ask(context, now);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, _reason: NackReason) {
        let now = context.now();
        for wanted in &mut self.wanted {
            let same = wanted.wish.name.as_ref() == interest.name()
                && wanted.wish.can_be_prefix == interest.can_be_prefix()
                && wanted.wish.must_be_fresh == interest.must_be_fresh();
            if same && matches!(wanted.state, State::Asked { .. }) {
                let from = now + wanted.wish.nack_delay;
                wanted.try_again(from);
            }
        }
        self.ask(context, now);
    }
}
