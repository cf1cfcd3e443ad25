//! Small networks, each with a drawing: what several engines promise together.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_sim::{
    AppId, CheckedConsumer, CheckedProducer, Faults, Fetched, LinkConfig, Network, NodeId, Outcome, Produce,
    Request, TraceConfig,
};
use engine::{DropReason, FaceConfig};
use link::v2::{Config as ServiceConfig, ReliabilityConfig};
use packet::ndn::lp::LpPacketView;
use packet::time::{Duration, Instant};
use packet::{Dialect, LinkHeader, NackReason, Name, PacketKind, PitToken};

const SECOND: Duration = Duration::from_secs(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn ideal() -> LinkConfig {
    LinkConfig::ideal().millis(10)
}

/// Frames of at most 1,500 bytes and no reliability.
fn framed() -> LinkConfig {
    LinkConfig::ideal().framed(service())
}

fn service() -> ServiceConfig {
    ServiceConfig { transport_mtu_bytes: Some(1500), ..ServiceConfig::default() }
}

fn reliable() -> LinkConfig {
    let reliability = Some(ReliabilityConfig::default());
    LinkConfig::ideal().framed(ServiceConfig { reliability, ..service() })
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn request(uri: &str) -> Request {
    Request::new(name(uri))
}

fn produce(prefix: &str) -> Produce {
    Produce::new(name(prefix))
}

fn add_producer(network: &mut Network, node: NodeId, produce: &Produce) -> AppId {
    let face = FaceConfig { dialect: produce.dialect, ..FaceConfig::local() };
    network.add_application_with(node, CheckedProducer::new(produce.clone()), face).unwrap()
}

fn nodes<const N: usize>(network: &mut Network) -> [NodeId; N] {
    [(); N].map(|()| network.add_node().unwrap())
}

/// Nodes in a row, routes for `/p` towards the last.
fn chain<const N: usize>(network: &mut Network, link: &LinkConfig) -> [NodeId; N] {
    let nodes = nodes(network);
    for pair in nodes.windows(2) {
        network.connect(pair[0], pair[1], link).unwrap();
        network.add_route(pair[0], "/p", pair[1], 0).unwrap();
    }
    nodes
}

fn add_consumer(network: &mut Network, node: NodeId) -> AppId {
    network.add_application(node, CheckedConsumer::new(Dialect::Ndn, usize::MAX)).unwrap()
}

fn consumer(network: &Network, id: AppId) -> &CheckedConsumer {
    network.application(id).unwrap()
}

/// Lets a consumer ask at a time; gives the number of the request.
fn ask_at(network: &mut Network, id: AppId, at: Instant, request: Request) -> usize {
    let number = network.application_mut::<CheckedConsumer>(id).unwrap().request(at, request);
    network.with_application(id, |_, context| context.wake_after(Duration::ZERO)).unwrap();
    number
}

fn ask(network: &mut Network, id: AppId, request: Request) -> usize {
    let now = network.now();
    ask_at(network, id, now, request)
}

fn outcome(network: &Network, id: AppId, request: usize) -> Option<&Outcome> {
    consumer(network, id).requests().nth(request).unwrap().1
}

fn fetched(network: &Network, id: AppId, request: usize) -> Option<&Fetched> {
    match outcome(network, id, request) {
        Some(Outcome::Fetched(fetched)) => Some(fetched),
        _ => None,
    }
}

/// Interests that reached a producer.
fn asked(network: &Network, id: AppId) -> u64 {
    network.application::<CheckedProducer>(id).unwrap().asked()
}

/// Lets time pass until a consumer is done, which must be within `limit`.
fn run_until_done(network: &mut Network, id: AppId, limit: Duration) {
    network.run_while(limit, |network| !consumer(network, id).is_done()).unwrap();
    assert!(consumer(network, id).is_done());
}

fn drops(network: &Network, node: NodeId, reason: DropReason) -> u64 {
    network.engine(node).unwrap().counters().drops.get(reason)
}

/// Nothing is left anywhere, and nobody's counters contradict each other.
fn assert_at_rest(network: &mut Network) {
    assert!(network.run_until_quiet(Duration::from_secs(60)).unwrap());
    assert_eq!(network.packets_under_way(), 0);
    for node in network.nodes() {
        network.check_conservation(node).unwrap();
        network.check_rest(node).unwrap();
    }
}

// consumer ── a ── b ── c ── d ── e ── /p
#[test]
fn an_interest_travels_a_chain_and_its_data_comes_back_by_the_same_nodes() {
    let mut network = Network::new(1);
    let nodes = chain::<5>(&mut network, &ideal());
    let maker = produce("/p");
    add_producer(&mut network, nodes[4], &maker);
    let consumer = add_consumer(&mut network, nodes[0]);
    let request = ask(&mut network, consumer, request("/p/1"));
    run_until_done(&mut network, consumer, SECOND);
    let fetched = fetched(&network, consumer, request).unwrap();
    assert_eq!(fetched.delay, ms(80));
    assert!(maker.made(&fetched.data));
    for node in nodes {
        let counters = network.engine(node).unwrap().counters();
        assert_eq!((counters.interests_sent, counters.data_sent, counters.satisfied), (1, 1, 1));
    }
    assert_at_rest(&mut network);
}

// consumer ── a ── b ── c ── ccnx:/p
#[test]
fn a_chain_of_ccnx_faces_carries_ccnx() {
    let mut network = Network::new(1);
    let mut link = ideal();
    link.face.dialect = Dialect::Ccnx;
    let nodes = chain::<3>(&mut network, &link);
    let local = FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::local() };
    let maker = Produce { dialect: Dialect::Ccnx, ..produce("/p") };
    add_producer(&mut network, nodes[2], &maker);
    let asks = CheckedConsumer::new(Dialect::Ccnx, usize::MAX);
    let consumer = network.add_application_with(nodes[0], asks, local).unwrap();
    let request = ask(&mut network, consumer, request("/p/1"));
    run_until_done(&mut network, consumer, SECOND);
    let fetched = fetched(&network, consumer, request).expect("an answer");
    assert_eq!(fetched.data.dialect(), Dialect::Ccnx);
    assert!(maker.made(&fetched.data));
    assert_at_rest(&mut network);
}

//               b
//             ╱ │ ╲
// consumer ─ a  │  d ── /p      all but d send to all neighbours that are not a
//             ╲ │ ╱
//               c
#[test]
fn a_flooded_diamond_cuts_its_loops_and_delivers_once() {
    let mut network = Network::new(1);
    let [a, b, c, d] = nodes(&mut network);
    for (from, to) in [(a, b), (a, c), (b, c), (b, d), (c, d)] {
        network.connect(from, to, &ideal()).unwrap();
    }
    for (from, to) in [(a, b), (a, c), (b, c), (b, d), (c, b), (c, d)] {
        network.add_route(from, "/p", to, 0).unwrap();
    }
    for node in [a, b, c] {
        network.set_strategy(node, "/", "multicast").unwrap();
    }
    let producer = add_producer(&mut network, d, &produce("/p"));
    let id = add_consumer(&mut network, a);
    let request = ask(&mut network, id, request("/p/1"));
    assert_at_rest(&mut network);
    assert!(fetched(&network, id, request).is_some());
    assert_eq!(asked(&network, producer), 1);
    assert!(consumer(&network, id).unasked().is_empty());
    let cut = [a, b, c, d].map(|node| drops(&network, node, DropReason::DuplicateNonce));
    assert!(cut[1] >= 1 && cut[2] >= 1, "b and c sent it to each other: {cut:?}");
}

// first ── a ──┬── c ── second
//              │
//              ├── b ── /p, which takes 20 ms
//              └── d
#[test]
fn a_segment_carries_the_data_once_for_all_who_asked_on_it() {
    let mut network = Network::new(1);
    let [a, b, c, d] = nodes(&mut network);
    let segment = network.connect_all(&[a, b, c, d], &ideal()).unwrap();
    for node in [a, c, d] {
        network.add_route(node, "/p", b, 0).unwrap();
    }
    let slow = Produce { reply_delay: ms(20), ..produce("/p") };
    let producer = add_producer(&mut network, b, &slow);
    let (first, second) = (add_consumer(&mut network, a), add_consumer(&mut network, c));
    ask(&mut network, first, request("/p/1"));
    ask_at(&mut network, second, Instant::from_millis(8), request("/p/1"));
    network.record(TraceConfig { packets: true, ..TraceConfig::default() });
    assert_at_rest(&mut network);
    for id in [first, second] {
        assert!(fetched(&network, id, 0).is_some());
    }
    assert_eq!(asked(&network, producer), 1, "the second came to b within the time of suppression");
    let on_segment = |kind| {
        let rows = network.trace().packets.rows().iter();
        rows.filter(|row| row.link == segment && row.kind == kind).count()
    };
    assert_eq!(on_segment(PacketKind::Interest), 2);
    assert_eq!(on_segment(PacketKind::Data), 1);
    assert_eq!(on_segment(PacketKind::Nack), 0, "others may still answer");
    // d heard the Interest, did not put it back on the segment, and heard the Data.
    let counters = network.engine(d).unwrap().counters();
    assert_eq!((counters.interests_sent, counters.data_sent), (0, 0));
}

/// Fetches 200 names through two bad links; gives how many came, and how many Interests it took.
// consumer ── a ~~~ b ~~~ c ── /p
fn fetch_through_loss(link: &LinkConfig, attempts: u32) -> (usize, u32) {
    let mut network = Network::new(7);
    let nodes = chain::<3>(&mut network, link);
    let maker = Produce { content_bytes: 3000, ..produce("/p") };
    add_producer(&mut network, nodes[2], &maker);
    let asks = CheckedConsumer::new(Dialect::Ndn, 8);
    let id = network.add_application(nodes[0], asks).unwrap();
    for number in 0..200 {
        ask(&mut network, id, request(&format!("/p/{number}")).attempts(attempts));
    }
    run_until_done(&mut network, id, Duration::from_secs(2000));
    assert!(consumer(&network, id).unasked().is_empty());
    let fetched: Vec<u32> = consumer(&network, id)
        .requests()
        .filter_map(|(_, outcome)| match outcome {
            Some(Outcome::Fetched(fetched)) => {
                assert!(maker.made(&fetched.data));
                Some(fetched.attempts)
            }
            _ => None,
        })
        .collect();
    assert_at_rest(&mut network);
    (fetched.len(), fetched.iter().sum())
}

#[test]
fn reliable_links_repair_losses_that_consumers_must_repair_otherwise() {
    let bad = |link: LinkConfig| link.millis(5).loss(0.1);
    let (fetched, attempts) = fetch_through_loss(&bad(reliable()), 1);
    assert!(fetched >= 198 && attempts == fetched as u32, "reliable: {fetched} in {attempts}");
    let (fetched, _) = fetch_through_loss(&bad(framed()), 1);
    // Two Interests and six fragments of Data must come through: 0.9^8 is 0.43.
    assert!((50..130).contains(&fetched), "unreliable: {fetched}");
    let (fetched, attempts) = fetch_through_loss(&bad(framed()), 41);
    assert!(fetched == 200 && attempts > 250, "with retransmission: {fetched} in {attempts}");
}

// consumer ── a ~~~ b ── /p      every frame arrives with a flipped bit
#[test]
fn a_link_without_a_checksum_delivers_frames_with_flipped_bits() {
    let mut network = Network::new(3);
    let impairment = Faults { corrupt: 1.0, ..Faults::NONE };
    let nodes = chain::<2>(&mut network, &LinkConfig { impairment, ..framed() });
    let maker = produce("/p");
    let producer = add_producer(&mut network, nodes[1], &maker);
    let id = add_consumer(&mut network, nodes[0]);
    for number in 0..100 {
        ask(&mut network, id, request(&format!("/p/{number}")));
    }
    assert_at_rest(&mut network);
    // A flip that hits a nonce, the content or the signature leaves a packet that is none the worse for it.
    let got: Vec<&Fetched> = (0..100).filter_map(|number| fetched(&network, id, number)).collect();
    assert!((1..100).contains(&asked(&network, producer)));
    assert!((1..100).contains(&got.len()) && got.iter().all(|fetched| !maker.made(&fetched.data)));
}

// late ── a ──┐
//             b ── c ── /p
// early ─ d ──┘
#[test]
fn a_node_on_the_way_answers_from_its_cache() {
    let mut network = Network::new(1);
    let [a, b, c, d] = nodes(&mut network);
    for (from, to) in [(a, b), (d, b), (b, c)] {
        network.connect(from, to, &ideal()).unwrap();
        network.add_route(from, "/p", to, 0).unwrap();
    }
    let maker = Produce { freshness: SECOND, ..produce("/p") };
    let producer = add_producer(&mut network, c, &maker);
    let (early, late) = (add_consumer(&mut network, d), add_consumer(&mut network, a));
    ask(&mut network, early, request("/p/1"));
    let mut later = |at, must_be_fresh| {
        let request = Request { must_be_fresh, ..request("/p/1") };
        ask_at(&mut network, late, Instant::from_millis(at), request)
    };
    let [near, far, stale] = [(500, true), (1600, true), (3000, false)].map(|(at, fresh)| later(at, fresh));
    assert_at_rest(&mut network);
    let delay = |request| fetched(&network, late, request).unwrap().delay;
    assert_eq!((delay(near), delay(far), delay(stale)), (ms(20), ms(40), ms(0)));
    assert_eq!(asked(&network, producer), 2);
    assert_eq!(network.engine(b).unwrap().counters().cache_hits, 1);
}

// consumer ── a ── b ── c      where c knows no way
#[test]
fn a_nack_comes_back_all_the_way() {
    let mut network = Network::new(1);
    let nodes = chain::<3>(&mut network, &framed());
    let consumer = add_consumer(&mut network, nodes[0]);
    let request = ask(&mut network, consumer, request("/p/1").attempts(3));
    assert_at_rest(&mut network);
    let outcome = outcome(&network, consumer, request);
    assert!(matches!(outcome, Some(Outcome::Nacked(NackReason::NoRoute))), "{outcome:?}");
    assert_eq!(drops(&network, nodes[2], DropReason::NoNextHop), 3, "asked three times");
    let sent = nodes.map(|node| network.engine(node).unwrap().counters().nacks_sent);
    assert_eq!(sent, [3, 3, 3]);
}

//                ┌── b ── c (region /isp) ── /data
// consumer ── a ─┤
//                └── d, which a's own route for /data leads to: a dead end
#[test]
fn a_forwarding_hint_leads_to_the_producers_region_and_is_done_with_there() {
    let mut network = Network::new(1);
    let [a, b, d] = nodes(&mut network);
    network.engines(|config| config.producer_regions = vec![name("/isp/site")]);
    let c = network.add_node().unwrap();
    for (from, to) in [(a, b), (b, c), (a, d)] {
        network.connect(from, to, &ideal()).unwrap();
    }
    network.add_route(a, "/isp", b, 0).unwrap();
    network.add_route(b, "/isp", c, 0).unwrap();
    network.add_route(a, "/data", d, 0).unwrap();
    // Were the hint not done with at c, its route would lead back.
    network.add_route(c, "/isp", b, 0).unwrap();
    add_producer(&mut network, c, &produce("/data"));
    let consumer = add_consumer(&mut network, a);
    let plain = ask(&mut network, consumer, request("/data/1"));
    let forwarding_hint = vec![name("/isp")];
    let hinted = ask(&mut network, consumer, Request { forwarding_hint, ..request("/data/2") });
    assert_at_rest(&mut network);
    assert!(fetched(&network, consumer, plain).is_none());
    assert!(fetched(&network, consumer, hinted).is_some());
}

//                ┌── b ── /p, the cheaper way
// consumer ── a ─┤
//                └── c ── /p
#[test]
fn an_application_may_name_the_face_its_interest_leaves_by() {
    let mut network = Network::new(1);
    let [a, b, c] = nodes(&mut network);
    for (cost, to) in [(1, b), (2, c)] {
        network.connect(a, to, &ideal()).unwrap();
        network.add_route(a, "/p", to, cost).unwrap();
    }
    let producers = [b, c].map(|node| add_producer(&mut network, node, &produce("/p")));
    let consumer = add_consumer(&mut network, a);
    ask(&mut network, consumer, request("/p/1"));
    let next_hop_face = Some(network.face_towards(a, c).unwrap().0.into());
    let header = LinkHeader { next_hop_face, ..LinkHeader::default() };
    let told = ask(&mut network, consumer, Request { header, ..request("/p/2") });
    assert_at_rest(&mut network);
    assert_eq!(producers.map(|producer| asked(&network, producer)), [1, 1]);
    let incoming = fetched(&network, consumer, told).unwrap().header.incoming_face;
    assert_eq!(incoming, next_hop_face, "the answer says by which face it came");
}

// consumer ── a ── b ──1 Mbit/s── c ── /p      the Data crosses the bottleneck from c to b
#[test]
fn a_congestion_mark_reaches_the_consumer_from_a_queue_two_hops_away() {
    let marks = |window| {
        let mut network = Network::new(1);
        let [a, b, c] = nodes(&mut network);
        network.connect(a, b, &framed()).unwrap();
        network.connect(b, c, &framed().mbps(1.0)).unwrap();
        network.add_route(a, "/p", b, 0).unwrap();
        network.add_route(b, "/p", c, 0).unwrap();
        add_producer(&mut network, c, &Produce { content_bytes: 1200, ..produce("/p") });
        let id = network.add_application(a, CheckedConsumer::new(Dialect::Ndn, window)).unwrap();
        for number in 0..500 {
            let patient = request(&format!("/p/{number}")).lifetime(Duration::from_secs(30));
            ask(&mut network, id, patient);
        }
        assert_at_rest(&mut network);
        let marks = consumer(&network, id).requests().map(|(_, outcome)| match outcome {
            Some(Outcome::Fetched(fetched)) => fetched.header.congestion_mark,
            other => panic!("{other:?}"),
        });
        marks.filter(|&mark| mark > 0).count()
    };
    assert_eq!(marks(2), 0);
    assert!(marks(400) > 0);
}

// consumer ── a ══ b ── /p      a attaches tokens on the link
#[test]
fn pit_tokens_come_back_on_every_hop() {
    let mut network = Network::new(1);
    let [a, b] = nodes(&mut network);
    let mut config = framed();
    config.face.send_pit_tokens = true;
    let link = network.connect(a, b, &config).unwrap();
    network.add_route(a, "/p", b, 0).unwrap();
    add_producer(&mut network, b, &produce("/p"));
    let consumer = add_consumer(&mut network, a);
    network.capture(link, 100).unwrap();
    let header = LinkHeader { pit_token: PitToken::new(b"consumer").unwrap(), ..LinkHeader::default() };
    let request = ask(&mut network, consumer, Request { header, ..request("/p/1") });
    assert_at_rest(&mut network);
    assert_eq!(fetched(&network, consumer, request).unwrap().header.pit_token.as_bytes(), b"consumer");
    let frames: Vec<_> = network.trace().capture(link).unwrap().frames().collect();
    let tokens: Vec<_> =
        frames.iter().map(|frame| LpPacketView::decode(&frame.bytes).unwrap().pit_token).collect();
    assert_eq!(tokens.len(), 2);
    assert_eq!(tokens[0].len(), 6, "the Interest's");
    assert_eq!(tokens[0], tokens[1], "the Data's");
}

// consumer ── a ── b ── /p      the link is cut, then mended; then b is started anew
#[test]
fn a_mended_link_and_a_restarted_node_serve_again() {
    let mut network = Network::new(1);
    let [a, b] = nodes(&mut network);
    let link = network.connect(a, b, &reliable()).unwrap();
    network.add_route(a, "/p", b, 0).unwrap();
    add_producer(&mut network, b, &produce("/p"));
    let consumer = add_consumer(&mut network, a);
    network.take_down(link).unwrap();
    let during = ask(&mut network, consumer, request("/p/1"));
    run_until_done(&mut network, consumer, SECOND);
    let outcome = outcome(&network, consumer, during);
    assert!(matches!(outcome, Some(Outcome::Nacked(NackReason::NoRoute))), "{outcome:?}");
    network.bring_up(link).unwrap();
    let after = ask(&mut network, consumer, request("/p/1"));
    run_until_done(&mut network, consumer, SECOND);
    assert!(fetched(&network, consumer, after).is_some());
    network.restart(b).unwrap();
    let anew = ask(&mut network, consumer, request("/p/2"));
    run_until_done(&mut network, consumer, SECOND);
    assert!(fetched(&network, consumer, anew).is_some());
    assert_at_rest(&mut network);
}

#[test]
fn a_run_that_is_not_quiet_in_time_says_so() {
    let mut network = Network::new(1);
    let node = network.add_node().unwrap();
    assert!(network.run_until_quiet(SECOND).unwrap());
    assert_eq!(network.now(), Instant::ZERO, "nothing was to happen");
    add_producer(&mut network, node, &Produce { answers: false, ..produce("/p") });
    let consumer = add_consumer(&mut network, node);
    let request = ask(&mut network, consumer, request("/p/1").lifetime(Duration::from_secs(2)));
    assert!(!network.run_until_quiet(SECOND).unwrap());
    assert!(network.now() <= Instant::from_secs(1));
    assert_at_rest(&mut network);
    assert!(matches!(outcome(&network, consumer, request), Some(Outcome::TimedOut)));
}
