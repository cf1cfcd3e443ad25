//! What comes by a face of a node: any bytes in any pieces, on each kind of link, in both dialects. Nothing
//! is kept without bound, no frame is larger than the link carries, and no deadline stays in the past.

#![no_main]

use arbitrary::Arbitrary;
use cairn_fuzz::busy_node::{AnyData, AnyInterest};
use node::fuzzing::{FaceInput, FrameTransport};
use packet::Dialect;
use packet::time::{Duration, Instant};

#[derive(Debug, Arbitrary)]
struct Plan {
    is_ccnx: bool,
    carrier: u8,
    steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    /// Any bytes.
    Bytes(Vec<u8>),
    /// Whole packets one after the other, then those with one byte changed, or cut in two pieces.
    Packets { packets: Vec<AnyPacket>, change: Option<(u16, u8)>, cut: Option<u16> },
    /// Nothing comes for a while.
    Wait { millis: u16 },
}

#[derive(Debug, Arbitrary)]
enum AnyPacket {
    Interest(AnyInterest),
    Data(AnyData),
}

impl AnyPacket {
    fn append_to(&self, dialect: Dialect, bytes: &mut Vec<u8>) {
        match self {
            AnyPacket::Interest(interest) => {
                bytes.extend(interest.build(dialect).iter().flat_map(|built| built.wire().iter()));
            }
            AnyPacket::Data(data) => {
                bytes.extend(data.build(dialect, None).iter().flat_map(|built| built.wire().iter()));
            }
        }
    }
}

libfuzzer_sys::fuzz_target!(|plan: Plan| {
    let dialect = if plan.is_ccnx { Dialect::Ccnx } else { Dialect::Ndn };
    let carriers =
        [FrameTransport::Stream, FrameTransport::Datagrams, FrameTransport::Reliable, FrameTransport::Shared];
    let carrier = carriers[usize::from(plan.carrier % 4)];
    let mut input = FaceInput::new(dialect, carrier);
    let mut now = Instant::ZERO;
    for step in plan.steps.iter().take(64) {
        match step {
            Step::Bytes(bytes) => input.receive(now, bytes),
            Step::Packets { packets, change, cut } => {
                let mut bytes = Vec::new();
                for packet in packets.iter().take(8) {
                    packet.append_to(dialect, &mut bytes);
                }
                if let Some((at, to)) = change
                    && let Some(byte) = at_most(*at, &bytes).and_then(|at| bytes.get_mut(at))
                {
                    *byte = *to;
                }
                let (first, second) = bytes.split_at(cut.and_then(|at| at_most(at, &bytes)).unwrap_or(0));
                input.receive(now, first);
                input.receive(now, second);
            }
            Step::Wait { millis } => {
                now += Duration::from_millis(u64::from(*millis));
                input.wait(now);
            }
        }
    }
});

/// A place in `bytes`; `None` if there are none.
fn at_most(place: u16, bytes: &[u8]) -> Option<usize> {
    usize::from(place).checked_rem(bytes.len())
}
