//! Neighbours that speak NDNLP v1, as ndnld does.

use std::net::UdpSocket;

use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, FaceUri, NodeControl};
use engine::NextHop;
use link::v1::{Config, LinkService};
use packet::Dialect;
use packet::ccnx::ndnlp::{Flags, Fragment, LinkData, LinkPacket, Sequence};
use packet::ccnx::uri;
use packet::random::Random;
use packet::time::{Duration, Instant};

use crate::peer::{Host, Peer, Socket, interest, name_in};

/// One end of a link over a socket.
pub(crate) struct Ndnld {
    socket: UdpSocket,
    link: LinkService,
    /// Packets that came.
    packets: usize,
    /// Its own time, which goes on with each of them.
    now: Instant,
}

impl Ndnld {
    pub(crate) fn new(socket: UdpSocket) -> Self {
        let config = Config { mtu_bytes: Some(1420), request_acks: true, ..Config::default() };
        Ndnld {
            socket,
            link: LinkService::new(config, Random::from_seed(7)).unwrap(),
            packets: 0,
            now: Instant::ZERO,
        }
    }

    fn flush(&mut self) {
        let mut packet = Vec::new();
        while self.link.poll_transmit(self.now, &mut packet).is_some() {
            self.socket.transmit(&packet);
            packet.clear();
        }
    }

    pub(crate) fn send(&mut self, message: &[u8]) {
        self.link.send(self.now, message.to_vec().into()).unwrap();
        self.flush();
    }

    /// The next message.
    pub(crate) fn recv(&mut self) -> Vec<u8> {
        loop {
            if let Some(message) = self.link.poll_deliver() {
                return message.to_vec();
            }
            self.take();
        }
    }

    fn take(&mut self) {
        let packet = self.socket.take(std::time::Duration::from_secs(20));
        assert!(!packet.is_empty(), "a packet comes");
        assert!(packet.len() <= 1420 && packet.starts_with(b"NdL"), "{packet:02x?}");
        self.packets += 1;
        // The same again is no mistake of anybody's.
        let _ = self.link.receive(self.now, &packet);
        self.now += Duration::from_millis(400);
        self.link.handle_timeout(self.now);
        self.flush();
    }
}

#[test]
fn a_stranger_that_begins_with_a_packet_of_ndnlp_is_answered_in_such_packets() {
    let host = Host::new();
    let mut producer = host.unix();
    let mut neighbour = Ndnld::new(host.udp());
    neighbour.send(&interest("ccnx:/ccnx/ping", None));
    assert_eq!(name_in(&neighbour.recv()), "ccnx:/ccnx/ping");
    // A large object comes in several.
    let object = producer.object("ccnx:/large/%00", &[7; 6600]);
    producer.send(&object);
    producer.ask(&interest("ccnx:/large", None));
    neighbour.packets = 0;
    neighbour.send(&interest("ccnx:/large", None));
    assert_eq!(neighbour.recv(), object);
    assert!(neighbour.packets >= 5, "{}", neighbour.packets);
    // What it sent is acknowledged.
    while neighbour.link.usage().sent_packets > 0 {
        neighbour.take();
    }
}

#[test]
fn a_connection_that_begins_with_a_packet_of_ndnlp_carries_such_packets_in_both_directions() {
    let host = Host::new();
    let mut neighbour = Peer::new(host.tcp());
    for number in 1..3 {
        let fragment = Fragment { index: 0, count: 1 };
        let (sequence, flags) = (Sequence::new(number), Flags::NONE);
        let asked = interest(&format!("ccnx:/ccnx/ping/{number}"), None);
        neighbour.send(&LinkData { sequence, flags, fragment, payload: &asked }.encode());
        let answer = neighbour.recv();
        let Ok(LinkPacket::Data(data)) = LinkPacket::decode(&answer) else { panic!("{answer:02x?}") };
        assert_eq!((name_in(data.payload), data.fragment), (format!("ccnx:/ccnx/ping/{number}"), fragment));
    }
    // What comes by it comes from elsewhere, though its peer be on this host.
    let face = host
        .node
        .control()
        .faces()
        .into_iter()
        .find(|face| face.dialect == Dialect::Ccnx && matches!(face.remote, FaceUri::Tcp(_)));
    assert_eq!(face.unwrap().scope, engine::FaceScope::NonLocal);
}

#[test]
fn a_face_that_is_made_for_ndnlp_begins_with_it_and_takes_acknowledgements() {
    let host = Host::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(host.udp_address()).unwrap();
    let mut control = host.node.control();
    let request = CreateFace {
        remote: FaceUri::Udp(socket.local_addr().unwrap()),
        local: None,
        persistency: FacePersistency::Permanent,
        changes: FaceChanges { ndnlp1: Some(true), ..FaceChanges::default() },
        dialect: Dialect::Ccnx,
    };
    let face = control.create_face(request.clone()).unwrap();
    assert_eq!((face.reliability, face.mtu_bytes), (true, Some(1420)));
    let hop = NextHop { face: face.id, cost: 0 };
    control.add_next_hop(Dialect::Ccnx, &uri::parse("ccnx:/far").unwrap(), hop, None).unwrap();
    let mut neighbour = Ndnld::new(socket);
    let mut client = host.unix();
    client.send(&interest("ccnx:/far/x", None));
    assert_eq!(name_in(&neighbour.recv()), "ccnx:/far/x");
    let object = client.object("ccnx:/far/x/%00", &[7; 4096]);
    neighbour.send(&object);
    assert_eq!(client.recv(), object);
    // NDN has a link protocol of its own, and connections need none.
    for (remote, dialect) in [("udp4://127.0.0.1:9", Dialect::Ndn), ("tcp4://127.0.0.1:9", Dialect::Ccnx)] {
        let refused =
            control.create_face(CreateFace { remote: remote.parse().unwrap(), dialect, ..request.clone() });
        assert!(refused.unwrap_err().to_string().contains("NDNLP v1"), "{remote}");
    }
}

#[test]
fn a_neighbour_is_called_from_the_port_that_it_expects() {
    let free = || UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (usual, other) = (free(), free());
    let host = Host::with(|config| config.ccnx.udp = vec![usual, other]);
    let there = std::net::SocketAddr::new("127.0.0.2".parse().unwrap(), other.port());
    let mut control = host.node.control();
    for (remote, local) in [(there, other), ("127.0.0.2:9".parse().unwrap(), usual)] {
        let face = control.create_face(CreateFace {
            remote: FaceUri::Udp(remote),
            local: None,
            persistency: FacePersistency::Permanent,
            changes: FaceChanges::default(),
            dialect: Dialect::Ccnx,
        });
        assert_eq!(face.unwrap().local, FaceUri::Udp(local));
    }
}
