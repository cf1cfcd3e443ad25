//! Finding Data by a prefix of its name.
//!
//! Kept Data hang on a tree of the prefixes of their names, each below the prefix that lacks its last component. Building
//! that costs more than everything else that happens to a Data, and most traffic asks for exact names only. So Data is first
//! put on a list, and hung on the tree when somebody asks by prefix: newest first, a bounded number at each
//! search. Traffic without such searches never pays; traffic with them pays no more than it would have anyway.
//!
//! Children are not kept in order. A search looks at up to [`MAX_EXAMINED`] of them and sorts what it sees; the newest
//! are seen first. A cache may miss, so beyond that bound it does.

use packet::{Component, Dialect, Interest, Name, NameHash, NameHasher, NameRef, PrefixHashes};

use super::{Cached, CachedId};
use crate::tables::chunked::Slab;
use crate::tables::hash_index::HashIndex;

/// Entries and prefixes that one search looks at.
pub(super) const MAX_EXAMINED: usize = 128;
/// Entries hung on the tree by one search.
pub(super) const MAX_HUNG: usize = 64;

const NONE: u32 = u32::MAX;

/// Where an entry hangs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    previous: u32,
    next: u32,
    /// The node above, or `NONE` while the entry is on the list of those to be hung.
    parent: u32,
}

impl Default for Link {
    fn default() -> Self {
        Link { previous: NONE, next: NONE, parent: NONE }
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

/// What a search came to.
pub(super) struct Search {
    pub(super) found: Option<u32>,
    /// There was more to look at than a search may.
    pub(super) cut_short: bool,
}

/// The tree and the list of entries that are not on it yet.
#[derive(Debug)]
pub(super) struct PrefixTree {
    nodes: Slab<Node>,
    index: HashIndex,
    newest_unhung: u32,
}

#[derive(Debug)]
struct Node {
    /// Shares the bytes of the Data that made it necessary.
    name: Name,
    dialect: Dialect,
    hash: NameHash,
    component_count: u16,
    parent: u32,
    previous: u32,
    next: u32,
    first_node: u32,
    first_entry: u32,
}

impl Default for PrefixTree {
    fn default() -> Self {
        PrefixTree { nodes: Slab::default(), index: HashIndex::default(), newest_unhung: NONE }
    }
}

impl PrefixTree {
    /// Puts entry `id`, which is new, on the list of those to be hung.
    #[inline]
    pub(super) fn add_later(&mut self, entries: &mut Slab<Cached>, id: u32) {
        let next = std::mem::replace(&mut self.newest_unhung, id);
        set_link(entries, id, Link { previous: NONE, next, parent: NONE });
        if let Some(next) = entries.get_mut(next) {
            next.link.previous = id;
        }
    }

    /// Takes entry `id` off list or tree, and prefixes that nothing hangs below any more.
    #[inline]
    pub(super) fn remove(&mut self, entries: &mut Slab<Cached>, id: u32) {
        let Some(Link { previous, next, parent }) = entries.get(id).map(|entry| entry.link) else { return };
        if let Some(next) = entries.get_mut(next) {
            next.link.previous = previous;
        }
        if let Some(previous) = entries.get_mut(previous) {
            previous.link.next = next;
        } else if parent == NONE {
            self.newest_unhung = next;
        } else if let Some(node) = self.nodes.get_mut(parent) {
            node.first_entry = next;
        }
        self.prune(parent);
    }

    /// Looks below the Interest's name for the first entry in the wanted order that `accepts`. `exact` is the entry of
    /// just that name.
    #[expect(clippy::too_many_arguments, reason = "the store's parts are borrowed one by one")]
    pub(super) fn search(
        &mut self,
        entries: &mut Slab<Cached>,
        hasher: &NameHasher,
        interest: &Interest,
        hashes: &PrefixHashes,
        order: Order,
        exact: Option<CachedId>,
        accepts: impl Fn(u32, &Cached) -> bool,
    ) -> Search {
        self.hang(entries, hasher);
        let node = self.find(interest.dialect(), interest.name(), hashes.whole());
        let mut walk = Walk {
            tree: self,
            entries,
            accepts,
            left: MAX_EXAMINED,
            cut_short: false,
            dialect: interest.dialect(),
        };
        let found = walk.below(node, exact.map(|id| id.0), order);
        Search { found, cut_short: walk.cut_short }
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes() + self.index.footprint_bytes()
    }

    /// Number of prefixes on the tree.
    #[cfg(test)]
    pub(super) fn node_count(&self) -> u32 {
        assert_eq!(self.nodes.len(), self.index.len(), "each prefix is in the index once");
        self.nodes.len()
    }

    /// Hangs the newest entries of the list on the tree.
    fn hang(&mut self, entries: &mut Slab<Cached>, hasher: &NameHasher) {
        for _ in 0..MAX_HUNG {
            let id = self.newest_unhung;
            let Some(entry) = entries.get(id) else { return };
            let (dialect, name) = (entry.data.dialect(), entry.data.name().to_name());
            let count = entry.data.component_count();
            self.remove(entries, id);
            // Data with very long names share a node, so that a name cannot cost a node for each of its components.
            let depth = count.saturating_sub(1).min(PrefixHashes::MAX_PREFIX_COMPONENTS);
            let parent = self.make(dialect, &name.prefix(depth), hasher);
            let next = self.nodes.get(parent).map_or(NONE, |node| node.first_entry);
            set_link(entries, id, Link { previous: NONE, next, parent });
            if let Some(next) = entries.get_mut(next) {
                next.link.previous = id;
            }
            if let Some(node) = self.nodes.get_mut(parent) {
                node.first_entry = id;
            }
        }
    }

    /// The node of `prefix`, made with all its ancestors if it is new.
    fn make(&mut self, dialect: Dialect, prefix: &Name, hasher: &NameHasher) -> u32 {
        let hashes = hasher.hash(dialect, prefix.components());
        let hash_of = |count: usize| {
            hashes
                .prefix(count)
                .unwrap_or_else(|| hasher.hash(dialect, prefix.prefix(count).components()).whole())
        };
        let mut count = hashes.component_count();
        // The longest prefix that has a node already.
        let mut parent = loop {
            match self.find(dialect, prefix.as_ref().prefix(count), hash_of(count)) {
                Some(node) => break node,
                None if count == 0 => break NONE,
                None => count -= 1,
            }
        };
        let start = if parent == NONE { 0 } else { count + 1 };
        for length in start..=hashes.component_count() {
            let next = self.nodes.get(parent).map_or(NONE, |node| node.first_node);
            let hash = hash_of(length);
            let node = self.nodes.insert(Node {
                name: prefix.prefix(length),
                dialect,
                hash,
                component_count: length as u16,
                parent,
                previous: NONE,
                next,
                first_node: NONE,
                first_entry: NONE,
            });
            if let Some(next) = self.nodes.get_mut(next) {
                next.previous = node;
            }
            if let Some(parent) = self.nodes.get_mut(parent) {
                parent.first_node = node;
            }
            self.index.insert(hash, node);
            parent = node;
        }
        parent
    }

    fn find(&self, dialect: Dialect, name: NameRef<'_>, hash: NameHash) -> Option<u32> {
        self.index.candidates(hash).find(|&id| {
            self.nodes.get(id).is_some_and(|node| node.dialect == dialect && node.name.as_ref() == name)
        })
    }

    /// Removes a node that nothing hangs below, and then its ancestors likewise.
    fn prune(&mut self, mut id: u32) {
        while let Some(node) = self.nodes.get(id) {
            if node.first_node != NONE || node.first_entry != NONE {
                return;
            }
            let Some(Node { hash, parent, previous, next, .. }) = self.nodes.remove(id) else { return };
            self.index.remove(hash, id);
            if let Some(next) = self.nodes.get_mut(next) {
                next.previous = previous;
            }
            if let Some(previous) = self.nodes.get_mut(previous) {
                previous.next = next;
            } else if let Some(parent) = self.nodes.get_mut(parent) {
                parent.first_node = next;
            }
            id = parent;
        }
    }
}

/// One search under way.
struct Walk<'a, F> {
    tree: &'a PrefixTree,
    entries: &'a Slab<Cached>,
    accepts: F,
    /// How many candidates it may still look at.
    left: usize,
    /// Something was left that it may not look at.
    cut_short: bool,
    dialect: Dialect,
}

/// Something that hangs below a node.
#[derive(Clone, Copy)]
struct Child<'a> {
    component: Component<'a>,
    target: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Entry(u32),
    Node(u32),
}

impl<'a, F: Fn(u32, &Cached) -> bool> Walk<'a, F> {
    /// The wanted entry below `node`, or the one of just its name, `exact`.
    fn below(&mut self, node: Option<u32>, exact: Option<u32>, order: Order) -> Option<u32> {
        let digest = exact.and_then(|exact| Some(self.entries.get(exact)?.digest()));
        let mut children: Vec<Child<'_>> = node.map(|node| self.children(node)).unwrap_or_default();
        if let (Some(exact), Some(digest)) = (exact, &digest) {
            // Its full name has one component more, the digest.
            children.push(Child {
                component: digest_component(self.dialect, digest),
                target: Target::Entry(exact),
            });
        }
        let dialect = self.dialect;
        children.sort_unstable_by(|a, b| {
            let by_component = match order {
                Order::Leftmost => a.component.cmp(&b.component),
                Order::Rightmost => b.component.cmp(&a.component),
            };
            by_component.then_with(|| rank(dialect, a.target).cmp(&rank(dialect, b.target)))
        });
        children.into_iter().find_map(|child| match child.target {
            Target::Entry(id) => {
                self.entries.get(id).is_some_and(|entry| (self.accepts)(id, entry)).then_some(id)
            }
            Target::Node(node) => self.below(Some(node), None, Order::Leftmost),
        })
    }

    /// Looks at what hangs below a node, as far as the search may.
    fn children(&mut self, node: u32) -> Vec<Child<'a>> {
        let mut children = Vec::new();
        let Some(node) = self.tree.nodes.get(node) else { return children };
        let last = |name: NameRef<'a>| name.components().nth(node.component_count.into());
        let mut entry = node.first_entry;
        while let (Some(place), 1..) = (self.entries.get(entry), self.left) {
            // Only the Data of the name without components hangs below its own name.
            if let Some(component) = last(place.data.name()) {
                children.push(Child { component, target: Target::Entry(entry) });
            }
            self.left -= 1;
            entry = place.link.next;
        }
        let mut below = node.first_node;
        while let (Some(place), 1..) = (self.tree.nodes.get(below), self.left) {
            if let Some(component) = last(place.name.as_ref()) {
                children.push(Child { component, target: Target::Node(below) });
            }
            self.left -= 1;
            below = place.next;
        }
        self.cut_short |= entry != NONE || below != NONE;
        children
    }
}

/// Order of what shares a component. An entry's full name goes on with a digest, which sorts before all else in NDN and
/// behind shorter components in CCNx.
fn rank(dialect: Dialect, target: Target) -> (bool, Target) {
    (matches!(target, Target::Entry(_)) != (dialect == Dialect::Ndn), target)
}

fn digest_component(dialect: Dialect, digest: &[u8; 32]) -> Component<'_> {
    match dialect {
        Dialect::Ndn => Component::new(packet::ComponentKind::IMPLICIT_DIGEST, digest),
        Dialect::Ccnx => Component::generic(digest),
    }
}

fn set_link(entries: &mut Slab<Cached>, id: u32, link: Link) {
    if let Some(entry) = entries.get_mut(id) {
        entry.link = link;
    }
}
