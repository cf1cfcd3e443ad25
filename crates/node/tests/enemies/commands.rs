//! Management with parameters that nobody in their right mind would send.

use std::time::Instant;

use cairn_node::control::NodeControl as _;
use engine::FaceId;
use management::{Command, CommandScope, ControlParameters, FacePersistency, RouteOrigin, StatusCode};
use packet::{Component, Name};

use crate::mutate::Mutator;
use crate::peer::{Listener, interest};
use crate::victim::{SOON, Victim, command, command_interest, connect, fresh_name, wait_until};

/// Every number as large as it can be.
fn largest() -> ControlParameters {
    ControlParameters {
        name: Some("/largest".parse().unwrap()),
        face_id: Some(u64::MAX),
        uri: Some("udp4://127.0.0.1:9".to_owned()),
        origin: Some(RouteOrigin::from_number(u64::MAX)),
        cost: Some(u64::MAX),
        capacity: Some(u64::MAX),
        count: Some(u64::MAX),
        flags: Some(u64::MAX),
        mask: Some(u64::MAX),
        strategy: Some("/localhost/nfd/strategy/multicast".parse().unwrap()),
        expiration_period_ms: Some(u64::MAX - 1),
        face_persistency: Some(FacePersistency::Permanent),
        base_congestion_marking_interval_ns: Some(u64::MAX),
        default_congestion_threshold_bytes: Some(u64::MAX),
        mtu_bytes: Some(u64::MAX),
        ..Default::default()
    }
}

/// Those of `all` that `command` may have.
fn only_for(command: Command, all: &ControlParameters) -> ControlParameters {
    let all = all.clone();
    let route = ControlParameters { name: all.name.clone(), face_id: all.face_id, ..Default::default() };
    let settings = ControlParameters {
        flags: all.flags,
        mask: all.mask,
        face_persistency: all.face_persistency,
        base_congestion_marking_interval_ns: all.base_congestion_marking_interval_ns,
        default_congestion_threshold_bytes: all.default_congestion_threshold_bytes,
        mtu_bytes: all.mtu_bytes,
        ..Default::default()
    };
    match command {
        Command::FacesCreate => ControlParameters { uri: all.uri, ..settings },
        Command::FacesUpdate => ControlParameters { face_id: all.face_id, ..settings },
        Command::FacesDestroy => ControlParameters { face_id: all.face_id, ..Default::default() },
        Command::FibAddNextHop => ControlParameters { cost: all.cost, ..route },
        Command::FibRemoveNextHop => route,
        Command::CsConfig => ControlParameters {
            capacity: all.capacity,
            flags: all.flags,
            mask: all.mask,
            ..Default::default()
        },
        Command::CsErase => ControlParameters { name: all.name, count: all.count, ..Default::default() },
        Command::StrategySet => {
            ControlParameters { name: all.name, strategy: all.strategy, ..Default::default() }
        }
        Command::StrategyUnset => ControlParameters { name: all.name, ..Default::default() },
        Command::RibRegister => ControlParameters {
            origin: all.origin,
            cost: all.cost,
            flags: all.flags,
            expiration_period_ms: all.expiration_period_ms,
            ..route
        },
        Command::RibUnregister => ControlParameters { origin: all.origin, ..route },
        Command::RibAnnounce => ControlParameters::default(),
    }
}

#[test]
fn every_command_with_the_largest_numbers_is_answered_and_leaves_the_node_serving() {
    let victim = Victim::start();
    let mut peer = connect(&victim.unix, Instant::now() + SOON);
    for &asked in Command::ALL.iter().filter(|command| **command != Command::RibAnnounce) {
        for face in [Some(u64::MAX), Some(1), Some(0), None] {
            let parameters = ControlParameters { face_id: face, ..largest() };
            let parameters = only_for(asked, &parameters);
            // It might be the face that it comes by, which is then gone.
            if asked == Command::FacesDestroy && face != Some(u64::MAX) {
                continue;
            }
            let response = command(&mut peer, asked, &parameters, Instant::now() + SOON);
            assert!(response.is_some(), "{asked:?} with {parameters:?} is not answered");
        }
    }
    victim.assert_serves();
}

#[test]
fn faces_to_nonsense_are_refused_with_a_status_code_and_none_is_left() {
    let victim = Victim::start();
    let before = victim.faces().len();
    let mut peer = connect(&victim.unix, Instant::now() + SOON);
    let long = format!("unix:///{}", "x".repeat(6000));
    let Listener::Unix(path) = &victim.unix else { unreachable!("it is the path of a socket") };
    let own_socket = format!("unix://{}", path.display());
    let nonsense = [
        "",
        "://",
        "udp4://",
        "udp4://256.1.1.1:1",
        "udp4://127.0.0.1:0",
        "udp4://127.0.0.1:65536",
        "udp4://224.0.23.170:56363",
        "udp6://[::1%../../etc]:6363",
        "tcp4://[::1]:6363",
        "unix://relative",
        "unix:///no/such/socket",
        "unix:///dev/null",
        // Somebody listens there: the node itself.
        &own_socket,
        "unix:///",
        "fd://0",
        "internal://",
        "dev://lo",
        "ether://[ff:ff:ff:ff:ff:ff]",
        "ws://127.0.0.1:1",
        "wsclient://127.0.0.1:1",
        // Nobody listens there.
        "tcp4://127.0.0.1:1",
        &long,
    ];
    for uri in nonsense {
        let parameters = ControlParameters { uri: Some(uri.to_owned()), ..Default::default() };
        let response = command(&mut peer, Command::FacesCreate, &parameters, Instant::now() + SOON);
        let response = response.unwrap_or_else(|| panic!("no answer for {uri}"));
        assert!(response.code != StatusCode::Ok, "there is a face to {uri}: {response:?}");
    }
    wait_until("none is left", || victim.faces().len() == before + 1);
    victim.assert_serves();
}

#[test]
fn a_face_of_the_nodes_own_cannot_be_destroyed_or_changed() {
    let victim = Victim::start();
    let mut peer = connect(&victim.unix, Instant::now() + SOON);
    let own = ControlParameters { face_id: Some(1), ..Default::default() };
    let without_local_fields = ControlParameters { flags: Some(0), mask: Some(1), ..own.clone() };
    for (parameters, code) in [(&own, StatusCode::Ok), (&without_local_fields, StatusCode::Conflict)] {
        let response = command(&mut peer, Command::FacesUpdate, parameters, Instant::now() + SOON);
        assert_eq!(response.unwrap().code, code);
    }
    let response = command(&mut peer, Command::FacesDestroy, &own, Instant::now() + SOON);
    assert!(response.is_some());
    victim.assert_manages();
}

#[test]
fn damaged_commands_by_the_thousand_leave_management_answering() {
    let victim = Victim::start();
    let seeds = Command::ALL.iter().map(|command| only_for(*command, &largest()).encode()).collect();
    let mut mutator = Mutator::of(seeds, 7);
    let mut peer = connect(&victim.unix, Instant::now() + SOON);
    for number in 0..3000 {
        let asked = Command::ALL[number % Command::ALL.len()];
        let parameters = mutator.next();
        let name = asked.name(CommandScope::Localhost).unwrap().with(Component::generic(&parameters));
        let Ok(name) = name else { continue };
        let Ok(built) = interest(&name).nonce(number as u32).build() else { continue };
        // It may have destroyed the face that it came by.
        if peer.send(built.wire()).is_err() {
            peer = connect(&victim.unix, Instant::now() + SOON);
        }
    }
    // Any of them may have taken the producer's route or face: what is demanded is that management answers.
    victim.assert_manages();
}

#[test]
fn a_node_that_is_its_own_neighbour_does_not_send_an_interest_round_for_ever() {
    let victim = Victim::start();
    let Listener::Tcp(own) = victim.tcp else { panic!("another place") };
    let deadline = Instant::now() + SOON;
    let mut peer = connect(&victim.unix, deadline);
    let to_itself = ControlParameters { uri: Some(format!("tcp4://{own}")), ..Default::default() };
    let response = command(&mut peer, Command::FacesCreate, &to_itself, deadline).unwrap();
    let face = response.expect_parameters().unwrap().face_id;
    let root = ControlParameters { name: Some(Name::root()), face_id: face, ..Default::default() };
    assert!(command(&mut peer, Command::RibRegister, &root, deadline).unwrap().is_ok());
    for _ in 0..50 {
        peer.send(interest(&fresh_name("/round")).nonce(7).build().unwrap().wire()).unwrap();
    }
    victim.assert_serves();
    let face = FaceId(u32::try_from(face.unwrap()).unwrap());
    let sent = victim.node.control().face(face).unwrap().traffic.packets.out_interests;
    assert!((50..1000).contains(&sent), "{sent} Interests for 50 questions");
}

#[test]
fn strangers_over_udp_cannot_give_commands() {
    let victim = Victim::start();
    let mut stranger = connect(&victim.udp, Instant::now() + SOON);
    let prefix = ControlParameters { name: Some("/mine".parse().unwrap()), ..Default::default() };
    for _ in 0..10 {
        stranger.send(command_interest(Command::RibRegister, &prefix).build().unwrap().wire()).unwrap();
    }
    let series = "cairn_drops_total{layer=\"engine\",reason=\"scope\"}";
    wait_until("they are counted", || victim.counted(series) >= 10);
    let mut node = victim.node.control();
    let routes = node.routes(packet::Dialect::Ndn);
    assert!(routes.iter().all(|route| route.prefix.to_string() != "/mine"), "{routes:?}");
}

#[test]
fn a_content_store_without_room_and_with_more_than_there_is_are_both_fine() {
    let victim = Victim::start();
    for capacity in [0, 1, u64::from(u32::MAX), u64::MAX] {
        let mut peer = connect(&victim.unix, Instant::now() + SOON);
        let parameters = ControlParameters { capacity: Some(capacity), ..Default::default() };
        let response = command(&mut peer, Command::CsConfig, &parameters, Instant::now() + SOON);
        assert!(response.is_some(), "no answer for {capacity}");
        victim.assert_serves_at(&victim.unix);
    }
}
