//! Load balance: the next hop with the fewest Interests outstanding.
//!
//! Costs only break ties: of next hops that are equally loaded the cheapest goes first, so an idle network
//! behaves as with best route, and a busy one sends by all next hops in proportion to how fast they answer.

use std::collections::BTreeMap;

use packet::time::{Duration, Instant};
use packet::{Data, NackReason};

use super::best_route::next_to_try;
use super::suppression::{Suppression, Verdict};
use super::{Strategy, StrategyContext, nacks};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use packet::parameters::{ParameterError, Parameters};

/// Faces whose load is remembered. Beyond that the one with the smallest number, which is the oldest, is
/// forgotten and counts as idle.
const MAX_FACES: usize = 1024;

/// An Interest that is never answered must not count for ever, so loads are halved this often.
const HALF_LIFE: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct LoadBalance {
    suppression: Suppression,
    loads: BTreeMap<FaceId, Load>,
    forgotten: u64,
}

/// Interests sent by one face and not answered.
#[derive(Clone, Copy, Debug)]
struct Load {
    outstanding: f64,
    /// When it was last halved.
    halved_at: Instant,
}

pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(LoadBalance {
        suppression: Suppression::from_parameters(parameters)?,
        loads: BTreeMap::new(),
        forgotten: 0,
    }))
}

impl Load {
    fn faded(mut self, now: Instant) -> Load {
        let halvings = now.saturating_since(self.halved_at).as_nanos() / HALF_LIFE.as_nanos();
        self.halved_at += HALF_LIFE * halvings;
        self.outstanding *= 0.5_f64.powi(halvings.min(1000) as i32);
        self
    }
}

impl LoadBalance {
    fn outstanding(&self, now: Instant, face: FaceId) -> f64 {
        self.loads.get(&face).map_or(0.0, |load| load.faded(now).outstanding)
    }

    fn count(&mut self, now: Instant, face: FaceId, change: f64) {
        if self.loads.len() >= MAX_FACES && !self.loads.contains_key(&face) {
            self.loads.pop_first();
            self.forgotten += 1;
        }
        let load = self.loads.entry(face).or_insert(Load { outstanding: 0.0, halved_at: now });
        *load = load.faded(now);
        load.outstanding = (load.outstanding + change).max(0.0);
    }

    fn least_loaded(&self, context: &StrategyContext<'_>) -> Option<FaceId> {
        let load = |face| self.outstanding(context.now(), face);
        context.eligible_next_hops().min_by(|a, b| load(a.face).total_cmp(&load(b.face))).map(|hop| hop.face)
    }
}

impl Strategy for LoadBalance {
    fn forgotten_early(&self) -> u64 {
        self.forgotten
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let chosen = match self.suppression.decide(context) {
            Verdict::Aggregate => return,
            Verdict::Suppress => return context.drop_arrival(DropReason::RetransmissionSuppressed),
            Verdict::Forward => next_to_try(context).map(|hop| hop.face),
            Verdict::New => self.least_loaded(context),
        };
        match chosen {
            Some(face) => {
                self.count(context.now(), face, 1.0);
                context.send(face);
            }
            None => nacks::refuse(context, NackReason::NoRoute, DropReason::NoNextHop),
        }
    }

    fn after_data(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: &Data) {
        if context.out_record(from).is_some() {
            self.count(context.now(), from, -1.0);
        }
    }

    fn after_nack(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: NackReason) {
        self.count(context.now(), from, -1.0);
        nacks::pass_on_when_all_nacked(context);
    }
}
