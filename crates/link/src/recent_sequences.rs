//! Which sequence numbers arrived lately: what keeps a repeated frame from being delivered twice.

use packet::time::{Duration, Instant};

/// Sequence numbers seen within a span of time, in a ring indexed by the number itself.
///
/// A peer counts its frames, so the last `n` numbers fall into `n` different places. The ring starts small and
/// doubles whenever it would have to forget a number too early, up to its limit; from then on newer numbers
/// overwrite older ones, which is counted.
#[derive(Clone, Debug)]
pub(crate) struct RecentSequences {
    /// A power of two of them.
    places: Vec<Place>,
    max_places: usize,
}

/// What is known about a sequence number that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It has not arrived lately.
    New,
    /// It has not arrived lately, and an older number was forgotten early for its sake.
    NewAtLimit,
    /// It has arrived a short while ago.
    Repeated,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    sequence: u64,
    /// The place is free from this instant on.
    until: Instant,
}

const FREE: Place = Place { sequence: 0, until: Instant::ZERO };
const FIRST_PLACES: usize = 64;

impl RecentSequences {
    /// Remembers at most about `limit` numbers (rounded up to a power of two).
    pub(crate) fn new(limit: usize) -> Self {
        RecentSequences { places: Vec::new(), max_places: limit.max(1).next_power_of_two() }
    }

    /// Notes that `sequence` arrives now and shall be remembered for `memory`.
    pub(crate) fn observe(&mut self, now: Instant, sequence: u64, memory: Duration) -> Arrival {
        if self.places.is_empty() {
            self.places = vec![FREE; FIRST_PLACES.min(self.max_places)];
        }
        while self.must_grow(now, sequence) {
            self.grow(now);
        }
        let Some(place) = place_of(&mut self.places, sequence) else { return Arrival::New };
        let arrival = match now < place.until {
            false => Arrival::New,
            true if place.sequence == sequence => Arrival::Repeated,
            true => Arrival::NewAtLimit,
        };
        *place = Place { sequence, until: now + memory };
        arrival
    }

    fn must_grow(&mut self, now: Instant, sequence: u64) -> bool {
        self.places.len() < self.max_places
            && place_of(&mut self.places, sequence)
                .is_some_and(|place| now < place.until && place.sequence != sequence)
    }

    fn grow(&mut self, now: Instant) {
        let larger = vec![FREE; (self.places.len() * 2).min(self.max_places)];
        let old = std::mem::replace(&mut self.places, larger);
        for kept in old.into_iter().filter(|place| now < place.until) {
            if let Some(place) = place_of(&mut self.places, kept.sequence) {
                *place = kept;
            }
        }
    }
}

fn place_of(places: &mut [Place], sequence: u64) -> Option<&mut Place> {
    let mask = (places.len() as u64).wrapping_sub(1);
    places.get_mut((sequence & mask) as usize)
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
        let mut recent = RecentSequences::new(16);
        assert_eq!(recent.observe(Instant::from_millis(0), 7, MEMORY), New);
        assert_eq!(recent.observe(Instant::from_millis(99), 7, MEMORY), Repeated);
        assert_eq!(recent.observe(Instant::from_millis(198), 7, MEMORY), Repeated);
        assert_eq!(recent.observe(Instant::from_millis(298), 7, MEMORY), New);
    }

    #[test]
    fn counting_numbers_are_all_remembered_up_to_the_limit_even_across_the_wrap() {
        let mut recent = RecentSequences::new(1000);
        let first = u64::MAX - 500;
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
        assert_eq!(recent.places.len(), 1024);
        assert_eq!(recent.observe(Instant::ZERO, first.wrapping_add(1024), MEMORY), NewAtLimit);
        assert_eq!(recent.places.len(), 1024);
    }

    #[test]
    fn slow_counting_needs_no_more_places_than_fit_into_the_memory() {
        let mut recent = RecentSequences::new(1 << 16);
        for number in 0..100_000 {
            // One number a millisecond: a hundred are alive at a time.
            assert_eq!(recent.observe(Instant::from_millis(number), number, MEMORY), New);
        }
        assert!(recent.places.len() <= 128, "{}", recent.places.len());
    }

    #[test]
    fn it_agrees_with_a_map_as_long_as_nothing_is_forgotten() {
        let mut random = Random::from_seed(9);
        let mut recent = RecentSequences::new(1 << 12);
        let mut model: HashMap<u64, Instant> = HashMap::new();
        let mut now = Instant::ZERO;
        let mut repetitions = 0;
        for step in 0..50_000u64 {
            now += Duration::from_micros(random.below(200));
            let sequence = step - random.below(step.min(600) + 1);
            let repeated = model.insert(sequence, now + MEMORY).is_some_and(|until| now < until);
            let expected = if repeated { Repeated } else { New };
            assert_eq!(recent.observe(now, sequence, MEMORY), expected, "step {step}");
            repetitions += u32::from(repeated);
        }
        assert!((10_000..49_000).contains(&repetitions), "{repetitions}");
    }
}
