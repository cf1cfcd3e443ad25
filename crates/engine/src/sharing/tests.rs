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
fn who_asks_again_for_what_waits_keeps_its_place() {
    let mut node = Node::new();
    node.ask(APPLICATION, "/a/object/99999");
    for (round, segment) in [1, 2, 3, 1].into_iter().enumerate() {
        let first = 1000 * (round as u64 + 1);
        node.others_are_answered("/a/object", first);
        assert_eq!(node.ask(APPLICATION, &format!("/a/object/{segment}")), segments("/a/object", []));
        // What is asked again within 10 ms is suppressed; meanwhile others are heard.
        for millis in 1..=5 {
            node.others_are_answered("/a/object", first + 100 * millis);
            assert_eq!(node.wait_millis(1), segments("/a/object", []));
        }
    }
    let sent = node.wait_millis(40);
    let place = |segment| sent.iter().position(|name| *name == format!("/a/object/{segment}"));
    assert!(place(1) < place(2) && place(2) < place(3) && place(1).is_some(), "{sent:?}");
}

#[test]
fn answers_of_longer_names_let_others_follow_as_well() {
    let mut node = Node::new();
    node.ask(APPLICATION, "/a/things/0");
    node.others_are_answered("/a/things", 1000);
    for thing in 1..=100 {
        node.ask(APPLICATION, &format!("/a/things/{thing}"));
    }
    let mut asked = node.wait_millis(30);
    let mut answered = 0;
    while let Some(next) = asked.get(answered).cloned() {
        answered += 1;
        asked.extend(
            node.data(&format!("{next}/version/0")).into_iter().filter(|name| !name.contains("version")),
        );
    }
    assert!(answered >= 100, "{answered}");
}

#[test]
fn an_object_for_which_there_is_no_room_sends_nothing_but_its_own() {
    let mut node = Node::new();
    for object in 0..64 {
        node.others_are_answered(&format!("/a/{object}"), 1000);
        node.ask(APPLICATION, &format!("/a/{object}/99999"));
        node.others_are_answered(&format!("/a/{object}"), 2000);
        for segment in 0..20 {
            node.ask(APPLICATION, &format!("/a/{object}/{segment}"));
        }
    }
    assert_eq!(node.ask(APPLICATION, "/a/another/0"), segments("/a/another", [0]));
}
