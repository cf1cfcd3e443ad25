//! Multicast: every next hop (NFD's strategy of that name, version 5).

use super::parameters::{ParameterError, Parameters};
use super::suppression::Suppression;
use super::{Situation, Strategy};
use crate::drop_reason::DropReason;
use crate::face::FaceId;
use crate::tables::fib::NextHop;

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

    fn after_interest(&mut self, situation: &mut Situation<'_>) {
        let mut sent = false;
        for place in 0..situation.next_hops().len() {
            let face = situation.next_hops()[place].face;
            if situation.may_send(face) {
                sent |= self.suppression.offer(situation, face);
            }
        }
        if !sent {
            let nobody = situation.eligible_next_hops().next().is_none();
            situation.drop_arrival(if nobody {
                DropReason::NoNextHop
            } else {
                DropReason::RetransmissionSuppressed
            });
        }
    }

    /// A Nack changes nothing: the others may still answer.
    fn after_nack(&mut self, _: &mut Situation<'_>, _: FaceId, _: packet::NackReason) {}

    fn wants_new_next_hops(&self) -> bool {
        true
    }

    fn after_new_next_hop(&mut self, situation: &mut Situation<'_>, hop: NextHop) {
        // A longer prefix may have next hops of its own.
        let counts = situation.next_hops().contains(&hop);
        let waiting_elsewhere = situation.in_records().iter().any(|record| record.face != hop.face);
        if counts && waiting_elsewhere && situation.may_send(hop.face) {
            self.suppression.offer(situation, hop.face);
        }
    }
}
