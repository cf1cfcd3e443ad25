//! Links where all hear each other: who asks, who waits, and what is kept of what others asked for.

use cairn_engine::*;
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Buffer, Data, LinkType, Packet};

use crate::common::{CONSUMER, Node, OTHER, PRODUCER, data, name};

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
    node.wait_and_settle(SharingConfig::LOCAL.silence + SharingConfig::LOCAL.max_wait);
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
        node.wait_and_settle(Duration::from_millis(1));
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
    node.wait_and_settle(Duration::from_millis(50));
    node.ask(PRODUCER, "/a/object/1");
    assert_eq!(node.ask(CONSUMER, "/a/object/1").len(), 0);
    // Meanwhile the node asks for the first again, which nobody has answered.
    node.wait_and_settle(Duration::from_millis(99));
    assert_eq!(node.sent().len(), 1);
    node.wait_and_settle(Duration::from_millis(2));
    assert_eq!(node.sent().len(), 1);
}

#[test]
fn who_is_behind_the_link_itself_answers_what_was_asked_for_in_vain_and_only_then() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/0");
    node.data(PRODUCER, &data("/a/object/0", 1));
    let mut answers = Vec::new();
    node.wait_and_settle(Duration::from_secs(1));
    for _ in 0..2 {
        node.ask(PRODUCER, "/a/object/0");
        node.wait_and_settle(Duration::from_millis(150));
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
    node.wait_and_settle(Duration::from_millis(10));
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
        node.wait_and_settle(Duration::from_millis(1));
        waited += 1;
        came += node.sent().iter().filter(|sent| sent.face == CONSUMER).count();
    }
    assert_eq!(came, 7);
}

/// The segments that were sent to the consumer, as they left.
fn segments(sent: &[Transmit]) -> Vec<String> {
    let to_consumer = sent.iter().filter(|sent| sent.face == CONSUMER);
    let last =
        |packet: &Packet| packet.name().last().map(|last| String::from_utf8_lossy(last.value).into_owned());
    to_consumer.filter_map(|sent| last(&sent.packet)).collect()
}

#[test]
fn data_that_waited_leaves_in_the_order_of_names_however_often_it_was_lost() {
    let mut node = node(FaceScope::Local);
    for segment in 0..8 {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
    }
    node.data(PRODUCER, &data("/a/object/0", 1));
    for segment in [2, 4, 5, 6, 7, 3] {
        assert_eq!(node.data(PRODUCER, &data(&format!("/a/object/{segment}"), 1)).len(), 0, "{segment}");
    }
    let sent = node.data(PRODUCER, &data("/a/object/1", 1));
    assert_eq!(segments(&sent), ["1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn a_second_copy_of_data_that_waits_does_not_leave_before_it() {
    let mut node = node(FaceScope::Local);
    for segment in 0..4 {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
    }
    node.data(PRODUCER, &data("/a/object/0", 1));
    for _ in 0..2 {
        assert_eq!(node.data(PRODUCER, &data("/a/object/2", 1)).len(), 0);
    }
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/1", 1))), ["1", "2"]);
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/3", 1))), ["3"]);
}

#[test]
fn data_does_not_wait_for_what_was_asked_for_after_it() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/9");
    node.wait_and_settle(Duration::from_millis(1));
    node.ask(CONSUMER, "/a/object/1");
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/9", 1))), ["9"]);
}

#[test]
fn data_waits_a_tenth_of_a_second_at_most_however_much_is_missing_before_it() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/1");
    node.ask(CONSUMER, "/a/object/50");
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/50", 1))), [""; 0]);
    let mut left = Vec::new();
    for missing in 2..22 {
        node.ask(CONSUMER, &format!("/a/object/{missing}"));
        node.ask(CONSUMER, &format!("/a/object/{}", 100 - missing));
        node.wait_and_settle(Duration::from_millis(5));
        left.extend(segments(&node.data(PRODUCER, &data(&format!("/a/object/{}", 100 - missing), 1))));
        left.extend(segments(&node.sent()));
    }
    node.wait_and_settle(Duration::from_millis(1));
    left.extend(segments(&node.sent()));
    assert!(left.contains(&"50".to_owned()), "{left:?}");
}

#[test]
fn what_was_answered_under_a_longer_name_is_not_asked_for_again() {
    let mut node = node(FaceScope::Local);
    let prefix = InterestBuilder::new(name("/a/object")).can_be_prefix(true).nonce(7);
    assert_eq!(node.interest(CONSUMER, &prefix.build().unwrap()).len(), 1);
    assert_eq!(node.data(PRODUCER, &data("/a/object/v/0", 1)).len(), 1);
    // Its entry is another's now.
    assert_eq!(node.ask(CONSUMER, "/b/x").len(), 1);
    node.wait_and_settle(Duration::from_millis(99));
    let is_the_first = |sent: &Transmit| matches!(&sent.packet, Packet::Interest(it) if it.name() == name("/a/object").as_ref());
    for _ in 0..100 {
        node.wait_and_settle(Duration::from_millis(10));
        assert!(!node.sent().iter().any(is_the_first));
    }
}

#[test]
fn many_who_ask_at_once_for_what_all_of_them_missed_count_as_one() {
    let mut node = node(FaceScope::Local);
    for segment in 0..4 {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
    }
    node.wait_and_settle(Duration::from_millis(4));
    node.data(PRODUCER, &data("/a/object/0", 1));
    node.data(PRODUCER, &data("/a/object/2", 1));
    for _ in 0..40 {
        node.ask(PRODUCER, "/a/object/1");
    }
    // Twice as long as an answer takes: it is not given up, and what comes after it waits.
    node.wait_and_settle(Duration::from_millis(8));
    assert_eq!(segments(&node.sent()), [""; 0]);
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/1", 1))), ["1", "2"]);
}

#[test]
fn while_answers_take_longer_than_before_nothing_is_asked_for_again_too_early() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/99999999");
    for segment in 100..164 {
        node.ask(PRODUCER, &format!("/a/object/{segment}"));
        node.wait_and_settle(Duration::from_millis(2));
        node.data(PRODUCER, &data(&format!("/a/object/{segment}"), 1));
    }
    // Others wait for an answer for twenty times as long, when this node has just begun to wait for one.
    node.ask(PRODUCER, "/a/object/200");
    node.wait_and_settle(Duration::from_millis(38));
    node.sent();
    node.ask(PRODUCER, "/a/object/500");
    assert_eq!(node.ask(CONSUMER, "/a/object/500").len(), 0);
    node.wait_and_settle(Duration::from_millis(2));
    node.data(PRODUCER, &data("/a/object/200", 1));
    node.wait_and_settle(Duration::from_millis(8));
    let asks_again = |sent: &Transmit| {
        sent.face == PRODUCER
            && matches!(&sent.packet, Packet::Interest(it) if it.name() == name("/a/object/500").as_ref())
    };
    assert!(!node.sent().iter().any(asks_again));
    node.wait_and_settle(Duration::from_millis(100));
    assert!(node.sent().iter().any(asks_again));
}

#[test]
fn data_that_has_waited_long_enough_leaves_also_from_behind_what_waits_on() {
    let mut node = node(FaceScope::Local);
    // So that what is missing is asked for again long before.
    node.ask(CONSUMER, "/a/object/0");
    node.wait_and_settle(Duration::from_millis(4));
    node.data(PRODUCER, &data("/a/object/0", 1));
    for segment in [1, 50, 2, 20] {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
        node.wait_and_settle(Duration::from_millis(1));
    }
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/50", 1))), [""; 0]);
    node.wait_and_settle(Duration::from_millis(60));
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/20", 1))), [""; 0]);
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/1", 1))), ["1"]);
    node.wait_and_settle(Duration::from_micros(40_100));
    assert_eq!(segments(&node.sent()), ["50"]);
}

/// A node whose application has asked for two, of which the second has come and waits for the first.
fn node_that_holds_data_back() -> Node {
    let mut node = node(FaceScope::Local);
    for segment in [1, 2] {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
    }
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/2", 1))), [""; 0]);
    node
}

#[test]
fn what_strangers_ask_for_takes_no_place_of_what_an_application_here_asks_for() {
    let mut node = node_that_holds_data_back();
    for object in 0..100 {
        node.ask(OTHER, &format!("/a/{object}/0"));
    }
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/1", 1))), ["1", "2"]);
}

#[test]
fn data_that_is_held_back_of_an_object_that_is_forgotten_goes_to_who_asked() {
    let mut node = node_that_holds_data_back();
    let asked = |object| format!("/a/{object}/0");
    let given: Vec<String> =
        (0..64).flat_map(|object| segments(&node.ask(CONSUMER, &asked(object)))).collect();
    assert_eq!(given, ["2"]);
}

#[test]
fn who_asks_again_for_an_answer_that_is_held_back_gets_it_once() {
    let mut node = node(FaceScope::Local);
    node.ask(CONSUMER, "/a/object/2");
    node.data(PRODUCER, &data("/a/object/2", 1));
    node.ask(CONSUMER, "/a/object/1");
    for _ in 0..3 {
        assert_eq!(segments(&node.ask(CONSUMER, "/a/object/2")), [""; 0]);
    }
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/1", 1))), ["1", "2"]);
}

#[test]
fn data_waits_for_nothing_that_was_asked_for_after_it_whatever_else_waits() {
    let mut node = node(FaceScope::Local);
    for segment in [9, 1, 2] {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
        node.wait_and_settle(Duration::from_millis(1));
    }
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/2", 1))), [""; 0], "1 is missing before it");
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/9", 1))), ["9"]);
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/1", 1))), ["1", "2"]);
}

#[test]
fn data_behind_many_that_wait_leaves_at_its_own_time() {
    let mut node = node(FaceScope::Local);
    let ask_and_get = |node: &mut Node, segment: u32| {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
        segments(&node.data(PRODUCER, &data(&format!("/a/object/{segment}"), 1)))
    };
    node.ask(CONSUMER, "/a/object/500");
    node.wait_and_settle(Duration::from_millis(1));
    assert_eq!(ask_and_get(&mut node, 900), [""; 0]);
    node.wait_and_settle(Duration::from_millis(5));
    node.ask(CONSUMER, "/a/object/100");
    node.wait_and_settle(Duration::from_millis(1));
    for segment in 101..201 {
        assert_eq!(ask_and_get(&mut node, segment), [""; 0]);
    }
    let mut left = Vec::new();
    while left.is_empty() {
        node.wait_and_settle(Duration::from_millis(1));
        left = segments(&node.sent());
    }
    assert_eq!(left, ["900"]);
}

/// A node whose application has asked for so many segments, the first of which has not come.
fn node_that_waits_for_the_first_of(segments: u32) -> Node {
    let mut node = node(FaceScope::Local);
    for segment in 0..segments {
        node.ask(CONSUMER, &format!("/a/object/{segment}"));
    }
    node
}

#[test]
fn data_that_is_held_back_takes_no_more_memory_than_16_mebibytes_of_a_link() {
    let mut node = node_that_waits_for_the_first_of(2048);
    let large = |segment: u32| data(&format!("/a/object/{segment}"), 8_600);
    let held = (1..2048).take_while(|segment| node.data(PRODUCER, &large(*segment)).is_empty()).count();
    assert!((1_500..(16 << 20) / 8_600).contains(&held), "{held}");
    // The next one left, out of order; what was held back leaves after what it waited for.
    assert_eq!(node.data(PRODUCER, &large(0)).len(), held + 1);
    assert_eq!(node.data(PRODUCER, &large(held as u32 + 2)).len(), 1);
}

#[test]
fn data_that_is_held_back_does_not_keep_the_train_that_it_came_with() {
    let mut node = node_that_waits_for_the_first_of(2);
    let wire = data("/a/object/1", 100).wire().to_vec();
    let length = wire.len();
    let train = Buffer::from([wire, vec![0; 60_000]].concat());
    let arrived = Data::decode_ndn(train.slice(0..length).unwrap()).unwrap();
    assert_eq!(node.data(PRODUCER, &arrived).len(), 0);
    drop(arrived);
    assert!(train.reclaim().is_some());
    assert_eq!(segments(&node.data(PRODUCER, &data("/a/object/0", 1))), ["0", "1"]);
}

/// Where a queue on the link is deep, asking again makes it only deeper.
#[test]
fn what_is_answered_as_late_as_all_before_is_not_asked_for_again_however_late_that_is() {
    let mut node = node(FaceScope::Local);
    let asks = |sent: &[Transmit]| sent.iter().filter(|sent| sent.face == PRODUCER).count();
    let mut asked = Vec::new();
    for segment in 0..40 {
        let at_once = asks(&node.ask(CONSUMER, &format!("/a/object/{segment}")));
        node.wait_and_settle(Duration::from_millis(400));
        asked.push(at_once + asks(&node.sent()));
        node.data(PRODUCER, &data(&format!("/a/object/{segment}"), 1));
    }
    assert!(asked[0] > 1, "nothing is known of it yet");
    assert_eq!(asked[10..], [1; 30]);
    // Nor is what another asks for.
    node.ask(PRODUCER, "/a/object/50");
    assert_eq!(asks(&node.ask(CONSUMER, "/a/object/50")), 0);
    node.wait_and_settle(Duration::from_millis(350));
    assert_eq!(asks(&node.sent()), 0);
    node.wait_and_settle(Duration::from_secs(1));
    assert!(asks(&node.sent()) > 0, "it was lost");
}
