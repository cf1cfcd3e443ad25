//! What a router does so that consumers need not find out by losses how fast they may ask: it reckons how
//! much Data the link to a face can carry, tells consumers their share of it with each Data, and forwards
//! Interests of that face no faster than their Data will fit.
//!
//! | file | what |
//! |---|---|
//! | `load` | what the link carries, how much Data waits for it, how long answers take |
//! | `hobhis` | hop-by-hop Interest shaping: steers the queue to a length |
//! | `mircc` | MIRCC: divides the link by the number of flows that the demand suggests |
//! | `shaper` | Interests that wait for their turn |
//!
//! All of it belongs to one face, the one that Interests come from and Data leaves by, and is part of that
//! face's configuration.

mod hobhis;
mod load;
mod mircc;
mod shaper;

use packet::registry::UnknownWord;
use packet::time::{Duration, Instant};
use packet::{ExplicitRate, NameHash};

use hobhis::Hobhis;
use load::Load;
use mircc::Mircc;
use shaper::Shaper;

pub(crate) use shaper::ShapedInterest;

/// Interests are forwarded, and consumers asked, at this part of what the link carries at least: with nothing
/// under way there is nobody to be told that things are better.
const SLOWEST: f64 = 0.01;

/// How to compute what consumers behind a face may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateControlConfig {
    /// The formula.
    pub method: RateMethod,
    /// What the link carries in the direction in which Data leaves.
    pub bits_per_second: u64,
    /// Bytes that the link adds to each packet, NDNLPv2 not counted.
    pub overhead_bytes: u32,
    /// Interests that may wait for their turn; those that find no room are sent back.
    pub max_held: u32,
}

/// How a rate is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateMethod {
    /// Hop-by-hop Interest shaping (HoBHIS): the link's rate, corrected by how far its queue is from a
    /// target.
    Hobhis,
    /// MIRCC: the link's rate divided by the number of flows, which follows from how much more is asked for
    /// than one of them may.
    Mircc,
}

impl RateMethod {
    /// All of them.
    pub const ALL: [RateMethod; 2] = [RateMethod::Hobhis, RateMethod::Mircc];

    /// The word used in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            RateMethod::Hobhis => "hobhis",
            RateMethod::Mircc => "mircc",
        }
    }
}

impl std::str::FromStr for RateMethod {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let found = RateMethod::ALL.into_iter().find(|method| method.as_str() == text);
        found.ok_or_else(|| {
            UnknownWord::new("method of rate control", text, RateMethod::ALL.map(RateMethod::as_str))
        })
    }
}

/// What becomes of an Interest that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It goes on at once.
    Forward,
    /// It waits for its turn: call [`RateControl::hold`].
    Wait,
    /// As many wait as may.
    Full,
}

/// The state of one face.
#[derive(Debug)]
pub(crate) struct RateControl {
    config: RateControlConfig,
    load: Load,
    method: Method,
    shaper: Shaper,
}

#[derive(Debug)]
enum Method {
    Hobhis(Hobhis),
    Mircc(Mircc),
}

impl RateControl {
    pub(crate) fn new(config: RateControlConfig, now: Instant) -> Self {
        let load = Load::new(config.bits_per_second, config.overhead_bytes, now);
        let method = match config.method {
            RateMethod::Hobhis => Method::Hobhis(Hobhis::default()),
            RateMethod::Mircc => Method::Mircc(Mircc::new(now, &load)),
        };
        RateControl { config, load, method, shaper: Shaper::new(config.max_held, now) }
    }

    pub(crate) fn config(&self) -> &RateControlConfig {
        &self.config
    }

    /// An Interest of `flow` came that no cache answers, and asks whether it may go on.
    pub(crate) fn handle_interest(&mut self, now: Instant, flow: NameHash) -> Admission {
        match &mut self.method {
            Method::Hobhis(hobhis) => hobhis.handle_interest(now, flow),
            Method::Mircc(mircc) => mircc.handle_interest(now, &self.load),
        }
        let admission = self.shaper.admit(now);
        if admission == Admission::Forward {
            self.spend_turn(now);
        }
        admission
    }

    /// Keeps an Interest until its turn comes.
    pub(crate) fn hold(&mut self, held: ShapedInterest) {
        self.shaper.hold(held);
    }

    /// Interests that wait.
    pub(crate) fn held(&self) -> impl Iterator<Item = &ShapedInterest> {
        self.shaper.held()
    }

    /// When the next of those that wait may go on.
    pub(crate) fn next_turn(&self) -> Option<Instant> {
        self.shaper.next_turn()
    }

    /// The Interest whose turn it is. Call [`RateControl::spend_turn`] if it goes on.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<ShapedInterest> {
        self.shaper.pop_due(now)
    }

    /// An Interest goes on: the next has to wait for as long as its Data will keep the link busy.
    pub(crate) fn spend_turn(&mut self, now: Instant) {
        let per_second = match &self.method {
            Method::Hobhis(_) => hobhis::shaping_rate(now, &self.load),
            Method::Mircc(mircc) => mircc.shaping_rate(now, &self.load),
        };
        self.shaper.spend_turn(now, 1.0 / per_second);
    }

    /// Gives up all that waits.
    pub(crate) fn release_all(&mut self) -> impl Iterator<Item = ShapedInterest> {
        self.shaper.release_all()
    }

    /// Data leaves for the face. It was asked for `response` ago, unless it comes from the cache. Gives what
    /// to tell the consumer.
    pub(crate) fn handle_data(
        &mut self,
        now: Instant,
        bytes: usize,
        response: Option<Duration>,
    ) -> ExplicitRate {
        self.load.handle_data(now, bytes, response);
        ExplicitRate::from_per_second(match &mut self.method {
            Method::Hobhis(hobhis) => hobhis.reported_rate(now, &self.load, self.shaper.len()),
            Method::Mircc(mircc) => mircc.reported_rate(now, &self.load),
        })
    }
}

#[cfg(test)]
mod tests;
