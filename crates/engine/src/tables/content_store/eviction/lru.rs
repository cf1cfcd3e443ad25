//! The least recently used leaves.

use super::list::{List, Nodes};
use super::{CacheKey, CachedId, Eviction};

/// One list in order of last use.
#[derive(Debug)]
pub struct Lru {
    nodes: Nodes,
    list: List,
}

impl Default for Lru {
    fn default() -> Self {
        Lru { nodes: Nodes::default(), list: List::new(0) }
    }
}

impl Eviction for Lru {
    #[inline]
    fn insert(&mut self, id: CachedId, _key: CacheKey) {
        self.list.push_newest(&mut self.nodes, id);
    }

    #[inline]
    fn touch(&mut self, id: CachedId) {
        if self.list.newest != id && self.nodes.list_of(id).is_some() {
            self.list.unlink(&mut self.nodes, id);
            self.list.push_newest(&mut self.nodes, id);
        }
    }

    fn remove(&mut self, id: CachedId) {
        if self.nodes.list_of(id).is_some() {
            self.list.unlink(&mut self.nodes, id);
        }
    }

    #[inline]
    fn evict(&mut self) -> Option<CachedId> {
        let oldest = self.list.oldest()?;
        self.list.unlink(&mut self.nodes, oldest);
        Some(oldest)
    }

    fn len(&self) -> usize {
        self.list.len
    }

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes()
    }

    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(CachedId)) {
        self.list.walk_from_oldest(&self.nodes).take(count).for_each(see);
    }

    #[inline]
    fn prefetch_entry(&self, id: CachedId) {
        self.nodes.prefetch(id);
    }

    #[inline]
    fn prefetch_around(&self, id: CachedId) {
        self.nodes.prefetch_neighbours(id);
    }
}
