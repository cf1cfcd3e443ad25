//! The network: how it is built. How it is changed, looked at and run stands in files of their own.

mod changes;
pub(crate) mod checks;
pub(crate) mod cores;
mod framed;
mod observe;
mod previous_sample;
mod routes;
mod run;
mod sample;
mod tap_verdicts;
mod ties;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{ContentStoreConfig, EngineConfig, FaceConfig, FaceId, StrategySpec};
use packet::random::Random;
use packet::time::Instant;
use packet::{Dialect, LinkType, NameHasher};

use crate::application::{Application, Producer};
use crate::arena::{AppId, Arena, EndId, LinkId, NodeId, PlanId, Pool};
use crate::core::{Attachment, Core, End, Link};
use crate::error::SimError;
use crate::events::in_flight::AllInFlight;
use crate::events::queue::{Alarm, EventQueue};
use crate::events::simultaneous::{SimultaneousOrder, Ties};
use crate::into_name::IntoName;
use crate::link::services::Framed;
use crate::link::taps::Taps;
use crate::link::{Channel, LinkConfig};
use crate::network::cores::Cores;
use crate::network::previous_sample::Previous;
use crate::node::clock::{Clock, EngineClock};
use crate::node::processor::{Processor, ProcessorConfig};
use crate::node::{Node, Peer, Port};
use crate::trace::Trace;

type Action = Box<dyn FnOnce(&mut Network) + Send>;

/// What is to be done at a time.
pub(crate) enum Plan {
    Sample,
    Action(Action),
}

/// A network in virtual time. Time starts at zero.
///
/// Build it, let time pass with [`Network::run_for`], look at it, change it, and let time pass again. The
/// same calls with the same seed do the same to the bit, on any machine; [`Trace::hash`] tells.
///
/// ```
/// use packet::time::Duration;
/// use cairn_sim::{Consumer, LinkConfig, Network, Producer};
///
/// // consumer ── 10 Mbit/s, 50 ms ── router ── 10 Mbit/s, 50 ms ── producer
/// let mut network = Network::new(1);
/// let nodes = network.chain(3, &LinkConfig::ideal().mbps(10.0).millis(50))?;
/// network.add_producer(nodes[2], "/video", Producer::of_packet_size(1250))?;
/// let consumer = network.add_application(nodes[0], Consumer::window("/video", 100)?)?;
/// network.route_shortest_paths()?;
/// network.run_for(Duration::from_secs(10))?;
///
/// let report = network.consumer(consumer).unwrap();
/// // A hundred Data in each round trip of 202 ms and a little.
/// assert!((4_800..5_000).contains(&report.received), "{report:?}");
/// # Ok::<(), cairn_sim::SimError>(())
/// ```
pub struct Network {
    pub(crate) core: Core,
    pub(crate) applications: Arena<AppId, Box<dyn Application>>,
    /// Applications that have been started.
    pub(crate) started: usize,
    pub(crate) plans: BTreeMap<PlanId, Plan>,
    pub(crate) next_plan: u32,
    config: Arc<EngineConfig>,
    pub(crate) previous: Previous,
    pub(crate) cores: Cores<Network>,
}

impl Network {
    /// An empty network. All randomness in it comes from `seed`, and every node, link and application has a
    /// stream of its own, so that one more does not shift the others.
    pub fn new(seed: u64) -> Self {
        let mut keys = Random::derive(seed, 0);
        let hash_key = [keys.next_u64(), keys.next_u64()];
        Network {
            core: Core {
                now: Instant::ZERO,
                seed,
                hasher: NameHasher::new(hash_key),
                queue: EventQueue::default(),
                nodes: Arena::default(),
                links: Arena::default(),
                channels: Arena::default(),
                framed: Arena::default(),
                attachments: Arena::default(),
                in_flight: AllInFlight::default(),
                outbox: std::collections::VecDeque::new(),
                held: Pool::default(),
                taps: Taps::default(),
                trace: Trace::default(),
                journal: None,
                order: SimultaneousOrder::default(),
                ties: Ties::default(),
                events_at_this_instant: 0,
                hops: 0,
            },
            applications: Arena::default(),
            started: 0,
            plans: BTreeMap::new(),
            next_plan: 0,
            config: Arc::new(EngineConfig { hash_key, ..default_engine() }),
            previous: Previous::default(),
            cores: Cores::default(),
        }
    }

    // Building.

    /// In which order things happen that happen at one instant at different nodes. Say it before there is
    /// anything in the network: it is that of what is added and planned from now on. Where results differ
    /// between orders, they hang on what has no order in the world.
    pub fn set_simultaneous_order(&mut self, order: SimultaneousOrder) {
        self.core.order = order;
    }

    /// Whether anything has happened so far that another order of what happens at one instant could have made
    /// another. It may say so where none would, and never the other way round.
    pub fn may_depend_on_ties(&self) -> bool {
        self.core.ties.any
    }

    /// Changes the configuration of the engines of nodes added from now on. The key of the name hashes is the
    /// network's, and the seed is each node's own, whatever is set here. Without a change, a node's
    /// content store holds 1,000 Data.
    pub fn engines(&mut self, change: impl FnOnce(&mut EngineConfig)) {
        let mut config = (*self.config).clone();
        let hash_key = config.hash_key;
        change(&mut config);
        self.config = Arc::new(EngineConfig { hash_key, ..config });
    }

    /// Adds a node: a forwarder, on which applications may run.
    ///
    /// # Errors
    /// A default strategy that cannot be had.
    pub fn add_node(&mut self) -> Result<NodeId, SimError> {
        let seed = self.node_seed();
        Ok(self.push_node(Node::new(self.config.clone(), seed)?))
    }

    /// Adds several nodes.
    ///
    /// # Errors
    /// As [`Network::add_node`].
    pub fn add_nodes(&mut self, count: usize) -> Result<Vec<NodeId>, SimError> {
        (0..count).map(|_| self.add_node()).collect()
    }

    /// Adds a host: a place for an application at the end of a link, without a forwarder.
    pub fn add_host(&mut self) -> NodeId {
        let seed = self.node_seed();
        self.push_node(Node::host(self.config.clone(), seed))
    }

    fn push_node(&mut self, mut node: Node) -> NodeId {
        node.alarm = Alarm::of(self.core.order.of_node(self.core.nodes.next_id()));
        self.core.nodes.push(node)
    }

    /// What engines of nodes added from now on are made with.
    pub(crate) fn config(&self) -> Arc<EngineConfig> {
        self.config.clone()
    }

    fn node_seed(&self) -> u64 {
        Random::derive(self.core.seed, 1 << 32 | self.core.nodes.len() as u64).next_u64()
    }

    /// Joins two nodes.
    ///
    /// # Errors
    /// The same node twice, or no node.
    pub fn connect(&mut self, a: NodeId, b: NodeId, config: &LinkConfig) -> Result<LinkId, SimError> {
        self.connect_all(&[a, b], config)
    }

    /// Joins nodes by one link. If there are more than two, they share it: one sends at a time, and all
    /// others hear it.
    ///
    /// # Errors
    /// Fewer than two different nodes, a node that does not exist, or a link service that makes no sense.
    /// Frames and CoDel do not go together: the queue of a link that carries frames is a plain one.
    pub fn connect_all(&mut self, nodes: &[NodeId], config: &LinkConfig) -> Result<LinkId, SimError> {
        let mut members = nodes.to_vec();
        members.sort_unstable();
        members.dedup();
        if members.len() < 2 || members.len() != nodes.len() {
            return Err(SimError::TooFewEnds);
        }
        for &node in nodes {
            self.node(node)?;
        }
        let link = self.core.links.next_id();
        let mut config = config.clone();
        config.face.link_type = if nodes.len() > 2 { LinkType::MultiAccess } else { config.face.link_type };
        let framed = match &config.framing {
            None => None,
            Some(service) => {
                config.queue.codel = None;
                config.face.dialect = service.dialect();
                let seed = self.link_seed(link).next_u64();
                let mut framed = Framed::new(link, nodes.len(), service, seed)?;
                framed.alarm = Alarm::of(self.core.nodes[members[0]].alarm.rank);
                Some(self.core.framed.push(framed))
            }
        };
        let shared = nodes.len() > 2;
        let (mut ends, mut channels) = (Vec::new(), Vec::new());
        for (end, &node) in (0..).map(EndId).zip(nodes) {
            if end == EndId(0) || !shared {
                let seed = Random::derive(self.link_seed(link).next_u64(), u64::from(end.0) + 1).next_u64();
                let mut channel = Channel::new(link, end, shared, framed, &config, seed);
                channel.rank = self.core.nodes[node].alarm.rank;
                channels.push(self.core.channels.push(channel));
            }
            let Some(&channel) = channels.last() else { continue };
            let peer = Peer::Channel { channel, end };
            let face = self.core.nodes[node].open(self.core.now, peer, config.face_config());
            ends.push(End { node, face });
        }
        Ok(self.core.links.push(Link { ends, channels, config, is_up: true, framed }))
    }

    pub(crate) fn link_seed(&self, link: LinkId) -> Random {
        Random::derive(self.core.seed, 2 << 32 | u64::from(link.0))
    }

    /// Adds an application to a node, with routes to its prefixes on that node.
    ///
    /// # Errors
    /// No such node, or a route that its table refuses.
    pub fn add_application(
        &mut self,
        node: NodeId,
        application: impl Application,
    ) -> Result<AppId, SimError> {
        self.add_application_with(node, application, FaceConfig::local())
    }

    /// The same, behind a face with this configuration.
    ///
    /// # Errors
    /// As [`Network::add_application`].
    pub fn add_application_with(
        &mut self,
        node: NodeId,
        application: impl Application,
        face: FaceConfig,
    ) -> Result<AppId, SimError> {
        self.node(node)?;
        let number = self.applications.next_id();
        let now = self.core.now;
        let slot = &mut self.core.nodes[node];
        let dialect = face.dialect;
        let face = slot.open(now, Peer::Application(number), face);
        if slot.engine.is_some() {
            for prefix in application.prefixes() {
                slot.add_route(now, dialect, &prefix, face, 0)?;
            }
        }
        let random = Random::derive(self.core.seed, 3 << 32 | u64::from(number.0));
        let alarm = Alarm::of(self.core.order.of_application(number));
        self.core.attachments.push(Attachment { node, face, dialect, alarm, random });
        Ok(self.applications.push(Box::new(application)))
    }

    /// Adds a producer of all names under a prefix.
    ///
    /// # Errors
    /// As [`Network::add_application`], or a prefix that is not a name.
    pub fn add_producer(
        &mut self,
        node: NodeId,
        prefix: impl IntoName,
        producer: Producer,
    ) -> Result<AppId, SimError> {
        self.add_application(node, producer.prefix(prefix.into_name()?))
    }

    /// Adds a route on a node by the first link that joins it to `towards`, or changes its cost.
    ///
    /// # Errors
    /// No such link, a prefix that is not a name, or a table that is full.
    pub fn add_route(
        &mut self,
        node: NodeId,
        prefix: impl IntoName,
        towards: NodeId,
        cost: u64,
    ) -> Result<(), SimError> {
        let (face, dialect) = self.face_and_dialect_towards(node, towards)?;
        let (prefix, now) = (prefix.into_name()?, self.core.now);
        self.core.nodes[node].add_route(now, dialect, &prefix, face, cost)?;
        self.settle(node);
        Ok(())
    }

    /// Takes such a route back.
    ///
    /// # Errors
    /// No such link, or a prefix that is not a name.
    pub fn remove_route(
        &mut self,
        node: NodeId,
        prefix: impl IntoName,
        towards: NodeId,
    ) -> Result<(), SimError> {
        let (face, dialect) = self.face_and_dialect_towards(node, towards)?;
        let prefix = prefix.into_name()?;
        self.core.nodes[node].remove_route(dialect, &prefix, face);
        Ok(())
    }

    /// Erases all that the content store of a node keeps under a prefix; gives how much that was.
    ///
    /// # Errors
    /// No such node; a name that is none.
    pub fn erase_cached(&mut self, node: NodeId, prefix: impl IntoName) -> Result<usize, SimError> {
        self.node(node)?;
        let prefix = prefix.into_name()?;
        Ok(self.core.nodes[node].erase_cached(&prefix))
    }

    /// Takes back all routes of a node that lead to links; those to its own applications stay.
    ///
    /// # Errors
    /// No such node.
    pub fn clear_routes(&mut self, node: NodeId) -> Result<(), SimError> {
        self.node(node)?;
        let slot = &mut self.core.nodes[node];
        for route in slot.routes.clone() {
            let is_own = matches!(slot.ports.get(route.face), Some(Port { peer: Peer::Application(_), .. }));
            if !is_own {
                slot.remove_route(route.dialect, &route.prefix, route.face);
            }
        }
        Ok(())
    }

    /// Chooses the strategy of a node for names under a prefix, such as `"best-route"` or
    /// `"stateful-forwarding/rate~1000/depth~50"`. It outlives a restart of the node.
    ///
    /// # Errors
    /// No such node or strategy, or a prefix that is not a name.
    pub fn set_strategy(
        &mut self,
        node: NodeId,
        prefix: impl IntoName,
        strategy: &str,
    ) -> Result<(), SimError> {
        self.node(node)?;
        let (prefix, spec) = (prefix.into_name()?, strategy.parse::<StrategySpec>()?);
        self.core.nodes[node].set_strategy(&prefix, &spec)
    }

    /// Gives the applications of a node this clock. The engine keeps its own.
    ///
    /// # Errors
    /// No such node.
    pub fn set_clock(&mut self, node: NodeId, clock: Clock) -> Result<(), SimError> {
        self.node(node)?;
        self.core.nodes[node].clock = clock;
        Ok(())
    }

    /// Gives the engine of a node this clock. Set it before time passes: engines do not like a clock that is
    /// set back.
    ///
    /// # Errors
    /// No such node.
    pub fn set_engine_clock(&mut self, node: NodeId, clock: Clock) -> Result<(), SimError> {
        self.node(node)?;
        self.core.nodes[node].engine_clock = EngineClock::new(clock);
        Ok(())
    }

    /// Gives a node a processor that takes time for packets, in place of one that takes none.
    ///
    /// # Errors
    /// No such node.
    pub fn set_processor(&mut self, node: NodeId, config: ProcessorConfig) -> Result<(), SimError> {
        self.node(node)?;
        self.core.nodes[node].processor = Some(Box::new(Processor::new(config)));
        Ok(())
    }

    pub(crate) fn node(&self, node: NodeId) -> Result<&Node, SimError> {
        self.core.nodes.get(node).ok_or(SimError::NoNode(node))
    }

    pub(crate) fn link(&self, link: LinkId) -> Result<&Link, SimError> {
        self.core.links.get(link).ok_or(SimError::NoLink(link))
    }

    pub(crate) fn face_and_dialect_towards(
        &self,
        node: NodeId,
        towards: NodeId,
    ) -> Result<(FaceId, Dialect), SimError> {
        self.node(towards)?;
        for (face, open) in self.node(node)?.ports.indexed() {
            let Peer::Channel { channel, .. } = open.peer else { continue };
            let link = &self.core.links[self.core.channels[channel].link];
            if link.ends.iter().any(|end| end.node == towards) && towards != node {
                return Ok((face, open.config.dialect));
            }
        }
        Err(SimError::NotLinked(node, towards))
    }
}

/// What a node's engine is made with, unless told otherwise.
fn default_engine() -> EngineConfig {
    // The default strategy exists in every build, so the other branch is never taken; an engine with an
    // unknown strategy would be refused by `add_node`.
    let Ok(config) = EngineConfig::seeded(0) else { unreachable!("the default strategy exists") };
    let store = ContentStoreConfig { max_entries: 1_000, ..config.content_store };
    EngineConfig { content_store: store, ..config }
}
