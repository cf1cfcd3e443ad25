//! Links where all hear each other: who asks, who waits, and what is kept of what others asked for.

use cairn_engine::*;
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{LinkType, Packet};

use crate::node::{CONSUMER, Node, PRODUCER, data, name};

/// A node whose producer is behind a shared link, with a consumer on this host or not.
fn node(consumer: FaceScope) -> Node {
    let mut node = Node::new(|_| {});
    node.configure(CONSUMER, FaceConfig { scope: consumer, ..FaceConfig::remote() });
    let sharing = Some(SharingConfig::LOCAL);
    node.configure(
        PRODUCER,
        FaceConfig { link_type: LinkType::MultiAccess, sharing, ..FaceConfig::remote() },
    );
    node
}

/// Another node is being sent this object: so much Data that it is a stream.
fn others_are_answered(node: &mut Node, object: &str, first: u64) {
    for segment in first..first + 64 {
        node.data(PRODUCER, &data(&format!("{object}/{segment}"), 1));
    }
}

#[test]
fn who_hears_nobody_else_asks_at_once() {
    let mut node = node(FaceScope::Local);
    assert_eq!(node.ask(CONSUMER, "/a/object/0").len(), 1);
    node.data(PRODUCER, &data("/a/object/0", 1));
    assert_eq!(node.ask(CONSUMER, "/a/object/1").len(), 1);
}

#[test]
fn who_hears_that_others_are_answered_waits_for_silence_and_no_longer_than_its_patience() {
    let mut node = node(FaceScope::Local);
    // Nothing that others get comes after this, so nothing seems to be missing.
    node.ask(CONSUMER, "/a/object/99999999");
    others_are_answered(&mut node, "/a/object", 1000);
    assert_eq!(node.ask(CONSUMER, "/a/object/1").len(), 0);
    // What others get now is kept, and answers.
    assert_eq!(node.ask(CONSUMER, "/a/object/1001").len(), 1);
    assert_eq!(node.engine.counters().cache_hits, 1);
    node.wait(SharingConfig::LOCAL.silence + SharingConfig::LOCAL.max_wait);
    assert_eq!(node.sent().len(), 1);

    // Whoever goes on for ever does not keep this node from asking.
    others_are_answered(&mut node, "/a/object", 2000);
    let interest = InterestBuilder::new(name("/a/object/2")).nonce(99).lifetime(Duration::from_secs(2));
    let interest = interest.build().unwrap();
    assert_eq!(node.interest(CONSUMER, &interest).len(), 0);
    let mut waited = 0;
    let is_it =
        |sent: &Transmit| matches!(&sent.packet, Packet::Interest(it) if it.name() == interest.name());
    while !node.sent().iter().any(is_it) {
        others_are_answered(&mut node, "/a/object", 3000 + 64 * waited);
        node.wait(Duration::from_millis(1));
        waited += 1;
    }
    assert!((1_490..=1_520).contains(&waited), "{waited} ms");
}

#[test]
fn what_others_asked_for_is_kept_only_where_a_local_application_asks_for_the_same_object() {
    for (scope, object, kept) in [
        (FaceScope::Local, "/a/object", 64),
        (FaceScope::Local, "/a/other", 0),
        (FaceScope::NonLocal, "/a/object", 0),
    ] {
        let mut node = node(scope);
        node.ask(CONSUMER, "/a/object/0");
        others_are_answered(&mut node, object, 1000);
        assert_eq!(node.engine.table_sizes().cached, kept, "{scope:?} {object}");
    }
}

#[test]
fn what_another_has_asked_for_is_not_asked_for_again_before_it_was_in_vain() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/0");
    node.wait(Duration::from_millis(50));
    node.ask(PRODUCER, "/a/object/1");
    assert_eq!(node.ask(CONSUMER, "/a/object/1").len(), 0);
    // Meanwhile the node asks for the first again, which nobody has answered.
    node.wait(Duration::from_millis(99));
    assert_eq!(node.sent().len(), 1);
    node.wait(Duration::from_millis(2));
    assert_eq!(node.sent().len(), 1);
}

#[test]
fn who_is_behind_the_link_itself_answers_what_was_asked_for_in_vain_and_only_then() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/0");
    node.data(PRODUCER, &data("/a/object/0", 1));
    let mut answers = Vec::new();
    node.wait(Duration::from_secs(1));
    for _ in 0..2 {
        node.ask(PRODUCER, "/a/object/0");
        node.wait(Duration::from_millis(150));
        answers.push(node.sent().len());
    }
    assert_eq!(answers, [0, 1]);
}

#[test]
fn what_is_missing_while_later_names_come_is_asked_for_again_and_later_data_waits_for_it() {
    let mut node = node(FaceScope::Local);
    for segment in 0..8 {
        assert_eq!(node.ask(CONSUMER, &format!("/a/object/{segment}")).len(), 1);
    }
    assert_eq!(node.data(PRODUCER, &data("/a/object/0", 1)).len(), 1);
    for segment in 2..8 {
        assert_eq!(node.data(PRODUCER, &data(&format!("/a/object/{segment}"), 1)).len(), 0, "{segment}");
    }
    // Only the node asks again, once.
    node.wait(Duration::from_millis(10));
    assert_eq!(node.sent().len(), 1);
    // What was lost comes, and with it what waited.
    assert_eq!(node.data(PRODUCER, &data("/a/object/1", 1)).len(), 7);
}

#[test]
fn data_waits_no_longer_for_what_is_missing_than_an_application_would() {
    let mut node = node(FaceScope::Local);
    for segment in 0..8 {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
    }
    for segment in 1..8 {
        assert_eq!(node.data(PRODUCER, &data(&format!("/a/object/{segment}"), 1)).len(), 0);
    }
    let mut waited = 0;
    let mut came = 0;
    while waited < 100 {
        node.wait(Duration::from_millis(1));
        waited += 1;
        came += node.sent().iter().filter(|sent| sent.face == CONSUMER).count();
    }
    assert_eq!(came, 7);
}
