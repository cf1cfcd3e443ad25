//! What only virtual time carries out: the rest of links, clocks, consumers, events, traces.

use flow::workload::Spacing;
use serde::{Deserialize, Serialize};

use super::{Hop, LinkIndex, NodeIndex, Plan};

/// What a simulated link has beside what every link has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedLink {
    /// Packets that wait, whatever their size; `None` with `queue_bytes` of `None` is by the link's queue.
    pub queue_packets: Option<u32>,
    /// Bytes that wait.
    pub queue_bytes: Option<u64>,
    /// Packets that join get a mark while more bytes wait.
    pub mark_above_bytes: Option<u64>,
    /// Controlled delay.
    pub codel: Option<CoDelPlan>,
    /// The method by which engines at its ends tell consumers how fast to ask, and Interests that may wait.
    pub rate_control: Option<(String, u32)>,
    /// Bytes of headers below a packet; `None` is as its kind has.
    pub overhead_bytes: Option<u32>,
    /// The part of packets that arrives twice.
    pub duplicate: f64,
    /// The part of packets that is late.
    pub reorder: f64,
    /// By so much.
    pub reorder_delay_ns: u64,
    /// Each packet is late by up to this.
    pub jitter_ns: u64,
    /// Real frames of at most the link's MTU.
    pub frames: bool,
    /// With acknowledgements.
    pub reliable: bool,
    /// Shaped as the lab shapes real links, by a token bucket.
    #[serde(default)]
    pub token_bucket: bool,
}

impl SimulatedLink {
    /// Does anything happen by chance on it?
    pub(crate) fn is_random(&self) -> bool {
        self.duplicate > 0.0 || self.reorder > 0.0 || self.jitter_ns > 0
    }
}

/// Controlled delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoDelPlan {
    /// How long packets may wait in the long run.
    pub target_ns: u64,
    /// For how long that may be exceeded.
    pub interval_ns: u64,
    /// Mark and do not drop.
    pub mark: bool,
}

/// A clock that is not true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockPlan {
    /// How coarse it is.
    pub tick_ns: u64,
    /// How far ahead.
    pub offset_ns: u64,
    /// How much faster it runs.
    pub drift_ns_per_second: i64,
    /// Does the forwarder have it, too?
    pub of_engine: bool,
}

/// Who answers for all names under a prefix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProducerPlan {
    /// Its name in the file.
    pub name: String,
    /// Where it is.
    pub nodes: Vec<NodeIndex>,
    /// The prefix.
    pub prefix: String,
    /// What it answers with.
    pub answers: Answers,
    /// Freshness period; `None` is the producer's own.
    pub freshness_ns: Option<u64>,
    /// How long an answer takes.
    pub reply_delay_ns: Option<u64>,
    /// How it signs a file.
    #[serde(default)]
    pub key: ProducerKey,
}

/// How a producer signs the segments of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProducerKey {
    /// By a digest: by nobody.
    #[default]
    Digest,
    /// With a key that consumers who verify believe.
    Trusted,
    /// With another key under the name of that one.
    Forged,
}

/// What a producer answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answers {
    /// Packets of so many bytes.
    Packets(u64),
    /// Packets with so many bytes of content.
    Contents(u64),
    /// One published file of so many bytes.
    File(u64),
}

/// What a consumer does, at each of its nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsumerPlan {
    /// Where it is.
    pub nodes: Vec<NodeIndex>,
    /// The prefix of the names.
    pub prefix: String,
    /// How it asks.
    pub kind: ConsumerKind,
    /// How many names; `None` is without end.
    pub items: Option<u64>,
    /// Interest lifetime; `None` is its kind's own.
    pub lifetime_ns: Option<u64>,
    /// How often a name is asked for; `None` is its kind's own.
    pub attempts: Option<u32>,
    /// Has the experiment said when it ends?
    pub stops: bool,
    /// Does it verify what comes, and what does that cost?
    #[serde(default)]
    pub verify: Option<VerificationPlan>,
}

/// What verification costs the processor of a consumer's node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerificationPlan {
    /// For each signature.
    pub signature_ns: u64,
    /// For each 1,024 bytes that are hashed.
    pub hashed_kibibyte_ns: u64,
}

/// How a consumer asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ConsumerKind {
    /// So many Interests a second.
    Rate(f64, #[serde(with = "SpacingInPlan")] Spacing),
    /// So many in flight.
    Window(u32),
    /// At moments in nanoseconds, so many.
    Batches(Vec<(u64, u64)>),
    /// Objects of a catalogue, by their popularity.
    Zipf {
        /// Interests a second.
        per_second: f64,
        /// Between them.
        #[serde(with = "SpacingInPlan")]
        spacing: Spacing,
        /// Objects there are.
        objects: u32,
        /// The exponent.
        exponent: f64,
        /// The shift.
        shift: f64,
    },
    /// What a workload of this name and parameters asks for.
    Workload {
        /// Which, with which parameters.
        spec: String,
        /// Objects there are, if that is said.
        objects: Option<u32>,
    },
    /// Numbered names under this controller, or the default one.
    Transfer(Option<String>),
    /// A published file under it.
    File(Option<String>),
    /// So many Interests a second for what nobody has.
    Flood(f64),
}

impl ConsumerKind {
    /// Does chance decide when or what it asks?
    pub(super) fn is_random(&self) -> bool {
        match self {
            ConsumerKind::Rate(_, spacing) => *spacing != Spacing::Constant,
            ConsumerKind::Zipf { .. } | ConsumerKind::Workload { .. } => true,
            ConsumerKind::Transfer(controller) | ConsumerKind::File(controller) => {
                controller.as_deref().is_some_and(super::chance::controller_draws)
            }
            ConsumerKind::Window(_) | ConsumerKind::Batches(_) | ConsumerKind::Flood(_) => false,
        }
    }
}

/// How plans write times between Interests.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Spacing")]
enum SpacingInPlan {
    #[serde(rename = "Even")]
    Constant,
    Uniform,
    #[serde(rename = "Exponential")]
    Poisson,
}

/// Something that happens to the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventPlan {
    /// When.
    pub at_ns: u64,
    /// What.
    pub change: Change,
}

/// A change of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// A link goes down.
    LinkDown(LinkIndex),
    /// It comes back.
    LinkUp(LinkIndex),
    /// It becomes another.
    LinkChange {
        /// Which.
        link: LinkIndex,
        /// Its new rate.
        rate_bps: Option<u64>,
        /// Its new delay.
        delay_ns: Option<u64>,
        /// Its new loss.
        loss: Option<f64>,
    },
    /// A forwarder starts anew.
    Restart(NodeIndex),
    /// A node gets a route, or its route another cost.
    RouteAdd(Hop),
    /// A node loses a route, whatever that costs.
    RouteRemove(Hop),
    /// A node has another share of a core.
    CpuChange {
        /// Which.
        node: NodeIndex,
        /// Its new share.
        share: f64,
    },
}

impl Change {
    /// The route that is added or removed.
    #[must_use]
    pub fn route(&self) -> Option<&Hop> {
        match self {
            Change::RouteAdd(hop) | Change::RouteRemove(hop) => Some(hop),
            _ => None,
        }
    }
}

impl Plan {
    /// The shares of a core that events give a node, with their times in nanoseconds.
    pub(crate) fn later_shares(&self, node: NodeIndex) -> impl Iterator<Item = (u64, f64)> {
        self.events.iter().filter_map(move |event| match event.change {
            Change::CpuChange { node: of, share } if of == node => Some((event.at_ns, share)),
            _ => None,
        })
    }

    /// All shares that a node has while it runs, in no order; none where it has what it can get, always.
    pub(crate) fn shares(&self, node: NodeIndex) -> impl Iterator<Item = f64> {
        let own = self.nodes.get(node).and_then(|node| node.cpu);
        own.into_iter().chain(self.later_shares(node).map(|(_, share)| share))
    }

    /// A node's share at a moment; nothing where it has what it can get.
    pub(crate) fn share_at(&self, node: NodeIndex, at_ns: u64) -> Option<f64> {
        let later = self.later_shares(node).filter(|(from_ns, _)| *from_ns <= at_ns);
        let last = later.max_by_key(|(from_ns, _)| *from_ns).map(|(_, share)| share);
        last.or_else(|| self.nodes.get(node)?.cpu)
    }

    /// Routes that a node gets while it runs, beside those that it begins with.
    pub(crate) fn later_routes(&self, node: NodeIndex) -> impl Iterator<Item = &Hop> {
        let added = self.events.iter().filter_map(|event| match &event.change {
            Change::RouteAdd(hop) => Some(hop),
            _ => None,
        });
        added.filter(move |hop| hop.node == node)
    }
}

impl EventPlan {
    /// What happens and when, as in `north-2 goes down at 10 s`.
    #[must_use]
    pub fn words(&self, plan: &Plan) -> String {
        let link = |place: LinkIndex| plan.links.get(place).map_or("?", |link| &link.name);
        let what = match self.change {
            Change::LinkDown(place) => format!("{} goes down", link(place)),
            Change::LinkUp(place) => format!("{} comes back", link(place)),
            Change::RouteAdd(ref hop) => {
                format!("{} sends {} to {}", plan.node_name(hop.node), hop.prefix, plan.next_name(hop))
            }
            Change::RouteRemove(ref hop) => {
                format!(
                    "{} sends {} no more to {}",
                    plan.node_name(hop.node),
                    hop.prefix,
                    plan.next_name(hop)
                )
            }
            Change::CpuChange { node, share } => {
                format!("{} has {} of a core", plan.node_name(node), percent(share))
            }
            Change::LinkChange { link: place, rate_bps, delay_ns, loss } => {
                let rate = rate_bps.map(|rate| format!("{} Mbit/s", rate as f64 / 1e6));
                let delay = delay_ns.map(|delay| format!("{} ms", delay as f64 / 1e6));
                let loss = loss.map(|loss| format!("{} of loss", percent(loss)));
                let parts: Vec<String> = [rate, delay, loss].into_iter().flatten().collect();
                format!("{} has {}", link(place), parts.join(", "))
            }
            Change::Restart(node) => format!("{} starts anew", plan.node_name(node)),
        };
        format!("{what} at {} s", self.at_ns as f64 / 1e9)
    }
}

/// A part of a whole, without the digits that only its binary fraction has.
fn percent(part: f64) -> String {
    format!("{} %", (part * 1e8).round() / 1e6)
}

/// What is written down beside what every run writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TracePlan {
    /// How often everything is looked at.
    pub sample_ns: Option<u64>,
    /// Packets that arrive.
    pub packets: bool,
    /// Answers.
    pub delays: bool,
    /// Numbers of consumers.
    pub values: bool,
    /// Drops.
    pub drops: bool,
    /// One of so many.
    pub one_in: u32,
    /// Records in each table.
    pub max_records: usize,
    /// How files are written.
    pub format: TraceFormat,
    /// Links that are captured, with how many packets.
    pub captures: Vec<(LinkIndex, usize)>,
}

impl TracePlan {
    /// Is anything to be written?
    pub(crate) fn is_asked(&self) -> bool {
        self.sample_ns.is_some()
            || self.packets
            || self.delays
            || self.values
            || self.drops
            || !self.captures.is_empty()
    }
}

/// How the files of a trace are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// Text with commas.
    #[default]
    Csv,
    /// Apache Parquet.
    Parquet,
}
