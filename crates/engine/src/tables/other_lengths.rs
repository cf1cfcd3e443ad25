//! Which pending Interests Data of a longer name may answer, and which ask for one Data by its digest.
//!
//! Most Interests of NDN ask for Data of just their name, and are found by that. The others stand here a
//! second time, in indexes of their own, with a count of them for each number of components. So a Data is
//! looked for only at lengths at which somebody waits, among those alone who accept a longer name, and nobody
//! computes its digest unless a digest is asked for under its very name. In CCNx every Interest accepts a
//! longer name, so these are counted and stand nowhere a second time.

use std::collections::BTreeMap;

use packet::{Data, Dialect, Interest, NameHash, NameHasher, NameRef, PrefixHashes};
use smallvec::SmallVec;

use super::entry_id::PendingId;
use super::hash_index::{Candidates, HashIndex};

/// What has to be known of an Interest to put it here and to find it again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LengthKey {
    dialect: Dialect,
    length: usize,
    /// Of its name, if longer names will do.
    prefix: Option<NameHash>,
    /// Of its name without the last component, if that may be a digest.
    digest: Option<NameHash>,
}

impl LengthKey {
    /// `None` for most: those that ask for Data of just their name.
    #[inline(always)]
    pub(crate) fn of(interest: &Interest, hash: NameHash, hasher: &NameHasher) -> Option<Self> {
        let (can_be_prefix, may_name_digest) =
            (interest.can_be_prefix(), interest.implicit_digest().is_some());
        (can_be_prefix || may_name_digest).then(|| Self::of_either(interest, hash, hasher))
    }

    fn of_either(interest: &Interest, hash: NameHash, hasher: &NameHasher) -> Self {
        let (dialect, length) = (interest.dialect(), interest.component_count());
        let parent = || hasher.hash(dialect, interest.name().prefix(length - 1).components()).whole();
        LengthKey {
            dialect,
            length,
            prefix: interest.can_be_prefix().then_some(hash),
            digest: interest.implicit_digest().is_some().then(parent),
        }
    }
}

/// Numbers of components there are.
const LENGTHS: usize = NameRef::MAX_COMPONENTS + 1;

/// Pending Interests of both dialects that are found by more than their names.
#[derive(Debug)]
pub(crate) struct OtherLengths {
    /// How many accept longer names than theirs, by number of components.
    counts: [[u32; LENGTHS]; 2],
    /// How many those are, of all lengths.
    prefix_counts: [u32; 2],
    /// A bit for each length of which there are any, but for the longest, than which no Data is longer.
    lengths: [u128; 2],
    /// Those of NDN.
    prefixes: HashIndex,
    /// How many ask for a Data of the name with this hash by its digest.
    digests: BTreeMap<NameHash, u32>,
}

impl Default for OtherLengths {
    fn default() -> Self {
        OtherLengths {
            counts: [[0; LENGTHS]; 2],
            prefix_counts: [0; 2],
            lengths: [0; 2],
            prefixes: HashIndex::default(),
            digests: BTreeMap::new(),
        }
    }
}

/// The bit that stands for a length; none for the longest.
#[inline(always)]
fn bit_of(length: usize) -> u128 {
    1u128.checked_shl(length as u32).unwrap_or(0)
}

/// The prefixes of a name at which somebody may wait, the shortest first.
pub(crate) type Prefixes = SmallVec<[(usize, NameHash); 16]>;

impl OtherLengths {
    pub(crate) fn insert(&mut self, key: LengthKey, id: PendingId) {
        if let Some(hash) = key.prefix {
            if key.dialect == Dialect::Ndn {
                self.prefixes.insert(hash, id.0);
            }
            self.count(key, 1);
        }
        if let Some(hash) = key.digest {
            *self.digests.entry(hash).or_default() += 1;
        }
    }

    pub(crate) fn remove(&mut self, key: LengthKey, id: PendingId) {
        if let Some(hash) = key.prefix {
            if key.dialect == Dialect::Ndn {
                self.prefixes.remove(hash, id.0);
            }
            self.count(key, u32::MAX);
        }
        if let Some(hash) = key.digest {
            match self.digests.get_mut(&hash) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.digests.remove(&hash)),
            }
        }
    }

    /// Counts one more, or by `u32::MAX` one less.
    fn count(&mut self, key: LengthKey, change: u32) {
        let total = &mut self.prefix_counts[key.dialect as usize];
        *total = total.wrapping_add(change);
        if let Some(count) = self.counts[key.dialect as usize].get_mut(key.length) {
            let before = std::mem::replace(count, count.wrapping_add(change));
            if (before == 0) != (*count == 0) {
                self.lengths[key.dialect as usize] ^= bit_of(key.length);
            }
        }
    }

    /// Whether anybody waits here at all.
    #[inline(always)]
    pub(crate) fn is_empty_for(&self, dialect: Dialect) -> bool {
        self.prefix_counts[dialect as usize] == 0 && self.digests.is_empty()
    }

    /// Whether anybody waits here who asks for less than a name of so many components, or by a digest.
    #[inline(always)]
    pub(crate) fn may_wait_above(&self, dialect: Dialect, component_count: usize) -> bool {
        let shorter = bit_of(component_count).wrapping_sub(1);
        self.lengths[dialect as usize] & shorter != 0 || !self.digests.is_empty()
    }

    /// The proper prefixes of the name of `data` at whose lengths somebody waits.
    pub(crate) fn prefixes_of(
        &self,
        hasher: &NameHasher,
        data: &Data,
        hashes: Option<&PrefixHashes>,
    ) -> Prefixes {
        let (dialect, length) = (data.dialect(), data.component_count());
        let mut found = Prefixes::new();
        if self.prefix_counts[dialect as usize] == 0 {
            return found;
        }
        let counts = &self.counts[dialect as usize];
        let waits = |count: usize| count < length && counts.get(count).is_some_and(|waiting| *waiting > 0);
        let Some(longest) = (0..length.min(LENGTHS)).rev().find(|&count| waits(count)) else { return found };
        match hashes {
            Some(hashes) if hashes.prefix(longest).is_some() => {
                let known = |count| Some((count, hashes.prefix(count)?));
                found.extend((0..=longest).filter(|&count| waits(count)).filter_map(known));
            }
            _ => hasher.hash_prefixes(dialect, data.name().prefix(longest), waits, |count, hash| {
                found.push((count, hash));
            }),
        }
        found
    }

    /// Those of NDN who may accept longer names than the one with this hash.
    pub(crate) fn accepting_longer(&self, hash: NameHash) -> Candidates<'_> {
        self.prefixes.candidates(hash)
    }

    /// Whether anybody asks for a Data of the name with this hash by its digest.
    pub(crate) fn wants_digest(&self, hash: NameHash) -> bool {
        self.digests.contains_key(&hash)
    }

    /// Bytes of memory held.
    pub(crate) fn footprint_bytes(&self) -> usize {
        let digests = self.digests.len() * 2 * size_of::<(NameHash, u32)>();
        self.prefixes.footprint_bytes() + digests + size_of_val(&self.counts)
    }
}
