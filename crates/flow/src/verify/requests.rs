//! Interests of a verifier's own, with their deadlines and repetitions.

use std::collections::BTreeMap;

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{ComponentKind, Dialect, Interest, Name, NameRef};

use super::missing::Missing;

/// How often one is asked for, at equal distances of time.
const ATTEMPTS: u32 = 5;

/// How long packets of an object are waited for in all, and for how long one Interest.
const WAIT: Duration = Duration::from_secs(5);
const LIFETIME: Duration = Duration::from_secs(1);

/// The same for the first key that does not come: that it exists is nothing but somebody's word.
const WAIT_FOR_KEY: Duration = Duration::from_secs(2);
const LIFETIME_FOR_KEY: Duration = Duration::from_secs(2);

/// Asks for single packets until they come or too many attempts were in vain. Each has a key, which most
/// often is its name. What did not come is [missing](Missing) for a while.
#[derive(Debug)]
pub(super) struct Requests<K> {
    dialect: Dialect,
    /// How long the first one is waited for that does not come.
    wait: Duration,
    lifetime: Duration,
    waiting: BTreeMap<K, PendingRequest>,
    missing: Missing<K>,
    random: Random,
}

#[derive(Debug)]
struct PendingRequest {
    name: Name,
    attempts: u32,
    /// From one attempt to the next.
    interval: Duration,
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
    /// Requests for packets of an object that is there.
    pub(super) fn new(dialect: Dialect, seed: u64) -> Self {
        Requests {
            dialect,
            wait: WAIT,
            lifetime: LIFETIME,
            waiting: BTreeMap::new(),
            missing: Missing::new(),
            random: Random::from_seed(seed),
        }
    }

    /// Requests for keys that packets name: anybody can name one that nobody has.
    pub(super) fn for_keys(dialect: Dialect, seed: u64) -> Self {
        Requests { wait: WAIT_FOR_KEY, lifetime: LIFETIME_FOR_KEY, ..Requests::new(dialect, seed) }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Asks for `name`, unless something with this key is asked for already.
    pub(super) fn ask_as(&mut self, key: K, name: Name) {
        let request = PendingRequest { name, attempts: 0, interval: Duration::ZERO, deadline: None };
        self.waiting.entry(key).or_insert(request);
    }

    /// Whether something with this key is asked for.
    pub(super) fn has(&self, key: &K) -> bool {
        self.waiting.contains_key(key)
    }

    /// Whether something with this key did not come, a moment ago.
    pub(super) fn is_missing(&self, now: Instant, key: &K) -> bool {
        self.missing.has(now, key)
    }

    /// The key of something like this that is asked for, or was and comes late.
    pub(super) fn find(&self, is_it: impl Fn(&K) -> bool) -> Option<&K> {
        self.waiting.keys().find(|key| is_it(key)).or_else(|| self.missing.find(is_it))
    }

    /// All that is like this came.
    pub(super) fn remove_all(&mut self, is_it: impl Fn(&K) -> bool) {
        self.waiting.retain(|key, _| !is_it(key));
        self.missing.forget(is_it);
    }

    /// It came; says whether it was asked for.
    pub(super) fn remove(&mut self, key: &K) -> bool {
        self.waiting.remove(key).is_some()
    }

    /// The next Interest to send.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Interest> {
        let due = |waiting: &&mut PendingRequest| waiting.is_over(now) && waiting.attempts < ATTEMPTS;
        let waiting = self.waiting.values_mut().find(due)?;
        if waiting.attempts == 0 {
            let wait = self.missing.wait_for_next(now, self.wait, 0);
            waiting.interval = Duration::from_nanos(wait.as_nanos() / u64::from(ATTEMPTS));
        }
        waiting.attempts += 1;
        waiting.deadline = Some(now + waiting.interval);
        self.dialect.interest(waiting.name.clone(), self.random.next_u32(), self.lifetime).ok()
    }

    /// One that was asked for too often in vain. If it is given up long after its time there was an outage,
    /// and it need not be missing.
    pub(super) fn take_failed(&mut self, now: Instant) -> Option<K> {
        let failed = |waiting: &PendingRequest| waiting.attempts >= ATTEMPTS && waiting.is_over(now);
        let (key, waiting) = self.waiting.iter().find(|(_, waiting)| failed(waiting))?;
        let (key, deadline) = (key.clone(), waiting.deadline.unwrap_or(now));
        self.waiting.remove(&key);
        if now.saturating_since(deadline) <= self.wait {
            self.missing.note(now, key.clone());
        }
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
