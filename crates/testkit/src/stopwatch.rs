//! Time that a program computed, and not the time of day.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Measures the time that the calling thread was on a processor, so that others on the machine matter little;
/// the time of day, where the system does not tell.
#[derive(Debug)]
pub struct Stopwatch {
    started: Instant,
    on_processor: Option<Duration>,
}

impl Stopwatch {
    /// Measures from now on.
    #[must_use]
    pub fn start() -> Self {
        Stopwatch { started: Instant::now(), on_processor: on_processor() }
    }

    /// Nanoseconds since the start, for the thread that started it.
    #[must_use]
    pub fn nanos(&self) -> f64 {
        match (self.on_processor, on_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before).as_nanos() as f64,
            _ => self.started.elapsed().as_nanos() as f64,
        }
    }
}

fn on_processor() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}
