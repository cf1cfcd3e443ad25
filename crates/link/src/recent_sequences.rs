//! Which sequence numbers arrived lately: what keeps a repeated frame from being delivered twice.

use packet::time::{Duration, Instant};

/// Sequence numbers seen within a span of time: one bit each, in blocks of 64 consecutive numbers, in a ring
/// indexed by the number of the block.
///
/// A peer counts its frames, so the latest numbers fill the ring without gaps. The ring starts small and
/// doubles whenever it would have to forget a block too early, up to its limit; from then on newer blocks
/// take the places of older ones. Each place has room for two blocks, so that a single number from far away,
/// as a flipped bit may produce, does not push out the one in use.
///
/// Time passes in periods of the length of the span. A number is remembered for the rest of the period in
/// which it was last seen and all of the next one, so for one to two spans.
#[derive(Clone, Debug)]
pub(crate) struct RecentSequences {
    /// A power of two of them.
    places: Vec<[Block; 2]>,
    max_places: usize,
    period: u64,
    period_start: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// The numbers it stands for, divided by 64.
    number: u64,
    /// The period in which one of them was last seen; periods count from 2, so that a fresh block is an old
    /// one.
    period: u64,
    seen_in_period: u64,
    seen_in_period_before: u64,
}

/// What is known about a sequence number that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It has not arrived lately.
    New,
    /// It has not arrived lately, and older numbers were forgotten early for its sake.
    NewAtLimit,
    /// It has arrived a short while ago.
    Repeated,
}

const BLOCK_NUMBERS: usize = 64;
const FIRST_PLACES: usize = 2;

impl RecentSequences {
    /// Remembers about `limit` consecutive numbers at most.
    pub(crate) fn new(limit: usize) -> Self {
        RecentSequences {
            places: Vec::new(),
            max_places: limit.div_ceil(2 * BLOCK_NUMBERS).max(1).next_power_of_two(),
            period: 2,
            period_start: Instant::ZERO,
        }
    }

    /// Notes that `sequence` arrives now. It shall be remembered for `memory` at least.
    pub(crate) fn observe(&mut self, now: Instant, sequence: u64, memory: Duration) -> Arrival {
        self.pass_time(now, memory);
        if self.places.is_empty() {
            self.places = vec![Default::default(); FIRST_PLACES.min(self.max_places)];
        }
        let number = sequence / BLOCK_NUMBERS as u64;
        while self.displaces(number) && self.places.len() < self.max_places {
            self.grow();
        }
        let at_limit = self.displaces(number);
        let period = self.period;
        let Some(place) = place_of(&mut self.places, number) else { return Arrival::New };
        let block = block_for(place, number);
        if block.number != number || !block.matters(period) {
            *block = Block { number, period, ..Block::default() };
        } else if block.period < period {
            block.seen_in_period_before = std::mem::take(&mut block.seen_in_period);
            block.period = period;
        }
        let bit = 1 << (sequence % BLOCK_NUMBERS as u64);
        let repeated = (block.seen_in_period | block.seen_in_period_before) & bit != 0;
        block.seen_in_period |= bit;
        match (repeated, at_limit) {
            (true, _) => Arrival::Repeated,
            (false, true) => Arrival::NewAtLimit,
            (false, false) => Arrival::New,
        }
    }

    fn pass_time(&mut self, now: Instant, memory: Duration) {
        let elapsed = now.saturating_since(self.period_start);
        if elapsed >= memory {
            self.period += if elapsed >= memory * 2 { 2 } else { 1 };
            self.period_start = now;
        }
    }

    /// Whether the place of block `number` is taken by others that still matter.
    fn displaces(&mut self, number: u64) -> bool {
        let period = self.period;
        place_of(&mut self.places, number)
            .is_some_and(|place| place.iter().all(|block| block.number != number && block.matters(period)))
    }

    fn grow(&mut self) {
        let larger = vec![Default::default(); self.places.len() * 2];
        let old = std::mem::replace(&mut self.places, larger);
        for kept in old.into_iter().flatten().filter(|block| block.matters(self.period)) {
            if let Some(place) = place_of(&mut self.places, kept.number) {
                *block_for(place, kept.number) = kept;
            }
        }
    }
}

impl Block {
    fn matters(&self, period: u64) -> bool {
        self.period + 1 >= period
    }
}

fn place_of(places: &mut [[Block; 2]], number: u64) -> Option<&mut [Block; 2]> {
    let mask = (places.len() as u64).wrapping_sub(1);
    places.get_mut((number & mask) as usize)
}

/// The block with `number`, or the one to be used for it: the one that was not seen for longer.
fn block_for([first, second]: &mut [Block; 2], number: u64) -> &mut Block {
    if first.number == number || (second.number != number && first.period <= second.period) {
        first
    } else {
        second
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use packet::random::Random;

    use super::Arrival::{New, NewAtLimit, Repeated};
    use super::*;

    const MEMORY: Duration = Duration::from_millis(100);

    #[test]
    fn a_number_is_remembered_for_its_time_and_a_repetition_starts_it_anew() {
        let mut recent = RecentSequences::new(1024);
        assert_eq!(recent.observe(Instant::from_millis(0), 7, MEMORY), New);
        assert_eq!(recent.observe(Instant::from_millis(99), 7, MEMORY), Repeated);
        assert_eq!(recent.observe(Instant::from_millis(198), 7, MEMORY), Repeated);
        assert_eq!(recent.observe(Instant::from_millis(398), 7, MEMORY), New);
    }

    #[test]
    fn numbers_of_one_block_are_forgotten_each_in_its_time() {
        let mut recent = RecentSequences::new(1024);
        for step in 0..64 {
            assert_eq!(recent.observe(Instant::from_millis(step * 50), step, MEMORY), New);
        }
        // A peer that starts over with the same numbers is not mistaken for an echo of itself.
        assert_eq!(recent.observe(Instant::from_millis(64 * 50), 0, MEMORY), New);
        assert_eq!(recent.observe(Instant::from_millis(64 * 50), 63, MEMORY), Repeated);
    }

    #[test]
    fn counting_numbers_are_all_remembered_up_to_the_limit_even_across_the_wrap() {
        let mut recent = RecentSequences::new(1024);
        let first = u64::MAX - 511;
        for offset in 0..1024 {
            assert_eq!(recent.observe(Instant::ZERO, first.wrapping_add(offset), MEMORY), New);
        }
        for offset in 0..1024 {
            assert_eq!(
                recent.observe(Instant::ZERO, first.wrapping_add(offset), MEMORY),
                Repeated,
                "{offset}"
            );
        }
        assert_eq!(recent.places.len(), 8);
        assert_eq!(recent.observe(Instant::ZERO, first.wrapping_add(1024), MEMORY), NewAtLimit);
        assert_eq!(recent.places.len(), 8);
    }

    #[test]
    fn a_number_with_a_flipped_bit_neither_makes_the_ring_grow_nor_anything_be_forgotten() {
        for bit in 0..64 {
            let mut recent = RecentSequences::new(1 << 18);
            for number in 0..100 {
                assert_eq!(recent.observe(Instant::ZERO, number, MEMORY), New);
            }
            let places = recent.places.len();
            recent.observe(Instant::ZERO, 100 ^ (1 << bit), MEMORY);
            for number in 0..100 {
                assert_eq!(recent.observe(Instant::ZERO, number, MEMORY), Repeated, "bit {bit}");
            }
            assert_eq!(recent.places.len(), places, "bit {bit}");
        }
    }

    #[test]
    fn slow_counting_needs_no_more_room_than_the_memory_asks_for() {
        let mut recent = RecentSequences::new(1 << 20);
        for number in 0..100_000 {
            // One number a millisecond: at most two hundred are remembered at a time.
            assert_eq!(recent.observe(Instant::from_millis(number), number, MEMORY), New);
        }
        assert!(recent.places.len() <= 4, "{}", recent.places.len());
    }

    #[test]
    fn it_agrees_with_a_map_of_times() {
        let mut random = Random::from_seed(9);
        let mut recent = RecentSequences::new(1 << 12);
        let mut model: HashMap<u64, Instant> = HashMap::new();
        let mut now = Instant::ZERO;
        let mut counts = [0; 2];
        for step in 0..50_000u64 {
            now += Duration::from_micros(random.below(1000));
            let sequence = step - random.below(step.min(600) + 1);
            let age = model.insert(sequence, now).map(|seen| now.saturating_since(seen));
            let arrival = recent.observe(now, sequence, MEMORY);
            match age {
                Some(age) if age < MEMORY => {
                    assert_eq!(arrival, Repeated, "step {step}");
                    counts[0] += 1;
                }
                Some(age) if age < MEMORY * 2 => {}
                _ => {
                    assert_eq!(arrival, New, "step {step}");
                    counts[1] += 1;
                }
            }
        }
        assert!(counts.iter().all(|&count| count > 5000), "{counts:?}");
    }
}
