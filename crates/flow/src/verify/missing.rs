//! Keys that nobody has shown, or that nobody vouches for: who forges packets can name any number of keys
//! that do not exist, and make up any number that certify each other and lead nowhere.

use std::collections::{BTreeMap, VecDeque};

use packet::time::{Duration, Instant};

/// Keys that are remembered as missing. A map in order, so nobody's names can make it slow.
const REMEMBERED: usize = 256;

/// How long one is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(10);

/// The wait is halved so often at most: an honest key must still find the time to come.
const MAX_HALVINGS: usize = 2;

/// What was asked for in vain a moment ago. It is not waited for once more, and the more of it there is the
/// shorter is the wait for something else.
#[derive(Debug)]
pub(super) struct Missing<K> {
    /// Until when each is remembered.
    until: BTreeMap<K, Instant>,
    /// Until when the last keys are remembered that came and were vouched for by nobody.
    in_vain: VecDeque<Instant>,
}

impl<K: Ord + Clone> Missing<K> {
    pub(super) fn new() -> Self {
        Missing { until: BTreeMap::new(), in_vain: VecDeque::new() }
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

    /// Keys came, and all that they led to was a refusal. It says nothing against any of them, for each may
    /// have been forged; but what is named next is likely to lead nowhere, too.
    pub(super) fn note_in_vain(&mut self, now: Instant) {
        if self.in_vain.len() >= MAX_HALVINGS {
            self.in_vain.pop_front();
        }
        self.in_vain.push_back(now + REMEMBERED_FOR);
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

    /// How long the next one is waited for, if the first is for so long. It is to vouch for so many others,
    /// which came one after the other and prove nothing without it.
    pub(super) fn wait_for_next(&self, now: Instant, first: Duration, unproven: usize) -> Duration {
        let counts = |until: &&Instant| **until > now;
        let missing = self.until.values().chain(&self.in_vain).filter(counts).take(MAX_HALVINGS).count();
        // Who issues certificates mostly has one, too: two are no sign of a forger.
        let halvings = (missing + unproven.saturating_sub(1)).min(MAX_HALVINGS);
        Duration::from_nanos(first.as_nanos() >> halvings)
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
            waits.push(missing.wait_for_next(Instant::ZERO, FIRST, 0).as_millis());
            missing.note(Instant::ZERO, key);
        }
        assert_eq!(waits, [2000, 1000, 500, 500]);
        assert_eq!(missing.wait_for_next(Instant::from_secs(10), FIRST, 0), FIRST);
    }

    #[test]
    fn the_wait_is_halved_where_many_prove_nothing_yet_and_where_some_led_nowhere_a_moment_ago() {
        let mut missing = Missing::<u8>::new();
        let waits = |missing: &Missing<u8>, now| {
            [0, 1, 2, 3, 9].map(|unproven| missing.wait_for_next(now, FIRST, unproven).as_millis())
        };
        assert_eq!(waits(&missing, Instant::ZERO), [2000, 2000, 1000, 500, 500]);
        missing.note_in_vain(Instant::ZERO);
        assert_eq!(waits(&missing, Instant::ZERO), [1000, 1000, 500, 500, 500]);
        (0..9).for_each(|_| missing.note_in_vain(Instant::ZERO));
        assert_eq!(waits(&missing, Instant::ZERO), [500; 5]);
        assert_eq!(waits(&missing, Instant::from_secs(10)), [2000, 2000, 1000, 500, 500]);
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
