//! CUBIC: the window grows by the cube of the time since the last reduction, so it is long near the window at
//! which the last loss came and quick far from it (Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP
//! variant", ACM SIGOPS Operating Systems Review 42(5), 2008; RFC 9438).

use packet::time::{Duration, Instant};

use super::window::{ByWindow, Rule, Window};
use super::{Controller, DataReport};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Cubic {
    beta: f64,
    scale: f64,
    fast_convergence: bool,
    /// The window at the last reduction.
    last_max: f64,
    epoch: Option<Epoch>,
    round_trip: Duration,
}

/// A time of growth between two reductions.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Instant,
    /// Seconds until the window is `origin` again.
    time_to_origin: f64,
    origin: f64,
    /// The window that AIMD with the same reduction would have.
    reno: f64,
}

/// Parameters: `beta`, what is left after a loss (0.7), `scale` of growth (0.4), `fast-convergence` (yes),
/// and those of every window.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let window = Window::from_parameters(parameters)?;
    let rule = Cubic {
        beta: parameters.factor("beta", 0.7)?,
        scale: parameters.number("scale", 0.4, (f64::MIN_POSITIVE, f64::INFINITY))?,
        fast_convergence: parameters.yes("fast-convergence", true)?,
        last_max: 0.0,
        epoch: None,
        round_trip: Duration::ZERO,
    };
    Ok(Box::new(ByWindow { window, rule }))
}

impl Rule for Cubic {
    fn is_congested(&mut self, window: &mut Window, _now: Instant, data: &DataReport) -> bool {
        self.round_trip = data.round_trip.unwrap_or(self.round_trip);
        window.mark_begins_event(data)
    }

    fn reduce_at_mark(&mut self, window: &mut Window) {
        self.epoch = None;
        let size = window.size;
        // Who reduces below the last maximum shares with somebody new: leave him more room.
        let gives_way = self.fast_convergence && size < self.last_max;
        self.last_max = if gives_way { size * (1.0 + self.beta) / 2.0 } else { size };
        window.reduce(self.beta);
    }

    fn grow(&mut self, window: &mut Window, now: Instant) {
        let size = window.size;
        let (scale, beta, last_max) = (self.scale, self.beta, self.last_max);
        // `libm`, whose last bit is the same on every machine, so that a run repeats.
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            began: now,
            time_to_origin: libm::cbrt((last_max - size).max(0.0) / scale),
            origin: last_max.max(size),
            reno: size,
        });
        // One round trip ahead, because that is when what leaves now is answered.
        let seconds = (now.saturating_since(epoch.began) + self.round_trip).as_secs_f64();
        let distance = seconds - epoch.time_to_origin;
        let target = epoch.origin + scale * distance * distance * distance;
        epoch.reno += 3.0 * (1.0 - beta) / (1.0 + beta) / size;
        let target = target.max(epoch.reno).min(size * 1.5);
        if target > size {
            window.grow((target - size) / size);
        }
    }
}
