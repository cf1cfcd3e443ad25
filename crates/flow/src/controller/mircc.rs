//! The consumer's part of MIRCC: routers report a fair rate for each route, the consumer smooths the reports
//! of each and sends at their sum (Mahdian, Arianfar, Gibson, Oran, "MIRCC: Multipath-aware ICN Rate-based
//! Congestion Control", ACM ICN 2016).

use packet::time::{Duration, Instant};

use super::hobhis::Reported;
use super::routes::Routes;
use super::{Allowance, Controller, DataReport, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Mircc {
    rate: Reported,
    /// What the routers of each report, in packets a second.
    routes: Routes<f64>,
    gain: f64,
    /// A route without Data for as long is gone.
    route_lifetime: Duration,
}

/// Parameters: `gain`, the weight of a new report (0.5), `route-lifetime` in seconds (2), `rate` at the start
/// in Interests a second (200), `min` (1), `max` (none).
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let lifetime = parameters.number("route-lifetime", 2.0, (0.001, f64::INFINITY))?;
    Ok(Box::new(Mircc {
        rate: Reported::from_parameters(parameters)?,
        routes: Routes::new(),
        gain: parameters.factor("gain", 0.5)?,
        route_lifetime: Duration::from_secs_f64(lifetime),
    }))
}

impl Mircc {
    fn report(&mut self, now: Instant, id: u64, reported: f64) {
        self.routes.forget_silent(now, self.route_lifetime);
        let per_second = self.routes.handle_data(now, id, || reported);
        *per_second += self.gain * (reported - *per_second);
        self.rate.set(self.routes.iter().sum());
    }
}

impl Controller for Mircc {
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate.per_second)
    }

    fn handle_sent(&mut self, _now: Instant, sent: &SentReport) {
        self.rate.handle_sent(sent);
    }

    fn handle_data(&mut self, now: Instant, data: &DataReport) {
        let Some(rate) = data.explicit_rate.filter(|rate| rate.is_finite()) else { return };
        if self.rate.is_current(data.number) {
            self.report(now, data.route, rate);
        }
    }

    fn handle_nack(&mut self, _now: Instant, nack: &NackReport) {
        if self.rate.handle_trouble(nack.number) {
            self.routes.clear();
        }
    }

    fn handle_loss(&mut self, _now: Instant, loss: &LossReport) {
        if self.rate.handle_trouble(loss.number) {
            self.routes.clear();
        }
    }
}
