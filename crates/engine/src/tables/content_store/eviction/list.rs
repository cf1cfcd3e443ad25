//! Doubly linked lists of entry numbers, several of them in one array of nodes.

use crate::tables::chunked::ChunkedVec;

pub(super) const NONE: u32 = u32::MAX;

/// A node for every entry number that was ever used. Each is on at most one list.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: ChunkedVec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    newer: u32,
    older: u32,
    /// For the policy: how often the entry was asked for, and which list it is on.
    mark: u8,
    list: u8,
}

const OFF: u8 = u8::MAX;

/// One list, from newest to oldest.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) newest: u32,
    pub(super) oldest: u32,
    pub(super) len: usize,
    number: u8,
}

impl List {
    pub(super) const fn new(number: u8) -> Self {
        List { newest: NONE, oldest: NONE, len: 0, number }
    }

    /// Puts `id`, which is on no list, in front.
    pub(super) fn push_newest(&mut self, nodes: &mut Nodes, id: u32) {
        let mark = nodes.mark(id);
        nodes.ensure(id);
        nodes.nodes[id] = Node { newer: NONE, older: self.newest, mark, list: self.number };
        match self.newest {
            NONE => self.oldest = id,
            newest => nodes.nodes[newest].newer = id,
        }
        self.newest = id;
        self.len += 1;
    }

    /// The entry that has been on the list for longest.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// All entries from the oldest on.
    pub(super) fn walk_from_oldest<'n>(&self, nodes: &'n Nodes) -> impl Iterator<Item = u32> + use<'n> {
        nodes.walk_newer(self.oldest)
    }

    /// Takes `id` off; it must be on this list.
    pub(super) fn unlink(&mut self, nodes: &mut Nodes, id: u32) {
        let Node { newer, older, list, .. } = nodes.nodes[id];
        debug_assert_eq!(list, self.number);
        match newer {
            NONE => self.newest = older,
            newer => nodes.nodes[newer].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => nodes.nodes[older].newer = newer,
        }
        nodes.nodes[id].list = OFF;
        self.len -= 1;
    }
}

impl Nodes {
    pub(super) fn newer(&self, id: u32) -> u32 {
        self.nodes[id].newer
    }

    /// `id`, unless it is `NONE`, and all that are newer on its list.
    pub(super) fn walk_newer(&self, id: u32) -> impl Iterator<Item = u32> + use<'_> {
        let mut next = id;
        std::iter::from_fn(move || {
            let id = next;
            next = self.nodes.get(id)?.newer;
            Some(id)
        })
    }

    /// The number of the list that `id` is on, if any.
    pub(super) fn list_of(&self, id: u32) -> Option<u8> {
        self.nodes.get(id).map(|node| node.list).filter(|&list| list != OFF)
    }

    pub(super) fn mark(&self, id: u32) -> u8 {
        self.nodes.get(id).map_or(0, |node| node.mark)
    }

    pub(super) fn set_mark(&mut self, id: u32, mark: u8) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.mark = mark;
        }
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes()
    }

    fn ensure(&mut self, id: u32) {
        while self.nodes.len() <= id {
            self.nodes.push(Node { newer: NONE, older: NONE, mark: 0, list: OFF });
        }
    }
}
