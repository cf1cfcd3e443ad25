//! Whether frames leave again so often that parity frames are worth their bytes.
//!
//! Where some of many receivers miss a frame each, the sender is asked for nearly all of those again, and
//! sees the same frame leave again a short time later: a repair. A parity frame of *k* frames costs one for
//! each *k*, so parity pays where repairs are more than that.

use packet::time::{Duration, Instant};

/// Frames that are remembered; a newer one takes the place of an older one.
const PLACES: usize = 4096;
/// A frame that leaves again so soon is a repair.
const SPAN: Duration = Duration::from_millis(500);
/// Frames that are decided on together.
pub(crate) const WINDOW: u32 = 512;
/// Parity begins when one frame in so many is a repair.
const BEGINS_AT: u32 = 12;
/// It ends when of so many windows in a row each had fewer repairs than one in so many frames.
const QUIET_WINDOWS: u32 = 16;
const QUIET_PART: u32 = 256;
/// It is useless, and rests for so many windows, if repairs did not fall below three quarters of what they
/// were after so many windows: peers know nothing of it, or losses come together.
const USELESS_WINDOWS: u32 = 3;
const BACK_OFF_WINDOWS: u32 = 16;

/// Bytes at the beginning and at the end of a frame that tell it from others: those have the name, and the
/// signature.
const HEAD_BYTES: usize = 192;
const TAIL_WORDS: usize = 4;

/// What a window says about how many frames a block should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Nothing: the window goes on, or parity is off.
    None,
    /// Parity begins now.
    Begin,
    /// So many frames were repairs all the same.
    Repairs(u32),
    /// Parity ends now.
    End,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct RepairWatch {
    /// By a sketch of each frame: the rest of the sketch, and when it left in milliseconds. Empty until the
    /// first.
    places: Box<[(u32, u32)]>,
    frames: u32,
    repairs: u32,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Off {
        /// Windows until it may begin.
        rest: u32,
    },
    On {
        /// Repairs of a window before it began.
        before: u32,
        windows: u32,
        /// Those with next to no repairs, in a row.
        quiet: u32,
    },
}

impl Default for RepairWatch {
    fn default() -> Self {
        RepairWatch { places: Box::default(), frames: 0, repairs: 0, state: State::Off { rest: 0 } }
    }
}

impl RepairWatch {
    pub(crate) fn is_on(&self) -> bool {
        matches!(self.state, State::On { .. })
    }

    /// Frames that a parity frame must stand for to cost no more than all the repairs it can spare.
    pub(crate) fn least_block(&self) -> usize {
        match self.state {
            State::On { before, .. } => WINDOW.div_ceil(before.max(1)) as usize,
            State::Off { .. } => usize::MAX,
        }
    }

    /// A frame leaves.
    #[inline]
    pub(crate) fn note(&mut self, now: Instant, frame: &[u8]) -> Decision {
        if self.places.is_empty() {
            self.places = vec![(0, 0); PLACES].into();
        }
        let sketch = sketch(frame);
        // No frame has the sketch of a place where none was yet.
        let (rest, millis) = ((sketch >> 32) as u32 | 1, (now.as_nanos() / 1_000_000) as u32);
        if let Some(place) = self.places.get_mut(sketch as usize % PLACES) {
            let is_repair = place.0 == rest && millis.wrapping_sub(place.1) < SPAN.as_millis() as u32;
            self.repairs += u32::from(is_repair);
            *place = (rest, millis);
        }
        self.frames += 1;
        if self.frames < WINDOW { Decision::None } else { self.decide() }
    }

    #[cold]
    fn decide(&mut self) -> Decision {
        let repairs = std::mem::take(&mut self.repairs);
        self.frames = 0;
        let (state, decision) = match self.state {
            State::Off { rest: 0 } if repairs * BEGINS_AT >= WINDOW => {
                (State::On { before: repairs, windows: 0, quiet: 0 }, Decision::Begin)
            }
            State::Off { rest } => (State::Off { rest: rest.saturating_sub(1) }, Decision::None),
            State::On { before, windows, quiet } => {
                let windows = windows.saturating_add(1);
                let quiet = if repairs * QUIET_PART < WINDOW { quiet + 1 } else { 0 };
                if quiet >= QUIET_WINDOWS {
                    (State::Off { rest: 0 }, Decision::End)
                } else if windows >= USELESS_WINDOWS && repairs * 4 >= before * 3 {
                    (State::Off { rest: BACK_OFF_WINDOWS }, Decision::End)
                } else {
                    (State::On { before, windows, quiet }, Decision::Repairs(repairs))
                }
            }
        };
        self.state = state;
        decision
    }
}

/// Tells frames apart well enough to count them; whoever wants to can make two that look alike, and gains
/// parity frames for a while.
#[inline]
fn sketch(frame: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = frame.len() as u64;
    let mut add = |word: &[u8; 8]| {
        sum = (sum ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(29);
    };
    let (head, _) = frame.get(..HEAD_BYTES).unwrap_or(frame).as_chunks::<8>();
    head.iter().for_each(&mut add);
    let (_, tail) = frame.as_rchunks::<8>();
    tail.iter().rev().take(TAIL_WORDS).for_each(&mut add);
    (sum ^ sum >> 32).wrapping_mul(FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames one after the other, a millisecond apart: new ones, and some that left a while ago.
    struct Sender {
        watch: RepairWatch,
        now: Instant,
        next: u32,
    }

    impl Sender {
        fn new() -> Self {
            Sender { watch: RepairWatch::default(), now: Instant::ZERO, next: 0 }
        }

        fn frame(&mut self, number: u32) -> Decision {
            self.now += Duration::from_millis(1);
            let mut frame = vec![6; 300];
            frame[100..104].copy_from_slice(&number.to_le_bytes());
            self.watch.note(self.now, &frame)
        }

        /// A window in which one frame in so many is a repair; none for zero.
        fn window(&mut self, one_in: u32) -> Decision {
            let mut decision = Decision::None;
            for place in 0..WINDOW {
                let again = one_in > 0 && place % one_in == one_in - 1;
                // Each is repaired once.
                let number = if again { self.next - 19 } else { self.next };
                self.next += 1;
                decision = self.frame(number);
            }
            decision
        }
    }

    #[test]
    fn parity_begins_when_one_frame_in_twelve_leaves_again_and_not_for_fewer() {
        let mut sender = Sender::new();
        sender.next = 100;
        assert_eq!(sender.window(0), Decision::None);
        assert_eq!(sender.window(13), Decision::None);
        assert!(!sender.watch.is_on());
        assert_eq!(sender.window(11), Decision::Begin);
        assert!(sender.watch.is_on());
    }

    #[test]
    fn what_left_long_ago_is_no_repair() {
        let mut sender = Sender::new();
        for number in (0..2 * WINDOW).map(|number| number % 501) {
            assert_eq!(sender.frame(number), Decision::None);
        }
        let mut sender = Sender::new();
        let decisions: Vec<_> = (0..WINDOW).map(|number| sender.frame(number % 100)).collect();
        assert_eq!(decisions.last(), Some(&Decision::Begin));
    }

    #[test]
    fn parity_goes_on_through_short_quiet_times_and_ends_after_a_long_one() {
        let mut sender = Sender::new();
        sender.next = 100;
        sender.window(4);
        for _ in 0..3 {
            for _ in 1..QUIET_WINDOWS {
                assert_eq!(sender.window(0), Decision::Repairs(0));
            }
            assert!(matches!(sender.window(40), Decision::Repairs(10..)));
        }
        for _ in 1..QUIET_WINDOWS {
            assert_eq!(sender.window(0), Decision::Repairs(0));
        }
        assert_eq!(sender.window(0), Decision::End);
        assert_eq!(sender.window(4), Decision::Begin, "it may begin again at once");
    }

    #[test]
    fn parity_that_spares_no_repairs_ends_and_rests() {
        let mut sender = Sender::new();
        sender.next = 100;
        sender.window(4);
        for _ in 1..USELESS_WINDOWS {
            assert!(matches!(sender.window(4), Decision::Repairs(_)));
        }
        assert_eq!(sender.window(4), Decision::End);
        for _ in 0..BACK_OFF_WINDOWS {
            assert_eq!(sender.window(4), Decision::None);
        }
        assert_eq!(sender.window(4), Decision::Begin);
    }
}
