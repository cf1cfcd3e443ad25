//! Asks a neighbour's forwarder for a route, by a signed command.

use std::io;

use management::{Command, CommandScope, ControlParameters, ControlResponse};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name};
use trust::{InterestSigner, Signer};

use super::activity::{Activity, Log};
use super::error::{self, IdentityKeyError, JobError};
use crate::experiment::plan::{RegistrationKey, RegistrationPlan};
use crate::keys::{self, KeyRole};

/// The columns of its table: when it was answered, with which code, and how often it had asked.
pub(crate) const HEAD: [&str; 3] = ["time", "code", "asked"];

/// From one attempt to the next.
pub(crate) const EVERY: Duration = Duration::from_millis(500);

/// One route that is asked for.
#[derive(Debug)]
pub(super) struct Registration {
    wanted: ControlParameters,
    signer: InterestSigner,
    random: Random,
    left: u32,
    next: Instant,
    /// The commands that were sent and may still be answered.
    sent: Vec<Name>,
    /// When the command was made that is sent, if not now, and the command.
    replays: Option<Instant>,
    replayed: Option<Interest>,
    log: Log,
}

impl Registration {
    /// `seed` is that of the run, from which keys come; `own_seed` draws what this one draws.
    pub(super) fn new(
        plan: &RegistrationPlan,
        start: Instant,
        seed: u64,
        own_seed: u64,
        log: Log,
    ) -> Result<Self, JobError> {
        let signer = signer(plan, seed)?.unwrap_or_else(Signer::digest);
        let replays = match plan.key {
            RegistrationKey::Replayed(at_ns) => Some(Instant::from_nanos(at_ns)),
            _ => None,
        };
        let prefix = error::name(&plan.prefix)?;
        let mut random = Random::from_seed(own_seed);
        let signer = InterestSigner::new(signer, Random::from_seed(random.next_u64()));
        let cost = Some(u64::from(plan.cost));
        let wanted = ControlParameters { name: Some(prefix), cost, ..ControlParameters::default() };
        let (left, sent) = (plan.attempts, Vec::new());
        Ok(Registration { wanted, signer, random, left, next: start, sent, replays, replayed: None, log })
    }

    fn command(&mut self, now: Instant) -> Option<Interest> {
        let interest = Command::RibRegister.interest(CommandScope::Localhop, &self.wanted).ok()?;
        let interest = interest.lifetime(EVERY).nonce(self.random.next_u32());
        self.signer.sign(self.log.unix_millis(self.replays.unwrap_or(now)), &interest).ok()
    }
}

/// What signs in the name of whoever asks; `None` without a key.
pub(super) fn signer(plan: &RegistrationPlan, seed: u64) -> Result<Option<Signer>, IdentityKeyError> {
    let origin = match plan.key {
        RegistrationKey::None => return Ok(None),
        RegistrationKey::Trusted | RegistrationKey::Replayed(_) => KeyRole::Trusted,
        RegistrationKey::Forged => KeyRole::Forged,
        RegistrationKey::Stolen => KeyRole::Earlier,
    };
    keys::signer(seed, origin, &plan.identity).map(Some)
}

impl Activity for Registration {
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        if !self.sent.iter().any(|name| name.as_ref() == data.name()) {
            return false;
        }
        // What cannot be read is no answer.
        let code = ControlResponse::decode(data.content()).map_or(0, |answer| answer.code.number());
        let time = self.log.time(now);
        self.log.row(&[&time, &code, &self.sent.len()]);
        self.left = 0;
        true
    }

    fn receive_nack(&mut self, _now: Instant, interest: &Interest, _reason: NackReason) -> bool {
        self.sent.iter().any(|name| name.as_ref() == interest.name())
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        if self.left == 0 || now < self.next {
            return None;
        }
        self.left -= 1;
        self.next = now + EVERY;
        let interest = match self.replayed.clone() {
            Some(again) => again,
            None => self.command(now)?,
        };
        if self.replays.is_some() {
            self.replayed = Some(interest.clone());
        }
        self.sent.push(interest.name().to_name());
        Some(interest)
    }

    fn next_deadline(&self) -> Instant {
        if self.left == 0 { Instant::NEVER } else { self.next }
    }

    fn is_complete(&self) -> bool {
        self.left == 0
    }

    fn finish(&mut self, _now: Instant) -> io::Result<()> {
        self.log.finish()
    }
}
