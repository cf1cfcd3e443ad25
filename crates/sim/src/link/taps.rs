//! Taps: the interface for whatever watches or changes the frames of a face, such as a capture, an impairment
//! or a fuzzer. The daemon shows frames to the same taps in the same way.

use std::collections::BTreeMap;
use std::fmt;

use link::{Direction, FrameTap, TapVerdict, show_to_taps};
use packet::time::Instant;

use crate::arena::{EndId, LinkId};

/// The taps of all faces that have any.
#[derive(Default)]
pub(crate) struct Taps(BTreeMap<(LinkId, EndId), Vec<Box<dyn FrameTap + Send>>>);

impl fmt::Debug for Taps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(face, taps)| (face, taps.len()))).finish()
    }
}

impl Taps {
    pub(crate) fn add(&mut self, face: (LinkId, EndId), tap: Box<dyn FrameTap + Send>) {
        self.0.entry(face).or_default().push(tap);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn show(
        &mut self,
        face: (LinkId, EndId),
        now: Instant,
        direction: Direction,
        frame: &mut Vec<u8>,
    ) -> TapVerdict {
        self.0.get_mut(&face).map_or(TapVerdict::Pass, |taps| show_to_taps(taps, now, direction, frame))
    }
}
