//! Finding Data by a prefix of its name.
//!
//! Kept Data stand in an order of their full names, so that the first below a prefix is found by one descent,
//! however many there are. To keep that order costs more than everything else that happens to a Data, and
//! most traffic asks for exact names only. So Data is first put on a list, and put in order when somebody
//! asks by prefix: the newest at once, the others in small steps afterwards. Traffic without such searches
//! never pays.
//!
//! What a search comes across may be stale or excluded. It looks at [`MAX_EXAMINED`] Data in the wanted
//! order, then at [`MAX_FROM_END`] from the other end, where the newest versions are; at fewer for an
//! Interest with a long Exclude, and where it has to find its way from child to child. A cache may miss, so
//! beyond that bound it does.

use std::collections::BTreeSet;

use packet::{Component, Dialect, Interest, NameRef};

use super::{Cached, CachedId};
use crate::tables::chunked::Slab;

/// Entries that one search looks at in the wanted order.
pub(super) const MAX_EXAMINED: usize = 96;
/// Entries that it looks at from the other end where those were not enough.
pub(super) const MAX_FROM_END: usize = 32;
/// To find the way to another child costs as much as to look at so many entries.
const SEEK_COST: usize = 4;
/// To read so many entries of an Exclude costs as much as to look at one that is kept. An Interest that lists
/// more than [`MAX_EXAMINED`] children which are kept misses anyway.
const EXCLUDED_FOR_A_LOOK: usize = 5;
/// Entries put in order by one search, and by each step after it.
pub(super) const MAX_HUNG: usize = 64;
/// Bytes of a name that the order goes by.
const MAX_KEY_BYTES: usize = 256;

/// No entry has this number.
const NONE: CachedId = CachedId(u32::MAX);

/// Where an entry is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    previous: CachedId,
    next: CachedId,
    /// It is in order, not on the list.
    in_order: bool,
}

impl Default for Link {
    fn default() -> Self {
        Link { previous: NONE, next: NONE, in_order: false }
    }
}

/// Which of several answers is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The first in canonical order.
    Leftmost,
    /// The first below the last child (CCNx 0.8, ChildSelector).
    Rightmost,
}

/// What a search thinks of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    Accepted,
    Refused,
    /// And so are all that share its next component.
    ChildRefused,
    /// Not known: to see whether any more are accepted would take too long.
    Overlooked,
}

/// What a search came to.
pub(super) struct Search {
    pub(super) found: Option<CachedId>,
    /// There was more to look at than a search may.
    pub(super) cut_short: bool,
}

/// Bytes in whose order full names are, and an entry that has them.
type Key = (Box<[u8]>, CachedId);

/// The entries in order, and the list of those that are not yet.
#[derive(Debug)]
pub(super) struct PrefixTree {
    ordered: BTreeSet<Key>,
    key_bytes: usize,
    newest_unhung: CachedId,
    /// Somebody asked while entries were on the list.
    is_wanted: bool,
}

impl Default for PrefixTree {
    fn default() -> Self {
        PrefixTree { ordered: BTreeSet::new(), key_bytes: 0, newest_unhung: NONE, is_wanted: false }
    }
}

/// What a key ends with.
#[derive(Clone, Copy)]
enum End {
    /// Before everything below the name.
    First,
    /// Behind everything below the name: no component begins with this byte.
    Last,
}

fn key(dialect: Dialect, name: NameRef<'_>, child: Option<Component<'_>>, end: End) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(64);
    bytes.push(dialect as u8);
    bytes.extend_from_slice(name.canonical().get(..MAX_KEY_BYTES).unwrap_or(name.canonical()));
    if let Some(child) = child {
        child.append_to(&mut bytes);
    }
    bytes.truncate(MAX_KEY_BYTES);
    if matches!(end, End::Last) {
        bytes.push(0xff);
    }
    bytes.into_boxed_slice()
}

/// The digest of a Data sorts before all else below its name in NDN, and behind shorter components in CCNx.
/// Which digest it is matters where several of one name are kept.
fn key_of(entry: &Cached) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(64);
    bytes.push(entry.data.dialect() as u8);
    // As it is on the wire: the canonical form would stay with the packet, and nobody counts its bytes.
    entry.data.wire_name().append_canonical(&mut bytes);
    bytes.truncate(MAX_KEY_BYTES);
    if entry.data.dialect() == Dialect::Ndn {
        return bytes.into_boxed_slice();
    }
    let digest = if entry.number.is_one_of_several() { entry.digest() } else { [0; 32] };
    Component::generic(&digest).append_to(&mut bytes);
    bytes.into_boxed_slice()
}

impl PrefixTree {
    /// Puts entry `id`, which is new, on the list of those to be put in order.
    #[inline]
    pub(super) fn add_later(&mut self, entries: &mut Slab<Cached>, id: CachedId) {
        let next = std::mem::replace(&mut self.newest_unhung, id);
        set_link(entries, id, Link { previous: NONE, next, in_order: false });
        if let Some(next) = entries.get_mut(next.0) {
            next.link.previous = id;
        }
    }

    /// Takes entry `id` out.
    #[inline]
    pub(super) fn remove(&mut self, entries: &mut Slab<Cached>, id: CachedId) {
        let Some(entry) = entries.get(id.0) else { return };
        let Link { previous, next, in_order } = entry.link;
        if in_order {
            return self.remove_ordered(&(key_of(entry), id));
        }
        if let Some(next) = entries.get_mut(next.0) {
            next.link.previous = previous;
        }
        match entries.get_mut(previous.0) {
            Some(previous) => previous.link.next = next,
            None => self.newest_unhung = next,
        }
    }

    #[cold]
    fn remove_ordered(&mut self, key: &Key) {
        if self.ordered.remove(key) {
            self.key_bytes -= key.0.len();
        }
    }

    /// Looks below the Interest's name for the first entry in the wanted order that is accepted.
    /// The Interest excludes so many.
    pub(super) fn search(
        &mut self,
        entries: &mut Slab<Cached>,
        (interest, excluded): (&Interest, usize),
        order: Order,
        step: impl Fn(CachedId, &Cached) -> SearchStep,
    ) -> Search {
        self.put_in_order(entries);
        self.is_wanted = self.newest_unhung != NONE;
        let looks = |most: usize| most.saturating_sub(excluded / EXCLUDED_FOR_A_LOOK * most / MAX_EXAMINED);
        let left = looks(MAX_EXAMINED).max(1);
        let mut walk = Walk { ordered: &self.ordered, entries, step, interest, left, cut_short: false };
        let found = match order {
            Order::Leftmost => walk.leftmost(walk.bound(None, End::First), &walk.bound(None, End::Last)),
            Order::Rightmost => walk.rightmost(),
        };
        let cut_short = walk.cut_short;
        let found = if cut_short && order == Order::Leftmost {
            walk.last_accepted(looks(MAX_FROM_END))
        } else {
            found
        };
        Search { found, cut_short }
    }

    /// Whether a search found entries that were not in order, and they are not yet.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Puts the newest entries of the list in order.
    pub(super) fn put_in_order(&mut self, entries: &mut Slab<Cached>) {
        for _ in 0..MAX_HUNG {
            let id = self.newest_unhung;
            let Some(entry) = entries.get(id.0) else { break };
            let key = key_of(entry);
            self.remove(entries, id);
            self.key_bytes += key.len();
            self.ordered.insert((key, id));
            set_link(entries, id, Link { in_order: true, ..Link::default() });
        }
        self.is_wanted &= self.newest_unhung != NONE;
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        // Nodes of the tree are two thirds full in the long run.
        self.key_bytes + self.ordered.len() * (size_of::<Key>() * 3 / 2)
    }

    /// Number of entries in order.
    #[cfg(test)]
    pub(super) fn ordered_count(&self) -> usize {
        self.ordered.len()
    }
}

/// One search under way.
struct Walk<'a, F> {
    ordered: &'a BTreeSet<Key>,
    entries: &'a Slab<Cached>,
    step: F,
    interest: &'a Interest,
    /// How many entries it may still look at.
    left: usize,
    /// Something was left that it may not look at.
    cut_short: bool,
}

impl<'a, F: Fn(CachedId, &Cached) -> SearchStep> Walk<'a, F> {
    /// A bound of what is below the Interest's name, or below a child of it.
    fn bound(&self, child: Option<Component<'_>>, end: End) -> Key {
        (key(self.interest.dialect(), self.interest.name(), child, end), CachedId(0))
    }

    /// The component of an entry just below the Interest's name; `None` for Data of just this name.
    fn child(&self, entry: &'a Cached) -> Option<Component<'a>> {
        entry.data.wire_name().component(self.interest.component_count())
    }

    /// Whether one more may be looked at.
    fn may_look(&mut self) -> bool {
        self.cut_short |= self.left == 0;
        self.left = self.left.saturating_sub(1);
        !self.cut_short
    }

    /// Whether it may find its way to another child.
    fn may_seek(&mut self) -> bool {
        self.cut_short |= self.left < SEEK_COST;
        self.left = self.left.saturating_sub(SEEK_COST);
        !self.cut_short
    }

    fn leftmost(&mut self, mut start: Key, end: &Key) -> Option<CachedId> {
        'from_start: while start < *end {
            let mut refused = None;
            for key in self.ordered.range(&start..) {
                if key >= end {
                    return None;
                }
                let &(_, id) = key;
                let Some(entry) = self.entries.get(id.0) else { continue };
                let child = self.child(entry);
                // To find one's way costs more than to look, so that is left until the second of a child.
                if let Some(child) = child.filter(|_| child == refused) {
                    if !self.may_seek() {
                        return None;
                    }
                    let next = self.bound(Some(child), End::Last);
                    if next > start {
                        start = next;
                        continue 'from_start;
                    }
                }
                if !self.may_look() {
                    return None;
                }
                match (self.step)(id, entry) {
                    SearchStep::Accepted => return Some(id),
                    SearchStep::ChildRefused => refused = child,
                    SearchStep::Refused => {}
                    SearchStep::Overlooked => {
                        self.cut_short = true;
                        return None;
                    }
                }
            }
            return None;
        }
        None
    }

    /// The leftmost below the last child below which anything is accepted.
    fn rightmost(&mut self) -> Option<CachedId> {
        let (start, mut end) = (self.bound(None, End::First), self.bound(None, End::Last));
        while start < end {
            let (last_key, id) = self.ordered.range(&start..&end).next_back()?;
            if self.cut_short {
                return None;
            }
            let entry = self.entries.get(id.0)?;
            let Some(child) = self.child(entry) else {
                // Its digest is a child of its own.
                if self.may_look() && (self.step)(*id, entry) == SearchStep::Accepted {
                    return Some(*id);
                }
                end = (last_key.clone(), *id);
                continue;
            };
            let (first, last) = (self.bound(Some(child), End::First), self.bound(Some(child), End::Last));
            if let Some(found) = self.leftmost(first.clone(), (&last).min(&end)) {
                return Some(found);
            }
            // One way to the end of the next child, one to its beginning.
            if first >= end || !(self.may_seek() && self.may_seek()) {
                return None;
            }
            end = first;
        }
        None
    }

    /// Any of so many at the end.
    fn last_accepted(&self, count: usize) -> Option<CachedId> {
        let bounds = self.bound(None, End::First)..self.bound(None, End::Last);
        let last = self.ordered.range(bounds).rev().take(count);
        last.map(|&(_, id)| id).find(|&id| {
            self.entries.get(id.0).is_some_and(|entry| (self.step)(id, entry) == SearchStep::Accepted)
        })
    }
}

fn set_link(entries: &mut Slab<Cached>, id: CachedId, link: Link) {
    if let Some(entry) = entries.get_mut(id.0) {
        entry.link = link;
    }
}
