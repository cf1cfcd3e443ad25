//! Things that wait, in the order of their age: incomplete messages, packets that await acknowledgement.

use packet::time::{Duration, Instant};

use crate::drop_reason::{DropCounters, DropReason};

/// Entries by key, in the order in which they were last touched, each charged with a number of bytes.
///
/// A lookup tries the entry touched last, which is right while the fragments of one packet come in a row, and
/// otherwise compares the keys one by one: limits are meant to be tens or hundreds. Limits are kept by the
/// owner, who makes room by removing the oldest entry.
#[derive(Debug)]
pub(crate) struct AgedMap<K, V> {
    keys: Vec<Option<K>>,
    entries: Vec<Option<Entry<V>>>,
    free: Vec<usize>,
    oldest: usize,
    newest: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    touched: Instant,
    older: usize,
    newer: usize,
}

/// What an entry is charged with at least: the value itself, and what this map and the allocator keep beside.
pub(crate) const fn entry_cost<V>() -> usize {
    size_of::<V>() + 64
}

/// No entry.
const NONE: usize = usize::MAX;

impl<K: Copy + Eq, V> AgedMap<K, V> {
    pub(crate) fn new() -> Self {
        AgedMap {
            keys: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            bytes: 0,
        }
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// The bytes that all entries are charged with.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The place of the entry with `key`.
    pub(crate) fn find(&self, key: &K) -> Option<usize> {
        match self.keys.get(self.newest) {
            Some(Some(newest)) if newest == key => Some(self.newest),
            _ => self.keys.iter().position(|candidate| candidate.as_ref() == Some(key)),
        }
    }

    /// The entry at `place`.
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut V> {
        self.entries.get_mut(place)?.as_mut().map(|entry| &mut entry.value)
    }

    /// Adds an entry, touched now. The caller knows that `key` is absent.
    pub(crate) fn insert(&mut self, now: Instant, key: K, value: V) -> usize {
        let entry = Entry { value, bytes: 0, touched: now, older: NONE, newer: NONE };
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.keys.push(None);
                self.entries.push(None);
                self.entries.len() - 1
            }
        };
        if let (Some(key_slot), Some(slot)) = (self.keys.get_mut(place), self.entries.get_mut(place)) {
            *key_slot = Some(key);
            *slot = Some(entry);
        }
        self.link_newest(place);
        place
    }

    /// Makes the entry at `place` the newest.
    pub(crate) fn touch(&mut self, now: Instant, place: usize) {
        if self.newest != place {
            self.unlink(place);
            self.link_newest(place);
        }
        if let Some(entry) = self.entry_mut(place) {
            entry.touched = now;
        }
    }

    /// Charges the entry at `place` with `bytes` from now on.
    pub(crate) fn charge(&mut self, place: usize, bytes: usize) {
        let Some(entry) = self.entry_mut(place) else { return };
        let before = std::mem::replace(&mut entry.bytes, bytes);
        self.bytes = self.bytes - before + bytes;
    }

    /// Removes the entry at `place`.
    pub(crate) fn remove(&mut self, place: usize) -> Option<V> {
        self.unlink(place);
        let entry = self.entries.get_mut(place)?.take()?;
        if let Some(key) = self.keys.get_mut(place) {
            *key = None;
        }
        self.free.push(place);
        self.bytes -= entry.bytes;
        Some(entry.value)
    }

    /// Removes the entry that was touched longest ago.
    pub(crate) fn remove_oldest(&mut self) -> Option<V> {
        self.remove(self.oldest)
    }

    /// Evicts the oldest partial packets until all take at most `max_bytes`. The one at `place`, which was
    /// touched last, goes last.
    ///
    /// # Errors
    /// It had to go too, which is for the caller to count; the others are counted here.
    pub(crate) fn make_room(
        &mut self,
        place: usize,
        max_bytes: usize,
        drops: &mut DropCounters,
    ) -> Result<(), DropReason> {
        while self.bytes > max_bytes {
            if self.len() == 1 {
                self.remove(place);
                return Err(DropReason::PartialEvicted);
            }
            self.remove_oldest();
            drops.count(DropReason::PartialEvicted);
        }
        Ok(())
    }

    /// When the oldest entry will have been left alone for `timeout`; [`Instant::NEVER`] if there is none.
    pub(crate) fn next_expiry(&self, timeout: Duration) -> Instant {
        match self.entries.get(self.oldest) {
            Some(Some(oldest)) => oldest.touched + timeout,
            _ => Instant::NEVER,
        }
    }

    /// Removes the oldest entry if it has been left alone for `timeout`.
    pub(crate) fn remove_expired(&mut self, now: Instant, timeout: Duration) -> Option<V> {
        if self.len() > 0 && self.next_expiry(timeout) <= now { self.remove_oldest() } else { None }
    }

    fn entry_mut(&mut self, place: usize) -> Option<&mut Entry<V>> {
        self.entries.get_mut(place)?.as_mut()
    }

    fn link_newest(&mut self, place: usize) {
        let older = self.newest;
        match self.entry_mut(older) {
            Some(entry) => entry.newer = place,
            None => self.oldest = place,
        }
        if let Some(entry) = self.entry_mut(place) {
            entry.older = older;
            entry.newer = NONE;
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: usize) {
        let Some(entry) = self.entry_mut(place) else { return };
        let (older, newer) = (entry.older, entry.newer);
        match self.entry_mut(older) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match self.entry_mut(newer) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::random::Random;

    use super::*;

    #[test]
    fn an_entry_expires_a_timeout_after_it_was_last_touched() {
        let timeout = Duration::from_millis(500);
        let mut store = AgedMap::new();
        store.insert(Instant::from_millis(0), 1, "first");
        let second = store.insert(Instant::from_millis(100), 2, "second");
        store.insert(Instant::from_millis(200), 3, "third");
        store.touch(Instant::from_millis(400), second);
        assert_eq!(store.next_expiry(timeout), Instant::from_millis(500));
        assert_eq!(store.remove_expired(Instant::from_millis(499), timeout), None);
        assert_eq!(store.remove_expired(Instant::from_millis(500), timeout), Some("first"));
        assert_eq!(store.remove_expired(Instant::from_millis(899), timeout), Some("third"));
        assert_eq!(store.remove_expired(Instant::from_millis(899), timeout), None);
        assert_eq!(store.remove_expired(Instant::from_millis(900), timeout), Some("second"));
        assert_eq!(store.next_expiry(timeout), Instant::NEVER);
        assert_eq!(store.remove_expired(Instant::NEVER, timeout), None);
    }

    /// The model is a plain list, oldest first.
    #[test]
    fn random_operations_agree_with_a_plain_list() {
        let mut random = Random::from_seed(4);
        let mut store: AgedMap<u64, u64> = AgedMap::new();
        let mut model: Vec<(u64, u64, usize)> = Vec::new();
        for step in 0..20_000u64 {
            let now = Instant::from_nanos(step);
            let key = random.below(40);
            let found = model.iter().position(|entry| entry.0 == key);
            assert_eq!(store.find(&key).is_some(), found.is_some());
            match (random.below(5), found) {
                (0, Some(at)) => {
                    let place = store.find(&key).unwrap();
                    assert_eq!(store.remove(place), Some(model.remove(at).1));
                }
                (1, _) => {
                    let oldest = if model.is_empty() { None } else { Some(model.remove(0).1) };
                    assert_eq!(store.remove_oldest(), oldest);
                }
                (2, Some(at)) => {
                    let bytes = random.below(1000) as usize;
                    model[at].2 = bytes;
                    store.charge(store.find(&key).unwrap(), bytes);
                }
                (_, Some(at)) => {
                    let place = store.find(&key).unwrap();
                    store.touch(now, place);
                    let entry = model.remove(at);
                    assert_eq!(store.get_mut(place), Some(&mut entry.1.clone()));
                    model.push(entry);
                }
                (_, None) => {
                    store.insert(now, key, step);
                    model.push((key, step, 0));
                }
            }
            assert_eq!(store.len(), model.len());
            assert_eq!(store.bytes(), model.iter().map(|entry| entry.2).sum::<usize>());
        }
    }
}
