//! W-TinyLFU, after Einziger, Friedman and Manes, "TinyLFU: A highly efficient cache admission policy"
//! (2017).
//!
//! Newcomers enter a small window. Who leaves it for want of room is admitted to the main part only if it was
//! asked for more often than the one who would have to go for it. How often is told by a sketch that halves
//! all its counts now and then, which also knows those who are not here.

use super::ObjectEviction;
use super::list::{List, Nodes};

/// The window has this share of all objects, 1/100, as in the paper.
const WINDOW_SHARE: usize = 100;
/// Of the main part, this share of tenths is for those asked for again there.
const PROTECTED_TENTHS: usize = 8;

const WINDOW: u8 = 0;
const PROBATION: u8 = 1;
const PROTECTED: u8 = 2;

/// The policy.
#[derive(Debug)]
pub struct TinyLfu {
    nodes: Nodes,
    keys: Vec<u64>,
    window: List,
    probation: List,
    protected: List,
    sketch: Sketch,
}

impl Default for TinyLfu {
    fn default() -> Self {
        TinyLfu {
            nodes: Nodes::default(),
            keys: Vec::new(),
            window: List::new(WINDOW),
            probation: List::new(PROBATION),
            protected: List::new(PROTECTED),
            sketch: Sketch::new(64),
        }
    }
}

impl TinyLfu {
    fn key(&self, id: u32) -> u64 {
        self.keys.get(id as usize).copied().unwrap_or_default()
    }

    fn unlink(&mut self, id: u32) -> Option<u8> {
        let list = self.nodes.list_of(id)?;
        match list {
            WINDOW => self.window.unlink(&mut self.nodes, id),
            PROBATION => self.probation.unlink(&mut self.nodes, id),
            _ => self.protected.unlink(&mut self.nodes, id),
        }
        Some(list)
    }
}

impl ObjectEviction for TinyLfu {
    fn include(&mut self, id: u32, key: u64, _bytes: u64) {
        self.unlink(id);
        if self.keys.len() <= id as usize {
            self.keys.resize(id as usize + 1, 0);
        }
        self.keys[id as usize] = key;
        self.sketch.add(key);
        self.sketch.make_room_for(self.len() + 1);
        self.window.push_tail(&mut self.nodes, id);
        // While nobody has to leave, the window overflows into the main part.
        while self.window.len * WINDOW_SHARE > self.len().max(WINDOW_SHARE)
            && let Some(oldest) = self.window.pop_head(&mut self.nodes)
        {
            self.probation.push_tail(&mut self.nodes, oldest);
        }
    }

    fn request(&mut self, id: u32, segment: u32) {
        if segment != 0 {
            return;
        }
        self.sketch.add(self.key(id));
        match self.unlink(id) {
            Some(WINDOW) => self.window.push_tail(&mut self.nodes, id),
            Some(_) => {
                self.protected.push_tail(&mut self.nodes, id);
                let main = self.probation.len + self.protected.len;
                if self.protected.len * 10 > main * PROTECTED_TENTHS
                    && let Some(oldest) = self.protected.pop_head(&mut self.nodes)
                {
                    self.probation.push_tail(&mut self.nodes, oldest);
                }
            }
            None => {}
        }
    }

    fn remove(&mut self, id: u32) {
        self.unlink(id);
    }

    fn evict(&mut self) -> Option<u32> {
        let victim = self.probation.head().or(self.protected.head());
        // The newest of the probation is who left the window last: it has to prove itself against the oldest.
        let candidate = self.probation.tail().filter(|&candidate| Some(candidate) != victim);
        let (Some(victim), Some(candidate)) = (victim, candidate) else {
            let last = victim.or(self.window.head())?;
            self.unlink(last);
            return Some(last);
        };
        let frequency = |id| self.sketch.count(self.key(id));
        let loser = if frequency(candidate) > frequency(victim) { victim } else { candidate };
        self.unlink(loser);
        Some(loser)
    }

    fn len(&self) -> usize {
        self.window.len + self.probation.len + self.protected.len
    }

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes() + self.keys.capacity() * 8 + self.sketch.words.len() * 8
    }
}

/// A count-min sketch of four rows with counts of four bits, sixteen in a word.
#[derive(Debug)]
struct Sketch {
    words: Vec<u64>,
    additions: usize,
}

const ROWS: u64 = 4;
const ONES: u64 = 0x1111_1111_1111_1111;
/// After ten additions for each place everything is halved.
const SAMPLE: usize = 10;

impl Sketch {
    fn new(places: usize) -> Self {
        Sketch { words: vec![0; places.next_power_of_two()], additions: 0 }
    }

    /// Grows to a word for each object; begins anew then.
    fn make_room_for(&mut self, objects: usize) {
        if objects > self.words.len() {
            *self = Sketch::new(objects * 2);
        }
    }

    /// Where the count of `key` is in a row: the word and the shift in it.
    fn place(&self, key: u64, row: u64) -> (usize, u32) {
        let mixed = (key ^ row.wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = mixed ^ mixed >> 32;
        // A row has four of the sixteen counts of each word.
        ((mixed >> 2) as usize & (self.words.len() - 1), (row * 4 + (mixed & 3)) as u32 * 4)
    }

    fn count(&self, key: u64) -> u64 {
        let count = |row| {
            let (word, shift) = self.place(key, row);
            self.words.get(word).map_or(0, |word| word >> shift & 15)
        };
        (0..ROWS).map(count).min().unwrap_or(0)
    }

    fn add(&mut self, key: u64) {
        for row in 0..ROWS {
            let (word, shift) = self.place(key, row);
            if let Some(word) = self.words.get_mut(word).filter(|word| **word >> shift & 15 < 15) {
                *word += 1 << shift;
            }
        }
        self.additions += 1;
        if self.additions >= self.words.len() * SAMPLE {
            for word in &mut self.words {
                *word = *word >> 1 & (ONES * 7);
            }
            self.additions /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hit_wonders_do_not_drive_out_what_is_asked_for() {
        let mut policy = TinyLfu::default();
        for id in 0..100 {
            policy.include(id, u64::from(id) * 77, 1);
        }
        for _ in 0..3 {
            (0..100).for_each(|id| policy.request(id, 0));
        }
        for wonder in 0..1000u64 {
            policy.include(100, 1_000_000 + wonder, 1);
            policy.include(101, 2_000_000 + wonder, 1);
            let gone = [policy.evict().unwrap(), policy.evict().unwrap()];
            for id in gone.into_iter().filter(|&id| id < 100) {
                policy.include(id, u64::from(id) * 77, 1);
                policy.evict();
            }
        }
        assert!((0..100).filter(|&id| policy.nodes.list_of(id).is_some()).count() > 90);
    }

    #[test]
    fn the_sketch_never_counts_less_until_it_halves() {
        let mut sketch = Sketch::new(64);
        for _ in 0..9 {
            sketch.add(5);
        }
        (100..200).for_each(|key| sketch.add(key));
        assert!(sketch.count(5) >= 9);
        (200..900).for_each(|key| sketch.add(key));
        assert!(sketch.count(5) < 15);
    }
}
