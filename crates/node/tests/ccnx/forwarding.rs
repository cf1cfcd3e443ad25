//! Packets from peer to peer, of one dialect and never of the other.

use std::net::UdpSocket;

use cairn_node::control::{AddNextHopError, CreateFace, FaceChanges, FacePersistency, FaceUri, NodeControl};
use engine::{FaceId, NextHop};
use packet::ccnx::{pdu, uri};
use packet::{Dialect, Interest};

use crate::peer::{Host, Peer, interest, name_in};

/// A neighbour that `prefix` leads to.
pub(crate) fn neighbour(host: &Host, dialect: Dialect, prefix: &str) -> Peer<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let there = FaceUri::Udp(socket.local_addr().unwrap());
    let mut control = host.node.control();
    let face = control.create_face(CreateFace {
        remote: there,
        local: None,
        persistency: FacePersistency::Permanent,
        changes: FaceChanges::default(),
        dialect,
    });
    let hop = NextHop { face: face.unwrap().id, cost: 0 };
    control.add_next_hop(dialect, &uri::parse(prefix).unwrap(), hop, None).unwrap();
    if dialect == Dialect::Ccnx {
        socket.connect(host.udp_address()).unwrap();
    }
    Peer::new(socket)
}

#[test]
fn an_object_travels_from_a_neighbour_to_clients_by_tcp_unix_and_udp_and_then_from_the_store() {
    let host = Host::new();
    let mut producer = neighbour(&host, Dialect::Ccnx, "ccnx:/far");
    let object = producer.object("ccnx:/far/away/%00", &[7; 4096]);
    let mut first = Peer::new(host.tcp());
    first.send(&interest("ccnx:/far/away", None));
    let asked = producer.recv();
    assert_eq!(name_in(&asked), "ccnx:/far/away");
    let nonce = Interest::decode_ccnx(asked.into()).unwrap().nonce();
    assert!(nonce.is_some(), "the forwarder adds the nonce that the client left out");
    producer.send(&object);
    assert_eq!(first.recv(), object);
    assert_eq!(host.unix().ask(&interest("ccnx:/far/away", None)), object);
    assert_eq!(Peer::new(host.udp()).ask(&interest("ccnx:/far", None)), object);
    assert!(producer.hears_nothing(), "the store has it");
}

#[test]
fn the_same_name_in_two_dialects_is_two_names() {
    let host = Host::new();
    let mut ndn = neighbour(&host, Dialect::Ndn, "ccnx:/same");
    let mut ccnx = neighbour(&host, Dialect::Ccnx, "ccnx:/same");
    let mut client = host.unix();
    client.send(&interest("ccnx:/same/name", None));
    assert_eq!(name_in(&ccnx.recv()), "ccnx:/same/name");
    assert!(ndn.hears_nothing());
    let object = ccnx.object("ccnx:/same/name", b"x");
    ccnx.send(&object);
    assert_eq!(client.recv(), object);
    let faces = host.node.control().faces();
    let spoken = |dialect| faces.iter().filter(|face| face.dialect == dialect).count();
    // Management, and the neighbour; the service for clients, the other neighbour, and the client.
    assert_eq!((spoken(Dialect::Ndn), spoken(Dialect::Ccnx)), (2, 3));
}

#[test]
fn a_face_of_one_dialect_is_no_next_hop_of_the_other() {
    let host = Host::new();
    let prefix = uri::parse("ccnx:/same").unwrap();
    let mut client = host.unix();
    client.ccnd_id();
    let hop = NextHop { face: last_face(&host), cost: 0 };
    let mut control = host.node.control();
    let refused = control.add_next_hop(Dialect::Ndn, &prefix, hop, None);
    assert_eq!(refused, Err(AddNextHopError::OtherDialect(hop.face)));
    assert_eq!(control.add_next_hop(Dialect::Ccnx, &prefix, hop, None), Ok(()));
}

#[test]
fn a_link_adapter_is_sent_wrapped_messages_and_is_no_application_any_more() {
    let host = Host::new();
    let (mut adapter, mut client) = (host.unix(), host.unix());
    let id = adapter.ccnd_id();
    let before = last_face(&host);
    adapter.send(&pdu::EMPTY_PDU);
    let hop = NextHop { face: before, cost: 0 };
    let prefix = uri::parse("ccnx:/behind").unwrap();
    // The client's connection is the last one: the adapter's is the one before.
    let mut control = host.node.control();
    let faces: Vec<_> = control.faces().into_iter().map(|face| face.id).collect();
    let adapters = faces[faces.len() - 2];
    control.add_next_hop(Dialect::Ccnx, &prefix, NextHop { face: adapters, ..hop }, None).unwrap();
    client.ccnd_id();
    client.send(&interest("ccnx:/behind/it", None));
    let wrapped = adapter.recv();
    assert_eq!(name_in(pdu::unwrap_pdu(&wrapped).unwrap()), "ccnx:/behind/it");
    let object = adapter.object("ccnx:/behind/it", b"x");
    adapter.send(&pdu::wrap_pdu(&object));
    assert_eq!(client.recv(), object);
    // Scope 1 stays on this host, and what comes by it is none of this host's.
    client.send(&interest("ccnx:/behind/this-host", Some(1)));
    let asks = interest("ccnx:/%C1.M.S.localhost/%C1.M.SRV/ccnd/KEY", Some(1));
    adapter.send(&pdu::wrap_pdu(&asks));
    assert!(adapter.hears_nothing());
    assert_eq!(id, client.ccnd_id());
}

fn last_face(host: &Host) -> FaceId {
    host.node.control().faces().last().unwrap().id
}

#[test]
fn garbage_on_a_stream_ends_it_and_in_a_datagram_does_not() {
    let host = Host::new();
    let mut stream = host.unix();
    stream.ccnd_id();
    stream.send(&[0xff; 100]);
    assert!(stream.hears_nothing(), "it is closed");
    let mut datagrams = Peer::new(host.udp());
    datagrams.ask(&interest("ccnx:/ccnx/ping", None));
    datagrams.send(&[0xff; 100]);
    datagrams.ask(&interest("ccnx:/ccnx/ping", None));
}
