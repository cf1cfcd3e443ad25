//! Self-learning: flood, learn, follow, forget.

use cairn_engine::*;
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Buffer, Dialect, LinkHeader, LinkType, NackReason, Packet};

use crate::node::{Node, Sent};

const LIFETIME: Duration = Duration::from_secs(4);

/// Faces 1 to 4 lead to other hosts, 5 and 6 to applications.
fn node() -> Node {
    let mut node = Node::new("self-learning", 4);
    node.face(5, FaceConfig::local());
    node.face(6, FaceConfig::local());
    node
}

fn announcement() -> Buffer {
    Buffer::from(b"prefix announcement".to_vec())
}

fn marked() -> LinkHeader {
    LinkHeader { non_discovery: true, ..LinkHeader::default() }
}

fn with_announcement() -> LinkHeader {
    LinkHeader { prefix_announcement: Some(announcement()), ..LinkHeader::default() }
}

/// Marks of all Interests just sent.
fn marks(node: &Node) -> Vec<bool> {
    node.transmits.iter().map(|transmit| transmit.non_discovery).collect()
}

fn announced(node: &Node) -> Option<Buffer> {
    assert!(!node.transmits.is_empty());
    node.transmits[0].prefix_announcement.as_deref().cloned()
}

#[test]
fn without_a_route_a_discovery_interest_goes_to_all_other_hosts() {
    let mut node = node();
    assert_eq!(node.interest(5, "/a/1"), [1, 2, 3, 4].map(Sent::Interest));
    assert_eq!(marks(&node), [false; 4]);
    assert_eq!(node.interest(2, "/a/2"), [1, 3, 4].map(Sent::Interest), "nor back, nor to applications");
    assert_eq!(node.interest(5, "/localhost/a"), []);
    assert_eq!(node.interest(1, "/localhop/a"), []);
    assert_eq!(node.drops(DropReason::NoNextHop), 2);
}

#[test]
fn a_wireless_face_hears_the_flood_again() {
    let mut node = node();
    node.face(7, FaceConfig { link_type: LinkType::AdHoc, ..FaceConfig::remote() });
    assert_eq!(node.interest(7, "/a/1"), [1, 2, 3, 4, 7].map(Sent::Interest));
}

#[test]
fn with_a_route_interests_follow_it_and_are_marked() {
    let mut node = node();
    node.route("/a", &[(2, 0), (3, 0)]);
    assert_eq!(node.interest(1, "/a/1"), [2, 3].map(Sent::Interest));
    assert_eq!(marks(&node), [true; 2]);
    assert_eq!(node.interest_of(1, "/a/2", LIFETIME, &marked()), [2, 3].map(Sent::Interest));
    assert_eq!(marks(&node), [true; 2]);
}

#[test]
fn a_marked_interest_without_a_route_goes_back() {
    let mut node = node();
    assert_eq!(node.interest_of(1, "/a/1", LIFETIME, &marked()), [Sent::Nack(1, NackReason::NoRoute)]);
    assert_eq!(node.pending(), 0);
}

#[test]
fn data_that_answers_a_discovery_brings_its_announcement_to_the_owner_and_on() {
    let mut node = node();
    node.interest(1, "/a/1");
    assert_eq!(node.data_with(3, "/a/1", &with_announcement()), [Sent::Data(1)]);
    assert_eq!(announced(&node), Some(announcement()));
    let event = Event::RouteAnnounced { face: FaceId(3), announcement: announcement() };
    assert_eq!(node.events(), [event]);
    // The upstream may not know of self-learning.
    node.interest(1, "/a/2");
    assert_eq!(node.data(3, "/a/2"), [Sent::Data(1)]);
    assert_eq!((announced(&node), node.events()), (None, vec![]));
}

#[test]
fn an_announcement_with_data_that_followed_a_route_is_not_believed() {
    let mut node = node();
    node.route("/a", &[(3, 0)]);
    node.interest_of(1, "/a/1", LIFETIME, &marked());
    assert_eq!(node.data_with(3, "/a/1", &with_announcement()), [Sent::Data(1)]);
    assert_eq!((announced(&node), node.events()), (None, vec![]));
}

#[test]
fn who_asked_by_discovery_gets_the_routes_announcement_with_the_data() {
    let mut node = node();
    node.learned_route("/a", &[(3, 0)], &announcement());
    node.interest(1, "/a/1");
    assert_eq!(node.data(3, "/a/1"), [Sent::Data(1)]);
    assert_eq!(announced(&node), Some(announcement()));
    // Who follows a route has one.
    node.interest_of(1, "/a/2", LIFETIME, &marked());
    assert_eq!(node.data(3, "/a/2"), [Sent::Data(1)]);
    assert_eq!(announced(&node), None);
    // Applications learn no routes.
    node.interest(5, "/a/3");
    assert_eq!(node.data(3, "/a/3"), [Sent::Data(5)]);
    assert_eq!(announced(&node), None);
}

#[test]
fn data_for_a_discovery_is_held_back_when_the_route_has_no_announcement() {
    let mut node = node();
    node.route("/a", &[(3, 0)]);
    node.interest(1, "/a/1");
    assert_eq!(node.data(3, "/a/1"), []);
    assert_eq!(node.drops(DropReason::NoAnnouncement), 1);
    assert_eq!(node.engine.face_pending(FaceId(1)), Some(0));
    assert_eq!(node.pending(), 0);
    // NFD's rule: one discovery and one other host among those who wait, not necessarily the same.
    node.interest(5, "/a/2");
    node.interest_of(1, "/a/2", LIFETIME, &marked());
    assert_eq!(node.data(3, "/a/2"), []);
    node.interest(5, "/a/3");
    node.interest_of(6, "/a/3", LIFETIME, &marked());
    assert_eq!(node.data(3, "/a/3"), [5, 6].map(Sent::Data));
}

#[test]
fn data_that_answers_several_interests_is_held_back_from_those_who_must_learn() {
    let mut node = node();
    node.route("/a", &[(3, 0)]);
    node.interest(1, "/a/1");
    let interest = InterestBuilder::new("/a".parse().unwrap()).can_be_prefix(true).nonce(9).build().unwrap();
    let hashes = node.engine.hasher().hash(Dialect::Ndn, interest.name().components());
    let header = marked();
    let arrival = Arrival { now: node.now, face: FaceId(2), hashes: &hashes, header: &header };
    node.engine.receive(arrival, Packet::Interest(interest));
    assert_eq!(node.pending(), 2);
    assert!(!node.data(3, "/a/1").contains(&Sent::Data(1)));
    assert!(node.transmits.iter().any(|sent| sent.face == FaceId(2)), "who follows a route has one");
    assert_eq!((node.drops(DropReason::NoAnnouncement), node.pending()), (1, 0));
}

#[test]
fn a_discovery_that_has_ended_needs_no_announcement() {
    let mut node = node();
    node.route("/a", &[(3, 0)]);
    node.interest_of(1, "/a/1", Duration::from_millis(100), &LinkHeader::default());
    node.interest_of(2, "/a/1", LIFETIME, &marked());
    node.wait_ms(200);
    assert_eq!(node.data(3, "/a/1"), [Sent::Data(2)]);
}

#[test]
fn no_route_further_on_ends_the_interest_and_the_route() {
    let mut node = node();
    node.route("/a", &[(2, 0), (3, 0)]);
    node.interest(1, "/a/1");
    for reason in [NackReason::Congestion, NackReason::Duplicate] {
        assert_eq!(node.nack(2, reason), [], "other reasons pass");
    }
    assert_eq!(node.events(), []);
    assert_eq!(node.nack(3, NackReason::NoRoute), [Sent::Nack(1, NackReason::NoRoute)]);
    assert_eq!(node.events(), [Event::RouteFailed { face: FaceId(3), name: "/a/1".parse().unwrap() }]);
    assert_eq!(node.pending(), 0);
}

#[test]
fn retransmissions_are_not_suppressed() {
    let mut node = node();
    assert_eq!(node.interest(1, "/a/1").len(), 3);
    assert_eq!(node.interest(1, "/a/1").len(), 3);
}

#[test]
fn three_nodes_in_a_row_learn_the_way_to_a_producer() {
    // consumer (5) – a – b – c – producer (5); 1 leads to the left, 2 to the right. Node c knows its
    // producer.
    let mut nodes = [node(), node(), node()];
    nodes[2].learned_route("/p", &[(5, 0)], &announcement());
    assert!(nodes[0].interest(5, "/p/1").contains(&Sent::Interest(2)));
    assert!(nodes[1].interest(1, "/p/1").contains(&Sent::Interest(2)));
    assert_eq!(nodes[2].interest(1, "/p/1"), [Sent::Interest(5)]);
    // The Data comes back, and each owner believes what comes with it.
    assert_eq!(nodes[2].data(5, "/p/1"), [Sent::Data(1)]);
    let mut header = nodes[2].transmits[0].clone().into_parts().1;
    for place in [1, 0] {
        let node = &mut nodes[place];
        assert_eq!(node.data_with(2, "/p/1", &header).len(), 1);
        header = node.transmits[0].clone().into_parts().1;
        let [Event::RouteAnnounced { face, announcement }] = &node.events()[..] else { panic!() };
        assert_eq!(node.learned_route("/p", &[(face.0, 0)], announcement), []);
    }
    // The next Interest floods nobody.
    assert_eq!(nodes[0].interest(5, "/p/2"), [Sent::Interest(2)]);
    let header = nodes[0].transmits[0].clone().into_parts().1;
    assert_eq!(nodes[1].interest_of(1, "/p/2", LIFETIME, &header), [Sent::Interest(2)]);
}
