//! Three first-in-first-out queues: a small one that everything enters, a main one for what proved useful there, and a
//! ghost that remembers what left the small one lately, without its content.

use super::Eviction;
use super::list::{List, NONE, Nodes};
use crate::processor::prefetch;

/// The small queue is a tenth of all entries, as in the paper.
const SMALL_SHARE: usize = 10;
/// Marks count requests up to three.
const MAX_MARK: u8 = 3;

/// Queues by order of arrival.
#[derive(Debug)]
pub struct S3Fifo {
    nodes: Nodes,
    small: List,
    main: List,
    ghost: Ghost,
}

impl Default for S3Fifo {
    fn default() -> Self {
        S3Fifo { nodes: Nodes::default(), small: List::new(0), main: List::new(1), ghost: Ghost::default() }
    }
}

impl Eviction for S3Fifo {
    #[inline]
    fn insert(&mut self, id: u32, key: u64) {
        let key = fingerprint(key);
        let list = if self.ghost.take(key) { &mut self.main } else { &mut self.small };
        list.push_newest(&mut self.nodes, id, key);
    }

    #[inline]
    fn touch(&mut self, id: u32) {
        let mark = self.nodes.mark(id);
        if mark < MAX_MARK {
            self.nodes.set_mark(id, mark + 1);
        }
    }

    fn remove(&mut self, id: u32) {
        match self.nodes.list_of(id) {
            Some(0) => self.small.unlink(&mut self.nodes, id),
            Some(_) => self.main.unlink(&mut self.nodes, id),
            None => {}
        }
    }

    #[inline]
    fn evict(&mut self) -> Option<u32> {
        loop {
            let small_is_due = self.small.len * SMALL_SHARE >= self.len() || self.main.len == 0;
            if small_is_due && self.small.oldest != NONE {
                let oldest = self.small.oldest;
                self.small.unlink(&mut self.nodes, oldest);
                // Who is next will need its place among the ghosts when the next one comes.
                self.ghost.prefetch(self.nodes.key(self.small.oldest));
                self.nodes.prefetch(self.nodes.newer(self.small.oldest));
                let key = self.nodes.key(oldest);
                // Asked for more than once since it came: it has earned its place.
                if self.nodes.mark(oldest) > 1 {
                    self.main.push_newest(&mut self.nodes, oldest, key);
                } else {
                    self.ghost.insert(key, self.main.len.max(self.small.len));
                    return Some(oldest);
                }
            } else if self.main.oldest != NONE {
                let oldest = self.main.oldest;
                self.main.unlink(&mut self.nodes, oldest);
                match self.nodes.mark(oldest) {
                    0 => return Some(oldest),
                    mark => {
                        let key = self.nodes.key(oldest);
                        self.main.push_newest(&mut self.nodes, oldest, key);
                        self.nodes.set_mark(oldest, mark - 1);
                    }
                }
            } else {
                return None;
            }
        }
    }

    fn len(&self) -> usize {
        self.small.len + self.main.len
    }

    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(u32)) {
        let small_is_due = self.small.len * SMALL_SHARE >= self.len();
        let list = if small_is_due || self.main.len == 0 { &self.small } else { &self.main };
        list.walk_from_oldest(&self.nodes).take(count).for_each(see);
    }

    #[inline]
    fn prefetch(&self, key: u64) {
        self.ghost.prefetch(fingerprint(key));
    }

    #[inline]
    fn prefetch_entry(&self, id: u32) {
        self.nodes.prefetch(id);
    }

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes() + self.ghost.sets.len() * size_of::<Set>()
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
    fingerprints: [u32; WAYS],
    /// The numbers of their insertions; number 0 is an empty place.
    numbers: [u32; WAYS],
}

impl Set {
    /// The place of a fingerprint that is remembered.
    #[inline(always)]
    fn place_of(&self, fingerprint: u32) -> Option<usize> {
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
    fn put(&mut self, way: usize, fingerprint: u32, number: u32) {
        self.fingerprints[way] = fingerprint;
        self.numbers[way] = number;
    }
}

impl Ghost {
    #[inline]
    fn insert(&mut self, fingerprint: u32, capacity: usize) {
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
    fn take(&mut self, fingerprint: u32) -> bool {
        let (insertions, capacity) = (self.insertions, self.capacity);
        let Some(set) = self.set(fingerprint) else { return false };
        let Some(way) = set.place_of(fingerprint) else { return false };
        let recent = insertions.wrapping_sub(set.numbers[way]) < capacity;
        set.put(way, 0, 0);
        recent
    }

    #[inline]
    fn prefetch(&self, fingerprint: u32) {
        if let Some(set) = self.sets.get(self.place(fingerprint)) {
            prefetch(set);
        }
    }

    #[inline(always)]
    fn place(&self, fingerprint: u32) -> usize {
        fingerprint as usize & self.sets.len().wrapping_sub(1)
    }

    /// `None` before anything was put in.
    #[inline(always)]
    fn set(&mut self, fingerprint: u32) -> Option<&mut Set> {
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

fn fingerprint(key: u64) -> u32 {
    (key ^ (key >> 32)) as u32
}
