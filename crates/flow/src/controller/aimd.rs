//! Additive increase, multiplicative decrease: ICP (Carofiglio, Gallo, Muscariello, "ICP: Design and
//! Evaluation of an Interest Control Protocol for Content-Centric Networking", IEEE INFOCOM workshops 2012),
//! with the slow start and the single decrease for a round trip that the chunk tools of NDN added.

use packet::time::Instant;

use super::Controller;
use super::window::{ByWindow, Rule, Window};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Aimd {
    step: f64,
    beta: f64,
    reset: bool,
}

/// Parameters: `step` for a window of Data (1), `beta`, what is left after a loss (0.5), `reset` to the
/// initial window at a loss (no), and those of every window.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let window = Window::from_parameters(parameters)?;
    let step = parameters.number("step", 1.0, (0.0, f64::INFINITY))?;
    let beta = parameters.factor("beta", 0.5)?;
    let rule = Aimd { step, beta, reset: parameters.yes("reset", false)? };
    Ok(Box::new(ByWindow { window, rule }))
}

impl Rule for Aimd {
    fn reduce_at_mark(&mut self, window: &mut Window) {
        window.reduce(self.beta);
    }

    fn reduce_at_loss(&mut self, window: &mut Window) {
        window.reduce(self.beta);
        if self.reset {
            window.reset_to_initial();
        }
    }

    fn grow(&mut self, window: &mut Window, _now: Instant) {
        window.grow(self.step / window.size.floor());
    }
}
