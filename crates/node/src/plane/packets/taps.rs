//! The place for whatever wants to watch or change the frames of a face: capture, impairment, fuzzing.
//!
//! A face without taps pays one comparison. With taps, its frames are copied and shown to each of them.

use std::collections::BTreeMap;

use engine::{FaceId, Transmit};
use link::{Direction, FrameTap, TapVerdict};
use packet::time::Instant;

use crate::codec::{Codec, Frame, PacketInput};
use crate::drop_reason::{DropCounters, DropReason};
use crate::face::{Face, Faces};
use crate::plane::DataPlane;
use crate::transport::FrameSink;
use crate::transport::train::Outbox;

/// Something that sees the frames of a face; made anew for each face.
pub(crate) type TapMaker = Box<dyn Fn(&Face) -> Option<Box<dyn FrameTap + Send>> + Send>;

/// Frames that taps hold back, at most.
const MAX_DELAYED: usize = 1 << 16;
/// Bytes of these frames, at most: a quarter of a second at 2 Gbit/s.
const MAX_DELAYED_BYTES: usize = 64 << 20;
/// Frames let go in one turn; the rest go in the next.
const RELEASED_PER_TURN: usize = 1024;

/// A frame that is held back: of which face, and on its way where.
type DelayedFrame = (FaceId, Direction, Vec<u8>);

/// Frames that taps hold back.
#[derive(Default)]
pub(crate) struct Delayed {
    frames: BTreeMap<(Instant, u64), DelayedFrame>,
    bytes: usize,
    next: u64,
}

/// Taps for faces that are yet to come, and what taps hold back.
pub(crate) struct Tapping {
    pub(in crate::plane) makers: Vec<(u64, TapMaker)>,
    next: u64,
    pub(in crate::plane) delayed: Delayed,
}

impl Default for Tapping {
    fn default() -> Self {
        Tapping { makers: Vec::new(), next: 1, delayed: Delayed::default() }
    }
}

impl Delayed {
    fn hold(&mut self, until: Instant, held: DelayedFrame, drops: &mut DropCounters) {
        let (_, _, frame) = &held;
        if self.frames.len() >= MAX_DELAYED || self.bytes + frame.len() > MAX_DELAYED_BYTES {
            return drops.add(DropReason::TooManyDelayed, 1);
        }
        self.bytes += frame.len();
        self.frames.insert((until, self.next), held);
        self.next += 1;
    }

    /// The frame whose time has come longest ago.
    fn pop_due(&mut self, now: Instant) -> Option<DelayedFrame> {
        let first = self.frames.first_entry().filter(|entry| entry.key().0 <= now)?;
        let due = first.remove();
        self.bytes -= due.2.len();
        Some(due)
    }

    pub(in crate::plane) fn next_deadline(&self) -> Instant {
        self.frames.first_key_value().map_or(Instant::NEVER, |((when, _), _)| *when)
    }
}

/// Shows a frame of a face to all its taps; what is left of it goes on at once, or is held back.
pub(in crate::plane) fn pass(
    face: &mut Face,
    now: Instant,
    direction: Direction,
    frame: &[u8],
    delayed: &mut Delayed,
) -> Option<Vec<u8>> {
    let mut frame = frame.to_vec();
    let verdict =
        link::show_to_taps(face.tapping.taps.iter_mut().map(|(_, tap)| tap), now, direction, &mut frame);
    let (drops, face) = (&mut face.counters.drops, face.id);
    match verdict {
        TapVerdict::Pass => return Some(frame),
        TapVerdict::Drop => drops.add(DropReason::Loss, 1),
        TapVerdict::QueueFull => drops.add(DropReason::SendQueueFull, 1),
        TapVerdict::Delay(span) => delayed.hold(now + span, (face, direction, frame), drops),
        TapVerdict::Duplicate(first, second) => {
            delayed.hold(now + first, (face, direction, frame.clone()), drops);
            delayed.hold(now + second, (face, direction, frame), drops);
        }
    }
    None
}

impl Tapping {
    /// Has a tap see all frames of one face; its number, or `None` if there is no such face or it has none.
    pub(crate) fn add(
        &mut self,
        faces: &mut Faces,
        face: FaceId,
        tap: Box<dyn FrameTap + Send>,
    ) -> Option<u64> {
        let number = self.next;
        let face = faces.get_mut(&face).filter(|face| face.codec.has_frames())?;
        face.tapping.taps.push((number, tap));
        self.next += 1;
        Some(number)
    }

    /// Makes a tap for each face there is, and for each that will be; the number of all of them.
    pub(crate) fn add_everywhere(&mut self, faces: &mut Faces, maker: TapMaker) -> u64 {
        let number = self.next;
        self.next += 1;
        for face in faces.values_mut().filter(|face| face.codec.has_frames()) {
            // Before all others: what watches sees frames as they are on the wire.
            if let Some(tap) = maker(face) {
                face.tapping.taps.insert(0, (number, tap));
            }
        }
        self.makers.push((number, maker));
        number
    }

    /// Removes a tap wherever it is.
    pub(crate) fn remove(&mut self, faces: &mut Faces, number: u64) {
        self.makers.retain(|(other, _)| *other != number);
        for face in faces.values_mut() {
            face.tapping.taps.retain(|(other, _)| *other != number);
        }
    }
}

impl DataPlane {
    /// Turns a packet into frames that taps see before they leave.
    pub(in crate::plane) fn send_tapped(&mut self, id: FaceId, transmit: Transmit) {
        let now = self.now;
        self.emit_tapped(id, |codec, outbox| codec.send(now, transmit, outbox));
    }

    /// Lets the codec of a face make frames, and shows them to its taps.
    pub(in crate::plane) fn emit_tapped(&mut self, id: FaceId, emit: impl FnOnce(&mut Codec, &mut Outbox)) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let mut outbox = Outbox::default();
        emit(&mut face.codec, &mut outbox);
        let mut passed = Vec::new();
        for parts in outbox.iter() {
            let frame = &parts.concat();
            passed.extend(pass(face, self.now, Direction::Out, frame, &mut self.tapping.delayed));
        }
        for frame in passed {
            self.send_frame(id, &frame);
        }
    }

    /// Sends a frame as it is.
    fn send_frame(&mut self, id: FaceId, frame: &[u8]) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let Some(mut sink) = face.transport.sink(&mut self.batch.outboxes) else { return };
        sink.bytes().extend_from_slice(frame);
        sink.end_frame(None);
        self.batch.touch(face);
    }

    /// Lets go what taps have held back long enough.
    pub(in crate::plane) fn release_delayed(&mut self) {
        for _ in 0..RELEASED_PER_TURN {
            let Some((id, direction, frame)) = self.tapping.delayed.pop_due(self.now) else { return };
            match direction {
                Direction::Out => self.send_frame(id, &frame),
                Direction::In => {
                    let Some(face) = self.faces.get_mut(&id) else { continue };
                    self.batch.touch(face);
                    self.batch.arrivals.face = id;
                    let mut input =
                        PacketInput { engine: &mut self.engine, arrivals: &mut self.batch.arrivals };
                    face.codec.receive(Frame { now: self.now, from: 0, bytes: &frame }, &mut input);
                    self.hand_over();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_taps_hold_back_is_limited_in_frames_and_bytes_and_what_has_left_makes_room() {
        for (bytes, room) in [(8800, MAX_DELAYED_BYTES / 8800), (1, MAX_DELAYED)] {
            let (mut delayed, mut drops) = (Delayed::default(), DropCounters::default());
            let now = Instant::from_secs(1);
            let mut hold = |delayed: &mut Delayed| {
                delayed.hold(now, (FaceId(300), Direction::In, vec![0; bytes]), &mut drops);
            };
            for _ in 0..room + 10 {
                hold(&mut delayed);
            }
            assert_eq!(delayed.frames.len(), room, "frames of {bytes} bytes");
            assert!(delayed.pop_due(now).is_some());
            hold(&mut delayed);
            assert_eq!(delayed.frames.len(), room);
            while delayed.pop_due(now).is_some() {}
            assert_eq!(delayed.bytes, 0);
            assert_eq!(drops.get(DropReason::TooManyDelayed), 10);
        }
    }
}
