//! A node whose producer is behind a shared link.

use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, LinkHeader, Name, Packet};

use super::SharingConfig;
use crate::{Arrival, Engine, EngineConfig, FaceConfig, FaceId, FaceScope, LinkType, NextHop, Transmit};

const APPLICATION: FaceId = FaceId(256);
const LINK: FaceId = FaceId(257);

struct Node {
    engine: Engine,
    now: Instant,
    nonce: u32,
}

impl Node {
    fn new() -> Self {
        let engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
        let mut node = Node { engine, now: Instant::ZERO, nonce: 0 };
        let local = FaceConfig { scope: FaceScope::Local, ..FaceConfig::remote() };
        let sharing = Some(SharingConfig::LOCAL);
        let link = FaceConfig { link_type: LinkType::MultiAccess, sharing, ..FaceConfig::remote() };
        node.engine.add_face(node.now, APPLICATION, local).unwrap();
        node.engine.add_face(node.now, LINK, link).unwrap();
        let hop = NextHop { face: LINK, cost: 0 };
        node.engine.add_route(node.now, Dialect::Ndn, name("/a").as_ref(), hop).unwrap();
        node
    }

    fn receive(&mut self, face: FaceId, packet: Packet) -> Vec<String> {
        let name = match &packet {
            Packet::Interest(interest) => interest.name(),
            Packet::Data(data) => data.name(),
            Packet::Nack(..) => panic!(),
        };
        let hashes = self.engine.hasher().hash(Dialect::Ndn, name.components());
        let header = LinkHeader::default();
        self.engine.receive(Arrival { now: self.now, face, hashes: &hashes, header: &header }, packet);
        self.sent()
    }

    /// An Interest, of the application or of another node; gives the names that go out.
    fn ask(&mut self, face: FaceId, uri: &str) -> Vec<String> {
        self.nonce += 1;
        let interest = InterestBuilder::new(name(uri)).nonce(self.nonce).can_be_prefix(true).build().unwrap();
        self.receive(face, Packet::Interest(interest))
    }

    fn data(&mut self, uri: &str) -> Vec<String> {
        let data: Data = DataBuilder::new(name(uri)).build_with_digest().unwrap();
        self.receive(LINK, Packet::Data(data))
    }

    fn wait_millis(&mut self, millis: u64) -> Vec<String> {
        let mut sent = Vec::new();
        for _ in 0..millis {
            self.now += Duration::from_millis(1);
            self.engine.advance(self.now);
            sent.extend(self.sent());
        }
        sent
    }

    fn sent(&mut self) -> Vec<String> {
        let name_of = |sent: Transmit| match sent.packet {
            Packet::Interest(interest) => interest.name().to_string(),
            Packet::Data(data) => data.name().to_string(),
            Packet::Nack(..) => String::new(),
        };
        std::iter::from_fn(|| self.engine.poll_transmit()).map(name_of).collect()
    }

    /// Another node is being sent an object: so much Data that it is a stream.
    fn others_are_answered(&mut self, object: &str, first: u64) {
        (first..first + 64).for_each(|segment| drop(self.data(&format!("{object}/{segment}"))));
    }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn segments(object: &str, numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("{object}/{number}")).collect()
}

#[test]
fn what_waits_in_a_queue_that_has_grown_is_not_asked_for_again_while_what_is_before_it_is_answered() {
    let mut node = Node::new();
    node.ask(APPLICATION, "/a/object/99999");
    node.others_are_answered("/a/object", 1000);
    let asks = |node: &mut Node, range: std::ops::Range<u64>| {
        range.clone().for_each(|segment| drop(node.ask(LINK, &format!("/a/object/{segment}"))));
        for segment in range {
            assert_eq!(node.ask(APPLICATION, &format!("/a/object/{segment}")), segments("/a/object", []));
        }
    };
    // At first answers take 2 ms, then up to 50 ms.
    for segment in 0..20 {
        asks(&mut node, segment..segment + 1);
        node.wait_millis(2);
        assert_eq!(node.data(&format!("/a/object/{segment}")), segments("/a/object", [segment]));
    }
    asks(&mut node, 20..70);
    for segment in 20..70 {
        assert_eq!(node.wait_millis(1), segments("/a/object", []), "before {segment}");
        assert_eq!(node.data(&format!("/a/object/{segment}")), segments("/a/object", [segment]));
    }
}

#[test]
fn what_is_lost_is_asked_for_again_after_a_tenth_of_a_second_though_others_are_answered_before_it() {
    let mut node = Node::new();
    assert_eq!(node.ask(APPLICATION, "/a/object/500"), segments("/a/object", [500]));
    let mut sent = Vec::new();
    for segment in 0..102 {
        assert_eq!(node.ask(APPLICATION, &format!("/a/object/{segment}")), segments("/a/object", [segment]));
        sent.extend(node.wait_millis(1));
        assert_eq!(node.data(&format!("/a/object/{segment}")), segments("/a/object", [segment]));
    }
    assert_eq!(sent, segments("/a/object", [500]));
}
