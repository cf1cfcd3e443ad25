//! The one interface for whatever wants to watch or change the frames of a link.

use packet::time::{Duration, Instant};

/// Which way a frame goes, as seen by the face it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the peer.
    In,
    /// To the peer.
    Out,
}

/// What shall happen to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapVerdict {
    /// It goes on at once.
    Pass,
    /// It is lost.
    Drop,
    /// It is dropped because the queue in front of the link's rate is full.
    QueueFull,
    /// It goes on after a while.
    Delay(Duration),
    /// It goes on twice, each time after a while of its own.
    Duplicate(Duration, Duration),
}

/// Something on the way of every frame: capture, trace, impairment, fuzzing. The daemon and the simulator ask
/// it in the same way.
pub trait FrameTap {
    /// Sees a frame, may change its bytes, and decides its verdict.
    fn on_frame(&mut self, now: Instant, direction: Direction, frame: &mut Vec<u8>) -> TapVerdict;
}

/// Shows a frame to the taps of a face, one after the other. The first verdict that is not to pass is that of
/// all of them, and taps behind do not see the frame: put those that only watch first.
pub fn show_to_taps<'a>(
    taps: impl IntoIterator<Item = &'a mut Box<dyn FrameTap + Send>>,
    now: Instant,
    direction: Direction,
    frame: &mut Vec<u8>,
) -> TapVerdict {
    let mut verdicts = taps.into_iter().map(|tap| tap.on_frame(now, direction, frame));
    verdicts.find(|verdict| *verdict != TapVerdict::Pass).unwrap_or(TapVerdict::Pass)
}
