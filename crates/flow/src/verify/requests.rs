//! Interests of a verifier's own, with their deadlines and repetitions.

use std::collections::BTreeMap;

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{ComponentKind, Dialect, Interest, Name, NameRef};

const LIFETIME: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 5;

/// Asks for single packets until they come or too many attempts were in vain. Each has a key, which most
/// often is its name.
#[derive(Debug)]
pub(super) struct Requests<K> {
    dialect: Dialect,
    waiting: BTreeMap<K, PendingRequest>,
    random: Random,
}

#[derive(Debug)]
struct PendingRequest {
    name: Name,
    attempts: u32,
    /// When the last attempt is given up; `None` before the first.
    deadline: Option<Instant>,
}

impl PendingRequest {
    /// Whether the last attempt was in vain, or none was made.
    fn is_over(&self, now: Instant) -> bool {
        self.deadline.is_none_or(|deadline| deadline <= now)
    }
}

impl<K: Ord + Clone> Requests<K> {
    pub(super) fn new(dialect: Dialect, seed: u64) -> Self {
        Requests { dialect, waiting: BTreeMap::new(), random: Random::from_seed(seed) }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Asks for `name`, unless something with this key is asked for already.
    pub(super) fn ask_as(&mut self, key: K, name: Name) {
        self.waiting.entry(key).or_insert(PendingRequest { name, attempts: 0, deadline: None });
    }

    /// Whether something with this key is asked for.
    pub(super) fn has(&self, key: &K) -> bool {
        self.waiting.contains_key(key)
    }

    /// The key of something asked for that is like this, by its key and its name.
    pub(super) fn find(&self, is_it: impl Fn(&K, NameRef<'_>) -> bool) -> Option<&K> {
        self.waiting.iter().find(|(key, waiting)| is_it(key, waiting.name.as_ref())).map(|(key, _)| key)
    }

    /// It came; says whether it was asked for.
    pub(super) fn remove(&mut self, key: &K) -> bool {
        self.waiting.remove(key).is_some()
    }

    /// The next Interest to send.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Interest> {
        let due = |waiting: &&mut PendingRequest| waiting.is_over(now) && waiting.attempts < ATTEMPTS;
        let waiting = self.waiting.values_mut().find(due)?;
        waiting.attempts += 1;
        waiting.deadline = Some(now + LIFETIME);
        self.dialect.interest(waiting.name.clone(), self.random.next_u32(), LIFETIME).ok()
    }

    /// One that was asked for too often in vain.
    pub(super) fn take_failed(&mut self, now: Instant) -> Option<K> {
        let failed = |waiting: &PendingRequest| waiting.attempts >= ATTEMPTS && waiting.is_over(now);
        let key = self.waiting.iter().find(|(_, waiting)| failed(waiting))?.0.clone();
        self.waiting.remove(&key);
        Some(key)
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.waiting
            .values()
            .map(|waiting| waiting.deadline.unwrap_or(Instant::ZERO))
            .min()
            .unwrap_or(Instant::NEVER)
    }
}

impl Requests<Name> {
    /// Asks for `name`, unless it is asked for already.
    pub(super) fn ask(&mut self, name: Name) {
        self.ask_as(name.clone(), name);
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
        self.has(&name.to_name())
    }

    /// It came; says whether it was asked for.
    pub(super) fn answered(&mut self, name: NameRef<'_>) -> bool {
        self.remove(&name.to_name())
    }
}
