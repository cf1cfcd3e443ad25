//! What an engine is made of, by what it is for.

use packet::Name;
use packet::time::{Duration, Instant};

use crate::batch::route_hints::RouteHints;
use crate::limit::ReleaseQueue;
use crate::strategy::Instance;
use crate::tables::chunked::Slab;
use crate::tables::content_store::ContentStore;
use crate::tables::dead_nonces::DeadNonces;
use crate::tables::fib::Fib;
use crate::tables::hash_index::HashIndex;
use crate::tables::namespaces::Namespaces;
use crate::tables::pending::PendingTable;
use crate::tables::sweep::Sweep;

/// What an engine was told to do.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) max_lifetime: Duration,
    pub(crate) default_hop_limit: Option<u8>,
    pub(crate) producer_regions: Vec<Name>,
}

/// What an engine remembers.
#[derive(Debug)]
pub(crate) struct Tables {
    /// From names, by hash, to what is pending and what is kept.
    pub(crate) index: HashIndex,
    pub(crate) pending: PendingTable,
    pub(crate) store: ContentStore,
    /// By dialect.
    pub(crate) fibs: [Fib; 2],
    pub(crate) route_hints: RouteHints,
    /// Of CCNx.
    pub(crate) namespaces: Namespaces,
    pub(crate) dead_nonces: DeadNonces,
    pub(crate) strategies: Slab<Instance>,
}

/// What is done at times of its own, beside the timers of pending Interests.
#[derive(Debug)]
pub(crate) struct Maintenance {
    /// Of faces with Interests that wait.
    pub(crate) turns: ReleaseQueue,
    /// Of what faces left behind that are gone.
    pub(crate) sweep: Sweep,
    /// When more of the content store may be made findable by prefix, if that is wanted.
    pub(crate) order_at: Instant,
}
