//! Many nodes on one link want the same object: how often it crosses the link, and how long they take.

use std::error::Error;

use cairn_sim::{AppId, LinkConfig, Network, NodeId, Producer, Queue, TransferConsumer};
use engine::{FaceConfig, SharingConfig};
use packet::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

/// Packets of the object, and bytes of each.
const ITEMS: u64 = 10_000;
const PACKET_BYTES: usize = 1250;

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
    for &client in clients.iter().take(3) {
        let face = network.face_towards(client, top)?;
        if let Some(engine) = network.engine(client) {
            println!("{:?} {:?}", engine.sharing_counters(face), engine.counters().cache_hits);
        }
    }
    Ok(Run { took, crossings: bytes as f64 / (ITEMS as f64 * PACKET_BYTES as f64) })
}

#[test]
fn explore() -> Outcome {
    let clients: usize = std::env::var("CLIENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(40);
    let one = run(&ALONE)?;
    println!("one {:?} {:.3}", one.longest(), one.crossings);
    for (name, setting) in [
        ("no sharing", Setting { clients, sharing: None, ..ALONE }),
        ("together", Setting { clients, ..ALONE }),
        ("late", Setting { clients, stagger: Duration::from_millis(25), ..ALONE }),
        ("one loss 0.1", Setting { loss: 0.001, ..ALONE }),
        ("one loss 1", Setting { loss: 0.01, ..ALONE }),
        ("loss 0.1", Setting { clients, loss: 0.001, ..ALONE }),
        ("loss 1", Setting { clients, loss: 0.01, ..ALONE }),
    ] {
        let result = run(&setting)?;
        let mut took = result.took.clone();
        took.sort();
        println!(
            "{name}: first {:?} longest {:?} crossings {:.3}",
            took[0],
            result.longest(),
            result.crossings
        );
    }
    Ok(())
}
