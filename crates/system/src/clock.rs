//! The system's clocks, as the state machines see them. Only owners of state machines read them.

use std::time::{SystemTime, UNIX_EPOCH};

use packet::time::Instant;
use packet::{Now, UnixTime};

/// Counts from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: std::time::Instant,
    started: UnixTime,
}

impl Clock {
    /// What [`Clock::now`] says at first: a second, for zero is before everything.
    pub const START: Instant = Instant::from_secs(1);

    /// Starts to count.
    pub fn start() -> Self {
        Clock { origin: std::time::Instant::now(), started: unix_now() }
    }

    /// The time since the start, for deadlines and round trips.
    #[inline]
    pub fn now(&self) -> Instant {
        let nanos = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Instant::from_nanos(nanos.saturating_add(Self::START.as_nanos()))
    }

    /// The time of the calendar, for signatures and certificates. People may set it, and then it jumps.
    pub fn unix(&self) -> UnixTime {
        unix_now()
    }

    /// Both, read together.
    pub fn both(&self) -> Now {
        Now { instant: self.now(), unix: unix_now() }
    }

    /// When it was started, by the calendar of then.
    pub fn started(&self) -> UnixTime {
        self.started
    }

    /// A number that two runs of a program do not share: for nonces, and for nothing secret.
    pub fn seed() -> u64 {
        use std::hash::{BuildHasher as _, Hasher as _};
        // The standard library seeds its hash tables from the system's randomness.
        let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.finish()
    }
}

/// What the calendar of the system says; before 1970 its beginning.
pub fn unix_now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixTime::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
