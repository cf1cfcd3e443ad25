//! An experiment with every default filled in and every name resolved: what a backend carries out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::arrivals::parameter;
pub use self::arrivals::{ArrivalsPlan, ReplayPlan, Shared, Turn};
pub use self::costs::{NodeCosts, UseCosts};
pub use self::dialect::{Dialect, Ndnlp1Plan};
pub use self::link::SharedPlan;
pub use self::registration::{EarlierKey, RegistrationKey, RegistrationPlan, Registrations, Response};
pub use self::server::{FetchClient, FetchPlan, ServerPlan, ServerSoftware};
pub use self::simulated::{
    Answers, Change, ClockPlan, CoDelPlan, ConsumerKind, ConsumerPlan, EventPlan, ProducerKey, ProducerPlan,
    SimulatedLink, TraceFormat, TracePlan, VerificationPlan,
};
pub use self::sizes::{MAX_SIZED_FILES, SizesPlan};
use crate::experiment::model::{Expect, Forwarder};

mod arrivals;
mod chance;
mod costs;
mod dialect;
mod link;
mod order;
mod registration;
mod server;
mod simulated;
mod sizes;

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
    #[serde(default, skip_serializing_if = "Dialect::is_ndn")]
    pub dialect: Dialect,
    /// The nodes, in natural order of their names.
    pub nodes: Vec<NodePlan>,
    /// The links.
    pub links: Vec<LinkPlan>,
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

/// How long a case runs, how often, and with which seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulePlan {
    /// How long the workloads run, in nanoseconds.
    pub duration_ns: u64,
    /// Does it end as soon as every workload that has an end is done?
    pub until_done: bool,
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

/// What counts of a case, and what it is held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationPlan {
    /// Which part of a run counts.
    #[serde(default)]
    pub window: WindowPlan,
    /// Prefixes by which Interests are counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<String>,
    /// What makes a run invalid.
    pub gates: GatePlan,
    /// What the result is held against.
    pub expectations: Vec<Expect>,
    /// What is stated for other backends only.
    #[serde(default)]
    pub elsewhere: Vec<Expect>,
}

/// A run without the cause of what is expected of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlPlan {
    /// The control's name.
    pub name: String,
    /// What was taken away.
    pub removes: String,
    /// The case it is a control of.
    pub case: String,
    /// Names of the expectations that must fail.
    pub fails: Vec<String>,
}

/// The forwarder under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Software {
    /// This repository's own.
    Cairn,
    /// The forwarder of the ndnd project.
    Ndnd,
    /// None: only what is beside forwarders.
    None,
}

/// A node's place in [`Plan::nodes`].
pub type NodeIndex = usize;
/// A link's place in [`Plan::links`].
pub type LinkIndex = usize;

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

/// What carries packets over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// Datagrams.
    Udp,
    /// A byte stream.
    Tcp,
    /// Ethernet frames.
    Ether,
}

/// A link, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// Its two nodes, or the first two of those who share it.
    pub between: [NodeIndex; 2],
    /// Where more than two share it, the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedPlan>,
    /// What carries packets.
    pub kind: LinkKind,
    /// Bits a second in each direction; `None` is as fast as it goes.
    pub rate_bps: Option<u64>,
    /// One way.
    pub delay_ns: u64,
    /// The part of frames that is lost.
    pub loss: f64,
    /// Frames that wait.
    pub queue: u32,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// Its length for shortest paths.
    #[serde(default = "LinkPlan::one")]
    pub metric: u32,
    /// What virtual time makes of it beside.
    #[serde(default)]
    pub simulated: SimulatedLink,
    /// NDNLP v1, where messages of CCNx travel in its packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndnlp1: Option<Ndnlp1Plan>,
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

/// How a fetcher decides what to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControllerChoice {
    /// Always so many in flight.
    Fixed,
    /// Additive increase, multiplicative decrease.
    Aimd,
    /// CUBIC.
    Cubic,
    /// One that is known by its name, with its parameters as in `pcon/beta~0.8`; of its window it decides
    /// itself.
    Named(String),
}

/// Something that happens during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the file.
    pub name: String,
    /// The node it runs on.
    pub at: NodeIndex,
    /// When it begins, counted from the start of the run.
    pub start_ns: u64,
    /// When it ends.
    pub stop_ns: u64,
    /// What it does.
    pub does: Activity,
    /// The name under which several nodes' workloads are measured together.
    #[serde(default)]
    pub part_of: Option<String>,
}

impl Workload {
    /// The name under which it is measured.
    #[must_use]
    pub fn measured_as(&self) -> &str {
        self.part_of.as_deref().unwrap_or(&self.name)
    }
}

/// What a workload does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Activity {
    /// Fetches files.
    Download {
        /// Its place in [`Plan::contents`].
        content: usize,
        /// New downloads a second; `None` is one after the other.
        per_second: Option<f64>,
        /// How many downloads.
        count: u32,
        /// How many at once.
        at_once: Option<u32>,
        /// What decides when which file is fetched; `None` is one after the other, by `per_second`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrivals: Option<ArrivalsPlan>,
        /// Who decides about the window.
        controller: ControllerChoice,
        /// The first, or the fixed, window.
        window: u32,
        /// Interest lifetime.
        lifetime_ns: u64,
        /// Is every segment verified, and asked for again if it is not the owner's?
        #[serde(default)]
        verify: bool,
    },
    /// Asks a neighbour for a route to itself.
    Register(RegistrationPlan),
    /// Asks for what does not exist.
    Flood {
        /// The prefix of the names.
        prefix: String,
        /// Interests in a burst.
        burst: u32,
        /// Between bursts.
        every_ns: u64,
        /// How many in all.
        until: u32,
        /// Interest lifetime.
        lifetime_ns: u64,
        /// Sent again after.
        refresh_ns: Option<u64>,
    },
    /// Times round trips.
    Ping {
        /// The node that answers.
        to: NodeIndex,
        /// The prefix of the names.
        prefix: String,
        /// Between pings.
        every_ns: u64,
        /// How many.
        count: u64,
        /// How long is waited.
        lifetime_ns: u64,
    },
    /// Asks for chunks.
    Traffic {
        /// Its place in [`Plan::contents`].
        content: usize,
        /// Which, and when: a workload by its name and parameters, as in `zipf/rate~100/spacing~poisson`;
        /// empty where a trace says it.
        workload: String,
        /// A trace that is replayed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<ReplayPlan>,
        /// Interest lifetime.
        lifetime_ns: u64,
    },
    /// Asks as an application of the simulator does.
    Consume(ConsumerPlan),
    /// Whatever a program of one's own does.
    Program(ProgramPlan),
    /// Takes processor time away.
    Load {
        /// The part taken while busy.
        cpu: f64,
        /// Busy for.
        busy_ns: u64,
        /// Then idle for.
        idle_ns: u64,
    },
}

impl Activity {
    /// The table of the file that it stands in.
    pub(crate) fn table(&self) -> &'static str {
        match self {
            Activity::Download { .. } => "download",
            Activity::Register(_) => "registration",
            Activity::Flood { .. } => "flood",
            Activity::Ping { .. } => "ping",
            Activity::Traffic { .. } => "traffic",
            Activity::Consume(_) => "consumer",
            Activity::Program(program) if program.fetch.is_some() => "download",
            Activity::Program(_) => "program",
            Activity::Load { .. } => "load",
        }
    }
}

/// A program of one's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramPlan {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// Does it run until the end?
    pub serves: bool,
    /// How often it runs.
    pub count: u32,
    /// The exit status that means success.
    pub exit: i32,
    /// The file whose length is the content of a transfer.
    pub output: Option<String>,
    /// What it fetches, when it is a client that the lab knows: then the command is made for it.
    #[serde(default)]
    pub fetch: Option<FetchPlan>,
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

/// The part of a run that counts, as far as the experiment says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowPlan {
    /// Its begin; `None` is the first activity of the workloads.
    pub from_ns: Option<u64>,
    /// Its end; `None` is their last.
    pub until_ns: Option<u64>,
}

/// Thresholds of validity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GatePlan {
    /// Part of frames a capture may miss.
    pub capture_drops: f64,
    /// Part of samples a forwarder may not answer.
    pub invalid_samples: f64,
    /// Part of transfers that may be unfinished.
    pub unfinished: f64,
    /// Part of processor time that may be stolen.
    pub steal: f64,
    /// Part of the time that a forwarder may wait for a processor.
    pub waited: f64,
    /// How long a forwarder may give no answer.
    #[serde(default = "GatePlan::any_standstill", alias = "silence_ns")]
    pub forwarder_standstill_ns: u64,
    /// How long a client may stand still.
    #[serde(default = "GatePlan::any_standstill")]
    pub client_standstill_ns: u64,
    /// How far clocks may be apart.
    pub clock_error_ns: u64,
    /// How often an invalid run is repeated.
    pub retries: u32,
}

impl GatePlan {
    /// Orders of earlier versions did not judge it.
    fn any_standstill() -> u64 {
        u64::MAX
    }

    /// Lets everything be valid: two that have forgotten are the same.
    pub(crate) fn forget(&mut self) {
        *self = GatePlan {
            capture_drops: 1.0,
            invalid_samples: 1.0,
            unfinished: 1.0,
            steal: 1.0,
            waited: 1.0,
            forwarder_standstill_ns: u64::MAX,
            client_standstill_ns: u64::MAX,
            clock_error_ns: u64::MAX,
            retries: 0,
        };
    }
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
        self.nodes.iter().position(|node| node.name == name)
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

    /// The links of a node, with their places.
    pub fn links_of(&self, node: NodeIndex) -> impl Iterator<Item = (LinkIndex, &LinkPlan)> {
        self.links.iter().enumerate().filter(move |(_, link)| link.joins(node))
    }
}
