//! One more for a window of Data, and a little less for each that is lost.

use cairn::Instant;
use cairn::flow::ControllerKind;
use cairn::flow::controller::{Allowance, Controller, DataReport, LossReport, NackReport};

pub(crate) const GENTLE: ControllerKind = ControllerKind {
    word: "gentle",
    start: |given, _seed| Ok(Box::new(Gentle { window: 2.0, give: given.factor("give", 0.125)? })),
};

/// One more for a window of Data, and a little less for each that is lost or came through a long queue.
#[derive(Debug)]
struct Gentle {
    window: f64,
    give: f64,
}

impl Gentle {
    fn ease(&mut self) {
        self.window = (self.window * (1.0 - self.give)).max(1.0);
    }
}

impl Controller for Gentle {
    fn allowance(&self) -> Allowance {
        Allowance::window(self.window)
    }

    fn handle_data(&mut self, _now: Instant, data: &DataReport) {
        if data.congestion_marked { self.ease() } else { self.window += 1.0 / self.window }
    }

    fn handle_nack(&mut self, _now: Instant, _nack: &NackReport) {
        self.ease();
    }

    fn handle_loss(&mut self, _now: Instant, _loss: &LossReport) {
        self.ease();
    }
}
