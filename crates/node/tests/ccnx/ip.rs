//! NDNLP v1 over IP alone, protocol 150.

use std::net::{SocketAddr, UdpSocket};

use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, NodeControl as _};
use engine::{FaceScope, NextHop};
use packet::Dialect;
use packet::ccnx::ndnlp::{Flags, Fragment, LinkData, LinkPacket, Sequence};
use packet::ccnx::uri;
use socket2::{Domain, Protocol, Socket as RawSocket, Type};
use testkit::own_network::{self, ip};

use crate::links::Ndnld;
use crate::peer::{Host, Socket as _, interest, name_in};

/// Bytes of a header of IPv4 without options.
const HEADER: usize = 20;

/// A neighbour at one address that talks to the node at another.
fn neighbour(local: &str, node: &str) -> UdpSocket {
    let address = |text: &str| SocketAddr::new(text.parse().unwrap(), 0);
    let domain = Domain::for_address(address(local));
    let socket = RawSocket::new(domain, Type::RAW, Some(Protocol::from(150))).unwrap();
    socket.bind(&address(local).into()).unwrap();
    socket.connect(&address(node).into()).unwrap();
    socket.into()
}

fn host_at(address: &str) -> Host {
    Host::with(|config| config.ccnx.ip = vec![address.parse().unwrap()])
}

#[test]
fn a_stranger_over_ipv6_alone_is_answered_there() {
    own_network::run(|| {
        ip("-6 addr add fd00::1/128 dev lo nodad").unwrap();
        ip("-6 addr add fd00::2/128 dev lo nodad").unwrap();
        let host = host_at("fd00::1");
        let mut neighbour = Ndnld::new(neighbour("fd00::2", "fd00::1"));
        neighbour.send(&interest("ccnx:/ccnx/ping", None));
        assert_eq!(name_in(&neighbour.recv()), "ccnx:/ccnx/ping");
        let faces = host.node.control().faces();
        let face = faces.iter().find(|face| face.remote.to_string() == "ip6://[fd00::2]").unwrap();
        assert_eq!(face.local.to_string(), "ip6://[fd00::1]");
        assert_eq!((face.persistency, face.scope), (FacePersistency::OnDemand, FaceScope::NonLocal));
    });
}

#[test]
fn an_object_comes_in_fragments_from_node_to_node_over_ipv4_alone() {
    own_network::run(|| {
        let (near, far) = (host_at("127.0.0.1"), host_at("127.0.0.2"));
        let mut producer = far.unix();
        let object = producer.object("ccnx:/far/large/%00", &[7; 6600]);
        producer.send(&object);
        producer.ask(&interest("ccnx:/far/large", None));
        let mut control = near.node.control();
        let request = CreateFace {
            remote: "ip4://127.0.0.2".parse().unwrap(),
            local: None,
            persistency: FacePersistency::Permanent,
            changes: FaceChanges { ndnlp1: Some(true), ..FaceChanges::default() },
            dialect: Dialect::Ccnx,
        };
        let face = control.create_face(request.clone()).unwrap();
        assert_eq!((face.reliability, face.mtu_bytes), (true, Some(1420)));
        let hop = NextHop { face: face.id, cost: 0 };
        control.add_next_hop(Dialect::Ccnx, &uri::parse("ccnx:/far").unwrap(), hop, None).unwrap();
        let mut client = near.unix();
        client.send(&interest("ccnx:/far/large", None));
        assert_eq!(client.recv(), object);
        let ndn = control.create_face(CreateFace {
            dialect: Dialect::Ndn,
            changes: FaceChanges::default(),
            remote: "ip4://127.0.0.3".parse().unwrap(),
            ..request
        });
        assert!(ndn.unwrap_err().to_string().contains("ccnx.ip"));
    });
}

#[test]
fn what_is_no_ndnlp_makes_no_face_over_ip_alone() {
    own_network::run(|| {
        let host = host_at("127.0.0.1");
        let mut socket = neighbour("127.0.0.2", "127.0.0.1");
        let asked = interest("ccnx:/ccnx/ping", None);
        let fragment = Fragment { index: 0, count: 1 };
        let good = LinkData { sequence: Sequence::new(1), flags: Flags::NONE, fragment, payload: &asked };
        for packet in [&b"x"[..], &asked, b"NdL", &good.encode()] {
            socket.transmit(packet);
        }
        let answer = socket.take(std::time::Duration::from_secs(20));
        let Ok(LinkPacket::Data(data)) = LinkPacket::decode(&answer[HEADER..]) else {
            panic!("{answer:02x?}")
        };
        assert_eq!((answer[9], name_in(data.payload)), (150, "ccnx:/ccnx/ping".to_owned()));
        let faces = host.node.control().faces();
        let face = faces.iter().find(|face| face.remote.to_string() == "ip4://127.0.0.2").unwrap();
        assert_eq!(face.traffic.in_frames, 1);
    });
}
