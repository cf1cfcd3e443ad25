//! What fuzz targets reach of the inside of a node. Only builds with the feature `fuzzing` have it.
#![expect(missing_docs, clippy::unwrap_used, reason = "not part of the library")]

use engine::batch::Arrivals;
use engine::{Engine, EngineConfig, FaceConfig, FaceId, NextHop, Transmit};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, Interest, Name, Now};
use trust::PrivateKey;
use trust::ccnx::CcnxSigner;

use crate::codec::{Codec, Frame, Framing, LinkSettings, PacketInput};
use crate::control::{CongestionSettings, NodeControl};
use crate::transport::FrameSink;

/// What carries the frames of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTransport {
    Stream,
    Datagrams,
    /// Datagrams of NDNLP version 1, acknowledged; those of NDN are NDNLPv2 with link reliability.
    Reliable,
    /// Datagrams that many neighbours hear, with parity.
    Shared,
}

/// The face that bytes come by, and one behind which a producer is.
const NEAR: FaceId = FaceId(256);
const FAR: FaceId = FaceId(257);

/// The way of a frame from a socket to the engine, and of what the engine sends back.
pub struct FaceInput {
    codec: Codec,
    engine: Engine,
    arrivals: Arrivals,
    /// What has come of the first frame of a stream.
    stream: Vec<u8>,
    frames: Frames,
    /// The stream cannot be followed any more.
    pub is_closed: bool,
}

#[derive(Default)]
struct Frames {
    begun: Vec<u8>,
    largest_bytes: usize,
}

impl FrameSink for Frames {
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.begun
    }

    fn end_frame(&mut self, packet: Option<Buffer>) {
        let bytes = self.begun.len() + packet.map_or(0, |packet| packet.len());
        self.largest_bytes = self.largest_bytes.max(bytes);
        self.begun.clear();
    }
}

/// A datagram's bytes.
const MTU_BYTES: usize = 1400;

impl FaceInput {
    pub fn new(dialect: Dialect, transport: FrameTransport) -> Self {
        let is_stream = transport == FrameTransport::Stream;
        let settings = LinkSettings {
            local_fields: is_stream,
            reliability: transport == FrameTransport::Reliable,
            congestion_marking: true,
            congestion: CongestionSettings { interval: Duration::from_millis(100), threshold_bytes: 65_536 },
            transport_mtu_bytes: (!is_stream).then_some(MTU_BYTES),
            mtu_override_bytes: None,
            multi_access: transport == FrameTransport::Shared,
            padded_frames: false,
            parity: transport == FrameTransport::Shared,
            // Each dialect looks at what concerns it.
            fragmentation: !is_stream,
            receive_capacity_bytes: None,
            probe_path_mtu: false,
            may_be_adapter: is_stream,
            stuffed_bytes: if is_stream { 0 } else { 1000 },
            ndnlp: transport == FrameTransport::Reliable,
            ndnlp1_timings: link::v1::Timings::PAPER,
        };
        let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
        let face = FaceConfig { dialect, ..FaceConfig::remote() };
        engine.add_face(Instant::ZERO, NEAR, face.clone()).unwrap();
        engine.add_face(Instant::ZERO, FAR, face).unwrap();
        let everything = Name::root();
        let hop = NextHop { face: FAR, cost: 0 };
        engine.add_route(Instant::ZERO, dialect, everything.as_ref(), hop).unwrap();
        FaceInput {
            codec: Codec::new(dialect, settings, Random::from_seed(1)).unwrap(),
            engine,
            arrivals: Arrivals::new(NEAR),
            stream: Vec::new(),
            frames: Frames::default(),
            is_closed: false,
        }
    }

    /// Takes in a piece of a stream, or a datagram. What was asked for is asked upstream; nobody answers.
    pub fn receive(&mut self, now: Instant, bytes: &[u8]) {
        if self.is_closed {
            return;
        }
        if self.codec.settings().transport_mtu_bytes.is_some() {
            self.read_frame(now, bytes);
        } else {
            self.stream.extend_from_slice(bytes);
            self.read_stream(now);
        }
        self.settle(now);
    }

    fn read_frame(&mut self, now: Instant, bytes: &[u8]) {
        let mut input = PacketInput { engine: &mut self.engine, arrivals: &mut self.arrivals };
        self.codec.receive(Frame { now, from: 0, bytes }, &mut input);
    }

    fn read_stream(&mut self, now: Instant) {
        let stream = std::mem::take(&mut self.stream);
        let mut rest = &stream[..];
        while !rest.is_empty() && !self.is_closed {
            match self.codec.framing(rest) {
                Framing::Complete(length) => {
                    let (frame, behind) = rest.split_at_checked(length).expect("the frame is there");
                    assert!(!frame.is_empty(), "a frame of no bytes would be found for ever");
                    self.read_frame(now, frame);
                    rest = behind;
                }
                Framing::Incomplete => break,
                Framing::StatusRequest(length) => {
                    assert!(length <= rest.len(), "the request is there");
                    self.is_closed = true;
                }
                Framing::Invalid => self.is_closed = true,
            }
        }
        // No frame is larger than a packet and its wrapper.
        assert!(self.is_closed || rest.len() <= 2 * 65_535, "{} bytes are kept", rest.len());
        self.stream = rest.to_vec();
    }

    /// Lets time pass for the link and the engine.
    pub fn wait(&mut self, now: Instant) {
        // A link whose deadline does not move would be called for ever.
        for _ in 0..100 {
            if self.codec.next_deadline() > now {
                break;
            }
            self.codec.handle_timeout(now, &mut self.frames);
        }
        assert!(self.codec.next_deadline() > now, "a deadline stays in the past");
        self.settle(now);
    }

    fn settle(&mut self, now: Instant) {
        self.arrivals.hand_over(now, &mut self.engine);
        self.engine.advance(now);
        while let Some(transmit) = self.engine.poll_transmit() {
            if transmit.face == NEAR {
                self.send(now, transmit);
            }
        }
        if self.codec.wants_poll() {
            self.codec.poll_frames(now, &mut self.frames);
        }
        let mtu = self.codec.settings().transport_mtu_bytes;
        let largest = self.frames.largest_bytes;
        assert!(mtu.is_none_or(|most| largest <= most), "a frame of {largest} bytes");
        // As in the daemon, where neighbours share this much (limits.md).
        while self.codec.partial_bytes() > 1 << 20 {
            let before = self.codec.partial_bytes();
            self.codec.evict_partial_packets();
            assert!(self.codec.partial_bytes() < before, "nothing gives way");
        }
    }

    fn send(&mut self, now: Instant, transmit: Transmit) {
        self.codec.send(now, transmit, &mut self.frames);
    }
}

/// What answers clients of ccnd and ndnld.
pub struct Ccnd(crate::ccnd::Ccnd);

impl Ccnd {
    pub fn new(key: PrivateKey, now: Now) -> Self {
        let signer = CcnxSigner::new(key).unwrap();
        Ccnd(crate::ccnd::Ccnd::new(signer, None, 100, now).unwrap())
    }

    /// The digest of its key.
    pub fn id(&self) -> &[u8; 32] {
        self.0.id()
    }

    pub fn handle_interest(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        interest: &Interest,
        application: Option<FaceId>,
    ) -> Option<Data> {
        self.0.handle_interest(now, node, interest, application)
    }

    /// Lets time pass; gives when it is due next.
    pub fn wait(&mut self, now: Instant, node: &mut dyn NodeControl) -> Instant {
        self.0.handle_timeout(now, node);
        self.0.next_deadline()
    }
}
