//! One cache of objects without packets, all of one size: what studies of caches are made of.

use std::mem;

use engine::Eviction;

use crate::arena::{Id as _, ObjectId};

/// Which object is in each slot, and the policy that decides about slots. Where an object is, whoever owns
/// the cache remembers.
pub(crate) struct Cache<E> {
    pub(crate) policy: E,
    /// The object in each slot.
    pub(crate) objects: Vec<ObjectId>,
    pub(crate) capacity: u32,
}

impl<E: Eviction> Cache<E> {
    pub(crate) fn new(policy: E, capacity: u32) -> Self {
        Cache { policy, objects: Vec::new(), capacity }
    }

    /// Takes in an object that is not here: its slot, and the object that has left for it. `None` if there is
    /// no room for any.
    #[inline(always)]
    pub(crate) fn take_in(&mut self, object: ObjectId) -> Option<(u32, Option<ObjectId>)> {
        let (slot, gone) = if (self.objects.len() as u64) < u64::from(self.capacity) {
            self.objects.push(object);
            ((self.objects.len() - 1) as u32, None)
        } else {
            let slot = self.policy.evict()?;
            (slot, Some(mem::replace(&mut self.objects[slot as usize], object)))
        };
        self.policy.insert(slot, key_of(object));
        Some((slot, gone))
    }
}

/// Identifies an object to the policy: spread over all bits, as the hashes of names are.
#[inline(always)]
pub(crate) fn key_of(object: ObjectId) -> u64 {
    let key = (object.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key ^ key >> 32
}
