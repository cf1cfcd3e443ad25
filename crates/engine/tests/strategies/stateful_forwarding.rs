//! Stateful forwarding: buckets of tokens, and Nacks when they are empty.

use cairn_engine::*;
use packet::NackReason;

use crate::node::{Node, Sent};

/// Sends `count` Interests for different names at once; gives how many went to each face, and how many came
/// back.
fn burst(node: &mut Node, prefix: &str, count: u32) -> ([u32; 5], u32) {
    let (mut sent, mut congested) = ([0; 5], 0);
    for _ in 0..count {
        let name = format!("{prefix}/{}", node.next_nonce());
        match node.interest(1, &name)[..] {
            [Sent::Interest(face)] => sent[face as usize] += 1,
            [Sent::Nack(1, NackReason::Congestion)] => congested += 1,
            ref other => panic!("{other:?}"),
        }
    }
    (sent, congested)
}

#[test]
fn a_burst_of_the_buckets_depth_passes_and_the_rest_goes_back_with_congestion() {
    let mut node = Node::new("stateful-forwarding", 4);
    node.route("/a", &[(2, 0)]);
    assert_eq!(burst(&mut node, "/a", 80), ([0, 0, 50, 0, 0], 30));
    assert_eq!(node.drops(DropReason::UpstreamRate), 30);
    assert_eq!(node.pending(), 50, "what was sent back is not pending");
    // A thousand a second.
    node.wait_ms(20);
    assert_eq!(burst(&mut node, "/a", 80), ([0, 0, 20, 0, 0], 60));
    node.wait_ms(60_000);
    assert_eq!(burst(&mut node, "/a", 80), ([0, 0, 50, 0, 0], 30));
}

#[test]
fn when_one_bucket_is_empty_the_next_next_hop_is_used() {
    let mut node = Node::new("stateful-forwarding/rate~10/depth~5", 4);
    node.route("/a", &[(2, 1), (3, 2)]);
    assert_eq!(burst(&mut node, "/a", 12), ([0, 0, 5, 5, 0], 2));
}

#[test]
fn buckets_are_for_routes_or_for_faces() {
    for (limit, second) in [("route", ([0, 0, 5, 0, 0], 5)), ("face", ([0; 5], 10))] {
        let mut node = Node::new(&format!("stateful-forwarding/rate~1/depth~5/limit~{limit}"), 4);
        node.route("/a", &[(2, 0)]);
        node.route("/b", &[(2, 0)]);
        node.route("/c", &[(3, 0)]);
        assert_eq!(burst(&mut node, "/a", 10), ([0, 0, 5, 0, 0], 5));
        assert_eq!(burst(&mut node, "/b", 10), second, "per {limit}");
        assert_eq!(burst(&mut node, "/c", 10), ([0, 0, 0, 5, 0], 5), "another face always has its own");
    }
}

#[test]
fn whole_tokens_come_one_at_a_time_at_a_rate_that_may_have_a_fraction() {
    let mut node = Node::new("stateful-forwarding/rate~2.5/depth~3/tokens~whole", 4);
    node.route("/a", &[(2, 0)]);
    assert_eq!(burst(&mut node, "/a", 5), ([0, 0, 3, 0, 0], 2));
    node.wait_ms(2_000);
    assert_eq!(burst(&mut node, "/a", 5), ([0, 0, 3, 0, 0], 2), "five came, and three fit");
    node.wait_ms(400);
    assert_eq!(burst(&mut node, "/a", 5), ([0, 0, 1, 0, 0], 4));
}

#[test]
fn an_adapting_route_is_limited_before_its_face_and_grows_by_data_and_is_halved_by_nacks() {
    let mut node = Node::new("stateful-forwarding/rate~100/depth~4/limit~face/start~2", 4);
    node.route("/a", &[(2, 0)]);
    node.route("/b", &[(2, 0)]);
    assert_eq!(burst(&mut node, "/a", 8), ([0, 0, 4, 0, 0], 4));
    // The face has room again, the route has leaked two.
    node.wait_ms(1_000);
    assert_eq!(burst(&mut node, "/a", 8), ([0, 0, 2, 0, 0], 6));
    assert_eq!(burst(&mut node, "/b", 1), ([0, 0, 1, 0, 0], 0), "another route has a bucket of its own");
    node.wait_ms(2_000);
    for number in 0..2 {
        let name = format!("/a/data/{number}");
        assert_eq!(node.interest(1, &name), [Sent::Interest(2)]);
        assert_eq!(node.data(2, &name), [Sent::Data(1)]);
    }
    // Two Data: four a second now, of which half a second lets two pass beside the two that had room.
    assert_eq!(burst(&mut node, "/a", 8).0[2], 2);
    node.wait_ms(500);
    assert_eq!(burst(&mut node, "/a", 8).0[2], 2);
    node.wait_ms(1_000);
    for _ in 0..2 {
        assert_eq!(node.interest(1, "/a/nack"), [Sent::Interest(2)]);
        node.nack(2, NackReason::Congestion);
    }
    // Twice halved: one a second.
    assert_eq!(burst(&mut node, "/a", 8).0[2], 2);
    node.wait_ms(2_000);
    assert_eq!(burst(&mut node, "/a", 8).0[2], 2);
}

#[test]
fn a_route_that_does_not_adapt_keeps_its_limit_before_its_face() {
    let mut node =
        Node::new("stateful-forwarding/rate~100/depth~4/tokens~whole/leak~2/limit~face/start~2/adapt~no", 4);
    node.route("/a", &[(2, 0)]);
    node.route("/b", &[(2, 0)]);
    assert_eq!(burst(&mut node, "/a", 8), ([0, 0, 4, 0, 0], 4));
    assert_eq!(burst(&mut node, "/b", 8), ([0; 5], 8), "the face's bucket is full");
    // Each loses two at a time: the face's every 20 ms, the route's every second.
    node.wait_ms(900);
    assert_eq!(burst(&mut node, "/a", 8), ([0; 5], 8));
    node.wait_ms(100);
    assert_eq!(burst(&mut node, "/a", 8), ([0, 0, 2, 0, 0], 6));
    assert_eq!(burst(&mut node, "/b", 8), ([0, 0, 2, 0, 0], 6), "what the face has left");
    node.wait_ms(10_000);
    for number in 0..2 {
        let name = format!("/a/data/{number}");
        assert_eq!(node.interest(1, &name), [Sent::Interest(2)]);
        assert_eq!(node.data(2, &name), [Sent::Data(1)]);
    }
    node.wait_ms(1_000);
    assert_eq!(burst(&mut node, "/a", 8).0[2], 4, "two were free, two have leaked: no Data changes that");
}

#[test]
fn an_adapting_route_lives_with_a_face_that_may_send_less_than_one_a_second() {
    for rate in ["0", "0.5"] {
        let mut node = Node::new(&format!("stateful-forwarding/rate~{rate}/depth~3/tokens~whole/start~1"), 4);
        node.route("/a", &[(2, 0)]);
        assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(2)]);
        assert_eq!(node.data(2, "/a/1"), [Sent::Data(1)]);
        assert_eq!(node.interest(1, "/a/2"), [Sent::Interest(2)]);
        node.nack(2, NackReason::Congestion);
        assert_eq!(burst(&mut node, "/a", 8).0[2], 1, "the depth of the face's bucket, less two");
    }
}

#[test]
fn a_rate_of_zero_lets_the_depth_pass_once() {
    let mut node = Node::new("stateful-forwarding/rate~0/depth~3", 4);
    node.route("/a", &[(2, 0)]);
    assert_eq!(burst(&mut node, "/a", 10).1, 7);
    node.wait_ms(3_600_000);
    assert_eq!(burst(&mut node, "/a", 10).1, 10);
}

#[test]
fn a_retransmission_without_a_token_leaves_the_first_copy_under_way() {
    let mut node = Node::new("stateful-forwarding/rate~1/depth~1", 4);
    node.route("/a", &[(3, 0)]);
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(3)]);
    node.wait_ms(20);
    assert_eq!(node.interest(1, "/a/1"), []);
    assert_eq!(node.drops(DropReason::UpstreamRate), 1);
    assert_eq!(node.data(3, "/a/1"), [Sent::Data(1)]);
}
