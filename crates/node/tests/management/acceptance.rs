//! Whose commands are carried out, and what gets no answer.

use cairn_node::management::{
    CommandAuthority, KeyRejection, ManagementConfig, SignedCommand, VerifyCommand,
};
use management::{Command, CommandScope, ControlParameters, ControlResponse, LegacyFreshness, StatusCode};
use packet::ndn::{InterestBuilder, SignatureInfoBuilder, SignatureType};
use packet::{Component, Data, Interest, NameRef, UnixTime};

use crate::fake_node::NEIGHBOUR;
use crate::manager::{Manager, about, command, name};

/// Trusts keys below /friend.
#[derive(Debug)]
struct Friends;

impl VerifyCommand for Friends {
    fn knows(&self, _: NameRef<'_>) -> bool {
        true
    }

    fn verify_command(&self, _: UnixTime, signed: SignedCommand<'_>) -> Result<(), KeyRejection> {
        let is_friend = name("/friend").as_ref().is_prefix_of(signed.key);
        if is_friend { Ok(()) } else { Err(KeyRejection::Unknown(name("/stranger"))) }
    }

    fn verify_announcement(&self, _: UnixTime, _: CommandScope, _: &Data) -> Result<(), KeyRejection> {
        Err(KeyRejection::Unknown(name("/stranger")))
    }
}

fn careful() -> ManagementConfig {
    ManagementConfig { localhost: CommandAuthority::of_keys(Box::new(Friends)), ..Default::default() }
}

fn signed_by(key: &str, time_ms: u64) -> Interest {
    let info = SignatureInfoBuilder::new(SignatureType::ED25519).key_name(&name(key)).time_ms(time_ms);
    let builder = Command::RibRegister.interest(CommandScope::Localhost, &about("/a")).unwrap();
    builder.build_signed(&info, |_| vec![0; 64]).unwrap()
}

fn code(answer: Option<&Data>) -> Option<u64> {
    answer.map(|data| ControlResponse::decode(data.content()).unwrap().code.number())
}

#[test]
fn by_default_commands_are_obeyed_in_either_format_and_without_any_signature() {
    let mut manager = Manager::new();
    let unsigned =
        Command::RibRegister.interest(CommandScope::Localhost, &about("/a")).unwrap().build().unwrap();
    assert_eq!(code(manager.ask(&unsigned).as_ref()), Some(200));
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256);
    let freshness = LegacyFreshness { time_ms: 1, nonce: 2 };
    let legacy = Command::RibRegister
        .legacy_name(CommandScope::Localhost, &about("/b"), freshness, &info, |_| vec![0; 32])
        .unwrap();
    let legacy = InterestBuilder::new(legacy).build().unwrap();
    assert_eq!(code(manager.ask(&legacy).as_ref()), Some(200));
    assert_eq!(manager.node.next_hops("/b"), [(300, 0)]);
}

#[test]
fn with_keys_configured_strangers_and_repetitions_are_refused() {
    let mut manager = Manager::with(careful());
    let now = manager.now.unix.as_millis() + 1;
    assert_eq!(code(manager.ask(&signed_by("/stranger/KEY/1", now)).as_ref()), Some(403));
    assert_eq!(manager.management.counters().unauthorized, 1);
    assert_eq!(manager.node.next_hops("/a"), []);
    let command = signed_by("/friend/KEY/1", now);
    assert_eq!(code(manager.ask(&command).as_ref()), Some(200));
    assert_eq!(code(manager.ask(&command).as_ref()), Some(403));
    assert_eq!(code(manager.ask(&signed_by("/friend/KEY/1", now + 1)).as_ref()), Some(200));
}

#[test]
fn with_keys_configured_what_names_no_key_gets_no_answer() {
    let mut manager = Manager::with(careful());
    let digest = command(CommandScope::Localhost, Command::RibRegister, &about("/a"));
    assert!(manager.ask(&digest).is_none());
    let unsigned =
        Command::RibRegister.interest(CommandScope::Localhost, &about("/a")).unwrap().build().unwrap();
    assert!(manager.ask(&unsigned).is_none());
    assert_eq!(manager.management.counters().unanswered, 2);
    // Questions need no key.
    assert!(manager.discover("/localhost/nfd/faces/list").is_some());
}

#[test]
fn requests_that_make_no_sense_get_no_answer() {
    let mut manager = Manager::new();
    for uri in [
        "/localhost/nfd",
        "/localhost/nfd/rib",
        "/localhost/nfd/rib/register",
        "/localhost/nfd/rib/register/nonsense",
        "/localhost/nfd/rib/register/h%05%07%03%08%01",
        "/localhost/nfd/rib/enlist/h%00",
        "/localhost/nfd/routes/list",
        "/localhost/elsewhere/rib/list",
    ] {
        assert!(manager.exact(uri).is_none(), "{uri}");
    }
    assert_eq!(manager.management.counters().unanswered, 8);
}

#[test]
fn parameters_that_are_missing_or_forbidden_are_refused_before_anything_is_done() {
    let mut manager = Manager::new();
    assert_eq!(manager.fails(Command::RibRegister, &ControlParameters::default()), 400);
    let forbidden = ControlParameters { uri: Some("udp4://192.0.2.1:6363".to_owned()), ..about("/a") };
    let response = manager.tell(Command::RibRegister, &forbidden);
    assert_eq!(
        (response.code, response.text.as_str()),
        (StatusCode::BadParameters, "failed in validating parameters")
    );
    assert_eq!(manager.node.next_hops("/a"), []);
}

#[test]
fn neighbours_may_register_routes_where_that_is_switched_on_and_nothing_else() {
    let register = command(CommandScope::Localhop, Command::RibRegister, &about("/a"));
    let mut closed = Manager::new();
    assert!(closed.ask_from(NEIGHBOUR, &register).is_none());
    assert_eq!(closed.node.next_hops("/localhop/nfd"), []);

    let open = ManagementConfig { localhop: Some(CommandAuthority::Anyone), ..Default::default() };
    let mut manager = Manager::with(open);
    assert_eq!(manager.node.next_hops("/localhop/nfd"), [(1, 0)]);
    assert_eq!(code(manager.ask_from(NEIGHBOUR, &register).as_ref()), Some(200));
    assert_eq!(manager.node.next_hops("/a"), [(301, 100)], "behind those of this host");
    let destroy = ControlParameters { face_id: Some(300), ..Default::default() };
    for forbidden in [
        command(CommandScope::Localhop, Command::FacesDestroy, &destroy),
        command(CommandScope::Localhop, Command::FibAddNextHop, &about("/a")),
        InterestBuilder::new(name("/localhop/nfd/faces/list")).can_be_prefix(true).build().unwrap(),
    ] {
        assert!(manager.ask_from(NEIGHBOUR, &forbidden).is_none(), "{}", forbidden.name());
    }
    assert!(manager.discover("/localhop/nfd/rib/list").is_some());
}

#[test]
fn a_neighbour_without_a_key_neither_gives_nor_takes_the_routes_of_others() {
    let open = ManagementConfig { localhop: Some(CommandAuthority::Anyone), ..Default::default() };
    let mut manager = Manager::with(open);
    manager.done(Command::RibRegister, &about("/a"));
    let by = |face: u32, uri: &str| ControlParameters { face_id: Some(face.into()), ..about(uri) };
    for (what, parameters) in [
        (Command::RibRegister, by(300, "/b")),
        (Command::RibUnregister, by(300, "/a")),
        // By which management itself is reached.
        (Command::RibUnregister, by(1, "/localhost/nfd")),
    ] {
        let answer = manager.ask_from(NEIGHBOUR, &command(CommandScope::Localhop, what, &parameters));
        assert_eq!(code(answer.as_ref()), Some(403), "{what:?}");
    }
    assert_eq!(manager.node.next_hops("/a"), [(300, 0)]);
    assert_eq!(manager.node.next_hops("/localhost/nfd"), [(1, 0)]);
    // His own he may name.
    for face in [0, 301] {
        let register = command(CommandScope::Localhop, Command::RibRegister, &by(face, "/c"));
        assert_eq!(code(manager.ask_from(NEIGHBOUR, &register).as_ref()), Some(200));
    }
    // An application of this host may do as before.
    manager.done(Command::RibRegister, &by(301, "/d"));
}

#[test]
fn neighbours_are_held_to_their_own_authority() {
    let config = ManagementConfig {
        localhop: Some(CommandAuthority::of_keys(Box::new(Friends))),
        ..Default::default()
    };
    let mut manager = Manager::with(config);
    let register = |key: &str| {
        let info =
            SignatureInfoBuilder::new(SignatureType::ED25519).key_name(&name(key)).time_ms(1_700_000_000_001);
        let builder = Command::RibRegister.interest(CommandScope::Localhop, &about("/a")).unwrap();
        builder.build_signed(&info, |_| vec![0; 64]).unwrap()
    };
    assert_eq!(code(manager.ask_from(NEIGHBOUR, &register("/stranger/KEY/1")).as_ref()), Some(403));
    assert_eq!(code(manager.ask_from(NEIGHBOUR, &register("/friend/KEY/1")).as_ref()), Some(200));
    // Applications on this host are not concerned.
    manager.done(Command::RibRegister, &about("/b"));
}

#[test]
fn a_command_with_more_components_behind_its_parameters_is_still_one() {
    let mut manager = Manager::new();
    let name = Command::RibRegister.name(CommandScope::Localhost).unwrap();
    let name = name.with(Component::generic(&about("/a").encode())).unwrap();
    let name = name.with(Component::generic(b"more")).unwrap();
    let interest = InterestBuilder::new(name).build().unwrap();
    assert_eq!(code(manager.ask(&interest).as_ref()), Some(200));
}
