//! Doubly linked lists of entry numbers, several of them in one array of nodes.

use super::CachedId;
use crate::tables::chunked::ChunkedVec;

/// No entry has this number.
pub(super) const NONE: CachedId = CachedId(u32::MAX);

/// A node for every entry number that was ever used. Each is on at most one list.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: ChunkedVec<Node>,
}

/// Four of these fill a cache line, and none lies in two.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Node {
    newer: CachedId,
    older: CachedId,
    /// For the policy: whether it was asked for.
    mark: u8,
    list: u8,
}

const OFF: u8 = u8::MAX;
const UNUSED: Node = Node { newer: NONE, older: NONE, mark: 0, list: OFF };

/// One list, from newest to oldest.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) newest: CachedId,
    pub(super) oldest: CachedId,
    pub(super) len: usize,
    number: u8,
}

impl List {
    pub(super) const fn new(number: u8) -> Self {
        List { newest: NONE, oldest: NONE, len: 0, number }
    }

    /// Puts `id`, which is on no list, in front, without a mark.
    #[inline]
    pub(super) fn push_newest(&mut self, nodes: &mut Nodes, id: CachedId) {
        // Made where it goes: of what is made before that is known the parts are written, and then moved as a
        // whole, which the processor waits for.
        let (older, list) = (self.newest, self.number);
        match nodes.get_mut(id) {
            Some(place) => *place = Node { newer: NONE, older, mark: 0, list },
            None => nodes.add(id, Node { newer: NONE, older, mark: 0, list }),
        }
        match nodes.get_mut(self.newest) {
            Some(second) => second.newer = id,
            None => self.oldest = id,
        }
        self.newest = id;
        self.len += 1;
    }

    /// The entry that has been on the list for longest.
    pub(super) fn oldest(&self) -> Option<CachedId> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// All entries from the oldest on.
    pub(super) fn walk_from_oldest<'n>(&self, nodes: &'n Nodes) -> impl Iterator<Item = CachedId> + use<'n> {
        nodes.walk_newer(self.oldest)
    }

    /// Takes `id` off; it must be on this list.
    #[inline]
    pub(super) fn unlink(&mut self, nodes: &mut Nodes, id: CachedId) {
        let Some(node) = nodes.get_mut(id) else { return };
        let Node { newer, older, list, .. } = *node;
        debug_assert_eq!(list, self.number);
        node.list = OFF;
        match nodes.get_mut(newer) {
            Some(node) => node.older = older,
            None => self.newest = older,
        }
        match nodes.get_mut(older) {
            Some(node) => node.newer = newer,
            None => self.oldest = newer,
        }
        self.len -= 1;
    }
}

impl Nodes {
    #[inline(always)]
    fn get(&self, id: CachedId) -> Option<&Node> {
        self.nodes.get(id.0)
    }

    #[inline(always)]
    fn get_mut(&mut self, id: CachedId) -> Option<&mut Node> {
        self.nodes.get_mut(id.0)
    }

    /// Who is next towards the newest, or `NONE`.
    #[inline]
    pub(super) fn newer(&self, id: CachedId) -> CachedId {
        self.get(id).map_or(NONE, |node| node.newer)
    }

    /// `id`, unless it is `NONE`, and all that are newer on its list.
    pub(super) fn walk_newer(&self, id: CachedId) -> impl Iterator<Item = CachedId> + use<'_> {
        let mut next = id;
        std::iter::from_fn(move || {
            let id = next;
            next = self.get(id)?.newer;
            Some(id)
        })
    }

    /// The number of the list that `id` is on, if any.
    pub(super) fn list_of(&self, id: CachedId) -> Option<u8> {
        self.get(id).map(|node| node.list).filter(|&list| list != OFF)
    }

    #[inline]
    pub(super) fn mark(&self, id: CachedId) -> u8 {
        self.get(id).map_or(0, |node| node.mark)
    }

    #[inline]
    pub(super) fn set_mark(&mut self, id: CachedId, mark: u8) {
        if let Some(node) = self.get_mut(id) {
            node.mark = mark;
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, id: CachedId) {
        self.nodes.prefetch(id.0);
    }

    /// Hints that `id`, whose own node is here already, will be taken off its list soon.
    #[inline]
    pub(super) fn prefetch_neighbours(&self, id: CachedId) {
        if let Some(node) = self.get(id) {
            self.nodes.prefetch(node.newer.0);
            self.nodes.prefetch(node.older.0);
        }
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes()
    }

    /// Makes places up to that of `id`.
    #[cold]
    fn add(&mut self, id: CachedId, node: Node) {
        while self.nodes.len() < id.0 {
            self.nodes.push(UNUSED);
        }
        self.nodes.push(node);
    }
}
