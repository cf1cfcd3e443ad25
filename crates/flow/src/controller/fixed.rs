//! A window that never changes: the pipeline `fixed` of the chunk tools, and the base line of every
//! comparison.

use packet::time::Instant;

use super::{Allowance, Controller, DataReport, LossReport, NackReport};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Fixed {
    allowance: Allowance,
}

/// Parameters: `window` in Interests (16), or `rate` in Interests a second.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let rate = parameters.number("rate", f64::INFINITY, (f64::MIN_POSITIVE, f64::INFINITY))?;
    let window = if rate.is_finite() { f64::INFINITY } else { 16.0 };
    Ok(Box::new(Fixed { allowance: Allowance { window: parameters.size("window", window)?, rate } }))
}

impl Controller for Fixed {
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn handle_data(&mut self, _now: Instant, _data: &DataReport) {}
    fn handle_nack(&mut self, _now: Instant, _nack: &NackReport) {}
    fn handle_loss(&mut self, _now: Instant, _loss: &LossReport) {}
}
