//! What an engine does with rates: it passes them on, lowers them to its own, and makes Interests wait for
//! their turn.

use cairn_engine::*;
use packet::ndn::DataBuilder;
use packet::time::{Duration, Instant};
use packet::{Data, ExplicitRate, Interest, LinkHeader, NackReason, Packet};

use crate::common::{CONSUMER, Node, OTHER, PRODUCER, name};

/// The link to the consumer carries so many Data of 1,500 bytes a second, and so many Interests may wait.
fn node(data_per_second: u64, max_held: u32) -> Node {
    let mut node = Node::new(|_| {});
    let rate_control = control(data_per_second, max_held);
    node.configure(CONSUMER, FaceConfig { rate_control, ..FaceConfig::remote() });
    node
}

fn answer(node: &mut Node, uri: &str, rate: Option<ExplicitRate>) -> Vec<Transmit> {
    node.data_with(PRODUCER, &data(uri), &LinkHeader { explicit_rate: rate, ..LinkHeader::default() })
}

/// What the engine sends on its own until then, each with its time in milliseconds.
fn until(node: &mut Node, end: Instant) -> Vec<(u64, Transmit)> {
    let mut sent = Vec::new();
    while node.engine.next_deadline() <= end {
        node.now = node.now.max(node.engine.next_deadline());
        node.engine.advance(node.now);
        let at = node.now.saturating_since(Instant::ZERO).as_millis();
        sent.extend(node.sent().into_iter().map(|transmit| (at, transmit)));
    }
    node.now = end;
    sent
}

fn control(data_per_second: u64, max_held: u32) -> Option<RateControlConfig> {
    let bits_per_second = data_per_second * 1500 * 8;
    Some(RateControlConfig { method: RateMethod::Hobhis, bits_per_second, overhead_bytes: 0, max_held })
}

/// 1,500 bytes on a link, with the header that carries a rate.
fn data(uri: &str) -> Data {
    let bare = DataBuilder::new(name(uri)).content(vec![7; 1400]).build_with_digest().unwrap().wire().len();
    DataBuilder::new(name(uri)).content(vec![7; 1400 + 1484 - bare]).build_with_digest().unwrap()
}

fn rate(per_second: f64) -> Option<ExplicitRate> {
    Some(ExplicitRate::from_per_second(per_second))
}

fn names(sent: &[(u64, Transmit)]) -> Vec<(u64, String)> {
    let uri = |interest: &Interest| interest.name().to_string();
    sent.iter()
        .filter_map(|(at, transmit)| match &transmit.packet {
            Packet::Interest(interest) => Some((*at, uri(interest))),
            _ => None,
        })
        .collect()
}

#[test]
fn a_face_without_rate_control_passes_on_what_it_is_told() {
    let mut node = node(100, 0);
    assert_eq!(node.ask(OTHER, "/a/1").len(), 1);
    let told = answer(&mut node, "/a/1", rate(7.5));
    assert_eq!((told.len(), told[0].face, told[0].explicit_rate), (1, OTHER, rate(7.5)));
    node.ask(OTHER, "/a/2");
    assert_eq!(answer(&mut node, "/a/2", None)[0].explicit_rate, None);
}

#[test]
fn who_allows_least_decides() {
    let mut node = node(100, 0);
    // Nothing is known yet of response times' effect: the answer took 200 ms, one Data waits, one flow.
    for (number, told, expected) in [(1, rate(7.5), Some(7.5)), (2, rate(1e6), None), (3, None, None)] {
        let uri = format!("/a/{number}");
        assert_eq!(node.ask(CONSUMER, &uri).len(), 1);
        let end = node.now + Duration::from_millis(200);
        until(&mut node, end);
        let sent = answer(&mut node, &uri, told);
        let got = sent[0].explicit_rate.unwrap().per_second();
        // 100 + 0.1 * 49 / (0.2 + 0.01)
        let own = 100.0 + 4.9 / 0.21;
        assert!((got - expected.unwrap_or(own)).abs() < 0.01, "{number}: {got}");
    }
}

#[test]
fn an_answer_from_the_cache_takes_its_part_of_the_link_and_says_what_is_left() {
    let mut node = node(100, 0);
    node.ask(CONSUMER, "/a/1");
    until(&mut node, Instant::from_millis(200));
    answer(&mut node, "/a/1", None);
    until(&mut node, Instant::from_secs(2));
    let rates: Vec<f64> =
        (0..60).map(|_| node.ask(CONSUMER, "/a/1")[0].explicit_rate.unwrap().per_second()).collect();
    assert!(rates[0] > 115.0 && rates[59] < 100.0, "{rates:?}");
    assert!(rates.is_sorted_by(|a, b| a > b));
}

#[test]
fn interests_wait_for_their_turn_and_no_more_than_may() {
    let mut node = node(100, 2);
    assert_eq!(node.ask(CONSUMER, "/a/1").len(), 1);
    assert!(node.ask(CONSUMER, "/a/2").is_empty() && node.ask(CONSUMER, "/a/3").is_empty());
    assert_eq!(node.engine.next_deadline(), Instant::from_millis(10));
    let refused = node.ask(CONSUMER, "/a/4");
    assert!(
        matches!(&refused[..], [Transmit { face: CONSUMER, packet: Packet::Nack(i, NackReason::Congestion), .. }]
            if i.name() == name("/a/4").as_ref())
    );
    assert_eq!(node.engine.table_sizes().pending, 3);
    // Somebody else's Interests do not wait.
    assert_eq!(node.ask(OTHER, "/a/5").len(), 1);
    let sent = until(&mut node, Instant::from_secs(1));
    assert_eq!(names(&sent), [(10, "/a/2".to_owned()), (20, "/a/3".to_owned())]);
    assert_eq!(node.engine.counters().drops.get(DropReason::ShaperFull), 1);
}

#[test]
fn who_asks_again_out_of_turn_still_gets_the_answer_to_what_is_under_way() {
    let mut node = node(100, 0);
    assert_eq!(node.ask(CONSUMER, "/a/1").len(), 1);
    assert!(node.ask(CONSUMER, "/a/1").is_empty(), "a Nack would have the first one thrown away, too");
    assert_eq!(node.engine.counters().drops.get(DropReason::ShaperFull), 1);
    let sent = answer(&mut node, "/a/1", None);
    assert!(matches!(&sent[..], [Transmit { face: CONSUMER, packet: Packet::Data(_), .. }]), "{sent:?}");
}

#[test]
fn what_waits_is_not_sent_when_it_was_answered_meanwhile_or_asked_for_again() {
    let mut node = node(100, 10);
    node.ask(CONSUMER, "/a/1");
    for uri in ["/a/2", "/a/3", "/a/2"] {
        assert!(node.ask(CONSUMER, uri).is_empty(), "{uri}");
    }
    // Another consumer's Interest for the same name goes out at once, and its Data answers both.
    assert_eq!(node.ask(OTHER, "/a/2").len(), 1);
    node.now = Instant::from_millis(5);
    assert_eq!(answer(&mut node, "/a/2", None).len(), 2);
    let sent = until(&mut node, Instant::from_secs(1));
    assert_eq!(names(&sent), [(10, "/a/3".to_owned())], "in the turn that would have been the other's");
}

#[test]
fn what_waits_is_not_sent_again_when_another_has_sent_it_only_just_now() {
    let mut node = node(100, 2);
    assert_eq!(node.ask(CONSUMER, "/a/1").len(), 1);
    assert!(node.ask(CONSUMER, "/a/2").is_empty());
    until(&mut node, Instant::from_millis(5));
    assert_eq!(node.ask(OTHER, "/a/2").len(), 1);
    // Its turn comes at 10 ms, and the strategy lets nothing be repeated within 10 ms.
    assert_eq!(names(&until(&mut node, Instant::from_millis(50))), []);
    assert_eq!(node.drops(DropReason::RetransmissionSuppressed), 1);
    assert_eq!(answer(&mut node, "/a/2", None).len(), 2, "both get their Data");
}

#[test]
fn what_waits_goes_on_when_its_face_needs_no_turns_any_more() {
    let mut node = node(100, 10);
    (1..=4).for_each(|number| drop(node.ask(CONSUMER, &format!("/a/{number}"))));
    assert!(node.engine.configure_face(node.now, CONSUMER, FaceConfig::remote()));
    assert_eq!(node.sent().len(), 3);
    assert!(until(&mut node, Instant::from_secs(1)).is_empty());
}

#[test]
fn the_interests_of_a_face_that_is_gone_are_not_forwarded() {
    let mut node = node(100, 10);
    (1..=4).for_each(|number| drop(node.ask(CONSUMER, &format!("/a/{number}"))));
    node.engine.remove_face(CONSUMER);
    assert!(until(&mut node, Instant::from_secs(10)).is_empty());
    assert_eq!(node.engine.table_sizes().pending, 0);
}
