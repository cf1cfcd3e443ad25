//! Best route: the cheapest next hop, and the others when the consumer asks again (NFD's strategy of that
//! name, version 5).
//!
//! A Nack is no reason to try another, as in NFD: when all who were asked have refused, who waits is told,
//! and the Interest is forgotten. What is asked again after that is new and takes the cheapest next hop
//! again, the one that refused. Consumers behind a route that may fail are better served by `asf`, which
//! remembers.

use packet::NackReason;
use packet::time::Instant;

use super::suppression::{Suppression, Verdict};
use super::{Strategy, StrategyContext};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use crate::tables::fib::NextHop;
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct BestRoute {
    suppression: Suppression,
}

pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(BestRoute { suppression: Suppression::from_parameters(parameters)? }))
}

impl Strategy for BestRoute {
    fn sends_new_to_first(&self) -> bool {
        true
    }

    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        match self.suppression.decide(context) {
            Verdict::Aggregate => {}
            Verdict::Suppress => context.drop_arrival(DropReason::RetransmissionSuppressed),
            Verdict::New => match context.first_eligible() {
                Some(face) => context.send(face),
                None => context.nack_all(NackReason::NoRoute, DropReason::NoNextHop),
            },
            Verdict::Forward => match next_to_try(context) {
                Some(hop) => context.send(hop.face),
                None => context.drop_arrival(DropReason::NoNextHop),
            },
        }
    }
}

/// For a retransmission: the cheapest next hop that was not tried yet, or else the one that was tried longest
/// ago.
pub(super) fn next_to_try(context: &StrategyContext<'_>) -> Option<NextHop> {
    // Of equals the first is taken, and next hops come cheapest first.
    context.eligible_next_hops().min_by_key(|hop| tried_at(context, hop.face))
}

/// When the Interest was sent to `face`; before all times if it was not, or so long ago that no answer is
/// awaited.
pub(super) fn tried_at(context: &StrategyContext<'_>, face: FaceId) -> Option<Instant> {
    context.out_record(face).filter(|record| record.expires > context.now()).map(|record| record.sent_at)
}
