//! Counters as the last sample saw them.

use std::collections::BTreeMap;

use engine::{EngineCounters, FaceCounters, FaceId};
use packet::time::Instant;

use crate::arena::NodeId;
use crate::link::ChannelCounters;

/// Counters at the sample before.
#[derive(Debug, Default)]
pub(crate) struct Previous {
    pub(crate) faces: BTreeMap<(NodeId, FaceId), FaceCounters>,
    pub(crate) nodes: Vec<OfNode>,
    pub(crate) channels: Vec<OfChannel>,
    /// When that was.
    pub(crate) at: Instant,
}

/// What a node had counted.
#[derive(Debug, Default)]
pub(crate) struct OfNode {
    pub(crate) counters: EngineCounters,
    pub(crate) misses: u64,
    /// Of pending Interests and of Data.
    pub(crate) entry_seconds: [f64; 2],
}

/// What one direction of a link had counted.
#[derive(Debug, Default)]
pub(crate) struct OfChannel {
    pub(crate) counters: ChannelCounters,
    pub(crate) packet_seconds: f64,
}
