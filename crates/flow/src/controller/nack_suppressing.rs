//! Stateful forwarding without its excess: one reduction for a congestion event, however many Nacks it sends
//! back (Kato, Bandai, "Congestion Control Avoiding Excessive Rate Reduction in Named Data Network", IEEE
//! CCNC 2017).
//!
//! Interests that were on their way when the rate was reduced left at the old rate; what becomes of them says
//! nothing about the new one, neither their Nacks nor their Data.

use packet::time::Instant;

use super::recovery::Recovery;
use super::stateful_forwarding::Rate;
use super::{Allowance, Controller, DataReport, LossReport, NackReport, SentReport};
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct NackSuppressing {
    rate: Rate,
    recovery: Recovery,
    grow_in_recovery: bool,
}

/// Parameters: those of stateful forwarding's rate, and whether Data of before a reduction makes the rate
/// grow (`grow-in-recovery`, no).
pub(super) fn start(parameters: &mut Parameters, _seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
    Ok(Box::new(NackSuppressing {
        rate: Rate::from_parameters(parameters)?,
        recovery: Recovery::default(),
        grow_in_recovery: parameters.yes("grow-in-recovery", false)?,
    }))
}

impl Controller for NackSuppressing {
    fn allowance(&self) -> Allowance {
        self.rate.allowance()
    }

    fn handle_sent(&mut self, _now: Instant, sent: &SentReport) {
        self.recovery.handle_sent(sent.number);
    }

    fn handle_data(&mut self, _now: Instant, data: &DataReport) {
        if self.grow_in_recovery || self.recovery.is_past(data.number) {
            self.rate.grow();
        }
    }

    fn handle_nack(&mut self, _now: Instant, nack: &NackReport) {
        if self.recovery.begins_event(nack.number) {
            self.rate.reduce();
        }
    }

    fn handle_loss(&mut self, _now: Instant, loss: &LossReport) {
        if self.recovery.begins_event(loss.number) {
            self.rate.reduce();
        }
    }
}
