//! An eviction policy of your own, beside ours on the same requests; the same `main` with
//! `cairn::command().with_eviction(OLDEST).run()` is a daemon whose content store can be told to use it.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::VecDeque;

use cairn::engine::{CacheKey, CachedId, Eviction, EvictionKind, EvictionPolicy};
use cairn::packet::random::{Random, Zipf};
use cairn::sim::study_cache;

pub(crate) const OLDEST: EvictionKind =
    EvictionKind { word: "oldest", start: || Box::new(Oldest::default()) };

/// First in, first out.
#[derive(Debug, Default)]
struct Oldest {
    queue: VecDeque<CachedId>,
}

impl Eviction for Oldest {
    fn insert(&mut self, id: CachedId, _key: CacheKey) {
        self.queue.push_back(id);
    }

    fn touch(&mut self, _id: CachedId) {}

    fn remove(&mut self, id: CachedId) {
        self.queue.retain(|other| *other != id);
    }

    fn evict(&mut self) -> Option<CachedId> {
        self.queue.pop_front()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn footprint_bytes(&self) -> usize {
        self.queue.capacity() * size_of::<CachedId>()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalogue = Zipf::new(10_000, 0.8, 0.0)?;
    for policy in [EvictionPolicy::Own(OLDEST), EvictionPolicy::Lru, EvictionPolicy::Sieve] {
        let mut random = Random::from_seed(1);
        let report = study_cache(&catalogue, policy, 500, 20_000, 200_000, &mut random);
        println!("{}: {:.3} of all requests are hits", policy.as_str(), report.hit_ratio());
    }
    Ok(())
}
