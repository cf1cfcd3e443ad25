//! First-in-first-out queues of entry numbers. Numbers lie in memory in the order in which they came, so that
//! it is known long before whose node will be looked at.

use std::collections::VecDeque;

use super::CachedId;
use crate::tables::chunked::ChunkedVec;

/// What is remembered of the key of what an entry holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint(pub(super) u32);

/// A node for every entry number that was ever used. Each is in at most one queue.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: ChunkedVec<Node>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// What the entry holds.
    key: Fingerprint,
    /// Its place in its queue: the same number stands in a queue more than once if its entry left from the
    /// middle.
    place: u32,
    /// How often it was asked for.
    pub(super) mark: u8,
    queue: u8,
}

const OFF: u8 = u8::MAX;
const UNUSED: Node = Node { key: Fingerprint(0), place: 0, mark: 0, queue: OFF };

/// So far ahead nodes are fetched.
const AHEAD: usize = 6;
/// Places of entries that left from the middle which a queue may have before they are cleared away, beside as
/// many as it has entries.
const VACANT: usize = 64;

/// An entry that was taken out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oldest {
    pub(super) id: CachedId,
    /// What it holds.
    pub(super) key: Fingerprint,
    /// How often it was asked for.
    pub(super) mark: u8,
}

/// One queue.
#[derive(Debug)]
pub(super) struct Queue {
    ids: VecDeque<CachedId>,
    /// The place of the first of `ids`; that of the next is one more.
    first: u32,
    len: usize,
    number: u8,
}

impl Queue {
    pub(super) const fn new(number: u8) -> Self {
        Queue { ids: VecDeque::new(), first: 0, len: 0, number }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts `id`, which is in no queue, at the end.
    #[inline]
    pub(super) fn push(&mut self, nodes: &mut Nodes, id: CachedId, key: Fingerprint, mark: u8) {
        let node = Node { key, place: self.place(self.ids.len()), mark, queue: self.number };
        match nodes.get_mut(id) {
            Some(place) => *place = node,
            None => nodes.add(id, node),
        }
        self.ids.push_back(id);
        self.len += 1;
    }

    /// Takes the oldest entry out.
    #[inline]
    pub(super) fn pop(&mut self, nodes: &mut Nodes) -> Option<Oldest> {
        while let Some(id) = self.ids.pop_front() {
            let place = self.first;
            self.first = self.first.wrapping_add(1);
            if let Some(&ahead) = self.ids.get(AHEAD) {
                nodes.prefetch(ahead);
            }
            let Some(node) = nodes.get_mut(id) else { continue };
            if node.queue == self.number && node.place == place {
                node.queue = OFF;
                self.len -= 1;
                return Some(Oldest { id, key: node.key, mark: node.mark });
            }
        }
        None
    }

    /// Takes `id` out; it must be in this queue.
    pub(super) fn remove(&mut self, nodes: &mut Nodes, id: CachedId) {
        let Some(node) = nodes.get_mut(id) else { return };
        debug_assert_eq!(node.queue, self.number);
        node.queue = OFF;
        self.len -= 1;
        if self.ids.len() > self.len * 2 + VACANT {
            self.clear_away(nodes);
        }
    }

    /// All entries, the oldest first.
    pub(super) fn oldest_first<'q>(&'q self, nodes: &'q Nodes) -> impl Iterator<Item = CachedId> + use<'q> {
        let present = |&(at, &id): &(usize, &CachedId)| self.holds(nodes, at, id);
        self.ids.iter().enumerate().filter(present).map(|(_, &id)| id)
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<CachedId>()
    }

    fn place(&self, at: usize) -> u32 {
        self.first.wrapping_add(at as u32)
    }

    fn holds(&self, nodes: &Nodes, at: usize, id: CachedId) -> bool {
        nodes.get(id).is_some_and(|node| node.queue == self.number && node.place == self.place(at))
    }

    /// Lets those that are there close up.
    #[cold]
    fn clear_away(&mut self, nodes: &mut Nodes) {
        let mut kept = 0;
        for at in 0..self.ids.len() {
            let id = self.ids[at];
            if self.holds(nodes, at, id) {
                if let Some(node) = nodes.get_mut(id) {
                    node.place = self.place(kept);
                }
                self.ids[kept] = id;
                kept += 1;
            }
        }
        self.ids.truncate(kept);
    }
}

impl Nodes {
    #[inline(always)]
    fn get(&self, id: CachedId) -> Option<&Node> {
        self.nodes.get(id.0)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: CachedId) -> Option<&mut Node> {
        self.nodes.get_mut(id.0)
    }

    /// The number of the queue that `id` is in, if any.
    pub(super) fn queue_of(&self, id: CachedId) -> Option<u8> {
        self.get(id).map(|node| node.queue).filter(|&queue| queue != OFF)
    }

    #[inline]
    pub(super) fn prefetch(&self, id: CachedId) {
        self.nodes.prefetch(id.0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    #[test]
    fn two_queues_hold_what_two_lists_hold_whoever_leaves_from_the_middle() {
        let mut random = Random::from_seed(5);
        let mut nodes = Nodes::default();
        let mut queues = [Queue::new(0), Queue::new(1)];
        let mut models: [VecDeque<(CachedId, Fingerprint)>; 2] = Default::default();
        // Places count over the end of their type.
        queues[0].first = u32::MAX - 100;
        for step in 0..100_000 {
            let (which, id) = (random.below(2) as usize, CachedId(random.below(500) as u32));
            let (queue, model) = (&mut queues[which], &mut models[which]);
            // Now long, now short.
            match random.below(if step / 10_000 % 2 == 0 { 3 } else { 6 }) {
                0 => {
                    let expected = model.pop_front();
                    assert_eq!(queue.pop(&mut nodes).map(|oldest| (oldest.id, oldest.key)), expected);
                }
                1 | 3 | 4 if nodes.queue_of(id) == Some(which as u8) => {
                    queue.remove(&mut nodes, id);
                    assert!(queue.ids.len() <= queue.len() * 2 + VACANT, "vacant places are not kept");
                    model.retain(|&(other, _)| other != id);
                }
                _ if nodes.queue_of(id).is_none() => {
                    queue.push(&mut nodes, id, Fingerprint(step), 0);
                    model.push_back((id, Fingerprint(step)));
                }
                _ => {}
            }
            assert_eq!(queue.len(), model.len());
            if step % 100 == 0 {
                let expected: Vec<CachedId> = model.iter().map(|&(id, _)| id).collect();
                assert_eq!(queue.oldest_first(&nodes).collect::<Vec<_>>(), expected);
            }
        }
    }
}
