//! What a network does, checked against what can be computed by hand.

use cairn_sim::{
    Clock, CoDel, Consumer, Flooder, LinkConfig, LinkDropReason, Network, ProcessorConfig, Producer, Queue,
    SimError,
};
use packet::time::{Duration, Instant};

type Outcome = Result<(), SimError>;

/// Consumer, router, producer.
fn chain(link: &LinkConfig, consumer: Consumer) -> Result<(Network, cairn_sim::AppId), SimError> {
    let mut network = Network::new(1);
    let nodes = network.chain(3, link)?;
    network.add_producer(nodes[2], "/data", Producer::of_packet_size(1250))?;
    let consumer = network.add_application(nodes[0], consumer)?;
    network.route_shortest_paths()?;
    Ok((network, consumer))
}

#[test]
fn an_answer_takes_two_ways_and_the_time_to_send_it() -> Outcome {
    let link = LinkConfig::ideal().mbps(10.0).millis(50);
    let (mut network, consumer) = chain(&link, Consumer::window("/data", 1)?.limit(1))?;
    network.run_for(Duration::from_secs(1))?;
    let report = network.consumer(consumer).copied().unwrap_or_default();
    // Data take 1 ms a link; the Interest of 25 bytes takes 20 us.
    let interest_bytes = network.link_counters(cairn_sim::LinkId(0))?[0].bytes;
    let expected = Duration::from_millis(202) + Duration::from_nanos(2 * interest_bytes * 800);
    assert_eq!((report.received, report.delay_max), (1, expected));
    assert_eq!(network.hops(), 4);
    assert_eq!(network.packets_under_way(), 0);
    Ok(())
}

#[test]
fn a_window_fills_a_link_and_no_more() -> Outcome {
    let link = LinkConfig::ideal().mbps(10.0).millis(5);
    let (mut network, consumer) = chain(&link, Consumer::window("/data", 500)?)?;
    network.run_for(Duration::from_secs(10))?;
    let received = network.consumer(consumer).map_or(0, |report| report.received);
    assert!((9_970..=10_000).contains(&received), "{received}");
    Ok(())
}

#[test]
fn what_a_full_queue_drops_is_counted_and_asked_for_again() -> Outcome {
    let fast = LinkConfig::ideal().mbps(100.0);
    let slow = LinkConfig::ideal().mbps(10.0).queue(Queue::packets(10));
    let mut network = Network::new(1);
    let nodes = network.add_nodes(3)?;
    network.connect(nodes[0], nodes[1], &slow)?;
    network.connect(nodes[1], nodes[2], &fast)?;
    network.add_producer(nodes[2], "/data", Producer::of_packet_size(1250))?;
    let asks = Consumer::window("/data", 40)?.limit(200).lifetime(Duration::from_millis(500));
    let consumer = network.add_application(nodes[0], asks)?;
    network.route_shortest_paths()?;
    assert!(network.run_until_quiet(Duration::from_secs(60))?);
    let report = network.consumer(consumer).copied().unwrap_or_default();
    // Forty Interests at once are too many for the queue, too.
    let counters = network.link_counters(cairn_sim::LinkId(0))?;
    let drops = counters.iter().map(|counters| counters.dropped(LinkDropReason::SendQueueFull)).sum::<u64>();
    assert_eq!(report.received, 200);
    assert!(drops > 0 && report.timeouts == drops, "{drops} {report:?}");
    Ok(())
}

#[test]
fn lost_packets_are_as_many_as_the_link_loses() -> Outcome {
    let link = LinkConfig::ideal().loss(0.1);
    let asks = Consumer::constant_rate("/data", 1000.0)?.limit(20_000).attempts(1);
    let (mut network, consumer) = chain(&link, asks)?;
    assert!(network.run_until_quiet(Duration::from_secs(100))?);
    let report = network.consumer(consumer).copied().unwrap_or_default();
    // Four crossings, each with a loss of a tenth: 0.9^4 = 0.6561 arrive; four deviations are 270.
    assert!((13_122 - 270..=13_122 + 270).contains(&report.received), "{report:?}");
    assert_eq!(report.received + report.failed, 20_000);
    Ok(())
}

#[test]
fn a_shared_link_is_heard_by_all_and_sends_one_packet_at_a_time() -> Outcome {
    let mut network = Network::new(1);
    let nodes = network.add_nodes(4)?;
    let link = network.connect_all(&nodes, &LinkConfig::ideal().mbps(10.0))?;
    network.add_producer(nodes[3], "/data", Producer::of_packet_size(1250))?;
    network.route_shortest_paths()?;
    let mut consumers = Vec::new();
    for &node in &nodes[..3] {
        let asks = Consumer::constant_rate("/data", 100.0)?.limit(100);
        consumers.push(network.add_application(node, asks)?);
    }
    network.run_for(Duration::from_secs(10))?;
    for consumer in consumers {
        assert_eq!(network.consumer(consumer).map(|report| report.received), Some(100));
    }
    // All three ask at once; the producer answers them together, and each hears the answer.
    let counters = network.link_counters(link)?;
    assert_eq!(counters.len(), 1);
    assert!((200..=700).contains(&counters[0].packets), "{counters:?}");
    Ok(())
}

#[test]
fn a_link_with_frames_repairs_what_it_loses() -> Outcome {
    let service = link::v2::Config {
        transport_mtu_bytes: Some(500),
        reliability: Some(link::v2::ReliabilityConfig::default()),
        ..link::v2::Config::default()
    };
    let lossy = LinkConfig::ideal().mbps(10.0).millis(5).loss(0.1).framed(service);
    let asks = Consumer::constant_rate("/data", 50.0)?.limit(500).attempts(1);
    let (mut network, consumer) = chain(&lossy, asks)?;
    network.capture(cairn_sim::LinkId(0), 10_000)?;
    assert!(network.run_until_quiet(Duration::from_secs(100))?);
    let report = network.consumer(consumer).copied().unwrap_or_default();
    // A frame is lost for good when all four copies are: one in ten thousand.
    assert!(report.received >= 495, "{report:?}");
    assert!(report.mean_delay() > Duration::from_millis(20), "{report:?}");
    let frames = network.trace().capture(cairn_sim::LinkId(0)).map_or(0, |capture| capture.frames().count());
    assert!(frames > 2_000, "each Data takes three frames and acknowledgements: {frames}");
    Ok(())
}

#[test]
fn a_slow_processor_delays_and_drops() -> Outcome {
    let (mut network, consumer) = chain(&LinkConfig::ideal(), Consumer::window("/data", 1)?.limit(1))?;
    let slow = ProcessorConfig::uniform(Duration::from_millis(3));
    network.set_processor(cairn_sim::NodeId(1), slow.clone())?;
    network.run_for(Duration::from_secs(1))?;
    assert_eq!(network.consumer(consumer).map(|r| r.delay_max), Some(Duration::from_millis(6)));

    // 100 packets a second, and room for ten: of 1,000 Interests at once eleven get through at first.
    let asks = Consumer::batches("/data", [(Duration::ZERO, 1000)])?.attempts(1);
    let (mut network, consumer) = chain(&LinkConfig::ideal(), asks)?;
    network.set_processor(cairn_sim::NodeId(1), ProcessorConfig { max_waiting: 10, ..slow })?;
    network.run_for(Duration::from_secs(10))?;
    assert_eq!(network.consumer(consumer).map(|r| r.received), Some(10));
    assert_eq!(network.processor_use(cairn_sim::NodeId(1)).map(|(dropped, _)| dropped), Some(990));
    Ok(())
}

#[test]
fn a_coarse_clock_sends_in_bursts_at_its_ticks() -> Outcome {
    let asks = Consumer::constant_rate("/data", 1000.0)?.limit(1000);
    let (mut network, _) = chain(&LinkConfig::ideal(), asks)?;
    let tick = Duration::from_millis(100);
    network.set_clock(cairn_sim::NodeId(0), Clock { tick, ..Clock::PERFECT })?;
    network.record(cairn_sim::TraceConfig { packets: true, ..cairn_sim::TraceConfig::default() });
    network.run_for(Duration::from_secs(2))?;
    let rows = network.trace().packets.rows();
    let interests: Vec<Instant> = rows
        .iter()
        .filter(|row| row.link.0 == 0 && row.kind == packet::PacketKind::Interest)
        .map(|row| row.time)
        .collect();
    assert_eq!(interests.len(), 1000);
    assert!(interests.iter().all(|time| time.as_nanos() % 100_000_000 == 0));
    let first_tick = interests.iter().filter(|&&time| time == Instant::from_millis(100)).count();
    assert_eq!(first_tick, 100);
    Ok(())
}

#[test]
fn stateful_forwarding_sends_back_what_exceeds_its_rate() -> Outcome {
    let asks = Consumer::batches("/data", [(Duration::ZERO, 80)])?.attempts(1);
    let (mut network, consumer) = chain(&LinkConfig::ideal().millis(10), asks)?;
    for node in network.nodes() {
        network.set_strategy(node, "/", "stateful-forwarding/rate~1000/depth~50")?;
    }
    network.run_for(Duration::from_secs(1))?;
    let report = network.consumer(consumer).copied().unwrap_or_default();
    assert_eq!((report.received, report.nacks, report.failed), (50, 30, 30));
    Ok(())
}

#[test]
fn codel_keeps_the_queue_short_and_marks_reach_the_consumer() -> Outcome {
    let queues = |queue: Queue| -> Result<(Duration, u64, u64), SimError> {
        let mut network = Network::new(1);
        let nodes = network.add_nodes(3)?;
        let slow = LinkConfig::ideal().mbps(10.0).millis(5).queue(queue);
        network.connect(nodes[0], nodes[1], &slow)?;
        network.connect(nodes[1], nodes[2], &LinkConfig::ideal().millis(5))?;
        network.add_producer(nodes[2], "/data", Producer::of_packet_size(1250))?;
        // A tenth more than the link carries.
        let asks = Consumer::constant_rate("/data", 1100.0)?.attempts(1).limit(11_000);
        let consumer = network.add_application(nodes[0], asks)?;
        network.route_shortest_paths()?;
        network.run_for(Duration::from_secs(10))?;
        let report = network.consumer(consumer).copied().unwrap_or_default();
        let dropped = network.link_counters(cairn_sim::LinkId(0))?[1].dropped(LinkDropReason::Codel);
        Ok((report.mean_delay(), dropped, report.marked))
    };
    let (long, _, unmarked) = queues(Queue::UNLIMITED)?;
    let (short, dropped, _) = queues(Queue::codel(10_000))?;
    let marking = CoDel { action: cairn_sim::CoDelAction::Mark, ..CoDel::RFC_8289 };
    let (_, kept, marked) = queues(Queue { codel: Some(marking), ..Queue::UNLIMITED })?;
    let (_, _, by_threshold) = queues(Queue::UNLIMITED.mark_above(50_000))?;
    assert!(long > Duration::from_millis(400) && short < Duration::from_millis(200), "{long} {short}");
    assert!(dropped > 500 && kept == 0 && unmarked == 0, "{dropped}");
    assert!(marked > 500 && by_threshold > 5_000, "{marked} {by_threshold}");
    Ok(())
}

#[test]
fn a_cut_link_loses_what_is_under_way_and_comes_back_with_its_routes() -> Outcome {
    let asks = Consumer::constant_rate("/data", 100.0)?.limit(1000).lifetime(Duration::from_millis(300));
    let (mut network, consumer) = chain(&LinkConfig::ideal().millis(20), asks)?;
    let link = cairn_sim::LinkId(1);
    network.at(Instant::from_secs(2), move |network| network.take_down(link).unwrap_or_default());
    network.at(Instant::from_secs(4), move |network| network.bring_up(link).unwrap_or_default());
    network
        .at(Instant::from_secs(6), move |network| network.restart(cairn_sim::NodeId(1)).unwrap_or_default());
    network.run_for(Duration::from_secs(3))?;
    let at_three = network.consumer(consumer).map_or(0, |report| report.received);
    assert!((190..200).contains(&at_three), "{at_three}");
    assert!(network.run_until_quiet(Duration::from_secs(60))?);
    let report = network.consumer(consumer).copied().unwrap_or_default();
    assert_eq!(report.received, 1000);
    assert!(report.timeouts + report.nacks > 100, "{report:?}");
    assert_eq!(network.packets_under_way(), 0, "what a cut link lost was released");
    Ok(())
}

#[test]
fn hosts_are_applications_at_the_ends_of_links() -> Outcome {
    let mut network = Network::new(1);
    let (asking, answering) = (network.add_host(), network.add_host());
    let routers = network.chain(2, &LinkConfig::ideal().millis(1))?;
    network.connect(asking, routers[0], &LinkConfig::ideal().millis(1))?;
    network.connect(routers[1], answering, &LinkConfig::ideal().millis(1))?;
    network.add_producer(answering, "/data", Producer::new(100))?;
    let consumer = network.add_application(asking, Consumer::window("/data", 10)?.limit(100))?;
    network.route_shortest_paths()?;
    assert!(network.run_until_quiet(Duration::from_secs(10))?);
    let report = network.consumer(consumer).copied().unwrap_or_default();
    assert_eq!((report.received, report.delay_max), (100, Duration::from_millis(6)));
    assert_eq!(network.hops(), 600);
    Ok(())
}

#[test]
fn a_flood_that_nobody_answers_fills_the_table_up_to_its_limit() -> Outcome {
    let mut network = Network::new(1);
    network.engines(|config| config.max_pending = 500);
    let nodes = network.chain(2, &LinkConfig::ideal().millis(5))?;
    // A prefix that is served, with a producer that answers nothing: it is not even an application.
    struct Silent;
    impl cairn_sim::Application for Silent {
        fn prefixes(&self) -> Vec<packet::Name> {
            "/victim".parse().into_iter().collect()
        }
    }
    network.add_application(nodes[1], Silent)?;
    network.route_shortest_paths()?;
    let flood = Flooder::new("/victim", 10_000.0)?.between(Duration::ZERO, Duration::from_secs(1));
    network.add_application(nodes[0], flood)?;
    network.run_for(Duration::from_millis(500))?;
    assert_eq!(network.engine(nodes[0]).map(|engine| engine.table_sizes().pending), Some(500));
    assert!(network.run_until_quiet(Duration::from_secs(100))?);
    for node in nodes {
        assert_eq!(network.engine(node).map(|engine| engine.table_sizes().pending), Some(0));
    }
    Ok(())
}

#[test]
fn mistakes_in_building_are_errors_that_say_what_is_wrong() -> Outcome {
    let mut network = Network::new(1);
    let nodes = network.add_nodes(3)?;
    network.connect(nodes[0], nodes[1], &LinkConfig::ideal())?;
    let text =
        |outcome: Result<(), SimError>| outcome.err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(text(network.add_route(nodes[0], "/a", nodes[2], 1)), "no link joins node 0 to node 2");
    assert!(text(network.add_route(nodes[0], "a", nodes[1], 1)).starts_with("\"a\" is not a name"));
    assert!(text(network.set_strategy(nodes[0], "/", "worst-route")).contains("worst-route"));
    assert!(
        text(network.connect(nodes[0], nodes[0], &LinkConfig::ideal()).map(drop)).contains("two different")
    );
    assert!(text(Consumer::constant_rate("/a", 0.0).map(drop)).contains("the rate is 0"));
    Ok(())
}

#[test]
fn a_file_arrives_whole_over_a_bad_link() -> Result<(), Box<dyn std::error::Error>> {
    let content: Vec<u8> = (0..200_000u32).map(|number| ((number * 7) >> 3) as u8).collect();
    let mut network = Network::new(1);
    let link = LinkConfig::ideal().mbps(10.0).millis(10).queue(Queue::packets(20)).loss(0.02);
    let nodes = network.chain(3, &link)?;
    let config = flow::PublicationConfig::new("/lab/file".parse()?, 1, 0, trust::Signer::digest());
    let publisher = network.add_application(nodes[2], cairn_sim::Publisher::new(config, content.clone())?)?;
    network.route_shortest_paths()?;
    let fetch = cairn_sim::FileFetcher::new("/lab/file", flow::FetchConfig::default())?.keep_content();
    let fetch = network.add_application(nodes[0], fetch)?;
    assert!(network.run_until_quiet(Duration::from_secs(60))?);
    let fetch: &cairn_sim::FileFetcher = network.application(fetch).ok_or("a fetcher")?;
    assert!(fetch.completed_at().is_some(), "{:?}", fetch.fetcher());
    assert_eq!(fetch.content(), content);
    let publisher: &cairn_sim::Publisher = network.application(publisher).ok_or("a publisher")?;
    assert!(publisher.segments_sent() >= 25);
    Ok(())
}
