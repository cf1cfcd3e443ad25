//! The consumer's part of PCON: routers mark Data when their queues delay it for too long, the consumer eases
//! off at marks and brakes at losses (Schneider, Yi, Zhang, Zhang, "A Practical Congestion Control Scheme for
//! Named Data Networking", ACM ICN 2016). The routers' part is the link service's congestion mark.

use packet::time::Instant;

use super::Controller;
use super::bic::Search;
use super::window::{ByWindow, Rule, Window};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Pcon {
    search: Search,
    mark_beta: f64,
    loss_beta: f64,
}

/// Parameters: `mark-beta`, what is left after a mark (0.8), `loss-beta`, what is left after a loss or Nack
/// (0.5), those of BIC's search, and those of every window. At most one reduction for a round trip.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    let window = Window::from_parameters(parameters)?;
    let rule = Pcon {
        search: Search::from_parameters(parameters)?,
        mark_beta: parameters.factor("mark-beta", 0.8)?,
        loss_beta: parameters.factor("loss-beta", 0.5)?,
    };
    Ok(Box::new(ByWindow { window, rule }))
}

impl Rule for Pcon {
    fn reduce_at_mark(&mut self, window: &mut Window) {
        self.search.reduce(window, self.mark_beta);
    }

    fn reduce_at_loss(&mut self, window: &mut Window) {
        self.search.reduce(window, self.loss_beta);
    }

    fn grow(&mut self, window: &mut Window, _now: Instant) {
        self.search.grow(window);
    }
}
