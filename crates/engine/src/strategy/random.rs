//! Random: any next hop, each as likely as the others (NFD's strategy of that name, version 1).

use packet::NackReason;

use super::{Strategy, StrategyContext, nacks};
use crate::drop_reason::DropReason;
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct RandomHop;

pub(super) fn start(_: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(RandomHop))
}

impl Strategy for RandomHop {
    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let count = context.eligible_next_hops().count() as u64;
        let drawn = context.random().below(count) as usize;
        let chosen = context.eligible_next_hops().nth(drawn).map(|hop| hop.face);
        match chosen {
            Some(face) => context.send(face),
            None => nacks::refuse(context, NackReason::NoRoute, DropReason::NoNextHop),
        }
    }
}
