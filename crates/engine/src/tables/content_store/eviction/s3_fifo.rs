//! Three first-in-first-out queues: a small one that everything enters, a main one for what proved useful
//! there, and a ghost that remembers what left the small one lately, without its content.

use super::queue::{Fingerprint, Nodes, Oldest, Queue};
use super::{CacheKey, CachedId, Eviction, MAX_SPARED};
use crate::batch::processor::prefetch;

/// The small queue is a tenth of all entries, as in the paper.
const SMALL_SHARE: usize = 10;
/// Marks count requests up to three.
const MAX_MARK: u8 = 3;

/// Queues by order of arrival.
#[derive(Debug)]
pub struct S3Fifo {
    nodes: Nodes,
    small: Queue,
    main: Queue,
    ghost: Ghost,
}

impl Default for S3Fifo {
    fn default() -> Self {
        S3Fifo { nodes: Nodes::default(), small: Queue::new(0), main: Queue::new(1), ghost: Ghost::default() }
    }
}

impl Eviction for S3Fifo {
    #[inline]
    fn insert(&mut self, id: CachedId, key: CacheKey) {
        let key = fingerprint(key);
        let queue = if self.ghost.take(key) { &mut self.main } else { &mut self.small };
        queue.push(&mut self.nodes, id, key, 0);
    }

    #[inline]
    fn touch(&mut self, id: CachedId) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.mark = (node.mark + 1).min(MAX_MARK);
        }
    }

    fn remove(&mut self, id: CachedId) {
        match self.nodes.queue_of(id) {
            Some(0) => self.small.remove(&mut self.nodes, id),
            Some(_) => self.main.remove(&mut self.nodes, id),
            None => {}
        }
    }

    #[inline]
    fn evict(&mut self) -> Option<CachedId> {
        for spared in 0.. {
            let may_spare = spared < MAX_SPARED;
            let small_is_due = self.small.len() * SMALL_SHARE >= self.len() || self.main.len() == 0;
            if small_is_due && let Some(Oldest { id, key, mark }) = self.small.pop(&mut self.nodes) {
                // Asked for more than once since it came: it has earned its place.
                if mark > 1 && may_spare {
                    self.main.push(&mut self.nodes, id, key, 0);
                } else {
                    self.ghost.insert(key, self.main.len().max(self.small.len()));
                    return Some(id);
                }
            } else {
                let Oldest { id, key, mark } = self.main.pop(&mut self.nodes)?;
                if mark == 0 || !may_spare {
                    return Some(id);
                }
                self.main.push(&mut self.nodes, id, key, mark - 1);
            }
        }
        None
    }

    fn len(&self) -> usize {
        self.small.len() + self.main.len()
    }

    fn footprint_bytes(&self) -> usize {
        let queues = self.small.footprint_bytes() + self.main.footprint_bytes();
        self.nodes.footprint_bytes() + queues + self.ghost.sets.len() * size_of::<Set>()
    }

    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(CachedId)) {
        let small_is_due = self.small.len() * SMALL_SHARE >= self.len() && self.small.len() > 0;
        let queue = if small_is_due || self.main.len() == 0 { &self.small } else { &self.main };
        queue.oldest_first(&self.nodes).take(count).for_each(see);
    }

    #[inline]
    fn prefetch(&self, key: CacheKey) {
        self.ghost.prefetch(fingerprint(key));
    }

    #[inline]
    fn prefetch_entry(&self, id: CachedId) {
        self.nodes.prefetch(id);
    }
}

/// Remembers the last `capacity` keys put in, as fingerprints in sets of four that forget their oldest.
#[derive(Debug, Default)]
struct Ghost {
    sets: Vec<Set>,
    insertions: u32,
    capacity: u32,
}

const WAYS: usize = 4;

/// Lies in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Set {
    fingerprints: [Fingerprint; WAYS],
    /// The numbers of their insertions; number 0 is an empty place.
    numbers: [u32; WAYS],
}

impl Set {
    /// The place of a fingerprint that is remembered.
    #[inline(always)]
    fn place_of(&self, fingerprint: Fingerprint) -> Option<usize> {
        (0..WAYS).find(|&way| self.fingerprints[way] == fingerprint && self.numbers[way] != 0)
    }

    /// An empty place, or that of the oldest.
    #[inline(always)]
    fn place_for(&self, insertion: u32) -> usize {
        // Without branches: which of the four it is cannot be foreseen. An empty place is older than all.
        let age = |way: usize| match self.numbers[way] {
            0 => u32::MAX,
            number => insertion.wrapping_sub(number),
        };
        let older = |a: usize, b: usize| if age(b) > age(a) { b } else { a };
        older(older(0, 1), older(2, 3))
    }

    #[inline(always)]
    fn put(&mut self, way: usize, fingerprint: Fingerprint, number: u32) {
        self.fingerprints[way] = fingerprint;
        self.numbers[way] = number;
    }
}

impl Ghost {
    #[inline]
    fn insert(&mut self, fingerprint: Fingerprint, capacity: usize) {
        self.capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        if capacity == 0 {
            return;
        }
        if self.sets.len() * WAYS < capacity * 2 {
            self.grow((capacity * 2).next_power_of_two().max(64) / WAYS);
        }
        self.insertions = self.insertions.wrapping_add(1).max(1);
        let insertion = self.insertions;
        if let Some(set) = self.set(fingerprint) {
            set.put(set.place_for(insertion), fingerprint, insertion);
        }
    }

    /// Forgets a key; true if it was remembered.
    #[inline]
    fn take(&mut self, fingerprint: Fingerprint) -> bool {
        let (insertions, capacity) = (self.insertions, self.capacity);
        let Some(set) = self.set(fingerprint) else { return false };
        let Some(way) = set.place_of(fingerprint) else { return false };
        let recent = insertions.wrapping_sub(set.numbers[way]) < capacity;
        set.put(way, Fingerprint::default(), 0);
        recent
    }

    #[inline]
    fn prefetch(&self, fingerprint: Fingerprint) {
        if let Some(set) = self.sets.get(self.place(fingerprint)) {
            prefetch(set);
        }
    }

    #[inline(always)]
    fn place(&self, fingerprint: Fingerprint) -> usize {
        fingerprint.0 as usize & self.sets.len().wrapping_sub(1)
    }

    /// `None` before anything was put in.
    #[inline(always)]
    fn set(&mut self, fingerprint: Fingerprint) -> Option<&mut Set> {
        let place = self.place(fingerprint);
        self.sets.get_mut(place)
    }

    #[cold]
    fn grow(&mut self, sets: usize) {
        let old = std::mem::replace(&mut self.sets, vec![Set::default(); sets]);
        for old in old {
            for (fingerprint, number) in old.fingerprints.into_iter().zip(old.numbers) {
                if let (Some(set), true) = (self.set(fingerprint), number != 0)
                    && let Some(way) = (0..WAYS).find(|&way| set.numbers[way] == 0)
                {
                    set.put(way, fingerprint, number);
                }
            }
        }
    }
}

fn fingerprint(CacheKey(key): CacheKey) -> Fingerprint {
    Fingerprint((key ^ (key >> 32)) as u32)
}
