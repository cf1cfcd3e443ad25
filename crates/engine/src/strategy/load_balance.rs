//! Load balance: the next hop with the fewest Interests outstanding, in proportion to its cost if costs differ.
//!
//! Of next hops that are equally loaded the cheaper goes first, so an idle network behaves as with best route.

use std::collections::BTreeMap;

use packet::{Data, NackReason};

use super::best_route::next_to_try;
use super::parameters::{ParameterError, Parameters};
use super::suppression::{Suppression, Verdict};
use super::{Situation, Strategy, nacks};
use crate::drop_reason::DropReason;
use crate::face::FaceId;

/// Faces whose load is remembered; faces beyond count as idle.
const MAX_FACES: usize = 1024;

#[derive(Debug)]
struct LoadBalance {
    suppression: Suppression,
    /// A moving average of Interests sent and not answered.
    loads: BTreeMap<FaceId, f64>,
}

pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(LoadBalance {
        suppression: Suppression::from_parameters(parameters)?,
        loads: BTreeMap::new(),
    }))
}

/// An Interest that is never answered must not count for ever, so the load fades with every Interest sent.
const FADING: f64 = 0.999;

impl LoadBalance {
    fn load(&self, face: FaceId) -> f64 {
        self.loads.get(&face).copied().unwrap_or(0.0)
    }

    fn sent(&mut self, face: FaceId) {
        if self.loads.len() < MAX_FACES || self.loads.contains_key(&face) {
            let load = self.loads.entry(face).or_insert(0.0);
            *load = *load * FADING + 1.0;
        }
    }

    fn answered(&mut self, face: FaceId) {
        if let Some(load) = self.loads.get_mut(&face) {
            *load = (*load - 1.0).max(0.0);
        }
    }
}

impl Strategy for LoadBalance {
    fn after_interest(&mut self, situation: &mut Situation<'_>) {
        let chosen = match self.suppression.decide(situation) {
            Verdict::Suppress => return situation.drop_arrival(DropReason::RetransmissionSuppressed),
            Verdict::Forward => next_to_try(situation).map(|hop| hop.face),
            Verdict::New => situation
                .eligible_next_hops()
                .min_by(|a, b| {
                    self.load(a.face)
                        .total_cmp(&self.load(b.face))
                        .then((a.cost, a.face).cmp(&(b.cost, b.face)))
                })
                .map(|hop| hop.face),
        };
        match chosen {
            Some(face) => {
                self.sent(face);
                situation.send(face);
            }
            None => situation.nack_all(NackReason::NoRoute, DropReason::NoNextHop),
        }
    }

    fn after_data(&mut self, _: &mut Situation<'_>, from: FaceId, _: &Data) {
        self.answered(from);
    }

    fn after_nack(&mut self, situation: &mut Situation<'_>, from: FaceId, _: NackReason) {
        self.answered(from);
        nacks::pass_on_when_all_nacked(situation);
    }
}
