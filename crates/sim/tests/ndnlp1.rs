//! Links of NDNLP v1: CCNx in frames, acknowledged and sent again by the link.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use cairn_sim::{
    AppId, CheckedConsumer, CheckedProducer, LinkConfig, Network, Outcome, Produce, Request, SimError,
};
use engine::FaceConfig;
use link::v1;
use packet::Dialect;
use packet::time::{Duration, Instant};

// consumer ── a ══ b ── ccnx:/p
fn network(link: &LinkConfig) -> (Network, AppId) {
    let mut network = Network::new(1);
    let nodes = network.add_nodes(2).unwrap();
    network.connect(nodes[0], nodes[1], link).unwrap();
    network.add_route(nodes[0], "/p", nodes[1], 0).unwrap();
    let local = FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::local() };
    let maker =
        Produce { dialect: Dialect::Ccnx, content_bytes: 6000, ..Produce::new("/p".parse().unwrap()) };
    network.add_application_with(nodes[1], CheckedProducer::new(maker), local).unwrap();
    let mut asks = CheckedConsumer::new(Dialect::Ccnx, usize::MAX);
    for number in 0..100 {
        let name = format!("/p/{number}").parse().unwrap();
        let request = Request { lifetime: Duration::from_secs(20), attempts: 1, ..Request::new(name) };
        asks.request(Instant::ZERO, request);
    }
    let consumer = network.add_application_with(nodes[0], asks, local).unwrap();
    network.run_for(Duration::from_secs(60)).unwrap();
    (network, consumer)
}

fn fetched(link: &LinkConfig) -> usize {
    let (network, consumer) = network(link);
    let requests = network.application::<CheckedConsumer>(consumer).unwrap().requests();
    requests.filter(|(_, outcome)| matches!(outcome, Some(Outcome::Fetched(_)))).count()
}

#[test]
fn what_a_link_of_ndnlp_v1_loses_it_sends_again_if_it_is_acknowledged() {
    let link = |acknowledged| {
        let timings = v1::Timings { sent_packets_capacity: 1000, ..v1::Timings::PAPER };
        let config = v1::Config { request_acks: acknowledged, timings, ..Default::default() };
        LinkConfig::ideal().millis(5).loss(0.05).framed(config)
    };
    assert_eq!(fetched(&link(true)), 100);
    // An Interest and five fragments must come through: 0.95^6 is 0.74.
    let alone = fetched(&link(false));
    assert!((60..90).contains(&alone), "{alone}");
}

#[test]
fn three_nodes_do_not_share_a_link_of_ndnlp_v1() {
    let mut network = Network::new(1);
    let nodes = network.add_nodes(3).unwrap();
    let link = LinkConfig::ideal().framed(v1::Config::default());
    assert!(matches!(network.connect_all(&nodes, &link), Err(SimError::TooManyEnds)));
}
