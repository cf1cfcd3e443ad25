//! The router's part of MIRCC: one rate for all flows over a link (Mahdian, Arianfar, Gibson, Oran, "MIRCC:
//! Multipath-aware ICN Rate-based Congestion Control", ACM ICN 2016), which follows RCP (Dukkipati, McKeown,
//! "Why Flow-Completion Time is the Right Metric for Congestion Control", 2006) and needs no list of flows.
//!
//! If every flow asks as fast as it was told to, the demand y divided by the rate R that they were told is
//! the number of flows N, and R = (u C - q / d) / N: the part u of what the link carries, C, less what
//! empties its queue q within the time d. What flows ask now they were told a round trip ago, and a router
//! does not know how long that is. So both y and R are averaged over a time that is longer than a round trip,
//! which makes the quotient right as soon as the rate stands still, and keeps it from swinging before.
//!
//! This follows the published description of the idea. The constants are ours: the part u, the averaging
//! time, and d, for which the averaging time is taken.

use packet::time::{Duration, Instant};

use super::SLOWEST;
use super::load::Load;

/// u: the part of the link that is given out.
const UTILISATION: f64 = 0.95;
/// The averaging time, at least.
const MIN_SPAN: Duration = Duration::from_millis(200);
/// The same in response times, of which a round trip has some, as the router may be anywhere on the way.
const SPAN_IN_RESPONSES: f64 = 4.0;
/// The rate is computed anew so often in an averaging time.
const STEPS: f64 = 16.0;

#[derive(Debug)]
pub(super) struct Mircc {
    /// Interests since the last step.
    arrived: u64,
    last_step: Instant,
    /// y, averaged, in Interests a second.
    demand: f64,
    /// R, averaged.
    advertised: f64,
    /// R.
    rate: f64,
}

impl Mircc {
    pub(super) fn new(now: Instant, load: &Load) -> Self {
        let rate = UTILISATION * load.capacity();
        Mircc { arrived: 0, last_step: now, demand: 0.0, advertised: rate, rate }
    }

    pub(super) fn handle_interest(&mut self, now: Instant, load: &Load) {
        self.step(now, load);
        self.arrived += 1;
    }

    pub(super) fn reported_rate(&mut self, now: Instant, load: &Load) -> f64 {
        self.step(now, load);
        self.rate
    }

    /// As fast as the link carries Data, less what empties its queue.
    pub(super) fn shaping_rate(&self, now: Instant, load: &Load) -> f64 {
        let capacity = load.capacity();
        (capacity - load.queued(now) / span(load)).max(capacity * SLOWEST)
    }

    fn step(&mut self, now: Instant, load: &Load) {
        let span = span(load);
        let elapsed = now.saturating_since(self.last_step).as_secs_f64();
        if elapsed * STEPS < span {
            return;
        }
        let weight = (elapsed / span).min(1.0);
        self.demand += weight * (self.arrived as f64 / elapsed - self.demand);
        self.advertised += weight * (self.rate - self.advertised);
        (self.arrived, self.last_step) = (0, now);
        let capacity = load.capacity();
        let flows = (self.demand / self.advertised).max(1.0);
        let share = (UTILISATION * capacity - load.queued(now) / span) / flows;
        self.rate = share.clamp(capacity * SLOWEST / flows, capacity);
    }
}

/// Over how many seconds is averaged.
fn span(load: &Load) -> f64 {
    load.response_seconds().map_or(0.0, |response| SPAN_IN_RESPONSES * response).max(MIN_SPAN.as_secs_f64())
}
