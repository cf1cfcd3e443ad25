//! Several objects of one name, in CCNx.
//!
//! The digest of an object is the last component of its full name. Who asks for the name alone gets one of
//! the objects that have it, and gets others by excluding digests. So up to [`MAX_OF_ONE_NAME`] are kept, and
//! then a newer one takes the place of the oldest. Their order is that of their digests, which are computed
//! when a second object comes: one pass over each, for which it pays at its arrival and no search does.

use std::sync::OnceLock;

use packet::{Data, Dialect, Interest, NameHash};
use smallvec::SmallVec;

use super::prefix_tree::Order;
use super::{CachedId, ContentStore, IncomingData};
use crate::tables::entry_id::EntryId;
use crate::tables::hash_index::HashIndex;

/// Objects of one name that are kept.
pub(super) const MAX_OF_ONE_NAME: usize = 16;

type OfName = SmallVec<[CachedId; MAX_OF_ONE_NAME]>;

/// In which order objects of one name have come. The first has none until there is a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NumberOfName(u32);

impl NumberOfName {
    const FIRST: NumberOfName = NumberOfName(1);

    /// Whether it was kept beside others of its name.
    #[inline]
    pub(super) fn is_one_of_several(self) -> bool {
        self.0 > 0
    }

    fn next(self) -> Self {
        NumberOfName(self.0.saturating_add(1))
    }
}

/// What is known of an object that is kept beside others.
pub(super) struct SameNameEntry {
    number: NumberOfName,
    digest: Box<[u8; 32]>,
}

impl SameNameEntry {
    /// What an entry holds of it.
    #[inline]
    pub(super) fn into_parts(one: Option<Self>) -> (NumberOfName, OnceLock<Box<[u8; 32]>>) {
        match one {
            Some(one) => (one.number, OnceLock::from(one.digest)),
            None => (NumberOfName::default(), OnceLock::new()),
        }
    }
}

impl ContentStore {
    /// All entries of the name of these components, as they are on the wire.
    pub(super) fn of_name<'s>(
        &'s self,
        index: &'s HashIndex,
        dialect: Dialect,
        components: &'s [u8],
        hash: NameHash,
    ) -> impl Iterator<Item = CachedId> + use<'s> {
        index.candidates(hash).filter_map(move |id| match EntryId::from_raw(id) {
            EntryId::Cached(id) => self.is(id, dialect, components, hash).then_some(id),
            EntryId::Pending(_) => None,
        })
    }

    /// The entry that is just this Data.
    pub(crate) fn entry_of(&self, index: &HashIndex, data: &Data, hash: NameHash) -> Option<CachedId> {
        let mut of_name = self.of_name(index, data.dialect(), data.wire_components(), hash);
        match data.dialect() {
            Dialect::Ndn => of_name.next(),
            Dialect::Ccnx => of_name.find(|&id| self.is_copy(id, data)),
        }
    }

    /// Whether this entry was kept beside others of its name.
    #[inline]
    pub(super) fn is_one_of_several(&self, id: Option<CachedId>) -> bool {
        id.and_then(|id| self.get(id)).is_some_and(|entry| entry.number.is_one_of_several())
    }

    /// The entries of an Interest's whole name, those first that are wanted first.
    #[cold]
    pub(super) fn of_name_in_order(
        &self,
        index: &HashIndex,
        interest: &Interest,
        hash: NameHash,
        order: Order,
    ) -> OfName {
        let mut found: OfName =
            self.of_name(index, interest.dialect(), interest.wire_components(), hash).collect();
        let digest = |id: &CachedId| self.get(*id).map(super::Cached::digest);
        found.sort_unstable_by_key(digest);
        if order == Order::Rightmost {
            found.reverse();
        }
        found
    }

    /// Keeps an object beside those of its name, unless it is one of them.
    #[cold]
    pub(super) fn keep_beside(&mut self, index: &mut HashIndex, incoming: IncomingData<'_>) {
        let IncomingData { data, name, fresh_until, .. } = incoming;
        let others: OfName = self.of_name(index, data.dialect(), data.wire_components(), name.hash).collect();
        if let Some(&same) = others.iter().find(|&&id| self.is_copy(id, data)) {
            if let Some(entry) = self.entries.get_mut(same.0) {
                entry.fresh_until = fresh_until;
            }
            self.counters.refreshes += 1;
            return;
        }
        for &id in &others {
            self.number_first(id);
        }
        let number_of = |id: &CachedId| self.get(*id).map(|entry| entry.number);
        let last = others.iter().filter_map(number_of).max().unwrap_or_default();
        let oldest = others.iter().copied().min_by_key(number_of);
        if let Some(oldest) = oldest.filter(|_| others.len() >= MAX_OF_ONE_NAME) {
            self.remove(index, oldest);
            self.counters.replaced += 1;
        }
        let one = Some(SameNameEntry { number: last.next(), digest: Box::new(data.implicit_digest()) });
        if self.may_stay_in_place(data) {
            self.keep(index, data.clone(), incoming, one);
        } else {
            self.keep_copy(index, incoming, one);
        }
    }

    /// Gives an object its place in the order of digests, if it was alone with its name.
    fn number_first(&mut self, id: CachedId) {
        if self.is_one_of_several(Some(id)) {
            return;
        }
        self.tree.remove(&mut self.entries, id);
        if let Some(entry) = self.entries.get_mut(id.0) {
            entry.number = NumberOfName::FIRST;
            entry.digest();
        }
        self.tree.add_later(&mut self.entries, id);
    }

    fn is_copy(&self, id: CachedId, data: &Data) -> bool {
        self.get(id).is_some_and(|entry| entry.data.wire() == data.wire())
    }
}
