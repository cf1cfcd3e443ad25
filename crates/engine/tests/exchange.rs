//! One Interest, one Data: the way there and back, and what is remembered.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use cairn_engine::*;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, NackReason, Name, Packet, PitToken};

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);

struct Node {
    engine: Engine,
    now: Instant,
}

impl Node {
    fn new() -> Self {
        let mut node =
            Node { engine: Engine::new(EngineConfig::seeded(1).unwrap()).unwrap(), now: Instant::ZERO };
        node.engine.add_face(node.now, CONSUMER, FaceConfig::remote()).unwrap();
        node.engine.add_face(node.now, PRODUCER, FaceConfig::remote()).unwrap();
        node.route("/a", PRODUCER);
        node
    }

    fn route(&mut self, prefix: &str, face: FaceId) {
        let prefix: Name = prefix.parse().unwrap();
        self.engine.add_route(self.now, Dialect::Ndn, prefix.as_ref(), NextHop { face, cost: 0 }).unwrap();
    }

    fn interest(&mut self, face: FaceId, interest: &InterestBuilder) -> Vec<Transmit> {
        let interest = interest.build().unwrap();
        let hashes = self.engine.hasher().hash(Dialect::Ndn, interest.name().components());
        let header = LinkHeader { pit_token: PitToken::new(b"token").unwrap(), ..LinkHeader::default() };
        self.engine.receive(
            Arrival { now: self.now, face, hashes: &hashes, header: &header },
            Packet::Interest(interest),
        );
        self.sent()
    }

    fn data(&mut self, face: FaceId, data: &Data) -> Vec<Transmit> {
        let hashes = self.engine.hasher().hash(Dialect::Ndn, data.name().components());
        self.engine.receive(Arrival::bare(self.now, face, &hashes), Packet::Data(data.clone()));
        self.sent()
    }

    fn wait(&mut self, span: Duration) -> Vec<Transmit> {
        self.now += span;
        self.engine.advance(self.now);
        self.sent()
    }

    fn sent(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.engine.poll_transmit()).collect()
    }

    fn drops(&self, reason: DropReason) -> u64 {
        self.engine.counters().drops.get(reason)
    }
}

fn interest(uri: &str) -> InterestBuilder {
    InterestBuilder::new(uri.parse().unwrap()).nonce(1)
}

fn data(uri: &str) -> Data {
    DataBuilder::new(uri.parse().unwrap()).content(b"hi".to_vec()).build_with_digest().unwrap()
}

fn is_interest(transmit: &Transmit, to: FaceId) -> bool {
    transmit.face == to && matches!(transmit.packet, Packet::Interest(_))
}

fn is_data(transmit: &Transmit, to: FaceId) -> bool {
    transmit.face == to && matches!(transmit.packet, Packet::Data(_))
}

fn nack(transmit: &Transmit, to: FaceId) -> Option<NackReason> {
    match transmit.packet {
        Packet::Nack(_, reason) if transmit.face == to => Some(reason),
        _ => None,
    }
}

#[test]
fn an_interest_goes_out_and_the_data_comes_back_with_its_token_and_is_kept() {
    let mut node = Node::new();
    let sent = node.interest(CONSUMER, &interest("/a/b"));
    assert!(sent.len() == 1 && is_interest(&sent[0], PRODUCER), "{sent:?}");
    let sent = node.data(PRODUCER, &data("/a/b"));
    assert!(sent.len() == 1 && is_data(&sent[0], CONSUMER), "{sent:?}");
    assert_eq!(sent[0].pit_token.as_bytes(), b"token");
    assert_eq!(sent[0].incoming_face, Some(FaceId(257)));
    assert_eq!(node.engine.table_sizes().pending, 0);
    // Again, from the cache.
    let sent = node.interest(CONSUMER, &interest("/a/b").nonce(2));
    assert!(sent.len() == 1 && is_data(&sent[0], CONSUMER), "{sent:?}");
    assert_eq!(sent[0].incoming_face, Some(FaceId(254)));
    // The same Data unasked.
    assert!(node.data(PRODUCER, &data("/a/b")).is_empty());
    assert_eq!(node.drops(DropReason::Unsolicited), 1);
}

#[test]
fn prefixes_and_digests_find_the_data_on_the_way_back_and_in_the_cache() {
    let mut node = Node::new();
    let reply = data("/a/b/c");
    let digest = reply.implicit_digest();
    let digest = packet::Component::new(packet::ComponentKind::IMPLICIT_DIGEST, &digest);
    let full: Name = "/a/b/c".parse::<Name>().unwrap().with(digest).unwrap();
    for wanted in [
        interest("/a").can_be_prefix(true),
        interest("/a/b").can_be_prefix(true),
        InterestBuilder::new(full).nonce(1),
    ] {
        let mut node = Node::new();
        assert!(is_interest(&node.interest(CONSUMER, &wanted)[0], PRODUCER));
        assert!(is_data(&node.data(PRODUCER, &reply)[0], CONSUMER));
        assert!(is_data(&node.interest(CONSUMER, &wanted.clone().nonce(2))[0], CONSUMER), "from the cache");
    }
    node.interest(CONSUMER, &interest("/a/b"));
    assert!(node.data(PRODUCER, &reply).is_empty(), "without CanBePrefix a longer name does not answer");
}

#[test]
fn consumers_that_want_the_same_share_one_interest() {
    let mut node = Node::new();
    let other = FaceId(300);
    node.engine.add_face(node.now, other, FaceConfig::remote()).unwrap();
    assert_eq!(node.interest(CONSUMER, &interest("/a/b")).len(), 1);
    assert!(node.interest(other, &interest("/a/b").nonce(2)).is_empty(), "sent only just now");
    assert_eq!(node.engine.face_pending(other), Some(1));
    let mut faces: Vec<FaceId> = node.data(PRODUCER, &data("/a/b")).iter().map(|t| t.face).collect();
    faces.sort();
    assert_eq!(faces, [CONSUMER, other]);
    assert_eq!(node.engine.face_pending(other), Some(0));
}

#[test]
fn loops_are_cut_while_the_interest_is_pending_and_after() {
    let mut node = Node::new();
    node.interest(CONSUMER, &interest("/a/b"));
    let sent = node.interest(PRODUCER, &interest("/a/b"));
    assert_eq!(nack(&sent[0], PRODUCER), Some(NackReason::Duplicate));
    assert!(node.wait(Duration::from_secs(5)).is_empty());
    assert_eq!(node.engine.counters().unsatisfied, 1);
    let sent = node.interest(CONSUMER, &interest("/a/b"));
    assert_eq!(nack(&sent[0], CONSUMER), Some(NackReason::Duplicate), "the nonce is remembered");
    assert_eq!(node.drops(DropReason::DuplicateNonce), 2);
}

#[test]
fn what_has_no_route_goes_back() {
    let mut node = Node::new();
    let sent = node.interest(CONSUMER, &interest("/nowhere"));
    assert_eq!(nack(&sent[0], CONSUMER), Some(NackReason::NoRoute));
    assert_eq!(sent[0].pit_token.as_bytes(), b"token");
    assert_eq!(node.engine.table_sizes().pending, 0);
}

#[test]
fn a_nack_from_upstream_goes_on_to_the_consumer_with_its_own_nonce() {
    let mut node = Node::new();
    let sent = node.interest(CONSUMER, &interest("/a/b"));
    let Packet::Interest(sent) = &sent[0].packet else { panic!() };
    let hashes = node.engine.hasher().hash(Dialect::Ndn, sent.name().components());
    let mut forged: Interest = sent.clone();
    forged.set_nonce(packet::Nonce(99)).unwrap();
    node.engine.receive(
        Arrival::bare(node.now, PRODUCER, &hashes),
        Packet::Nack(forged.clone(), NackReason::NoRoute),
    );
    assert_eq!(node.drops(DropReason::UnexpectedNack), 1);
    node.engine.receive(
        Arrival::bare(node.now, PRODUCER, &hashes),
        Packet::Nack(sent.clone(), NackReason::Congestion),
    );
    let sent = node.sent();
    assert_eq!(nack(&sent[0], CONSUMER), Some(NackReason::Congestion));
    assert_eq!(node.engine.table_sizes().pending, 0);
}
