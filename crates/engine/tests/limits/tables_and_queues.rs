//! What happens at every limit: nothing grows, nobody suffers for another, and each drop has its reason.

use cairn_engine::*;
use packet::ndn::InterestBuilder;
use packet::time::{Duration, Instant};
use packet::{Dialect, Interest, LinkHeader, LinkType, NackReason, Packet};

use crate::common::{CONSUMER, Node, OTHER, PRODUCER, data, name};

fn congested(sent: &[Transmit], face: FaceId) -> bool {
    matches!(sent, [Transmit { face: to, packet: Packet::Nack(_, NackReason::Congestion), .. }] if *to == face)
}

#[test]
fn a_face_has_no_more_pending_interests_than_it_may_and_is_told() {
    let mut node = Node::new(|_| {});
    node.configure(CONSUMER, FaceConfig { max_pending: Some(10), ..FaceConfig::remote() });
    for number in 0..10 {
        assert_eq!(node.ask(CONSUMER, &format!("/a/{number}")).len(), 1);
    }
    let sent = node.ask(CONSUMER, "/a/10");
    assert!(congested(&sent, CONSUMER), "{sent:?}");
    assert_eq!((node.pending(CONSUMER), node.drops(DropReason::FacePendingLimit)), (10, 1));
    assert_eq!(node.ask(OTHER, "/a/10").len(), 1, "others are not concerned");
    node.data(PRODUCER, &data("/a/0", 1));
    assert_eq!(node.ask(CONSUMER, "/a/11").len(), 1, "room again");
}

#[test]
fn an_interest_refused_at_a_pending_entry_did_not_join_it() {
    let mut node = Node::new(|_| {});
    node.configure(CONSUMER, FaceConfig { max_pending: Some(1), ..FaceConfig::remote() });
    node.ask(CONSUMER, "/a/own");
    node.ask(OTHER, "/a/b");
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(congested(&sent, CONSUMER), "{sent:?}");
    let counters = node.engine.counters();
    assert_eq!((counters.pending_created, counters.pending_joined), (2, 0));
    let faces: Vec<FaceId> = node.data(PRODUCER, &data("/a/b", 1)).iter().map(|sent| sent.face).collect();
    assert_eq!(faces, [OTHER]);
}

/// Floods a table of 1,000 from `flooders` faces while `honest` Interests of one more face are waiting; gives
/// how many of those are answered in the end.
fn answered_under_flood(flooders: u32, honest: u32) -> usize {
    let mut node = Node::new(|config| config.max_pending = 1000);
    let flooders: Vec<FaceId> = (1000..1000 + flooders).map(FaceId).collect();
    for &face in &flooders {
        node.engine.add_face(node.now, face, FaceConfig::remote()).unwrap();
    }
    let mut flood = 0;
    while node.engine.table_sizes().pending < 1000 {
        flood += 1;
        node.ask(flooders[flood % flooders.len()], &format!("/a/flood/{flood}"));
    }
    for number in 0..honest {
        for _ in 0..20 {
            flood += 1;
            node.ask(flooders[flood % flooders.len()], &format!("/a/flood/{flood}"));
        }
        node.ask(CONSUMER, &format!("/a/honest/{number}"));
        assert!(node.engine.table_sizes().pending <= 1000);
    }
    for _ in 0..2000 {
        flood += 1;
        node.ask(flooders[flood % flooders.len()], &format!("/a/flood/{flood}"));
    }
    assert_eq!(node.engine.table_sizes().pending, 1000);
    assert!(node.drops(DropReason::PendingTableFull) > 0 && node.drops(DropReason::PendingEvicted) > 0);
    let answers =
        (0..honest).flat_map(|number| node.data(PRODUCER, &data(&format!("/a/honest/{number}"), 1)));
    answers.filter(|sent| sent.face == CONSUMER).count()
}

// The table is shared out in equal parts to the faces that want more than that: with one flooder a half is
// safe, with four a fifth. Who is evicted is drawn by lot, so at the very edge of its share a face may find
// nobody to displace.
#[test]
fn a_face_within_its_fair_share_loses_nothing_to_floods() {
    for (flooders, fair_share) in [(1, 500), (4, 200), (19, 50)] {
        let honest = fair_share * 9 / 10;
        assert_eq!(answered_under_flood(flooders, honest), honest as usize, "{flooders} flooders");
    }
}

#[test]
fn a_face_beyond_its_share_does_not_push_others_below_theirs() {
    let mut node = Node::new(|config| config.max_pending = 100);
    for number in 0..100 {
        node.ask(OTHER, &format!("/a/first/{number}"));
    }
    let mut refused = 0;
    for number in 0..1000 {
        refused += u32::from(congested(&node.ask(CONSUMER, &format!("/a/second/{number}")), CONSUMER));
    }
    let (early, late) = (node.pending(OTHER), node.pending(CONSUMER));
    assert_eq!(early + late, 100);
    assert!((45..=55).contains(&early), "{early} and {late}");
    assert_eq!(u64::from(refused), node.drops(DropReason::PendingTableFull));
}

#[test]
fn a_flooder_cannot_evict_what_an_honest_face_waits_for_by_asking_for_it_too() {
    let mut node = Node::new(|config| config.max_pending = 100);
    for number in 0..20 {
        node.ask(CONSUMER, &format!("/a/{number}"));
        node.ask(OTHER, &format!("/a/{number}"));
    }
    for number in 0..1000 {
        node.ask(OTHER, &format!("/a/flood/{number}"));
    }
    assert_eq!(node.pending(CONSUMER), 20);
}

#[test]
fn evicted_interests_go_back_to_their_face() {
    let mut node = Node::new(|config| config.max_pending = 4);
    for number in 0..4 {
        node.ask(CONSUMER, &format!("/a/{number}"));
    }
    let sent = node.ask(OTHER, "/a/other");
    assert!(congested(&sent[..1], CONSUMER), "{sent:?}");
    assert_eq!((sent.len(), sent[1].face), (2, PRODUCER));
    assert_eq!((node.pending(CONSUMER), node.pending(OTHER)), (3, 1));
}

#[test]
fn a_face_sends_no_more_interests_a_second_than_it_may() {
    let mut node = Node::new(|_| {});
    let interest_rate = Some(RateLimit { per_second: 100, burst: 10 });
    node.configure(CONSUMER, FaceConfig { interest_rate, ..FaceConfig::remote() });
    let mut accepted = 0;
    for number in 0..2000 {
        let sent = node.ask(CONSUMER, &format!("/a/{number}"));
        if !congested(&sent, CONSUMER) {
            accepted += 1;
        }
        node.wait(Duration::from_millis(1));
    }
    // The last of 2,000 comes after 1,999 ms.
    assert_eq!(accepted, 10 + 199);
    assert_eq!(node.drops(DropReason::InterestRate), 2000 - accepted);
    assert_eq!(
        node.engine.face_counters(CONSUMER).unwrap().drops.get(DropReason::InterestRate),
        2000 - accepted
    );
}

/// An Interest for `/a` that no other of these numbers can be joined with.
fn variant(number: u32) -> Interest {
    let hint = vec![name(&format!("/hint/{number}"))];
    InterestBuilder::new(name("/a")).forwarding_hint(hint).nonce(number).build().unwrap()
}

#[test]
fn a_name_has_no_more_than_32_variants_pending() {
    let mut node = Node::new(|_| {});
    // No route leads to the hints, and multicast waits for one.
    node.strategy("/", "multicast");
    for number in 0..100 {
        let sent = node.interest(CONSUMER, &variant(number));
        assert_eq!(congested(&sent, CONSUMER), number >= 32, "{number}: {sent:?}");
    }
    assert_eq!((node.engine.table_sizes().pending, node.drops(DropReason::TooManyVariants)), (32, 68));
    node.ask(CONSUMER, "/a/b");
    assert_eq!(node.engine.table_sizes().pending, 33, "other names are not concerned");
}

#[test]
fn the_routing_table_refuses_what_exceeds_its_limits_and_keeps_what_it_has() {
    let mut node = Node::new(|config| config.max_prefixes = 20);
    let full = Err(RouteError::TableFull { limit: 20 });
    let outcomes: Vec<_> = (0..40).map(|number| node.route(&format!("/b/{number}"), PRODUCER)).collect();
    assert!(outcomes.contains(&full));
    let first_refused = outcomes.iter().position(|outcome| *outcome == full).unwrap();
    assert!(outcomes[..first_refused].iter().all(Result::is_ok));
    assert!(outcomes[first_refused..].iter().all(|outcome| *outcome == full));
    assert_eq!(node.engine.table_sizes().routes as usize, 1 + first_refused);
    assert_eq!(node.ask(CONSUMER, "/b/0/x").len(), 1);
    let multicast: StrategySpec = "multicast".parse().unwrap();
    let refused = node.engine.set_strategy(Dialect::Ndn, name("/c").as_ref(), &multicast);
    assert!(matches!(refused, Err(SetStrategyError::Table(RouteError::TableFull { .. }))), "{refused:?}");
    // Room again.
    assert!(node.engine.remove_route(Dialect::Ndn, name("/b/0").as_ref(), PRODUCER));
    assert_eq!(node.route("/b/new", PRODUCER), Ok(()));
}

#[test]
fn a_prefix_has_no_more_than_64_next_hops() {
    let mut node = Node::new(|_| {});
    for number in 0..64 {
        assert_eq!(node.route("/b", FaceId(1000 + number)), Ok(()));
    }
    assert_eq!(node.route("/b", FaceId(2000)), Err(RouteError::TooManyNextHops { limit: 64 }));
    assert_eq!(node.route("/b", FaceId(1000)), Ok(()), "a change of cost needs no room");
}

/// Bytes of the Data that the content store answers with, if it does.
fn answer_bytes(node: &mut Node, uri: &str) -> Option<usize> {
    match &node.ask(CONSUMER, uri)[..] {
        [Transmit { packet: Packet::Data(data), .. }] => Some(data.wire().len()),
        _ => None,
    }
}

#[test]
fn the_store_stays_within_its_bytes_and_its_entries() {
    for eviction in [EvictionPolicy::Lru, EvictionPolicy::S3Fifo, EvictionPolicy::Sieve] {
        let mut node = Node::new(|config| {
            config.content_store.eviction = eviction;
            config.content_store.max_bytes = 50_000;
            config.content_store.max_entries = 100;
            config.content_store.unsolicited = UnsolicitedPolicy::AdmitAll;
        });
        let within = |node: &Node| {
            let sizes = node.engine.table_sizes();
            let config = node.engine.content_store_config();
            assert!(
                sizes.cached_bytes <= config.max_bytes && sizes.cached <= config.max_entries,
                "{sizes:?}"
            );
            sizes.cached
        };
        for number in 0..500 {
            node.data(PRODUCER, &data(&format!("/a/{number}"), if number % 2 == 0 { 10 } else { 3000 }));
            within(&node);
        }
        assert!(within(&node) > 10);
        assert!(node.engine.content_store_counters().evictions > 300);
        let (held, held_bytes) = (within(&node), node.engine.table_sizes().cached_bytes);
        let answers: Vec<usize> =
            (0..500).filter_map(|number| answer_bytes(&mut node, &format!("/a/{number}"))).collect();
        assert_eq!(answers.len(), held as usize, "all that is kept answers, and nothing else");
        assert!(answers.iter().sum::<usize>() as u64 <= held_bytes);
        node.engine.configure_content_store(ContentStoreConfig {
            max_bytes: 2000,
            ..*node.engine.content_store_config()
        });
        assert!(within(&node) < held, "the new budget holds at once");
        node.data(PRODUCER, &data("/a/large", 7000));
        assert_eq!(answer_bytes(&mut node, "/a/large"), None, "larger than the whole budget");
    }
}

#[test]
fn a_store_may_be_reduced_to_nothing_and_given_room_again() {
    for eviction in [EvictionPolicy::Lru, EvictionPolicy::S3Fifo, EvictionPolicy::Sieve] {
        for held in 0..4 {
            let mut node = Node::new(|config| {
                config.content_store.eviction = eviction;
                config.content_store.unsolicited = UnsolicitedPolicy::AdmitAll;
            });
            let roomy = *node.engine.content_store_config();
            for number in 0..held {
                node.data(PRODUCER, &data(&format!("/a/{number}"), 1));
            }
            node.engine.configure_content_store(ContentStoreConfig { max_entries: 0, ..roomy });
            assert_eq!(node.engine.table_sizes().cached_bytes, 0, "{eviction:?}, {held}");
            node.engine.configure_content_store(roomy);
            node.data(PRODUCER, &data("/a/0", 1));
            assert_eq!(node.engine.table_sizes().cached, 1, "{eviction:?}, {held}");
        }
    }
}

#[test]
fn unsolicited_data_is_kept_as_the_policy_says_and_never_sent() {
    const APPLICATION: FaceId = FaceId(300);
    for (policy, kept_from_host, kept_from_network) in [
        (UnsolicitedPolicy::DropAll, false, false),
        (UnsolicitedPolicy::AdmitLocal, true, false),
        (UnsolicitedPolicy::AdmitNetwork, false, true),
        (UnsolicitedPolicy::AdmitAll, true, true),
    ] {
        let mut node = Node::new(|config| config.content_store.unsolicited = policy);
        node.engine.add_face(node.now, APPLICATION, FaceConfig::local()).unwrap();
        for (face, uri, kept) in
            [(APPLICATION, "/a/host", kept_from_host), (PRODUCER, "/a/network", kept_from_network)]
        {
            assert!(node.data(face, &data(uri, 1)).is_empty());
            let answered = matches!(node.ask(CONSUMER, uri)[..], [Transmit { packet: Packet::Data(_), .. }]);
            assert_eq!(answered, kept, "{policy:?}: {uri}");
        }
        assert_eq!(node.drops(DropReason::Unsolicited), 2);
    }
}

#[test]
fn a_face_that_changed_its_language_is_sent_nothing_in_the_old_one() {
    let mut node = Node::new(|_| {});
    node.ask(CONSUMER, "/a/b");
    node.configure(CONSUMER, FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::remote() });
    assert!(node.data(PRODUCER, &data("/a/b", 1)).is_empty());
    assert_eq!((node.drops(DropReason::WrongDialect), node.pending(CONSUMER)), (1, 0));
}

#[test]
fn remembered_nonces_are_bounded() {
    let mut node = Node::new(|config| config.max_dead_nonces = 100);
    for number in 0..5000 {
        let wanted = InterestBuilder::new(name(&format!("/a/{number}")))
            .nonce(number)
            .lifetime(Duration::from_millis(1));
        node.interest(CONSUMER, &wanted.build().unwrap());
        node.wait(Duration::from_millis(10));
        assert!(node.engine.table_sizes().dead_nonces <= 200, "two generations");
    }
    assert!(node.engine.table_sizes().dead_nonces_forgotten_early > 0);
    assert_eq!(node.engine.table_sizes().pending, 0);
}

#[test]
fn events_that_nobody_takes_are_bounded() {
    let mut node = Node::new(|_| {});
    node.strategy("/", "self-learning");
    for number in 0..3000 {
        let uri = format!("/new/{number}");
        node.ask(CONSUMER, &uri);
        let announcement = Some(data("/new/announcement", 1).wire().clone());
        let header = LinkHeader { prefix_announcement: announcement, ..LinkHeader::default() };
        let data = data(&uri, 1);
        let hashes = node.engine.hasher().hash(Dialect::Ndn, data.name().components());
        node.engine.receive(
            Arrival { now: node.now, face: PRODUCER, hashes: &hashes, header: &header },
            Packet::Data(data),
        );
        node.sent();
    }
    let events = std::iter::from_fn(|| node.engine.poll_event()).count();
    assert_eq!(events, 1024);
}

/// An engine for which `reason` is not far to seek.
fn prone_to(reason: DropReason) -> Node {
    Node::new(|config| {
        config.default_hop_limit = (reason == DropReason::NoRoomForField).then_some(9);
        config.max_pending = match reason {
            DropReason::PendingTableFull => 1,
            DropReason::PendingEvicted => 4,
            _ => config.max_pending,
        };
    })
}

/// Asks by a face with this configuration.
fn ask_behind(node: &mut Node, config: FaceConfig) {
    node.configure(CONSUMER, config);
    node.ask(CONSUMER, "/a/b");
}

/// Makes the engine drop something for `reason`; `None` if it has no way to.
fn provoke(reason: DropReason) -> Node {
    let mut node = prone_to(reason);
    let asked = InterestBuilder::new(name("/a/b")).nonce(77);
    let interest = asked.build().unwrap();
    let remote = FaceConfig::remote();
    match reason {
        DropReason::UnknownFace => drop(node.ask(FaceId(999), "/a/b")),
        DropReason::WrongDialect => ask_behind(&mut node, FaceConfig { dialect: Dialect::Ccnx, ..remote }),
        DropReason::HopLimitZero => drop(node.interest(CONSUMER, &asked.hop_limit(0).build().unwrap())),
        DropReason::Scope => drop(node.ask(CONSUMER, "/localhost/a")),
        DropReason::DuplicateNonce => {
            node.interest(CONSUMER, &interest);
            node.interest(OTHER, &interest);
        }
        DropReason::RetransmissionSuppressed => {
            node.ask(CONSUMER, "/a/b");
            node.ask(CONSUMER, "/a/b");
        }
        DropReason::InterestRate => {
            let interest_rate = Some(RateLimit { per_second: 0, burst: 0 });
            ask_behind(&mut node, FaceConfig { interest_rate, ..remote });
        }
        DropReason::FacePendingLimit => ask_behind(&mut node, FaceConfig { max_pending: Some(0), ..remote }),
        DropReason::PendingTableFull => {
            node.ask(CONSUMER, "/a/b");
            node.ask(CONSUMER, "/a/c");
        }
        DropReason::PendingEvicted => {
            (0..4).for_each(|number| drop(node.ask(CONSUMER, &format!("/a/{number}"))));
            node.ask(OTHER, "/a/other");
        }
        DropReason::TooManyVariants => {
            node.route("/hint", PRODUCER).unwrap();
            (0..33).for_each(|number| drop(node.interest(CONSUMER, &variant(number))));
        }
        DropReason::NoNextHop => drop(node.ask(CONSUMER, "/nowhere")),
        DropReason::UpstreamRate => {
            node.strategy("/", "stateful-forwarding/rate~0/depth~0");
            node.ask(CONSUMER, "/a/b");
        }
        DropReason::ShaperFull => {
            let (method, bits_per_second) = (RateMethod::Hobhis, 8000);
            let control = RateControlConfig { method, bits_per_second, overhead_bytes: 0, max_held: 0 };
            ask_behind(&mut node, FaceConfig { rate_control: Some(control), ..remote });
            node.ask(CONSUMER, "/a/c");
        }
        DropReason::NextHopGone => {
            let header = LinkHeader { next_hop_face: Some(999), ..LinkHeader::default() };
            node.interest_with(CONSUMER, &interest, &header);
        }
        DropReason::Unsolicited => drop(node.data(PRODUCER, &data("/a/b", 1))),
        DropReason::NotAsked => {
            node.ask(CONSUMER, "/a/b");
            node.data(OTHER, &data("/a/b", 1));
        }
        DropReason::UnexpectedNack => node.nack(PRODUCER, &interest, NackReason::NoRoute),
        DropReason::NackOnMultiAccess => {
            node.configure(PRODUCER, FaceConfig { link_type: LinkType::MultiAccess, ..remote });
            node.interest(CONSUMER, &interest);
            node.nack(PRODUCER, &interest, NackReason::NoRoute);
        }
        DropReason::NoRoomForField => drop(node.interest(CONSUMER, &largest_interest())),
        DropReason::NoAnnouncement => {
            node.strategy("/", "self-learning");
            node.ask(CONSUMER, "/a/b");
            node.data(PRODUCER, &data("/a/b", 1));
        }
    }
    node
}

/// There is no room in it for a HopLimit.
fn largest_interest() -> Interest {
    let with =
        |bytes| InterestBuilder::new(name("/a")).application_parameters(vec![0; bytes]).nonce(1).build();
    (8600..8800).rev().find_map(|bytes| with(bytes).ok()).unwrap()
}

// A new reason does not compile above until it has its provocation.
#[test]
fn every_reason_can_be_provoked_alone() {
    for &reason in DropReason::ALL {
        let node = provoke(reason);
        let counted: Vec<_> = node.engine.counters().drops.iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [(reason, 1)], "{reason:?}");
    }
}

#[test]
fn large_interests_fill_the_pending_table_by_their_bytes() {
    let mut node = Node::new(|config| config.max_pending_bytes = 100_000);
    node.route("/a", PRODUCER).unwrap();
    let with = |number: u32| {
        let name = name(&format!("/a/{number}"));
        InterestBuilder::new(name).application_parameters(vec![0; 8000]).nonce(number).build().unwrap()
    };
    for number in 0..100 {
        node.interest(CONSUMER, &with(number));
        assert!(node.engine.table_sizes().pending_bytes <= 100_000);
    }
    assert_eq!(node.engine.table_sizes().pending, 11, "each takes a little more than 8,000 bytes");
    assert_eq!(node.drops(DropReason::PendingTableFull), 89);
    node.engine.advance(Instant::from_secs(100));
    assert_eq!(node.engine.table_sizes().pending_bytes, 0, "what expired is given back");
}

#[test]
fn who_holds_little_finds_room_in_a_table_that_few_large_interests_fill() {
    let large = |number: u32| {
        let name = name(&format!("/a/large/{number:03}"));
        InterestBuilder::new(name).application_parameters(vec![0; 8000]).nonce(number).build().unwrap()
    };
    let mut node = Node::new(|_| {});
    node.interest(CONSUMER, &large(0));
    let bytes = node.engine.table_sizes().pending_bytes;

    let mut node = Node::new(|config| config.max_pending_bytes = 20 * bytes);
    node.route("/a", PRODUCER).unwrap();
    for number in 0..400 {
        node.ask(CONSUMER, &format!("/a/{number}"));
    }
    node.now = Instant::from_secs(100);
    node.engine.advance(node.now);
    assert_eq!(node.engine.table_sizes().pending, 0, "of some hundred numbers none is in use now");
    (0..20).for_each(|number| drop(node.interest(CONSUMER, &large(number))));
    assert_eq!(node.engine.table_sizes().pending_bytes, 20 * bytes);
    for round in 0..20 {
        node.ask(OTHER, &format!("/a/other/{round}"));
        assert_eq!(node.pending(OTHER), 1, "in round {round}");
        node.data(PRODUCER, &data(&format!("/a/other/{round}"), 1));
        node.interest(CONSUMER, &large(100 + round));
    }
}
