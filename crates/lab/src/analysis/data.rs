//! What is known of one repeat.

use std::collections::BTreeMap;

use super::network::NetworkCounts;
use super::prefixes::PrefixCounts;
use super::table::Table;
use super::workloads::{FloodTable, PingTable, TransferTable};
use crate::experiment::plan::{Arena, NodeIndex};

/// What is known of a node in one repeat.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeData {
    /// The forwarder's log; times from the start.
    pub log: Table,
    /// The watched link by the second.
    pub traffic: Table,
    /// What the content store has done, where it was asked.
    pub store: Table,
    /// Entries of its tables times seconds since the start; in virtual time only.
    pub occupancy: Table,
    /// What its faces have carried; empty when nobody knows.
    pub faces: Table,
}

/// Everything about one repeat that figures are drawn from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepeatData {
    /// By node.
    pub nodes: Arena<NodeIndex, NodeData>,
    /// Transfers by workload.
    pub transfers: BTreeMap<String, TransferTable>,
    /// Round trips by workload.
    pub pings: BTreeMap<String, PingTable>,
    /// Floods by workload.
    pub floods: BTreeMap<String, FloodTable>,
    /// What producers sent of each content, by its place in the plan.
    pub served: BTreeMap<usize, Table>,
    /// What clients asked for by prefix.
    pub prefixes: Vec<PrefixCounts>,
    /// What virtual time counted of the network and its consumers.
    pub network: Option<NetworkCounts>,
    /// The longest time in which a client stood still, in seconds; nothing in virtual time.
    pub client_still_s: f64,
    /// How long the run was, in seconds.
    pub seconds: f64,
}
