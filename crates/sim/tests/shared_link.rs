//! Many nodes on one link want the same object: how often it crosses the link, and how long they take.

use std::error::Error;

use cairn_sim::{AppId, LinkConfig, Network, NodeId, ProcessorConfig, Producer, Queue, TransferConsumer};
use engine::{FaceConfig, SharingConfig};
use link::v2::{Config, ParityConfig};
use packet::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

/// Packets of the object, and bytes of each.
const ITEMS: u64 = 4_000;
const PACKET_BYTES: usize = 1250;

/// What a packet takes on the link.
const PACKET_TIME: Duration = Duration::from_micros(100);

/// Until one of those who wait has been chosen by chance.
const ELECTION: Duration = Duration::from_millis(60);

#[derive(Clone, Copy)]
struct Setting {
    seed: u64,
    items: u64,
    clients: usize,
    sharing: Option<SharingConfig>,
    /// Whether the link carries frames, and parity frames where frames are lost.
    parity: bool,
    /// Of the link, in Mbit/s.
    rate: f64,
    /// Of each node on it.
    queue_packets: u32,
    loss: f64,
    /// Between the start of some clients and the next.
    stagger: Duration,
    /// Clients that start together.
    together: usize,
    /// How many times as long as a packet takes on the link the first client's processor takes for each.
    slowness: u64,
    /// What every packet, heard or sent, costs every node.
    service: Duration,
}

const ALONE: Setting = Setting {
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

/// A server, a node in front of it, and clients on one link.
fn run(setting: &Setting) -> Result<Run, Box<dyn Error>> {
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

/// A node that begins to ask has thousands of Interests waiting, as the others have: all at once they would
/// keep every processor busy with hearing them.
#[test]
fn forty_whose_packets_cost_time_take_over_from_each_other_without_asking_twice() -> Outcome {
    let setting = Setting { items: LONG, service: Duration::from_micros(30), ..ALONE };
    let one = run(&setting)?;
    let waves = Setting { clients: 40, together: 10, stagger: one.longest() * 2 / 5, ..setting };
    let late = run(&waves)?;
    // Who starts while the others are half through reads the second half from its own store, which costs it
    // time, too.
    assert!(late.longest() <= one.longest() * 3 / 2, "{:?} {:?}", late.took, one.took);
    assert!(late.crossings < 2.4, "{}", late.crossings);
    let free = Setting { service: Duration::ZERO, ..waves };
    let (one, late) = (run(&Setting { clients: 1, ..free })?, run(&free)?);
    assert!(late.longest() <= one.longest() * 6 / 5, "{:?} {:?}", late.took, one.took);
    Ok(())
}

#[test]
fn what_each_of_forty_misses_is_repaired_without_sending_everything_again() -> Outcome {
    let forty = run(&Setting { clients: 40, loss: 0.01, ..ALONE })?;
    // That at least one of forty misses a packet has a probability of a third.
    assert!(forty.crossings < 1.6, "{}", forty.crossings);
    Ok(())
}

/// Packets of a longer object: the beginning, and a wait here and there, count less.
const LONG: u64 = 20_000;

/// How long the slowest of forty takes, as a part of what one takes without any loss and with the same; in
/// the order of the former.
fn ratios(parity: bool, loss: f64, seeds: u64) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let mut ratios = Vec::new();
    for seed in 1..=seeds {
        let setting = Setting { seed, items: LONG, parity, ..ALONE };
        let clean = run(&setting)?.longest().as_secs_f64();
        let one = run(&Setting { loss, ..setting })?.longest().as_secs_f64();
        let forty = run(&Setting { loss, clients: 40, ..setting })?.longest().as_secs_f64();
        ratios.push((forty / clean, forty / one));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(ratios)
}

#[test]
fn forty_who_miss_a_packet_in_a_thousand_take_little_longer_than_one_who_misses_none() -> Outcome {
    let ratios = ratios(false, 0.001, 3)?;
    assert!(ratios.iter().all(|(clean, same)| *clean <= 1.3 && *same <= 1.3), "{ratios:?}");
    Ok(())
}

#[test]
fn forty_who_miss_a_packet_in_a_hundred_take_less_than_twice_as_long_as_one_who_misses_none() -> Outcome {
    let ratios = ratios(false, 0.01, 1)?;
    assert!(ratios.iter().all(|(clean, same)| *clean <= 1.8 && *same <= 1.5), "{ratios:?}");
    Ok(())
}

#[test]
fn with_parity_forty_who_miss_a_packet_in_a_hundred_take_a_quarter_longer_than_one_at_most() -> Outcome {
    let ratios = ratios(true, 0.01, 2)?;
    assert!(ratios.iter().all(|(_, same)| *same <= 1.25), "{ratios:?}");
    Ok(())
}

#[test]
fn with_parity_most_of_what_single_receivers_miss_is_not_sent_again() -> Outcome {
    let forty = run(&Setting { clients: 40, loss: 0.01, items: LONG, parity: true, ..ALONE })?;
    assert!(forty.crossings < 1.25, "{}", forty.crossings);
    Ok(())
}

#[test]
fn with_parity_not_a_byte_more_crosses_a_link_that_loses_nothing() -> Outcome {
    let [without, with] = [false, true].map(|parity| run(&Setting { clients: 40, parity, ..ALONE }));
    let (without, with) = (without?, with?);
    assert_eq!((without.crossings, &without.took), (with.crossings, &with.took));
    Ok(())
}

#[test]
fn with_parity_forty_who_miss_a_packet_in_a_thousand_take_no_longer_than_without() -> Outcome {
    for seed in 1..=2 {
        let setting = Setting { seed, clients: 40, items: LONG, loss: 0.001, ..ALONE };
        let (without, with) = (run(&setting)?, run(&Setting { parity: true, ..setting })?);
        assert!(with.longest() <= without.longest() * 103 / 100, "{:?} {:?}", with.took, without.took);
    }
    Ok(())
}

/// `cargo test -p cairn-sim --test shared_link -- --ignored --nocapture numbers` prints what parity brings.
#[test]
#[ignore = "prints a table, and checks nothing"]
#[allow(clippy::print_stdout, reason = "that is what it is for")]
fn numbers_of_forty_and_one_by_what_each_loses_with_and_without_parity() -> Outcome {
    let fast = Setting { items: LONG, ..ALONE };
    let slow = Setting { items: 8_000, rate: 10.0, queue_packets: 100, ..ALONE };
    let settings = [(fast, 0.0), (fast, 0.001), (fast, 0.01), (fast, 0.05), (slow, 0.0), (slow, 0.01)];
    for (setting, loss) in settings {
        for (seed, parity) in (1..=3).flat_map(|seed| [(seed, false), (seed, true)]) {
            let setting = Setting { seed, loss, parity, ..setting };
            let (one, forty) = (run(&setting)?, run(&Setting { clients: 40, ..setting })?);
            let [one_took, forty_took] = [&one, &forty].map(|run| run.longest().as_secs_f64());
            let ratio = forty_took / one_took;
            println!(
                "{} Mbit/s, loss {loss}, parity {parity}, seed {seed}: one {one_took:.3} s, {:.3} crossings; \
                 forty {forty_took:.3} s, {:.3} crossings; {ratio:.2}",
                setting.rate, one.crossings, forty.crossings
            );
        }
    }
    Ok(())
}

#[test]
fn one_of_forty_that_is_five_times_slower_does_not_slow_the_others() -> Outcome {
    let all = run(&Setting { items: LONG, clients: 40, ..ALONE })?;
    let slow = run(&Setting { items: LONG, clients: 40, slowness: 5, ..ALONE })?;
    let others = slow.took.iter().skip(1).copied().max().unwrap_or_default();
    assert!(others <= all.longest() * 3 / 2, "{others:?} {:?}", all.longest());
    assert!(slow.longest() < Duration::MAX);
    Ok(())
}
