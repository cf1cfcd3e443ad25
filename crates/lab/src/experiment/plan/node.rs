//! A node: its share of the machine, its forwarder, and what virtual time charges it.

use serde::{Deserialize, Serialize};

use super::{ClockPlan, LinkIndex, NodeCosts, ServerPlan};
use crate::experiment::model::Forwarder;

/// A node, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodePlan {
    /// Its name.
    pub name: String,
    /// Its share of a core; `None` is all it can get.
    pub cpu: Option<f64>,
    /// Over how long the kernel keeps that share; `None` is as short as it can.
    #[serde(default)]
    pub cpu_period_ns: Option<u64>,
    /// Its memory in bytes; `None` is all it can get.
    pub memory_bytes: Option<u64>,
    /// Its forwarder's settings.
    pub forwarder: Forwarder,
    /// What serves files there, or is a proxy.
    #[serde(default)]
    pub server: Option<ServerPlan>,
    /// Does it only pass IP packets on?
    #[serde(default)]
    pub switch: bool,
    /// The link whose traffic counts as this node's.
    pub watch: Option<LinkIndex>,
    /// Virtual time: how long one packet keeps the processor busy.
    pub service_time_ns: u64,
    /// Virtual time: the same for a Data packet.
    pub data_service_time_ns: u64,
    /// Virtual time: what a profile says that packets cost it, in place of the two times above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<NodeCosts>,
    /// Virtual time: how many packets wait for it.
    pub service_queue: u32,
    /// Virtual time: the parts of a core that the processor has from moments in nanoseconds on.
    #[serde(default)]
    pub capacity: Vec<(u64, f64)>,
    /// Virtual time: its clock, where it is not true.
    #[serde(default)]
    pub clock: Option<ClockPlan>,
}
