//! Where copies of passing Data are left.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use cairn_engine::{CachePlacement, FaceConfig, FaceId, Transmit};
use packet::{CachePolicy, LinkHeader, Packet};

use common::{CONSUMER, Node, OTHER, PRODUCER, data};

const NEIGHBOUR: FaceId = CONSUMER;
const APPLICATION: FaceId = OTHER;

fn node(placement: &str, room: u32) -> Node {
    let mut node = Node::new(|config| {
        config.content_store.placement = placement.parse().unwrap();
        config.content_store.max_entries = room;
    });
    node.configure(APPLICATION, FaceConfig::local());
    node.route("/", PRODUCER).unwrap();
    node
}

/// Answers it, and gives what the one who asked is told about keeping the answer.
fn answer(node: &mut Node, uri: &str, told: Option<CachePolicy>) -> Option<CachePolicy> {
    let header = LinkHeader { cache_policy: told, ..LinkHeader::NONE };
    let sent = node.data_with(PRODUCER, &data(uri, 1), &header);
    let [transmit] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(transmit.is_bare(), transmit.cache_policy.is_none());
    transmit.clone().into_parts().1.cache_policy
}

fn has(node: &Node) -> u32 {
    node.engine.table_sizes().cached
}

#[test]
fn leave_copy_down_keeps_what_nobody_kept_and_tells_those_behind() {
    let mut node = node("leave-copy-down", 10);
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(answer(&mut node, "/a", None), Some(CachePolicy::NoCache));
    assert_eq!(has(&node), 1);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(answer(&mut node, "/b", Some(CachePolicy::NoCache)), Some(CachePolicy::NoCache));
    assert_eq!(has(&node), 1);
    // What a cache has comes with no such word, so that the next node takes a copy.
    let hit = node.ask(NEIGHBOUR, "/a");
    assert!(matches!(&hit[..], [Transmit { packet: Packet::Data(_), cache_policy: None, .. }]), "{hit:?}");
}

#[test]
fn a_node_without_room_passes_on_what_it_was_told() {
    let mut node = node("leave-copy-down", 0);
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(answer(&mut node, "/a", None), None);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(answer(&mut node, "/b", Some(CachePolicy::NoCache)), Some(CachePolicy::NoCache));
}

#[test]
fn everywhere_keeps_all_and_says_nothing() {
    let mut node = node("everywhere", 10);
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(answer(&mut node, "/a", None), None);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(answer(&mut node, "/b", Some(CachePolicy::NoCache)), None);
    assert_eq!(has(&node), 1);
}

#[test]
fn at_the_edge_only_what_an_application_waits_for_is_kept() {
    let mut node = node("local-consumers", 10);
    node.ask(NEIGHBOUR, "/a");
    answer(&mut node, "/a", None);
    assert_eq!(has(&node), 0);
    node.ask(APPLICATION, "/b");
    answer(&mut node, "/b", None);
    assert_eq!(has(&node), 1);
    assert_eq!(node.engine.content_store_counters().passed_on, 1);
}

#[test]
fn with_a_probability_so_many_copies_are_left() {
    let mut node = node("probability~0.3", 10_000);
    for number in 0..2_000 {
        let uri = format!("/{number}");
        node.ask(NEIGHBOUR, &uri);
        assert_eq!(answer(&mut node, &uri, None), None);
    }
    let kept = has(&node);
    assert!((540..660).contains(&kept), "{kept}");
    assert_eq!(node.engine.content_store_counters().passed_on, u64::from(2_000 - kept));
}

#[test]
fn a_placement_can_be_changed_while_interests_wait() {
    let mut node = node("everywhere", 10);
    let config = *node.engine.content_store_config();
    let placement = CachePlacement::LeaveCopyDown;
    node.engine.configure_content_store(cairn_engine::ContentStoreConfig { placement, ..config });
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(answer(&mut node, "/a", None), Some(CachePolicy::NoCache));
    node.engine.configure_content_store(config);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(answer(&mut node, "/b", None), None);
}
