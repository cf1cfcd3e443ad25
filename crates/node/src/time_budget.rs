//! How much of a thread's time goes into what neighbours ask for: a part of it, and a smaller one for each
//! address, however many ask and whatever one piece of it costs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::origin::Owner;

/// One part in so many of a thread's time goes into one kind of work for neighbours …
pub(crate) const PART_FOR_NEIGHBOURS: u32 = 10;
/// … and one in so many into that for a single address.
const PART_FOR_AN_ADDRESS: u32 = 4 * PART_FOR_NEIGHBOURS;
/// Time that a [`NeighbourBudgets`] may be ahead of its part: those who ask seldom need not wait their turn.
const AHEAD: Duration = Duration::from_secs(1);
/// Addresses whose part is remembered. Those of whom nothing is left to remember are forgotten first; what is
/// not remembered counts for all neighbours nevertheless.
const MAX_ADDRESSES: usize = 1024;

/// A part of a thread's time: the next piece of work begins when the last has become that small a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeBudget {
    one_in: u32,
    next: Instant,
}

impl TimeBudget {
    /// One part in so many, from now on.
    pub(crate) fn new(one_in: u32, now: Instant) -> Self {
        TimeBudget { one_in, next: now }
    }

    /// When there is time for the next piece of work.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// A piece of work is done.
    pub(crate) fn spend(&mut self, began: Instant, ended: Instant) {
        self.next = self.next.max(began) + ended.saturating_duration_since(began) * self.one_in;
    }
}

/// The time that goes into one kind of work for all neighbours, and for each of them.
#[derive(Debug)]
pub(crate) struct NeighbourBudgets {
    all: TimeBudget,
    of: HashMap<Owner, TimeBudget>,
}

impl NeighbourBudgets {
    pub(crate) fn new(now: Instant) -> Self {
        NeighbourBudgets { all: TimeBudget::new(PART_FOR_NEIGHBOURS, now), of: HashMap::new() }
    }

    /// Whether there is time for a piece of work for this neighbour.
    pub(crate) fn has_any(&self, now: Instant, who: Owner) -> bool {
        let own = self.of.get(&who).map_or(now, TimeBudget::next);
        self.all.next().max(own) <= now + AHEAD
    }

    /// A piece of work for a neighbour is done.
    pub(crate) fn spend(&mut self, who: Owner, began: Instant, ended: Instant) {
        self.all.spend(began, ended);
        if self.of.len() >= MAX_ADDRESSES {
            self.of.retain(|_, own| own.next() > began);
        }
        if self.of.len() < MAX_ADDRESSES || self.of.contains_key(&who) {
            let own = self.of.entry(who).or_insert(TimeBudget::new(PART_FOR_AN_ADDRESS, began));
            own.spend(began, ended);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Origin;

    const SLICE: Duration = Duration::from_millis(5);

    fn address(number: u32) -> Owner {
        Owner::Origin(Origin::Address(system::AddressPrefix::V4(number)))
    }

    /// Pieces of work in a hundred seconds that are done for each of those who ask all the time, in turns.
    fn done(askers: &[u32]) -> Vec<u32> {
        let begin = Instant::now();
        let (mut time, mut now) = (NeighbourBudgets::new(begin), begin);
        let mut done = vec![0; askers.len()];
        while now < begin + Duration::from_secs(100) {
            for (count, asker) in done.iter_mut().zip(askers) {
                if time.has_any(now, address(*asker)) {
                    time.spend(address(*asker), now, now + SLICE);
                    (*count, now) = (*count + 1, now + SLICE);
                }
            }
            now += Duration::from_micros(100);
        }
        done
    }

    #[test]
    fn however_many_ask_a_tenth_of_the_time_is_spent_and_a_little_ahead() {
        let askers: Vec<u32> = (0..200).collect();
        let all: u32 = done(&askers).iter().sum();
        assert!((2000..2040).contains(&all), "{all} pieces of 20,000");
    }

    #[test]
    fn one_address_has_a_quarter_of_that_and_whoever_else_asks_finds_time() {
        let alone = done(&[1])[0];
        assert!((500..520).contains(&alone), "{alone} pieces of 20,000");
        let both = done(&[1, 2]);
        assert!(both.iter().all(|count| (500..520).contains(count)), "{both:?}");
    }

    #[test]
    fn addresses_that_come_once_are_forgotten_and_those_that_are_not_remembered_count_all_the_same() {
        let begin = Instant::now();
        let mut time = NeighbourBudgets::new(begin);
        for number in 0..5000 {
            let now = begin + SLICE * PART_FOR_AN_ADDRESS * number;
            time.spend(address(number), now, now + SLICE);
            assert!(time.of.len() <= MAX_ADDRESSES);
        }
        let now = begin + SLICE * PART_FOR_AN_ADDRESS * 5000;
        (0..5000).for_each(|number| time.spend(address(number), now, now + SLICE));
        assert_eq!(time.of.len(), MAX_ADDRESSES);
        assert!(!time.has_any(now, address(5001)));
    }
}
