//! engine
mod drop_reason;
mod engine;
mod face;
mod limit;
mod pipeline;
mod prefetch;
mod scope;
mod strategy;
mod tables;
mod transmit;

pub use drop_reason::{DropCounters, DropReason};
pub use engine::{Engine, EngineConfig, EngineCounters, FaceExists, SetStrategyError, TableSizes, Upcoming};
pub use face::{FaceConfig, FaceCounters, FaceId, FaceScope, LinkType, RateLimit};
pub use limit::TokenBucket;
pub use strategy::{
    ParameterError, Situation, Strategy, StrategyError, StrategySpec, Trigger, strategy_names,
};
pub use tables::content_store::eviction::{Eviction, EvictionPolicy, Lru, S3Fifo, Sieve};
pub use tables::content_store::{ContentStoreConfig, ContentStoreCounters, UnsolicitedPolicy};
pub use tables::fib::{NextHop, RouteError};
pub use tables::pending::{InRecord, OutRecord, StrategyNotes};
pub use transmit::{Event, Outgoing, Transmit};
