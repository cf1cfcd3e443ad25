//! Applications speak what the face speaks that they are behind, and links carry nothing else.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use cairn_sim::{
    AppId, Application, Consumer, Context, FileFetcher, Flooder, FlooderReport, LinkConfig, LinkDropReason,
    LinkId, Network, NodeId, Producer, Publisher, Queue, TransferConsumer, VerifiedFetcher, WorkloadConsumer,
};
use engine::FaceConfig;
use flow::verify::PublisherVerifier;
use flow::{FetchConfig, PublicationConfig, SegmentSize};
use link::{v1, v2};
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Data, Dialect, LinkHeader, UnixTime};
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey, PublicKey, Signer};

fn local(dialect: Dialect) -> FaceConfig {
    FaceConfig { dialect, ..FaceConfig::local() }
}

/// Asking node, router, and a producer of Data of 1,250 bytes at the end.
fn chain(dialect: Dialect) -> (Network, Vec<NodeId>) {
    let mut network = Network::new(1);
    let mut link = LinkConfig::ideal().mbps(100.0).millis(1);
    link.face.dialect = dialect;
    let nodes = network.chain(3, &link).unwrap();
    let prefix = "/data".parse().unwrap();
    let producer = Producer::of_packet_size(1250).prefix(prefix);
    network.add_application_with(nodes[2], producer, local(dialect)).unwrap();
    network.route_shortest_paths().unwrap();
    (network, nodes)
}

#[test]
fn a_consumer_gets_the_same_numbers_in_either_dialect() {
    for dialect in Dialect::ALL {
        let (mut network, nodes) = chain(dialect);
        let asks = Consumer::window("/data", 10).unwrap().limit(300);
        let consumer = network.add_application_with(nodes[0], asks, local(dialect)).unwrap();
        assert!(network.run_until_quiet(Duration::from_secs(60)).unwrap());
        let report = network.consumer(consumer).unwrap();
        let bytes = report.packet_bytes.abs_diff(300 * 1250);
        assert_eq!((report.asked, report.received, report.interests), (300, 300, 300), "{dialect}");
        assert!(bytes <= 300, "{dialect}: {bytes}");
    }
}

#[test]
fn workloads_and_transfers_run_over_ccnx() {
    let (mut network, nodes) = chain(Dialect::Ccnx);
    let spec = "sequential/rate~50".parse().unwrap();
    let asks = WorkloadConsumer::new("/data", &spec).unwrap().between(Duration::ZERO, Duration::from_secs(2));
    let workload = network.add_application_with(nodes[0], asks.items(1000), local(Dialect::Ccnx)).unwrap();
    let asks = TransferConsumer::new("/data", flow::TransferConfig::default()).unwrap().items(500);
    let transfer = network.add_application_with(nodes[0], asks, local(Dialect::Ccnx)).unwrap();
    network.run_for(Duration::from_secs(20)).unwrap();
    let report = network.application::<WorkloadConsumer>(workload).unwrap().report();
    assert_eq!((report.asked, report.received, report.failed), (100, 100, 0));
    let transfer = network.application::<TransferConsumer>(transfer).unwrap();
    assert!(transfer.completed_at().is_some(), "{:?}", transfer.transfer());
}

#[test]
fn a_flood_of_ccnx_reaches_its_victim() {
    let (mut network, nodes) = chain(Dialect::Ccnx);
    let flood = Flooder::new("/data", 1000.0).unwrap().between(Duration::ZERO, Duration::from_secs(1));
    let flooder = network.add_application_with(nodes[0], flood, local(Dialect::Ccnx)).unwrap();
    network.run_for(Duration::from_secs(3)).unwrap();
    let FlooderReport { sent, received: answered, .. } =
        network.application::<Flooder>(flooder).unwrap().report();
    assert_eq!((sent, answered), (1000, 1000));
}

/// A network in which the last node publishes a file, and what it publishes.
fn published(dialect: Dialect, signer: &CcnxSigner) -> (Network, Vec<NodeId>, AppId, Vec<u8>) {
    let content: Vec<u8> = (0..100_000u32).map(|number| ((number * 7) >> 3) as u8).collect();
    let mut network = Network::new(1);
    let mut link = LinkConfig::ideal().mbps(10.0).millis(10).queue(Queue::packets(20)).loss(0.02);
    link.face.dialect = dialect;
    let nodes = network.chain(3, &link).unwrap();
    let mut config = PublicationConfig::new("/lab/file".parse().unwrap(), 1, 0, Signer::digest());
    config.segment_size = SegmentSize::Content(2000);
    let publisher = Publisher::new(config, content.clone()).unwrap();
    let publisher = publisher.ccnx_signer(signer.clone(), UnixTime::from_secs(1_700_000_000)).unwrap();
    let publisher = network.add_application_with(nodes[2], publisher, local(dialect)).unwrap();
    network.route_shortest_paths().unwrap();
    (network, nodes, publisher, content)
}

#[test]
fn a_file_arrives_whole_over_a_bad_link_in_the_dialect_of_the_face_that_it_is_fetched_by() {
    let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
    for dialect in Dialect::ALL {
        let (mut network, nodes, publisher, content) = published(dialect, &signer);
        let fetch = FileFetcher::new("/lab/file", FetchConfig::default()).unwrap().keep_content();
        let fetch = network.add_application_with(nodes[0], fetch, local(dialect)).unwrap();
        network.run_for(Duration::from_secs(60)).unwrap();
        let fetch: &FileFetcher = network.application(fetch).unwrap();
        assert!(fetch.completed_at().is_some(), "{dialect}: {:?}", fetch.fetcher());
        assert_eq!(fetch.content(), content, "{dialect}");
        let publisher: &Publisher = network.application(publisher).unwrap();
        assert!(publisher.segments_sent() >= 50, "{dialect}");
    }
}

#[test]
fn who_verifies_a_file_of_ccnx_believes_its_publisher_and_refuses_another() {
    let [right, other] = [(); 2].map(|()| PrivateKey::generate(KeyKind::Rsa).unwrap());
    let anchors = [&right, &other].map(|key| key.public_key().unwrap());
    let signer = CcnxSigner::new(right).unwrap();
    let fetched = |anchor: &PublicKey| {
        let (mut network, nodes, _, content) = published(Dialect::Ccnx, &signer);
        let verifier = Box::new(PublisherVerifier::new([anchor.clone()], 1));
        let fetch = VerifiedFetcher::new("/lab/file", FetchConfig::default(), verifier).unwrap();
        let fetch = network.add_application_with(nodes[0], fetch, local(Dialect::Ccnx)).unwrap();
        network.run_for(Duration::from_secs(60)).unwrap();
        let fetch: &VerifiedFetcher = network.application(fetch).unwrap();
        (fetch.outcome().map(|outcome| outcome.is_ok()), fetch.content_bytes(), content.len() as u64)
    };
    let (outcome, bytes, all) = fetched(&anchors[0]);
    assert_eq!((outcome, bytes), (Some(true), all));
    let (outcome, bytes, _) = fetched(&anchors[1]);
    assert_eq!((outcome, bytes), (Some(false), 0));
}

/// Sends one Interest of NDN, whatever its face speaks.
struct Stubborn(u64);

impl Application for Stubborn {
    fn start(&mut self, context: &mut Context<'_>) {
        let interest = InterestBuilder::new("/data/1".parse().unwrap()).nonce(1).build().unwrap();
        context.send_interest(interest);
    }

    fn handle_data(&mut self, _: &mut Context<'_>, _: &Data, _: &LinkHeader) {
        self.0 += 1;
    }
}

#[test]
fn a_link_of_frames_drops_a_packet_that_is_not_of_its_dialect_and_counts_it() {
    let carried = |link: LinkConfig| {
        let mut network = Network::new(1);
        // A host has no engine, which would not send such a packet.
        let (host, node) = (network.add_host(), network.add_node().unwrap());
        network.connect(host, node, &link).unwrap();
        network.add_application(host, Stubborn(0)).unwrap();
        network.run_for(Duration::from_secs(1)).unwrap();
        let [there, _] = network.link_counters(LinkId(0)).unwrap()[..] else { panic!("two directions") };
        (there.packets, there.dropped(LinkDropReason::LinkService))
    };
    assert_eq!(carried(LinkConfig::ideal().framed(v2::Config::default())), (1, 0));
    assert_eq!(carried(LinkConfig::ideal().framed(v1::Config::default())), (0, 1));
}
