//! One frame's way from a face through its taps and its codec into the batch for the engine.

use engine::Engine;
use engine::batch::Arrivals;
use link::Direction;
use packet::time::Instant;

use crate::face::Face;
use crate::plane::Batch;
use crate::plane::packets::taps::{Delayed, Tapping, pass};

/// What receiving takes of the data plane besides the face, so that the face can be borrowed meanwhile.
pub(in crate::plane) struct Reception<'a> {
    now: Instant,
    engine: &'a mut Engine,
    arrivals: &'a mut Arrivals,
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
        Reception { now, engine, arrivals: &mut batch.arrivals, delayed: &mut tapping.delayed }
    }

    /// A frame came by `face`; `from` tells apart who sends to a group.
    #[inline(always)]
    pub(in crate::plane) fn receive(self, face: &mut Face, from: u64, frame: &[u8]) {
        face.counters.traffic.in_frames += 1;
        face.counters.traffic.in_bytes += frame.len() as u64;
        self.arrivals.face = face.id;
        if face.tapping.taps.is_empty() {
            face.codec.receive(self.now, from, frame, self.engine, self.arrivals);
            return;
        }
        if let Some(frame) = pass(face, self.now, Direction::In, frame, self.delayed) {
            face.codec.receive(self.now, from, &frame, self.engine, self.arrivals);
        }
    }
}
