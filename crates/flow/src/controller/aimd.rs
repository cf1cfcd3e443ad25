//! Additive increase, multiplicative decrease: ICP (Carofiglio, Gallo, Muscariello, "ICP: Design and
//! Evaluation of an Interest Control Protocol for Content-Centric Networking", IEEE INFOCOM workshops 2012),
//! with the slow start and the single decrease for a round trip that the chunk tools of NDN added.

use packet::time::Instant;

use super::recovery::Recovery;
use super::slow_start::SlowStart;
use super::{Allowance, Controller, DataReport, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

/// What window controllers have in common: a window, the threshold where slow start ends, and one reduction
/// for an event.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) size: f64,
    pub(super) threshold: f64,
    pub(super) max: f64,
    pub(super) recovery: Recovery,
    slow_start: SlowStart,
    /// Interests on their way after the last one left: how much of the window is used.
    used: u32,
    initial: f64,
    watch_delay: bool,
    ignore_marks: bool,
    every_loss: bool,
}

impl Window {
    /// Parameters: `initial` window (2), `threshold` of slow start (none), `max` window (65536), whether slow
    /// start also ends when round trips grow (`watch-delay`, yes), whether marks count for nothing
    /// (`ignore-marks`, no), whether each loss reduces (`every-loss`, no: once for a congestion event).
    pub(super) fn from_parameters(parameters: &mut Parameters) -> Result<Self, ParameterError> {
        let max = parameters.size("max", 65_536.0)?;
        let initial = parameters.size("initial", 2.0)?.min(max);
        Ok(Window {
            size: initial,
            threshold: parameters.size("threshold", f64::INFINITY)?,
            max,
            recovery: Recovery::default(),
            slow_start: SlowStart::default(),
            used: 0,
            initial,
            watch_delay: parameters.yes("watch-delay", true)?,
            ignore_marks: parameters.yes("ignore-marks", false)?,
            every_loss: parameters.yes("every-loss", false)?,
        })
    }

    pub(super) fn allowance(&self) -> Allowance {
        Allowance::window(self.size)
    }

    pub(super) fn handle_sent(&mut self, sent: &SentReport) {
        self.used = sent.in_flight;
        self.recovery.handle_sent(sent.number);
        self.slow_start.handle_sent(sent);
    }

    /// Whether this mark asks for a reduction.
    pub(super) fn mark_begins_event(&mut self, data: &DataReport) -> bool {
        data.congestion_marked && !self.ignore_marks && self.recovery.begins_event(data.number)
    }

    /// Whether this loss asks for a reduction.
    pub(super) fn loss_begins_event(&mut self, number: u64) -> bool {
        self.recovery.begins_event(number) || self.every_loss
    }

    /// Whether growth makes sense: Data of before the last reduction says nothing about the window of now,
    /// and a window that is not even half used need not grow.
    pub(super) fn may_grow(&self, data: &DataReport) -> bool {
        self.recovery.is_past(data.number) && f64::from(self.used) >= self.size / 2.0 - 1.0
    }

    /// Grows by one in slow start and says that it did.
    pub(super) fn slow_start(&mut self, data: &DataReport) -> bool {
        if self.size >= self.threshold {
            return false;
        }
        if self.slow_start.handle_data(data) && self.watch_delay {
            self.threshold = self.size;
            return false;
        }
        self.grow(1.0);
        true
    }

    pub(super) fn grow(&mut self, by: f64) {
        self.size = (self.size + by).min(self.max);
    }

    /// Reduces to `factor` of the window; slow start ends there.
    pub(super) fn reduce(&mut self, factor: f64) {
        self.size = (self.size * factor).max(1.0);
        self.threshold = self.size.max(2.0);
    }

    pub(super) fn reset_to_initial(&mut self) {
        self.size = self.initial.min(self.size);
    }
}

#[derive(Debug)]
struct Aimd {
    window: Window,
    step: f64,
    beta: f64,
    reset: bool,
}

/// Parameters: `step` for a window of Data (1), `beta`, what is left after a loss (0.5), `reset` to the
/// initial window at a loss (no), and those of every window.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    Ok(Box::new(Aimd {
        window: Window::from_parameters(parameters)?,
        step: parameters.number("step", 1.0, (0.0, f64::INFINITY))?,
        beta: parameters.factor("beta", 0.5)?,
        reset: parameters.yes("reset", false)?,
    }))
}

impl Aimd {
    fn reduce(&mut self) {
        self.window.reduce(self.beta);
        if self.reset {
            self.window.reset_to_initial();
        }
    }
}

impl Controller for Aimd {
    fn allowance(&self) -> Allowance {
        self.window.allowance()
    }

    fn handle_sent(&mut self, _now: Instant, sent: &SentReport) {
        self.window.handle_sent(sent);
    }

    fn handle_data(&mut self, _now: Instant, data: &DataReport) {
        if self.window.mark_begins_event(data) {
            self.window.reduce(self.beta);
        } else if self.window.may_grow(data) && !self.window.slow_start(data) {
            self.window.grow(self.step / self.window.size.floor());
        }
    }

    fn handle_nack(&mut self, _now: Instant, nack: &NackReport) {
        if self.window.loss_begins_event(nack.number) {
            self.reduce();
        }
    }

    fn handle_loss(&mut self, _now: Instant, loss: &LossReport) {
        if self.window.loss_begins_event(loss.number) {
            self.reduce();
        }
    }
}
