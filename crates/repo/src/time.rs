//! Time that survives restarts: freshness and arrival are told against the calendar.

use packet::time::Duration;

/// Milliseconds since the start of 1970, as the owner of the store reads them from the system's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime(u64);

impl UnixTime {
    /// The start of 1970.
    pub const ZERO: UnixTime = UnixTime(0);

    /// So many milliseconds after the start of 1970.
    pub const fn from_millis(millis: u64) -> Self {
        UnixTime(millis)
    }

    /// Milliseconds since the start of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// So much later.
    pub fn after(self, duration: Duration) -> Self {
        UnixTime(self.0.saturating_add(duration.as_millis()))
    }
}
