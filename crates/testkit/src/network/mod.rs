//! A network in virtual time: nodes, links, applications that ask and that answer.
//!
//! Nothing waits: [`Network::run_until`] jumps from one instant at which something happens to the next, and gives up with
//! a reason when the time is over, when nothing is left to happen, or when time stands still. The same calls with the same
//! seed do the same to the bit; [`Trace::hash`] tells.
//!
//! ```
//! use packet::time::Duration;
//! use testkit::network::{Medium, Network, Produce};
//!
//! // consumer ── near ──10 ms── far ── producer of /video
//! let mut network = Network::new(1);
//! let (near, far) = (network.add_node(), network.add_node());
//! network.connect(near, far, Medium::ideal(Duration::from_millis(10)));
//! network.add_producer(far, "/video", Produce::default());
//! network.add_route(near, "/video", far, 0);
//! let consumer = network.add_consumer(near);
//!
//! let request = network.ask(consumer, "/video/1");
//! network.run_until(|network| network.is_done(consumer), Duration::from_secs(1))?;
//! let fetched = network.fetched(consumer, request).unwrap();
//! assert_eq!(fetched.delay, Duration::from_millis(20));
//! assert!(network.is_genuine(&fetched.data));
//! # Ok::<(), testkit::network::Stuck>(())
//! ```
#![expect(clippy::expect_used, reason = "a test double fails at once, and loudly")]

mod consumer;
mod link;
mod node;
mod producer;
mod run;
mod trace;

pub use ::link::ImpairmentConfig;
pub use ::link::v2::{Config as LinkConfig, LinkService, ReliabilityConfig};
use engine::{EngineConfig, Event, FaceConfig, FaceId, LinkType, SetStrategyError, StrategySpec};
use packet::random::Random;
use packet::time::Instant;
use packet::{Data, Dialect, Name};

use self::link::{End, Link};
pub use self::link::{Framed, Medium};
use consumer::Consumer;
pub use consumer::{Fetched, Outcome, Request};
use node::Peer;
pub use node::{BEFORE_PENDING, Node};
pub use producer::Produce;
use producer::Producer;
pub use run::{Stuck, StuckReason};
pub use trace::{Sent, Trace};

/// Number of a node, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// Number of a link, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);

/// Number of a consumer, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerId(pub usize);

/// Number of a producer, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerId(pub usize);

/// Number of one consumer's request, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub usize);

/// The network. Time starts at zero.
pub struct Network {
    now: Instant,
    seed: u64,
    next_face: u32,
    turns_at_this_instant: u64,
    nodes: Vec<Node>,
    links: Vec<Link>,
    consumers: Vec<Consumer>,
    producers: Vec<Producer>,
    trace: Trace,
}

impl Network {
    /// An empty network. All randomness in it comes from `seed`.
    pub fn new(seed: u64) -> Self {
        Network {
            now: Instant::ZERO,
            seed,
            next_face: FaceId::LAST_RESERVED.0 + 1,
            turns_at_this_instant: 0,
            nodes: Vec::new(),
            links: Vec::new(),
            consumers: Vec::new(),
            producers: Vec::new(),
            trace: Trace::new(),
        }
    }

    // Building.

    /// Adds a node with the default configuration.
    pub fn add_node(&mut self) -> NodeId {
        self.add_node_with(|_| {})
    }

    /// Adds a node; `change` may change its configuration first.
    pub fn add_node_with(&mut self, change: impl FnOnce(&mut EngineConfig)) -> NodeId {
        let seed = Random::derive(self.seed, self.nodes.len() as u64).next_u64();
        let mut config = EngineConfig::seeded(seed).expect("the default strategy exists");
        change(&mut config);
        self.nodes.push(Node::new(config));
        NodeId(self.nodes.len() - 1)
    }

    /// Joins two nodes.
    pub fn connect(&mut self, a: NodeId, b: NodeId, medium: Medium) -> LinkId {
        self.connect_all(&[a, b], medium, FaceConfig::remote())
    }

    /// Joins nodes by one link that carries a packet from one of them to all others. `config` is that of all its faces;
    /// the link type becomes multi-access if there are more than two.
    pub fn connect_all(&mut self, nodes: &[NodeId], medium: Medium, config: FaceConfig) -> LinkId {
        let link = self.links.len();
        let link_type = if nodes.len() > 2 { LinkType::MultiAccess } else { config.link_type };
        let config = FaceConfig { link_type, ..config };
        let mut ends = Vec::new();
        for (end, node) in nodes.iter().enumerate() {
            ends.push(End { node: node.0, port: self.add_port(node.0, config, Peer::Link { link, end }) });
        }
        let seed = Random::derive(self.seed, 1 << 32 | link as u64).next_u64();
        self.links.push(Link::new(ends, medium, seed));
        LinkId(link)
    }

    /// Adds an application that speaks NDN and asks.
    pub fn add_consumer(&mut self, node: NodeId) -> ConsumerId {
        self.add_consumer_with(node, FaceConfig::local())
    }

    /// Adds an application that asks, behind a face with this configuration.
    pub fn add_consumer_with(&mut self, node: NodeId, config: FaceConfig) -> ConsumerId {
        let number = self.consumers.len();
        let port = self.add_port(node.0, config, Peer::Consumer(number));
        let random = Random::derive(self.seed, 2 << 32 | number as u64);
        self.consumers.push(Consumer::new(node.0, port, config.dialect, random));
        ConsumerId(number)
    }

    /// Adds an application that answers under `prefix`, and the route to it on its node.
    pub fn add_producer(&mut self, node: NodeId, prefix: &str, produce: Produce) -> ProducerId {
        let number = self.producers.len();
        let config = FaceConfig { dialect: produce.dialect, ..FaceConfig::local() };
        let port = self.add_port(node.0, config, Peer::Producer(number));
        let prefix: Name = prefix.parse().expect("a name");
        self.nodes[node.0].add_route(self.now, produce.dialect, &prefix, port, 0);
        self.producers.push(Producer::new(node.0, port, prefix, produce));
        ProducerId(number)
    }

    /// Adds a route on `node` by the first link that joins it to `towards`, in the link's dialect. The route comes back with the
    /// face after a restart.
    ///
    /// # Panics
    /// If no link joins them.
    pub fn add_route(&mut self, node: NodeId, prefix: &str, towards: NodeId, cost: u64) {
        let port = self.port_towards(node, towards);
        let prefix: Name = prefix.parse().expect("a name");
        let dialect = self.nodes[node.0].ports[port].config.dialect;
        self.nodes[node.0].add_route(self.now, dialect, &prefix, port, cost);
    }

    /// Takes such a route back.
    ///
    /// # Panics
    /// If no link joins the nodes.
    pub fn remove_route(&mut self, node: NodeId, prefix: &str, towards: NodeId) {
        let port = self.port_towards(node, towards);
        let prefix: Name = prefix.parse().expect("a name");
        let dialect = self.nodes[node.0].ports[port].config.dialect;
        self.nodes[node.0].remove_route(dialect, &prefix, port);
    }

    /// Chooses the strategy of a node for names under `prefix`, in both dialects. Does not outlive a restart.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn set_strategy(
        &mut self,
        node: NodeId,
        prefix: &str,
        spec: &StrategySpec,
    ) -> Result<(), SetStrategyError> {
        let prefix: Name = prefix.parse().expect("a name");
        let engine = &mut self.nodes[node.0].engine;
        engine.set_strategy(Dialect::Ndn, prefix.as_ref(), spec)?;
        engine.set_strategy(Dialect::Ccnx, prefix.as_ref(), spec)
    }

    // Changing what is there.

    /// Makes a framed link better or worse in all directions.
    pub fn set_impairment(&mut self, link: LinkId, impairment: &ImpairmentConfig) {
        self.links[link.0].set_impairment(impairment);
    }

    /// Cuts a link: its faces are removed, and what was under way is lost.
    pub fn take_down(&mut self, link: LinkId) {
        self.links[link.0].is_up = false;
        self.links[link.0].reset();
        for End { node, port } in self.links[link.0].ends.clone() {
            self.nodes[node].close(port);
        }
    }

    /// Mends a link: it gets new faces, and they get the routes of the old.
    pub fn bring_up(&mut self, link: LinkId) {
        if self.links[link.0].is_up {
            return;
        }
        self.links[link.0].is_up = true;
        for End { node, port } in self.links[link.0].ends.clone() {
            self.open(node, port);
        }
    }

    /// Stops a node and starts it again with its configuration and its routes and nothing else. Its links lose what was under way.
    pub fn restart(&mut self, node: NodeId) {
        self.nodes[node.0].restart();
        for port in 0..self.nodes[node.0].ports.len() {
            let is_up = match self.nodes[node.0].ports[port].peer {
                Peer::Link { link, .. } => {
                    self.links[link].reset();
                    self.links[link].is_up
                }
                Peer::Consumer(_) | Peer::Producer(_) => true,
            };
            if is_up {
                self.open(node.0, port);
            }
        }
    }

    /// What a producer does from now on.
    pub fn set_produce(&mut self, producer: ProducerId, produce: Produce) {
        self.producers[producer.0].produce = produce;
    }

    /// How many requests a consumer asks for at once; any number at first.
    pub fn set_window(&mut self, consumer: ConsumerId, window: usize) {
        self.consumers[consumer.0].window = window;
    }

    /// The engine of a node, to be changed. Do not give it packets.
    pub fn engine_mut(&mut self, node: NodeId) -> &mut engine::Engine {
        &mut self.nodes[node.0].engine
    }

    // Asking.

    /// Lets a consumer ask now, or as soon as its window allows.
    pub fn ask(&mut self, consumer: ConsumerId, request: impl Into<Request>) -> RequestId {
        self.ask_at(consumer, self.now, request)
    }

    /// Lets a consumer ask at a later time, or as soon as its window allows then.
    pub fn ask_at(&mut self, consumer: ConsumerId, at: Instant, request: impl Into<Request>) -> RequestId {
        RequestId(self.consumers[consumer.0].ask(at.max(self.now), request.into()))
    }

    /// What became of a request; `None` while the consumer goes on asking.
    pub fn outcome(&self, consumer: ConsumerId, request: RequestId) -> Option<&Outcome> {
        self.consumers[consumer.0].outcome(request.0)
    }

    /// The Data of a request, if it came.
    pub fn fetched(&self, consumer: ConsumerId, request: RequestId) -> Option<&Fetched> {
        match self.outcome(consumer, request) {
            Some(Outcome::Fetched(fetched)) => Some(fetched),
            _ => None,
        }
    }

    /// All requests of a consumer and what became of them.
    pub fn requests(&self, consumer: ConsumerId) -> impl Iterator<Item = (&Request, Option<&Outcome>)> {
        self.consumers[consumer.0].requests()
    }

    /// Whether something became of all requests of a consumer.
    pub fn is_done(&self, consumer: ConsumerId) -> bool {
        self.consumers[consumer.0].is_done()
    }

    /// Whether something became of all requests of all consumers.
    pub fn all_done(&self) -> bool {
        self.consumers.iter().all(Consumer::is_done)
    }

    /// Data that a consumer got without having asked for it, or more often than it asked.
    pub fn unasked(&self, consumer: ConsumerId) -> &[Data] {
        &self.consumers[consumer.0].unasked
    }

    /// Interests that reached a producer.
    pub fn asked(&self, producer: ProducerId) -> u64 {
        self.producers[producer.0].asked
    }

    /// Whether `data` is, byte for byte, what the producer of its name makes.
    pub fn is_genuine(&self, data: &Data) -> bool {
        let owner = self
            .producers
            .iter()
            .filter(|producer| {
                producer.produce.dialect == data.dialect()
                    && producer.prefix.as_ref().is_prefix_of(data.name())
            })
            .max_by_key(|producer| producer.prefix.as_ref().component_count());
        owner.is_some_and(|producer| producer.produce.data(data.name()).wire() == data.wire())
    }

    // Looking.

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// A node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0]
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(number, node)| (NodeId(number), node))
    }

    /// The faces that a link has at present, in the order its nodes were named.
    pub fn link_faces(&self, link: LinkId) -> impl Iterator<Item = (NodeId, FaceId)> {
        self.links[link.0]
            .ends
            .iter()
            .filter_map(|end| Some((NodeId(end.node), self.nodes[end.node].ports[end.port].face?)))
    }

    /// The link services of a framed link, in the order its nodes were named.
    pub fn link_services(&self, link: LinkId) -> impl Iterator<Item = &LinkService> {
        self.links[link.0].services()
    }

    /// The face that leads from a node by the first link to another.
    ///
    /// # Panics
    /// If no link joins them, or it is down.
    pub fn face_towards(&self, node: NodeId, towards: NodeId) -> FaceId {
        let port = self.port_towards(node, towards);
        self.nodes[node.0].ports[port].face.expect("the link is up")
    }

    /// The face that leads to a consumer.
    pub fn consumer_face(&self, consumer: ConsumerId) -> FaceId {
        let consumer = &self.consumers[consumer.0];
        self.nodes[consumer.node].ports[consumer.port].face.expect("faces to applications stay")
    }

    /// The face that leads to a producer.
    pub fn producer_face(&self, producer: ProducerId) -> FaceId {
        let producer = &self.producers[producer.0];
        self.nodes[producer.node].ports[producer.port].face.expect("faces to applications stay")
    }

    /// What has happened.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Keeps every packet that an engine sends from now on in the trace.
    pub fn record_packets(&mut self) {
        self.trace.record();
    }

    /// Takes the events of a node's engine.
    pub fn take_events(&mut self, node: NodeId) -> Vec<Event> {
        std::mem::take(&mut self.nodes[node.0].events)
    }

    fn add_port(&mut self, node: usize, config: FaceConfig, peer: Peer) -> usize {
        let port = self.nodes[node].add_port(config, peer);
        self.open(node, port);
        port
    }

    fn open(&mut self, node: usize, port: usize) {
        let face = FaceId(self.next_face);
        self.next_face += 1;
        self.nodes[node].open(self.now, port, face);
    }

    fn port_towards(&self, node: NodeId, towards: NodeId) -> usize {
        self.links
            .iter()
            .filter(|link| link.ends.iter().any(|end| end.node == towards.0))
            .flat_map(|link| &link.ends)
            .find(|end| end.node == node.0)
            .map(|end| end.port)
            .expect("a link joins the nodes")
    }
}
