//! Every captured exchange in `vectors/ccnx-exchanges`, sent to a node as CCNx 0.8.2 and ndnld sent it. But
//! one: `unix-ccnd-to-adapter` is what a ccnd sends, and a node that stands in its place receives nothing
//! like it; `cairn link run` does, and the codec's own tests read it.

use std::collections::BTreeSet;

use cairn_node::control::{FaceUri, NodeControl};
use engine::{FaceId, NextHop};
use packet::Dialect;
use packet::ccnx::{ContentObjectView, InterestView, message_len, pdu, uri};
use testkit::vectors;

use crate::forwarding::neighbour;
use crate::peer::{Host, Peer, interest, name_in};

const REPLAYED: [&str; 5] = [
    "udp-key-object-and-number",
    "udp-ping-and-number",
    "udp-ping-answer-and-number",
    "udp-two-interests-and-a-number",
    "unix-adapter-to-ccnd",
];
const NOT_RECEIVED: [&str; 1] = ["unix-ccnd-to-adapter"];

fn captured(name: &str) -> Vec<u8> {
    assert!(REPLAYED.contains(&name));
    vectors::load("ccnx-exchanges").into_iter().find(|vector| vector.name == name).unwrap().bytes
}

/// The messages that stand one behind the other, without their wrappers.
fn messages(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Ok(Some(length)) = message_len(bytes) {
        let (message, rest) = bytes.split_at(length);
        all.push(pdu::unwrap_pdu(message).unwrap_or(message).to_vec());
        bytes = rest;
    }
    assert!(bytes.is_empty());
    all
}

fn names(messages: &[Vec<u8>], are_interests: bool) -> BTreeSet<String> {
    let is_wanted = |message: &&Vec<u8>| match are_interests {
        true => InterestView::decode(message).is_ok(),
        false => ContentObjectView::decode(message).is_ok(),
    };
    messages.iter().filter(is_wanted).map(|message| name_in(message)).collect()
}

#[test]
fn every_captured_exchange_is_replayed_or_is_none_that_a_node_receives() {
    let all: BTreeSet<String> = vectors::load("ccnx-exchanges").into_iter().map(|v| v.name).collect();
    let known = REPLAYED.into_iter().chain(NOT_RECEIVED).map(str::to_owned).collect();
    assert_eq!(all, known);
}

#[test]
fn captured_interests_of_a_neighbour_reach_who_serves_their_names() {
    for exchange in ["udp-ping-and-number", "udp-two-interests-and-a-number"] {
        let host = Host::new();
        let mut producer = neighbour(&host, Dialect::Ccnx, "ccnx:/");
        let mut asking = Peer::new(host.udp());
        let datagram = captured(exchange);
        asking.send(&datagram);
        // The node itself has a key for its neighbours.
        let (own, others): (Vec<String>, Vec<String>) =
            names(&messages(&datagram), true).into_iter().partition(|name| name.contains("M.S.neighborhood"));
        for name in &others {
            assert_eq!(name_in(&producer.recv()), *name);
            let object = producer.object(name, b"answer");
            producer.send(&object);
        }
        let answers: Vec<String> = (0..own.len() + others.len()).map(|_| name_in(&asking.recv())).collect();
        for name in own.iter().chain(&others) {
            let is_answered = answers.iter().any(|answer| answer.starts_with(&**name));
            assert!(is_answered, "{exchange}: {name} in {answers:?}");
        }
        assert!(!others.is_empty() && producer.hears_nothing(), "{exchange}");
    }
}

#[test]
fn captured_answers_of_a_neighbour_reach_who_asked_as_they_came() {
    for exchange in ["udp-ping-answer-and-number", "udp-key-object-and-number"] {
        let host = Host::new();
        let datagram = captured(exchange);
        let objects = messages(&datagram);
        let (name, mut consumer) = (name_in(&objects[0]), host.unix());
        let mut answering = neighbour(&host, Dialect::Ccnx, &name);
        consumer.send(&interest(&name, None));
        assert_eq!(name_in(&answering.recv()), name, "{exchange}");
        answering.send(&datagram);
        assert_eq!(consumer.recv(), objects[0], "{exchange}");
    }
}

#[test]
fn a_captured_link_adapter_hands_over_what_its_neighbour_sent() {
    let host = Host::new();
    let mut control = host.node.control();
    let before: BTreeSet<FaceId> = control.faces().into_iter().map(|face| face.id).collect();
    let (mut adapter, stream) = (host.unix(), captured("unix-adapter-to-ccnd"));
    // Its registration, for another ccnd, and the empty wrapper that says what it is.
    let registration = message_len(&stream).unwrap().unwrap();
    let (opening, rest) = stream.split_at(registration + pdu::EMPTY_PDU.len());
    adapter.send(opening);
    let is_new = |id: &FaceId| !before.contains(id);
    let is_unix = |remote: &FaceUri| matches!(remote, FaceUri::FileDescriptor(_) | FaceUri::Unix(_));
    let mut found = None;
    for _ in 0..1000 {
        let faces = control.faces();
        found = faces.into_iter().find(|face| is_new(&face.id) && is_unix(&face.remote)).map(|face| face.id);
        if found.is_some() {
            break;
        }
        // Its next message comes when the node has taken this one.
        host.unix().ccnd_id();
    }
    let hop = NextHop { face: found.unwrap(), cost: 0 };
    control.add_next_hop(Dialect::Ccnx, &uri::parse("ccnx:/").unwrap(), hop, None).unwrap();

    let arrived = messages(rest);
    let (objects, asked) = (names(&arrived, false), names(&arrived, true));
    assert!(objects.len() >= 6 && asked.len() == 1, "{objects:?} {asked:?}");
    let mut consumer = host.unix();
    for name in &objects {
        consumer.send(&interest(name, None));
    }
    let mut heard = BTreeSet::new();
    while heard != objects {
        let wrapped = adapter.recv();
        heard.insert(name_in(pdu::unwrap_pdu(&wrapped).expect("it is sent wrapped messages")));
    }
    adapter.send(rest);
    let came: BTreeSet<Vec<u8>> = objects.iter().map(|_| consumer.recv()).collect();
    let sent = arrived.into_iter().filter(|message| ContentObjectView::decode(message).is_ok());
    assert_eq!(came, sent.collect());
    // What its neighbour asks for is an adjacency, which a node has none of.
    assert!(asked.first().unwrap().contains("M.FACE") && adapter.hears_nothing(), "{asked:?}");
}
