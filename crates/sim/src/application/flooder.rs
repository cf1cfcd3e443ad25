//! Applications that ask only to be a burden.

use packet::time::Duration;
use packet::{Data, Interest, LinkHeader, NackReason, Name};

use super::{Application, Context, NumberedNames};
use crate::error::SimError;
use crate::into_name::IntoName;

/// Sends Interests for random names under a prefix at a fixed rate and cares for no answer: an Interest
/// flooding attack, if nobody can answer them.
///
/// A [`Consumer`](super::Consumer) at a rate remembers each Interest until it is answered or expires; this
/// one remembers none, so that a flood costs its sender nothing. The lab's `flood` is another attack: it
/// comes in bursts, and refreshes what it has asked for.
#[derive(Debug)]
pub struct Flooder {
    names: NumberedNames,
    gap: Duration,
    from: Duration,
    until: Duration,
    report: FlooderReport,
}

/// What a [`Flooder`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlooderReport {
    /// Interests sent.
    pub sent: u64,
    /// Data received.
    pub received: u64,
    /// Nacks received.
    pub nacks: u64,
}

impl Flooder {
    /// Asks so often a second, from the start and for ever, with a lifetime of 4 s.
    ///
    /// # Errors
    /// A prefix that is not a name, or a rate that is not above zero.
    pub fn new(prefix: impl IntoName, per_second: f64) -> Result<Self, SimError> {
        let names = NumberedNames::new(prefix.into_name()?, Duration::from_secs(4));
        let gap = super::consumer::gap_of(per_second)?;
        Ok(Flooder {
            names,
            gap,
            from: Duration::ZERO,
            until: Duration::MAX,
            report: FlooderReport::default(),
        })
    }

    /// Only between these times, on its node's clock.
    pub fn between(self, from: Duration, until: Duration) -> Self {
        Flooder { from, until, ..self }
    }

    /// With Interests of this lifetime.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        let prefix: Name = self.names.prefix().clone();
        self.names = NumberedNames::new(prefix, lifetime);
        self
    }

    /// What it has done.
    pub fn report(&self) -> FlooderReport {
        self.report
    }
}

impl Application for Flooder {
    fn start(&mut self, context: &mut Context<'_>) {
        context.wake_at(packet::time::Instant::ZERO + self.from);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        if now.saturating_since(packet::time::Instant::ZERO) >= self.until {
            return;
        }
        let (number, nonce) = (context.random().next_u64(), context.random().next_u32());
        if let Some((interest, hashes)) =
            self.names.interest(context.dialect(), context.hasher(), number, nonce)
        {
            context.send_hashed_interest(interest, hashes);
            self.report.sent += 1;
        }
        context.wake_at(now + self.gap);
    }

    fn handle_data(&mut self, _context: &mut Context<'_>, _data: &Data, _header: &LinkHeader) {
        self.report.received += 1;
    }

    fn handle_nack(&mut self, _context: &mut Context<'_>, _interest: &Interest, _reason: NackReason) {
        self.report.nacks += 1;
    }
}
