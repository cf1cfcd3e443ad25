//! Best route: the cheapest, then the others, not too often; and what it and its relatives do with Nacks.

use cairn_engine::*;
use packet::NackReason;
use packet::time::Duration;

use crate::node::{Node, Sent};

/// Consumers 1 and 2; next hops 3, 4 and 5 by rising cost.
fn node() -> Node {
    let mut node = Node::new("best-route", 5);
    node.route("/a", &[(5, 30), (3, 10), (4, 20)]);
    node
}

#[test]
fn a_new_interest_takes_the_cheapest_next_hop_but_never_the_one_it_came_from() {
    let mut node = node();
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
    assert_eq!(node.interest(3, "/a/2"), [Sent::Interest(4)]);
}

#[test]
fn retransmissions_take_unused_next_hops_by_cost_and_then_the_one_used_longest_ago() {
    let mut node = node();
    let mut order = Vec::new();
    for _ in 0..7 {
        order.extend(node.interest(1, "/a/1"));
        node.wait_ms(300);
    }
    assert_eq!(order, [3, 4, 5, 3, 4, 5, 3].map(Sent::Interest));
}

#[test]
fn retransmissions_are_suppressed_for_10_ms_doubling_up_to_250() {
    for strategy in ["best-route", "load-balance", "stateful-forwarding"] {
        let mut node = Node::new(strategy, 5);
        node.route("/a", &[(3, 10), (4, 20)]);
        assert_eq!(node.interest(1, "/a/1").len(), 1);
        for interval in [10, 20, 40, 80, 160, 250, 250] {
            node.wait(Duration::from_nanos(interval * 1_000_000 - 1));
            let before = node.drops(DropReason::RetransmissionSuppressed);
            assert_eq!(node.interest(1, "/a/1"), [], "{strategy}: too early within {interval} ms");
            assert_eq!(node.drops(DropReason::RetransmissionSuppressed), before + 1);
            node.wait(Duration::from_nanos(1));
            assert_eq!(node.interest(1, "/a/1").len(), 1, "{strategy}: after {interval} ms");
        }
    }
}

#[test]
fn another_consumers_first_interest_waits_with_the_others_for_the_longest_interval() {
    for strategy in ["best-route", "load-balance", "stateful-forwarding", "asf", "multicast"] {
        let mut node = Node::new(strategy, 5);
        node.route("/a", &[(4, 10)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(4)]);
        node.wait(Duration::from_nanos(250_000_000 - 1));
        assert_eq!(node.interest(2, "/a/1"), [], "{strategy}: the answer may be on its way");
        node.wait(Duration::from_nanos(1));
        assert_eq!(node.interest(3, "/a/1"), [Sent::Interest(4)], "{strategy}: the answer is late");
        assert_eq!(node.data(4, "/a/1"), [1, 2, 3].map(Sent::Data), "{strategy}: all who asked get it");
    }
}

#[test]
fn who_was_asked_and_asks_does_not_wait_for_itself() {
    for strategy in ["best-route", "load-balance", "stateful-forwarding", "asf"] {
        let mut node = Node::new(strategy, 5);
        node.route("/a", &[(3, 10)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
        node.route("/a", &[(3, 10), (4, 20)]);
        node.wait_ms(20);
        assert!(node.interest(3, "/a/1").contains(&Sent::Interest(4)), "{strategy}");
    }
}

#[test]
fn nobody_waits_with_an_interest_that_ends_long_before_their_own() {
    for strategy in ["best-route", "load-balance", "stateful-forwarding", "asf", "multicast"] {
        let mut node = Node::new(strategy, 5);
        node.route("/a", &[(4, 10)]);
        let brief = Duration::from_millis(100);
        assert_eq!(node.interest_of(1, "/a/1", brief, &Default::default()), [Sent::Interest(4)]);
        node.wait_ms(20);
        assert_eq!(node.interest(2, "/a/1"), [Sent::Interest(4)], "{strategy}: the answer may take longer");
    }
}

#[test]
fn nobody_waits_for_a_face_that_is_gone_or_no_next_hop_any_more() {
    for strategy in ["best-route", "load-balance", "stateful-forwarding", "asf"] {
        let mut node = Node::new(strategy, 5);
        node.route("/a", &[(3, 10), (4, 20)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
        node.engine.remove_face(FaceId(3));
        node.wait_ms(20);
        assert_eq!(node.interest(2, "/a/1"), [Sent::Interest(4)], "{strategy}");
    }
}

#[test]
fn after_a_nack_the_consumer_is_told_and_its_next_interest_takes_the_cheapest_next_hop_again() {
    let mut node = node();
    for number in 0..3 {
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)], "{number}");
        // The only one who was asked: the others are not tried, for that is left to who asks again.
        assert_eq!(node.nack(3, NackReason::NoRoute), [Sent::Nack(1, NackReason::NoRoute)], "{number}");
        assert_eq!(node.pending(), 0);
    }
    // An Interest that comes again while the first is neither answered nor refused does go elsewhere.
    assert_eq!(node.interest(1, "/a/2"), [Sent::Interest(3)]);
    node.wait_ms(20);
    assert_eq!(node.interest(1, "/a/2"), [Sent::Interest(4)]);
    assert_eq!(node.nack(3, NackReason::NoRoute), []);
    assert_eq!(node.data(4, "/a/2"), [Sent::Data(1)]);
}

#[test]
fn a_congestion_mark_goes_on_with_the_interest_it_came_with_and_with_no_later_one() {
    for strategy in ["best-route", "multicast", "load-balance", "stateful-forwarding"] {
        let mut node = Node::new(strategy, 5);
        node.route("/a", &[(3, 10)]);
        let marks = |node: &Node| -> Vec<u64> {
            node.transmits.iter().map(|transmit| transmit.congestion_mark).collect()
        };
        let marked = packet::LinkHeader { congestion_mark: 7, ..Default::default() };
        let lifetime = Duration::from_secs(4);
        assert_eq!(node.interest_of(1, "/a/1", lifetime, &marked), [Sent::Interest(3)], "{strategy}");
        assert_eq!(marks(&node), [7], "{strategy}");
        node.wait_ms(300);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)], "{strategy}");
        assert_eq!(marks(&node), [0], "{strategy}: the mark was on the first one");
        // The Data has a mark of its own, or none.
        assert_eq!(node.data(3, "/a/1"), [Sent::Data(1)]);
        assert_eq!(marks(&node), [0], "{strategy}");
        let told = packet::LinkHeader { next_hop_face: Some(4), ..marked };
        assert_eq!(node.interest_of(1, "/a/2", lifetime, &told), [Sent::Interest(4)], "{strategy}");
        assert_eq!(marks(&node), [7], "{strategy}");
    }
}

#[test]
fn the_intervals_can_be_set() {
    let spec =
        "best-route/retx-suppression-initial~100/retx-suppression-multiplier~3/retx-suppression-max~200";
    let mut node = Node::new(spec, 4);
    node.route("/a", &[(3, 10), (4, 20)]);
    let mut sent_at = Vec::new();
    for millis in 0..1000 {
        if !node.interest(1, "/a/1").is_empty() {
            sent_at.push(millis);
        }
        node.wait_ms(1);
    }
    assert_eq!(sent_at, [0, 100, 300, 500, 700, 900]);
}

#[test]
fn an_interest_whose_out_records_have_ended_counts_as_new() {
    let mut node = node();
    let short = Duration::from_millis(100);
    node.interest_of(1, "/a/1", short, &Default::default());
    node.wait_ms(95);
    // Suppression is over, so this one goes to the next; it also keeps the Interest pending.
    assert_eq!(node.interest_of(1, "/a/1", short, &Default::default()), [Sent::Interest(4)]);
    node.nack(4, NackReason::Duplicate);
    node.wait_ms(6);
    assert_eq!(node.pending(), 1);
    // Sent six milliseconds ago, but neither answer is awaited any more.
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
}

#[test]
fn without_a_next_hop_the_interest_goes_back_with_no_route() {
    for strategy in ["best-route", "random", "load-balance", "stateful-forwarding", "asf"] {
        let mut node = Node::new(strategy, 2);
        node.route("/a", &[(1, 0)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Nack(1, NackReason::NoRoute)], "{strategy}");
        assert_eq!(node.interest(1, "/b/1"), [Sent::Nack(1, NackReason::NoRoute)], "{strategy}");
        assert_eq!(node.pending(), 0, "{strategy}");
        assert_eq!(node.drops(DropReason::NoNextHop), 2, "{strategy}");
    }
}

#[test]
fn who_finds_no_next_hop_waits_if_the_interest_is_under_way_for_another() {
    for strategy in ["best-route", "random", "load-balance", "stateful-forwarding", "asf"] {
        let mut node = Node::new(strategy, 2);
        node.route("/a", &[(2, 0)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(2)], "{strategy}");
        node.wait_ms(20);
        assert_eq!(node.interest(2, "/a/1"), [], "{strategy}");
        assert_eq!(node.pending(), 1, "{strategy}");
        assert_eq!(node.data(2, "/a/1"), [Sent::Data(1)], "{strategy}");
    }
}

#[test]
fn a_nack_goes_on_when_all_have_sent_one_with_the_least_severe_reason() {
    use NackReason::*;
    for strategy in ["best-route", "random", "load-balance", "stateful-forwarding", "asf"] {
        for (first, second, least) in [
            (Congestion, NoRoute, Congestion),
            (NoRoute, Duplicate, Duplicate),
            (Unspecified, NoRoute, NoRoute),
            (Unspecified, Unspecified, Unspecified),
        ] {
            let mut node = Node::new(strategy, 4);
            node.route("/a", &[(3, 10), (4, 20)]);
            let mut upstreams = node.interest(1, "/a/1");
            // Random may take the same one several times.
            while upstreams.len() < 2 {
                node.wait_ms(300);
                upstreams.extend(node.interest(2, "/a/1"));
                upstreams.sort();
                upstreams.dedup();
            }
            assert_eq!(upstreams, [3, 4].map(Sent::Interest));
            assert_eq!(node.nack(3, first), [], "{strategy}: 4 has not answered");
            let back = [Sent::Nack(1, least), Sent::Nack(2, least)];
            assert_eq!(node.nack(4, second), back, "{strategy}");
            assert_eq!(node.pending(), 0, "{strategy}");
        }
    }
}

#[test]
fn one_that_waits_for_us_as_we_wait_for_it_is_told_at_once() {
    for strategy in ["best-route", "load-balance", "stateful-forwarding", "asf"] {
        let mut node = Node::new(strategy, 4);
        node.route("/a", &[(3, 10), (4, 20)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
        node.wait_ms(300);
        // 4 asks for the same, and is asked on behalf of 1 later.
        assert_eq!(node.interest(4, "/a/1"), [Sent::Interest(3)]);
        node.wait_ms(300);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(4)]);
        let reason = NackReason::NoRoute;
        assert_eq!(node.nack(3, reason), [Sent::Nack(4, reason)], "{strategy}");
        assert_eq!(node.pending(), 1, "1 still waits for 4");
        assert_eq!(node.data(4, "/a/1"), [Sent::Data(1)]);
    }
}

#[test]
fn nobody_waits_for_the_nack_of_a_face_that_is_gone() {
    let mut node = node();
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
    node.wait_ms(20);
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(4)]);
    node.engine.remove_face(FaceId(3));
    assert_eq!(node.nack(4, NackReason::Congestion), [Sent::Nack(1, NackReason::Congestion)]);
}
