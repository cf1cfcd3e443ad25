//! Hints to the processor about what will be read soon, a batch of packets ahead.

use packet::NameHash;
use smallvec::SmallVec;

use super::{CacheKey, CachedId, ContentStore};
use crate::tables::hash_index::HashIndex;

/// Entries that are likely to leave for a batch.
pub(super) type Victims = SmallVec<[CachedId; 64]>;

impl ContentStore {
    /// Hints that entry `id` will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: CachedId) {
        self.entries.prefetch(id.0);
        self.eviction.prefetch_entry(id);
    }

    /// Hints that Data with this hash will be taken in soon.
    #[inline]
    pub(crate) fn prefetch_place(&self, hash: NameHash) {
        self.eviction.prefetch(CacheKey(hash.0));
    }

    /// Hints that the name of entry `id`, itself hinted at before, will be read soon.
    #[inline]
    pub(crate) fn prefetch_name(&self, id: CachedId) {
        if let Some(entry) = self.entries.get(id.0) {
            crate::batch::processor::prefetch_start(entry.data.wire_components());
        }
    }

    /// Hints that the entries that would have to leave for `count` new ones will be read soon; gives which
    /// they are.
    #[inline]
    pub(crate) fn prefetch_victims(&self, count: usize) -> Victims {
        let mut victims = Victims::new();
        if count > self.likely_room() {
            // Those of the batch after this one, too: what is asked for now is not here when it is looked at
            // next.
            let count = count.min(64);
            let mut seen = 0;
            self.eviction.likely_victims(2 * count, &mut |id| {
                self.entries.prefetch(id.0);
                seen += 1;
                if seen <= count {
                    victims.push(id);
                }
            });
        }
        victims
    }

    /// Hints that what these entries, themselves hinted at before, refer to will be read soon.
    #[inline]
    pub(crate) fn prefetch_removal(&self, index: &HashIndex, victims: &Victims) {
        for &id in victims {
            if let Some(entry) = self.entries.get(id.0) {
                index.prefetch(entry.hash);
                self.eviction.prefetch(entry.key());
                // Where the reference count is, just before the bytes.
                crate::batch::processor::prefetch_first_line(entry.data.wire().memory_start());
            }
        }
    }

    /// Entries for which there is room, if they are like those that are kept.
    #[inline]
    fn likely_room(&self) -> usize {
        let entries = self.config.max_entries.saturating_sub(self.entries.len());
        let mean_bytes = self.bytes.checked_div(u64::from(self.entries.len())).unwrap_or(0).max(1);
        let fitting = self.unhurried_bytes().saturating_sub(self.bytes) / mean_bytes;
        usize::try_from(fitting).unwrap_or(usize::MAX).min(entries as usize)
    }
}
