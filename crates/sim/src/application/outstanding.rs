//! What was asked for and has not come.

use std::collections::{BTreeMap, VecDeque};

use packet::time::Instant;

/// A number that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) first_sent: Instant,
    pub(super) last_sent: Instant,
    pub(super) attempts: u32,
    /// Whether an Interest for it is under way; otherwise it waits to be asked for again.
    pub(super) under_way: bool,
}

/// Numbers that were asked for, by number. Those asked for in growing order stand in a ring, others in a map.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    ring: VecDeque<Option<Pending>>,
    /// The number of the first place in the ring.
    base: u64,
    others: BTreeMap<u64, Pending>,
    len: usize,
    /// When each attempt times out, in order of time; entries of answered ones are skipped.
    deadlines: VecDeque<Deadline>,
}

/// When an attempt times out.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Instant,
    number: u64,
    attempt: u32,
}

/// A gap in the numbers that a ring bridges.
const MAX_GAP: u64 = 64;

impl Outstanding {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Pending> {
        let place = number.checked_sub(self.base).and_then(|place| usize::try_from(place).ok());
        match place.and_then(|place| self.ring.get_mut(place)) {
            Some(Some(pending)) => Some(pending),
            _ if self.others.is_empty() => None,
            _ => self.others.get_mut(&number),
        }
    }

    /// Adds a number that is not there.
    pub(super) fn insert(&mut self, number: u64, pending: Pending) {
        self.len += 1;
        if self.ring.is_empty() && number >= self.base {
            self.base = number;
        }
        let end = self.base.saturating_add(self.ring.len() as u64);
        if number >= end && number - end < MAX_GAP {
            self.ring.extend((end..number).map(|_| None));
            self.ring.push_back(Some(pending));
        } else {
            self.others.insert(number, pending);
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Pending> {
        let place = number.checked_sub(self.base).and_then(|place| usize::try_from(place).ok());
        let removed = match place.and_then(|place| self.ring.get_mut(place)).and_then(Option::take) {
            None if self.others.is_empty() => None,
            None => self.others.remove(&number),
            found => found,
        };
        while let Some(None) = self.ring.front() {
            self.ring.pop_front();
            self.base += 1;
        }
        self.len -= usize::from(removed.is_some());
        removed
    }

    /// Notes when an attempt times out. Deadlines come in order of time.
    pub(super) fn expect(&mut self, at: Instant, number: u64, attempt: u32) {
        self.deadlines.push_back(Deadline { at, number, attempt });
    }

    /// The first deadline of an attempt that still waits.
    pub(super) fn next_deadline(&mut self) -> Instant {
        while let Some(&Deadline { at, number, attempt }) = self.deadlines.front() {
            if self.get_mut(number).is_some_and(|pending| pending.under_way && pending.attempts == attempt) {
                return at;
            }
            self.deadlines.pop_front();
        }
        Instant::NEVER
    }

    /// A number whose attempt has timed out by `now`.
    pub(super) fn poll_timeout(&mut self, now: Instant) -> Option<u64> {
        if self.next_deadline() > now {
            return None;
        }
        self.deadlines.pop_front().map(|deadline| deadline.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    #[test]
    fn it_remembers_what_a_map_remembers() {
        let mut random = Random::from_seed(3);
        let (mut outstanding, mut model) = (Outstanding::default(), BTreeMap::new());
        let mut next = 0;
        for step in 0..50_000u64 {
            let pending = Pending {
                first_sent: Instant::from_nanos(step),
                last_sent: Instant::from_nanos(step),
                attempts: 1,
                under_way: true,
            };
            let number = match random.below(10) {
                0 => random.below(2_000),
                1 => next + random.below(100),
                _ => next,
            };
            if random.below(2) == 0 {
                if let std::collections::btree_map::Entry::Vacant(place) = model.entry(number) {
                    next = next.max(number + 1);
                    outstanding.insert(number, pending);
                    place.insert(pending);
                }
            } else {
                let number = random.below(next + 1);
                assert_eq!(outstanding.get_mut(number).copied(), model.get(&number).copied());
                assert_eq!(outstanding.remove(number), model.remove(&number));
            }
            assert_eq!(outstanding.len(), model.len());
        }
    }
}
