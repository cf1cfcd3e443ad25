//! Growing storage that does not stall when it is large.
//!
//! A vector that doubles copies everything when it grows, which stops a forwarder with a million entries for
//! tens of milliseconds. Here only the first chunk grows like that; further ones are of fixed size and stay
//! where they are, so growing costs one allocation.

use crate::batch::processor::prefetch;

/// A vector in chunks of 16,384 elements.
#[derive(Debug)]
pub(crate) struct ChunkedVec<T> {
    /// The first chunk, which is all that most tables have: its elements are found with one comparison.
    first: Vec<T>,
    /// The chunks behind it.
    further: Vec<Vec<T>>,
    len: u32,
}

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        ChunkedVec { first: Vec::new(), further: Vec::new(), len: 0 }
    }
}

const CHUNK_BITS: u32 = 14;
const CHUNK: usize = 1 << CHUNK_BITS;

/// Where an element lies that is not in the first chunk: in which of the further ones, and where in it. For
/// one that would be in the first it is a chunk that there is not.
#[inline(always)]
fn locate(index: u32) -> (usize, usize) {
    (((index >> CHUNK_BITS) as usize).wrapping_sub(1), index as usize % CHUNK)
}

impl<T> ChunkedVec<T> {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn push(&mut self, value: T) -> u32 {
        let index = self.len;
        if self.first.len() < CHUNK {
            self.first.push(value);
        } else {
            let (chunk, _) = locate(index);
            if chunk == self.further.len() {
                self.further.push(Vec::with_capacity(CHUNK));
            }
            self.further[chunk].push(value);
        }
        self.len += 1;
        index
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        match self.first.get(index as usize) {
            Some(element) => Some(element),
            None => {
                let (chunk, offset) = locate(index);
                self.further.get(chunk)?.get(offset)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        match self.first.get_mut(index as usize) {
            Some(element) => Some(element),
            None => {
                let (chunk, offset) = locate(index);
                self.further.get_mut(chunk)?.get_mut(offset)
            }
        }
    }

    /// Hints that the element at `index` will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: u32) {
        if let Some(place) = self.get(index) {
            prefetch(place);
        }
    }

    /// Bytes of memory held, including room not yet used.
    pub(crate) fn footprint_bytes(&self) -> usize {
        let further: usize = self.further.iter().map(Vec::capacity).sum();
        (self.first.capacity() + further) * size_of::<T>()
    }
}

impl<T> std::ops::Index<u32> for ChunkedVec<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: u32) -> &T {
        match self.first.get(index as usize) {
            Some(element) => element,
            None => {
                let (chunk, offset) = locate(index);
                &self.further[chunk][offset]
            }
        }
    }
}

impl<T> std::ops::IndexMut<u32> for ChunkedVec<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut T {
        match self.first.get_mut(index as usize) {
            Some(element) => element,
            None => {
                let (chunk, offset) = locate(index);
                &mut self.further[chunk][offset]
            }
        }
    }
}

/// Places that are looked at in one step through a whole pool, so that nobody's packets wait for long.
const STEP: u32 = 4096;

/// A pool of values with small, reused numbers. A number is valid from `insert` to `remove`; tables that hand
/// numbers to each other unlink them before they remove the value.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: ChunkedVec<Slot<T>>,
    free: Option<u32>,
    len: u32,
}

#[derive(Debug)]
enum Slot<T> {
    Taken(T),
    Free { next: Option<u32> },
}

/// The number of a value that is in no slot.
const NOWHERE: u32 = u32::MAX;

/// A slot that a value is about to be put into.
pub(crate) struct Vacant<'s, T> {
    slot: &'s mut Slot<T>,
    index: u32,
    next: Option<u32>,
    free: &'s mut Option<u32>,
    len: &'s mut u32,
}

impl<T> Vacant<'_, T> {
    /// Puts a value there; gives its number. Written out in the argument it is made where it will lie: a
    /// large one that there were before its place is known would be made elsewhere, and moved.
    #[inline(always)]
    pub(crate) fn fill(self, value: T) -> u32 {
        *self.free = self.next;
        *self.len += 1;
        // Nothing is in the old one that would have to be dropped, which the compiler does not know: it would
        // make the value elsewhere, look into the slot, and only then move it.
        std::mem::forget(std::mem::replace(self.slot, Slot::Taken(value)));
        self.index
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: ChunkedVec::default(), free: None, len: 0 }
    }
}

impl<T> Slab<T> {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// One more than the largest number ever given out.
    pub(crate) fn slot_count(&self) -> u32 {
        self.slots.len()
    }

    /// Adds a value.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        match self.vacant() {
            Some(vacant) => vacant.fill(value),
            None => NOWHERE,
        }
    }

    /// A slot for one more value. There always is one.
    #[inline(always)]
    pub(crate) fn vacant(&mut self) -> Option<Vacant<'_, T>> {
        let index = match self.free {
            Some(index) => index,
            None => self.add_slot(),
        };
        let slot = self.slots.get_mut(index)?;
        let Slot::Free { next } = *slot else { return None };
        Some(Vacant { slot, index, next, free: &mut self.free, len: &mut self.len })
    }

    /// Makes one more slot, to be taken next.
    #[inline(never)]
    fn add_slot(&mut self) -> u32 {
        let index = self.slots.push(Slot::Free { next: None });
        self.free = Some(index);
        index
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let slot = self.slots.get_mut(index)?;
        if let Slot::Free { .. } = slot {
            return None;
        }
        let Slot::Taken(value) = std::mem::replace(slot, Slot::Free { next: self.free }) else {
            return None;
        };
        self.free = Some(index);
        self.len -= 1;
        Some(value)
    }

    /// Drops the value in place, which spares moving it.
    #[inline]
    pub(crate) fn discard(&mut self, index: u32) {
        if let Some(slot @ Slot::Taken(_)) = self.slots.get_mut(index) {
            *slot = Slot::Free { next: self.free };
            self.free = Some(index);
            self.len -= 1;
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        match self.slots.get(index)? {
            Slot::Taken(value) => Some(value),
            Slot::Free { .. } => None,
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        match self.slots.get_mut(index)? {
            Slot::Taken(value) => Some(value),
            Slot::Free { .. } => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..self.slots.len()).filter_map(|index| Some((index, self.get(index)?)))
    }

    /// The values with numbers from `from` on, as far as one step may look at them, and where the next step
    /// goes on if there are more.
    pub(crate) fn step_from(&self, from: u32) -> (impl Iterator<Item = (u32, &T)>, Option<u32>) {
        let end = self.slots.len().min(from.saturating_add(STEP));
        let values = (from..end).filter_map(|index| Some((index, self.get(index)?)));
        (values, (end < self.slots.len()).then_some(end))
    }

    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for index in 0..self.slots.len() {
            if let Some(value) = self.get_mut(index) {
                change(value);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, index: u32) {
        self.slots.prefetch(index);
    }

    pub(crate) fn footprint_bytes(&self) -> usize {
        self.slots.footprint_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn steps_go_through_all_values_once_and_none_looks_at_more_places_than_it_may() {
        let mut slab = Slab::default();
        let numbers: Vec<u32> = (0..3 * STEP + 7).map(|value| slab.insert(value)).collect();
        for number in numbers.iter().step_by(3) {
            slab.remove(*number);
        }
        let (mut seen, mut steps, mut from) = (Vec::new(), 0, Some(0));
        while let Some(place) = from {
            let (values, next) = slab.step_from(place);
            seen.extend(
                values.inspect(|(number, _)| assert!(*number < place + STEP)).map(|(_, value)| *value),
            );
            assert!(next.is_none_or(|next| next == place + STEP));
            (steps, from) = (steps + 1, next);
        }
        assert_eq!(steps, 4);
        assert_eq!(seen, slab.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        assert_eq!(Slab::<u8>::default().step_from(0).1, None);
    }

    #[test]
    fn elements_of_full_chunks_stay_where_they_are_while_the_vector_grows() {
        let mut vector = ChunkedVec::default();
        let mut places = Vec::new();
        for value in 0..100_000u64 {
            assert_eq!(u64::from(vector.push(value)), value);
            if value as usize % CHUNK == CHUNK - 1 {
                places.push((value as u32, std::ptr::from_ref(&vector[value as u32])));
            }
        }
        assert!(
            places.len() == 6
                && places.iter().all(|&(index, place)| std::ptr::from_ref(&vector[index]) == place)
        );
        assert!((0..100_000).all(|index| vector[index] == u64::from(index)));
        assert_eq!(vector.get(100_000), None);
    }

    #[test]
    fn a_slab_agrees_with_a_map_under_random_operations() {
        let mut random = Random::from_seed(7);
        let (mut slab, mut model) = (Slab::default(), BTreeMap::new());
        for step in 0..20_000u64 {
            if random.chance(0.55) {
                let index = slab.insert(step);
                assert_eq!(model.insert(index, step), None, "a number was given out twice");
            } else {
                let index = random.below(slab.slot_count().max(1).into()) as u32;
                assert_eq!(slab.remove(index), model.remove(&index));
            }
            assert_eq!(slab.len() as usize, model.len());
        }
        assert!(slab.iter().map(|(index, &value)| (index, value)).eq(model));
        assert!(u64::from(slab.slot_count()) < 6_000, "freed numbers are reused");
    }
}
