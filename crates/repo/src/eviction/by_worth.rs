//! Two policies that keep what is worth most: by how often it was asked for, and by that for each byte.
//!
//! Both age by inflation, after Arlitt et al., "Evaluating content management techniques for Web proxy
//! caches" (2000): what is asked for gets the worth that the last one who left had on top of its own. So
//! nothing has to be halved or forgotten.

use super::ObjectEviction;
use super::heap::Heap;

#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    requests: u32,
    bytes: u64,
}

/// What both have in common.
#[derive(Debug, Default)]
struct ByWorth {
    heap: Heap,
    facts: Vec<Facts>,
    /// The worth of who left last.
    age: f64,
}

impl ByWorth {
    fn include(&mut self, id: u32, bytes: u64, worth: impl Fn(Facts) -> f64) {
        if self.facts.len() <= id as usize {
            self.facts.resize(id as usize + 1, Facts::default());
        }
        let facts = Facts { requests: 1, bytes };
        self.facts[id as usize] = facts;
        self.heap.set(id, self.age + worth(facts));
    }

    fn change(&mut self, id: u32, change: impl Fn(&mut Facts), worth: impl Fn(Facts) -> f64) {
        if let Some(facts) = self.facts.get_mut(id as usize).filter(|_| self.heap.holds(id)) {
            change(facts);
            self.heap.set(id, self.age + worth(*facts));
        }
    }

    fn evict(&mut self) -> Option<u32> {
        let (id, worth) = self.heap.pop()?;
        self.age = worth;
        Some(id)
    }

    fn footprint_bytes(&self) -> usize {
        self.heap.footprint_bytes() + self.facts.capacity() * size_of::<Facts>()
    }
}

fn requests(facts: Facts) -> f64 {
    facts.requests.into()
}

fn requests_per_byte(facts: Facts) -> f64 {
    f64::from(facts.requests) / facts.bytes.max(1) as f64
}

/// Least frequently used, with dynamic ageing (LFU-DA). A request is one for the first segment.
#[derive(Debug, Default)]
pub struct Lfu(ByWorth);

/// Greedy dual, size and frequency (GDSF): many small objects rather than a large one.
#[derive(Debug, Default)]
pub struct Gdsf(ByWorth);

macro_rules! by_worth {
    ($Policy:ident, $worth:expr) => {
        impl ObjectEviction for $Policy {
            fn include(&mut self, id: u32, _key: u64, bytes: u64) {
                self.0.include(id, bytes, $worth);
            }

            fn grow(&mut self, id: u32, bytes: u64) {
                self.0.change(id, |facts| facts.bytes = bytes, $worth);
            }

            fn request(&mut self, id: u32, segment: u32) {
                if segment == 0 {
                    self.0.change(id, |facts| facts.requests = facts.requests.saturating_add(1), $worth);
                }
            }

            fn remove(&mut self, id: u32) {
                self.0.heap.remove(id);
            }

            fn evict(&mut self) -> Option<u32> {
                self.0.evict()
            }

            fn len(&self) -> usize {
                self.0.heap.len()
            }

            fn footprint_bytes(&self) -> usize {
                self.0.footprint_bytes()
            }
        }
    };
}

by_worth!(Lfu, requests);
by_worth!(Gdsf, requests_per_byte);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_for_least_leaves_first_and_old_merits_fade() {
        let mut policy = Lfu::default();
        (0..3).for_each(|id| policy.include(id, 0, 1));
        (0..5).for_each(|_| policy.request(0, 0));
        policy.request(1, 0);
        policy.request(2, 3);
        assert_eq!(policy.evict(), Some(2), "only requests for the first segment count");
        assert_eq!(policy.evict(), Some(1));
        // Newcomers start where the last one left off; after enough of them the old favourite goes.
        let mut gone = None;
        for id in 10..30 {
            policy.include(id, 0, 1);
            policy.request(id, 0);
            policy.include(99, 0, 1);
            policy.request(99, 0);
            gone = gone.or(policy.evict().filter(|&id| id == 0));
        }
        assert_eq!(gone, Some(0));
    }

    #[test]
    fn of_equally_popular_objects_the_largest_leaves_first() {
        let mut policy = Gdsf::default();
        policy.include(0, 0, 10);
        policy.include(1, 0, 10);
        policy.include(2, 0, 30);
        policy.grow(1, 100);
        (0..4).for_each(|_| policy.request(2, 0));
        assert_eq!(
            [policy.evict(), policy.evict(), policy.evict(), policy.evict()],
            [Some(1), Some(0), Some(2), None]
        );
    }
}
