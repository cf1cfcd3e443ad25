//! What happened, boiled down to one number, and on request in full.

use engine::Outgoing;
use packet::time::Instant;
use packet::{LinkHeader, NackReason};

use super::NodeId;
use engine::FaceId;

/// A packet that an engine sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When.
    pub at: Instant,
    /// Which node's engine.
    pub node: NodeId,
    /// By which of its faces.
    pub face: FaceId,
    /// What.
    pub packet: Outgoing,
    /// What travelled with it.
    pub header: LinkHeader,
}

/// A running hash (FNV-1a, 64 bits) over every packet and every frame, with time and place, and the packets themselves if asked
/// for. Two runs with the same hash did the same.
#[derive(Clone, Debug)]
pub struct Trace {
    hash: u64,
    steps: u64,
    sent: Option<Vec<Sent>>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Trace { hash: 0xcbf2_9ce4_8422_2325, steps: 0, sent: None }
    }

    /// The hash of everything so far.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// How many packets and frames were seen.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The packets sent since [`Network::record_packets`](super::Network::record_packets).
    pub fn sent(&self) -> &[Sent] {
        self.sent.as_deref().unwrap_or_default()
    }

    pub(super) fn record(&mut self) {
        self.sent.get_or_insert_default();
    }

    pub(super) fn note_packet(&mut self, sent: Sent) {
        let (kind, wire) = match &sent.packet {
            Outgoing::Interest(interest) => (0, interest.wire()),
            Outgoing::Data(data) => (1, data.wire()),
            Outgoing::Nack(interest, reason) => {
                let reason = match reason {
                    NackReason::Congestion => 2,
                    NackReason::Duplicate => 3,
                    NackReason::NoRoute => 4,
                    NackReason::Unspecified => 5,
                };
                (reason, interest.wire())
            }
        };
        self.numbers(&[sent.at.as_nanos(), sent.node.0 as u64, sent.face.0.into(), kind]);
        self.bytes(wire);
        self.bytes(sent.header.pit_token.as_bytes());
        self.numbers(&[sent.header.congestion_mark]);
        self.steps += 1;
        if let Some(list) = &mut self.sent {
            list.push(sent);
        }
    }

    pub(super) fn note_frame(&mut self, at: Instant, link: usize, end: usize, frame: &[u8]) {
        self.numbers(&[at.as_nanos(), 6, link as u64, end as u64]);
        self.bytes(frame);
        self.steps += 1;
    }

    fn numbers(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.bytes(&number.to_be_bytes());
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
