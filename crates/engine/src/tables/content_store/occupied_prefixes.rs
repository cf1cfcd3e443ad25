//! Below which prefixes Data is kept.
//!
//! Every Interest of CCNx accepts longer names, yet most ask for one Data by its whole name. There is
//! something to search for in [`prefix_tree`](super::prefix_tree) only if Data is kept below that name. So
//! this table holds each proper prefix of a kept name once, with a count of what stands directly below it.
//! Data of one sequence share their prefixes, and one more of them adds one to a count.

use packet::{NameHash, PrefixHashes};

use crate::tables::chunked::Slab;
use crate::tables::hash_index::HashIndex;

/// Prefixes that may be held for each Data, on average, and for all together. Where names share so little,
/// searches are made that this table would have spared.
const MAX_FOR_EACH_DATA: u32 = 2;
const MAX_FOR_ALL: u32 = 1024;

/// Where a kept Data, or a prefix, hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent(u32);

impl Parent {
    /// Data whose name has no proper prefix, or that nobody searches for here.
    pub(super) const NONE: Parent = Parent(u32::MAX);
    /// Data whose prefixes are not in the table.
    const UNLISTED: Parent = Parent(u32::MAX - 1);
}

#[derive(Debug)]
struct Prefix {
    hash: NameHash,
    parent: Parent,
    /// Data of one component more, and prefixes that are one component longer.
    below: u32,
}

/// The prefixes below which Data is kept. They are told apart by their hashes alone: two with the same would
/// cost searches, and hide nothing.
#[derive(Debug, Default)]
pub(super) struct OccupiedPrefixes {
    prefixes: Slab<Prefix>,
    index: HashIndex,
    /// Data whose prefixes are not here.
    unlisted: u32,
}

impl OccupiedPrefixes {
    /// Whether there may be Data below a name of so many components. Says no only if there is none.
    #[inline]
    pub(super) fn may_have_below(&self, name: NameHash, component_count: usize) -> bool {
        self.unlisted > 0
            || component_count > PrefixHashes::MAX_PREFIX_COMPONENTS
            || self.find(name).is_some()
    }

    /// Whether there is Data below the prefix with this hash, and that is known here.
    #[inline]
    pub(super) fn holds(&self, prefix: NameHash) -> bool {
        self.find(prefix).is_some()
    }

    /// Notes Data of a name with these hashes, the `count`th that is kept; without them it must be below the
    /// prefix with the hash `parent`, the longest of its name, or it is not listed.
    pub(super) fn add(&mut self, hashes: Option<&PrefixHashes>, parent: NameHash, count: u32) -> Parent {
        let most = count.saturating_mul(MAX_FOR_EACH_DATA).saturating_add(MAX_FOR_ALL);
        let Some(hashes) = hashes else { return self.add_below(parent) };
        let Some(parent_length) = hashes.component_count().checked_sub(1) else { return Parent::NONE };
        let longest = parent_length.min(hashes.longest_known_prefix());
        let (mut first, mut last_new) = (Parent::NONE, None);
        for length in (0..=longest).rev() {
            let Some(hash) = hashes.prefix(length) else { break };
            let known = self.find(hash);
            if known.is_none() && last_new.is_none() && self.prefixes.len() + length as u32 >= most {
                return self.add_unlisted();
            }
            let id = known.unwrap_or_else(|| self.insert(hash));
            if let Some(prefix) = self.prefixes.get_mut(id) {
                prefix.below += 1;
            }
            match last_new.and_then(|id| self.prefixes.get_mut(id)) {
                Some(longer) => longer.parent = Parent(id),
                None => first = Parent(id),
            }
            if known.is_some() {
                break;
            }
            last_new = Some(id);
        }
        first
    }

    /// Forgets Data that hung below `parent`.
    pub(super) fn remove(&mut self, mut parent: Parent) {
        if parent == Parent::UNLISTED {
            self.unlisted = self.unlisted.saturating_sub(1);
            return;
        }
        while let Some(prefix) = self.prefixes.get_mut(parent.0) {
            prefix.below = prefix.below.saturating_sub(1);
            if prefix.below > 0 {
                return;
            }
            let (hash, id) = (prefix.hash, parent.0);
            parent = prefix.parent;
            self.index.remove(hash, id);
            self.prefixes.remove(id);
        }
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.prefixes.footprint_bytes() + self.index.footprint_bytes()
    }

    /// Prefixes held, and Data that would have some and have none here.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (u32, u32) {
        (self.prefixes.len(), self.unlisted)
    }

    fn add_below(&mut self, parent: NameHash) -> Parent {
        let known = self.find(parent);
        match known.and_then(|id| Some((id, self.prefixes.get_mut(id)?))) {
            Some((id, prefix)) => {
                prefix.below += 1;
                Parent(id)
            }
            None => self.add_unlisted(),
        }
    }

    fn add_unlisted(&mut self) -> Parent {
        self.unlisted += 1;
        Parent::UNLISTED
    }

    #[inline]
    fn find(&self, hash: NameHash) -> Option<u32> {
        self.index.candidates(hash).find(|&id| self.prefixes.get(id).is_some_and(|held| held.hash == hash))
    }

    #[cold]
    fn insert(&mut self, hash: NameHash) -> u32 {
        let id = self.prefixes.insert(Prefix { hash, parent: Parent::NONE, below: 0 });
        self.index.insert(hash, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use packet::{Dialect, Name, NameHasher};

    use super::*;

    fn hashes(uri: &str) -> PrefixHashes {
        let name: Name = uri.parse().unwrap();
        NameHasher::new([1, 2]).hash(Dialect::Ccnx, name.components())
    }

    #[test]
    fn exactly_the_proper_prefixes_of_kept_names_have_something_below_them() {
        let mut table = OccupiedPrefixes::default();
        let has_below = |table: &OccupiedPrefixes, uri: &str| {
            table.may_have_below(hashes(uri).whole(), hashes(uri).component_count())
        };
        let one = table.add(Some(&hashes("/a/b/c")), NameHash::UNKNOWN, 1);
        let two = table.add(Some(&hashes("/a/b/d/e")), NameHash::UNKNOWN, 2);
        for uri in ["/", "/a", "/a/b", "/a/b/d"] {
            assert!(has_below(&table, uri), "{uri}");
        }
        for uri in ["/a/b/c", "/a/b/d/e", "/a/b/c/d", "/b"] {
            assert!(!has_below(&table, uri), "{uri}");
        }
        let three = table.add(None, hashes("/a/b/d").whole(), 3);
        table.remove(two);
        assert!(has_below(&table, "/a/b/d"));
        table.remove(three);
        assert!(has_below(&table, "/a/b") && !has_below(&table, "/a/b/d"));
        table.remove(one);
        assert!(!has_below(&table, "/"));
        assert_eq!(table.counts(), (0, 0));
    }

    #[test]
    fn data_for_whose_prefixes_there_is_no_room_is_below_every_name() {
        let mut table = OccupiedPrefixes::default();
        let apart: Vec<Parent> = (0..200u32)
            .map(|number| {
                let uri = format!("/{number}/1/2/3/4/5/6/7/8/9");
                table.add(Some(&hashes(&uri)), NameHash::UNKNOWN, number)
            })
            .collect();
        let (prefixes, unlisted) = table.counts();
        assert!(prefixes <= 200 * MAX_FOR_EACH_DATA + MAX_FOR_ALL, "{prefixes}");
        assert!(unlisted > 0);
        assert!(table.may_have_below(hashes("/nothing/here").whole(), 2));
        for parent in apart {
            table.remove(parent);
        }
        assert_eq!(table.counts(), (0, 0));
        assert!(!table.may_have_below(hashes("/nothing/here").whole(), 2));
    }

    #[test]
    fn of_names_longer_than_are_hashed_nothing_is_denied() {
        let mut table = OccupiedPrefixes::default();
        let long: String = (0..40).map(|number| format!("/{number}")).collect();
        let kept = table.add(Some(&hashes(&long)), NameHash::UNKNOWN, 1);
        let prefix: String = (0..17).map(|number| format!("/{number}")).collect();
        assert!(table.may_have_below(hashes(&prefix).whole(), 17));
        let prefix: String = (0..16).map(|number| format!("/{number}")).collect();
        assert!(table.may_have_below(hashes(&prefix).whole(), 16));
        table.remove(kept);
        assert_eq!(table.counts(), (0, 0));
    }
}
