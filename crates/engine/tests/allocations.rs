//! The promise that an exchange in steady state allocates nothing: packets come in buffers of their own, and
//! the tables only pass them on.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::alloc::System;

use cairn_engine::batch::{Upcoming, prefetch};
use cairn_engine::{
    Arrival, ContentStoreConfig, Engine, EngineConfig, EvictionPolicy, FaceConfig, FaceId, NextHop,
};
use packet::ccnx::{ContentObjectFields, SignedInfo, Ticks};
use packet::ndn::DataBuilder;
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, EncodeError, Name, Packet};
use testkit::counting_allocator::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);

/// Allocations by the engine in `exchanges` exchanges, after a thousand that fill the tables.
fn allocations(dialect: Dialect, strategy: &str, eviction: EvictionPolicy, exchanges: u32) -> u64 {
    let now = Instant::from_secs(1);
    let mut config = EngineConfig::seeded(1).unwrap();
    config.content_store = ContentStoreConfig { max_entries: 200, eviction, ..ContentStoreConfig::default() };
    config.default_strategy = strategy.parse().unwrap();
    let mut engine = Engine::new(config).unwrap();
    for face in [CONSUMER, PRODUCER] {
        engine.add_face(now, face, FaceConfig { dialect, ..FaceConfig::remote() }).unwrap();
    }
    let prefix: Name = "/a".parse().unwrap();
    engine.add_route(now, dialect, prefix.as_ref(), NextHop { face: PRODUCER, cost: 0 }).unwrap();
    let mut total = 0;
    for number in 0..1000 + exchanges {
        let now = now + Duration::from_micros(u64::from(number) * 100);
        let name: Name = format!("/a/b/{number}").parse().unwrap();
        let interest = dialect.interest(name.clone(), number, Duration::from_secs(4)).unwrap();
        let data = data(dialect, name);
        let hashes = engine.hasher().hash_wire_name(interest.wire_name());
        let ((), counts) = ALLOCATOR.count(|| {
            let upcoming = Upcoming { dialect, hashes: &hashes, nonce: interest.nonce() };
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

fn data(dialect: Dialect, name: Name) -> Data {
    let content = [1; 100];
    match dialect {
        Dialect::Ndn => DataBuilder::new(name).content(content.to_vec()).build_with_digest().unwrap(),
        Dialect::Ccnx => {
            let signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
            let fields = ContentObjectFields { name: (&name).into(), signed_info, content: &content };
            let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap();
            Data::decode_ccnx(wire.into()).unwrap()
        }
    }
}

// One test, because the allocator counts for the whole process.
#[test]
fn an_exchange_allocates_nothing_once_the_tables_have_filled() {
    for eviction in EvictionPolicy::ALL {
        for dialect in Dialect::ALL {
            assert_eq!(allocations(dialect, "best-route", eviction, 500), 0, "{eviction:?} {dialect}");
        }
    }
    for strategy in ["multicast", "stateful-forwarding/rate~1000000"] {
        assert_eq!(allocations(Dialect::Ndn, strategy, EvictionPolicy::Lru, 500), 0, "{strategy}");
    }
}
