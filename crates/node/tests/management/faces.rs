//! faces/create, faces/update, faces/destroy, and what happens to faces.

use std::io;

use cairn_node::control::{CreateFaceError, FaceEventKind, FaceState, MANAGEMENT_FACE, UnsupportedFace};
use engine::FaceId;
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, FaceEventKind as Kind, FaceEventNotification,
    FaceFlags, FacePersistency, StatusCode,
};
use packet::Dialect;
use packet::time::Duration;

use crate::fake_node::{APPLICATION, NEIGHBOUR};
use crate::manager::{Manager, command};

fn to(uri: &str) -> ControlParameters {
    ControlParameters { uri: Some(uri.to_owned()), ..Default::default() }
}

#[test]
fn a_created_face_is_described_in_the_answer() {
    let mut manager = Manager::new();
    let wanted = ControlParameters {
        face_persistency: Some(FacePersistency::Permanent),
        flags: Some(2),
        mask: Some(6),
        ..to("udp4://192.0.2.9:6363")
    };
    let made = manager.done(Command::FacesCreate, &wanted);
    assert_eq!(
        made,
        ControlParameters {
            face_id: Some(400),
            uri: wanted.uri,
            local_uri: Some("udp4://192.0.2.2:6363".to_owned()),
            flags: Some(2),
            face_persistency: Some(FacePersistency::Permanent),
            base_congestion_marking_interval_ns: Some(100_000_000),
            default_congestion_threshold_bytes: Some(65_536),
            mtu_bytes: Some(1400),
            ..Default::default()
        }
    );
    let request = manager.node.created.pop().unwrap();
    assert_eq!((request.changes.reliability, request.changes.congestion_marking), (Some(true), Some(false)));
    assert_eq!(request.changes.local_fields, None, "not in the mask");
}

#[test]
fn a_face_speaks_ccnx_if_the_flag_for_it_and_the_mask_say_so() {
    let mut manager = Manager::new();
    let mut dialect_of = |uri: &str, flags, mask| {
        let wanted = ControlParameters { flags: Some(flags), mask: Some(mask), ..to(uri) };
        let made = manager.done(Command::FacesCreate, &wanted);
        let dialect = manager.node.created.pop().unwrap().dialect;
        assert_eq!(FaceFlags(made.flags.unwrap()).contains(FaceFlags::CCNX), dialect == Dialect::Ccnx);
        dialect
    };
    let ccnx = FaceFlags::CCNX.0;
    assert_eq!(dialect_of("udp4://192.0.2.9:9695", ccnx, ccnx), Dialect::Ccnx);
    assert_eq!(dialect_of("tcp4://192.0.2.9:9695", ccnx | 2, ccnx | 2), Dialect::Ccnx);
    assert_eq!(dialect_of("udp4://192.0.2.10:9695", ccnx, 2), Dialect::Ndn, "not in the mask");
    assert_eq!(dialect_of("udp4://192.0.2.11:9695", 0, ccnx), Dialect::Ndn);
    assert_eq!(dialect_of("ip4://192.0.2.9", 0, 0), Dialect::Ccnx, "there is no other over IP alone");
}

#[test]
fn a_face_that_exists_is_a_conflict_that_tells_which() {
    let mut manager = Manager::new();
    let response = manager.tell(Command::FacesCreate, &to("udp4://192.0.2.1:6363"));
    assert_eq!(response.code, StatusCode::Conflict);
    let known = response.expect_parameters().unwrap();
    assert_eq!((known.face_id, known.uri.as_deref()), (Some(301), Some("udp4://192.0.2.1:6363")));
}

#[test]
fn addresses_that_are_not_canonical_are_bad_parameters_and_unknown_schemes_unsupported() {
    let mut manager = Manager::new();
    for uri in ["", "192.0.2.1", "udp://192.0.2.1:6363", "udp4://localhost:6363", "udp4://192.0.2.1"] {
        assert_eq!(manager.fails(Command::FacesCreate, &to(uri)), 400, "{uri}");
    }
    // No face to a socket with a path is made on request, whether there is one or not.
    for uri in ["quic://192.0.2.1:6363", "carrier+pigeon://loft", "unix:///run/other.sock", "unix:///"] {
        assert_eq!(manager.fails(Command::FacesCreate, &to(uri)), 406, "{uri}");
    }
    let bad_local = ControlParameters { local_uri: Some("eth0".to_owned()), ..to("udp4://192.0.2.9:6363") };
    assert_eq!(manager.fails(Command::FacesCreate, &bad_local), 400);
    assert!(manager.node.created.is_empty());
}

#[test]
fn why_a_face_was_not_made_decides_the_code() {
    let mut manager = Manager::new();
    for (error, code) in [
        (CreateFaceError::Unsupported(UnsupportedFace::Ndnlp1), 406),
        (CreateFaceError::Socket(io::ErrorKind::AddrInUse.into()), 504),
        (CreateFaceError::FailedAtOnce, 504),
        (CreateFaceError::TooManyFaces { limit: 5 }, 503),
        (CreateFaceError::ShuttingDown, 503),
    ] {
        manager.node.create_error = Some(error);
        assert_eq!(manager.fails(Command::FacesCreate, &to("udp4://192.0.2.9:6363")), code);
    }
}

#[test]
fn a_face_that_connects_is_answered_for_when_it_has() {
    let mut manager = Manager::new();
    manager.node.new_faces_are = FaceState::Down;
    let interest = command(CommandScope::Localhost, Command::FacesCreate, &to("tcp4://192.0.2.9:6363"));
    assert!(manager.ask(&interest).is_none());
    let sent = manager.face_event(FaceEventKind::Up, FaceId(400));
    let answer = sent.iter().find(|data| data.name() == interest.name()).unwrap();
    let response = ControlResponse::decode(answer.content()).unwrap();
    assert_eq!(response.code, StatusCode::Ok);
    assert_eq!(response.expect_parameters().unwrap().face_id, Some(400));
    // Nobody waits any more.
    assert_eq!(manager.face_event(FaceEventKind::Destroyed, FaceId(400)).len(), 1);
}

#[test]
fn who_asks_again_while_a_face_connects_is_answered_with_the_first() {
    let mut manager = Manager::new();
    manager.node.new_faces_are = FaceState::Down;
    let wanted = to("tcp4://192.0.2.9:6363");
    let first = command(CommandScope::Localhost, Command::FacesCreate, &wanted);
    let again = Command::FacesCreate.interest(CommandScope::Localhost, &wanted).unwrap().build().unwrap();
    assert!(manager.ask(&first).is_none() && manager.ask(&again).is_none());
    // Once more, word for word: that is no third question.
    assert!(manager.ask(&first).is_none());
    let sent = manager.face_event(FaceEventKind::Up, FaceId(400));
    assert_eq!(sent.iter().filter(|data| data.name() == first.name()).count(), 1);
    for interest in [first, again] {
        let answer = sent.iter().find(|data| data.name() == interest.name()).unwrap();
        assert_eq!(ControlResponse::decode(answer.content()).unwrap().code, StatusCode::Ok);
    }
}

#[test]
fn of_more_faces_that_connect_than_are_waited_for_the_rest_are_answered_at_once() {
    let mut manager = Manager::new();
    manager.node.new_faces_are = FaceState::Down;
    let ask = |manager: &mut Manager, number: u32| {
        let wanted = to(&format!("tcp4://192.0.2.{}:{}", number % 250 + 1, 6000 + number));
        manager.ask(&command(CommandScope::Localhost, Command::FacesCreate, &wanted)).is_some()
    };
    assert!((0..256).all(|number| !ask(&mut manager, number)));
    assert!((256..300).all(|number| ask(&mut manager, number)));
}

#[test]
fn a_face_that_cannot_connect_fails_the_command_at_once_or_after_three_seconds() {
    let mut manager = Manager::new();
    manager.node.new_faces_are = FaceState::Down;
    let interest = command(CommandScope::Localhost, Command::FacesCreate, &to("tcp4://192.0.2.9:6363"));
    assert!(manager.ask(&interest).is_none());
    let sent = manager.face_event(FaceEventKind::Destroyed, FaceId(400));
    let answer = sent.iter().find(|data| data.name() == interest.name()).unwrap();
    assert_eq!(ControlResponse::decode(answer.content()).unwrap().code, StatusCode::SocketError);

    assert!(manager.ask(&interest).is_none());
    manager.let_time_pass(Duration::from_millis(2999));
    assert!(manager.next_data().is_none());
    manager.let_time_pass(Duration::from_millis(1));
    let answer = manager.next_data().unwrap();
    assert_eq!(ControlResponse::decode(answer.content()).unwrap().code, StatusCode::SocketError);
    assert!(!manager.node.faces.contains_key(&FaceId(401)), "given up");
}

#[test]
fn a_face_is_updated_by_number_or_the_one_the_command_comes_by() {
    let mut manager = Manager::new();
    let local_fields = ControlParameters { flags: Some(1), mask: Some(1), ..Default::default() };
    let updated = manager.done(Command::FacesUpdate, &local_fields);
    assert_eq!((updated.face_id, updated.flags, updated.uri), (Some(300), Some(5), None));
    assert!(manager.node.faces[&APPLICATION].local_fields);

    let other = ControlParameters {
        face_id: Some(301),
        mtu_bytes: Some(1280),
        base_congestion_marking_interval_ns: Some(7),
        ..Default::default()
    };
    let updated = manager.done(Command::FacesUpdate, &other);
    assert_eq!((updated.mtu_bytes, updated.base_congestion_marking_interval_ns), (Some(1280), Some(7)));
}

#[test]
fn an_update_that_cannot_be_names_what_is_wrong_and_changes_nothing() {
    let mut manager = Manager::new();
    let missing = ControlParameters { face_id: Some(999), ..Default::default() };
    assert_eq!(manager.fails(Command::FacesUpdate, &missing), 404);

    let before = manager.node.faces[&NEIGHBOUR].clone();
    let wrong = ControlParameters {
        face_id: Some(301),
        flags: Some(3),
        mask: Some(3),
        mtu_bytes: Some(63),
        face_persistency: Some(FacePersistency::OnDemand),
        ..Default::default()
    };
    let response = manager.tell(Command::FacesUpdate, &wrong);
    assert_eq!(response.code, StatusCode::Conflict);
    let expected = ControlParameters { face_id: None, flags: Some(1), mask: Some(1), ..wrong };
    assert_eq!(response.expect_parameters().unwrap(), expected);
    assert_eq!(manager.node.faces[&NEIGHBOUR], before);
}

#[test]
fn the_face_of_the_node_itself_is_there_and_stays_as_it_is() {
    let mut manager = Manager::new();
    let before = manager.node.faces[&MANAGEMENT_FACE].clone();
    let own = ControlParameters { face_id: Some(1), ..Default::default() };
    let asked_for_what_it_has = ControlParameters {
        flags: Some(before.local_fields.into()),
        mask: Some(1),
        face_persistency: Some(FacePersistency::Persistent),
        default_congestion_threshold_bytes: Some(65_536),
        ..own.clone()
    };
    for wanted in [&own, &asked_for_what_it_has] {
        let told = manager.done(Command::FacesUpdate, wanted);
        assert_eq!((told.face_id, told.face_persistency), (Some(1), Some(FacePersistency::Persistent)));
        assert_eq!((told.flags, told.default_congestion_threshold_bytes), (Some(4), Some(65_536)));
    }
    let other = ControlParameters {
        flags: Some(3),
        mask: Some(7),
        face_persistency: Some(FacePersistency::OnDemand),
        mtu_bytes: Some(1400),
        base_congestion_marking_interval_ns: Some(1),
        ..own
    };
    let response = manager.tell(Command::FacesUpdate, &other);
    assert_eq!(response.code, StatusCode::Conflict);
    assert_eq!(response.expect_parameters().unwrap(), ControlParameters { face_id: None, ..other });
    assert_eq!(manager.node.faces[&MANAGEMENT_FACE], before);
}

#[test]
fn destroying_succeeds_whether_there_is_a_face_or_not() {
    let mut manager = Manager::new();
    for _ in 0..2 {
        let face = ControlParameters { face_id: Some(301), ..Default::default() };
        assert_eq!(manager.done(Command::FacesDestroy, &face), face);
        assert!(!manager.node.faces.contains_key(&NEIGHBOUR));
    }
    assert_eq!(manager.fails(Command::FacesDestroy, &ControlParameters::default()), 400);
}

#[test]
fn a_face_of_the_node_itself_is_not_said_to_be_destroyed() {
    let mut manager = Manager::new();
    for own in [1, 254, 255] {
        let face = ControlParameters { face_id: Some(own), ..Default::default() };
        let response = manager.tell(Command::FacesDestroy, &face);
        assert_eq!(response.code, StatusCode::Conflict);
        assert!(response.text.contains(&format!("face {own} is the node's own")), "{}", response.text);
    }
    assert!(manager.node.faces.contains_key(&MANAGEMENT_FACE));
}

#[test]
fn a_permanent_face_that_cannot_connect_fails_at_once_and_one_that_can_becomes_permanent() {
    let mut manager = Manager::new();
    manager.node.new_faces_are = FaceState::Down;
    let wanted = ControlParameters {
        face_persistency: Some(FacePersistency::Permanent),
        ..to("tcp4://192.0.2.9:6363")
    };
    let interest = command(CommandScope::Localhost, Command::FacesCreate, &wanted);
    let answer = |sent: &[packet::Data]| {
        let answer = sent.iter().find(|data| data.name() == interest.name()).unwrap();
        ControlResponse::decode(answer.content()).unwrap()
    };
    assert!(manager.ask(&interest).is_none());
    // The node gives up persistent faces only.
    assert_eq!(
        manager.node.faces[&FaceId(400)].persistency,
        cairn_node::control::FacePersistency::Persistent
    );
    let sent = manager.face_event(FaceEventKind::Destroyed, FaceId(400));
    assert_eq!(answer(&sent).code, StatusCode::SocketError);
    assert!(manager.ask(&interest).is_none());
    let sent = manager.face_event(FaceEventKind::Up, FaceId(401));
    let told = answer(&sent).expect_parameters().unwrap();
    assert_eq!(told.face_persistency, Some(FacePersistency::Permanent));
    assert_eq!(manager.node.faces[&FaceId(401)].persistency, cairn_node::control::FacePersistency::Permanent);
}

#[test]
fn an_mtu_for_a_face_that_has_none_is_unsupported_and_the_reason_is_told() {
    let mut manager = Manager::new();
    let wanted = ControlParameters { mtu_bytes: Some(1400), ..to("tcp4://192.0.2.9:6363") };
    let response = manager.tell(Command::FacesCreate, &wanted);
    assert_eq!(response.code, StatusCode::UnsupportedProtocol);
    assert!(response.text.contains("MTU"), "{}", response.text);
    assert!(manager.node.created.is_empty());
}

#[test]
fn events_are_numbered_sent_at_once_and_kept_for_those_who_ask_late() {
    let mut manager = Manager::new();
    assert!(manager.discover("/localhost/nfd/faces/events").is_none(), "nothing has happened yet");
    let kinds = [
        (FaceEventKind::Created, Kind::Created),
        (FaceEventKind::Down, Kind::Down),
        (FaceEventKind::Up, Kind::Up),
        (FaceEventKind::Destroyed, Kind::Destroyed),
    ];
    for (number, (happened, told)) in kinds.into_iter().enumerate() {
        let sent = manager.face_event(happened, NEIGHBOUR);
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].name().to_string(), format!("/localhost/nfd/faces/events/seq={number}"));
        let event = FaceEventNotification::decode(sent[0].content()).unwrap();
        assert_eq!((event.kind, event.face_id), (told, 301));
        assert_eq!((event.uri.as_str(), event.flags.0), ("udp4://192.0.2.1:6363", 4));
    }
    let first = manager.discover("/localhost/nfd/faces/events").unwrap();
    assert_eq!(first.name().to_string(), "/localhost/nfd/faces/events/seq=0");
    manager.let_time_pass(Duration::from_secs(1));
    assert!(manager.discover("/localhost/nfd/faces/events").is_none(), "old news");
    assert!(manager.exact("/localhost/nfd/faces/events/seq=2").is_some());
    assert!(manager.exact("/localhost/nfd/faces/events/seq=4").is_none(), "yet to come");
}

#[test]
fn datasets_take_no_room_from_events() {
    let mut manager = Manager::new();
    manager.face_event(FaceEventKind::Up, NEIGHBOUR);
    for _ in 0..300 {
        manager.let_time_pass(Duration::from_millis(10));
        manager.discover("/localhost/nfd/status/general").unwrap();
    }
    assert!(manager.exact("/localhost/nfd/faces/events/seq=0").is_some());
}
