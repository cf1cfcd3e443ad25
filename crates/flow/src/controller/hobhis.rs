//! The consumer's part of hop-by-hop Interest shaping: send at the rate that the routers on the way allow
//! (Rozhnova, Fdida, "An extended Hop-by-Hop Interest shaping mechanism for Content-Centric Networking", IEEE
//! GLOBECOM 2014).
//!
//! Each router shapes Interests so that the Data they bring back fits, and lowers the rate that passing Data
//! carries to its own. Where nobody reports a rate the consumer keeps the one it starts with and halves it at
//! each congestion event.

use packet::time::Instant;

use super::recovery::Recovery;
use super::{Allowance, Controller, DataReport, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

/// A rate that others set, within bounds; also of [`mircc`](super::mircc).
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    pub(super) per_second: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    recovery: Recovery,
}

impl Reported {
    /// Parameters: `rate` at the start in Interests a second (200), `min` (1), `max` (none).
    pub(super) fn from_parameters(parameters: &mut Parameters) -> Result<Self, ParameterError> {
        let min = parameters.number("min", 1.0, (0.001, f64::INFINITY))?;
        let max = parameters.number("max", f64::INFINITY, (min, f64::INFINITY))?;
        let per_second = parameters.number("rate", 200.0, (0.001, f64::INFINITY))?.clamp(min, max);
        Ok(Reported { per_second, min, max, recovery: Recovery::default() })
    }

    pub(super) fn handle_sent(&mut self, sent: &SentReport) {
        self.recovery.handle_sent(sent.number);
    }

    pub(super) fn set(&mut self, per_second: f64) {
        self.per_second = per_second.clamp(self.min, self.max);
    }

    /// Bad news: the reports are too old or missing.
    pub(super) fn handle_trouble(&mut self, number: u64) -> bool {
        let begins = self.recovery.begins_event(number);
        if begins {
            self.set(self.per_second / 2.0);
        }
        begins
    }

    /// Whether what came back for `number` left after the last reduction.
    pub(super) fn is_current(&self, number: u64) -> bool {
        self.recovery.is_past(number)
    }
}

#[derive(Debug)]
struct Hobhis {
    rate: Reported,
}

/// Parameters: `rate` at the start in Interests a second (200), `min` (1), `max` (none).
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    Ok(Box::new(Hobhis { rate: Reported::from_parameters(parameters)? }))
}

impl Controller for Hobhis {
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate.per_second)
    }

    fn handle_sent(&mut self, _now: Instant, sent: &SentReport) {
        self.rate.handle_sent(sent);
    }

    fn handle_data(&mut self, _now: Instant, data: &DataReport) {
        let Some(rate) = data.explicit_rate.filter(|rate| rate.is_finite()) else { return };
        // Reports of before a reduction may lower the rate, not raise it.
        if rate < self.rate.per_second || self.rate.is_current(data.number) {
            self.rate.set(rate);
        }
    }

    fn handle_nack(&mut self, _now: Instant, nack: &NackReport) {
        self.rate.handle_trouble(nack.number);
    }

    fn handle_loss(&mut self, _now: Instant, loss: &LossReport) {
        self.rate.handle_trouble(loss.number);
    }
}
