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
    fn insert(&mut self, id: u32, key: u64) {
        let key = fingerprint(key);
        let list = if self.ghost.take(key) { &mut self.main } else { &mut self.small };
        list.push_newest(&mut self.nodes, id, key);
    }

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

    fn evict(&mut self) -> Option<u32> {
        loop {
            let small_is_due = self.small.len * SMALL_SHARE >= self.len() || self.main.len == 0;
            if small_is_due && self.small.oldest != NONE {
                let oldest = self.small.oldest;
                self.small.unlink(&mut self.nodes, oldest);
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

    fn prefetch(&self, key: u64) {
        self.ghost.prefetch(fingerprint(key));
    }

    fn prefetch_entry(&self, id: u32) {
        self.nodes.prefetch(id);
    }

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes() + self.ghost.slots.len() * size_of::<(u32, u32)>()
    }
}

/// Remembers the last `capacity` keys put in, as fingerprints in sets of four that forget their oldest.
#[derive(Debug, Default)]
struct Ghost {
    /// (fingerprint, number of the insertion); number 0 is an empty slot.
    slots: Vec<(u32, u32)>,
    insertions: u32,
    capacity: u32,
}

const WAYS: usize = 4;

impl Ghost {
    fn insert(&mut self, fingerprint: u32, capacity: usize) {
        self.capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        if capacity == 0 {
            return;
        }
        if self.slots.len() < capacity * 2 {
            self.grow((capacity * 2).next_power_of_two().max(64));
        }
        self.insertions = self.insertions.wrapping_add(1).max(1);
        let insertion = self.insertions;
        let set = self.set(fingerprint);
        let age = |number: u32| if number == 0 { u32::MAX } else { insertion.wrapping_sub(number) };
        if let Some(slot) = set.iter_mut().max_by_key(|(_, number)| age(*number)) {
            *slot = (fingerprint, insertion);
        }
    }

    /// Forgets a key; true if it was remembered.
    fn take(&mut self, fingerprint: u32) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let (insertions, capacity) = (self.insertions, self.capacity);
        let set = self.set(fingerprint);
        match set.iter_mut().find(|(other, number)| *other == fingerprint && *number != 0) {
            Some(slot) => {
                let recent = insertions.wrapping_sub(slot.1) < capacity;
                *slot = (0, 0);
                recent
            }
            None => false,
        }
    }

    fn prefetch(&self, fingerprint: u32) {
        let start = self.set_start(fingerprint);
        if let Some(set) = self.slots.get(start..start + WAYS) {
            prefetch(set);
        }
    }

    fn set_start(&self, fingerprint: u32) -> usize {
        let sets = self.slots.len() / WAYS;
        (fingerprint as usize & sets.wrapping_sub(1)) * WAYS
    }

    fn set(&mut self, fingerprint: u32) -> &mut [(u32, u32)] {
        let start = self.set_start(fingerprint);
        &mut self.slots[start..start + WAYS]
    }

    fn grow(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); slots]);
        for (fingerprint, number) in old.into_iter().filter(|(_, number)| *number != 0) {
            let set = self.set(fingerprint);
            if let Some(slot) = set.iter_mut().find(|(_, number)| *number == 0) {
                *slot = (fingerprint, number);
            }
        }
    }
}

fn fingerprint(key: u64) -> u32 {
    (key ^ (key >> 32)) as u32
}
