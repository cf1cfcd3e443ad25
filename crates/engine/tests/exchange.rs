//! One Interest, one Data: the way there and back, and what is remembered.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use cairn_engine::*;
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Interest, LinkHeader, NackReason, Name, Packet, PitToken};

use common::{CONSUMER, Node, PRODUCER, data};

/// An Interest with a token arrives.
fn ask(node: &mut Node, face: FaceId, interest: &InterestBuilder) -> Vec<Transmit> {
    let header = LinkHeader { pit_token: PitToken::new(b"token").unwrap(), ..LinkHeader::NONE };
    node.interest_with(face, &interest.build().unwrap(), &header)
}

fn interest(uri: &str) -> InterestBuilder {
    InterestBuilder::new(uri.parse().unwrap()).nonce(1)
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
    let mut node = Node::new(|_| {});
    let sent = ask(&mut node, CONSUMER, &interest("/a/b"));
    assert!(sent.len() == 1 && is_interest(&sent[0], PRODUCER), "{sent:?}");
    let sent = node.data(PRODUCER, &data("/a/b", 2));
    assert!(sent.len() == 1 && is_data(&sent[0], CONSUMER), "{sent:?}");
    assert_eq!(sent[0].pit_token.as_bytes(), b"token");
    assert_eq!(sent[0].incoming_face, Some(FaceId(257)));
    assert_eq!(node.engine.table_sizes().pending, 0);
    // Again, from the cache.
    let sent = ask(&mut node, CONSUMER, &interest("/a/b").nonce(2));
    assert!(sent.len() == 1 && is_data(&sent[0], CONSUMER), "{sent:?}");
    assert_eq!(sent[0].incoming_face, Some(FaceId(254)));
    // The same Data unasked.
    assert!(node.data(PRODUCER, &data("/a/b", 2)).is_empty());
    assert_eq!(node.drops(DropReason::Unsolicited), 1);
}

#[test]
fn prefixes_and_digests_find_the_data_on_the_way_back_and_in_the_cache() {
    let mut node = Node::new(|_| {});
    let reply = data("/a/b/c", 2);
    let digest = reply.implicit_digest();
    let digest = packet::Component::new(packet::ComponentKind::IMPLICIT_DIGEST, &digest);
    let full: Name = "/a/b/c".parse::<Name>().unwrap().with(digest).unwrap();
    for wanted in [
        interest("/a").can_be_prefix(true),
        interest("/a/b").can_be_prefix(true),
        InterestBuilder::new(full).nonce(1),
    ] {
        let mut node = Node::new(|_| {});
        assert!(is_interest(&ask(&mut node, CONSUMER, &wanted)[0], PRODUCER));
        assert!(is_data(&node.data(PRODUCER, &reply)[0], CONSUMER));
        assert!(is_data(&ask(&mut node, CONSUMER, &wanted.clone().nonce(2))[0], CONSUMER), "from the cache");
    }
    ask(&mut node, CONSUMER, &interest("/a/b"));
    assert!(node.data(PRODUCER, &reply).is_empty(), "without CanBePrefix a longer name does not answer");
}

#[test]
fn consumers_that_want_the_same_share_one_interest() {
    let mut node = Node::new(|_| {});
    let other = FaceId(300);
    node.engine.add_face(node.now, other, FaceConfig::remote()).unwrap();
    assert_eq!(ask(&mut node, CONSUMER, &interest("/a/b")).len(), 1);
    assert!(ask(&mut node, other, &interest("/a/b").nonce(2)).is_empty(), "sent only just now");
    assert_eq!(node.engine.face_pending(other), Some(1));
    let mut faces: Vec<FaceId> = node.data(PRODUCER, &data("/a/b", 2)).iter().map(|t| t.face).collect();
    faces.sort();
    assert_eq!(faces, [CONSUMER, other]);
    assert_eq!(node.engine.face_pending(other), Some(0));
}

#[test]
fn loops_are_cut_while_the_interest_is_pending_and_after() {
    let mut node = Node::new(|_| {});
    ask(&mut node, CONSUMER, &interest("/a/b"));
    let sent = ask(&mut node, PRODUCER, &interest("/a/b"));
    assert_eq!(nack(&sent[0], PRODUCER), Some(NackReason::Duplicate));
    node.wait(Duration::from_secs(5));
    assert!(node.sent().is_empty());
    assert_eq!(node.engine.counters().unsatisfied, 1);
    let sent = ask(&mut node, CONSUMER, &interest("/a/b"));
    assert_eq!(nack(&sent[0], CONSUMER), Some(NackReason::Duplicate), "the nonce is remembered");
    assert_eq!(node.drops(DropReason::DuplicateNonce), 2);
}

#[test]
fn what_has_no_route_goes_back() {
    let mut node = Node::new(|_| {});
    let sent = ask(&mut node, CONSUMER, &interest("/nowhere"));
    assert_eq!(nack(&sent[0], CONSUMER), Some(NackReason::NoRoute));
    assert_eq!(sent[0].pit_token.as_bytes(), b"token");
    assert_eq!(node.engine.table_sizes().pending, 0);
}

#[test]
fn a_nack_from_upstream_goes_on_to_the_consumer_with_its_own_nonce() {
    let mut node = Node::new(|_| {});
    let sent = ask(&mut node, CONSUMER, &interest("/a/b"));
    let Packet::Interest(sent) = &sent[0].packet else { panic!() };
    let mut forged: Interest = sent.clone();
    forged.set_nonce(packet::Nonce(99)).unwrap();
    node.nack(PRODUCER, &forged, NackReason::NoRoute);
    assert_eq!(node.drops(DropReason::UnexpectedNack), 1);
    node.nack(PRODUCER, sent, NackReason::Congestion);
    let sent = node.sent();
    assert_eq!(nack(&sent[0], CONSUMER), Some(NackReason::Congestion));
    assert_eq!(node.engine.table_sizes().pending, 0);
}
