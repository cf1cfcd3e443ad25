//! Keys that nobody has shown: who forges packets can name any number of keys that do not exist.

use std::collections::BTreeMap;

use packet::time::{Duration, Instant};

/// Keys that are remembered as missing. A map in order, so nobody's names can make it slow.
const REMEMBERED: usize = 256;

/// How long one is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(10);

/// The wait is halved so often at most: an honest key must still find the time to come.
const MAX_HALVINGS: u32 = 2;

/// What was asked for in vain a moment ago. It is not waited for once more, and the more of it there is the
/// shorter is the wait for something else.
#[derive(Debug)]
pub(super) struct Missing<K> {
    /// Until when each is remembered.
    until: BTreeMap<K, Instant>,
}

impl<K: Ord + Clone> Missing<K> {
    pub(super) fn new() -> Self {
        Missing { until: BTreeMap::new() }
    }

    /// It was waited for in vain. At the limit the one is forgotten that was given up first.
    pub(super) fn note(&mut self, now: Instant, key: K) {
        self.expire(now);
        if self.until.len() >= REMEMBERED
            && let Some(first) = self.until.iter().min_by_key(|(_, until)| **until)
        {
            let first = first.0.clone();
            self.until.remove(&first);
        }
        // That it is named again does not make it last longer: it may be an honest key that was late.
        self.until.insert(key, now + REMEMBERED_FOR);
    }

    /// Whether it was asked for in vain a moment ago.
    pub(super) fn has(&self, now: Instant, key: &K) -> bool {
        self.until.get(key).is_some_and(|until| *until > now)
    }

    /// One like this.
    pub(super) fn find(&self, is_it: impl Fn(&K) -> bool) -> Option<&K> {
        self.until.keys().find(|key| is_it(key))
    }

    /// What is like this came after all.
    pub(super) fn forget(&mut self, is_it: impl Fn(&K) -> bool) {
        self.until.retain(|key, _| !is_it(key));
    }

    /// How long the next one is waited for, if the first is for so long.
    pub(super) fn wait_for_next(&self, now: Instant, first: Duration) -> Duration {
        let missing = self.until.values().filter(|until| **until > now).take(MAX_HALVINGS as usize).count();
        Duration::from_nanos(first.as_nanos() >> missing)
    }

    fn expire(&mut self, now: Instant) {
        self.until.retain(|_, until| *until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(2);

    #[test]
    fn one_that_nobody_showed_is_missing_for_ten_seconds_and_no_longer() {
        let mut missing = Missing::new();
        missing.note(Instant::from_secs(5), 1);
        assert!(missing.has(Instant::from_millis(14_999), &1) && !missing.has(Instant::from_secs(15), &1));
        assert!(!missing.has(Instant::from_secs(5), &2));
    }

    #[test]
    fn the_wait_is_halved_twice_at_most_and_is_whole_again_when_all_are_forgotten() {
        let mut missing = Missing::new();
        let mut waits = Vec::new();
        for key in 0..4 {
            waits.push(missing.wait_for_next(Instant::ZERO, FIRST).as_millis());
            missing.note(Instant::ZERO, key);
        }
        assert_eq!(waits, [2000, 1000, 500, 500]);
        assert_eq!(missing.wait_for_next(Instant::from_secs(10), FIRST), FIRST);
    }

    #[test]
    fn at_the_limit_the_one_that_was_given_up_first_is_forgotten() {
        let mut missing = Missing::new();
        for key in 0..=REMEMBERED {
            missing.note(Instant::from_nanos(key as u64), key);
        }
        let now = Instant::from_nanos(REMEMBERED as u64);
        let remembered = (0..=REMEMBERED).filter(|key| missing.has(now, key)).count();
        assert!(!missing.has(now, &0) && remembered == REMEMBERED);
    }

    #[test]
    fn one_that_came_late_is_missing_no_more() {
        let mut missing = Missing::new();
        missing.note(Instant::ZERO, 1);
        missing.note(Instant::ZERO, 2);
        missing.forget(|key| *key == 1);
        assert!(!missing.has(Instant::ZERO, &1) && missing.has(Instant::ZERO, &2));
    }
}
