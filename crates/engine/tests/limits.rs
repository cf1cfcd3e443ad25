//! What happens at every limit: nothing grows, nobody suffers for another, and each drop has its reason.
#![allow(clippy::unwrap_used, reason = "tests")]

use engine::*;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, NackReason, Name};

const CONSUMER: FaceId = FaceId(256);
const PRODUCER: FaceId = FaceId(257);
const OTHER: FaceId = FaceId(258);

struct Node {
    engine: Engine,
    now: Instant,
    nonce: u32,
}

impl Node {
    /// Three faces to other hosts, and a route for `/a` to the producer.
    fn new(change: impl FnOnce(&mut EngineConfig)) -> Self {
        let mut config = EngineConfig::seeded(1).unwrap();
        change(&mut config);
        let mut node = Node { engine: Engine::new(config).unwrap(), now: Instant::ZERO, nonce: 0 };
        for face in [CONSUMER, PRODUCER, OTHER] {
            node.engine.add_face(node.now, face, FaceConfig::remote()).unwrap();
        }
        node.route("/a", PRODUCER).unwrap();
        node
    }

    fn configure(&mut self, face: FaceId, config: FaceConfig) {
        assert!(self.engine.configure_face(self.now, face, config));
    }

    fn route(&mut self, prefix: &str, face: FaceId) -> Result<(), RouteError> {
        self.engine.add_route(self.now, Dialect::Ndn, name(prefix).as_ref(), NextHop { face, cost: 0 })
    }

    fn strategy(&mut self, prefix: &str, spec: &str) {
        self.engine.set_strategy(Dialect::Ndn, name(prefix).as_ref(), &spec.parse().unwrap()).unwrap();
    }

    /// An Interest with a nonce of its own.
    fn ask(&mut self, face: FaceId, uri: &str) -> Vec<Transmit> {
        self.nonce += 1;
        self.interest(face, &InterestBuilder::new(name(uri)).nonce(self.nonce).build().unwrap())
    }

    fn interest(&mut self, face: FaceId, interest: &Interest) -> Vec<Transmit> {
        self.interest_with(face, interest, &LinkHeader::default())
    }

    fn interest_with(&mut self, face: FaceId, interest: &Interest, header: &LinkHeader) -> Vec<Transmit> {
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        self.engine.receive_interest(self.now, face, interest.clone(), &hashes, header);
        self.sent()
    }

    fn data(&mut self, face: FaceId, data: &Data) -> Vec<Transmit> {
        let hashes = self.engine.hasher().hash(data.dialect(), data.name().components());
        self.engine.receive_data(self.now, face, data, &hashes, &LinkHeader::default());
        self.sent()
    }

    fn nack(&mut self, face: FaceId, interest: &Interest) {
        let hashes = self.engine.hasher().hash(interest.dialect(), interest.name().components());
        self.engine.receive_nack(self.now, face, interest, NackReason::NoRoute, &hashes);
    }

    fn wait(&mut self, span: Duration) {
        self.now += span;
        self.engine.advance(self.now);
    }

    fn sent(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.engine.poll_transmit()).collect()
    }

    fn drops(&self, reason: DropReason) -> u64 {
        self.engine.counters().drops.get(reason)
    }

    fn pending(&self, face: FaceId) -> u32 {
        self.engine.face_pending(face).unwrap()
    }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn data(uri: &str, content_bytes: usize) -> Data {
    DataBuilder::new(name(uri)).content(vec![7; content_bytes]).build_with_digest().unwrap()
}

fn congested(sent: &[Transmit], face: FaceId) -> bool {
    matches!(sent, [Transmit { face: to, packet: Outgoing::Nack(_, NackReason::Congestion), .. }] if *to == face)
}

#[test]
fn a_face_has_no_more_pending_interests_than_it_may_and_is_told() {
    let mut node = Node::new(|_| {});
    node.configure(CONSUMER, FaceConfig { max_pending: Some(10), ..FaceConfig::remote() });
    for number in 0..10 {
        assert_eq!(node.ask(CONSUMER, &format!("/a/{number}")).len(), 1);
    }
    let sent = node.ask(CONSUMER, "/a/10");
    assert!(congested(&sent, CONSUMER), "{sent:?}");
    assert_eq!((node.pending(CONSUMER), node.drops(DropReason::FacePendingLimit)), (10, 1));
    assert_eq!(node.ask(OTHER, "/a/10").len(), 1, "others are not concerned");
    node.data(PRODUCER, &data("/a/0", 1));
    assert_eq!(node.ask(CONSUMER, "/a/11").len(), 1, "room again");
}

#[test]
fn an_interest_refused_at_a_pending_entry_did_not_join_it() {
    let mut node = Node::new(|_| {});
    node.configure(CONSUMER, FaceConfig { max_pending: Some(1), ..FaceConfig::remote() });
    node.ask(CONSUMER, "/a/own");
    node.ask(OTHER, "/a/b");
    let sent = node.ask(CONSUMER, "/a/b");
    assert!(congested(&sent, CONSUMER), "{sent:?}");
    let counters = node.engine.counters();
    assert_eq!((counters.pending_created, counters.pending_joined), (2, 0));
    let faces: Vec<FaceId> = node.data(PRODUCER, &data("/a/b", 1)).iter().map(|sent| sent.face).collect();
    assert_eq!(faces, [OTHER]);
}
