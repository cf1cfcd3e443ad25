//! First in, first out.

use std::collections::VecDeque;

use cairn::engine::{Eviction, EvictionKind};

pub(crate) const OLDEST: EvictionKind =
    EvictionKind { word: "oldest", start: || Box::new(Oldest::default()) };

/// First in, first out.
#[derive(Debug, Default)]
struct Oldest {
    queue: VecDeque<u32>,
}

impl Eviction for Oldest {
    fn insert(&mut self, id: u32, _key: u64) {
        self.queue.push_back(id);
    }

    fn touch(&mut self, _id: u32) {}

    fn remove(&mut self, id: u32) {
        self.queue.retain(|other| *other != id);
    }

    fn evict(&mut self) -> Option<u32> {
        self.queue.pop_front()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(u32)) {
        self.queue.iter().take(count).for_each(|id| see(*id));
    }

    fn footprint_bytes(&self) -> usize {
        self.queue.capacity() * size_of::<u32>()
    }
}
