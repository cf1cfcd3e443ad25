//! What controllers of a window have in common: when the window shrinks and when it grows. How far is the
//! [`Rule`] of each.

use std::fmt;

use packet::time::Instant;

use super::recovery::Recovery;
use super::slow_start::SlowStart;
use super::{Allowance, Controller, DataReport, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

/// How far a window shrinks and grows.
pub(super) trait Rule: fmt::Debug + Send {
    /// Whether Data asks for a reduction; called once for each Data, before anything else.
    fn is_congested(&mut self, window: &mut Window, now: Instant, data: &DataReport) -> bool {
        let _ = now;
        window.mark_begins_event(data)
    }

    /// Congestion without loss: [`is_congested`](Rule::is_congested) has said so.
    fn reduce_at_mark(&mut self, window: &mut Window);

    /// A loss or a Nack that begins a congestion event.
    fn reduce_at_loss(&mut self, window: &mut Window) {
        self.reduce_at_mark(window);
    }

    /// Data came that is no sign of congestion, outside of slow start.
    fn grow(&mut self, window: &mut Window, now: Instant);
}

/// A controller of a window, by a rule.
#[derive(Debug)]
pub(super) struct ByWindow<R> {
    pub(super) window: Window,
    pub(super) rule: R,
}

impl<R: Rule> ByWindow<R> {
    fn handle_trouble(&mut self, number: u64) {
        if self.window.loss_begins_event(number) {
            self.rule.reduce_at_loss(&mut self.window);
        }
    }
}

impl<R: Rule> Controller for ByWindow<R> {
    fn allowance(&self) -> Allowance {
        Allowance::window(self.window.size)
    }

    fn handle_sent(&mut self, _now: Instant, sent: &SentReport) {
        self.window.handle_sent(sent);
    }

    fn handle_data(&mut self, now: Instant, data: &DataReport) {
        let ByWindow { window, rule } = self;
        if rule.is_congested(window, now, data) {
            rule.reduce_at_mark(window);
        } else if window.may_grow(data) && !window.slow_start(data) {
            rule.grow(window, now);
        }
    }

    fn handle_nack(&mut self, _now: Instant, nack: &NackReport) {
        self.handle_trouble(nack.number);
    }

    fn handle_loss(&mut self, _now: Instant, loss: &LossReport) {
        self.handle_trouble(loss.number);
    }
}

/// A window, the threshold where slow start ends, and one reduction for an event.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) size: f64,
    threshold: f64,
    max: f64,
    recovery: Recovery,
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

    fn handle_sent(&mut self, sent: &SentReport) {
        self.used = sent.in_flight;
        self.recovery.handle_sent(sent.number);
        self.slow_start.handle_sent(sent);
    }

    /// Whether this mark asks for a reduction.
    pub(super) fn mark_begins_event(&mut self, data: &DataReport) -> bool {
        data.congestion_marked && !self.ignore_marks && self.recovery.begins_event(data.number)
    }

    /// Whether this loss asks for a reduction.
    fn loss_begins_event(&mut self, number: u64) -> bool {
        self.recovery.begins_event(number) || self.every_loss
    }

    /// Whether growth makes sense: Data of before the last reduction says nothing about the window of now,
    /// and a window that is not even half used need not grow.
    fn may_grow(&self, data: &DataReport) -> bool {
        self.recovery.is_past(data.number) && f64::from(self.used) >= self.size / 2.0 - 1.0
    }

    /// Grows by one in slow start and says that it did.
    fn slow_start(&mut self, data: &DataReport) -> bool {
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
