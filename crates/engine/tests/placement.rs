//! Where copies of passing Data are left.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use cairn_engine::{Arrival, CachePlacement, Engine, EngineConfig, FaceConfig, FaceId, NextHop, Transmit};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Instant;
use packet::{CachePolicy, Data, Dialect, LinkHeader, NameRef, Packet};

const NEIGHBOUR: FaceId = FaceId(256);
const APPLICATION: FaceId = FaceId(257);
const PRODUCER: FaceId = FaceId(258);
const NOW: Instant = Instant::from_secs(1);

struct Node {
    engine: Engine,
    nonce: u32,
}

impl Node {
    fn new(placement: &str, room: u32) -> Self {
        let mut config = EngineConfig::seeded(1).unwrap();
        config.content_store.placement = placement.parse().unwrap();
        config.content_store.max_entries = room;
        let mut engine = Engine::new(config).unwrap();
        engine.add_face(NOW, NEIGHBOUR, FaceConfig::remote()).unwrap();
        engine.add_face(NOW, PRODUCER, FaceConfig::remote()).unwrap();
        engine.add_face(NOW, APPLICATION, FaceConfig::local()).unwrap();
        let hop = NextHop { face: PRODUCER, cost: 0 };
        engine.add_route(NOW, Dialect::Ndn, NameRef::ROOT, hop).unwrap();
        Node { engine, nonce: 0 }
    }

    fn sent(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.engine.poll_transmit()).collect()
    }

    /// Lets `face` ask for the name, and gives what is sent then.
    fn ask(&mut self, face: FaceId, uri: &str) -> Vec<Transmit> {
        self.nonce += 1;
        let interest = InterestBuilder::new(uri.parse().unwrap()).nonce(self.nonce).build().unwrap();
        let hashes = self.engine.hasher().hash(Dialect::Ndn, interest.name().components());
        self.engine.receive(Arrival::bare(NOW, face, &hashes), Packet::Interest(interest));
        self.sent()
    }

    /// Answers it, and gives what the one who asked is told about keeping the answer.
    fn answer(&mut self, uri: &str, told: Option<CachePolicy>) -> Option<CachePolicy> {
        let data: Data =
            DataBuilder::new(uri.parse().unwrap()).content(b"x".to_vec()).build_with_digest().unwrap();
        let hashes = self.engine.hasher().hash(Dialect::Ndn, data.name().components());
        let header = LinkHeader { cache_policy: told, ..LinkHeader::NONE };
        self.engine.receive(
            Arrival { now: NOW, face: PRODUCER, hashes: &hashes, header: &header },
            Packet::Data(data),
        );
        let sent = self.sent();
        let [transmit] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!(transmit.is_bare(), transmit.cache_policy.is_none());
        transmit.clone().into_parts().1.cache_policy
    }

    fn has(&self) -> u32 {
        self.engine.table_sizes().cached
    }
}

#[test]
fn leave_copy_down_keeps_what_nobody_kept_and_tells_those_behind() {
    let mut node = Node::new("leave-copy-down", 10);
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(node.answer("/a", None), Some(CachePolicy::NoCache));
    assert_eq!(node.has(), 1);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(node.answer("/b", Some(CachePolicy::NoCache)), Some(CachePolicy::NoCache));
    assert_eq!(node.has(), 1);
    // What a cache has comes with no such word, so that the next node takes a copy.
    let hit = node.ask(NEIGHBOUR, "/a");
    assert!(matches!(&hit[..], [Transmit { packet: Packet::Data(_), cache_policy: None, .. }]), "{hit:?}");
}

#[test]
fn a_node_without_room_passes_on_what_it_was_told() {
    let mut node = Node::new("leave-copy-down", 0);
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(node.answer("/a", None), None);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(node.answer("/b", Some(CachePolicy::NoCache)), Some(CachePolicy::NoCache));
}

#[test]
fn everywhere_keeps_all_and_says_nothing() {
    let mut node = Node::new("everywhere", 10);
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(node.answer("/a", None), None);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(node.answer("/b", Some(CachePolicy::NoCache)), None);
    assert_eq!(node.has(), 1);
}

#[test]
fn at_the_edge_only_what_an_application_waits_for_is_kept() {
    let mut node = Node::new("local-consumers", 10);
    node.ask(NEIGHBOUR, "/a");
    node.answer("/a", None);
    assert_eq!(node.has(), 0);
    node.ask(APPLICATION, "/b");
    node.answer("/b", None);
    assert_eq!(node.has(), 1);
    assert_eq!(node.engine.content_store_counters().passed_on, 1);
}

#[test]
fn with_a_probability_so_many_copies_are_left() {
    let mut node = Node::new("probability~0.3", 10_000);
    for number in 0..2_000 {
        let uri = format!("/{number}");
        node.ask(NEIGHBOUR, &uri);
        assert_eq!(node.answer(&uri, None), None);
    }
    let kept = node.has();
    assert!((540..660).contains(&kept), "{kept}");
    assert_eq!(node.engine.content_store_counters().passed_on, u64::from(2_000 - kept));
}

#[test]
fn a_placement_can_be_changed_while_interests_wait() {
    let mut node = Node::new("everywhere", 10);
    let config = *node.engine.content_store_config();
    let placement = CachePlacement::LeaveCopyDown;
    node.engine.configure_content_store(cairn_engine::ContentStoreConfig { placement, ..config });
    node.ask(NEIGHBOUR, "/a");
    assert_eq!(node.answer("/a", None), Some(CachePolicy::NoCache));
    node.engine.configure_content_store(config);
    node.ask(NEIGHBOUR, "/b");
    assert_eq!(node.answer("/b", None), None);
}
