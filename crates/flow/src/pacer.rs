//! Turns a rate into send times under a clock that may be coarse.

use packet::time::{Duration, Instant};

/// How Interests leave between two ticks of a coarse clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// Only at ticks: what fell due since the last tick leaves in one burst.
    #[default]
    Ticks,
    /// Also whenever Data or a Nack arrives, because its interrupt wakes the machine anyway (Kato, Osada,
    /// Yamamoto, Ohzahata, "Impacts of System Clock Granularity on Performance of NDN Rate-based
    /// Congestion Control", 2018, section IV).
    Arrivals,
    /// As [`Smoothing::Arrivals`], but at most `per_arrival` Interests at each arrival and each tick. What
    /// fell due and did not fit waits for the next.
    ArrivalsCapped {
        /// Most Interests that leave at once.
        per_arrival: u32,
    },
}

/// When a change of the rate takes effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateChange {
    /// At once: the Interest that is due next is moved.
    #[default]
    Immediate,
    /// After the Interest that is due next, whose time stands when the one before it falls due. After a fall
    /// to one Interest in a second the next one is a second away however fast the rate grows back.
    /// ndnSIM's consumer of constant rate, whose rate Kato et al. change from outside, works like this.
    AfterNext,
}

/// What a [`Pacer`] works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacerConfig {
    /// Time between two ticks of the clock; zero for a clock that can be set to any time.
    pub tick: Duration,
    /// When the first tick is after the origin of time; below `tick`.
    pub tick_offset: Duration,
    /// What happens between ticks.
    pub smoothing: Smoothing,
    /// When a change of the rate takes effect.
    pub rate_change: RateChange,
    /// Interests that may be due and not yet gone. At the limit no more fall due until some have left;
    /// counted in [`Pacer::skipped`].
    pub max_due: u32,
}

impl Default for PacerConfig {
    fn default() -> Self {
        PacerConfig {
            tick: Duration::ZERO,
            tick_offset: Duration::ZERO,
            smoothing: Smoothing::Ticks,
            rate_change: RateChange::Immediate,
            max_due: 1 << 20,
        }
    }
}

/// Says when Interests may leave, one by one.
///
/// Interests fall due at the rate; what is due leaves when the machine next looks: at a tick of its clock or,
/// with smoothing, at an arrival. With a tick of zero both are the same moment.
///
/// Call [`Pacer::set_rate`] when the rate changes and [`Pacer::handle_arrival`] when Data or a Nack came,
/// then send while [`Pacer::poll_send`] says so. Wake up at [`Pacer::next_deadline`] if there is something to
/// send; tell it by [`Pacer::rest`] if there is not, so that a pause does not turn into a burst.
///
/// ```
/// use cairn_flow::{Pacer, PacerConfig};
/// use packet::time::{Duration, Instant};
/// let config = PacerConfig { tick: Duration::from_millis(10), ..PacerConfig::default() };
/// let mut pacer = Pacer::new(config, Instant::ZERO);
/// pacer.set_rate(Instant::ZERO, 500.0);
/// let burst = |pacer: &mut Pacer, now| std::iter::from_fn(|| pacer.poll_send(now).then_some(())).count();
/// assert_eq!(burst(&mut pacer, Instant::from_millis(9)), 1, "the one due at the origin, a tick");
/// assert_eq!(pacer.next_deadline(), Some(Instant::from_millis(10)));
/// assert_eq!(burst(&mut pacer, Instant::from_millis(10)), 5);
/// ```
#[derive(Clone, Debug)]
pub struct Pacer {
    config: PacerConfig,
    /// Between two Interests; `None` before a rate is set.
    interval: Option<FixedPointNanos>,
    last_due: Option<FixedPointNanos>,
    next_due: FixedPointNanos,
    /// Due, and not yet released.
    waiting: u32,
    /// Released and not yet gone: may leave now.
    released: u32,
    /// The latest tick at which what was due was released.
    last_tick: Option<Instant>,
    skipped: u64,
}

/// A time, or a span, in units of 2^-32 ns. At a million Interests a second a nanosecond is a thousandth of
/// what lies between two.
type FixedPointNanos = u128;

const NANOSECOND: FixedPointNanos = 1 << 32;

fn fixed_point(at: Instant) -> FixedPointNanos {
    FixedPointNanos::from(at.as_nanos()) * NANOSECOND
}

/// The first whole nanosecond that is not earlier.
fn whole(at: FixedPointNanos) -> Instant {
    Instant::from_nanos(u64::try_from(at.div_ceil(NANOSECOND)).unwrap_or(u64::MAX))
}

impl Pacer {
    /// A pacer without a rate: nothing falls due. The first Interest will be due as soon as there is a rate,
    /// and not before `now`.
    pub fn new(config: PacerConfig, now: Instant) -> Self {
        Pacer {
            config,
            interval: None,
            last_due: None,
            next_due: fixed_point(now),
            waiting: 0,
            released: 0,
            last_tick: None,
            skipped: 0,
        }
    }

    /// Interests that are due and have not left, released or not.
    pub fn due(&self) -> u32 {
        self.waiting + self.released
    }

    /// Times at which an Interest would have fallen due while [`PacerConfig::max_due`] were.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Sets how many Interests fall due in a second. An infinite rate lets all pass; one of zero or less
    /// none.
    pub fn set_rate(&mut self, now: Instant, per_second: f64) {
        self.accrue(now);
        let seconds = 1.0 / per_second.max(1e-9);
        let interval = match self.config.rate_change {
            RateChange::Immediate => (seconds * 1e9 * NANOSECOND as f64) as FixedPointNanos,
            // The times of ndnSIM are whole nanoseconds.
            RateChange::AfterNext => {
                FixedPointNanos::from(Duration::from_secs_f64(seconds).as_nanos()) * NANOSECOND
            }
        }
        .max(NANOSECOND);
        let changed = self.interval != Some(interval);
        let first = self.interval.is_none();
        self.interval = Some(interval);
        if changed
            && !first
            && self.config.rate_change == RateChange::Immediate
            && let Some(last) = self.last_due
        {
            self.next_due = (last + interval).max(fixed_point(now));
        }
    }

    /// Data or a Nack came, or anything else that wakes the machine.
    pub fn handle_arrival(&mut self, now: Instant) {
        self.tick(now);
        match self.config.smoothing {
            Smoothing::Ticks => {}
            Smoothing::Arrivals => self.release(u32::MAX),
            Smoothing::ArrivalsCapped { per_arrival } => self.release(per_arrival),
        }
    }

    /// There is nothing to send at present: what was due is forgotten.
    pub fn rest(&mut self, now: Instant) {
        self.accrue(now);
        (self.waiting, self.released) = (0, 0);
    }

    /// Whether one Interest may leave now. If so it counts as gone.
    pub fn poll_send(&mut self, now: Instant) -> bool {
        self.tick(now);
        let may = self.released > 0;
        self.released -= u32::from(may);
        may
    }

    /// When an Interest may leave next, if the owner has any to send; a time that is past if one may leave
    /// now.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.interval?;
        if self.released > 0 {
            return Some(Instant::ZERO);
        }
        if self.waiting > 0 {
            // Not released at the last tick, so at the next.
            return Some(self.tick_after(self.last_tick.unwrap_or(Instant::ZERO)));
        }
        Some(self.tick_at_or_after(whole(self.next_due)))
    }

    /// Lets Interests fall due up to `now`.
    fn accrue(&mut self, now: Instant) {
        let Some(interval) = self.interval else { return };
        let Some(elapsed) = fixed_point(now).checked_sub(self.next_due) else { return };
        // Mostly there is one, and to divide so many digits takes time.
        let count = if elapsed < interval { 1 } else { elapsed / interval + 1 };
        let room = FixedPointNanos::from(self.config.max_due.saturating_sub(self.due()));
        self.waiting += count.min(room) as u32;
        self.skipped += count.saturating_sub(room) as u64;
        let last = self.next_due + interval * (count - 1);
        self.last_due = Some(last);
        self.next_due = last + interval;
    }

    /// Releases what was due at the latest tick, if that tick is new.
    fn tick(&mut self, now: Instant) {
        if self.config.tick == Duration::ZERO {
            self.accrue(now);
            self.release(u32::MAX);
            return;
        }
        let latest = self.tick_at_or_before(now);
        if let Some(latest) = latest.filter(|latest| self.last_tick.is_none_or(|last| *latest > last)) {
            // An owner that wakes up late gets what it would have got in time, not more.
            self.accrue(latest);
            self.last_tick = Some(latest);
            match self.config.smoothing {
                Smoothing::ArrivalsCapped { per_arrival } => self.release(per_arrival),
                Smoothing::Ticks | Smoothing::Arrivals => self.release(u32::MAX),
            }
        }
        self.accrue(now);
    }

    fn release(&mut self, most: u32) {
        let count = self.waiting.min(most);
        self.waiting -= count;
        self.released += count;
    }

    fn tick_at_or_before(&self, at: Instant) -> Option<Instant> {
        let offset = self.config.tick_offset.as_nanos();
        let since = at.as_nanos().checked_sub(offset)?;
        let tick = self.config.tick.as_nanos().max(1);
        Some(Instant::from_nanos(offset + since / tick * tick))
    }

    fn tick_after(&self, at: Instant) -> Instant {
        match self.tick_at_or_before(at) {
            Some(before) => before + self.config.tick.max(Duration::from_nanos(1)),
            None => Instant::ZERO + self.config.tick_offset,
        }
    }

    fn tick_at_or_after(&self, at: Instant) -> Instant {
        match self.tick_at_or_before(at) {
            Some(before) if before == at || self.config.tick == Duration::ZERO => at,
            _ => self.tick_after(at),
        }
    }
}

#[cfg(test)]
mod tests;
