//! What time it is, for what needs both clocks: one that never goes back, and that of the calendar.

use crate::time::Instant;
use crate::unix_time::UnixTime;

/// Both clocks, read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Never goes back: for deadlines.
    pub instant: Instant,
    /// By the calendar, for validity periods, timestamps and versions. People set this clock, and then it
    /// jumps.
    pub unix: UnixTime,
}
