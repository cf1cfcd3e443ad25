//! An eviction policy for repositories, beside ours on the same requests; the same `main` with
//! `cairn::command().with_object_eviction(LARGEST).run()` has repositories that can be told to use it.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::BTreeMap;

use cairn::packet::random::{Random, Zipf};
use cairn::repo::eviction::optimum::Request;
use cairn::repo::eviction::{DeletionRule, ObjectEviction, ObjectEvictionKind, ObjectEvictionSpec, start};
use cairn::repo::trace::replay;

pub(crate) const LARGEST: ObjectEvictionKind =
    ObjectEvictionKind { word: "largest", start: |_| Ok(Box::new(Largest::default())) };

/// The largest object leaves first.
#[derive(Debug, Default)]
struct Largest {
    bytes: BTreeMap<u32, u64>,
}

impl ObjectEviction for Largest {
    fn include(&mut self, id: u32, _key: u64, bytes: u64) {
        self.bytes.insert(id, bytes);
    }

    fn grow(&mut self, id: u32, bytes: u64) {
        self.include(id, 0, bytes);
    }
    fn request(&mut self, _id: u32, _segment: u32) {}
    fn remove(&mut self, id: u32) {
        self.bytes.remove(&id);
    }
    fn evict(&mut self) -> Option<u32> {
        let (&id, _) = self.bytes.iter().max_by_key(|(_, bytes)| **bytes)?;
        self.bytes.remove(&id).map(|_| id)
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }
    fn footprint_bytes(&self) -> usize {
        self.bytes.len() * size_of::<(u32, u64)>()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalogue = Zipf::new(10_000, 0.8, 0.0)?;
    let mut random = Random::from_seed(1);
    // Objects of one to a hundred thousand bytes, whatever their popularity.
    let request = |key: u32| Request { key: key.into(), bytes: 1_000 * (1 + u64::from(key) * 37 % 100) };
    let requests: Vec<Request> = (0..220_000).map(|_| request(catalogue.draw(&mut random))).collect();
    let rule = DeletionRule { threshold_bytes: 20_000_000, ratio: 0.1 };
    for policy in [ObjectEvictionSpec::of(LARGEST)?, "lru".parse()?, "delete-queue".parse()?] {
        let outcome = replay(&requests, rule, start(&policy), 20_000);
        let share = outcome.hits as f64 / outcome.requests as f64;
        println!("{policy}: {share:.3} of all requests are hits");
    }
    Ok(())
}
