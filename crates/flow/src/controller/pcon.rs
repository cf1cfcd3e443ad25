//! The consumer's part of PCON: routers mark Data when their queues delay it for too long, the consumer eases
//! off at marks and brakes at losses (Schneider, Yi, Zhang, Zhang, "A Practical Congestion Control Scheme for
//! Named Data Networking", ACM ICN 2016). The routers' part is the link service's congestion mark.

use packet::time::Instant;

use super::aimd::Window;
use super::bic::Search;
use super::{Allowance, Controller, DataReport, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Pcon {
    window: Window,
    search: Search,
    mark_beta: f64,
    loss_beta: f64,
}

/// Parameters: `mark-beta`, what is left after a mark (0.8), `loss-beta`, what is left after a loss or Nack
/// (0.5), those of BIC's search, and those of every window. At most one reduction for a round trip.
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    Ok(Box::new(Pcon {
        window: Window::from_parameters(parameters)?,
        search: Search::from_parameters(parameters)?,
        mark_beta: parameters.factor("mark-beta", 0.8)?,
        loss_beta: parameters.factor("loss-beta", 0.5)?,
    }))
}

impl Pcon {
    fn reduce(&mut self, factor: f64) {
        self.search.reduce(&mut self.window, factor);
    }
}

impl Controller for Pcon {
    fn allowance(&self) -> Allowance {
        self.window.allowance()
    }

    fn handle_sent(&mut self, _now: Instant, sent: &SentReport) {
        self.window.handle_sent(sent);
    }

    fn handle_data(&mut self, _now: Instant, data: &DataReport) {
        if self.window.mark_begins_event(data) {
            self.reduce(self.mark_beta);
        } else if self.window.may_grow(data) && !self.window.slow_start(data) {
            self.search.grow(&mut self.window);
        }
    }

    fn handle_nack(&mut self, _now: Instant, nack: &NackReport) {
        if self.window.loss_begins_event(nack.number) {
            self.reduce(self.loss_beta);
        }
    }

    fn handle_loss(&mut self, _now: Instant, loss: &LossReport) {
        if self.window.loss_begins_event(loss.number) {
            self.reduce(self.loss_beta);
        }
    }
}
