//! Explicit rates end to end: routers compute what a link has to give, Data carries it, consumers ask just so
//! fast.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_sim::{AppId, LinkConfig, Network, Producer, Queue, SimError, TransferConsumer};
use engine::{DropReason, RateMethod};
use flow::TransferConfig;
use packet::time::Duration;

type Outcome = Result<(), SimError>;

const METHODS: [RateMethod; 2] = [RateMethod::Hobhis, RateMethod::Mircc];

/// Flows over one link of 10 Mbps between links that are ten times as fast; 60 ms there and back, room for
/// 100 Data.
struct Flows {
    network: Network,
    consumers: Vec<AppId>,
    middle: cairn_sim::LinkId,
}

impl Flows {
    /// The consumer of each pair starts `apart` after the one before.
    fn new(method: RateMethod, pairs: usize, apart: Duration) -> Result<Self, SimError> {
        Flows::with_items(method, &vec![u64::MAX; pairs], apart)
    }

    /// Consumers that want so many items each.
    fn with_items(method: RateMethod, items: &[u64], apart: Duration) -> Result<Self, SimError> {
        let mut network = Network::new(5);
        let middle =
            LinkConfig::ideal().mbps(10.0).millis(10).queue(Queue::packets(100)).rate_control(method, 50);
        let edge = LinkConfig { rate_bits_per_second: Some(100_000_000), ..middle.clone() };
        let dumbbell = network.dumbbell(items.len(), &edge, &middle)?;
        let mut consumers = Vec::new();
        for (pair, &items) in items.iter().enumerate() {
            let prefix = format!("/flow/{pair}");
            network.add_producer(dumbbell.right[pair], prefix.as_str(), Producer::of_packet_size(1250))?;
            let controller = format!("{}/rate~50", method.as_str()).parse().unwrap();
            let config = TransferConfig { controller, max_attempts: u32::MAX, ..TransferConfig::default() };
            let consumer = TransferConsumer::new(prefix.as_str(), config)?.items(items);
            let consumer = consumer.start_at(apart * pair as u64);
            consumers.push(network.add_application(dumbbell.left[pair], consumer)?);
        }
        network.route_shortest_paths()?;
        let middle = dumbbell.bottleneck;
        Ok(Flows { network, consumers, middle })
    }

    /// Data a second that each got in the next so many seconds.
    fn shares(&mut self, seconds: u64) -> Result<Vec<f64>, SimError> {
        let received = |flows: &Flows| -> Vec<u64> {
            let transfers = flows.consumers.iter().filter_map(|&app| flows.network.application(app));
            transfers.map(|c: &TransferConsumer| c.transfer().map_or(0, |t| t.counters().data)).collect()
        };
        let before = received(self);
        self.network.run_for(Duration::from_secs(seconds))?;
        let after = received(self);
        Ok(after.iter().zip(before).map(|(after, before)| (after - before) as f64 / seconds as f64).collect())
    }
}

/// Jain's index: 1 if all are equal.
fn fairness(shares: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) = shares.iter().fold((0.0, 0.0), |(a, b), s| (a + s, b + s * s));
    sum * sum / (shares.len() as f64 * squares)
}

/// Data of 1250 bytes under a link header of 16 that the link carries.
const CARRIED: f64 = 10e6 / 8.0 / 1266.0;

/// What a method gives out of that.
fn given_out(method: RateMethod) -> f64 {
    match method {
        RateMethod::Hobhis => CARRIED,
        RateMethod::Mircc => 0.95 * CARRIED,
    }
}

#[test]
fn one_flow_gets_all_that_there_is_to_give_within_two_seconds() -> Outcome {
    for method in METHODS {
        let mut flows = Flows::new(method, 1, Duration::ZERO)?;
        flows.shares(2)?;
        let share = flows.shares(5)?[0];
        assert!((share / given_out(method) - 1.0).abs() < 0.01, "{method:?}: {share}");
    }
    Ok(())
}

#[test]
fn two_flows_share_evenly_soon_after_the_second_has_come() -> Outcome {
    for method in METHODS {
        let mut flows = Flows::new(method, 2, Duration::from_secs(3))?;
        let alone = flows.shares(3)?;
        assert!(alone[0] > 0.85 * given_out(method) && alone[1] == 0.0, "{method:?}: {alone:?}");
        flows.shares(2)?;
        let shares = flows.shares(3)?;
        assert!(fairness(&shares) > 0.999, "{method:?}: {shares:?}");
        let sum: f64 = shares.iter().sum();
        assert!((sum / given_out(method) - 1.0).abs() < 0.06, "{method:?}: {sum}");
    }
    Ok(())
}

#[test]
fn ten_flows_share_evenly_and_no_data_is_lost() -> Outcome {
    for method in METHODS {
        let mut flows = Flows::new(method, 10, Duration::from_millis(300))?;
        flows.shares(8)?;
        let shares = flows.shares(5)?;
        assert!(fairness(&shares) > 0.999, "{method:?}: {shares:?}");
        let sum: f64 = shares.iter().sum();
        assert!((sum / given_out(method) - 1.0).abs() < 0.01, "{method:?}: {sum}");
        let middle = flows.network.link_counters(flows.middle)?;
        assert!(middle.iter().all(|direction| direction.drops.total() == 0), "{method:?}");
    }
    Ok(())
}

#[test]
fn who_leaves_is_not_counted_for_long() -> Outcome {
    for method in METHODS {
        let mut flows = Flows::with_items(method, &[u64::MAX, 1500], Duration::ZERO)?;
        flows.shares(5)?;
        let shares = flows.shares(3)?;
        assert_eq!(shares[1], 0.0, "{method:?}");
        let share = shares[0];
        assert!((share / given_out(method) - 1.0).abs() < 0.02, "{method:?}: {share}");
    }
    Ok(())
}

#[test]
fn a_consumer_that_overdoes_it_is_shaped_and_what_does_not_fit_comes_back() -> Outcome {
    let link = LinkConfig::ideal().mbps(10.0).millis(10).queue(Queue::packets(100));
    let mut network = Network::new(1);
    let nodes = network.chain(3, &link.rate_control(RateMethod::Hobhis, 50))?;
    network.add_producer(nodes[2], "/data", Producer::of_packet_size(1250))?;
    let asks = cairn_sim::Consumer::constant_rate("/data", 1300.0)?.attempts(1).limit(3900);
    let consumer = network.add_application(nodes[0], asks)?;
    network.route_shortest_paths()?;
    network.run_for(Duration::from_secs(4))?;
    let report = network.consumer(consumer).copied().unwrap_or_default();
    let refused: u64 = nodes
        .iter()
        .filter_map(|&node| network.engine(node))
        .map(|engine| engine.counters().drops.get(DropReason::ShaperFull))
        .sum();
    assert_eq!(report.nacks, refused);
    // Nacks take some of the link, too.
    let carried = 3.0 * CARRIED;
    let received = report.received as f64;
    assert!((carried * 0.97..carried + 200.0).contains(&received), "{report:?}");
    assert_eq!(report.received + report.nacks, 3900, "{report:?}");
    for link in network.links() {
        let counters = network.link_counters(link)?;
        assert!(counters.iter().all(|direction| direction.drops.total() == 0), "{counters:?}");
    }
    Ok(())
}

/// Consumer, a router that knows nothing of rates and a link of real frames, a router that computes them,
/// producer.
#[test]
fn a_rate_passes_routers_and_links_that_have_nothing_to_say_about_it() -> Outcome {
    let mut network = Network::new(1);
    let nodes = network.add_nodes(4)?;
    let plain = LinkConfig::ideal().mbps(100.0).millis(5);
    let framed =
        plain.clone().framed(link::v2::Config { transport_mtu_bytes: Some(500), ..Default::default() });
    let slow = LinkConfig::ideal().mbps(1.0).millis(5).rate_control(RateMethod::Hobhis, 50);
    network.connect(nodes[0], nodes[1], &framed)?;
    network.connect(nodes[1], nodes[2], &slow)?;
    network.connect(nodes[2], nodes[3], &plain)?;
    network.add_producer(nodes[3], "/data", Producer::of_packet_size(1250))?;
    let controller = "hobhis/rate~5".parse().unwrap();
    let config = TransferConfig { controller, ..TransferConfig::default() };
    let consumer = network.add_application(nodes[0], TransferConsumer::new("/data", config)?)?;
    network.route_shortest_paths()?;
    network.run_for(Duration::from_secs(20))?;
    let transfer = network.application::<TransferConsumer>(consumer).and_then(TransferConsumer::transfer);
    let rate = transfer.map_or(0.0, |transfer| transfer.allowance().rate);
    let expected = 1e6 / 8.0 / 1266.0;
    assert!((rate / expected - 1.0).abs() < 0.02, "{rate} and {expected}");
    Ok(())
}
