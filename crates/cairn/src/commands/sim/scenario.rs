//! What a scenario file may say. Every key is described in `docs/simulator.md`.

use std::collections::BTreeMap;

use serde::Deserialize;
use sim::topology::{NamedLink, NamedNode};

use super::quantity::{NodeRef, NodeSet, Rate, Size, Span};

/// A network, who asks for what in it, and for how long.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    /// What kind of experiment it is; `network`, which is also what is meant without it, is this one.
    #[serde(default)]
    pub(super) kind: Option<String>,
    pub(super) title: Option<String>,
    #[serde(default = "one")]
    pub(super) seed: u64,
    /// Runs with seeds one after the other.
    #[serde(default = "one")]
    pub(super) repeats: u64,
    pub(super) duration: Span,
    pub(super) topology: Topology,
    /// What links are like unless the topology says otherwise.
    #[serde(default)]
    pub(super) link: Link,
    /// What the link in the middle of a dumbbell is like, where it differs from `link`.
    #[serde(default)]
    pub(super) bottleneck: Link,
    #[serde(default)]
    pub(super) engine: Engine,
    #[serde(default)]
    pub(super) routes: Routes,
    #[serde(default)]
    pub(super) route: Vec<Route>,
    #[serde(default)]
    pub(super) node: Vec<Node>,
    #[serde(default)]
    pub(super) producer: Vec<Producer>,
    #[serde(default)]
    pub(super) consumer: Vec<Consumer>,
    #[serde(default)]
    pub(super) event: Vec<Event>,
    #[serde(default)]
    pub(super) trace: Trace,
    #[serde(default)]
    pub(super) capture: Vec<Capture>,
    /// Keys, such as `link.rate` or `consumer.0.window`, and the values that each is to take, in all
    /// combinations.
    #[serde(default)]
    pub(super) sweep: BTreeMap<String, Vec<toml::Value>>,
}

fn one() -> u64 {
    1
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Topology {
    pub(super) kind: TopologyKind,
    pub(super) nodes: Option<usize>,
    pub(super) leaves: Option<usize>,
    pub(super) children: Option<usize>,
    pub(super) depth: Option<usize>,
    pub(super) columns: Option<usize>,
    pub(super) rows: Option<usize>,
    pub(super) pairs: Option<usize>,
    pub(super) alpha: Option<f64>,
    pub(super) beta: Option<f64>,
    pub(super) diagonal_delay: Option<Span>,
    pub(super) links_each: Option<usize>,
    pub(super) file: Option<String>,
    #[serde(default)]
    pub(super) node: Vec<NamedNode>,
    #[serde(default)]
    pub(super) link: Vec<NamedLink>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TopologyKind {
    Chain,
    Star,
    Tree,
    Grid,
    Dumbbell,
    Waxman,
    BarabasiAlbert,
    /// ndnSIM's annotated text.
    Ndnsim,
    /// A map of routers.
    Rocketfuel,
    RocketfuelWeights,
    RocketfuelLatencies,
    Graphml,
    /// The nodes and links of this file.
    Explicit,
    /// Nodes and links of another file in TOML or JSON.
    File,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    pub(super) rate: Option<Rate>,
    pub(super) delay: Option<Span>,
    pub(super) queue_packets: Option<u32>,
    pub(super) queue_bytes: Option<Size>,
    pub(super) mark_above: Option<Size>,
    pub(super) codel: Option<CoDel>,
    pub(super) rate_control: Option<RateControl>,
    pub(super) overhead: Option<Size>,
    pub(super) loss: Option<f64>,
    pub(super) duplicate: Option<f64>,
    pub(super) reorder: Option<f64>,
    pub(super) reorder_delay: Option<Span>,
    pub(super) jitter: Option<Span>,
    pub(super) metric: Option<u32>,
    /// Real frames of NDNLPv2 of at most so many bytes.
    pub(super) mtu: Option<Size>,
    /// Acknowledgements and retransmissions on the link; needs `mtu`.
    pub(super) reliable: Option<bool>,
}

/// Engines at the ends of the link tell consumers behind it how fast to ask.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateControl {
    pub(super) method: String,
    /// Interests that may wait for their turn.
    pub(super) max_held: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoDel {
    pub(super) target: Option<Span>,
    pub(super) interval: Option<Span>,
    #[serde(default)]
    pub(super) mark: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    pub(super) strategy: Option<String>,
    pub(super) cache_packets: Option<u32>,
    pub(super) cache_bytes: Option<Size>,
    pub(super) eviction: Option<String>,
    pub(super) max_pending: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Routes {
    /// One shortest path to each producer.
    #[default]
    Shortest,
    /// All loop-free paths.
    All,
    /// Only those that are written down.
    Static,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    pub(super) node: NodeRef,
    pub(super) prefix: String,
    pub(super) towards: NodeRef,
    #[serde(default)]
    pub(super) cost: u64,
}

/// What is different about some nodes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub(super) nodes: NodeSet,
    pub(super) strategy: Option<String>,
    pub(super) cache_packets: Option<u32>,
    pub(super) tick: Option<Span>,
    pub(super) clock_offset: Option<Span>,
    pub(super) drift_ppm: Option<f64>,
    /// Whether the engine has the clock of the applications.
    #[serde(default)]
    pub(super) engine_clock: bool,
    pub(super) interest_time: Option<Span>,
    pub(super) data_time: Option<Span>,
    pub(super) max_waiting: Option<u32>,
    #[serde(default)]
    pub(super) capacity: Vec<Capacity>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Capacity {
    pub(super) at: Span,
    pub(super) percent: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Producer {
    pub(super) nodes: NodeSet,
    pub(super) prefix: String,
    /// Bytes of the whole packet.
    pub(super) packet: Option<Size>,
    /// Bytes of its content.
    pub(super) content: Option<Size>,
    pub(super) freshness: Option<Span>,
    pub(super) reply_delay: Option<Span>,
    /// A published file of so many bytes, in place of numbered names.
    pub(super) file: Option<Size>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Consumer {
    pub(super) kind: ConsumerKind,
    pub(super) nodes: NodeSet,
    pub(super) prefix: String,
    /// Interests a second.
    pub(super) rate: Option<f64>,
    #[serde(default)]
    pub(super) gap: Gap,
    pub(super) window: Option<usize>,
    #[serde(default)]
    pub(super) batch: Vec<Batch>,
    pub(super) objects: Option<usize>,
    pub(super) exponent: Option<f64>,
    pub(super) shift: Option<f64>,
    pub(super) controller: Option<String>,
    pub(super) items: Option<u64>,
    pub(super) lifetime: Option<Span>,
    pub(super) attempts: Option<u32>,
    pub(super) start: Option<Span>,
    pub(super) stop: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ConsumerKind {
    Rate,
    Window,
    Batch,
    Zipf,
    /// Numbered names under a controller of `flow`.
    Transfer,
    /// A published file under a controller of `flow`.
    File,
    /// Interests for names that nobody has.
    Flood,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Gap {
    #[default]
    Even,
    Uniform,
    Exponential,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    pub(super) at: Span,
    pub(super) count: u64,
}

/// Something that happens to the network.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub(super) at: Span,
    pub(super) action: EventAction,
    /// The two nodes that the link joins.
    pub(super) link: Option<[NodeRef; 2]>,
    pub(super) node: Option<NodeRef>,
    pub(super) rate: Option<Rate>,
    pub(super) delay: Option<Span>,
    pub(super) loss: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EventAction {
    LinkDown,
    LinkUp,
    /// Takes `rate`, `delay` and `loss`.
    LinkChange,
    Restart,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub(super) sample: Option<Span>,
    #[serde(default)]
    pub(super) packets: bool,
    #[serde(default)]
    pub(super) delays: bool,
    #[serde(default)]
    pub(super) values: bool,
    #[serde(default)]
    pub(super) drops: bool,
    pub(super) one_in: Option<u32>,
    pub(super) max_records: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Capture {
    pub(super) link: [NodeRef; 2],
    pub(super) max_frames: Option<usize>,
}
