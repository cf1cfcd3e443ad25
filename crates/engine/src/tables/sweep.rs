//! Going through all entries of a table, so many at a time.

use std::ops::Range;

use packet::time::{Duration, Instant};

/// Entries looked at by one step.
const STEP: u32 = 4096;
/// Time between two steps.
pub(crate) const PAUSE: Duration = Duration::from_millis(1);

/// Where the search through the pending Interests stands.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// The next entry to be looked at.
    place: u32,
    due: Instant,
    /// Faces have gone since it began.
    again: bool,
}

impl Default for Sweep {
    fn default() -> Self {
        Sweep { place: 0, due: Instant::NEVER, again: false }
    }
}

impl Sweep {
    /// A face is gone.
    pub(crate) fn begin(&mut self) {
        if self.due == Instant::NEVER {
            self.due = Instant::ZERO;
        } else {
            self.again = true;
        }
    }

    /// When the next step is to be made; [`Instant::NEVER`] if there is none to be made.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.due
    }

    /// The entries to look at now, of `count` that there are; none if the next step is not due.
    pub(crate) fn step(&mut self, now: Instant, count: u32) -> Range<u32> {
        if self.due > now {
            return 0..0;
        }
        let entries = self.place..count.min(self.place.saturating_add(STEP));
        if entries.end < count {
            (self.place, self.due) = (entries.end, now + PAUSE);
        } else {
            let again = std::mem::take(&mut self.again);
            (self.place, self.due) = (0, if again { now + PAUSE } else { Instant::NEVER });
        }
        entries
    }
}
