//! Policies of the content store, which know nothing of sizes or segments, for whole objects: a request for
//! the first segment is one for the object.

use engine::{CacheKey, CachedId};

use super::ObjectEviction;

/// One of them.
#[derive(Debug, Default)]
pub struct OfContentStore<E>(E);

/// A hand that spares what was asked for, after Zhang et al., "SIEVE is simpler than LRU" (2024).
pub type Sieve = OfContentStore<engine::Sieve>;

/// Three queues, after Yang et al., "FIFO queues are all you need for cache eviction" (2023).
pub type S3Fifo = OfContentStore<engine::S3Fifo>;

impl<E: engine::Eviction> ObjectEviction for OfContentStore<E> {
    #[inline]
    fn include(&mut self, id: u32, key: u64, _bytes: u64) {
        self.0.remove(CachedId(id));
        self.0.insert(CachedId(id), CacheKey(key));
    }

    #[inline]
    fn request(&mut self, id: u32, segment: u32) {
        if segment == 0 {
            self.0.touch(CachedId(id));
        }
    }

    fn remove(&mut self, id: u32) {
        self.0.remove(CachedId(id));
    }

    #[inline]
    fn evict(&mut self) -> Option<u32> {
        self.0.evict().map(|CachedId(id)| id)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn footprint_bytes(&self) -> usize {
        self.0.footprint_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(mut policy: impl ObjectEviction) -> Vec<u32> {
        (0..5).for_each(|id| policy.include(id, u64::from(id) << 40, 1));
        // Included again is not there twice.
        policy.include(4, 4 << 40, 1);
        (0..2).for_each(|_| policy.request(1, 0));
        policy.request(2, 7);
        policy.remove(3);
        assert_eq!(policy.len(), 4);
        std::iter::from_fn(|| policy.evict()).collect()
    }

    #[test]
    fn only_the_first_segment_of_an_object_spares_it() {
        assert_eq!(order(Sieve::default()), [0, 2, 4, 1]);
        assert_eq!(order(S3Fifo::default()), [0, 2, 4, 1]);
    }
}
