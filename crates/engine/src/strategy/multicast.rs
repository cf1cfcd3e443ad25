//! Multicast: every next hop (NFD's strategy of that name, version 5).

use super::suppression::Suppression;
use super::{Strategy, StrategyContext};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use crate::tables::fib::NextHop;
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct Multicast {
    suppression: Suppression,
}

pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(Multicast { suppression: Suppression::from_parameters(parameters)? }))
}

impl Strategy for Multicast {
    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let mut sent = false;
        for place in 0..context.next_hops().len() {
            let face = context.next_hops()[place].face;
            if context.may_send(face) {
                sent |= self.suppression.offer(context, face);
            }
        }
        if !sent {
            let nobody = context.eligible_next_hops().next().is_none();
            context.drop_arrival(if nobody {
                DropReason::NoNextHop
            } else {
                DropReason::RetransmissionSuppressed
            });
        }
    }

    /// A Nack changes nothing: the others may still answer.
    fn after_nack(&mut self, _: &mut StrategyContext<'_>, _: FaceId, _: packet::NackReason) {}

    fn wants_new_next_hops(&self) -> bool {
        true
    }

    fn after_new_next_hop(&mut self, context: &mut StrategyContext<'_>, hop: NextHop) {
        // A longer prefix may have next hops of its own.
        let counts = context.next_hops().contains(&hop);
        let waiting_elsewhere = context.in_records().iter().any(|record| record.face != hop.face);
        if counts && waiting_elsewhere && context.may_send(hop.face) {
            self.suppression.offer(context, hop.face);
        }
    }
}
