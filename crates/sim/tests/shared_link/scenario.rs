//! A link that many share, a server behind it, and clients that fetch an object from that.

use std::error::Error;

use cairn_sim::{AppId, LinkConfig, Network, NodeId, ProcessorConfig, Producer, Queue, TransferConsumer};
use engine::{FaceConfig, SharingConfig};
use link::v2::{Config, ParityConfig};
use packet::time::{Duration, Instant};

/// Packets of the object, and bytes of each.
const ITEMS: u64 = 4_000;
const PACKET_BYTES: usize = 1250;

/// Packets of a longer object: the beginning, and a wait here and there, count less.
pub(crate) const LONG: u64 = 20_000;

/// What a packet takes on the link.
const PACKET_TIME: Duration = Duration::from_micros(100);

/// What is simulated.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) seed: u64,
    pub(crate) items: u64,
    pub(crate) clients: usize,
    pub(crate) sharing: Option<SharingConfig>,
    /// Whether the link carries frames, and parity frames where frames are lost.
    pub(crate) parity: bool,
    /// Of the link, in Mbit/s.
    pub(crate) rate: f64,
    /// Of each node on it.
    pub(crate) queue_packets: u32,
    pub(crate) loss: f64,
    /// Between the start of some clients and the next.
    pub(crate) stagger: Duration,
    /// Clients that start together.
    pub(crate) together: usize,
    /// How many times as long as a packet takes on the link the first client's processor takes for each.
    pub(crate) slowness: u64,
    /// What every packet, heard or sent, costs every node.
    pub(crate) service: Duration,
}

/// One client, a link without losses, and nodes whose work takes no time.
pub(crate) const ALONE: Setting = Setting {
    seed: 7,
    items: ITEMS,
    clients: 1,
    sharing: Some(SharingConfig::LOCAL),
    parity: false,
    rate: 100.0,
    queue_packets: 1000,
    loss: 0.0,
    stagger: Duration::ZERO,
    together: 1,
    slowness: 0,
    service: Duration::ZERO,
};

/// What came of it.
pub(crate) struct Run {
    /// What each client took from its own start.
    pub(crate) took: Vec<Duration>,
    /// Bytes that crossed the shared link, over those of the object.
    pub(crate) crossings: f64,
}

impl Run {
    /// What the slowest client took.
    pub(crate) fn longest(&self) -> Duration {
        self.took.iter().copied().max().unwrap_or_default()
    }
}

/// A server, a node in front of it, and clients on one link.
pub(crate) fn run(setting: &Setting) -> Result<Run, Box<dyn Error>> {
    let mut network = Network::new(setting.seed);
    network.engines(|config| {
        config.content_store.max_bytes = 256 << 20;
        config.content_store.max_entries = 1 << 20;
    });
    let server = network.add_node()?;
    let top = network.add_node()?;
    let clients = network.add_nodes(setting.clients)?;
    network.connect(server, top, &LinkConfig::ideal().mbps(1000.0).millis(1))?;
    let lan = LinkConfig {
        face: FaceConfig { sharing: setting.sharing, ..FaceConfig::remote() },
        ..LinkConfig::ideal()
            .mbps(setting.rate)
            .queue(Queue::packets(setting.queue_packets))
            .loss(setting.loss)
    };
    let parity = Some(ParityConfig::default());
    let framing = Config { parity, congestion_marking: None, ..Config::default() };
    let framing = setting.parity.then(|| framing.into());
    let lan = LinkConfig { framing, ..lan };
    // A bystander, so that one client shares the link with somebody, too.
    let bystander = network.add_node()?;
    let members: Vec<NodeId> = [top, bystander].into_iter().chain(clients.iter().copied()).collect();
    let link = network.connect_all(&members, &lan)?;
    network.add_producer(server, "/data", Producer::of_packet_size(PACKET_BYTES))?;
    let mut consumers = Vec::new();
    for (place, &client) in clients.iter().enumerate() {
        let start_at = setting.stagger * (place / setting.together) as u64;
        let consumer = TransferConsumer::new("/data", flow::TransferConfig::default())?;
        let consumer = consumer.items(setting.items).start_at(start_at);
        consumers.push((network.add_application(client, consumer)?, Instant::ZERO + start_at));
    }
    if setting.service > Duration::ZERO {
        for node in [server, top].into_iter().chain(clients.iter().copied()) {
            network.set_processor(node, ProcessorConfig::uniform(setting.service))?;
        }
    }
    if setting.slowness > 0 {
        let data_time = PACKET_TIME * setting.slowness;
        let interest_time = Duration::from_micros(1);
        let slow = ProcessorConfig { interest_time, data_time, ..ProcessorConfig::uniform(interest_time) };
        network.set_processor(clients[0], slow)?;
    }
    network.route_shortest_paths()?;
    let is_done = |network: &Network, id: AppId| {
        network.application::<TransferConsumer>(id).is_some_and(|app| app.completed_at().is_some())
    };
    for _ in 0..120 {
        network.run_for(Duration::from_secs(1))?;
        if consumers.iter().all(|(id, _)| is_done(&network, *id)) {
            break;
        }
    }
    let took = |(id, start): &(AppId, Instant)| {
        let end = network.application::<TransferConsumer>(*id).and_then(|app| app.completed_at());
        end.map_or(Duration::MAX, |end| end.saturating_since(*start))
    };
    let took = consumers.iter().map(took).collect();
    let bytes: u64 = network.link_counters(link)?.iter().map(|counters| counters.bytes).sum();
    Ok(Run { took, crossings: bytes as f64 / (setting.items as f64 * PACKET_BYTES as f64) })
}
