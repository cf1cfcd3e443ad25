//! Access: everybody at first, then whoever answered last, and the others when it does not in time.

use cairn_engine::*;
use packet::NackReason;
use packet::time::Duration;

use crate::node::{Node, Sent};

/// Consumers 1 and 2; next hops 3, 4 and 5.
fn node() -> Node {
    let mut node = Node::new("access", 5);
    node.route("/a", &[(3, 10), (4, 20), (5, 30)]);
    node
}

/// Lets 4 answer first under /a/b, `millis` after it was asked.
fn learn(node: &mut Node, millis: u64) {
    assert_eq!(node.interest(1, "/a/b/0"), [3, 4, 5].map(Sent::Interest));
    node.wait_ms(millis);
    assert_eq!(node.data(4, "/a/b/0"), [Sent::Data(1)]);
}

#[test]
fn the_next_hop_that_answered_gets_what_follows_under_the_datas_prefix() {
    let mut node = node();
    learn(&mut node, 30);
    assert_eq!(node.interest(1, "/a/b/1"), [Sent::Interest(4)]);
    assert_eq!(node.interest(1, "/a/b/deeper/1"), [Sent::Interest(4)]);
    assert_eq!(node.interest(1, "/a/c/1"), [3, 4, 5].map(Sent::Interest), "another prefix");
    // From the last next hop itself the others are asked.
    assert_eq!(node.interest(4, "/a/b/2"), [3, 5].map(Sent::Interest));
}

#[test]
fn the_longest_measured_prefix_counts() {
    let mut node = node();
    learn(&mut node, 30);
    assert_eq!(node.interest(1, "/a/b/c/0"), [Sent::Interest(4)]);
    node.wait_ms(1000);
    assert_eq!(node.data(5, "/a/b/c/0"), [Sent::Data(1)]);
    assert_eq!(node.interest(1, "/a/b/c/1"), [Sent::Interest(5)]);
    assert_eq!(node.interest(1, "/a/b/1"), [Sent::Interest(4)]);
}

#[test]
fn measurements_are_forgotten_after_eight_seconds() {
    let mut node = node();
    learn(&mut node, 0);
    node.wait_ms(7_999);
    assert_eq!(node.interest(1, "/a/b/1"), [Sent::Interest(4)]);
    node.wait_ms(1);
    assert_eq!(node.interest(1, "/a/b/2"), [3, 4, 5].map(Sent::Interest));
}

#[test]
fn after_the_retransmission_timeout_the_others_are_asked_once() {
    let mut node = node();
    // SRTT 100 ms and RTTVAR 50 ms make 300 ms.
    learn(&mut node, 100);
    assert_eq!(node.interest(1, "/a/b/1"), [Sent::Interest(4)]);
    assert_eq!(node.wait_ms(299), []);
    // Timers are met to within a millisecond.
    assert_eq!(node.wait_ms(2), [3, 5].map(Sent::Interest));
    assert_eq!(node.wait_ms(3000), []);
    assert_eq!(node.data(5, "/a/b/1"), [Sent::Data(1)]);
    assert_eq!(node.interest(1, "/a/b/2"), [Sent::Interest(5)], "5 answered last");
}

#[test]
fn the_timeout_asks_neither_the_consumer_nor_anybody_for_one_that_has_gone() {
    let mut node = Node::new("access", 4);
    // The consumer, too, is a next hop.
    node.route("/a", &[(1, 0), (3, 10), (4, 20)]);
    node.interest(1, "/a/b/0");
    node.data(4, "/a/b/0");
    assert_eq!(node.interest(1, "/a/b/1"), [Sent::Interest(4)]);
    assert_eq!(node.wait_ms(1000), [Sent::Interest(3)]);
    // Data that comes in time stops the timer.
    node.interest(1, "/a/b/2");
    assert_eq!(node.data(4, "/a/b/2"), [Sent::Data(1)]);
    assert_eq!(node.wait_ms(1000), []);
}

#[test]
fn retransmissions_go_to_all_after_a_fixed_100_ms() {
    let mut node = node();
    learn(&mut node, 0);
    // The timeout is the shortest one, 200 ms.
    assert_eq!(node.interest(1, "/a/b/1"), [Sent::Interest(4)]);
    node.wait_ms(99);
    assert_eq!(node.interest(1, "/a/b/1"), []);
    node.wait_ms(1);
    assert_eq!(node.interest(1, "/a/b/1"), [3, 4, 5].map(Sent::Interest));
    node.wait_ms(99);
    assert_eq!(node.interest(1, "/a/b/1"), []);
    assert_eq!(node.wait_ms(1), [], "when the timeout comes, all have been asked");
    assert_eq!(node.interest(2, "/a/b/1"), [3, 4, 5].map(Sent::Interest));
}

#[test]
fn a_last_next_hop_that_is_gone_or_no_next_hop_any_more_is_not_used() {
    let mut node = node();
    learn(&mut node, 30);
    let prefix: packet::Name = "/a".parse().unwrap();
    assert!(node.engine.remove_route(packet::Dialect::Ndn, prefix.as_ref(), FaceId(4)));
    assert_eq!(node.interest(1, "/a/b/1"), [3, 5].map(Sent::Interest));
    node.engine.remove_face(FaceId(3));
    assert_eq!(node.interest(1, "/a/b/2"), [Sent::Interest(5)]);
}

#[test]
fn without_a_next_hop_the_interest_ends_without_a_word() {
    let mut node = node();
    assert_eq!(node.interest(1, "/b/1"), []);
    assert_eq!((node.pending(), node.drops(DropReason::NoNextHop)), (0, 1));
}

#[test]
fn a_nack_leaves_the_interest_to_the_timeout() {
    let mut node = node();
    learn(&mut node, 0);
    node.interest(1, "/a/b/1");
    assert_eq!(node.nack(4, NackReason::NoRoute), []);
    assert_eq!(node.wait(Duration::from_millis(201)), [3, 5].map(Sent::Interest));
}
