//! The promise that an exchange in steady state allocates nothing: packets come in buffers of their own, and
//! the tables only pass them on.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::alloc::System;

use cairn_engine::batch::{Upcoming, prefetch};
use cairn_engine::{
    Arrival, ContentStoreConfig, Engine, EngineConfig, EvictionPolicy, FaceConfig, FaceId, NextHop,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Dialect, Name, Packet};
use testkit::counting_allocator::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);

/// Allocations by the engine in `exchanges` exchanges, after a thousand that fill the tables.
fn allocations(strategy: &str, eviction: EvictionPolicy, exchanges: u32) -> u64 {
    let now = Instant::from_secs(1);
    let mut config = EngineConfig::seeded(1).unwrap();
    config.content_store = ContentStoreConfig { max_entries: 200, eviction, ..ContentStoreConfig::default() };
    config.default_strategy = strategy.parse().unwrap();
    let mut engine = Engine::new(config).unwrap();
    engine.add_face(now, CONSUMER, FaceConfig::remote()).unwrap();
    engine.add_face(now, PRODUCER, FaceConfig::remote()).unwrap();
    let prefix: Name = "/a".parse().unwrap();
    engine.add_route(now, Dialect::Ndn, prefix.as_ref(), NextHop { face: PRODUCER, cost: 0 }).unwrap();
    let mut total = 0;
    for number in 0..1000 + exchanges {
        let now = now + Duration::from_micros(u64::from(number) * 100);
        let name: Name = format!("/a/b/seg={number}").parse().unwrap();
        let interest = InterestBuilder::new(name.clone()).nonce(number).build().unwrap();
        let data = DataBuilder::new(name).content(vec![1; 100]).build_with_digest().unwrap();
        let hashes = engine.hasher().hash(Dialect::Ndn, interest.name().components());
        let ((), counts) = ALLOCATOR.count(|| {
            let upcoming = Upcoming { dialect: Dialect::Ndn, hashes: &hashes, nonce: interest.nonce() };
            prefetch(&mut engine, std::iter::once(upcoming));
            engine.receive(Arrival::bare(now, CONSUMER, &hashes), Packet::Interest(interest));
            engine.receive(Arrival::bare(now, PRODUCER, &hashes), Packet::Data(data));
            while engine.poll_transmit().is_some() {}
            engine.advance(now);
        });
        total += if number < 1000 { 0 } else { counts.allocations };
    }
    assert_eq!(engine.counters().satisfied, u64::from(1000 + exchanges));
    total
}

// One test, because the allocator counts for the whole process.
#[test]
fn an_exchange_allocates_nothing_once_the_tables_have_filled() {
    for eviction in EvictionPolicy::ALL {
        assert_eq!(allocations("best-route", eviction, 500), 0, "{eviction:?}");
    }
    assert_eq!(allocations("multicast", EvictionPolicy::Lru, 500), 0);
    assert_eq!(allocations("stateful-forwarding/rate~1000000", EvictionPolicy::Lru, 500), 0);
}
