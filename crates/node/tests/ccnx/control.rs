//! ndnld's control protocol, as `ndnldc` speaks it.

use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, FaceUri, NodeControl};
use packet::ccnx::management::{Collection, NdnldConnection};
use packet::ccnx::ndnlp::{Flags, Fragment, LinkData, Sequence};
use packet::ccnx::{ContentObjectView, InterestFields, Scope};
use packet::{Dialect, Name};
use trust::ccnx::verify_by_own_key;

use crate::peer::{Host, Peer, Socket, moment, name};

/// What `ndnldc -c -p udp -h <host>` asks for, with everything that it writes.
fn connect(host: &str) -> NdnldConnection<'_> {
    NdnldConnection {
        action: Some("connect"),
        face_id: Some(0),
        lower_protocol: Some("udp"),
        host: Some(host),
        flags: Some(Flags::NONE),
        ..listing()
    }
}

fn listing() -> NdnldConnection<'static> {
    NdnldConnection {
        action: Some("listconnections"),
        face_id: Some(0),
        flags: Some(Flags::NONE),
        sent_packets_capacity: Some(100),
        retransmit_count: Some(5),
        retransmit_millis: Some(1000),
        acknowledge_millis: Some(300),
        ..NdnldConnection::default()
    }
}

fn disconnect(face: u32) -> NdnldConnection<'static> {
    NdnldConnection { action: Some("disconnect"), face_id: Some(face), ..listing() }
}

fn request<S: Socket>(peer: &Peer<S>, id: &[u8; 32], verb: &str, asked: &NdnldConnection<'_>) -> Vec<u8> {
    let object = peer.signer().sign(&Name::root(), &asked.encode(), moment(), |info| info).unwrap();
    let name = name(&[b"ccnx", b"ndnld", id, b"control", verb.as_bytes(), &object]);
    InterestFields { scope: Some(Scope::HOST), ..InterestFields::default() }.encode(&name).unwrap()
}

/// The content of the answer, whose signature holds.
fn ask<S: Socket>(peer: &mut Peer<S>, id: &[u8; 32], asked: &NdnldConnection<'_>) -> Vec<u8> {
    let interest = request(peer, id, asked.action.unwrap(), asked);
    let answer = peer.ask(&interest);
    let view = ContentObjectView::decode(&answer).unwrap();
    verify_by_own_key(&view).unwrap();
    assert_eq!(view.freshness_seconds(), Some(5));
    view.content().to_vec()
}

#[test]
fn a_link_over_udp_is_made_once_listed_and_destroyed_with_its_face() {
    let host = Host::with(|config| config.ccnx.udp = vec!["127.0.0.1:0".parse().unwrap()]);
    let mut peer = host.unix();
    let id = peer.ccnd_id();
    assert_eq!(ask(&mut peer, &id, &listing()), [0x01, 0x8a, 0x00]);
    let asked = NdnldConnection {
        flags: Some(Flags::ACK_REQUESTED),
        sent_packets_capacity: Some(50),
        retransmit_count: Some(3),
        retransmit_millis: Some(500),
        acknowledge_millis: Some(100),
        ..connect("127.0.0.9")
    };
    let answer = ask(&mut peer, &id, &asked);
    let told = NdnldConnection::decode(&answer).unwrap();
    let face = told.face_id.unwrap();
    assert_eq!(told, NdnldConnection { face_id: Some(face), status: Some("normal"), ..asked });
    // Who asks again is told of the same link, with what it was made with.
    let again = ask(&mut peer, &id, &NdnldConnection { retransmit_millis: Some(7), ..asked });
    assert_eq!(again, answer);
    let mut control = host.node.control();
    let status = control.face(engine::FaceId(face)).unwrap();
    assert_eq!(status.remote, FaceUri::Udp("127.0.0.9:29695".parse().unwrap()));
    assert_eq!((status.dialect, status.persistency), (Dialect::Ccnx, FacePersistency::Permanent));
    let list = ask(&mut peer, &id, &listing());
    let list = Collection::decode(&list).unwrap();
    let items: Vec<NdnldConnection<'_>> =
        list.items().map(|item| NdnldConnection::decode(item).unwrap()).collect();
    assert_eq!(items, [NdnldConnection { action: Some("listconnections"), ..told }]);
    let gone = ask(&mut peer, &id, &disconnect(face));
    assert_eq!(
        NdnldConnection::decode(&gone).unwrap(),
        NdnldConnection { action: Some("disconnect"), ..told }
    );
    assert!(control.face(engine::FaceId(face)).is_none());
    assert_eq!(ask(&mut peer, &id, &listing()), [0x01, 0x8a, 0x00]);
}

#[test]
fn what_cannot_be_done_gets_no_answer() {
    let host = Host::new();
    let mut peer = host.unix();
    let id = peer.ccnd_id();
    let ether = |host, interface| NdnldConnection {
        lower_protocol: Some("ether"),
        local_interface: interface,
        ..connect(host)
    };
    for (verb, asked) in [
        ("connect", connect("nowhere")),
        ("connect", NdnldConnection { lower_protocol: Some("tcp"), ..connect("127.0.0.9") }),
        ("connect", NdnldConnection { lower_protocol: None, ..connect("127.0.0.9") }),
        ("connect", NdnldConnection { host: None, ..connect("127.0.0.9") }),
        ("connect", ether("08:00:27:01:01:01", None)),
        ("connect", ether("08:00:27:01:01:01", Some("none0"))),
        ("connect", ether("08:00:27:01:01", Some("lo"))),
        ("disconnect", connect("127.0.0.9")),
        ("disconnect", disconnect(4711)),
        ("disconnect", NdnldConnection { face_id: None, ..disconnect(0) }),
        ("reconnect", NdnldConnection { action: Some("reconnect"), ..listing() }),
    ] {
        let interest = request(&peer, &id, verb, &asked);
        peer.send(&interest);
        assert!(peer.hears_nothing(), "{verb} {asked:?}");
    }
    // Nor what is signed by nobody, or asks another forwarder.
    let mut unsigned = request(&peer, &id, "listconnections", &listing());
    let place = unsigned.len() - 30;
    unsigned[place] ^= 1;
    peer.send(&unsigned);
    let other = request(&peer, &[7; 32], "listconnections", &listing());
    peer.send(&other);
    assert!(peer.hears_nothing());
    assert_eq!(ask(&mut peer, &id, &listing()), [0x01, 0x8a, 0x00]);
}

#[test]
fn strangers_control_no_links_and_applications_none_of_their_faces() {
    let host = Host::new();
    let mut application = host.unix();
    let id = application.ccnd_id();
    let mut stranger = Peer::new(host.udp());
    let asked = InterestFields::default();
    let object = stranger.signer().sign(&Name::root(), &listing().encode(), moment(), |it| it);
    let interest =
        asked.encode(&name(&[b"ccnx", b"ndnld", &id, b"control", b"listconnections", &object.unwrap()]));
    stranger.send(&interest.unwrap());
    assert!(stranger.hears_nothing());
    // A face that is no link is none of this protocol's.
    let face = host
        .node
        .control()
        .faces()
        .into_iter()
        .find(|face| face.dialect == Dialect::Ccnx && matches!(face.remote, FaceUri::Udp(_)));
    let interest = request(&application, &id, "disconnect", &disconnect(face.unwrap().id.0));
    application.send(&interest);
    assert!(application.hears_nothing());
}

#[test]
fn a_peer_that_came_by_itself_becomes_a_link_with_the_parameters_that_are_asked_for() {
    let host = Host::new();
    let mut application = host.unix();
    let id = application.ccnd_id();
    let address = std::net::SocketAddr::from(([127, 0, 0, 8], 29_695));
    let socket = std::net::UdpSocket::bind(address).unwrap();
    socket.connect(host.udp_address()).unwrap();
    let mut neighbour = Peer::new(socket);
    let packet = LinkData {
        sequence: Sequence::new(1),
        flags: Flags::NONE,
        fragment: Fragment { index: 0, count: 1 },
        payload: &crate::peer::interest("ccnx:/nobody", None),
    };
    neighbour.send(&packet.encode());
    let mut control = host.node.control();
    let is_there = |face: &cairn_node::control::FaceSnapshot| face.remote == FaceUri::Udp(address);
    while !control.faces().iter().any(is_there) {
        std::thread::yield_now();
    }
    let told = ask(&mut application, &id, &connect("127.0.0.8"));
    let face = NdnldConnection::decode(&told).unwrap().face_id.unwrap();
    let status = control.face(engine::FaceId(face)).unwrap();
    assert_eq!((status.remote, status.persistency), (FaceUri::Udp(address), FacePersistency::Permanent));
}

#[test]
fn a_face_that_others_have_made_does_not_become_a_link_that_can_be_disconnected() {
    let host = Host::new();
    let mut peer = host.unix();
    let id = peer.ccnd_id();
    let mut control = host.node.control();
    let made = control.create_face(CreateFace {
        remote: FaceUri::Udp(std::net::SocketAddr::from(([127, 0, 0, 7], 29_695))),
        local: None,
        persistency: FacePersistency::Permanent,
        changes: FaceChanges::default(),
        dialect: Dialect::Ccnx,
    });
    let face = made.unwrap().id;
    for asked in [connect("127.0.0.7"), disconnect(face.0)] {
        let interest = request(&peer, &id, asked.action.unwrap(), &asked);
        peer.send(&interest);
        assert!(peer.hears_nothing(), "{asked:?}");
    }
    assert!(control.face(face).is_some());
    assert_eq!(ask(&mut peer, &id, &listing()), [0x01, 0x8a, 0x00]);
}
