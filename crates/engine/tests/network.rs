//! Small networks, each with a drawing: what several engines promise together.
#![allow(clippy::unwrap_used, reason = "tests")]

use engine::{DropReason, FaceConfig, NextHop, Outgoing, StrategySpec};
use packet::time::{Duration, Instant};
use packet::{Dialect, LinkHeader, NackReason, Name};
use testkit::network::{
    ImpairmentConfig, LinkId, Medium, Network, NodeId, Outcome, Produce, Request, StuckReason,
};

const SECOND: Duration = Duration::from_secs(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn ideal() -> Medium {
    Medium::ideal(ms(10))
}

fn drops(network: &Network, node: NodeId, reason: DropReason) -> u64 {
    network.node(node).engine().counters().drops.get(reason)
}

/// Nothing is left anywhere, and nobody's counters contradict each other.
fn assert_at_rest(network: &mut Network) {
    network.run_until_quiet(Duration::from_secs(60)).unwrap();
    for (id, node) in network.nodes() {
        node.check_conservation().unwrap_or_else(|problem| panic!("{id:?}: {problem}"));
        assert_eq!(node.engine().table_sizes().pending, 0, "{id:?}");
        for (face, _) in node.engine().faces() {
            assert_eq!(node.engine().face_pending(face), Some(0), "{id:?}, face {face}");
        }
    }
}

fn strategy(network: &mut Network, nodes: &[NodeId], word: &str) {
    let spec: StrategySpec = word.parse().unwrap();
    for &node in nodes {
        network.set_strategy(node, "/", &spec).unwrap();
    }
}

/// Nodes in a row, routes for `/p` towards the last.
fn chain<const N: usize>(network: &mut Network, medium: &Medium) -> [NodeId; N] {
    let nodes = [(); N].map(|()| network.add_node());
    for pair in nodes.windows(2) {
        network.connect(pair[0], pair[1], medium.clone());
        network.add_route(pair[0], "/p", pair[1], 0);
    }
    nodes
}

// consumer ── a ── b ── c ── d ── e ── /p
#[test]
fn an_interest_travels_a_chain_and_its_data_comes_back_by_the_same_nodes() {
    let mut network = Network::new(1);
    let nodes = chain::<5>(&mut network, &ideal());
    network.add_producer(nodes[4], "/p", Produce::default());
    let consumer = network.add_consumer(nodes[0]);
    let request = network.ask(consumer, "/p/1");
    network.run_until(|network| network.is_done(consumer), SECOND).unwrap();
    let fetched = network.fetched(consumer, request).unwrap();
    assert_eq!(fetched.delay, ms(80));
    assert!(network.is_genuine(&fetched.data));
    for node in nodes {
        let counters = network.node(node).engine().counters();
        assert_eq!((counters.interests_sent, counters.data_sent, counters.satisfied), (1, 1, 1));
    }
    assert_at_rest(&mut network);
}

// consumer ── a ── b ── c ── ccnx:/p
#[test]
fn a_chain_of_ccnx_faces_carries_ccnx() {
    let mut network = Network::new(1);
    let nodes = [(); 3].map(|()| network.add_node());
    let ccnx = FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::remote() };
    for pair in nodes.windows(2) {
        network.connect_all(pair, ideal(), ccnx);
        network.add_route(pair[0], "/p", pair[1], 0);
    }
    network.add_producer(nodes[2], "/p", Produce { dialect: Dialect::Ccnx, ..Produce::default() });
    let consumer =
        network.add_consumer_with(nodes[0], FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::local() });
    let request = network.ask(consumer, "/p/1");
    network.run_until(|network| network.is_done(consumer), SECOND).unwrap();
    let fetched = network.fetched(consumer, request).expect("an answer");
    assert_eq!(fetched.data.dialect(), Dialect::Ccnx);
    assert!(network.is_genuine(&fetched.data));
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
    let [a, b, c, d] = [(); 4].map(|()| network.add_node());
    for (from, to) in [(a, b), (a, c), (b, c), (b, d), (c, d)] {
        network.connect(from, to, ideal());
    }
    for (from, to) in [(a, b), (a, c), (b, c), (b, d), (c, b), (c, d)] {
        network.add_route(from, "/p", to, 0);
    }
    strategy(&mut network, &[a, b, c], "multicast");
    let producer = network.add_producer(d, "/p", Produce::default());
    let consumer = network.add_consumer(a);
    let request = network.ask(consumer, "/p/1");
    assert_at_rest(&mut network);
    assert!(network.fetched(consumer, request).is_some());
    assert_eq!(network.asked(producer), 1);
    assert!(network.unasked(consumer).is_empty());
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
    let [a, b, c, d] = [(); 4].map(|()| network.add_node());
    let segment = network.connect_all(&[a, b, c, d], ideal(), FaceConfig::remote());
    for node in [a, c, d] {
        let (_, face) = network.link_faces(segment).find(|(other, _)| *other == node).unwrap();
        let prefix: Name = "/p".parse().unwrap();
        let hop = NextHop { face, cost: 0 };
        network.engine_mut(node).add_route(Instant::ZERO, Dialect::Ndn, prefix.as_ref(), hop).unwrap();
    }
    let producer = network.add_producer(b, "/p", Produce { reply_delay: ms(20), ..Produce::default() });
    let (first, second) = (network.add_consumer(a), network.add_consumer(c));
    network.ask(first, "/p/1");
    network.ask_at(second, Instant::from_millis(8), "/p/1");
    network.record_packets();
    assert_at_rest(&mut network);
    for consumer in [first, second] {
        assert!(network.requests(consumer).all(|(_, outcome)| matches!(outcome, Some(Outcome::Fetched(_)))));
    }
    assert_eq!(network.asked(producer), 1, "the second came to b within the time of suppression");
    let segment_faces: Vec<_> = network.link_faces(segment).collect();
    let on_segment = |wanted: fn(&Outgoing) -> bool| {
        let sent = network.trace().sent().iter();
        sent.filter(|sent| segment_faces.contains(&(sent.node, sent.face)) && wanted(&sent.packet)).count()
    };
    assert_eq!(on_segment(|packet| matches!(packet, Outgoing::Data(_))), 1);
    assert_eq!(on_segment(|packet| matches!(packet, Outgoing::Nack(..))), 0, "others may still answer");
    // d heard the Interest, did not put it back on the segment, and heard the Data.
    assert_eq!(network.node(d).engine().counters().interests_sent, 0);
    assert_eq!(network.node(d).engine().counters().data_sent, 0);
}

/// Fetches 200 names through two bad links; gives how many came, and how many Interests it took.
// consumer ── a ~~~ b ~~~ c ── /p
fn fetch_through_loss(medium: &Medium, retries: u32) -> (usize, u32) {
    let mut network = Network::new(7);
    let nodes = chain::<3>(&mut network, medium);
    network.add_producer(nodes[2], "/p", Produce { content_bytes: 3000, ..Produce::default() });
    let consumer = network.add_consumer(nodes[0]);
    network.set_window(consumer, 8);
    for number in 0..200 {
        network.ask(consumer, Request::from(format!("/p/{number}").as_str()).retries(retries));
    }
    network.run_until(Network::all_done, Duration::from_secs(2000)).unwrap();
    assert!(network.unasked(consumer).is_empty());
    let fetched: Vec<u32> = network
        .requests(consumer)
        .filter_map(|(_, outcome)| match outcome {
            Some(Outcome::Fetched(fetched)) => {
                assert!(network.is_genuine(&fetched.data));
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
    let bad = ImpairmentConfig { loss: 0.1, delay: ms(5), ..ImpairmentConfig::default() };
    let (fetched, attempts) = fetch_through_loss(&Medium::reliable(bad.clone()), 0);
    assert!(fetched >= 198 && attempts == fetched as u32, "reliable: {fetched} in {attempts}");
    let (fetched, _) = fetch_through_loss(&Medium::framed(bad.clone()), 0);
    // Two Interests and six fragments of Data must come through: 0.9^8 is 0.43.
    assert!((50..130).contains(&fetched), "unreliable: {fetched}");
    let (fetched, attempts) = fetch_through_loss(&Medium::framed(bad), 40);
    assert!(fetched == 200 && attempts > 250, "with retransmission: {fetched} in {attempts}");
}

// late ── a ──┐
//             b ── c ── /p
// early ─ d ──┘
#[test]
fn a_node_on_the_way_answers_from_its_cache() {
    let mut network = Network::new(1);
    let [a, b, c, d] = [(); 4].map(|()| network.add_node());
    for (from, to) in [(a, b), (d, b), (b, c)] {
        network.connect(from, to, ideal());
        network.add_route(from, "/p", to, 0);
    }
    let producer = network.add_producer(c, "/p", Produce { freshness: SECOND, ..Produce::default() });
    let (early, late) = (network.add_consumer(d), network.add_consumer(a));
    network.ask(early, "/p/1");
    let fresh = |must_be_fresh| Request { must_be_fresh, ..Request::from("/p/1") };
    let near = network.ask_at(late, Instant::from_millis(500), fresh(true));
    let far = network.ask_at(late, Instant::from_millis(1600), fresh(true));
    let stale = network.ask_at(late, Instant::from_millis(3000), fresh(false));
    assert_at_rest(&mut network);
    let delay = |request| network.fetched(late, request).unwrap().delay;
    assert_eq!((delay(near), delay(far), delay(stale)), (ms(20), ms(40), ms(0)));
    assert_eq!(network.asked(producer), 2);
    assert_eq!(network.node(b).engine().counters().cache_hits, 1);
}

// consumer ── a ── b ── c      where c knows no way
#[test]
fn a_nack_comes_back_all_the_way() {
    let mut network = Network::new(1);
    let nodes = chain::<3>(&mut network, &Medium::framed(ImpairmentConfig::default()));
    let consumer = network.add_consumer(nodes[0]);
    let request = network.ask(consumer, Request::from("/p/1").retries(2));
    assert_at_rest(&mut network);
    let outcome = network.outcome(consumer, request);
    assert!(matches!(outcome, Some(Outcome::Nacked(NackReason::NoRoute))), "{outcome:?}");
    assert_eq!(drops(&network, nodes[2], DropReason::NoNextHop), 3, "asked three times");
    assert_eq!(nodes.map(|node| network.node(node).engine().counters().nacks_sent), [3, 3, 3]);
}

//                ┌── b ── c (region /isp) ── /data
// consumer ── a ─┤
//                └── d, which a's own route for /data leads to: a dead end
#[test]
fn a_forwarding_hint_leads_to_the_producers_region_and_is_done_with_there() {
    let mut network = Network::new(1);
    let [a, b, d] = [(); 3].map(|()| network.add_node());
    let c = network.add_node_with(|config| config.producer_regions = vec!["/isp/site".parse().unwrap()]);
    for (from, to) in [(a, b), (b, c), (a, d)] {
        network.connect(from, to, ideal());
    }
    network.add_route(a, "/isp", b, 0);
    network.add_route(b, "/isp", c, 0);
    network.add_route(a, "/data", d, 0);
    // Were the hint not done with at c, its route would lead back.
    network.add_route(c, "/isp", b, 0);
    network.add_producer(c, "/data", Produce::default());
    let consumer = network.add_consumer(a);
    let plain = network.ask(consumer, "/data/1");
    let forwarding_hint = vec!["/isp".parse().unwrap()];
    let hinted = network.ask(consumer, Request { forwarding_hint, ..Request::from("/data/2") });
    assert_at_rest(&mut network);
    assert!(network.fetched(consumer, plain).is_none());
    assert!(network.fetched(consumer, hinted).is_some());
}

//                ┌── b ── /p, the cheaper way
// consumer ── a ─┤
//                └── c ── /p
#[test]
fn an_application_may_name_the_face_its_interest_leaves_by() {
    let mut network = Network::new(1);
    let [a, b, c] = [(); 3].map(|()| network.add_node());
    for (cost, to) in [(1, b), (2, c)] {
        network.connect(a, to, ideal());
        network.add_route(a, "/p", to, cost);
    }
    let producers = [b, c].map(|node| network.add_producer(node, "/p", Produce::default()));
    let consumer = network.add_consumer(a);
    network.ask(consumer, "/p/1");
    let next_hop_face = Some(network.face_towards(a, c).0.into());
    let header = LinkHeader { next_hop_face, ..LinkHeader::default() };
    let told = network.ask(consumer, Request { header, ..Request::from("/p/2") });
    assert_at_rest(&mut network);
    assert_eq!(producers.map(|producer| network.asked(producer)), [1, 1]);
    let incoming = network.fetched(consumer, told).unwrap().header.incoming_face;
    assert_eq!(incoming, next_hop_face, "the answer says by which face it came");
}

// consumer ── a ── b ──1 Mbit/s── c ── /p      the Data crosses the bottleneck from c to b
#[test]
fn a_congestion_mark_reaches_the_consumer_from_a_queue_two_hops_away() {
    let marks = |window| {
        let mut network = Network::new(1);
        let [a, b, c] = [(); 3].map(|()| network.add_node());
        network.connect(a, b, Medium::framed(ImpairmentConfig::default()));
        let rate = Some(1_000_000);
        let slow = ImpairmentConfig { rate_bits_per_second: rate, ..ImpairmentConfig::default() };
        network.connect(b, c, Medium::framed(slow));
        network.add_route(a, "/p", b, 0);
        network.add_route(b, "/p", c, 0);
        network.add_producer(c, "/p", Produce { content_bytes: 1200, ..Produce::default() });
        let consumer = network.add_consumer(a);
        network.set_window(consumer, window);
        for number in 0..500 {
            network.ask(
                consumer,
                Request::from(format!("/p/{number}").as_str()).lifetime(Duration::from_secs(30)),
            );
        }
        assert_at_rest(&mut network);
        let fetched = network.requests(consumer).map(|(_, outcome)| match outcome {
            Some(Outcome::Fetched(fetched)) => fetched.header.congestion_mark,
            other => panic!("{other:?}"),
        });
        fetched.filter(|&mark| mark > 0).count()
    };
    assert_eq!(marks(2), 0);
    assert!(marks(400) > 0);
}

// consumer ── a ══ b ── /p      a attaches tokens on the link
#[test]
fn pit_tokens_come_back_on_every_hop() {
    let mut network = Network::new(1);
    let [a, b] = [(); 2].map(|()| network.add_node());
    let config = FaceConfig { send_pit_tokens: true, ..FaceConfig::remote() };
    let link = network.connect_all(&[a, b], Medium::framed(ImpairmentConfig::default()), config);
    network.add_route(a, "/p", b, 0);
    network.add_producer(b, "/p", Produce::default());
    let consumer = network.add_consumer(a);
    network.record_packets();
    let request = network.ask(consumer, Request::from("/p/1").pit_token(b"consumer"));
    assert_at_rest(&mut network);
    assert_eq!(network.fetched(consumer, request).unwrap().header.pit_token.as_bytes(), b"consumer");
    let faces: Vec<_> = network.link_faces(link).collect();
    let tokens: Vec<_> = network
        .trace()
        .sent()
        .iter()
        .filter(|sent| faces.contains(&(sent.node, sent.face)))
        .map(|sent| sent.header.pit_token.as_bytes().to_vec())
        .collect();
    assert_eq!(tokens.len(), 2);
    assert_eq!(tokens[0].len(), 6, "the Interest's");
    assert_eq!(tokens[0], tokens[1], "the Data's");
}

// consumer ── a ── b ── /p      the link is cut, then mended; then b is started anew
#[test]
fn a_mended_link_and_a_restarted_node_serve_again() {
    let mut network = Network::new(1);
    let [a, b] = chain::<2>(&mut network, &Medium::reliable(ImpairmentConfig::default()));
    network.add_producer(b, "/p", Produce::default());
    let consumer = network.add_consumer(a);
    let link = LinkId(0);
    network.take_down(link);
    let during = network.ask(consumer, "/p/1");
    network.run_until(Network::all_done, SECOND).unwrap();
    assert!(matches!(network.outcome(consumer, during), Some(Outcome::Nacked(NackReason::NoRoute))));
    network.bring_up(link);
    let after = network.ask(consumer, "/p/1");
    network.run_until(Network::all_done, SECOND).unwrap();
    assert!(network.fetched(consumer, after).is_some());
    network.restart(b);
    let anew = network.ask(consumer, "/p/2");
    network.run_until(Network::all_done, SECOND).unwrap();
    assert!(network.fetched(consumer, anew).is_some());
    assert_at_rest(&mut network);
}

#[test]
fn a_run_that_cannot_come_to_its_end_says_why() {
    let mut network = Network::new(1);
    let node = network.add_node();
    let stuck = network.run_until(|_| false, SECOND).unwrap_err();
    assert_eq!((stuck.reason, stuck.at), (StuckReason::Quiet, Instant::ZERO));
    network.add_producer(node, "/p", Produce { answers: false, ..Produce::default() });
    let consumer = network.add_consumer(node);
    let request = network.ask(consumer, Request::from("/p/1").lifetime(Duration::from_secs(2)));
    let stuck = network.run_until(Network::all_done, SECOND).unwrap_err();
    assert_eq!((stuck.reason, stuck.at), (StuckReason::TimeLimit, Instant::from_secs(1)));
    assert_at_rest(&mut network);
    assert!(matches!(network.outcome(consumer, request), Some(Outcome::TimedOut)));
}
