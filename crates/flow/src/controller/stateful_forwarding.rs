//! The rate of stateful forwarding: one more for each Data, half for each Nack (Yi, Afanasyev, Moiseenko,
//! Wang, Zhang, Zhang, "A case for stateful forwarding plane", Computer Communications 36(7), 2013; numbers
//! as in Kato, Osada, Yamamoto, Ohzahata, "Impacts of System Clock Granularity on Performance of NDN
//! Rate-based Congestion Control", 2018).

use packet::time::Instant;

use super::{Allowance, Controller, DataReport, LossReport, NackReport};
use packet::parameters::{ParameterError, Parameters};

/// A rate between two bounds that grows by steps and shrinks by a factor; also of
/// [`nack_suppressing`](super::nack_suppressing).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    per_second: f64,
    min: f64,
    max: f64,
    step: f64,
    beta: f64,
}

impl Rate {
    /// Parameters: `rate` at the start in Interests a second (200), `min` (1) and `max`, the link's (1000),
    /// `step` for each Data (1), `beta`, what a reduction leaves (0.5).
    pub(super) fn from_parameters(parameters: &mut Parameters) -> Result<Self, ParameterError> {
        let min = parameters.number("min", 1.0, (0.001, f64::INFINITY))?;
        let max = parameters.number("max", 1000.0, (min, f64::INFINITY))?;
        Ok(Rate {
            per_second: parameters.number("rate", 200.0, (0.001, f64::INFINITY))?.clamp(min, max),
            min,
            max,
            step: parameters.number("step", 1.0, (0.0, f64::INFINITY))?,
            beta: parameters.factor("beta", 0.5)?,
        })
    }

    pub(super) fn allowance(&self) -> Allowance {
        Allowance::rate(self.per_second)
    }

    pub(super) fn grow(&mut self) {
        self.per_second = (self.per_second + self.step).min(self.max);
    }

    pub(super) fn reduce(&mut self) {
        self.per_second = (self.per_second * self.beta).max(self.min);
    }
}

#[derive(Debug)]
struct StatefulForwarding {
    rate: Rate,
    reduce_at_loss: bool,
}

/// Parameters: those of the rate, and whether losses reduce too (`losses`, yes). The papers know Nacks only;
/// a network that loses packets without a word would otherwise be flooded.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let rate = Rate::from_parameters(parameters)?;
    Ok(Box::new(StatefulForwarding { rate, reduce_at_loss: parameters.yes("losses", true)? }))
}

impl Controller for StatefulForwarding {
    fn allowance(&self) -> Allowance {
        self.rate.allowance()
    }

    fn handle_data(&mut self, _now: Instant, _data: &DataReport) {
        self.rate.grow();
    }

    fn handle_nack(&mut self, _now: Instant, _nack: &NackReport) {
        self.rate.reduce();
    }

    fn handle_loss(&mut self, _now: Instant, _loss: &LossReport) {
        if self.reduce_at_loss {
            self.rate.reduce();
        }
    }
}
