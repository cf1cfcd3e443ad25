//! On how many cores a network runs, and whether that has been worth it.

use crate::arena::{Arena, PartId};

/// Events that are left to one core after dividing was not worth it for the first time; twice as many after
/// the next time, and so on.
const FIRST_PAUSE: u64 = 1 << 16;
const MAX_PAUSE: u64 = 1 << 22;
/// Handing over takes as long as some dozens of events.
const WORTH_IT: u64 = 50;

/// How a network uses cores; its parts are networks, too.
pub(crate) struct Cores<Part> {
    pub(crate) count: usize,
    /// Events in each window, on average, that have to happen beside others: with fewer, one core is as fast.
    pub(crate) worth_it: u64,
    /// Empty networks with room for all that a part may have.
    pub(crate) parts: Arena<PartId, Part>,
    /// Events for which no partition is tried, and how many those were the last time.
    pub(crate) pausing: u64,
    pub(crate) last_pause: u64,
    /// Events that happened on a core beside others.
    pub(crate) events: u64,
}

impl<Part> Default for Cores<Part> {
    fn default() -> Self {
        let (pausing, last_pause) = (0, FIRST_PAUSE / 2);
        Cores { count: 1, worth_it: WORTH_IT, parts: Arena::default(), pausing, last_pause, events: 0 }
    }
}

impl<Part> Cores<Part> {
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.count > 1
    }

    pub(crate) fn pause_unless(&mut self, is_worth_it: bool) {
        if is_worth_it {
            self.last_pause = FIRST_PAUSE / 2;
        } else {
            self.last_pause = (self.last_pause * 2).min(MAX_PAUSE);
            self.pausing = self.last_pause;
        }
    }
}
