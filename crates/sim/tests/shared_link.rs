//! Many nodes on one link want the same object: how often it crosses the link, and how long they take.

use std::error::Error;

use cairn_sim::{AppId, LinkConfig, Network, NodeId, Producer, Queue, TransferConsumer};
use engine::{FaceConfig, SharingConfig};
use packet::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

/// Packets of the object, and bytes of each.
const ITEMS: u64 = 4_000;
const PACKET_BYTES: usize = 1250;

/// Until one of those who wait has been chosen by chance.
const ELECTION: Duration = Duration::from_millis(60);

#[derive(Clone, Copy)]
struct Setting {
    clients: usize,
    sharing: Option<SharingConfig>,
    loss: f64,
    /// Between the start of one client and the next.
    stagger: Duration,
}

const ALONE: Setting =
    Setting { clients: 1, sharing: Some(SharingConfig::LOCAL), loss: 0.0, stagger: Duration::ZERO };

struct Run {
    /// What each client took from its own start.
    took: Vec<Duration>,
    /// Bytes that crossed the shared link, over those of the object.
    crossings: f64,
}

impl Run {
    fn longest(&self) -> Duration {
        self.took.iter().copied().max().unwrap_or_default()
    }
}

/// A server, a node in front of it, and clients on one link of 100 Mbit/s.
fn run(setting: &Setting) -> Result<Run, Box<dyn Error>> {
    let mut network = Network::new(7);
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
        ..LinkConfig::ideal().mbps(100.0).queue(Queue::packets(1000)).loss(setting.loss)
    };
    // A bystander, so that one client shares the link with somebody, too.
    let bystander = network.add_node()?;
    let members: Vec<NodeId> = [top, bystander].into_iter().chain(clients.iter().copied()).collect();
    let link = network.connect_all(&members, &lan)?;
    network.add_producer(server, "/data", Producer::of_packet_size(PACKET_BYTES))?;
    let mut consumers = Vec::new();
    for (place, &client) in clients.iter().enumerate() {
        let start_at = setting.stagger * place as u64;
        let consumer = TransferConsumer::new("/data", flow::TransferConfig::default())?;
        let consumer = consumer.items(ITEMS).start_at(start_at);
        consumers.push((network.add_application(client, consumer)?, Instant::ZERO + start_at));
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
    Ok(Run { took, crossings: bytes as f64 / (ITEMS as f64 * PACKET_BYTES as f64) })
}

#[test]
fn forty_nodes_that_start_together_take_little_longer_than_one() -> Outcome {
    let (one, forty) = (run(&ALONE)?, run(&Setting { clients: 40, ..ALONE })?);
    assert!(forty.longest() <= one.longest() * 11 / 10 + ELECTION, "{:?} {:?}", forty.took, one.took);
    assert!(forty.crossings < 1.1, "{}", forty.crossings);
    Ok(())
}

#[test]
fn without_sharing_every_node_asks_for_everything() -> Outcome {
    let (alone, forty) = (run(&ALONE)?, run(&Setting { clients: 40, sharing: None, ..ALONE })?);
    assert!(forty.crossings > alone.crossings + 0.5, "{}", forty.crossings);
    Ok(())
}

#[test]
fn latecomers_take_part_where_the_others_are_and_fill_the_rest_afterwards() -> Outcome {
    let one = run(&ALONE)?;
    let setting = Setting { clients: 40, stagger: one.longest() / 40, ..ALONE };
    let late = run(&setting)?;
    assert!(late.longest() <= one.longest() * 11 / 10 + ELECTION, "{:?} {:?}", late.took, one.took);
    assert!(late.crossings < 2.2, "{}", late.crossings);
    // Each for itself they would be several times as many.
    let apart = run(&Setting { sharing: None, ..setting })?;
    assert!(apart.crossings > 2.0 * late.crossings, "{} {}", apart.crossings, late.crossings);
    Ok(())
}

#[test]
fn what_each_of_forty_misses_is_repaired_without_sending_everything_again() -> Outcome {
    let lossy = Setting { loss: 0.01, ..ALONE };
    let (one, forty) = (run(&lossy)?, run(&Setting { clients: 40, ..lossy })?);
    assert!(forty.longest() <= one.longest() * 13 / 10, "{:?} {:?}", forty.took, one.took);
    // That at least one of forty misses a packet has a probability of a third.
    assert!(forty.crossings < 1.6, "{}", forty.crossings);
    Ok(())
}
