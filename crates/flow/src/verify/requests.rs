//! Interests of a verifier's own, with their deadlines and repetitions.

use std::collections::BTreeMap;

use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{ComponentKind, Interest, Name, NameRef};

const LIFETIME: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 5;

/// Asks for single packets by exact name until they come or too many attempts were in vain.
#[derive(Debug)]
pub(super) struct Requests {
    waiting: BTreeMap<Name, PendingRequest>,
    random: Random,
}

#[derive(Debug)]
struct PendingRequest {
    attempts: u32,
    /// When the last attempt is given up; `None` before the first.
    deadline: Option<Instant>,
}

impl Requests {
    pub(super) fn new(seed: u64) -> Self {
        Requests { waiting: BTreeMap::new(), random: Random::from_seed(seed) }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Asks for `name`, unless it is asked for already.
    pub(super) fn ask(&mut self, name: Name) {
        self.waiting.entry(name).or_insert(PendingRequest { attempts: 0, deadline: None });
    }

    /// Asks for packet `number` of what is called `name`.
    pub(super) fn ask_for(&mut self, name: &Name, number: u64) {
        // A name that is too long for the number could not be published either.
        if let Ok(name) = name.with_number(ComponentKind::SEGMENT, number) {
            self.ask(name);
        }
    }

    /// Whether it is asked for.
    pub(super) fn contains(&self, name: NameRef<'_>) -> bool {
        self.waiting.contains_key(&name.to_name())
    }

    /// It came; says whether it was asked for.
    pub(super) fn answered(&mut self, name: NameRef<'_>) -> bool {
        self.waiting.remove(&name.to_name()).is_some()
    }

    /// The next Interest to send.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Interest> {
        let (name, waiting) = self.waiting.iter_mut().find(|(_, waiting)| {
            waiting.deadline.is_none_or(|deadline| deadline <= now) && waiting.attempts < ATTEMPTS
        })?;
        waiting.attempts += 1;
        waiting.deadline = Some(now + LIFETIME);
        InterestBuilder::new(name.clone()).lifetime(LIFETIME).nonce(self.random.next_u32()).build().ok()
    }

    /// One that was asked for too often in vain.
    pub(super) fn take_failed(&mut self, now: Instant) -> Option<Name> {
        let failed = self.waiting.iter().find(|(_, waiting)| {
            waiting.attempts >= ATTEMPTS && waiting.deadline.is_some_and(|deadline| deadline <= now)
        });
        let name = failed?.0.clone();
        self.waiting.remove(&name);
        Some(name)
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.waiting
            .values()
            .map(|waiting| waiting.deadline.unwrap_or(Instant::ZERO))
            .min()
            .unwrap_or(Instant::NEVER)
    }
}
