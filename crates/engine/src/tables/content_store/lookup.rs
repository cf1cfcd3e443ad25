//! Which kept Data answers an Interest.

use std::cell::Cell;

use packet::ccnx::{ExcludeRef, InterestView, SortedExclude};
use packet::time::Instant;
use packet::{Dialect, Interest, NameHash, NameHasher, PrefixHashes};

use super::prefix_tree::{Order, SearchStep};
use super::{Cached, CachedId, ContentStore};
use crate::arrival::Arrival;
use crate::tables::hash_index::HashIndex;

/// Bytes of names that one search asks Bloom filters about, all candidates together.
const MAX_FILTERED_BYTES: usize = 3072;

/// What an Interest says of the Data that it accepts.
struct Selection<'a> {
    now: Instant,
    interest: &'a Interest,
    /// Those of CCNx, if it has any.
    selectors: Option<InterestView<'a>>,
    /// To be looked up in for each candidate, which a pass over it would be too dear for.
    exclude: Option<SortedExclude<'a>>,
    has_filter: bool,
    filtered_bytes_left: Cell<usize>,
}

impl<'a> Selection<'a> {
    fn of(now: Instant, interest: &'a Interest) -> Self {
        let selectors = interest.ccnx_selectors();
        let exclude = selectors.and_then(|view| view.exclude()).map(|exclude| exclude.to_sorted());
        let has_filter = exclude.as_ref().is_some_and(|exclude| exclude.has_filter());
        let filtered_bytes_left = Cell::new(MAX_FILTERED_BYTES);
        Selection { now, interest, selectors, exclude, has_filter, filtered_bytes_left }
    }

    fn is_fresh(&self, entry: &Cached) -> bool {
        !self.interest.must_be_fresh() || entry.fresh_until > self.now
    }

    fn step(&self, entry: &Cached) -> SearchStep {
        if !self.is_fresh(entry) {
            return SearchStep::Refused;
        }
        let (selectors, digest) = (self.selectors.as_ref(), || entry.digest());
        let Some(exclude) = &self.exclude else {
            let fits = self.interest.matches_selecting(selectors, &entry.data, digest, |_, _| false);
            return if fits { SearchStep::Accepted } else { SearchStep::Refused };
        };
        let left = self.filtered_bytes_left.get();
        if left == 0 {
            return SearchStep::Overlooked;
        }
        let filtered = if self.has_filter { entry.data.wire_components().len() } else { 0 };
        self.filtered_bytes_left.set(left.saturating_sub(filtered));
        let excluded = Cell::new(false);
        let excludes = |_: ExcludeRef<'_>, component: &[u8]| {
            excluded.set(exclude.excludes(component));
            excluded.get()
        };
        match self.interest.matches_selecting(selectors, &entry.data, digest, excludes) {
            true => SearchStep::Accepted,
            false if excluded.get() => SearchStep::ChildRefused,
            false => SearchStep::Refused,
        }
    }
}

impl ContentStore {
    /// The answer to an Interest; `exact` is the Data of just its name.
    #[inline]
    pub(super) fn find(
        &mut self,
        index: &HashIndex,
        arrival: Arrival<'_>,
        interest: &Interest,
        hasher: &NameHasher,
        exact: Option<CachedId>,
    ) -> Option<CachedId> {
        let Arrival { now, hashes, .. } = arrival;
        // Data of just the Interest's name comes first in canonical order in NDN, and in CCNx if nothing is
        // kept below that; it answers where no selectors object.
        let entry = exact.and_then(|id| self.entries.get(id.0));
        if let Some(entry) = entry
            && (!interest.must_be_fresh() || entry.fresh_until > now)
            && (interest.dialect() == Dialect::Ndn || self.is_obvious(entry, interest, hashes.whole()))
        {
            return exact;
        }
        // The usual end: nothing is kept of a name that is asked for as it is.
        if !interest.can_be_prefix() && interest.implicit_digest().is_none() {
            return None;
        }
        let selection = Selection::of(now, interest);
        let accepted = |store: &Self, id: Option<CachedId>| {
            let entry = store.entries.get(id?.0)?;
            id.filter(|_| selection.step(entry) == SearchStep::Accepted)
        };
        if interest.implicit_digest().is_some() {
            let mut found = self.of_name_before_digest(index, interest, hashes, hasher);
            if let Some(found) = found.find_map(|id| accepted(self, Some(id))) {
                return Some(found);
            }
        }
        if !interest.can_be_prefix() {
            return None;
        }
        let order = match selection.selectors {
            Some(view) if view.child_selector().is_rightmost() => Order::Rightmost,
            _ => Order::Leftmost,
        };
        if interest.dialect() == Dialect::Ccnx
            && !self.occupied.may_have_below(hashes.whole(), interest.component_count())
        {
            if self.is_one_of_several(exact) {
                let of_name = self.of_name_in_order(index, interest, hashes.whole(), order);
                return of_name.into_iter().find_map(|id| accepted(self, Some(id)));
            }
            return accepted(self, exact);
        }
        let excluded = selection.exclude.as_ref().map_or(0, |exclude| exclude.entry_count());
        let step = |_, entry: &Cached| selection.step(entry);
        let search = self.tree.search(&mut self.entries, (interest, excluded), order, step);
        self.counters.searches_cut_short += u64::from(search.cut_short);
        search.found
    }

    /// Whether an object of just the name that an Interest of CCNx asks for is the first that it accepts.
    #[inline]
    fn is_obvious(&self, entry: &Cached, interest: &Interest, hash: NameHash) -> bool {
        !interest.has_selectors()
            && !entry.number.is_one_of_several()
            && interest.implicit_digest().is_none()
            && !self.occupied.may_have_below(hash, interest.component_count())
    }

    /// Data of the Interest's name without its last component, which may be a digest.
    fn of_name_before_digest<'s>(
        &'s self,
        index: &'s HashIndex,
        interest: &'s Interest,
        hashes: &PrefixHashes,
        hasher: &NameHasher,
    ) -> impl Iterator<Item = CachedId> + use<'s> {
        let count = interest.component_count().saturating_sub(1);
        let of_parent = || hasher.hash(interest.dialect(), interest.name().prefix(count).components());
        let hash = hashes.prefix(count).unwrap_or_else(|| of_parent().whole());
        self.of_name(index, interest.dialect(), interest.parent_wire_components(), hash)
    }
}
