//! What is different in the CCNx dialect.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use cairn_engine::{
    Engine, EngineConfig, FaceConfig, FaceId, NamespaceRules, NextHop, SharingConfig, Transmit,
};
use packet::ccnx::{Exclude, ExcludeEntry, InterestFields, PublisherId, PublisherIdKind, uri};
use packet::time::Instant;
use packet::{Dialect, Interest, LinkType, Packet};

use common::object_of_ccnx;

const APPLICATION: FaceId = FaceId(256);
const OTHER: FaceId = FaceId(257);
const NEIGHBOUR: FaceId = FaceId(258);

fn engine() -> Engine {
    let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
    let (local, remote) = (FaceConfig::local(), FaceConfig::remote());
    for (face, config) in [(APPLICATION, local), (OTHER, local), (NEIGHBOUR, remote)] {
        let config = FaceConfig { dialect: Dialect::Ccnx, ..config };
        engine.add_face(Instant::ZERO, face, config).unwrap();
    }
    engine
}

fn interest(uri: &str, fields: InterestFields<'_>) -> Interest {
    Interest::decode_ccnx(fields.encode(&uri::parse(uri).unwrap()).unwrap().into()).unwrap()
}

fn sent(engine: &mut Engine) -> Vec<(FaceId, String)> {
    let describe = |Transmit { face, packet, .. }: Transmit| (face, packet.kind().to_string());
    std::iter::from_fn(|| engine.poll_transmit()).map(describe).collect()
}

fn receive(engine: &mut Engine, face: FaceId, packet: Packet) {
    let mut arrivals = cairn_engine::batch::Arrivals::new(face);
    arrivals.push(engine, packet, None);
    arrivals.hand_over(Instant::ZERO, engine);
}

#[test]
fn what_an_application_publishes_unasked_is_kept_and_what_a_neighbour_does_is_not() {
    let mut engine = engine();
    receive(&mut engine, APPLICATION, Packet::Data(object_of_ccnx("ccnx:/kept/%00")));
    receive(&mut engine, NEIGHBOUR, Packet::Data(object_of_ccnx("ccnx:/dropped/%00")));
    for (uri, expected) in [("ccnx:/kept", vec![(OTHER, "data".to_owned())]), ("ccnx:/dropped", vec![])] {
        receive(&mut engine, OTHER, Packet::Interest(interest(uri, InterestFields::default())));
        assert_eq!(sent(&mut engine), expected, "{uri}");
    }
}

#[test]
fn who_asks_before_there_is_a_route_gets_what_an_application_then_publishes_unasked() {
    let mut engine = engine();
    receive(&mut engine, NEIGHBOUR, Packet::Interest(interest("ccnx:/early", InterestFields::default())));
    assert_eq!(sent(&mut engine), vec![]);
    assert_eq!(engine.counters().held_without_route, 1);
    receive(&mut engine, APPLICATION, Packet::Data(object_of_ccnx("ccnx:/early/%00")));
    assert_eq!(sent(&mut engine), vec![(NEIGHBOUR, "data".to_owned())]);
}

#[test]
fn who_asked_before_there_was_a_route_is_sent_on_when_he_asks_again_whatever_the_strategy() {
    for strategy in ["best-route", "multicast", "access"] {
        let mut engine = engine();
        let prefix = uri::parse("ccnx:/early").unwrap();
        let spec = strategy.parse().unwrap();
        engine.set_strategy(Dialect::Ccnx, prefix.as_ref(), &spec).unwrap();
        let ask = |engine: &mut Engine, nonce: &[u8]| {
            let fields = InterestFields { nonce: Some(nonce), ..InterestFields::default() };
            receive(engine, OTHER, Packet::Interest(interest("ccnx:/early", fields)));
        };
        ask(&mut engine, b"first");
        assert_eq!(sent(&mut engine), vec![], "{strategy}");
        let hop = NextHop { face: NEIGHBOUR, cost: 0 };
        engine.add_route(Instant::ZERO, Dialect::Ccnx, prefix.as_ref(), hop).unwrap();
        let at_once = sent(&mut engine);
        ask(&mut engine, b"again");
        let all = [at_once, sent(&mut engine)].concat();
        assert_eq!(all, vec![(NEIGHBOUR, "interest".to_owned())], "{strategy}");
    }
}

/// What a stranger's Interests with so much to exclude keep a Data from reaching at once, it reaches when it
/// is asked for again.
#[test]
fn who_waits_without_a_route_behind_long_selectors_finds_in_the_content_store_what_was_published() {
    let mut passed_over = 0;
    for asks_first in [true, false] {
        let mut engine = engine();
        let plain = |engine: &mut Engine, nonce: &[u8]| {
            let fields = InterestFields { nonce: Some(nonce), ..InterestFields::default() };
            receive(engine, OTHER, Packet::Interest(interest("ccnx:/early", fields)));
        };
        if asks_first {
            plain(&mut engine, b"first");
        }
        for byte in [0xfe, 0xff] {
            let long = [byte; 4000];
            let mut exclude = Exclude::default();
            exclude.push(ExcludeEntry::Component(&long)).unwrap();
            let fields = InterestFields { exclude: Some(exclude.as_ref()), ..InterestFields::default() };
            receive(&mut engine, NEIGHBOUR, Packet::Interest(interest("ccnx:/early", fields)));
        }
        if !asks_first {
            plain(&mut engine, b"first");
        }
        receive(&mut engine, APPLICATION, Packet::Data(object_of_ccnx("ccnx:/early/%00")));
        let reached = |engine: &mut Engine| sent(engine).iter().any(|(face, _)| *face == OTHER);
        if !reached(&mut engine) {
            passed_over += 1;
            plain(&mut engine, b"again");
            assert!(reached(&mut engine), "asks first: {asks_first}");
        }
    }
    assert!(passed_over > 0, "selectors were not long enough");
}

#[test]
fn an_interest_as_long_as_a_ccnd_takes_is_forwarded_with_a_nonce() {
    let mut engine = engine();
    let long = format!("ccnx:/{}", vec!["x".repeat(1000); 60].join("/"));
    let prefix = uri::parse("ccnx:/").unwrap();
    let hop = NextHop { face: NEIGHBOUR, cost: 0 };
    engine.add_route(Instant::ZERO, Dialect::Ccnx, prefix.as_ref(), hop).unwrap();
    // What is made here is shorter, so this one is put together.
    let name = uri::parse(&long).unwrap();
    let mut wire = vec![0x01, 0xd2, 0xf2];
    for component in name.components() {
        packet::ccnx::block::write_blob_element(&mut wire, packet::ccnx::Dtag::COMPONENT, component.value);
    }
    wire.extend([0, 0]);
    receive(&mut engine, APPLICATION, Packet::Interest(Interest::decode_ccnx(wire.into()).unwrap()));
    let Some(Transmit { packet: Packet::Interest(forwarded), face, .. }) = engine.poll_transmit() else {
        panic!("it is not forwarded")
    };
    assert_eq!((face, forwarded.nonce().is_some()), (NEIGHBOUR, true));
}

#[test]
fn what_names_services_of_this_host_does_not_leave_it_whatever_routes_there_are() {
    for (uri, expected) in [
        ("ccnx:/%C1.M.S.localhost/%C1.M.SRV/ccnd/KEY", vec![OTHER]),
        ("ccnx:/%C1.M.S.localhost", vec![OTHER]),
        ("ccnx:/%C1.M.S.localhosts/a", vec![NEIGHBOUR, OTHER]),
        ("ccnx:/%C1.M.S.neighborhood/%C1.M.SRV/ccnd/KEY", vec![NEIGHBOUR, OTHER]),
    ] {
        let mut reached = Vec::new();
        for face in [NEIGHBOUR, OTHER] {
            let mut engine = engine();
            let prefix = uri::parse("ccnx:/").unwrap();
            let hop = NextHop { face, cost: 0 };
            engine.add_route(Instant::ZERO, Dialect::Ccnx, prefix.as_ref(), hop).unwrap();
            receive(&mut engine, APPLICATION, Packet::Interest(interest(uri, InterestFields::default())));
            let is_forwarded = |(to, kind): &(FaceId, String)| *to == face && kind == "interest";
            reached.extend(sent(&mut engine).iter().any(is_forwarded).then_some(face));
        }
        assert_eq!(reached, expected, "{uri}");
    }
}

#[test]
fn names_of_this_host_alone_are_neither_asked_for_nor_answered_nor_sent_from_another() {
    let mut engine = engine();
    let ask = |engine: &mut Engine, from: FaceId, uri: &str, nonce: &[u8]| {
        let fields = InterestFields { nonce: Some(nonce), ..InterestFields::default() };
        receive(engine, from, Packet::Interest(interest(uri, fields)));
        sent(engine)
    };
    let whole = uri::parse("ccnx:/").unwrap();
    for face in [NEIGHBOUR, APPLICATION] {
        let hop = NextHop { face, cost: u64::from(face == APPLICATION) };
        engine.add_route(Instant::ZERO, Dialect::Ccnx, whole.as_ref(), hop).unwrap();
    }
    let here = uri::parse("ccnx:/here").unwrap();
    let stays = NamespaceRules { stays_on_host: true, ..NamespaceRules::default() };
    engine.set_namespace_rules(here.as_ref(), stays);
    let to = |face: FaceId, kind: &str| vec![(face, kind.to_owned())];
    assert_eq!(ask(&mut engine, NEIGHBOUR, "ccnx:/here/a", b"nonce 1"), vec![]);
    assert_eq!(ask(&mut engine, NEIGHBOUR, "ccnx:/there/a", b"nonce 2"), to(APPLICATION, "interest"));
    assert_eq!(ask(&mut engine, OTHER, "ccnx:/here/b", b"nonce 3"), to(APPLICATION, "interest"));
    assert_eq!(ask(&mut engine, OTHER, "ccnx:/there/b", b"nonce 4"), to(NEIGHBOUR, "interest"));
    receive(&mut engine, NEIGHBOUR, Packet::Data(object_of_ccnx("ccnx:/here/b/%00")));
    assert_eq!(sent(&mut engine), vec![]);
    receive(&mut engine, APPLICATION, Packet::Data(object_of_ccnx("ccnx:/here/b/%00")));
    assert_eq!(sent(&mut engine), to(OTHER, "data"));
    assert_eq!(
        ask(&mut engine, NEIGHBOUR, "ccnx:/here/b", b"nonce 5"),
        vec![],
        "not from the content store either"
    );
    engine.set_namespace_rules(here.as_ref(), NamespaceRules::default());
    assert_eq!(ask(&mut engine, NEIGHBOUR, "ccnx:/here/b", b"nonce 6"), to(NEIGHBOUR, "data"));
}

#[test]
fn a_tap_sees_every_new_interest_once_beside_where_the_strategy_sends_it() {
    for strategy in ["best-route", "multicast"] {
        let mut engine = engine();
        let prefix = uri::parse("ccnx:/a").unwrap();
        engine.set_strategy(Dialect::Ccnx, prefix.as_ref(), &strategy.parse().unwrap()).unwrap();
        for (face, cost) in [(APPLICATION, 500), (NEIGHBOUR, 0)] {
            let hop = NextHop { face, cost };
            engine.add_route(Instant::ZERO, Dialect::Ccnx, prefix.as_ref(), hop).unwrap();
        }
        let rules = NamespaceRules { taps: [APPLICATION].into_iter().collect(), ..NamespaceRules::default() };
        engine.set_namespace_rules(prefix.as_ref(), rules);
        let ask = |engine: &mut Engine, from: FaceId, nonce: &[u8]| {
            let fields = InterestFields { nonce: Some(nonce), ..InterestFields::default() };
            receive(engine, from, Packet::Interest(interest("ccnx:/a/b", fields)));
            let mut sent = sent(engine);
            sent.sort();
            sent
        };
        let both = [APPLICATION, NEIGHBOUR].map(|face| (face, "interest".to_owned()));
        assert_eq!(ask(&mut engine, OTHER, b"nonce 1"), both, "{strategy}");
        let again = ask(&mut engine, OTHER, b"nonce 2");
        assert!(
            again.iter().filter(|(face, _)| *face == APPLICATION).count()
                <= usize::from(strategy == "multicast")
        );
        let own = fresh_from_tap(&mut engine);
        assert_eq!(own, [(NEIGHBOUR, "interest".to_owned())], "{strategy}: not back to where it came from");
    }
}

fn fresh_from_tap(engine: &mut Engine) -> Vec<(FaceId, String)> {
    let fields = InterestFields { nonce: Some(b"nonce 3"), ..InterestFields::default() };
    receive(engine, APPLICATION, Packet::Interest(interest("ccnx:/a/c", fields)));
    sent(engine)
}

#[test]
fn an_object_of_another_publisher_on_a_shared_link_ends_no_repetition() {
    let mut engine = engine();
    let config = FaceConfig {
        dialect: Dialect::Ccnx,
        link_type: LinkType::MultiAccess,
        sharing: Some(SharingConfig::LOCAL),
        ..FaceConfig::remote()
    };
    assert!(engine.configure_face(Instant::ZERO, NEIGHBOUR, config));
    let prefix = uri::parse("ccnx:/o").unwrap();
    let hop = NextHop { face: NEIGHBOUR, cost: 0 };
    engine.add_route(Instant::ZERO, Dialect::Ccnx, prefix.as_ref(), hop).unwrap();
    let publisher = [0x22; 32];
    let fields = InterestFields {
        publisher: Some(PublisherId { kind: PublisherIdKind::PublicKey, digest: &publisher }),
        nonce: Some(&[7; 4]),
        ..InterestFields::default()
    };
    receive(&mut engine, APPLICATION, Packet::Interest(interest("ccnx:/o/%00", fields)));
    assert_eq!(sent(&mut engine), [(NEIGHBOUR, "interest".to_owned())]);
    receive(&mut engine, NEIGHBOUR, Packet::Data(object_of_ccnx("ccnx:/o/%00")));
    assert_eq!(sent(&mut engine), []);
    let later = (1..=300).any(|millis| {
        engine.advance(Instant::from_millis(millis));
        !sent(&mut engine).is_empty()
    });
    assert!(later, "it is asked for again");
}
