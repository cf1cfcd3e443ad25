//! One cache of objects without packets, all of one size: what studies of caches are made of.

use std::mem;

use engine::{CacheKey, CachedId, Eviction};

use crate::arena::{Arena, Id as _, ObjectId};

/// An object that has come.
pub(super) struct Insertion {
    /// Where it is.
    pub(super) slot: CachedId,
    /// The object that has left for it.
    pub(super) gone: Option<ObjectId>,
}

/// Which object is in each slot, and the policy that decides about slots. Where an object is, whoever owns
/// the cache remembers.
pub(super) struct Cache<E> {
    pub(super) policy: E,
    /// The object in each slot.
    pub(super) objects: Arena<CachedId, ObjectId>,
    pub(super) capacity: u32,
}

impl<E: Eviction> Cache<E> {
    pub(super) fn new(policy: E, capacity: u32) -> Self {
        Cache { policy, objects: Arena::default(), capacity }
    }

    /// Takes in an object that is not here; `None` if there is no room for any.
    #[inline(always)]
    pub(super) fn take_in(&mut self, object: ObjectId) -> Option<Insertion> {
        let taken_in = if (self.objects.len() as u64) < u64::from(self.capacity) {
            Insertion { slot: self.objects.push(object), gone: None }
        } else {
            let slot = self.policy.evict()?;
            Insertion { slot, gone: Some(mem::replace(&mut self.objects[slot], object)) }
        };
        self.policy.insert(taken_in.slot, key_of(object));
        Some(taken_in)
    }
}

/// Identifies an object to the policy: spread over all bits, as the hashes of names are.
#[inline(always)]
pub(super) fn key_of(object: ObjectId) -> CacheKey {
    let key = (object.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    CacheKey(key ^ key >> 32)
}
