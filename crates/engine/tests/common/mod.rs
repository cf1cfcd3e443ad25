//! A node with three faces, and what its neighbours do to it; what comes and goes in tests of any node.

use cairn_engine::*;
use packet::ccnx::{self, ContentObjectFields, SignedInfo, Ticks};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, EncodeError, Interest, LinkHeader, NackReason, Name, Packet};

pub(crate) const CONSUMER: FaceId = FaceId(256);
pub(crate) const PRODUCER: FaceId = FaceId(257);
pub(crate) const OTHER: FaceId = FaceId(258);

pub(crate) struct Node {
    pub(crate) engine: Engine,
    pub(crate) now: Instant,
    nonce: u32,
}

impl Node {
    /// Three faces to other hosts, and a route for `/a` to the producer.
    pub(crate) fn new(change: impl FnOnce(&mut EngineConfig)) -> Self {
        let mut config = EngineConfig::seeded(1).unwrap();
        change(&mut config);
        let mut node = Node { engine: Engine::new(config).unwrap(), now: Instant::ZERO, nonce: 0 };
        for face in [CONSUMER, PRODUCER, OTHER] {
            node.engine.add_face(node.now, face, FaceConfig::remote()).unwrap();
        }
        node.route("/a", PRODUCER).unwrap();
        node
    }

    pub(crate) fn configure(&mut self, face: FaceId, config: FaceConfig) {
        assert!(self.engine.configure_face(self.now, face, config));
    }

    pub(crate) fn route(&mut self, prefix: &str, face: FaceId) -> Result<(), RouteError> {
        self.engine.add_route(self.now, Dialect::Ndn, name(prefix).as_ref(), NextHop { face, cost: 0 })
    }

    pub(crate) fn strategy(&mut self, prefix: &str, spec: &str) {
        self.engine.set_strategy(Dialect::Ndn, name(prefix).as_ref(), &spec.parse().unwrap()).unwrap();
    }

    /// An Interest with a nonce of its own.
    pub(crate) fn ask(&mut self, face: FaceId, uri: &str) -> Vec<Transmit> {
        self.nonce += 1;
        self.interest(face, &InterestBuilder::new(name(uri)).nonce(self.nonce).build().unwrap())
    }

    pub(crate) fn interest(&mut self, face: FaceId, interest: &Interest) -> Vec<Transmit> {
        self.interest_with(face, interest, &LinkHeader::NONE)
    }

    pub(crate) fn interest_with(
        &mut self,
        face: FaceId,
        interest: &Interest,
        header: &LinkHeader,
    ) -> Vec<Transmit> {
        receive(&mut self.engine, self.now, face, header, Packet::Interest(interest.clone()));
        self.sent()
    }

    pub(crate) fn data(&mut self, face: FaceId, data: &Data) -> Vec<Transmit> {
        self.data_with(face, data, &LinkHeader::NONE)
    }

    pub(crate) fn data_with(&mut self, face: FaceId, data: &Data, header: &LinkHeader) -> Vec<Transmit> {
        receive(&mut self.engine, self.now, face, header, Packet::Data(data.clone()));
        self.sent()
    }

    pub(crate) fn nack(&mut self, face: FaceId, interest: &Interest, reason: NackReason) {
        let nack = Packet::Nack(interest.clone(), reason);
        receive(&mut self.engine, self.now, face, &LinkHeader::NONE, nack);
    }

    pub(crate) fn wait(&mut self, span: Duration) {
        self.now += span;
        self.engine.advance(self.now);
    }

    /// Where there is no more to do than one call may: nothing is due after it, or its owner would not sleep.
    pub(crate) fn wait_and_settle(&mut self, span: Duration) {
        self.wait(span);
        assert!(self.engine.next_deadline() > self.now, "what was due is still due");
    }

    pub(crate) fn sent(&mut self) -> Vec<Transmit> {
        sent(&mut self.engine)
    }

    pub(crate) fn drops(&self, reason: DropReason) -> u64 {
        self.engine.counters().drops.get(reason)
    }

    pub(crate) fn pending(&self, face: FaceId) -> u32 {
        self.engine.face_pending(face).unwrap()
    }
}

/// Has a packet arrive.
pub(crate) fn receive(engine: &mut Engine, now: Instant, face: FaceId, header: &LinkHeader, packet: Packet) {
    let (dialect, name) = match &packet {
        Packet::Interest(interest) | Packet::Nack(interest, _) => (interest.dialect(), interest.name()),
        Packet::Data(data) => (data.dialect(), data.name()),
    };
    let hashes = engine.hasher().hash(dialect, name.components());
    engine.receive(Arrival { now, face, hashes: &hashes, header }, packet);
}

/// What was sent since the last call.
pub(crate) fn sent(engine: &mut Engine) -> Vec<Transmit> {
    std::iter::from_fn(|| engine.poll_transmit()).collect()
}

pub(crate) fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

pub(crate) fn data(uri: &str, content_bytes: usize) -> Data {
    DataBuilder::new(name(uri)).content(vec![7; content_bytes]).build_with_digest().unwrap()
}

pub(crate) fn object_of_ccnx(uri: &str) -> Data {
    let name = ccnx::uri::parse(uri).unwrap();
    let fields = ContentObjectFields {
        name: (&name).into(),
        signed_info: SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0)),
        content: b"content",
    };
    let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap();
    Data::decode_ccnx(wire.into()).unwrap()
}
