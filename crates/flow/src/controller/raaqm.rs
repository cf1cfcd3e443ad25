//! Remote adaptive active queue management: the consumer sees queues on each route by its delay, and eases
//! off by chance before they overflow (Carofiglio, Gallo, Muscariello, Papalini, "Multipath congestion
//! control in content-centric networks", IEEE INFOCOM workshops 2013).

use std::collections::VecDeque;

use packet::random::Random;
use packet::time::{Duration, Instant};

use super::routes::Routes;
use super::window::{ByWindow, Rule, Window};
use super::{Controller, DataReport};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Raaqm {
    routes: Routes<Delays>,
    random: Random,
    samples: usize,
    min_probability: f64,
    max_probability: f64,
    beta: f64,
    loss_beta: f64,
}

/// What Data of a route took.
#[derive(Debug)]
struct Delays {
    recent: VecDeque<Duration>,
    /// Since the route was first seen: what it takes without any queue.
    shortest: Duration,
}

/// Parameters: `samples` that the longest delay of a route is taken from (30), `min-probability` (0.00001)
/// and `max-probability` (0.01) of a reduction for a Data, `beta`, what is then left (0.8), `loss-beta`, what
/// is left after a loss (0.5), and those of every window.
pub(super) fn start(parameters: &mut Parameters, seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let window = Window::from_parameters(parameters)?;
    let rule = Raaqm {
        routes: Routes::new(),
        random: Random::from_seed(seed),
        samples: parameters.number("samples", 30.0, (2.0, 1024.0))? as usize,
        min_probability: parameters.factor("min-probability", 0.00001)?,
        max_probability: parameters.factor("max-probability", 0.01)?,
        beta: parameters.factor("beta", 0.8)?,
        loss_beta: parameters.factor("loss-beta", 0.5)?,
    };
    Ok(Box::new(ByWindow { window, rule }))
}

impl Raaqm {
    /// How likely a reduction is after `sample` on `route`: it grows with the place of the sample between the
    /// shortest and the longest delay of the route.
    fn probability(&mut self, now: Instant, route: u64, sample: Duration) -> f64 {
        let limit = self.samples;
        let first = || Delays { recent: VecDeque::new(), shortest: sample };
        let route = self.routes.handle_data(now, route, first);
        if route.recent.len() >= limit {
            route.recent.pop_front();
        }
        route.recent.push_back(sample);
        route.shortest = route.shortest.min(sample);
        let longest = route.recent.iter().copied().max().unwrap_or(sample);
        let spread = longest.saturating_sub(route.shortest).as_secs_f64();
        // A spread that is small against the delay itself is noise, not a queue.
        if spread * 20.0 < route.shortest.as_secs_f64() {
            return 0.0;
        }
        let place = sample.saturating_sub(route.shortest).as_secs_f64() / spread;
        self.min_probability + (self.max_probability - self.min_probability) * place
    }
}

impl Rule for Raaqm {
    fn is_congested(&mut self, window: &mut Window, now: Instant, data: &DataReport) -> bool {
        let chance = match data.round_trip {
            Some(sample) => self.probability(now, data.route, sample),
            None => 0.0,
        };
        window.mark_begins_event(data) || self.random.chance(chance)
    }

    fn reduce_at_mark(&mut self, window: &mut Window) {
        window.reduce(self.beta);
    }

    fn reduce_at_loss(&mut self, window: &mut Window) {
        window.reduce(self.loss_beta);
    }

    fn grow(&mut self, window: &mut Window, _now: Instant) {
        window.grow(1.0 / window.size);
    }
}
