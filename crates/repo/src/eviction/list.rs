//! Doubly linked lists of object numbers, several of them in one array of nodes.
//!
//! They are not the engine's, which are made for one packet after the other: with a mark in each node and
//! functions that fetch nodes ahead. Policies of objects need neither, but put objects at both ends.

const NONE: u32 = u32::MAX;

/// A node for every number that was ever used. Each is on at most one list.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    before: u32,
    after: u32,
    list: u8,
}

const OFF: u8 = u8::MAX;
const UNUSED: Node = Node { before: NONE, after: NONE, list: OFF };

/// One list, from head to tail.
#[derive(Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
    pub(super) len: usize,
    number: u8,
}

impl List {
    pub(super) const fn new(number: u8) -> Self {
        List { head: NONE, tail: NONE, len: 0, number }
    }

    pub(super) fn head(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    pub(super) fn tail(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }

    /// Puts `id`, which is on no list, at the tail.
    #[inline]
    pub(super) fn push_tail(&mut self, nodes: &mut Nodes, id: u32) {
        nodes.set(id, Node { before: self.tail, after: NONE, list: self.number });
        match nodes.nodes.get_mut(self.tail as usize) {
            Some(node) => node.after = id,
            None => self.head = id,
        }
        self.tail = id;
        self.len += 1;
    }

    /// Puts `id`, which is on no list, at the head.
    #[inline]
    pub(super) fn push_head(&mut self, nodes: &mut Nodes, id: u32) {
        nodes.set(id, Node { before: NONE, after: self.head, list: self.number });
        match nodes.nodes.get_mut(self.head as usize) {
            Some(node) => node.before = id,
            None => self.tail = id,
        }
        self.head = id;
        self.len += 1;
    }

    /// Takes `id` off; it must be on this list.
    #[inline]
    pub(super) fn unlink(&mut self, nodes: &mut Nodes, id: u32) {
        let Some(node) = nodes.nodes.get_mut(id as usize) else { return };
        debug_assert_eq!(node.list, self.number);
        let Node { before, after, .. } = std::mem::replace(node, UNUSED);
        match nodes.nodes.get_mut(before as usize) {
            Some(node) => node.after = after,
            None => self.head = after,
        }
        match nodes.nodes.get_mut(after as usize) {
            Some(node) => node.before = before,
            None => self.tail = before,
        }
        self.len -= 1;
    }

    /// Takes off who is at the head.
    #[inline]
    pub(super) fn pop_head(&mut self, nodes: &mut Nodes) -> Option<u32> {
        let head = self.head()?;
        self.unlink(nodes, head);
        Some(head)
    }

    /// Takes off who is at the tail.
    #[inline]
    pub(super) fn pop_tail(&mut self, nodes: &mut Nodes) -> Option<u32> {
        let tail = self.tail()?;
        self.unlink(nodes, tail);
        Some(tail)
    }
}

impl Nodes {
    /// The number of the list that `id` is on, if any.
    #[inline]
    pub(super) fn list_of(&self, id: u32) -> Option<u8> {
        self.nodes.get(id as usize).map(|node| node.list).filter(|&list| list != OFF)
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }

    #[inline]
    fn set(&mut self, id: u32, node: Node) {
        if self.nodes.len() <= id as usize {
            self.nodes.resize(id as usize + 1, UNUSED);
        }
        if let Some(place) = self.nodes.get_mut(id as usize) {
            *place = node;
        }
    }
}
