//! One node's forwarding, as a pure state machine.
//!
//! A forwarder sends each Interest towards its Data, sends the Data back the way the Interest came, and keeps
//! it in its content store for later Interests. This crate does that fast, for a million names at a time, and
//! within fixed limits whatever the neighbours send.
//!
//! An [`Engine`] owns no socket and reads no clock. Its owner decodes packets, passes them in together with
//! the time, and takes out the packets to send. The daemon, the simulator and the tests use the same code,
//! and the same calls always have the same results.
//!
//! ```
//! use cairn_engine::{Arrival, Engine, EngineConfig, FaceConfig, FaceId, NextHop};
//! use packet::ndn::{DataBuilder, InterestBuilder};
//! use packet::time::Instant;
//! use packet::{Dialect, Name, Packet};
//!
//! let now = Instant::ZERO;
//! let (consumer, producer) = (FaceId(256), FaceId(257));
//! let mut engine = Engine::new(EngineConfig::seeded(1)?)?;
//! engine.add_face(now, consumer, FaceConfig::remote())?;
//! engine.add_face(now, producer, FaceConfig::remote())?;
//! let prefix: Name = "/lab".parse()?;
//! engine.add_route(now, Dialect::Ndn, prefix.as_ref(), NextHop { face: producer, cost: 10 })?;
//!
//! // The Interest goes to the producer …
//! let interest = InterestBuilder::new("/lab/file/seg=0".parse()?).nonce(7).build()?;
//! let hashes = engine.hasher().hash(Dialect::Ndn, interest.name().components());
//! engine.receive(Arrival::bare(now, consumer, &hashes), Packet::Interest(interest));
//! let sent = engine.poll_transmit().ok_or("nothing sent")?;
//! assert!(sent.face == producer && matches!(sent.packet, Packet::Interest(_)));
//!
//! // … and the Data comes back.
//! let data = DataBuilder::new("/lab/file/seg=0".parse()?).content(b"hi".to_vec()).build_with_digest()?;
//! engine.receive(Arrival::bare(now, producer, &hashes), Packet::Data(data));
//! let sent = engine.poll_transmit().ok_or("nothing sent")?;
//! assert!(sent.face == consumer && matches!(sent.packet, Packet::Data(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - [`Engine`]: the calls of its owner, and their order.
//! - `pipeline/`: what happens to a packet, one file for each kind.
//! - `batch/`: what makes it fast: batches of packets, and memory that is prefetched before it is needed.
//! - `tables/`: pending Interests and cached Data behind one index, routes, dead nonces, timers.
//! - `strategy/`: the strategies, which choose the next hops of an Interest, one file each. [`Strategy`] is
//!   the trait, [`StrategyContext`] what a strategy sees.
//! - `sharing/`: one node asks and all listen, where many on one link want the same.
//! - `limit/` and [`DropReason`]: what happens at a limit.
//! - [`SecondStore`]: a source of Data behind the content store that answers later.
//! - `sharing`, `sampling` and `second_store` hold state here. What they do with a packet on its way stands
//!   in the file of the same name in `pipeline/`.
//! - `scope`: how far a name may travel.

mod arrival;
pub mod batch;
mod config;
mod counters;
mod drop_reason;
mod engine;
mod face;
mod face_id;
#[cfg(any(test, feature = "fuzzing"))]
mod fuzzing;
mod limit;
mod pipeline;
mod sampling;
mod scope;
mod second_store;
mod sharing;
mod state;
mod strategy;
mod tables;
mod transmit;
mod trigger;

pub use arrival::Arrival;
pub use config::EngineConfig;
pub use counters::{EngineCounters, TableSizes};
pub use drop_reason::{DropCounters, DropReason};
pub use engine::{Engine, FaceExists, SetStrategyError};
pub use face::{FaceConfig, FaceCounters, FaceScope};
pub use face_id::FaceId;
pub use limit::{LeakyBucket, RateControlConfig, RateLimit, RateMethod, TokenBucket};
pub use sampling::{Sample, SamplingConfig, SamplingCounters};
pub use second_store::{LookupId, SecondStore, SecondStoreConfig, SecondStoreCounters, SecondStoreRequest};
pub use sharing::{SharingConfig, SharingCounters};
pub use strategy::{
    AddError, ParameterError, Parameters, Strategy, StrategyContext, StrategyError, StrategyKind,
    StrategySpec, UnknownWord, add_strategies, strategy_names,
};
pub use tables::content_store::eviction::{
    CacheKey, CachedId, Eviction, EvictionKind, EvictionPolicy, Lru, S3Fifo, Sieve, add_evictions,
    eviction_names,
};
pub use tables::content_store::placement::{CachePlacement, CacheProbability};
pub use tables::content_store::{ContentStoreConfig, ContentStoreCounters, UnsolicitedPolicy};
pub use tables::fib::{MAX_NEXT_HOPS, NextHop, RouteError};
pub use tables::namespaces::NamespaceRules;
pub use tables::pending::{InRecord, OutRecord, StrategyInfo};
pub use transmit::{Event, Transmit};
pub use trigger::Trigger;
