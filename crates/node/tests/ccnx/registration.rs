//! Who a forwarder is, and prefixes that clients register.

use std::net::SocketAddr;

use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, FaceUri, NodeControl as _};
use engine::{FaceId, MAX_NEXT_HOPS, NextHop};
use packet::Dialect;
use packet::ccnx::management::{ForwardingEntry, ForwardingFlags, StatusResponse, StrategySelection};
use packet::ccnx::{ContentKind, ContentObjectView, NameSource, uri};
use testkit::folder::TestFolder;

use crate::peer::{Host, Peer, interest, name_in};

fn entry(verb: &str, prefix: &str, id: &[u8; 32], face: Option<u32>, seconds: Option<u32>) -> Vec<u8> {
    let name = uri::parse(prefix).unwrap();
    let entry = ForwardingEntry {
        action: Some(verb),
        ccnd_id: Some(id),
        face_id: face,
        freshness_seconds: seconds,
        ..ForwardingEntry::new(&name)
    };
    entry.encode().unwrap()
}

fn told(answer: &(ContentKind, Vec<u8>)) -> (Option<u32>, u32, Option<u32>) {
    assert_eq!(answer.0, ContentKind::Data);
    let entry = ForwardingEntry::decode(&answer.1).unwrap();
    assert_eq!(entry.action, None);
    (entry.face_id, entry.flags.unwrap().0, entry.freshness_seconds)
}

fn refused(answer: &(ContentKind, Vec<u8>)) -> (u32, String) {
    assert_eq!(answer.0, ContentKind::Nack);
    let status = StatusResponse::decode(&answer.1).unwrap();
    (status.code, status.text.unwrap().to_owned())
}

#[test]
fn a_client_that_registers_for_itself_is_asked_and_its_answer_arrives() {
    let host = Host::new();
    let (mut producer, mut consumer) = (host.unix(), host.unix());
    let id = producer.ccnd_id();
    let answer = producer.command(&id, "selfreg", &entry("selfreg", "ccnx:/parc.com", &id, None, None));
    let (face, flags, lifetime) = told(&answer);
    assert_eq!((face.is_some(), flags, lifetime), (true, 3, Some(2_000_000_000)));
    consumer.send(&interest("ccnx:/parc.com/hello", None));
    assert_eq!(name_in(&producer.recv()), "ccnx:/parc.com/hello");
    let object = producer.object("ccnx:/parc.com/hello/world", b"content");
    producer.send(&object);
    assert_eq!(consumer.recv(), object);
}

#[test]
fn lifetimes_are_those_that_ccnd_gives_and_a_second_registration_is_a_refreshed_one() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let mut given = Vec::new();
    for (asked, prefix) in
        [(None, "ccnx:/a"), (Some(60), "ccnx:/b"), (Some(3601), "ccnx:/c"), (Some(1 << 30), "ccnx:/d")]
    {
        let answer = client.command(&id, "selfreg", &entry("selfreg", prefix, &id, None, asked));
        given.push(told(&answer).2.unwrap());
    }
    assert_eq!(given, [2_000_000_000, 60, 300, 1 << 30]);
    let again = client.command(&id, "selfreg", &entry("selfreg", "ccnx:/b", &id, None, Some(61)));
    assert_eq!(told(&again).1, ForwardingFlags::default().with(ForwardingFlags::REFRESHED).0);
}

#[test]
fn a_prefix_can_be_registered_at_another_face_and_taken_back() {
    let host = Host::new();
    let (mut one, mut other) = (host.unix(), host.unix());
    let id = one.ccnd_id();
    let answer = one.command(&id, "selfreg", &entry("selfreg", "ccnx:/one", &id, None, None));
    let face = told(&answer).0;
    let answer = other.command(&id, "prefixreg", &entry("prefixreg", "ccnx:/two", &id, face, None));
    assert_eq!(told(&answer).0, face);
    other.send(&interest("ccnx:/two/x", None));
    assert_eq!(name_in(&one.recv()), "ccnx:/two/x");
    let answer = other.command(&id, "unreg", &entry("unreg", "ccnx:/two", &id, face, None));
    assert_eq!(answer.0, ContentKind::Data);
    other.send(&interest("ccnx:/two/y", None));
    assert!(one.hears_nothing());
    let answer = other.command(&id, "unreg", &entry("unreg", "ccnx:/two", &id, face, Some(9)));
    assert_eq!(refused(&answer), (450, "could not unregister prefix".to_owned()));
}

#[test]
fn what_makes_no_sense_is_refused_in_ccnds_words_and_what_is_signed_by_nobody_is_not_answered() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let could_not = (450, "could not register prefix".to_owned());
    for content in [
        // Another word than in the name, another forwarder, a face that is not there, and another's.
        entry("prefixreg", "ccnx:/a", &id, None, None),
        entry("selfreg", "ccnx:/a", &[7; 32], None, None),
        entry("selfreg", "ccnx:/a", &id, Some(9999), None),
        entry("selfreg", "ccnx:/a", &id, Some(1), None),
    ] {
        assert_eq!(refused(&client.command(&id, "selfreg", &content)), could_not);
    }
    let answer = client.command(&id, "prefixreg", &entry("prefixreg", "ccnx:/a", &id, Some(9999), None));
    assert_eq!(refused(&answer), could_not);
    // What ndnldc sends when the prefix that it was given is no URI.
    let mut nameless = entry("prefixreg", "ccnx:/", &id, Some(1), None);
    let name = nameless.windows(2).position(|bytes| bytes == [0xf2, 0x00]).unwrap();
    nameless.drain(name..name + 2);
    assert_eq!(refused(&client.command(&id, "prefixreg", &nameless)), could_not);
    let answer = client.command(&id, "unreg", &entry("unreg", "ccnx:/a", &[7; 32], Some(1), None));
    assert_eq!(refused(&answer).0, 531);

    let mut request = client.request(&id, "selfreg", &entry("selfreg", "ccnx:/b", &id, None, None));
    // In the middle of the key's modulus: still an object, but not the publisher's key.
    let place = request.len() - 250;
    request[place] ^= 1;
    client.send(&request);
    client.send(&client.request(&id, "selfreg", b"nonsense"));
    assert!(client.hears_nothing());
}

#[test]
fn a_neighbour_has_no_right_to_register() {
    let host = Host::new();
    let id = host.unix().ccnd_id();
    let mut neighbour = Peer::new(host.udp());
    neighbour.send(&neighbour.request(&id, "selfreg", &entry("selfreg", "ccnx:/b", &id, None, None)));
    assert!(neighbour.hears_nothing());
    // A program of this host that says first that it is one may.
    let mut program = Peer::new(host.udp());
    program.send(b"x");
    let answer = program.command(&id, "selfreg", &entry("selfreg", "ccnx:/b", &id, None, None));
    assert_eq!(told(&answer).1, 3);
}

#[test]
fn a_registration_ends_with_its_time_or_its_face_and_there_are_only_so_many() {
    let host = Host::with(|config| config.ccnx.max_registrations = 2);
    let (mut one, mut other) = (host.unix(), host.unix());
    let id = one.ccnd_id();
    let registered = |client: &mut Peer<_>, prefix: &str| {
        client.command(&id, "selfreg", &entry("selfreg", prefix, &id, None, None)).0 == ContentKind::Data
    };
    assert!(registered(&mut one, "ccnx:/a") && registered(&mut one, "ccnx:/b"));
    assert!(!registered(&mut other, "ccnx:/c"));
    drop(one);
    // The node may see the end a moment later.
    assert!((0..100).any(|_| registered(&mut other, "ccnx:/c")));
}

#[test]
fn pings_are_answered_and_stay_fresh_as_long_as_ccnds() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let hex: String = id.iter().map(|byte| format!("{byte:02X}")).collect();
    for (asked, freshness) in [
        ("ccnx:/ccnx/ping".to_owned(), 60),
        ("ccnx:/ccnx/ping/12345".to_owned(), 5),
        (format!("ccnx:/ccnx/={hex}/ping/7"), 5),
    ] {
        let object = client.ask(&interest(&asked, None));
        let view = ContentObjectView::decode(&object).unwrap();
        trust::ccnx::verify_by_own_key(&view).unwrap();
        assert_eq!((view.freshness_seconds(), view.content().len()), (Some(freshness), 0), "{asked}");
    }
}

#[test]
fn a_neighbour_is_told_who_the_forwarder_is_by_another_name_than_a_client() {
    let host = Host::new();
    let id = host.unix().ccnd_id();
    let mut neighbour = Peer::new(host.udp());
    let object = neighbour.ask(&interest("ccnx:/%C1.M.S.neighborhood/%C1.M.SRV/ccnd/KEY", Some(2)));
    let view = ContentObjectView::decode(&object).unwrap();
    assert_eq!((view.publisher(), view.freshness_seconds()), (&id, Some(5)));
}

#[test]
fn a_forwarder_is_the_same_after_a_restart() {
    let folder = TestFolder::absent("ccnx-same");
    let key = folder.join("ccnx.key");
    let id = || Host::with(|config| config.ccnx.key_file = Some(key.clone())).unix().ccnd_id();
    assert_eq!(id(), id());
}

#[test]
fn a_strategy_is_chosen_by_ccnds_name_told_and_taken_back() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let name = uri::parse("ccnx:/chosen/here").unwrap();
    let selection = |verb: &'static str, strategy: Option<&'static str>| {
        let selection = StrategySelection { action: Some(verb), strategy, ..StrategySelection::new(&name) };
        selection.encode().unwrap()
    };
    let mut ask = |verb: &'static str, strategy: Option<&'static str>| {
        let (kind, content) = client.command(&id, verb, &selection(verb, strategy));
        if kind == ContentKind::Nack {
            return Err(StatusResponse::decode(&content).unwrap().code);
        }
        let told = StrategySelection::decode(&content).unwrap();
        let NameSource::Ccnb(prefix) = told.name else { panic!("a name as it is on the wire") };
        assert_eq!(told.parameters, Some(""), "as ccnd says where there are none");
        Ok((prefix.to_string(), told.strategy.unwrap().to_owned()))
    };
    let at = |prefix: &str, word: &str| Ok((prefix.to_owned(), word.to_owned()));
    assert_eq!(ask("getstrategy", None), at("ccnx:/", "default"));
    assert_eq!(ask("setstrategy", Some("parallel")), at("ccnx:/chosen/here", "parallel"));
    assert_eq!(ask("getstrategy", None), at("ccnx:/chosen/here", "parallel"));
    assert_eq!(ask("setstrategy", Some("asf")), at("ccnx:/chosen/here", "asf"));
    assert_eq!(ask("removestrategy", None), at("ccnx:/", "default"));
    assert_eq!(ask("setstrategy", Some("trace")), Err(504));
    assert_eq!(ask("setstrategy", None), Err(504));
}

#[test]
fn a_strategy_request_without_a_name_is_refused_and_without_a_verb_it_is_not_answered() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let name = uri::parse("ccnx:/").unwrap();
    let nameless = |verb: Option<&'static str>| {
        let selection = StrategySelection {
            action: verb,
            ccnd_id: Some(&id),
            strategy: Some("parallel"),
            ..StrategySelection::new(&name)
        };
        let mut bytes = selection.encode().unwrap();
        let name = bytes.windows(2).position(|bytes| bytes == [0xf2, 0x00]).unwrap();
        bytes.drain(name..name + 2);
        bytes
    };
    for verb in ["setstrategy", "getstrategy", "removestrategy"] {
        let answer = client.command(&id, verb, &nameless(Some(verb)));
        assert_eq!(refused(&answer), (504, "could not process strategy req".to_owned()), "{verb}");
    }
    let mut spoiled = nameless(Some("getstrategy"));
    spoiled.push(0);
    for content in [nameless(None), spoiled] {
        client.send(&client.request(&id, "getstrategy", &content));
    }
    assert!(client.hears_nothing());
}

#[test]
fn a_longer_prefix_inherits_the_next_hops_of_a_shorter_one_and_loses_them_with_it() {
    let host = Host::new();
    let (mut short, mut long) = (host.unix(), host.unix());
    let id = short.ccnd_id();
    let (at_short, at_long) =
        (entry("selfreg", "ccnx:/a", &id, None, None), entry("selfreg", "ccnx:/a/b", &id, None, None));
    let short_face = told(&short.command(&id, "selfreg", &at_short)).0.unwrap();
    let long_face = told(&long.command(&id, "selfreg", &at_long)).0.unwrap();
    let hops = || {
        let routes = host.node.control().routes(Dialect::Ccnx);
        let route = routes.into_iter().find(|route| route.prefix == uri::parse("ccnx:/a/b").unwrap());
        let mut hops: Vec<u32> = route.unwrap().next_hops.iter().map(|hop| hop.face.0).collect();
        hops.sort_unstable();
        hops
    };
    let mut both = vec![short_face, long_face];
    both.sort_unstable();
    assert_eq!(hops(), both);
    let gone = entry("unreg", "ccnx:/a", &id, Some(short_face), None);
    assert_eq!(short.command(&id, "unreg", &gone).0, ContentKind::Data);
    assert_eq!(hops(), [long_face]);
}

#[test]
fn a_route_that_others_have_made_keeps_its_cost_and_stays_whatever_is_registered_above_it() {
    let host = Host::new();
    let (mut short, mut long) = (host.unix(), host.unix());
    let id = short.ccnd_id();
    let at_short = entry("selfreg", "ccnx:/a", &id, None, None);
    let face = FaceId(told(&short.command(&id, "selfreg", &at_short)).0.unwrap());
    let below = uri::parse("ccnx:/a/b").unwrap();
    let configured = NextHop { face, cost: 7 };
    host.node.control().add_next_hop(Dialect::Ccnx, &below, configured, None).unwrap();
    let at_long = entry("selfreg", "ccnx:/a/b", &id, None, None);
    let other = FaceId(told(&long.command(&id, "selfreg", &at_long)).0.unwrap());
    let hops = || {
        let routes = host.node.control().routes(Dialect::Ccnx);
        let route = routes.into_iter().find(|route| route.prefix == below);
        let mut hops = route.unwrap().next_hops;
        hops.sort_unstable_by_key(|hop| hop.cost);
        hops
    };
    assert_eq!(hops(), [NextHop { face: other, cost: 0 }, configured]);
    let gone = entry("unreg", "ccnx:/a", &id, Some(face.0), None);
    assert_eq!(short.command(&id, "unreg", &gone).0, ContentKind::Data);
    assert_eq!(hops(), [NextHop { face: other, cost: 0 }, configured]);
}

#[test]
fn inherited_next_hops_leave_room_for_a_prefixs_own() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    for port in 0..MAX_NEXT_HOPS as u16 {
        let face = host.node.control().create_face(CreateFace {
            remote: FaceUri::Udp(SocketAddr::from(([127, 0, 0, 9], 20_000 + port))),
            local: None,
            persistency: FacePersistency::Permanent,
            changes: FaceChanges::default(),
            dialect: Dialect::Ccnx,
        });
        let face = Some(face.unwrap().id.0);
        let answer = client.command(&id, "prefixreg", &entry("prefixreg", "ccnx:/a", &id, face, None));
        assert_eq!(told(&answer).0, face);
    }
    // One whose face has a higher number than all those that it inherits from, and one of a lower number.
    let mut all = [host.unix(), client];
    for own in &mut all {
        let answer = own.command(&id, "selfreg", &entry("selfreg", "ccnx:/a/b", &id, None, None));
        let face = told(&answer).0.unwrap();
        let routes = host.node.control().routes(Dialect::Ccnx);
        let route = routes.into_iter().find(|route| route.prefix == uri::parse("ccnx:/a/b").unwrap());
        let hops = route.unwrap().next_hops;
        assert_eq!(hops.len(), MAX_NEXT_HOPS);
        assert!(hops.iter().any(|hop| hop.face.0 == face && hop.cost == 0));
    }
}

#[test]
fn local_keeps_a_prefix_on_this_host_and_tap_shows_a_client_what_others_are_asked() {
    let host = Host::new();
    let (mut producer, mut tap, mut consumer) = (host.unix(), host.unix(), host.unix());
    let id = producer.ccnd_id();
    let mut neighbour = Peer::new(host.udp());
    let register = |client: &mut Peer<_>, prefix: &str, flags: ForwardingFlags| {
        let name = uri::parse(prefix).unwrap();
        let entry = ForwardingEntry {
            action: Some("selfreg"),
            ccnd_id: Some(&id),
            flags: Some(flags),
            ..ForwardingEntry::new(&name)
        };
        assert_eq!(client.command(&id, "selfreg", &entry.encode().unwrap()).0, ContentKind::Data);
    };
    let usual = ForwardingFlags::default();
    register(&mut producer, "ccnx:/here", usual.with(ForwardingFlags::LOCAL));
    register(&mut producer, "ccnx:/all", usual);
    register(&mut tap, "ccnx:/all", usual.with(ForwardingFlags::TAP));

    neighbour.send(&interest("ccnx:/here/from-afar", None));
    neighbour.send(&interest("ccnx:/all/from-afar", None));
    assert_eq!(name_in(&producer.recv()), "ccnx:/all/from-afar");
    assert_eq!(name_in(&tap.recv()), "ccnx:/all/from-afar");
    consumer.send(&interest("ccnx:/here/from-here", None));
    assert_eq!(name_in(&producer.recv()), "ccnx:/here/from-here");
    assert!(tap.hears_nothing());
}
