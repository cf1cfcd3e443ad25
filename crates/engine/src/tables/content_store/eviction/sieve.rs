//! A hand walks from the oldest entry to the newest, spares what was asked for since it last came by, and
//! takes the first that was not. Being asked for only sets a mark: nothing moves.

use super::list::{List, NONE, Nodes};
use super::{CacheKey, CachedId, Eviction, MAX_SPARED};

/// One list in order of arrival, and the hand.
#[derive(Debug)]
pub struct Sieve {
    nodes: Nodes,
    list: List,
    hand: CachedId,
}

impl Default for Sieve {
    fn default() -> Self {
        Sieve { nodes: Nodes::default(), list: List::new(0), hand: NONE }
    }
}

impl Eviction for Sieve {
    #[inline]
    fn insert(&mut self, id: CachedId, _key: CacheKey) {
        self.list.push_newest(&mut self.nodes, id);
    }

    #[inline]
    fn touch(&mut self, id: CachedId) {
        self.nodes.set_mark(id, 1);
    }

    fn remove(&mut self, id: CachedId) {
        if self.nodes.list_of(id).is_none() {
            return;
        }
        if self.hand == id {
            self.hand = self.nodes.newer(id);
        }
        self.list.unlink(&mut self.nodes, id);
    }

    #[inline]
    fn evict(&mut self) -> Option<CachedId> {
        let mut candidate = match self.hand {
            NONE => self.list.oldest()?,
            hand => hand,
        };
        // The walk clears every mark it passes; who is passed when it has gone far enough leaves all the
        // same.
        for _ in 0..MAX_SPARED {
            if self.nodes.mark(candidate) == 0 {
                break;
            }
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

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes()
    }

    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(CachedId)) {
        let from_hand = self.nodes.walk_newer(self.hand);
        let from_oldest = self.list.walk_from_oldest(&self.nodes);
        from_hand.chain(from_oldest).take(count.min(self.list.len)).for_each(see);
    }

    #[inline]
    fn prefetch_entry(&self, id: CachedId) {
        self.nodes.prefetch(id);
    }
}
