//! BIC: binary search for the window at which the last loss came, then a search beyond it (Xu, Harfoush,
//! Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", IEEE INFOCOM 2004).

use packet::time::Instant;

use super::Controller;
use super::window::{ByWindow, Rule, Window};
use packet::parameters::{ParameterError, Parameters};

/// Growth by binary search, also used by [`pcon`](super::pcon).
#[derive(Clone, Debug)]
pub(super) struct Search {
    max_step: f64,
    min_step: f64,
    /// Below it BIC is plain AIMD.
    low_window: f64,
    /// Where the search aims at; infinite before the first loss.
    target: f64,
    /// Largest step of the search beyond the target, grows while it goes well.
    probe: f64,
}

impl Search {
    /// Parameters: `max-step` (16) and `min-step` (0.01) for a window of Data, `low-window` below which it is
    /// AIMD (14).
    pub(super) fn from_parameters(parameters: &mut Parameters) -> Result<Self, ParameterError> {
        Ok(Search {
            max_step: parameters.number("max-step", 16.0, (0.01, f64::INFINITY))?,
            min_step: parameters.number("min-step", 0.01, (0.0, f64::INFINITY))?,
            low_window: parameters.size("low-window", 14.0)?,
            target: f64::INFINITY,
            probe: 1.0,
        })
    }

    /// Takes note of a loss at `size`, of which `factor` will be left.
    fn handle_reduction(&mut self, size: f64, factor: f64) {
        // Who loses before he is back shares with somebody new: aim lower.
        self.target = if size < self.target { size * (1.0 + factor) / 2.0 } else { size };
        self.probe = 1.0;
    }

    /// Reduces a window that has lost something to this part of it.
    pub(super) fn reduce(&mut self, window: &mut Window, factor: f64) {
        self.handle_reduction(window.size, factor);
        window.reduce(factor);
    }

    /// Lets a window grow by what one Data allows.
    pub(super) fn grow(&mut self, window: &mut Window) {
        let step = self.step(window.size);
        window.grow(step / window.size);
    }

    /// How much a window of `size` grows for a whole window of Data.
    fn step(&mut self, size: f64) -> f64 {
        if size < self.low_window {
            return 1.0;
        }
        if !self.target.is_finite() {
            return self.max_step;
        }
        if size < self.target {
            return ((self.target - size) / 2.0).clamp(self.min_step, self.max_step);
        }
        // Beyond the target: slowly at first, then faster, the way back of the search.
        self.probe = (self.probe * (1.0 + 1.0 / size)).min(self.max_step);
        self.probe
    }
}

#[derive(Debug)]
struct Bic {
    search: Search,
    beta: f64,
}

/// Parameters: `beta`, what is left after a loss (0.8), those of the search, and those of every window.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let window = Window::from_parameters(parameters)?;
    let search = Search::from_parameters(parameters)?;
    let rule = Bic { search, beta: parameters.factor("beta", 0.8)? };
    Ok(Box::new(ByWindow { window, rule }))
}

impl Rule for Bic {
    fn reduce_at_mark(&mut self, window: &mut Window) {
        // Small windows are those of AIMD, with its reduction.
        let factor = if window.size < self.search.low_window { 0.5 } else { self.beta };
        self.search.reduce(window, factor);
    }

    fn grow(&mut self, window: &mut Window, _now: Instant) {
        self.search.grow(window);
    }
}
