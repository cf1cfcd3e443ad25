//! Random: any next hop, each as likely as the others (NFD's strategy of that name, version 1).

use packet::NackReason;

use super::parameters::{ParameterError, Parameters};
use super::{Situation, Strategy, nacks};
use crate::drop_reason::DropReason;

#[derive(Debug)]
struct RandomHop;

pub(super) fn start(_: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(RandomHop))
}

impl Strategy for RandomHop {
    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, situation: &mut Situation<'_>) {
        let count = situation.eligible_next_hops().count() as u64;
        let drawn = situation.random().below(count) as usize;
        let chosen = situation.eligible_next_hops().nth(drawn).map(|hop| hop.face);
        match chosen {
            Some(face) => situation.send(face),
            None => nacks::refuse(situation, NackReason::NoRoute, DropReason::NoNextHop),
        }
    }
}
