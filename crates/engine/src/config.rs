//! What an engine is made with, and what it is made with by default.

use packet::Name;
use packet::random::Random;
use packet::time::Duration;

use crate::strategy::{StrategyError, StrategySpec};
use crate::tables::content_store::ContentStoreConfig;

/// What an engine is made with. [`EngineConfig::seeded`] suits a host or a small router.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Secret key of the name hashes. Whoever decodes packets for this engine must hash with
    /// [`Engine::hasher`](crate::Engine::hasher).
    pub hash_key: [u64; 2],
    /// Seed of the engine's random numbers: new nonces, probing, random strategies.
    pub seed: u64,
    /// Interests that may be pending at once.
    pub max_pending: u32,
    /// Bytes that pending Interests may take, tables included; large Interests reach this limit before the
    /// other.
    pub max_pending_bytes: u64,
    /// Prefixes that the routing table may hold for each dialect, prefixes of prefixes counted.
    pub max_prefixes: u32,
    /// Longest time an Interest may stay pending, whatever it asks for: whatever a stranger leaves behind is
    /// gone after that.
    pub max_lifetime: Duration,
    /// Names and nonces of past Interests remembered to recognise loops.
    pub max_dead_nonces: u32,
    /// How long those are remembered.
    pub dead_nonce_lifetime: Duration,
    /// HopLimit given to Interests that have none; `None` leaves them without.
    pub default_hop_limit: Option<u8>,
    /// Names under which this node's network can be reached: forwarding hints to them are done with.
    pub producer_regions: Vec<Name>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// The strategy for names that no other was chosen for.
    pub default_strategy: StrategySpec,
}

impl EngineConfig {
    /// The default configuration with this seed, from which the hash key is derived too. For simulations and
    /// tests; a node on a network takes key and seed from the system.
    pub fn seeded(seed: u64) -> Result<Self, StrategyError> {
        let mut random = Random::derive(seed, 0);
        Ok(EngineConfig {
            hash_key: [random.next_u64(), random.next_u64()],
            seed: random.next_u64(),
            max_pending: 1 << 20,
            max_pending_bytes: 1 << 30,
            max_prefixes: 1 << 21,
            max_lifetime: Duration::from_secs(60),
            max_dead_nonces: 1 << 20,
            dead_nonce_lifetime: Duration::from_secs(6),
            default_hop_limit: None,
            producer_regions: Vec::new(),
            content_store: ContentStoreConfig::default(),
            default_strategy: "best-route".parse()?,
        })
    }
}
