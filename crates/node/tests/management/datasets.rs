//! Status datasets: what they say, and how they are served in versions and segments.

use cairn_node::management::{CommandAuthority, ManagementConfig};
use engine::FaceId;
use management::{
    ChannelStatus, Command, CommandScope, ControlParameters, ControlResponse, CsInfo, Dataset, FaceFlags,
    FacePersistency, FaceQueryFilter, FaceScope, FaceStatus, FibEntry, GeneralStatus, StrategyChoice,
    decode_list,
};
use packet::time::Duration;
use packet::{ComponentKind, ContentType};

use crate::fake_node::{NEIGHBOUR, face};
use crate::manager::{Manager, about, command, name};

#[test]
fn faces_are_listed_with_all_that_is_known_about_them() {
    let mut manager = Manager::new();
    let faces: Vec<FaceStatus> = manager.list(Dataset::FacesList);
    assert_eq!(faces.iter().map(|face| face.face_id).collect::<Vec<_>>(), [1, 254, 255, 300, 301]);
    let application = &faces[3];
    assert_eq!((application.scope, application.persistency), (FaceScope::Local, FacePersistency::OnDemand));
    assert_eq!(application.expiration_period_ms, Some(600_000));
    assert_eq!(application.mtu_bytes, Some(8800), "no limit is shown as the largest packet");
    assert_eq!(
        (application.packets.in_interests, application.packets.in_data, application.packets.out_data),
        (15, 1, 14)
    );
    assert_eq!(application.flags, FaceFlags::CONGESTION_MARKING);
    assert_eq!(faces[4].mtu_bytes, Some(1400));
    assert_eq!((faces[1].uri.as_str(), faces[2].local_uri.as_str()), ("contentstore://", "null://"));
}

#[test]
fn a_malformed_query_is_refused_with_a_nack() {
    let mut manager = Manager::new();
    for uri in ["/localhost/nfd/faces/query/nonsense", "/localhost/nfd/faces/query"] {
        let answer = manager.discover(uri).unwrap();
        assert_eq!(answer.ndn().unwrap().content_type(), ContentType::NACK);
        assert_eq!(ControlResponse::decode(answer.content()).unwrap().code.number(), 400);
        assert_eq!(answer.name().to_string(), uri);
    }
}

#[test]
fn queries_select_the_faces_that_fit() {
    let mut manager = Manager::new();
    let mut query = |filter: FaceQueryFilter| {
        let content = manager.fetch(Dataset::faces_query(&filter).unwrap());
        let faces: Vec<FaceStatus> = decode_list(&content).unwrap();
        faces.into_iter().map(|face| face.face_id).collect::<Vec<_>>()
    };
    assert_eq!(query(FaceQueryFilter::default()), [1, 254, 255, 300, 301]);
    let scheme = |scheme: &str| FaceQueryFilter { uri_scheme: Some(scheme.to_owned()), ..Default::default() };
    assert_eq!(query(scheme("udp4")), [301]);
    assert_eq!(query(scheme("unix")), [300], "a local address counts too");
    assert_eq!(query(scheme("tcp4")), [0; 0]);
    assert_eq!(
        query(FaceQueryFilter { scope: Some(FaceScope::Local), ..Default::default() }),
        [1, 254, 255, 300]
    );
    let by_id = FaceQueryFilter { face_id: Some(254), ..Default::default() };
    assert_eq!(query(by_id), [254]);
}

#[test]
fn a_link_local_neighbour_is_found_however_the_interface_is_written() {
    let mut manager = Manager::new();
    let link_local = face(FaceId(302), "udp6://[fe80::7%lo]:6363", "udp6://[::]:6363");
    let index = match &link_local.remote {
        cairn_node::control::FaceUri::Udp(std::net::SocketAddr::V6(address)) => address.scope_id(),
        other => panic!("{other}"),
    };
    manager.node.faces.insert(FaceId(302), link_local);
    for scope in ["lo".to_owned(), "25lo".to_owned(), index.to_string()] {
        let uri = Some(format!("udp6://[fe80::7%{scope}]:6363"));
        let filter = FaceQueryFilter { uri, ..Default::default() };
        let content = manager.fetch(Dataset::faces_query(&filter).unwrap());
        let faces: Vec<FaceStatus> = decode_list(&content).unwrap();
        assert_eq!(faces.len(), 1, "{scope}");
        assert_eq!(faces[0].uri, "udp6://[fe80::7%lo]:6363");
    }
}

#[test]
fn the_other_datasets_say_what_the_node_says() {
    let mut manager = Manager::new();
    let channels: Vec<ChannelStatus> = manager.list(Dataset::FacesChannels);
    assert_eq!(channels.len(), 2);
    assert_eq!(channels[0].local_uri, "udp4://0.0.0.0:6363");

    for (prefix, face, cost) in [("/b", 301, 1), ("/a", 301, 7), ("/a", 300, 9)] {
        let hop = ControlParameters { face_id: Some(face), cost: Some(cost), ..about(prefix) };
        manager.done(Command::FibAddNextHop, &hop);
    }
    let fib: Vec<FibEntry> = manager.list(Dataset::FibList);
    let prefixes: Vec<String> = fib.iter().map(|entry| entry.prefix.as_ref().to_string()).collect();
    assert_eq!(prefixes, ["/a", "/b", "/localhost/nfd"]);
    assert_eq!(
        fib[0].next_hops.iter().map(|hop| (hop.face_id, hop.cost)).collect::<Vec<_>>(),
        [(301, 7), (300, 9)]
    );

    let store: Vec<CsInfo> = manager.list(Dataset::CsInfo);
    assert_eq!(store.len(), 1);
    assert_eq!((store[0].capacity, store[0].flags.0), (65_536, 3));
    assert_eq!((store[0].entries, store[0].hits, store[0].misses), (6, 3, 17));

    manager.node.strategies.insert(name("/"), name("/localhost/nfd/strategy/best-route/v=5"));
    manager.node.strategies.insert(name("/x"), name("/localhost/nfd/strategy/asf/v=5"));
    let choices: Vec<StrategyChoice> = manager.list(Dataset::StrategyList);
    assert_eq!(
        choices.iter().map(|choice| choice.prefix.clone()).collect::<Vec<_>>(),
        [name("/"), name("/x")]
    );

    let status = GeneralStatus::decode(&manager.fetch(Dataset::StatusGeneral.name().unwrap())).unwrap();
    assert_eq!(status.version, "cairn 1.2.3");
    assert_eq!(
        (status.start_timestamp_ms, status.current_timestamp_ms),
        (1_600_000_000_000, 1_700_000_000_000)
    );
    assert_eq!((status.packets.in_interests, status.packets.in_data, status.packets.in_nacks), (1, 2, 3));
    assert_eq!((status.packets.out_interests, status.packets.out_data, status.packets.out_nacks), (4, 5, 6));
}

#[test]
fn an_empty_dataset_is_one_empty_segment() {
    let mut manager = Manager::new();
    let answer = manager.discover("/localhost/nfd/strategy-choice/list").unwrap();
    assert_eq!(answer.content(), b"");
    let view = answer.ndn().unwrap();
    assert_eq!(view.final_block(), view.name().last());
}

fn with_many_faces(count: u32) -> Manager {
    let mut manager = Manager::new();
    for number in 0..count {
        let id = FaceId(1000 + number);
        let uri = format!("udp4://10.{}.{}.{}:6363", number >> 16, number >> 8 & 255, number & 255);
        manager.node.faces.insert(id, face(id, &uri, "udp4://192.0.2.2:6363"));
    }
    manager
}

#[test]
fn a_large_dataset_comes_in_segments_of_which_only_the_last_says_so() {
    let mut manager = with_many_faces(1000);
    let first = manager.discover("/localhost/nfd/faces/list").unwrap();
    assert_eq!(first.content().len(), 8000);
    assert_eq!(first.ndn().unwrap().final_block(), None);
    assert_eq!(first.freshness(), Duration::from_secs(1));
    let version = first.name().component(4).unwrap();
    assert_eq!((version.kind, version.number()), (ComponentKind::VERSION, Some(1_700_000_000_000)));
    // Later, and after changes, the others are still those of the same list.
    manager.let_time_pass(Duration::from_secs(30));
    manager.done(Command::FacesDestroy, &ControlParameters { face_id: Some(1500), ..Default::default() });
    let mut content = first.content().to_vec();
    for segment in 1.. {
        let uri = format!("/localhost/nfd/faces/list/v=1700000000000/seg={segment}");
        let data = manager.exact(&uri).unwrap();
        content.extend_from_slice(data.content());
        if data.ndn().unwrap().final_block().is_some() {
            break;
        }
        assert_eq!(data.content().len(), 8000);
    }
    assert_eq!(decode_list::<FaceStatus>(&content).unwrap().len(), 1005);
}

#[test]
fn a_dataset_of_more_segments_than_the_store_holds_can_be_fetched() {
    let mut manager = with_many_faces(25_000);
    let faces: Vec<FaceStatus> = manager.list(Dataset::FacesList);
    assert_eq!(faces.len(), 25_005);
}

#[test]
fn a_segment_or_version_that_is_not_kept_gets_no_answer() {
    let mut manager = Manager::new();
    for uri in [
        "/localhost/nfd/faces/list/v=1",
        "/localhost/nfd/faces/list/v=1/seg=0",
        "/localhost/nfd/faces/list/seg=0",
    ] {
        assert!(manager.discover(uri).is_none(), "{uri}");
        assert!(manager.exact(uri).is_none(), "{uri}");
    }
}

fn version(manager: &mut Manager, dataset: &str) -> u64 {
    let answer = manager.discover(&format!("/localhost/nfd/{dataset}")).unwrap();
    answer.name().component(4).unwrap().number().unwrap()
}

#[test]
fn who_asks_again_soon_sees_what_has_happened_and_a_large_dataset_is_made_once_a_second() {
    let mut manager = Manager::new();
    let first = version(&mut manager, "rib/list");
    manager.let_time_pass(Duration::from_millis(9));
    assert_eq!(version(&mut manager, "rib/list"), first);
    manager.let_time_pass(Duration::from_millis(1));
    let second = version(&mut manager, "rib/list");
    assert!(second > first);
    manager.done(Command::RibRegister, &about("/a"));
    let third = version(&mut manager, "rib/list");
    assert!(third > second, "within the same millisecond, and yet another version");
    let list: Vec<management::RibEntry> = manager.list(Dataset::RibList);
    assert_eq!(list.len(), 2);

    let mut manager = with_many_faces(12_000);
    let first = version(&mut manager, "faces/list");
    manager.let_time_pass(Duration::from_millis(999));
    assert_eq!(version(&mut manager, "faces/list"), first);
    manager.let_time_pass(Duration::from_millis(1));
    assert!(version(&mut manager, "faces/list") > first);
}

#[test]
fn what_a_neighbour_changes_is_seen_by_this_host_at_once_and_by_neighbours_within_a_second() {
    let open = ManagementConfig { localhop: Some(CommandAuthority::Anyone), ..Default::default() };
    let mut manager = Manager::with(open);
    let listed = |manager: &mut Manager| {
        decode_list::<management::RibEntry>(&manager.fetch(name("/localhop/nfd/rib/list"))).unwrap().len()
    };
    let listed_here = |manager: &mut Manager| manager.list::<management::RibEntry>(Dataset::RibList).len();
    assert_eq!(listed(&mut manager), 2);
    assert_eq!(listed_here(&mut manager), 2);
    let register = command(CommandScope::Localhop, Command::RibRegister, &about("/a"));
    assert!(manager.ask_from(NEIGHBOUR, &register).is_some());
    assert_eq!(listed_here(&mut manager), 3);
    assert_eq!(listed(&mut manager), 2);
    manager.let_time_pass(Duration::from_secs(1));
    assert_eq!(listed(&mut manager), 3);
}
