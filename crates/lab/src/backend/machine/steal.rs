//! What the machine below does to a run: processor time that it takes away, and a clock that is set.

use std::fs;
use std::time::{Instant, SystemTime};

/// The machine's clock and processor time at one moment.
pub(crate) struct Machine {
    clock: (SystemTime, Instant),
    total: u64,
    steal: u64,
}

impl Machine {
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let fields: Vec<u64> =
            line.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
        let steal = fields.get(7).copied().unwrap_or(0);
        // The last two, for guests, are counted in the first two already.
        let total = fields.iter().take(8).sum();
        Machine { clock: (SystemTime::now(), Instant::now()), total, steal }
    }

    /// The part of all processor time since then that was taken away.
    pub(crate) fn steal_since(&self) -> f64 {
        let now = Machine::now();
        let total = now.total.saturating_sub(self.total).max(1);
        now.steal.saturating_sub(self.steal) as f64 / total as f64
    }

    /// How far the clock of day ran away from the steady one.
    pub(crate) fn clock_shift_ns(&self) -> u64 {
        let (day, steady) = self.clock;
        let by_day = SystemTime::now().duration_since(day).unwrap_or_default();
        u64::try_from(by_day.abs_diff(steady.elapsed()).as_nanos()).unwrap_or(u64::MAX)
    }
}
