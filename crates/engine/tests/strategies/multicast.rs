//! Multicast: everybody, but nobody too often.

use cairn_engine::*;
use packet::NackReason;
use packet::time::Duration;

use crate::node::{Node, Sent};

fn node() -> Node {
    let mut node = Node::new("multicast", 5);
    node.route("/a", &[(3, 10), (4, 20)]);
    node
}

#[test]
fn every_next_hop_but_the_one_it_came_from_gets_the_interest() {
    let mut node = node();
    assert_eq!(node.interest(1, "/a/1"), [3, 4].map(Sent::Interest));
    assert_eq!(node.interest(3, "/a/2"), [Sent::Interest(4)]);
}

#[test]
fn each_upstream_is_suppressed_by_itself() {
    let mut node = node();
    assert_eq!(node.interest(3, "/a/1"), [Sent::Interest(4)]);
    node.wait_ms(5);
    // 3 has not been asked yet, 4 only just now.
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
    node.wait_ms(5);
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(4)]);
    node.wait_ms(5);
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
    node.wait_ms(15);
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(4)]);
    assert_eq!(node.interest(1, "/a/1"), []);
    assert_eq!(node.drops(DropReason::RetransmissionSuppressed), 1);
}

#[test]
fn intervals_double_up_to_250_ms() {
    let mut node = node();
    node.interest(1, "/a/1");
    for interval in [10, 20, 40, 80, 160, 250, 250] {
        node.wait(Duration::from_nanos(interval * 1_000_000 - 1));
        assert_eq!(node.interest(1, "/a/1"), []);
        node.wait(Duration::from_nanos(1));
        assert_eq!(node.interest(1, "/a/1"), [3, 4].map(Sent::Interest), "after {interval} ms");
    }
}

#[test]
fn a_new_next_hop_gets_what_is_pending_under_its_prefix() {
    let mut node = node();
    node.route("/a/b", &[(3, 0)]);
    node.interest(1, "/a/1");
    node.interest(1, "/a/b/1");
    node.interest(5, "/a/2");
    // Not what has a longer route, nor what 5 itself asked for.
    assert_eq!(node.route("/a", &[(5, 0)]), [Sent::Interest(5)]);
    assert_eq!(node.asked[&5].name().to_string(), "/a/1");
    assert_eq!(node.data(5, "/a/1"), [Sent::Data(1)]);
}

#[test]
fn a_new_next_hop_matters_even_if_the_strategy_was_chosen_for_a_longer_prefix() {
    let mut node = Node::new("best-route", 5);
    let prefix: packet::Name = "/a/b".parse().unwrap();
    let multicast = "multicast".parse().unwrap();
    node.engine.set_strategy(packet::Dialect::Ndn, prefix.as_ref(), &multicast).unwrap();
    assert_eq!(node.interest(1, "/a/b/1"), []);
    assert_eq!(node.route("/a", &[(3, 0)]), [Sent::Interest(3)]);
}

#[test]
fn without_next_hops_and_after_nacks_the_interest_waits() {
    let mut node = node();
    assert_eq!(node.interest(1, "/b/1"), []);
    assert_eq!(node.drops(DropReason::NoNextHop), 1);
    node.interest(1, "/a/1");
    assert_eq!(node.nack(3, NackReason::NoRoute), []);
    assert_eq!(node.nack(4, NackReason::NoRoute), []);
    assert_eq!(node.pending(), 2);
    assert_eq!(node.data(4, "/a/1"), [Sent::Data(1)]);
    assert_eq!(node.wait_ms(5000), []);
    assert_eq!(node.pending(), 0);
}
