//! One frame's way from a face through its taps and its codec into the batch for the engine.

use engine::Engine;
use link::Direction;
use packet::time::Instant;

use crate::codec::{Frame, PacketInput};
use crate::face::Face;
use crate::plane::Batch;
use crate::plane::packets::taps::{Delayed, Tapping, pass};

/// What receiving takes of the data plane besides the face, so that the face can be borrowed meanwhile.
pub(in crate::plane) struct Reception<'a> {
    now: Instant,
    input: PacketInput<'a>,
    delayed: &'a mut Delayed,
}

impl<'a> Reception<'a> {
    #[inline(always)]
    pub(in crate::plane) fn of(
        now: Instant,
        engine: &'a mut Engine,
        batch: &'a mut Batch,
        tapping: &'a mut Tapping,
    ) -> Self {
        let input = PacketInput { engine, arrivals: &mut batch.arrivals };
        Reception { now, input, delayed: &mut tapping.delayed }
    }

    /// A frame came by `face`; `from` tells apart who sends to a group.
    #[inline(always)]
    pub(in crate::plane) fn receive(self, face: &mut Face, from: u64, frame: &[u8]) {
        let Reception { now, mut input, delayed } = self;
        face.counters.traffic.in_frames += 1;
        face.counters.traffic.in_bytes += frame.len() as u64;
        input.arrivals.face = face.id;
        if face.tapping.taps.is_empty() {
            face.codec.receive(Frame { now, from, bytes: frame }, &mut input);
            return;
        }
        if let Some(frame) = pass(face, now, Direction::In, frame, delayed) {
            face.codec.receive(Frame { now, from, bytes: &frame }, &mut input);
        }
    }
}
