//! An experiment with every default filled in and every name resolved: what a backend carries out.

use packet::Dialect;
use serde::{Deserialize, Serialize};
pub use sim::arena::Arena;

pub(crate) use self::arrivals::parameter;
pub use self::arrivals::{ArrivalsPlan, ReplayPlan, Shared, Turn};
pub use self::costs::{NodeCosts, UseCosts, WakingCurve};
pub use self::dialect::Ndnlp1Plan;
pub(crate) use self::dialect::{DialectInFiles, application_socket, ndn};
pub use self::evaluation::{ControlPlan, EvaluationPlan, GatePlan, WindowPlan};
pub use self::index::{LinkIndex, Links, NodeIndex, Nodes};
pub use self::link::{LinkKind, LinkPlan, SharedPlan};
pub use self::node::NodePlan;
pub use self::registration::{EarlierKey, RegistrationKey, RegistrationPlan, Registrations, Response};
pub use self::server::{FetchClient, FetchPlan, ServerPlan, ServerSoftware};
pub use self::simulated::{
    Answers, Change, ClockPlan, CoDelPlan, ConsumerKind, ConsumerPlan, EventPlan, ProducerKey, ProducerPlan,
    SimulatedLink, TraceFormat, TracePlan, VerificationPlan,
};
pub use self::sizes::{MAX_SIZED_FILES, SizesPlan};
pub use self::workload::{Activity, ControllerChoice, ProgramPlan, Workload};

mod arrivals;
mod chance;
mod costs;
mod dialect;
mod evaluation;
mod index;
mod link;
mod node;
mod order;
mod registration;
mod server;
mod simulated;
mod sizes;
mod workload;

/// One case of an experiment, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The report's title.
    pub title: String,
    /// The case's name; empty when there is only one.
    pub case: String,
    /// Whose control this is, when it is one.
    #[serde(default)]
    pub control: Option<ControlPlan>,
    /// What was changed for this backend, and why.
    pub scaling: Option<String>,
    /// How long, how often, and with which seeds.
    pub schedule: SchedulePlan,
    /// The forwarder under test.
    pub software: Software,
    /// What is spoken.
    #[serde(default = "ndn", with = "DialectInFiles", skip_serializing_if = "dialect::is_ndn")]
    pub dialect: Dialect,
    /// The nodes, in natural order of their names.
    pub nodes: Nodes,
    /// The links.
    pub links: Links,
    /// Where Interests go.
    pub routing: RoutingPlan,
    /// What is served.
    pub contents: Vec<ContentPlan>,
    /// Who answers for all names under a prefix.
    #[serde(default)]
    pub producers: Vec<ProducerPlan>,
    /// What happens.
    pub workloads: Vec<Workload>,
    /// What happens to the network.
    #[serde(default)]
    pub events: Vec<EventPlan>,
    /// What is written down.
    pub recording: RecordingPlan,
    /// What counts, and what it is held against.
    pub evaluation: EvaluationPlan,
}

/// Repeats of all cases of a run together: what is known of each is in memory at once.
pub(crate) const MAX_REPEATS: u32 = 1_000_000;

/// How long a case runs, how often, and with which seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulePlan {
    /// How long the workloads run, in nanoseconds.
    pub duration_ns: u64,
    /// Does it end as soon as every workload that has an end is done?
    pub until_done: bool,
    /// Are processors kept from sleeping, in namespaces?
    #[serde(default)]
    pub keep_awake: bool,
    /// Does all that a node runs stay on one processor, in namespaces?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_processor: bool,
    /// How often it is repeated.
    pub repeats: u32,
    /// The root of all randomness.
    pub seed: u64,
    /// Is the network, or who does what in it, drawn with the seed? Then each repeat has a plan of its own.
    #[serde(default)]
    pub drawn: bool,
}

/// Where Interests go.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoutingPlan {
    /// Next hops that are set before the workloads begin.
    pub hops: Vec<Hop>,
    /// Static routes as they were given, for the drawing.
    pub routes: Vec<RoutePlan>,
}

/// What is written down while a case runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordingPlan {
    /// How often forwarders are asked for their counters.
    pub sample_every_ns: u64,
    /// Does the file say so? Then it is a part of what is measured of samples.
    #[serde(default)]
    pub is_sampling_stated: bool,
    /// What is recorded.
    pub probe: ProbePlan,
    /// What virtual time writes down beside what every run does.
    #[serde(default)]
    pub trace: TracePlan,
}

/// The forwarder under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Software {
    /// This repository's own.
    Cairn,
    /// The forwarder of the ndnd project.
    Ndnd,
    /// The NDN Forwarding Daemon.
    Nfd,
    /// None: only what is beside forwarders.
    None,
}

/// One next hop of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// The names it is for.
    pub prefix: String,
    /// The node that forwards.
    pub node: NodeIndex,
    /// Over which link.
    pub link: LinkIndex,
    /// The next node, where the link leads to several: it is shared, or ends at a switch.
    #[serde(default)]
    pub behind: Option<NodeIndex>,
    /// At which cost.
    pub cost: u32,
}

/// A route as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutePlan {
    /// The names it is for.
    pub prefix: String,
    /// Nodes from consumer to producer.
    pub path: Vec<NodeIndex>,
}

/// Files, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContentPlan {
    /// The content's name in the file.
    pub name: String,
    /// The prefix of the files' names.
    pub prefix: String,
    /// The node that serves them.
    pub at: NodeIndex,
    /// How many.
    pub count: u32,
    /// Bytes of each, or where they differ of the largest.
    pub size_bytes: u64,
    /// Where they differ, how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesPlan>,
    /// Bytes of content in one Data packet.
    pub segment_bytes: u32,
    /// Freshness period of a segment.
    pub freshness_ns: u64,
    /// Where the owner signs it, what became of the key that the owner had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<EarlierKey>,
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbePlan {
    /// Are packets captured?
    pub capture: bool,
    /// Bytes kept of each.
    pub snap_bytes: u32,
    /// Is PSML written?
    pub psml: bool,
}

impl Plan {
    /// The workloads, of those that are measured together only the first.
    pub fn measured(&self) -> impl Iterator<Item = &Workload> {
        let is_first = move |(place, workload): &(usize, &Workload)| {
            let before = self.workloads.iter().take(*place);
            workload.part_of.is_none()
                || before.filter(|other| other.part_of == workload.part_of).count() == 0
        };
        self.workloads.iter().enumerate().filter(is_first).map(|(_, workload)| workload)
    }

    /// Does a server beside the forwarder serve the contents of this node?
    #[must_use]
    pub fn is_served_by_a_program(&self, node: NodeIndex) -> bool {
        let server = self.nodes.get(node).and_then(|node| node.server);
        server.is_some_and(|server| server.upstream.is_none())
    }

    /// The node of that name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.position(|node| node.name == name)
    }

    /// Does anything stand at a node beside its forwarder?
    #[must_use]
    pub fn has_work(&self, node: NodeIndex) -> bool {
        let asks = |workload: &Workload| match &workload.does {
            Activity::Consume(consumer) => consumer.nodes.contains(&node),
            Activity::Ping { to, .. } => workload.at == node || *to == node,
            _ => workload.at == node,
        };
        self.contents.iter().any(|content| content.at == node)
            || self.producers.iter().any(|producer| producer.nodes.contains(&node))
            || self.workloads.iter().any(asks)
    }

    /// Is a link captured at a node? Each node captures the link it watches; a link that nobody watches is
    /// captured at its first end.
    #[must_use]
    pub fn is_captured(&self, node: NodeIndex, link: LinkIndex) -> bool {
        let watches = |node: NodeIndex| self.nodes.get(node).is_some_and(|node| node.watch == Some(link));
        let Some(link) = self.links.get(link) else { return false };
        watches(node) || (link.between[0] == node && !link.ends().any(watches))
    }

    /// A node's name.
    #[must_use]
    pub fn node_name(&self, node: NodeIndex) -> &str {
        self.nodes.get(node).map_or("?", |node| &node.name)
    }

    /// The node that a hop leads to.
    #[must_use]
    pub fn next_node(&self, hop: &Hop) -> Option<NodeIndex> {
        hop.behind.or_else(|| self.links.get(hop.link).map(|link| link.other(hop.node)))
    }

    fn next_name(&self, hop: &Hop) -> &str {
        self.next_node(hop).map_or("?", |node| self.node_name(node))
    }

    /// The links of a node, with their places.
    pub fn links_of(&self, node: NodeIndex) -> impl Iterator<Item = (LinkIndex, &LinkPlan)> {
        self.links.indexed().filter(move |(_, link)| link.joins(node))
    }
}
