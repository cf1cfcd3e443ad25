//! Frames that are nearly right: golden vectors with a few seeded changes.

use packet::random::Random;

/// Draws damaged frames.
pub(crate) struct Mutator {
    seeds: Vec<Vec<u8>>,
    random: Random,
}

/// Datagrams have no room for more.
const MAX_FRAME_BYTES: usize = 20_000;

impl Mutator {
    /// Draws from the golden vectors of these folders.
    pub(crate) fn of_vectors(folders: &[&str], seed: u64) -> Self {
        let vectors = folders.iter().flat_map(|folder| testkit::vectors::load(folder));
        Mutator { seeds: vectors.map(|vector| vector.bytes).collect(), random: Random::from_seed(seed) }
    }

    /// Draws from these bytes.
    pub(crate) fn of(seeds: Vec<Vec<u8>>, seed: u64) -> Self {
        Mutator { seeds, random: Random::from_seed(seed) }
    }

    /// A frame: one of four is whole, the others have up to four changes.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut frame = self.any_seed();
        let changes = self.random.below(5);
        for _ in 0..changes {
            self.change(&mut frame);
        }
        frame.truncate(MAX_FRAME_BYTES);
        frame
    }

    fn any_seed(&mut self) -> Vec<u8> {
        let index = self.random.below(self.seeds.len() as u64) as usize;
        self.seeds.get(index).cloned().unwrap_or_default()
    }

    fn place(&mut self, frame: &[u8]) -> usize {
        self.random.below(frame.len() as u64) as usize
    }

    fn change(&mut self, frame: &mut Vec<u8>) {
        let at = self.place(frame);
        let what = self.random.below(8);
        match (what, frame.get_mut(at)) {
            (0, Some(byte)) => *byte ^= 1 << self.random.below(8),
            (1, Some(byte)) => *byte = self.random.next_u32() as u8,
            // What lengths and types are made of.
            (2, Some(byte)) => {
                const EDGES: [u8; 10] = [0, 1, 2, 4, 8, 127, 252, 253, 254, 255];
                *byte = EDGES.get(self.random.below(10) as usize).copied().unwrap_or_default();
            }
            (3, _) => frame.truncate(at),
            (4, Some(_)) => {
                frame.remove(at);
            }
            (5, _) => frame.insert(at, self.random.next_u32() as u8),
            // A piece of itself once more.
            (6, _) => {
                let end = at + self.place(frame.get(at..).unwrap_or_default());
                let piece = frame.get(at..end).unwrap_or_default().to_vec();
                frame.splice(at..at, piece);
            }
            // The head of one and the tail of another.
            _ => {
                let other = self.any_seed();
                let from = self.place(&other);
                frame.truncate(at);
                frame.extend_from_slice(other.get(from..).unwrap_or_default());
            }
        }
    }
}
