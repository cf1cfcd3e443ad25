//! The system's clocks, as the state machines see them.

use packet::UnixTime;
use packet::time::Instant;

/// What time it is: two clocks, read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Never goes back; what timers are set by.
    pub monotonic: Instant,
    /// Milliseconds since 1970; what timestamps and versions are made of. May jump.
    pub unix_millis: u64,
}

impl From<Now> for flow::verify::Now {
    fn from(now: Now) -> Self {
        flow::verify::Now { instant: now.monotonic, unix: UnixTime::from_millis(now.unix_millis) }
    }
}

/// Counts from when the node started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: std::time::Instant,
    started_unix_millis: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { origin: std::time::Instant::now(), started_unix_millis: unix_millis() }
    }

    /// Nanoseconds since the start, and one second: zero is before everything.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        let nanos = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Instant::from_nanos(nanos.saturating_add(Self::START.as_nanos()))
    }

    /// Both clocks.
    pub(crate) fn both(&self) -> Now {
        Now { monotonic: self.now(), unix_millis: unix_millis() }
    }

    pub(crate) fn started_unix_millis(&self) -> u64 {
        self.started_unix_millis
    }

    /// What [`now`](Self::now) said at first.
    pub(crate) const START: Instant = Instant::from_secs(1);
}

fn unix_millis() -> u64 {
    repo::service::unix_now().as_millis()
}
