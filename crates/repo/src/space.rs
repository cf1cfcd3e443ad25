//! What each volume holds, what of it is dead, and which bytes may be given back to the file system.

use std::collections::BTreeMap;
use std::ops::Range;

/// File systems give whole blocks back.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Space accounting of one volume.
#[derive(Clone, Debug, Default)]
pub struct VolumeSpace {
    len_bytes: u64,
    live_bytes: u64,
    /// Freed ranges, merged where they touch.
    dead: BTreeMap<u64, u64>,
}

impl VolumeSpace {
    /// Of a volume with so many bytes, all of them dead but its head.
    pub fn new(head_bytes: u64) -> Self {
        VolumeSpace { len_bytes: head_bytes, ..Self::default() }
    }

    /// Where the next record goes.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Bytes that belong to objects.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// True when less than `share` of its bytes belong to objects.
    pub fn is_mostly_holes(&self, share: f64) -> bool {
        (self.live_bytes as f64) < self.len_bytes as f64 * share
    }

    /// A record was written to `range`, which may begin behind the end: what lies between is padding and
    /// stays dead.
    pub fn append(&mut self, range: Range<u64>) {
        if range.start > self.len_bytes {
            self.mark_dead(self.len_bytes..range.start);
        }
        self.live_bytes += range.end.saturating_sub(range.start);
        self.len_bytes = self.len_bytes.max(range.end);
    }

    /// Nothing in `range` is wanted any longer. Returns what may be punched: `range`, and the rest of the
    /// blocks that are all dead now.
    pub fn free(&mut self, range: Range<u64>) -> Range<u64> {
        self.live_bytes = self.live_bytes.saturating_sub(range.end.saturating_sub(range.start));
        self.mark_dead(range.clone());
        self.free_again(range)
    }

    /// What may be punched for `range`, which is dead already.
    pub fn free_again(&mut self, range: Range<u64>) -> Range<u64> {
        let dead = self.mark_dead(range.clone());
        let first_block = range.start / BLOCK_BYTES * BLOCK_BYTES;
        let start = if dead.start <= first_block { first_block } else { range.start };
        let last_block = range.end.next_multiple_of(BLOCK_BYTES);
        let end = if dead.end >= last_block { last_block } else { range.end };
        start..end
    }

    /// Makes the accounting anew from all that is alive, in any order: everything else between `head_bytes`
    /// and `len_bytes` is dead.
    pub fn restore(&mut self, head_bytes: u64, len_bytes: u64, mut live: Vec<Range<u64>>) {
        live.sort_unstable_by_key(|range| range.start);
        self.live_bytes = live.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        let live_end = live.iter().map(|range| range.end).max().unwrap_or_default();
        self.len_bytes = self.len_bytes.max(len_bytes).max(live_end);
        self.dead.clear();
        let (mut at, end) = (head_bytes, self.len_bytes);
        for range in live.into_iter().chain(std::iter::once(end..end)) {
            if range.start > at {
                self.dead.insert(at, range.start);
            }
            at = at.max(range.end);
        }
    }

    /// The dead ranges.
    pub fn dead(&self) -> impl Iterator<Item = Range<u64>> {
        self.dead.iter().map(|(&start, &end)| start..end)
    }

    /// Bytes that the volume takes on disk once everything dead is punched.
    pub fn disk_bytes(&self) -> u64 {
        let whole_blocks = |range: Range<u64>| {
            let start = range.start.next_multiple_of(BLOCK_BYTES);
            (range.end / BLOCK_BYTES * BLOCK_BYTES).saturating_sub(start)
        };
        self.len_bytes.saturating_sub(self.dead().map(whole_blocks).sum())
    }

    /// Adds `range`; returns the dead range that it is part of now.
    fn mark_dead(&mut self, range: Range<u64>) -> Range<u64> {
        let Range { mut start, mut end } = range;
        if let Some((&before, &its_end)) = self.dead.range(..=start).next_back()
            && its_end >= start
        {
            start = before;
            end = end.max(its_end);
        }
        while let Some((&next, &its_end)) = self.dead.range(start..=end).next() {
            end = end.max(its_end);
            self.dead.remove(&next);
        }
        self.dead.insert(start, end);
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    #[test]
    fn blocks_are_given_back_once_their_last_neighbour_is_dead() {
        let mut space = VolumeSpace::new(64);
        for start in (0..40_000).step_by(1000) {
            space.append(64 + start..64 + start + 1000);
        }
        assert_eq!(space.live_bytes(), 40_000);
        assert_eq!(space.free(5064..10_064), 5064..10_064);
        assert_eq!(space.free(4064..5064), 4064..8192, "the block from 4096 on is all dead now");
        assert_eq!(space.free(10_064..14_064), 8192..14_064);
        assert!(space.dead().eq(std::iter::once(4064..14_064)));
        assert_eq!(space.disk_bytes(), 40_064 - 8192);
        assert!(space.is_mostly_holes(0.8) && !space.is_mostly_holes(0.7));
    }

    #[test]
    fn what_is_restored_is_what_was_there() {
        for seed in 0..100 {
            let mut random = Random::from_seed(seed);
            let mut space = VolumeSpace::new(64);
            let mut live = Vec::new();
            let mut at = 64;
            for _ in 0..60 {
                at += random.below(3) * 16;
                let end = at + 16 + random.below(20) * 16;
                space.append(at..end);
                live.push(at..end);
                at = end;
                if random.chance(0.4) {
                    let range = live.swap_remove(random.below(live.len() as u64) as usize);
                    let punch = space.free(range.clone());
                    assert!(punch.start <= range.start && punch.end >= range.end);
                    let hits = |other: &Range<u64>| punch.start < other.end && other.start < punch.end;
                    assert!(!live.iter().any(hits), "seed {seed}: nothing alive is punched");
                }
            }
            let mut restored = VolumeSpace::new(64);
            restored.restore(64, space.len_bytes(), live);
            assert_eq!(restored.live_bytes(), space.live_bytes());
            assert_eq!(restored.dead().collect::<Vec<_>>(), space.dead().collect::<Vec<_>>(), "seed {seed}");
        }
    }
}
