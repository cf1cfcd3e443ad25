//! From the hash of a name to the numbers of the entries that may have it.
//!
//! A bucket is one cache line with room for seven entries, found by the low bits of the hash, so a lookup
//! that misses costs one line of memory and one that hits costs one more for the entry itself. The table
//! grows by one bucket at a time (linear hashing), so no insertion ever pays for rehashing everything.
//! Buckets that overflow continue in spare ones, which nobody fetches ahead; with an average of 2.8 entries
//! to a bucket, and 5.6 to those whose turn to be divided comes last, few do.
//!
//! The index knows 32 bits of each hash and nothing of names: callers compare what it finds.

use packet::NameHash;

use super::chunked::ChunkedVec;
use crate::batch::processor::equal_words;

/// Entries in one bucket. Seven, so that it is at the same time the mask that keeps a place within the eight
/// words of an array, which spares a comparison; the eighth is no place, and callers see to it that they
/// never mean it.
const WIDTH: usize = 7;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Bucket {
    /// Seven tags, and behind them the number of a bucket in `spare`, or `NONE`: eight words are compared at
    /// once.
    tags_and_next: [u32; WIDTH + 1],
    /// Seven numbers of entries, and behind them how many of the places are taken.
    ids_and_len: [u32; WIDTH + 1],
}

/// An entry's number, and what buckets remember of its hash.
#[derive(Clone, Copy)]
struct Tagged {
    tag: u32,
    id: u32,
}

const EMPTY: Bucket = Bucket { tags_and_next: [0, 0, 0, 0, 0, 0, 0, NONE], ids_and_len: [0; WIDTH + 1] };

impl Bucket {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.tags_and_next[WIDTH]
    }

    fn set_next(&mut self, spare: u32) {
        self.tags_and_next[WIDTH] = spare;
    }

    #[inline(always)]
    fn len(&self) -> u32 {
        self.ids_and_len[WIDTH]
    }

    #[inline(always)]
    fn entries(&self) -> impl Iterator<Item = Tagged> + '_ {
        let pairs = self.tags_and_next.iter().copied().zip(self.ids_and_len.iter().copied());
        pairs.take(self.len() as usize).map(|(tag, id)| Tagged { tag, id })
    }

    #[inline]
    fn push(&mut self, tag: u32, id: u32) {
        let at = self.len() as usize & WIDTH;
        self.tags_and_next[at] = tag;
        self.ids_and_len[at] = id;
        self.ids_and_len[WIDTH] += 1;
    }

    /// A bit for every entry with this tag. Without branches, because how many match cannot be foreseen.
    #[inline(always)]
    fn matching(&self, tag: u32) -> u32 {
        equal_words(&self.tags_and_next, tag) & self.taken()
    }

    #[inline(always)]
    fn place_of(&self, id: u32) -> Option<usize> {
        let matching = equal_words(&self.ids_and_len, id) & self.taken();
        (matching != 0).then_some(matching.trailing_zeros() as usize & WIDTH)
    }

    /// A bit for every place that is taken.
    #[inline(always)]
    fn taken(&self) -> u32 {
        (1 << self.len()) - 1
    }

    #[inline]
    fn swap_remove(&mut self, at: usize) {
        let last = (self.len() - 1) as usize & WIDTH;
        self.tags_and_next[at] = self.tags_and_next[last];
        self.ids_and_len[at] = self.ids_and_len[last];
        self.ids_and_len[WIDTH] -= 1;
    }

    /// Takes the last entry out.
    fn pop(&mut self) -> Tagged {
        let last = (self.len() - 1) as usize & WIDTH;
        self.ids_and_len[WIDTH] -= 1;
        Tagged { tag: self.tags_and_next[last], id: self.ids_and_len[last] }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.len() as usize == WIDTH
    }
}

/// A multimap from hashes to entry numbers.
#[derive(Debug)]
pub(crate) struct HashIndex {
    buckets: ChunkedVec<Bucket>,
    spare: ChunkedVec<Bucket>,
    free_spare: u32,
    /// `2^level` buckets existed when the current round of splitting began.
    level_mask: u32,
    len: u32,
}

impl Default for HashIndex {
    fn default() -> Self {
        let mut buckets = ChunkedVec::default();
        buckets.push(EMPTY);
        HashIndex { buckets, spare: ChunkedVec::default(), free_spare: NONE, level_mask: 0, len: 0 }
    }
}

impl HashIndex {
    /// Number of entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Hints that `hash` will be looked up soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: NameHash) {
        self.buckets.prefetch(self.bucket_of(tag(hash)));
    }

    /// Numbers of all entries that may have this hash, newest not necessarily first.
    #[inline]
    pub(crate) fn candidates(&self, hash: NameHash) -> Candidates<'_> {
        let tag = tag(hash);
        let bucket = &self.buckets[self.bucket_of(tag)];
        Candidates { index: self, bucket, tag, matching: bucket.matching(tag) }
    }

    /// Adds `id` under `hash`. The same pair may be added only once.
    #[inline]
    pub(crate) fn insert(&mut self, hash: NameHash, id: u32) {
        self.len += 1;
        // The threshold of 2.8 entries a bucket, in integers.
        if u64::from(self.len) * 5 > u64::from(self.buckets.len()) * 2 * WIDTH as u64 {
            self.split();
        }
        let tag = tag(hash);
        let head = self.bucket_of(tag);
        let bucket = &mut self.buckets[head];
        if bucket.is_full() {
            self.push(head, tag, id);
        } else {
            bucket.push(tag, id);
        }
    }

    /// Removes `id` from under `hash`; false if it was not there.
    #[inline]
    pub(crate) fn remove(&mut self, hash: NameHash, id: u32) -> bool {
        let head = self.bucket_of(tag(hash));
        let bucket = &mut self.buckets[head];
        if bucket.next() == NONE {
            let Some(at) = bucket.place_of(id) else { return false };
            bucket.swap_remove(at);
            self.len -= 1;
            return true;
        }
        self.remove_from_chain(head, id)
    }

    #[cold]
    fn remove_from_chain(&mut self, head: u32, id: u32) -> bool {
        let Some((place, at)) = self.find(head, id) else { return false };
        // Fill the hole with the last entry of the last bucket in the chain, and give up that bucket if it
        // empties.
        let (mut before_last, mut last) = (None, BucketId::Main(head));
        while self.bucket(last).next() != NONE {
            before_last = Some(last);
            last = BucketId::Spare(self.bucket(last).next());
        }
        let bucket = self.bucket_mut(last);
        let moved = bucket.pop();
        let emptied = bucket.len() == 0;
        let hole = self.bucket_mut(place);
        if at < WIDTH && !(place == last && at as u32 == hole.len()) {
            hole.tags_and_next[at] = moved.tag;
            hole.ids_and_len[at] = moved.id;
        }
        if let (true, Some(before), BucketId::Spare(number)) = (emptied, before_last, last) {
            self.bucket_mut(before).set_next(NONE);
            self.spare[number].set_next(self.free_spare);
            self.free_spare = number;
        }
        self.len -= 1;
        true
    }

    /// Bytes of memory held.
    pub(crate) fn footprint_bytes(&self) -> usize {
        self.buckets.footprint_bytes() + self.spare.footprint_bytes()
    }

    #[inline(always)]
    fn bucket_of(&self, tag: u32) -> u32 {
        let wide = tag & (self.level_mask << 1 | 1);
        if wide < self.buckets.len() { wide } else { tag & self.level_mask }
    }

    fn bucket(&self, place: BucketId) -> &Bucket {
        match place {
            BucketId::Main(number) => &self.buckets[number],
            BucketId::Spare(number) => &self.spare[number],
        }
    }

    fn bucket_mut(&mut self, place: BucketId) -> &mut Bucket {
        match place {
            BucketId::Main(number) => &mut self.buckets[number],
            BucketId::Spare(number) => &mut self.spare[number],
        }
    }

    fn find(&self, head: u32, id: u32) -> Option<(BucketId, usize)> {
        let mut place = BucketId::Main(head);
        loop {
            let bucket = self.bucket(place);
            if let Some(at) = bucket.place_of(id) {
                return Some((place, at));
            }
            if bucket.next() == NONE {
                return None;
            }
            place = BucketId::Spare(bucket.next());
        }
    }

    fn push(&mut self, head: u32, tag: u32, id: u32) {
        let mut place = BucketId::Main(head);
        while self.bucket(place).is_full() {
            if self.bucket(place).next() == NONE {
                let spare = self.take_spare();
                self.bucket_mut(place).set_next(spare);
            }
            place = BucketId::Spare(self.bucket(place).next());
        }
        self.bucket_mut(place).push(tag, id);
    }

    fn take_spare(&mut self) -> u32 {
        match self.free_spare {
            NONE => self.spare.push(EMPTY),
            number => {
                self.free_spare = self.spare[number].next();
                self.spare[number] = EMPTY;
                number
            }
        }
    }

    /// Adds one bucket and moves into it the entries of its sibling that belong there.
    fn split(&mut self) {
        let added = self.buckets.push(EMPTY);
        if added == self.level_mask << 1 | 1 {
            // This bucket completes the round: from now on one more bit counts.
            self.split_into(added);
            self.level_mask = added;
        } else {
            self.split_into(added);
        }
    }

    fn split_into(&mut self, added: u32) {
        let sibling = added & self.level_mask;
        let mut chain = std::mem::replace(&mut self.buckets[sibling], EMPTY);
        let wide_mask = self.level_mask << 1 | 1;
        loop {
            for Tagged { tag, id } in chain.entries() {
                self.push(tag & wide_mask, tag, id);
            }
            let number = chain.next();
            if number == NONE {
                return;
            }
            chain = self.spare[number];
            self.spare[number] = EMPTY;
            self.spare[number].set_next(self.free_spare);
            self.free_spare = number;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BucketId {
    Main(u32),
    Spare(u32),
}

/// The hash bits that buckets remember. They are also what selects the bucket; at a million entries twelve
/// bits more than that remain to tell the entries of a bucket apart.
#[inline(always)]
fn tag(hash: NameHash) -> u32 {
    hash.0 as u32
}

/// Iterates over the numbers that may belong to a hash.
pub(crate) struct Candidates<'a> {
    index: &'a HashIndex,
    bucket: &'a Bucket,
    tag: u32,
    /// A bit for every entry of the bucket that is still to be given.
    matching: u32,
}

impl Iterator for Candidates<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.matching == 0 {
            if self.bucket.next() == NONE {
                return None;
            }
            self.bucket = &self.index.spare[self.bucket.next()];
            self.matching = self.bucket.matching(self.tag);
        }
        let at = self.matching.trailing_zeros() as usize;
        self.matching &= self.matching - 1;
        Some(self.bucket.ids_and_len[at & WIDTH])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;
    use std::collections::BTreeMap;

    fn sorted(index: &HashIndex, hash: u64) -> Vec<u32> {
        let mut found: Vec<u32> = index.candidates(NameHash(hash)).collect();
        found.sort_unstable();
        found
    }

    /// The oracle: a map from the bits the index knows to the set of numbers.
    fn agrees_with_model(seed: u64, hashes: u64, keep: f64, steps: u32) {
        let mut random = Random::from_seed(seed);
        let mut index = HashIndex::default();
        let mut model: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        let mut live: Vec<(u64, u32)> = Vec::new();
        for id in 0..steps {
            if live.is_empty() || random.chance(keep) {
                let hash = random.below(hashes).wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0xffff_ffff;
                index.insert(NameHash(hash), id);
                model.entry(hash).or_default().push(id);
                live.push((hash, id));
            } else {
                let (hash, id) = live.swap_remove(random.below(live.len() as u64) as usize);
                assert!(index.remove(NameHash(hash), id));
                assert!(!index.remove(NameHash(hash), id), "removed twice");
                let ids = model.get_mut(&hash).unwrap();
                ids.retain(|&other| other != id);
            }
            assert_eq!(index.len() as usize, live.len());
        }
        for (hash, ids) in &model {
            let mut ids = ids.clone();
            ids.sort_unstable();
            assert_eq!(sorted(&index, *hash), ids, "hash {hash:x}");
        }
    }

    #[test]
    fn the_index_agrees_with_a_map_when_hashes_are_spread() {
        agrees_with_model(1, u64::MAX, 0.7, 30_000);
    }

    #[test]
    fn the_index_agrees_with_a_map_when_many_entries_share_a_hash() {
        agrees_with_model(2, 40, 0.6, 5_000);
    }

    #[test]
    fn the_index_agrees_with_a_map_while_it_stays_small() {
        agrees_with_model(3, 1 << 40, 0.5, 20_000);
    }

    #[test]
    fn a_bucket_is_one_cache_line() {
        assert_eq!(size_of::<Bucket>(), 64);
    }

    #[test]
    fn entries_that_left_are_no_longer_found_and_their_spare_buckets_are_reused() {
        let mut index = HashIndex::default();
        for round in 0..50 {
            for id in 0..100 {
                index.insert(NameHash(5), id);
            }
            assert_eq!(sorted(&index, 5), (0..100).collect::<Vec<_>>());
            for id in 0..100 {
                assert!(index.remove(NameHash(5), id));
            }
            assert_eq!(index.candidates(NameHash(5)).next(), None);
            assert!(index.spare.len() < 40, "round {round}: {} spare buckets", index.spare.len());
        }
    }
}
