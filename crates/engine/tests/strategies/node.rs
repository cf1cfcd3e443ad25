//! One node under test, spoken to in few words.

use std::collections::BTreeMap;

use cairn_engine::*;
use packet::ndn::InterestBuilder;
use packet::time::{Duration, Instant};
use packet::{Buffer, Dialect, Interest, LinkHeader, NackReason, Name, Nonce, Packet};

use crate::common::{data, receive, sent};

/// A packet sent, and the number of the face it went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sent {
    Interest(u32),
    Data(u32),
    Nack(u32, NackReason),
}

/// A node whose faces, all to other hosts, speak NDN. Its content store is off, so that every Interest
/// reaches the strategy.
pub(crate) struct Node {
    pub(crate) engine: Engine,
    pub(crate) now: Instant,
    /// The last Interest sent to each face.
    pub(crate) asked: BTreeMap<u32, Interest>,
    /// What was sent last, in full.
    pub(crate) transmits: Vec<Transmit>,
    last_nonce: u32,
}

impl Node {
    /// A node with faces 1 to `faces`.
    pub(crate) fn new(strategy: &str, faces: u32) -> Self {
        Node::seeded(strategy, faces, 1)
    }

    pub(crate) fn seeded(strategy: &str, faces: u32, seed: u64) -> Self {
        let mut config = EngineConfig::seeded(seed).unwrap();
        config.default_strategy = strategy.parse().unwrap();
        config.content_store.admit = false;
        let mut node = Node {
            engine: Engine::new(config).unwrap(),
            now: Instant::from_secs(1),
            asked: BTreeMap::new(),
            transmits: Vec::new(),
            last_nonce: 0,
        };
        for face in 1..=faces {
            node.face(face, FaceConfig::remote());
        }
        node
    }

    pub(crate) fn face(&mut self, face: u32, config: FaceConfig) {
        self.engine.add_face(self.now, FaceId(face), config).unwrap();
    }

    /// Adds routes to faces with costs; gives what that makes the node send.
    pub(crate) fn route(&mut self, prefix: &str, hops: &[(u32, u64)]) -> Vec<Sent> {
        self.add_route(prefix, hops, None)
    }

    pub(crate) fn learned_route(
        &mut self,
        prefix: &str,
        hops: &[(u32, u64)],
        announcement: &Buffer,
    ) -> Vec<Sent> {
        self.add_route(prefix, hops, Some(announcement))
    }

    fn add_route(&mut self, prefix: &str, hops: &[(u32, u64)], announcement: Option<&Buffer>) -> Vec<Sent> {
        let prefix: Name = prefix.parse().unwrap();
        for &(face, cost) in hops {
            let hop = NextHop { face: FaceId(face), cost };
            self.engine
                .add_learned_route(self.now, Dialect::Ndn, prefix.as_ref(), hop, announcement.cloned())
                .unwrap();
        }
        self.drain()
    }

    pub(crate) fn next_nonce(&mut self) -> u32 {
        self.last_nonce += 1;
        self.last_nonce
    }

    /// An Interest that lives four seconds arrives, with a nonce never used before.
    pub(crate) fn interest(&mut self, from: u32, name: &str) -> Vec<Sent> {
        self.interest_of(from, name, Duration::from_secs(4), &LinkHeader::default())
    }

    pub(crate) fn interest_of(
        &mut self,
        from: u32,
        name: &str,
        lifetime: Duration,
        header: &LinkHeader,
    ) -> Vec<Sent> {
        let nonce = self.next_nonce();
        let interest =
            InterestBuilder::new(name.parse().unwrap()).nonce(nonce).lifetime(lifetime).build().unwrap();
        self.receive(from, header, Packet::Interest(interest))
    }

    pub(crate) fn data(&mut self, from: u32, name: &str) -> Vec<Sent> {
        self.data_with(from, name, &LinkHeader::default())
    }

    pub(crate) fn data_with(&mut self, from: u32, name: &str, header: &LinkHeader) -> Vec<Sent> {
        self.receive(from, header, Packet::Data(data(name, 2)))
    }

    /// The last Interest sent to `from` comes back.
    pub(crate) fn nack(&mut self, from: u32, reason: NackReason) -> Vec<Sent> {
        let interest = self.asked[&from].clone();
        self.receive(from, &LinkHeader::NONE, Packet::Nack(interest, reason))
    }

    /// Lets time pass, with every deadline met on time.
    pub(crate) fn wait(&mut self, span: Duration) -> Vec<Sent> {
        let end = self.now + span;
        let mut sent = Vec::new();
        while self.engine.next_deadline() <= end {
            self.now = self.now.max(self.engine.next_deadline());
            self.engine.advance(self.now);
            sent.extend(self.drain());
        }
        self.now = end;
        self.engine.advance(self.now);
        sent.extend(self.drain());
        sent
    }

    pub(crate) fn wait_ms(&mut self, millis: u64) -> Vec<Sent> {
        self.wait(Duration::from_millis(millis))
    }

    pub(crate) fn pending(&self) -> u32 {
        self.engine.table_sizes().pending
    }

    pub(crate) fn drops(&self, reason: DropReason) -> u64 {
        self.engine.counters().drops.get(reason)
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.engine.poll_event()).collect()
    }

    /// Nonce of the last Interest sent to a face.
    pub(crate) fn nonce_sent_to(&self, face: u32) -> Option<Nonce> {
        self.asked[&face].nonce()
    }

    fn receive(&mut self, from: u32, header: &LinkHeader, packet: Packet) -> Vec<Sent> {
        receive(&mut self.engine, self.now, FaceId(from), header, packet);
        self.drain()
    }

    fn drain(&mut self) -> Vec<Sent> {
        self.transmits = sent(&mut self.engine);
        let mut sent = Vec::new();
        for transmit in &self.transmits {
            let face = transmit.face.0;
            sent.push(match &transmit.packet {
                Packet::Interest(interest) => {
                    self.asked.insert(face, interest.clone());
                    Sent::Interest(face)
                }
                Packet::Data(_) => Sent::Data(face),
                Packet::Nack(_, reason) => Sent::Nack(face, *reason),
            });
        }
        sent
    }
}
