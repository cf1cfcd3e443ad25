//! A hand walks from the oldest entry to the newest, spares what was asked for since it last came by, and takes the first that
//! was not. Being asked for only sets a mark: nothing moves.

use super::Eviction;
use super::list::{List, NONE, Nodes};

/// One list in order of arrival, and the hand.
#[derive(Debug)]
pub struct Sieve {
    nodes: Nodes,
    list: List,
    hand: u32,
}

impl Default for Sieve {
    fn default() -> Self {
        Sieve { nodes: Nodes::default(), list: List::new(0), hand: NONE }
    }
}

impl Eviction for Sieve {
    fn insert(&mut self, id: u32, _key: u64) {
        self.nodes.set_mark(id, 0);
        self.list.push_newest(&mut self.nodes, id);
    }

    fn touch(&mut self, id: u32) {
        self.nodes.set_mark(id, 1);
    }

    fn remove(&mut self, id: u32) {
        if self.nodes.list_of(id).is_none() {
            return;
        }
        if self.hand == id {
            self.hand = self.nodes.newer(id);
        }
        self.list.unlink(&mut self.nodes, id);
    }

    fn evict(&mut self) -> Option<u32> {
        let mut candidate = self.likely_victim()?;
        // Ends after one round at most, for the walk clears every mark it passes.
        while self.nodes.mark(candidate) != 0 {
            self.nodes.set_mark(candidate, 0);
            candidate = match self.nodes.newer(candidate) {
                NONE => self.list.oldest,
                newer => newer,
            };
        }
        self.hand = self.nodes.newer(candidate);
        self.list.unlink(&mut self.nodes, candidate);
        Some(candidate)
    }

    fn len(&self) -> usize {
        self.list.len
    }

    fn likely_victim(&self) -> Option<u32> {
        match (self.hand, self.list.oldest) {
            (NONE, NONE) => None,
            (NONE, oldest) => Some(oldest),
            (hand, _) => Some(hand),
        }
    }

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes()
    }
}
