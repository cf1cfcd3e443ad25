//! One cache without packets: requests for objects of a catalogue through an eviction policy.

use std::hint;

use engine::{CachedId, Eviction, EvictionPolicy, Lru, S3Fifo, Sieve};
use packet::random::{Random, Zipf};

use super::cache::{Cache, Insertion, key_of};
use super::requests::{BATCH, Batch, Requests, in_batches};
use crate::arena::{Arena, ObjectId};

/// What a cache did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// Requests after the cache had warmed up.
    pub requests: u64,
    /// Those that found their object.
    pub hits: u64,
}

impl CacheReport {
    /// The share of requests that found their object.
    pub fn hit_ratio(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.hits as f64 / self.requests as f64 }
    }
}

/// Sends requests for objects of a catalogue to a cache with room for `capacity` of them, all of one size.
/// The first `warm_up` requests are not counted.
///
/// The policies are those of the engine's content store.
///
/// ```
/// use engine::EvictionPolicy;
/// use packet::random::{Random, Zipf};
///
/// let catalogue = Zipf::new(10_000, 0.8, 0.0)?;
/// let ratio = |policy| {
///     let mut random = Random::from_seed(1);
///     cairn_sim::study_cache(&catalogue, policy, 100, 20_000, 100_000, &mut random).hit_ratio()
/// };
/// assert!(ratio(EvictionPolicy::Sieve) > ratio(EvictionPolicy::Lru));
/// # Ok::<(), packet::random::ZipfError>(())
/// ```
pub fn study_cache(
    catalogue: &Zipf,
    policy: EvictionPolicy,
    capacity: u32,
    warm_up: u64,
    requests: u64,
    random: &mut Random,
) -> CacheReport {
    let requests = Requests { catalogue, warm_up, counted: requests };
    // A copy of the loop for each policy, so that nothing is called through a table of functions.
    match policy {
        EvictionPolicy::Lru => study(requests, Lru::default(), capacity, random),
        EvictionPolicy::S3Fifo => study(requests, S3Fifo::default(), capacity, random),
        EvictionPolicy::Sieve => study(requests, Sieve::default(), capacity, random),
        EvictionPolicy::Own(kind) => study(requests, (kind.start)(), capacity, random),
    }
}

/// The same for a policy of one's own.
pub fn study_eviction(
    catalogue: &Zipf,
    policy: impl Eviction,
    capacity: u32,
    warm_up: u64,
    requests: u64,
    random: &mut Random,
) -> CacheReport {
    study(Requests { catalogue, warm_up, counted: requests }, policy, capacity, random)
}

fn study(requests: Requests<'_>, policy: impl Eviction, capacity: u32, random: &mut Random) -> CacheReport {
    let Requests { catalogue, warm_up, counted } = requests;
    let slots = (0..catalogue.objects()).map(|_| ABSENT).collect();
    let mut study = Study { slots, cache: Cache::new(policy, capacity) };
    study.requests(catalogue, warm_up, random);
    let hits = study.requests(catalogue, counted, random);
    CacheReport { requests: counted, hits }
}

/// Where an object is that is in no slot.
const ABSENT: CachedId = CachedId(u32::MAX);

struct Study<E> {
    /// The slot of each object.
    slots: Arena<ObjectId, CachedId>,
    cache: Cache<E>,
}

impl<E: Eviction> Study<E> {
    /// Gives how many of so many requests were hits.
    fn requests(&mut self, catalogue: &Zipf, requests: u64, random: &mut Random) -> u64 {
        let mut hits = 0;
        in_batches(catalogue, requests, random, |batch, _| {
            self.prefetch(batch);
            for object in batch.objects() {
                hits += u64::from(self.request(object));
            }
        });
        hits
    }

    /// Asks for the memory that these requests will need, so that none waits for another's.
    #[inline(always)]
    fn prefetch(&self, batch: Batch<'_>) {
        let Cache { policy, objects, capacity } = &self.cache;
        self.touch(batch.objects());
        let mut misses = 0;
        for object in batch.objects() {
            match self.slots.get(object) {
                Some(&ABSENT) | None => {
                    misses += 1;
                    policy.prefetch(key_of(object));
                }
                Some(&slot) => policy.prefetch_entry(slot),
            }
        }
        // A place is taken away for each that comes.
        let (mut victims, mut count) = ([ABSENT; BATCH], 0);
        if objects.len() as u64 + misses as u64 > u64::from(*capacity) {
            policy.likely_victims(misses, &mut |slot| {
                if let Some(victim) = victims.get_mut(count) {
                    *victim = slot;
                    count += 1;
                }
            });
        }
        for object in batch.objects() {
            if let Some(&slot) = self.slots.get(object) {
                policy.prefetch_around(slot);
            }
        }
        let gone = || victims[..count].iter().filter_map(|&slot| objects.get(slot).copied());
        gone().for_each(|object| policy.prefetch(key_of(object)));
        self.touch(gone());
    }

    /// Loads the slots of these objects, none of which waits for another. What is loaded is of no interest.
    #[inline(always)]
    fn touch(&self, objects: impl Iterator<Item = ObjectId>) {
        let slots = objects.map(|object| self.slots.get(object).map_or(0, |slot| slot.0));
        hint::black_box(slots.fold(0, |sum, slot| sum ^ slot));
    }

    #[inline(always)]
    fn request(&mut self, object: ObjectId) -> bool {
        match self.slots.get(object) {
            Some(&ABSENT) => {
                self.take_in(object);
                false
            }
            Some(&slot) => {
                self.cache.policy.touch(slot);
                true
            }
            None => false,
        }
    }

    #[inline]
    fn take_in(&mut self, object: ObjectId) {
        let Some(Insertion { slot, gone }) = self.cache.take_in(object) else { return };
        if let Some(gone) = gone {
            self.slots[gone] = ABSENT;
        }
        self.slots[object] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hit ratio of LRU after Che, Tung and Wang ("Hierarchical web caching systems", JSAC 2002): an
    /// object is in the cache if it was asked for within the last T requests, where T is such that the
    /// cache is full.
    fn che(catalogue: &Zipf, capacity: u32) -> f64 {
        let p: Vec<f64> = (0..catalogue.objects()).map(|object| catalogue.probability(object)).collect();
        let full = |time: f64| p.iter().map(|p| 1.0 - (-p * time).exp()).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if full(middle) < f64::from(capacity) { low = middle } else { high = middle }
        }
        p.iter().map(|p| p * (1.0 - (-p * low).exp())).sum()
    }

    #[test]
    fn least_recently_used_hits_as_often_as_theory_says() {
        for (objects, exponent, capacity) in [(1_000, 0.8, 50), (10_000, 1.0, 300), (5_000, 0.6, 1_000)] {
            let catalogue = Zipf::new(objects, exponent, 0.0).unwrap();
            let mut random = Random::from_seed(2);
            let report = study_cache(&catalogue, EvictionPolicy::Lru, capacity, 50_000, 400_000, &mut random);
            let theory = che(&catalogue, capacity);
            assert!((report.hit_ratio() - theory).abs() < 0.005, "{} {theory}", report.hit_ratio());
        }
    }

    #[test]
    fn better_policies_hit_more_and_none_more_than_is_possible() {
        for exponent in [0.7, 1.0] {
            let catalogue = Zipf::new(10_000, exponent, 0.0).unwrap();
            let possible: f64 = (0..500).map(|object| catalogue.probability(object)).sum();
            let ratio = |policy| {
                study_cache(&catalogue, policy, 500, 50_000, 150_000, &mut Random::from_seed(3)).hit_ratio()
            };
            let [lru, s3, sieve] =
                [EvictionPolicy::Lru, EvictionPolicy::S3Fifo, EvictionPolicy::Sieve].map(ratio);
            assert!(s3 > lru + 0.02 && sieve > lru + 0.02, "{lru} {s3} {sieve}");
            assert!(s3 < possible + 0.005 && sieve < possible + 0.005, "{possible}");
        }
    }

    #[test]
    fn a_cache_for_everything_misses_each_object_once_and_one_for_nothing_always() {
        let catalogue = Zipf::new(100, 0.5, 0.0).unwrap();
        for policy in EvictionPolicy::ALL {
            let all = study_cache(&catalogue, policy, 100, 10_000, 1_000, &mut Random::from_seed(1));
            assert_eq!(all.hits, 1_000);
            let none = study_cache(&catalogue, policy, 0, 10, 1_000, &mut Random::from_seed(1));
            assert_eq!(none.hits, 0);
        }
    }
}
