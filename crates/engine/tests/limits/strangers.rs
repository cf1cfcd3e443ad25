//! What neighbours may do to each other: nobody locks a name, answers for others, or leaves anything behind
//! for long.

use cairn_engine::*;
use packet::ccnx::{ContentObjectFields, SignedInfo, Ticks};
use packet::ndn::InterestBuilder;
use packet::time::{Duration, Instant};
use packet::{
    Component, ComponentKind, Data, Dialect, Interest, LinkHeader, LinkType, NackReason, Name, Packet,
};

use crate::common::{CONSUMER, Node, OTHER, PRODUCER, data, name};

const SILENT: FaceId = FaceId(300);
const ATTACKER: FaceId = FaceId(301);
const TEN_DAYS: Duration = Duration::from_secs(10 * 24 * 3600);

/// A node with an attacker, and with routes for hints to a neighbour that never answers.
fn attacked_node() -> Node {
    let mut node = Node::new(|_| {});
    for face in [SILENT, ATTACKER] {
        node.engine.add_face(node.now, face, FaceConfig::remote()).unwrap();
    }
    node.route("/hint", SILENT).unwrap();
    node
}

/// An Interest for `/a/b` that no other of these numbers can be joined with.
fn variant(number: u32) -> Interest {
    variant_with_nonce(number, number + 1_000_000)
}

fn variant_with_nonce(number: u32, nonce: u32) -> Interest {
    let hint = vec![name(&format!("/hint/{number}"))];
    let builder = InterestBuilder::new(name("/a/b")).forwarding_hint(hint);
    builder.nonce(nonce).lifetime(TEN_DAYS).build().unwrap()
}

fn is_data(sent: &[Transmit], to: FaceId) -> bool {
    matches!(sent, [Transmit { face, packet: Packet::Data(_), .. }] if *face == to)
}

fn is_interest(sent: &[Transmit], to: FaceId) -> bool {
    matches!(sent, [Transmit { face, packet: Packet::Interest(_), .. }] if *face == to)
}

#[test]
fn variants_of_one_neighbour_keep_nobody_else_from_a_name() {
    let mut node = attacked_node();
    for number in 0..40 {
        node.interest(ATTACKER, &variant(number));
    }
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(is_interest(&sent, PRODUCER), "one without a hint: {sent:?}");
    node.route("/hint", PRODUCER).unwrap();
    let sent = node.interest(OTHER, &variant(1000));
    assert!(is_interest(&sent[1..], PRODUCER), "one with a hint: {sent:?}");
    assert_eq!(node.pending(ATTACKER), 31, "one made room");
    let sent = node.data(PRODUCER, &data("/a/b", 1));
    let mut faces: Vec<FaceId> = sent.iter().map(|sent| sent.face).collect();
    faces.sort_unstable();
    assert_eq!(faces, [CONSUMER, OTHER], "those whose Interest the producer was sent");
}

/// An Interest for `/a/b` that may go so many hops.
fn with_hops(hops: u8, nonce: u32) -> Interest {
    InterestBuilder::new(name("/a/b")).hop_limit(hops).nonce(nonce).build().unwrap()
}

#[test]
fn an_interest_that_dies_on_its_way_keeps_none_waiting_that_could_go_on() {
    let mut node = attacked_node();
    for hops in 1..=16 {
        node.interest(ATTACKER, &with_hops(hops, hops.into()));
    }
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(is_interest(&sent, PRODUCER), "one without a limit: {sent:?}");
    // Those with enough hops left are joined, whatever they say.
    assert!(node.interest(OTHER, &with_hops(64, 1000)).is_empty());
    let sent = node.data(PRODUCER, &data("/a/b", 1));
    assert_eq!(sent.len(), 3, "each face once, however many of its Interests this answers: {sent:?}");
    assert_eq!(node.engine.table_sizes().pending, 0);
}

#[test]
fn a_nack_for_an_interest_with_few_hops_left_reaches_those_who_wait_for_it_and_nobody_else() {
    for a_hop_shorter in [0, 1] {
        let mut node = attacked_node();
        node.interest(ATTACKER, &with_hops(3, 7));
        let sent = node.ask(CONSUMER, "/a/b");
        assert!(is_interest(&sent, PRODUCER), "{sent:?}");
        // It left with two hops, and some forwarders send back what they have made of it.
        node.nack(PRODUCER, &with_hops(2 - a_hop_shorter, 7), NackReason::NoRoute);
        let sent = node.sent();
        let nacked: Vec<FaceId> = sent.iter().map(|sent| sent.face).collect();
        assert_eq!(nacked, [ATTACKER], "{sent:?}");
        assert_eq!(node.drops(DropReason::UnexpectedNack), 0);
        assert_eq!(node.pending(CONSUMER), 1);
    }
}

#[test]
fn nothing_of_a_face_that_is_gone_remains() {
    let mut node = attacked_node();
    for number in 0..32 {
        node.interest(ATTACKER, &variant(number));
    }
    node.interest(OTHER, &variant_with_nonce(0, 5));
    assert_eq!(node.engine.table_sizes().pending, 32);
    node.engine.remove_face(ATTACKER);
    assert!(node.engine.next_deadline() <= node.now, "at once");
    node.wait(Duration::from_millis(1));
    assert_eq!(node.engine.table_sizes().pending, 1, "the one that somebody else waits for");
    assert!(node.engine.next_deadline() > node.now);
}

#[test]
fn a_large_table_is_searched_for_what_a_face_left_in_steps() {
    let mut node = attacked_node();
    for number in 0..10_000 {
        node.ask(ATTACKER, &format!("/a/{number}"));
    }
    node.engine.remove_face(ATTACKER);
    let mut steps = 0;
    while node.engine.next_deadline() <= node.now + Duration::from_millis(2) {
        node.now = node.now.max(node.engine.next_deadline());
        node.wait(Duration::ZERO);
        steps += 1;
        assert!(steps < 10);
    }
    assert_eq!((steps, node.engine.table_sizes().pending), (3, 0));
}

#[test]
fn no_interest_waits_longer_than_a_minute() {
    let mut node = attacked_node();
    node.interest(ATTACKER, &variant(0));
    node.wait(Duration::from_secs(59));
    assert_eq!(node.engine.table_sizes().pending, 1);
    node.wait(Duration::from_secs(2));
    assert_eq!((node.engine.table_sizes().pending, node.pending(ATTACKER)), (0, 0));
}

#[test]
fn a_neighbour_with_many_ports_does_not_keep_others_from_joining_an_interest() {
    let mut node = attacked_node();
    let ports: Vec<FaceId> = (1000..1256).map(FaceId).collect();
    for &face in &ports {
        node.engine.add_face(node.now, face, FaceConfig::remote()).unwrap();
        node.ask(face, "/a/b");
        node.ask(face, &format!("/a/own/{face}"));
        node.ask(face, &format!("/a/another/{face}"));
    }
    node.ask(CONSUMER, "/a/b");
    assert_eq!(node.pending(CONSUMER), 1);
    let sent = node.data(PRODUCER, &data("/a/b", 1));
    assert!(sent.iter().any(|sent| sent.face == CONSUMER));
    assert_eq!(sent.len(), 256);
}

#[test]
fn an_interest_that_nobody_waits_for_any_more_goes_at_once() {
    let mut node = Node::new(|_| {});
    let hop = NextHop { face: OTHER, cost: 9 };
    node.engine.add_route(node.now, Dialect::Ndn, name("/a").as_ref(), hop).unwrap();
    // Both next hops are asked, one of them asks, too, and who asked first leaves.
    node.ask(CONSUMER, "/a/b");
    node.wait(Duration::from_millis(50));
    assert!(is_interest(&node.ask(CONSUMER, "/a/b"), OTHER));
    node.ask(OTHER, "/a/b");
    node.engine.remove_face(CONSUMER);
    node.wait(Duration::from_millis(1));
    assert_eq!(node.engine.table_sizes().pending, 1);
    // Then the other has nothing but what we have, which is nothing.
    node.nack(PRODUCER, &InterestBuilder::new(name("/a/b")).nonce(1).build().unwrap(), NackReason::NoRoute);
    assert_eq!((node.engine.table_sizes().pending, node.pending(OTHER)), (0, 0));
}

#[test]
fn data_of_a_face_that_was_not_asked_answers_nobody_and_is_not_kept() {
    let mut node = Node::new(|_| {});
    node.ask(CONSUMER, "/a/b");
    assert!(node.data(OTHER, &data("/a/b", 1)).is_empty());
    assert_eq!((node.drops(DropReason::NotAsked), node.engine.table_sizes().cached), (1, 0));
    assert_eq!(node.engine.face_counters(OTHER).unwrap().drops.get(DropReason::NotAsked), 1);
    assert!(is_data(&node.data(PRODUCER, &data("/a/b", 2)), CONSUMER));
    assert_eq!(node.engine.table_sizes().cached, 1);
}

#[test]
fn a_face_that_was_not_asked_answers_neither_by_a_longer_name_nor_by_digest() {
    let mut node = Node::new(|_| {});
    let answer = data("/a/b/c", 1);
    let digest = answer.implicit_digest();
    let full = name("/a/b/c").with(Component::new(ComponentKind::IMPLICIT_DIGEST, &digest)).unwrap();
    node.interest(CONSUMER, &InterestBuilder::new(name("/a")).can_be_prefix(true).nonce(1).build().unwrap());
    node.interest(CONSUMER, &InterestBuilder::new(full).nonce(2).build().unwrap());
    assert!(node.data(OTHER, &answer).is_empty());
    assert_eq!((node.drops(DropReason::NotAsked), node.pending(CONSUMER)), (1, 2));
    assert!(is_data(&node.data(PRODUCER, &answer), CONSUMER));
    assert_eq!(node.pending(CONSUMER), 0);
}

#[test]
fn whoever_was_asked_may_answer_late_after_a_nack_and_after_another_was_asked() {
    let mut node = Node::new(|_| {});
    node.engine
        .add_route(node.now, Dialect::Ndn, name("/a").as_ref(), NextHop { face: OTHER, cost: 9 })
        .unwrap();
    // The first is silent, and the second is asked when the consumer asks again.
    let ask = |node: &mut Node, uri: &str| {
        node.ask(CONSUMER, uri);
        node.wait(Duration::from_millis(50));
        assert!(is_interest(&node.ask(CONSUMER, uri), OTHER));
    };
    ask(&mut node, "/a/first");
    assert!(is_data(&node.data(PRODUCER, &data("/a/first", 1)), CONSUMER));
    ask(&mut node, "/a/second");
    assert!(is_data(&node.data(OTHER, &data("/a/second", 1)), CONSUMER));
    // The record of having asked has run out, and somebody else has kept the Interest alive.
    let short = InterestBuilder::new(name("/a/late")).lifetime(Duration::from_millis(5));
    node.interest(CONSUMER, &short.clone().nonce(77).build().unwrap());
    node.interest(OTHER, &InterestBuilder::new(name("/a/late")).nonce(78).build().unwrap());
    node.wait(Duration::from_millis(20));
    assert!(is_data(&node.data(PRODUCER, &data("/a/late", 1)), OTHER));
}

#[test]
fn a_shared_link_answers_what_was_asked_there_and_nothing_else() {
    for link_type in [LinkType::MultiAccess, LinkType::AdHoc] {
        let mut node = Node::new(|_| {});
        for face in [PRODUCER, OTHER] {
            node.configure(face, FaceConfig { link_type, ..FaceConfig::remote() });
        }
        assert!(is_interest(&node.ask(CONSUMER, "/a/b"), PRODUCER));
        assert!(node.data(OTHER, &data("/a/b", 1)).is_empty(), "{link_type:?}");
        assert_eq!(node.drops(DropReason::NotAsked), 1);
        assert!(is_data(&node.data(PRODUCER, &data("/a/b", 1)), CONSUMER), "{link_type:?}");
    }
    // Nor does somebody who asked there himself.
    let mut node = Node::new(|_| {});
    node.configure(OTHER, FaceConfig { link_type: LinkType::MultiAccess, ..FaceConfig::remote() });
    node.ask(OTHER, "/a/b");
    node.interest(CONSUMER, &InterestBuilder::new(name("/a/b")).nonce(9).build().unwrap());
    assert!(node.data(OTHER, &data("/a/b", 1)).is_empty());
}

#[test]
fn where_unsolicited_data_is_welcome_anybody_may_answer() {
    for (unsolicited, config, may) in [
        (UnsolicitedPolicy::AdmitLocal, FaceConfig::local(), true),
        (UnsolicitedPolicy::AdmitLocal, FaceConfig::remote(), false),
        (UnsolicitedPolicy::AdmitAll, FaceConfig::remote(), true),
        (UnsolicitedPolicy::DropAll, FaceConfig::local(), false),
    ] {
        let mut node = Node::new(|engine| engine.content_store.unsolicited = unsolicited);
        node.configure(OTHER, config);
        node.ask(CONSUMER, "/a/b");
        assert_eq!(is_data(&node.data(OTHER, &data("/a/b", 1)), CONSUMER), may, "{unsolicited:?} {config:?}");
    }
}

#[test]
fn a_next_hop_that_the_consumer_named_may_answer() {
    let mut node = Node::new(|_| {});
    let header = LinkHeader { next_hop_face: Some(OTHER.0.into()), ..LinkHeader::default() };
    let interest = InterestBuilder::new(name("/elsewhere")).nonce(1).build().unwrap();
    assert!(is_interest(&node.interest_with(CONSUMER, &interest, &header), OTHER));
    assert!(is_data(&node.data(OTHER, &data("/elsewhere", 1)), CONSUMER));
}

#[test]
fn in_ccnx_who_was_asked_by_multicast_may_answer_from_its_own_address() {
    let mut node = Node::new(|_| {});
    let remote = FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::remote() };
    for face in [CONSUMER, OTHER] {
        node.configure(face, remote);
    }
    node.configure(PRODUCER, FaceConfig { link_type: LinkType::MultiAccess, ..remote });
    let wanted = name("/a/b");
    let hop = NextHop { face: PRODUCER, cost: 0 };
    node.engine.add_route(node.now, Dialect::Ccnx, name("/a").as_ref(), hop).unwrap();
    let wire = packet::ccnx::InterestFields::default().encode(&wanted).unwrap();
    assert!(is_interest(&node.interest(CONSUMER, &Interest::decode_ccnx(wire.into()).unwrap()), PRODUCER));
    assert!(is_data(&node.data(OTHER, &object(&wanted)), CONSUMER));
}

fn object(name: &Name) -> Data {
    let signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
    let fields = ContentObjectFields { name: name.into(), signed_info, content: b"hi" };
    let wire = fields.encode(None, |_| Ok::<_, packet::EncodeError>([0xaa; 16])).unwrap();
    Data::decode_ccnx(wire.into()).unwrap()
}

/// A name of so many components.
fn long_name(components: usize) -> Name {
    let uri: String =
        std::iter::once("/a".to_owned()).chain((1..components).map(|n| format!("/{n}"))).collect();
    name(&uri)
}

#[test]
fn prefixes_of_any_length_are_found_by_the_data_of_a_longer_name() {
    let mut node = Node::new(|_| {});
    let answer = |length| packet::ndn::DataBuilder::new(long_name(length)).build_with_digest().unwrap();
    for (wanted, came) in [(1, 128), (16, 17), (17, 18), (63, 128), (64, 128), (65, 66), (127, 128)] {
        let interest = InterestBuilder::new(long_name(wanted)).can_be_prefix(true).nonce(wanted as u32);
        node.interest(CONSUMER, &interest.build().unwrap());
        let sent = node.data(PRODUCER, &answer(came));
        assert!(is_data(&sent, CONSUMER), "{wanted} of {came}: {sent:?}");
        assert_eq!(node.engine.erase_cached(Dialect::Ndn, name("/").as_ref(), 10, 0).0, 1);
    }
    // Nobody waits at these lengths any more.
    assert!(node.data(PRODUCER, &answer(100)).is_empty());
    assert_eq!(node.drops(DropReason::Unsolicited), 1);
}

#[test]
fn all_who_wait_for_prefixes_of_one_name_get_its_data_once() {
    let mut node = Node::new(|_| {});
    for length in 1..=100 {
        for face in [CONSUMER, OTHER] {
            let interest = InterestBuilder::new(long_name(length)).can_be_prefix(true);
            node.interest(face, &interest.nonce(face.0 + 1000 * length as u32).build().unwrap());
        }
    }
    let answer = packet::ndn::DataBuilder::new(long_name(110)).build_with_digest().unwrap();
    let mut faces: Vec<FaceId> = node.data(PRODUCER, &answer).iter().map(|sent| sent.face).collect();
    faces.sort_unstable();
    assert_eq!((faces, node.engine.table_sizes().pending), (vec![CONSUMER, OTHER], 0));
}

#[test]
fn a_digest_that_is_asked_for_is_found_behind_another_data_of_its_name() {
    let mut node = Node::new(|_| {});
    let wanted = data("/a/b", 5);
    let digest = wanted.implicit_digest();
    let full = name("/a/b").with(Component::new(ComponentKind::IMPLICIT_DIGEST, &digest)).unwrap();
    node.interest(CONSUMER, &InterestBuilder::new(full).nonce(1).build().unwrap());
    for bytes in 10..11 {
        assert!(node.data(PRODUCER, &data("/a/b", bytes)).is_empty());
    }
    assert!(is_data(&node.data(PRODUCER, &wanted), CONSUMER));
}

#[test]
fn more_than_one_call_may_see_to_are_due_and_all_are_seen_to() {
    let mut node = Node::new(|_| {});
    for number in 0..10_000 {
        node.ask(CONSUMER, &format!("/a/{number}"));
    }
    node.wait(Duration::from_secs(5));
    // A call sees to 1,024 at most. Each deadline moves three times at most before it is due, and 4,096 move
    // in a call.
    let (mut left, mut calls) = (node.engine.table_sizes().pending, 1);
    assert!(left >= 10_000 - 1024, "{left}");
    while left > 0 {
        assert!(node.engine.next_deadline() <= node.now, "the rest at once");
        node.wait(Duration::ZERO);
        let now_left = node.engine.table_sizes().pending;
        assert!(left - now_left <= 1024, "{left} {now_left}");
        (left, calls) = (now_left, calls + 1);
        assert!(calls <= 10_000 / 1024 + 3 * 10_000 / 4096 + 2, "{left} are left");
    }
    assert!(calls >= 10_000 / 1024, "{calls}");
    assert_eq!(node.engine.next_deadline(), Instant::NEVER);
}

#[test]
fn refused_interests_say_why() {
    let mut node = attacked_node();
    for number in 0..33 {
        node.interest(ATTACKER, &variant(number));
    }
    // The oldest of its own went back to it.
    assert_eq!((node.pending(ATTACKER), node.drops(DropReason::TooManyVariants)), (32, 1));
    let sent = node.interest(ATTACKER, &variant(34));
    let [Transmit { packet: Packet::Nack(_, reason), face, .. }, ..] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!((*reason, *face), (NackReason::Congestion, ATTACKER));
}

#[test]
fn faces_of_one_origin_share_what_one_of_them_may_have_of_a_name() {
    let mut node = attacked_node();
    for number in 0..64 {
        let face = FaceId(1000 + number);
        let config = FaceConfig { origin: Some(7), ..FaceConfig::remote() };
        node.engine.add_face(node.now, face, config).unwrap();
        node.interest(face, &variant(number));
    }
    assert_eq!(node.engine.table_sizes().pending, 32);
    for number in 100..116 {
        let sent = node.interest(OTHER, &variant(number));
        assert!(sent.iter().any(|sent| sent.face == SILENT), "{number}: {sent:?}");
    }
    assert_eq!(node.pending(OTHER), 16, "half of what there is");
}

#[test]
fn faces_of_one_origin_count_together_where_the_table_is_full() {
    let mut node = Node::new(|config| config.max_pending = 640);
    for number in 0..640 {
        let face = FaceId(1000 + number);
        let config = FaceConfig { origin: Some(7), ..FaceConfig::remote() };
        node.engine.add_face(node.now, face, config).unwrap();
        assert_eq!(node.ask(face, &format!("/a/{number}")).len(), 1);
    }
    for number in 0..100 {
        let sent = node.ask(OTHER, &format!("/a/own/{number}"));
        assert!(sent.iter().any(|sent| sent.face == PRODUCER), "{number}: {sent:?}");
    }
    assert_eq!(node.pending(OTHER), 100);
    // Who goes, and who changes hands, takes along what counted for the origin.
    node.engine.remove_face(FaceId(1000));
    for number in 1..640 {
        node.configure(FaceId(1000 + number), FaceConfig::remote());
    }
    node.ask(OTHER, "/a/one-more");
    assert_eq!(node.pending(OTHER), 100, "nobody holds more than who asks");
}

#[test]
fn a_face_that_goes_takes_its_own_routes_and_no_others_with_it() {
    let mut node = Node::new(|_| {});
    for number in 0..100 {
        node.route(&format!("/r/{number}"), if number % 2 == 0 { OTHER } else { PRODUCER }).unwrap();
    }
    node.route("/r/0", PRODUCER).unwrap();
    node.engine.remove_face(OTHER);
    assert_eq!(node.engine.table_sizes().routes, 52, "with /a");
    assert_eq!(node.ask(CONSUMER, "/r/0")[0].face, PRODUCER);
}

#[test]
fn data_from_where_a_hint_alone_leads_goes_to_who_asked_so_and_is_kept_for_nobody() {
    let mut node = attacked_node();
    node.route("/evil", ATTACKER).unwrap();
    let by_hint = |to: &str, nonce| {
        let builder = InterestBuilder::new(name("/a/b")).forwarding_hint(vec![name(to)]);
        builder.nonce(nonce).build().unwrap()
    };
    let sent = node.interest(OTHER, &by_hint("/evil", 1));
    assert!(is_interest(&sent, ATTACKER), "{sent:?}");
    let sent = node.data(ATTACKER, &data("/a/b", 1));
    assert!(is_data(&sent, OTHER), "who asked so has it: {sent:?}");
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(is_interest(&sent, PRODUCER), "who asks by the name is not answered with it: {sent:?}");
    let sent = node.interest(OTHER, &by_hint("/evil", 2));
    assert!(is_interest(&sent, ATTACKER), "nor is who asks again: {sent:?}");
    // Both wait; what the producer answers is for the one that he was sent.
    node.data(ATTACKER, &data("/a/b", 1));
    let sent = node.data(PRODUCER, &data("/a/b", 2));
    assert!(is_data(&sent, CONSUMER), "{sent:?}");
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(is_data(&sent, CONSUMER), "what came by the name is kept: {sent:?}");
}

#[test]
fn data_from_where_a_hint_and_its_name_lead_is_kept() {
    let mut node = attacked_node();
    node.route("/region", PRODUCER).unwrap();
    let hint = vec![name("/region")];
    let interest = InterestBuilder::new(name("/a/b")).forwarding_hint(hint).nonce(1).build().unwrap();
    let sent = node.interest(OTHER, &interest);
    assert!(is_interest(&sent, PRODUCER), "{sent:?}");
    node.data(PRODUCER, &data("/a/b", 1));
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(is_data(&sent, CONSUMER), "{sent:?}");
}
