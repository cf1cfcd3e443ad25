//! rib/register, rib/unregister, rib/announce, and routes that are learned.

use cairn_node::control::{ControlApplication, FaceEventKind};
use cairn_node::management::{CommandAuthority, ManagementConfig};
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, Dataset, PrefixAnnouncement, RibEntry,
    RouteFlags, RouteOrigin, StatusCode,
};
use packet::ndn::{InterestBuilder, SignatureInfoBuilder, SignatureType, ValidityPeriod};
use packet::time::Duration;
use packet::{Data, Interest, UnixTime};

use crate::fake_node::NEIGHBOUR;
use crate::manager::{Manager, about, name};

#[test]
fn a_route_needs_only_a_name() {
    let mut manager = Manager::new();
    let answer = manager.done(Command::RibRegister, &about("/a"));
    let filled_in = ControlParameters {
        face_id: Some(300),
        origin: Some(RouteOrigin::App),
        cost: Some(0),
        flags: Some(1),
        ..about("/a")
    };
    assert_eq!(answer, filled_in);
    assert_eq!(manager.node.next_hops("/a"), [(300, 0)]);

    let answer = manager.done(Command::RibUnregister, &about("/a"));
    assert_eq!(
        answer,
        ControlParameters { face_id: Some(300), origin: Some(RouteOrigin::App), ..about("/a") }
    );
    assert_eq!(manager.node.next_hops("/a"), []);
    manager.done(Command::RibUnregister, &about("/a"));
}

#[test]
fn everything_about_a_route_can_be_given_and_is_listed() {
    let mut manager = Manager::new();
    let wanted = ControlParameters {
        face_id: Some(301),
        origin: Some(RouteOrigin::Static),
        cost: Some(9),
        flags: Some(3),
        expiration_period_ms: Some(60_000),
        ..about("/a/b")
    };
    assert_eq!(manager.done(Command::RibRegister, &wanted), wanted);
    manager.let_time_pass(Duration::from_secs(20));
    let list: Vec<RibEntry> = manager.list(Dataset::RibList);
    let entry = list.iter().find(|entry| entry.prefix == name("/a/b")).unwrap();
    let expected = management::Route {
        face_id: 301,
        origin: RouteOrigin::Static,
        cost: 9,
        flags: RouteFlags(3),
        expiration_period_ms: Some(40_000),
    };
    assert_eq!(entry.routes, [expected]);
    manager.let_time_pass(Duration::from_secs(40));
    assert_eq!(manager.node.next_hops("/a/b"), []);
    assert_eq!(manager.management.rib().route_count(), 1, "but for that of management itself");
}

#[test]
fn the_longest_period_means_for_ever() {
    let mut manager = Manager::new();
    let wanted = ControlParameters { expiration_period_ms: Some(u64::MAX), ..about("/a") };
    manager.done(Command::RibRegister, &wanted);
    assert_eq!(manager.management.next_deadline(), packet::time::Instant::NEVER);
}

#[test]
fn management_can_be_reached_and_shows_its_own_route() {
    let mut manager = Manager::new();
    assert_eq!(manager.node.next_hops("/localhost/nfd"), [(1, 0)]);
    let list: Vec<RibEntry> = manager.list(Dataset::RibList);
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].prefix, name("/localhost/nfd"));
}

#[test]
fn what_the_configuration_routes_is_the_operators_and_stays_his_to_remove() {
    let mut manager = Manager::new();
    let hop = engine::NextHop { face: NEIGHBOUR, cost: 4 };
    for _ in 0..2 {
        let (now, routes) = (manager.now, [(name("/a"), hop)]);
        manager.management.handle_configured_routes(now, &mut manager.node, &routes);
        assert_eq!(manager.node.next_hops("/a"), [(NEIGHBOUR.0, 4)]);
        assert_eq!(manager.management.rib().route_count(), 2, "with that of management itself");
    }
    let removed = ControlParameters {
        face_id: Some(NEIGHBOUR.0.into()),
        origin: Some(RouteOrigin::Static),
        ..about("/a")
    };
    manager.done(Command::RibUnregister, &removed);
    assert_eq!(manager.node.next_hops("/a"), []);
}

#[test]
fn inherited_routes_reach_the_forwarding_table() {
    let mut manager = Manager::new();
    manager
        .done(Command::RibRegister, &ControlParameters { face_id: Some(301), cost: Some(5), ..about("/a") });
    manager.done(Command::RibRegister, &about("/a/b"));
    assert_eq!(manager.node.next_hops("/a/b"), [(300, 0), (301, 5)]);
    manager.face_event(FaceEventKind::Destroyed, NEIGHBOUR);
    assert_eq!(manager.node.next_hops("/a/b"), [(300, 0)]);
    assert_eq!(manager.node.next_hops("/a"), []);
}

#[test]
fn a_route_by_a_face_that_does_not_exist_is_accepted_and_gone_at_once() {
    let mut manager = Manager::new();
    let nowhere = ControlParameters { face_id: Some(999), ..about("/a") };
    assert_eq!(manager.done(Command::RibRegister, &nowhere).face_id, Some(999));
    assert_eq!(manager.management.rib().route_count(), 1);
    assert_eq!(manager.management.counters().next_hops_refused, 1);
}

#[test]
fn a_prefix_that_is_too_long_and_a_rib_that_is_full_are_refused() {
    let mut manager = Manager::with(ManagementConfig { max_routes: 3, ..Default::default() });
    assert_eq!(manager.fails(Command::RibRegister, &about(&"/x".repeat(17))), 414);
    manager.done(Command::RibRegister, &about(&"/x".repeat(16)));
    manager.done(Command::RibRegister, &about("/b"));
    assert_eq!(manager.fails(Command::RibRegister, &about("/c")), 503);
    manager.done(Command::RibRegister, &about("/b"));
}

pub(crate) fn announcement(prefix: &str, expiration_period_ms: u64, validity: Option<(u64, u64)>) -> Data {
    let validity = validity.map(|(from, to)| ValidityPeriod {
        not_before: UnixTime::from_secs(from),
        not_after: UnixTime::from_secs(to),
    });
    let announcement =
        PrefixAnnouncement { prefix: name(prefix), version: 1, expiration_period_ms, validity };
    let info = SignatureInfoBuilder::new(SignatureType::ED25519).key_name(&name("/owner/KEY/1"));
    announcement.to_data().unwrap().build_signed(&info, |_| vec![0; 64]).unwrap()
}

#[test]
fn an_announcement_that_is_signed_by_a_digest_only_is_refused_whoever_may_command() {
    let open = ManagementConfig { localhop: Some(CommandAuthority::Anyone), ..Default::default() };
    let mut manager = Manager::with(open);
    let announcement =
        PrefixAnnouncement { prefix: name("/a"), version: 1, expiration_period_ms: 1000, validity: None };
    let data = announcement.to_data().unwrap().build_with_digest().unwrap();
    let answer = manager.ask(&announce(&data)).unwrap();
    assert_eq!(response(&answer).code, StatusCode::Unauthorized);
    assert!(response(&answer).text.contains("digest"), "{}", response(&answer).text);
    learn(&mut manager, &data);
    assert_eq!(manager.node.next_hops("/a"), []);
}

fn announce(data: &Data) -> Interest {
    InterestBuilder::new(Command::RibAnnounce.name(CommandScope::Localhost).unwrap())
        .application_parameters(data.wire().to_vec())
        .build()
        .unwrap()
}

fn response(data: &Data) -> ControlResponse {
    ControlResponse::decode(data.content()).unwrap()
}

#[test]
fn an_announced_prefix_gets_a_route_to_who_showed_the_announcement() {
    let mut manager = Manager::new();
    // The manager's clock says 1,700,000,000 s.
    let data = announcement("/a", 3_600_000, Some((1_600_000_000, 1_700_000_060)));
    let answer = manager.ask(&announce(&data)).unwrap();
    assert_eq!(response(&answer).code, StatusCode::Ok);
    let expected = ControlParameters {
        face_id: Some(300),
        origin: Some(RouteOrigin::PrefixAnnouncement),
        cost: Some(2048),
        flags: Some(1),
        expiration_period_ms: Some(60_000),
        ..about("/a")
    };
    assert_eq!(response(&answer).expect_parameters().unwrap(), expected);
    assert_eq!(manager.node.next_hops("/a"), [(300, 2048)]);
    let kept = &manager.node.announcements[&(name("/a"), engine::FaceId(300))];
    assert_eq!(kept[..], data.wire()[..]);
    manager.let_time_pass(Duration::from_secs(60));
    assert_eq!(manager.node.next_hops("/a"), []);
}

#[test]
fn announcements_that_are_not_valid_now_or_too_long_or_no_announcements_make_no_routes() {
    let mut manager = Manager::new();
    for (data, code) in [
        (announcement("/a", 1000, Some((1_600_000_000, 1_699_999_999))), 403),
        (announcement("/a", 1000, Some((1_700_000_001, 1_800_000_000))), 403),
        (announcement(&"/x".repeat(33), 1000, None), 414),
    ] {
        let answer = manager.ask(&announce(&data)).unwrap();
        assert_eq!(response(&answer).code.number(), code);
    }
    let other = packet::ndn::DataBuilder::new(name("/a")).build_with_digest().unwrap();
    assert!(manager.ask(&announce(&other)).is_none());
    let command = Command::RibAnnounce.name(CommandScope::Localhost).unwrap();
    assert!(manager.ask(&InterestBuilder::new(command).build().unwrap()).is_none());
    assert_eq!(manager.management.rib().route_count(), 1);
}

fn learn(manager: &mut Manager, data: &Data) {
    let event = engine::Event::RouteAnnounced { face: NEIGHBOUR, announcement: data.wire().clone() };
    manager.management.handle_engine_event(manager.now, &mut manager.node, &event);
}

#[test]
fn routes_are_learned_from_neighbours_only_where_they_may_register() {
    let mut closed = Manager::new();
    learn(&mut closed, &announcement("/a", 3_600_000, None));
    assert_eq!(closed.node.next_hops("/a"), []);

    let open = ManagementConfig { localhop: Some(CommandAuthority::Anyone), ..Default::default() };
    let mut manager = Manager::with(open);
    learn(&mut manager, &announcement("/a", 3_600_000, None));
    assert_eq!(manager.node.next_hops("/a"), [(301, 2048)]);

    // One that fails is forgotten, the longest prefix of the name only.
    learn(&mut manager, &announcement("/a/b", 3_600_000, None));
    let failed = engine::Event::RouteFailed { face: NEIGHBOUR, name: name("/a/b/c") };
    manager.management.handle_engine_event(manager.now, &mut manager.node, &failed);
    assert_eq!(manager.node.next_hops("/a/b"), []);
    assert_eq!(manager.node.next_hops("/a"), [(301, 2048)]);

    // And none lives for longer than ten minutes unless it is renewed.
    manager.let_time_pass(Duration::from_secs(599));
    assert_eq!(manager.node.next_hops("/a"), [(301, 2048)]);
    learn(&mut manager, &announcement("/a", 3_600_000, None));
    manager.let_time_pass(Duration::from_secs(599));
    assert_eq!(manager.node.next_hops("/a"), [(301, 2048)]);
    manager.let_time_pass(Duration::from_secs(1));
    assert_eq!(manager.node.next_hops("/a"), []);
}

#[test]
fn a_route_at_the_root_changes_all_prefixes_below_it_with_few_calls() {
    let mut manager = Manager::new();
    for number in 0..600 {
        manager.done(Command::RibRegister, &about(&format!("/p/{number}")));
    }
    manager.node.batches.clear();
    let root = ControlParameters { face_id: Some(NEIGHBOUR.0.into()), ..about("/") };
    manager.done(Command::RibRegister, &root);
    assert_eq!(manager.node.batches.iter().sum::<usize>(), 601, "the root and what inherits from it");
    // One for the root, and one for each piece of 64 of what is below.
    assert!(manager.node.batches.len() <= 11, "{:?}", manager.node.batches);
    manager.node.batches.clear();
    manager.done(Command::RibUnregister, &root);
    assert!(manager.node.batches.len() <= 11, "{:?}", manager.node.batches);
    assert!(manager.node.hops.keys().all(|(_, face)| *face != NEIGHBOUR));
}
