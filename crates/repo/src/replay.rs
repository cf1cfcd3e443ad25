//! A repository without a disk: what a policy and a rule of deletion make of requests, millions a second.
//!
//! An object that is asked for and not here is included, and when that makes too many bytes, objects are
//! deleted until there are as few as the rule says.

use crate::eviction::{DeletionRule, ObjectEviction};

/// What was included and deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounters {
    /// Bytes included.
    pub included_bytes: u64,
    /// Deletion operations.
    pub deletions: u64,
    /// Objects deleted by them.
    pub deleted_objects: u64,
    /// Bytes deleted by them.
    pub deleted_bytes: u64,
}

/// Objects by numbers from 0 on, and who of them is here.
#[derive(Debug)]
pub struct ReplayedCache<P> {
    rule: DeletionRule,
    policy: P,
    /// Bytes of each object that is here, 0 of the others.
    here: Vec<u64>,
    bytes: u64,
    counters: ReplayCounters,
}

impl<P: ObjectEviction> ReplayedCache<P> {
    /// With nothing here.
    pub fn new(rule: DeletionRule, policy: P) -> Self {
        ReplayedCache { rule, policy, here: Vec::new(), bytes: 0, counters: ReplayCounters::default() }
    }

    /// Somebody asks for all of an object of so many bytes, which is included if it is not here. True if it
    /// is.
    #[inline]
    pub fn request(&mut self, id: u32, bytes: u64) -> bool {
        let is_hit = self.touch(id, 0);
        if !is_hit {
            self.include(id, bytes);
        }
        is_hit
    }

    /// Somebody asks for a segment of an object, which is not included. True if it is here.
    #[inline]
    pub fn touch(&mut self, id: u32, segment: u32) -> bool {
        let is_here = self.here.get(id as usize).is_some_and(|&bytes| bytes > 0);
        if is_here {
            self.policy.request(id, segment);
        }
        is_here
    }

    /// An object that is not here comes. One that alone is larger than the threshold is not taken.
    #[inline]
    pub fn include(&mut self, id: u32, bytes: u64) {
        let bytes = bytes.max(1);
        if bytes > self.rule.threshold_bytes {
            return;
        }
        if self.here.len() <= id as usize {
            self.here.resize(id as usize + 1, 0);
        }
        self.here[id as usize] = bytes;
        self.bytes += bytes;
        self.counters.included_bytes += bytes;
        // Keys are scattered, as hashes of names are.
        self.policy.include(id, (u64::from(id) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), bytes);
        if let Some(target) = self.rule.target_bytes(self.bytes) {
            self.delete(target);
        }
    }

    fn delete(&mut self, target: u64) {
        self.counters.deletions += 1;
        while self.bytes > target
            && let Some(id) = self.policy.evict()
        {
            let Some(bytes) = self.here.get_mut(id as usize).map(std::mem::take) else { continue };
            self.bytes -= bytes;
            self.counters.deleted_objects += 1;
            self.counters.deleted_bytes += bytes;
        }
    }

    /// Bytes here.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was included and deleted.
    pub fn counters(&self) -> ReplayCounters {
        self.counters
    }

    /// Counts from now on, and keeps what is here.
    pub fn begin_counting(&mut self) {
        self.counters = ReplayCounters::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eviction::{DeleteQueue, ObjectEvictionSpec, names, start};
    use packet::random::Random;

    #[test]
    fn a_deletion_follows_what_does_not_fit_and_frees_the_rules_part() {
        let rule = DeletionRule { threshold_bytes: 100, ratio: 0.5 };
        let mut replay = ReplayedCache::new(rule, DeleteQueue::default());
        let hits: Vec<bool> = [0, 1, 2, 0, 3].map(|id| replay.request(id, 30)).to_vec();
        assert_eq!(hits, [false, false, false, true, false]);
        // 120 bytes were too many, and at least 60 had to go: not the one that was asked for again.
        assert_eq!(replay.bytes(), 60);
        assert!(replay.touch(0, 0) && !replay.touch(9, 0));
        let counters = replay.counters();
        assert_eq!((counters.deletions, counters.deleted_objects, counters.deleted_bytes), (1, 2, 60));
    }

    #[test]
    fn no_policy_keeps_more_than_the_threshold_or_forgets_what_it_has() {
        for name in names() {
            let spec: ObjectEvictionSpec = name.parse().unwrap();
            for ratio in [0.0, 0.25, 0.5, 1.0] {
                let rule = DeletionRule { threshold_bytes: 1000, ratio };
                let (mut replay, mut random) = (ReplayedCache::new(rule, start(&spec)), Random::from_seed(5));
                for _ in 0..5000 {
                    let id = (random.below(200) * random.below(200) / 200) as u32;
                    replay.request(id, u64::from(id % 7) * 30);
                    let stored: u64 = replay.here.iter().sum();
                    assert_eq!((replay.bytes(), replay.bytes() <= 1000), (stored, true), "{name} {ratio}");
                    let count = replay.here.iter().filter(|&&bytes| bytes > 0).count();
                    assert_eq!(replay.policy.len(), count, "{name} {ratio}");
                }
                replay.include(999, 1001);
                assert!(!replay.touch(999, 0));
            }
        }
    }
}
