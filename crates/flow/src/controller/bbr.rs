//! Bandwidth and shortest delay instead of losses: BBR's idea for Interests (Cardwell, Cheng, Gunn, Yeganeh,
//! Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016).
//!
//! The rate at which Data comes, at its best over some round trips, is what the route can carry; the shortest
//! round trip is what it takes without a queue. Interests leave at that rate, and twice the product may be on
//! their way. Losses count for nothing unless there are many.

use std::collections::VecDeque;

use packet::time::{Duration, Instant};

use super::{Allowance, Controller, DataReport, LossEvidence, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

/// 2 / ln 2: the smallest gain that doubles the rate every round trip.
const STARTUP_GAIN: f64 = 2.885;
/// Gains of the steady state, one for each shortest round trip: try for more, drain what that queued, cruise.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Round trips for which a measured bandwidth is believed.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Transmissions whose circumstances are remembered.
const MAX_REMEMBERED: usize = 1 << 18;
const PROBE_DURATION: Duration = Duration::from_millis(200);
const PROBE_WINDOW: f64 = 4.0;

#[derive(Debug)]
struct Bbr {
    mode: Mode,
    /// What was so when each of the latest transmissions left, oldest first; the first one's number is
    /// `first`.
    circumstances: VecDeque<DeliveryState>,
    first: u64,
    delivered: u64,
    delivered_at: Instant,
    round: u64,
    round_ends_at: u64,
    /// Best rates of recent rounds, falling.
    bandwidths: VecDeque<(u64, f64)>,
    shortest: Option<Duration>,
    shortest_at: Instant,
    shortest_lifetime: Duration,
    full: FullPipe,
    initial: f64,
    max: f64,
    window_gain: f64,
}

#[derive(Clone, Copy, Debug)]
struct DeliveryState {
    sent_at: Instant,
    delivered: u64,
    delivered_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Cruise { phase: usize, since: Instant },
    ProbeDelay { until: Instant },
}

/// Bandwidth that did not grow for three rounds is all there is.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

/// Parameters: `initial` window (10), `max` window (65536), `window-gain` over the product of bandwidth and
/// delay (2), `delay-lifetime` in seconds after which the shortest delay is measured again (10).
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let max = parameters.size("max", 65_536.0)?;
    let lifetime = parameters.number("delay-lifetime", 10.0, (0.1, f64::INFINITY))?;
    Ok(Box::new(Bbr {
        mode: Mode::Startup,
        circumstances: VecDeque::new(),
        first: 0,
        delivered: 0,
        delivered_at: Instant::ZERO,
        round: 0,
        round_ends_at: 0,
        bandwidths: VecDeque::new(),
        shortest: None,
        shortest_at: Instant::ZERO,
        shortest_lifetime: Duration::from_secs_f64(lifetime),
        full: FullPipe::default(),
        initial: parameters.size("initial", 10.0)?.min(max),
        max,
        window_gain: parameters.size("window-gain", 2.0)?,
    }))
}

impl Bbr {
    fn bandwidth(&self) -> Option<f64> {
        self.bandwidths.front().map(|(_, rate)| *rate)
    }

    /// Interests that fill the route without a queue.
    fn product(&self) -> Option<f64> {
        Some(self.bandwidth()? * self.shortest?.as_secs_f64())
    }

    fn gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => 1.0 / STARTUP_GAIN,
            Mode::Cruise { phase, .. } => CYCLE[phase],
            Mode::ProbeDelay { .. } => 1.0,
        }
    }

    fn delivery_state(&self, number: u64) -> Option<DeliveryState> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.circumstances.get(place).copied()
    }

    fn measure(&mut self, now: Instant, data: &DataReport) {
        self.delivered += 1;
        self.delivered_at = now;
        if let Some(sample) = data.round_trip {
            let expired = now.saturating_since(self.shortest_at) > self.shortest_lifetime;
            if self.shortest.is_none_or(|shortest| sample <= shortest) {
                (self.shortest, self.shortest_at) = (Some(sample), now);
            } else if expired && self.full.reached && !matches!(self.mode, Mode::ProbeDelay { .. }) {
                (self.shortest, self.shortest_at) = (Some(sample), now);
                self.mode = Mode::ProbeDelay { until: now + PROBE_DURATION + sample };
            }
        }
        let Some(sent) = self.delivery_state(data.number) else { return };
        // The longer of both spans: neither a burst of Interests nor one of Data may look like bandwidth.
        let coming = now.saturating_since(sent.delivered_at);
        let leaving = now.saturating_since(sent.sent_at);
        let span = coming.max(leaving).as_secs_f64();
        if span > 0.0 {
            let rate = (self.delivered - sent.delivered) as f64 / span;
            while self.bandwidths.back().is_some_and(|(_, other)| *other <= rate) {
                self.bandwidths.pop_back();
            }
            self.bandwidths.push_back((self.round, rate));
        }
        while self.bandwidths.len() > 1
            && self.bandwidths.front().is_some_and(|(round, _)| round + BANDWIDTH_ROUNDS < self.round)
        {
            self.bandwidths.pop_front();
        }
    }

    fn end_round(&mut self) {
        self.round += 1;
        let bandwidth = self.bandwidth().unwrap_or(0.0);
        if !self.full.reached {
            if bandwidth >= self.full.bandwidth * 1.25 {
                self.full = FullPipe { bandwidth, rounds: 0, reached: false };
            } else {
                self.full.rounds += 1;
                self.full.reached = self.full.rounds >= 3;
            }
        }
    }

    fn change_mode(&mut self, now: Instant, in_flight: u32) {
        let product = self.product().unwrap_or(f64::INFINITY);
        self.mode = match self.mode {
            Mode::Startup if self.full.reached => Mode::Drain,
            Mode::Drain if f64::from(in_flight) <= product => Mode::Cruise { phase: 2, since: now },
            Mode::Cruise { phase, since }
                if now.saturating_since(since) >= self.shortest.unwrap_or(Duration::ZERO) =>
            {
                Mode::Cruise { phase: (phase + 1) % CYCLE.len(), since: now }
            }
            Mode::ProbeDelay { until } if now >= until => Mode::Cruise { phase: 2, since: now },
            mode => mode,
        };
    }
}

impl Controller for Bbr {
    fn allowance(&self) -> Allowance {
        let Some((bandwidth, product)) = self.bandwidth().zip(self.product()) else {
            return Allowance::window(self.initial);
        };
        let window = match self.mode {
            Mode::ProbeDelay { .. } => PROBE_WINDOW,
            Mode::Startup | Mode::Drain => (STARTUP_GAIN * product).max(self.initial),
            Mode::Cruise { .. } => (self.window_gain * product).max(PROBE_WINDOW),
        };
        let floor = 1.0 / self.shortest.map_or(1.0, |shortest| shortest.as_secs_f64().max(0.001));
        Allowance { window: window.clamp(1.0, self.max), rate: (bandwidth * self.gain()).max(floor) }
    }

    fn handle_sent(&mut self, now: Instant, sent: &SentReport) {
        if sent.in_flight <= 1 {
            // After a pause the time without Data is nobody's fault.
            self.delivered_at = now;
        }
        if self.circumstances.is_empty() {
            self.first = sent.number;
        }
        let delivery_state =
            DeliveryState { sent_at: now, delivered: self.delivered, delivered_at: self.delivered_at };
        self.circumstances.push_back(delivery_state);
        // Whatever is older than twice the flight was answered, or lost.
        let keep = (2 * sent.in_flight as usize + 1024).min(MAX_REMEMBERED);
        while self.circumstances.len() > keep {
            self.circumstances.pop_front();
            self.first += 1;
        }
    }

    fn handle_data(&mut self, now: Instant, data: &DataReport) {
        self.measure(now, data);
        if data.number >= self.round_ends_at {
            self.round_ends_at = self.first + self.circumstances.len() as u64;
            self.end_round();
        }
        self.change_mode(now, data.in_flight);
    }

    fn handle_nack(&mut self, now: Instant, nack: &NackReport) {
        self.change_mode(now, nack.in_flight);
    }

    fn handle_loss(&mut self, now: Instant, loss: &LossReport) {
        if loss.evidence == LossEvidence::Timeout && loss.in_flight == 0 {
            // Nothing comes at all: the route is gone or another one. Start over.
            self.bandwidths.clear();
            self.full = FullPipe::default();
            self.mode = Mode::Startup;
        }
        self.change_mode(now, loss.in_flight);
    }
}
