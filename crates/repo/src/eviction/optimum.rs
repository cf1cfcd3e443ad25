//! What no policy can do better than, for a trace that is known as a whole.
//!
//! With objects of different sizes the best schedule is hard to compute, so there are two numbers. The bound
//! follows Berger, Beckmann and Harchol-Balter, "Practical bounds on optimal caching with variable object
//! sizes" (2018), where they ask for enough room on the whole only: to keep an object until its next request
//! takes its bytes for so many requests; the cheapest of these are bought until all the room of all the trace
//! is spent. No policy hits more often. The schedule is Belady's, by size: when room is needed, the one
//! leaves whose bytes times requests until its next use are the most. It can be followed, so the optimum lies
//! between the two; with equal sizes the schedule is the optimum.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which object.
    pub key: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Keys of a trace are its author's, and need no secret.
#[derive(Clone, Copy, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// For each request, which one is the next for the same object.
fn next_uses(trace: &[Request]) -> Vec<usize> {
    let mut next = vec![usize::MAX; trace.len()];
    let mut seen: HashMap<u64, usize, BuildHasherDefault<KeyHasher>> = HashMap::default();
    for (at, request) in trace.iter().enumerate().rev() {
        if let Some(later) = seen.insert(request.key, at)
            && let Some(place) = next.get_mut(at)
        {
            *place = later;
        }
    }
    next
}

/// More hits than any policy can have with room for so many bytes. Only those among the requests from number
/// `from` on are counted, and what is here before costs nothing.
pub fn bound(trace: &[Request], capacity_bytes: u64, from: usize) -> u64 {
    let costs = trace.iter().zip(next_uses(trace)).enumerate();
    let counts = |next: usize| next != usize::MAX && next >= from;
    let mut costs: Vec<u128> = costs
        .filter(|(_, (request, next))| counts(*next) && request.bytes <= capacity_bytes)
        .map(|(at, (request, next))| u128::from(request.bytes) * (next - at.max(from)) as u128)
        .collect();
    costs.sort_unstable();
    let mut room = u128::from(capacity_bytes) * trace.len().saturating_sub(from) as u128;
    let mut hits = 0;
    for cost in costs {
        let Some(rest) = room.checked_sub(cost) else { break };
        room = rest;
        hits += 1;
    }
    hits
}

/// The hits of Belady's schedule by size, among the requests from number `from` on.
pub fn schedule(trace: &[Request], capacity_bytes: u64, from: usize) -> u64 {
    let next = next_uses(trace);
    // What is here: by its next use, with its bytes, because its worth changes as time goes by.
    let mut here: HashMap<u64, (usize, u64), BuildHasherDefault<KeyHasher>> = HashMap::default();
    let mut by_next: BTreeSet<(usize, u64)> = BTreeSet::new();
    let (mut used, mut hits) = (0u64, 0);
    for (at, (request, next)) in trace.iter().zip(next).enumerate() {
        if let Some((_, bytes)) = here.remove(&request.key) {
            by_next.remove(&(at, request.key));
            used -= bytes;
            hits += u64::from(at >= from);
        }
        if next == usize::MAX || request.bytes > capacity_bytes {
            continue;
        }
        here.insert(request.key, (next, request.bytes));
        by_next.insert((next, request.key));
        used += request.bytes;
        while used > capacity_bytes {
            let worth = |&(next, key): &(usize, u64)| {
                let bytes = here.get(&key).map_or(0, |&(_, bytes)| bytes);
                u128::from(bytes) * (next - at) as u128
            };
            // The farthest ones are looked at; a nearer one is worth more only if it is many times as large.
            let victim = by_next.iter().rev().take(LOOKED_AT).max_by_key(|place| worth(place)).copied();
            let Some(victim) = victim else { break };
            by_next.remove(&victim);
            used -= here.remove(&victim.1).map_or(0, |(_, bytes)| bytes);
        }
    }
    hits
}

const LOOKED_AT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    #[test]
    fn belady_evicts_on_a_trace_what_was_found_by_hand() {
        let trace: Vec<Request> =
            [1, 2, 3, 1, 2, 4, 1, 2].into_iter().map(|key| Request { key, bytes: 1 }).collect();
        assert_eq!(schedule(&trace, 2, 0), 4);
        assert_eq!(schedule(&trace, 1, 0), 2);
        assert_eq!((bound(&trace, 100, 0), bound(&trace, 100, 4)), (4, 3));
    }

    #[test]
    fn the_best_schedule_of_all_lies_between_the_two() {
        for seed in 0..300 {
            let mut random = Random::from_seed(seed);
            let sizes: Vec<u64> = (0..4).map(|_| 1 + random.below(3)).collect();
            let keys: Vec<usize> = (0..9).map(|_| random.below(4) as usize).collect();
            let trace: Vec<Request> =
                keys.iter().map(|&key| Request { key: key as u64, bytes: sizes[key] }).collect();
            let best = best(&trace, &sizes, 4, 0);
            assert!(schedule(&trace, 4, 0) <= best && best <= bound(&trace, 4, 0), "seed {seed}");
        }
    }

    /// Tries everything: `kept` is what is here, as bits.
    fn best(trace: &[Request], sizes: &[u64], capacity: u64, kept: u32) -> u64 {
        let Some((request, rest)) = trace.split_first() else { return 0 };
        let hit = u64::from(kept >> request.key & 1);
        let wanted = kept | 1 << request.key;
        let fits = |set: u32| {
            sizes.iter().enumerate().map(|(key, size)| u64::from(set >> key & 1) * size).sum::<u64>()
                <= capacity
        };
        let all = (0..1 << sizes.len()).filter(|&set| set & !wanted == 0 && fits(set));
        hit + all.map(|set| best(rest, sizes, capacity, set)).max().unwrap_or(0)
    }
}
