//! What a strategy has learned about parts of the name space.
//!
//! Every entry lives equally long after it was last renewed, so the order in which entries were renewed is
//! the order in which they expire: a list in that order needs no timers and no search. Each call that may add
//! an entry first removes a few that have expired.

use packet::NameHash;
use packet::time::{Duration, Instant};

use super::chunked::Slab;
use super::hash_index::HashIndex;

/// Expired entries removed by each renewal: more than one, so that they are removed faster than new ones
/// come.
const SWEEP: usize = 4;

const NONE: u32 = u32::MAX;

/// A bounded map from name prefixes, by their hashes, to a strategy's own state, which expires.
///
/// At the limit the entry that was not renewed for longest makes room, and that is counted. Names are not
/// kept: two prefixes whose keyed 64-bit hashes are equal would share an entry, which costs a wrong estimate
/// and never a wrong answer.
#[derive(Debug)]
pub(crate) struct Measurements<T> {
    entries: Slab<Entry<T>>,
    index: HashIndex,
    lifetime: Duration,
    max_entries: u32,
    /// Renewed last.
    newest: u32,
    /// Will expire first.
    oldest: u32,
    forgotten_early: u64,
}

#[derive(Debug)]
struct Entry<T> {
    key: NameHash,
    expires: Instant,
    newer: u32,
    older: u32,
    value: T,
}

impl<T> Measurements<T> {
    /// An empty map whose entries live for `lifetime` after each renewal, with room for `max_entries`, at
    /// least one.
    pub(crate) fn new(lifetime: Duration, max_entries: u32) -> Self {
        Measurements {
            entries: Slab::default(),
            index: HashIndex::default(),
            lifetime,
            max_entries: max_entries.clamp(1, NONE - 1),
            newest: NONE,
            oldest: NONE,
            forgotten_early: 0,
        }
    }

    /// The live entry of a prefix. Does not renew it.
    pub(crate) fn get(&mut self, now: Instant, key: NameHash) -> Option<&mut T> {
        let number = self.find(key)?;
        self.entries.get_mut(number).filter(|entry| entry.expires > now).map(|entry| &mut entry.value)
    }

    /// The live entry of the longest of the prefixes of `longest` components and fewer; `prefix_hash` gives
    /// their hashes.
    pub(crate) fn longest_match(
        &mut self,
        now: Instant,
        longest: usize,
        prefix_hash: impl Fn(usize) -> Option<NameHash>,
    ) -> Option<&mut T> {
        let key = (0..=longest).rev().filter_map(prefix_hash).find(|&key| {
            self.find(key)
                .and_then(|number| self.entries.get(number))
                .is_some_and(|entry| entry.expires > now)
        })?;
        self.get(now, key)
    }

    /// The entry of a prefix, renewed, made with `make` if there is none that lives.
    pub(crate) fn renew(&mut self, now: Instant, key: NameHash, make: impl FnOnce() -> T) -> &mut T {
        self.sweep(now);
        let expires = now + self.lifetime;
        let number = match self.find(key) {
            Some(number) => {
                self.unlink(number);
                if let Some(entry) = self.entries.get_mut(number) {
                    if entry.expires <= now {
                        entry.value = make();
                    }
                    entry.expires = expires;
                }
                number
            }
            None => {
                if self.entries.len() >= self.max_entries {
                    self.forgotten_early += 1;
                    self.remove(self.oldest);
                }
                let number =
                    self.entries.insert(Entry { key, expires, newer: NONE, older: NONE, value: make() });
                self.index.insert(key, number);
                number
            }
        };
        self.push_newest(number);
        match self.entries.get_mut(number) {
            Some(entry) => &mut entry.value,
            None => unreachable!("it was found or made just now"),
        }
    }

    /// Entries held, some of which may have expired.
    pub(crate) fn len(&self) -> u32 {
        self.entries.len()
    }

    /// How many entries were removed before their time for want of room.
    pub(crate) fn forgotten_early(&self) -> u64 {
        self.forgotten_early
    }

    fn find(&self, key: NameHash) -> Option<u32> {
        self.index
            .candidates(key)
            .find(|&number| self.entries.get(number).is_some_and(|entry| entry.key == key))
    }

    fn sweep(&mut self, now: Instant) {
        for _ in 0..SWEEP {
            match self.entries.get(self.oldest) {
                Some(entry) if entry.expires <= now => self.remove(self.oldest),
                _ => return,
            }
        }
    }

    fn remove(&mut self, number: u32) {
        self.unlink(number);
        if let Some(entry) = self.entries.remove(number) {
            self.index.remove(entry.key, number);
        }
    }

    /// Puts an entry that is not in the list at its new end.
    fn push_newest(&mut self, number: u32) {
        let older = std::mem::replace(&mut self.newest, number);
        if let Some(entry) = self.entries.get_mut(number) {
            (entry.newer, entry.older) = (NONE, older);
        }
        match self.entries.get_mut(older) {
            Some(entry) => entry.newer = number,
            None => self.oldest = number,
        }
    }

    /// Takes an entry out of the list.
    fn unlink(&mut self, number: u32) {
        let Some(&Entry { newer, older, .. }) = self.entries.get(number) else { return };
        match self.entries.get_mut(newer) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
        match self.entries.get_mut(older) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;
    use std::collections::BTreeMap;

    const LIFETIME: Duration = Duration::from_secs(8);

    /// What the map should do, with a search for everything.
    #[derive(Default)]
    struct Model {
        /// By key: number of the renewal, when it expires, value.
        entries: BTreeMap<NameHash, (u64, Instant, u32)>,
        renewals: u64,
    }

    impl Model {
        fn get(&self, now: Instant, key: NameHash) -> Option<u32> {
            self.entries.get(&key).filter(|entry| entry.1 > now).map(|entry| entry.2)
        }

        fn renew(&mut self, now: Instant, key: NameHash, made: u32, limit: usize) -> u32 {
            self.entries.retain(|_, entry| entry.1 > now);
            if !self.entries.contains_key(&key) && self.entries.len() == limit {
                let oldest = *self.entries.iter().min_by_key(|(_, entry)| entry.0).unwrap().0;
                self.entries.remove(&oldest);
            }
            self.renewals += 1;
            let entry = self.entries.entry(key).or_insert((0, now, made));
            (entry.0, entry.1) = (self.renewals, now + LIFETIME);
            entry.2
        }
    }

    #[test]
    fn random_operations_agree_with_a_slow_model() {
        let mut early_total = 0;
        for seed in 0..40 {
            let mut random = Random::from_seed(seed);
            let (limit, keys) = (1 + random.below(60) as u32, 1 + random.below(100));
            let mut map = Measurements::new(LIFETIME, limit);
            let mut model = Model::default();
            let mut now = Instant::ZERO;
            for step in 0..5_000u32 {
                // Mostly short steps, sometimes a pause longer than a lifetime.
                let pause = if random.chance(0.002) { 20_000 } else { random.below(400) };
                now += Duration::from_millis(pause);
                let key = NameHash(random.below(keys) << 32 | 7);
                if random.chance(0.5) {
                    let expected = model.renew(now, key, step, limit as usize);
                    assert_eq!(*map.renew(now, key, || step), expected, "seed {seed} step {step}");
                } else {
                    assert_eq!(map.get(now, key).copied(), model.get(now, key), "seed {seed} step {step}");
                }
                assert!(map.len() <= limit);
            }
            early_total += map.forgotten_early();
        }
        assert!(early_total > 1000, "the limit was hardly reached: {early_total}");
    }

    #[test]
    fn the_longest_prefix_that_lives_is_found() {
        let mut map = Measurements::new(LIFETIME, 10);
        let hash = |length: usize| (length != 3).then_some(NameHash(length as u64 * 0x1_0000_0001));
        map.renew(Instant::ZERO, hash(1).unwrap(), || "one");
        map.renew(Instant::from_secs(5), hash(0).unwrap(), || "root");
        map.renew(Instant::from_secs(5), hash(4).unwrap(), || "four");
        let mut found = |secs, longest| map.longest_match(Instant::from_secs(secs), longest, hash).copied();
        assert_eq!(found(6, 5), Some("four"));
        assert_eq!(found(6, 3), Some("one"));
        assert_eq!(found(6, 0), Some("root"));
        assert_eq!(found(8, 3), Some("root"), "expired entries are passed over");
        assert_eq!(found(13, 5), None);
    }

    #[test]
    fn expired_entries_go_away_without_being_asked_for() {
        let mut map = Measurements::new(LIFETIME, 1_000_000);
        for number in 0..10_000 {
            map.renew(Instant::ZERO, NameHash(number << 20), || ());
        }
        let mut now = Instant::from_secs(9);
        for number in 0..10_000 / (SWEEP as u64 - 1) {
            now += Duration::from_nanos(1);
            map.renew(now, NameHash(number << 20 | 1), || ());
        }
        assert!(map.len() <= 10_000 / (SWEEP as u32 - 1) + SWEEP as u32, "{}", map.len());
        assert_eq!(map.forgotten_early(), 0);
    }

    #[test]
    fn entries_that_make_room_before_their_time_are_counted_and_expired_ones_are_not() {
        let mut map = Measurements::new(LIFETIME, 2);
        for number in 0..5 {
            map.renew(Instant::ZERO, NameHash(number), || ());
        }
        assert_eq!(map.forgotten_early(), 3);
        map.renew(Instant::ZERO + LIFETIME, NameHash(9), || ());
        assert_eq!(map.forgotten_early(), 3);
    }
}
