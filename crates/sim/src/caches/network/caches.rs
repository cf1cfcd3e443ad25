//! All caches of a network together, by objects: what is known of one object in all of them lies side by
//! side.

use std::hint;

use engine::{CachedId, Eviction};

use super::CacheNetworkError;
use super::paths::{bit_of, words};
use crate::arena::{Arena, CacheId, Id as _, ObjectId};
use crate::caches::cache::{Cache, Insertion};

/// Objects times caches that there are tables for: four bytes each.
const MAX_PLACES: usize = 1 << 30;
/// In caches of so much room an object's slot is looked for, which is rarely done and takes less than to keep
/// a table that no processor's cache holds.
const MAX_SCANNED: u32 = 128;

pub(super) struct Caches<E> {
    list: Arena<CacheId, Cache<E>>,
    /// For each object a bit for each cache that has it.
    holders: Vec<u64>,
    /// Words of that for an object.
    words: usize,
    /// For each object and each cache that has it, its slot there; nothing where slots are looked for.
    slots: Vec<CachedId>,
}

impl<E: Eviction> Caches<E> {
    pub(super) fn new(
        capacities: impl Iterator<Item = u32>,
        objects: usize,
        start: impl Fn() -> E,
    ) -> Result<Self, CacheNetworkError> {
        let list: Arena<CacheId, Cache<E>> =
            capacities.map(|capacity| Cache::new(start(), capacity)).collect();
        let words = words(list.len());
        let caches = list.len();
        let places = objects.checked_mul(caches).filter(|places| *places <= MAX_PLACES);
        let places = places.ok_or(CacheNetworkError::TooLarge { objects, caches })?;
        let is_scanned = list.iter().all(|cache| cache.capacity <= MAX_SCANNED);
        let slots = vec![CachedId(0); if is_scanned { 0 } else { places }];
        Ok(Caches { list, holders: vec![0; objects * words], words, slots })
    }

    /// Asks for the memory that these objects' requests will look at first.
    #[inline(always)]
    pub(super) fn prefetch(&self, objects: impl Iterator<Item = ObjectId>) {
        let first =
            |object: ObjectId| self.holders.get(object.index() * self.words).copied().unwrap_or_default();
        hint::black_box(objects.fold(0, |sum, object| sum ^ first(object)));
    }

    /// Who has the object.
    #[inline(always)]
    pub(super) fn row(&self, object: ObjectId) -> &[u64] {
        let begin = object.index() * self.words;
        self.holders.get(begin..begin + self.words).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn has(&self, row: &[u64], cache: CacheId) -> bool {
        let own = bit_of(cache);
        row.get(own.word).is_some_and(|word| word & own.bit != 0)
    }

    #[inline(always)]
    pub(super) fn touch(&mut self, object: ObjectId, cache: CacheId) {
        let known = self.slots.get(object.index() * self.list.len() + cache.index()).copied();
        let own = &mut self.list[cache];
        let slot = match known {
            Some(slot) => slot,
            None => {
                let place = own.objects.iter().position(|other| *other == object);
                place.map_or(CachedId(0), CachedId::from_index)
            }
        };
        own.policy.touch(slot);
    }

    /// Takes a copy into a cache that has none.
    #[inline]
    pub(super) fn put(&mut self, object: ObjectId, cache: CacheId) {
        let (own, count) = (bit_of(cache), self.list.len());
        let Some(Insertion { slot, gone }) = self.list[cache].take_in(object) else { return };
        if let Some(gone) = gone {
            self.holders[gone.index() * self.words + own.word] &= !own.bit;
        }
        self.holders[object.index() * self.words + own.word] |= own.bit;
        if let Some(place) = self.slots.get_mut(object.index() * count + cache.index()) {
            *place = slot;
        }
    }
}
