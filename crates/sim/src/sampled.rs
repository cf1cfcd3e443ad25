//! Counters as the last sample saw them.

use std::collections::BTreeMap;

use engine::{EngineCounters, FaceCounters, FaceId};

use crate::arena::NodeId;
use crate::link::ChannelCounters;

/// Counters at the sample before.
#[derive(Debug, Default)]
pub(crate) struct Previous {
    pub(crate) faces: BTreeMap<(NodeId, FaceId), FaceCounters>,
    pub(crate) nodes: Vec<(EngineCounters, u64)>,
    pub(crate) channels: Vec<ChannelCounters>,
}
