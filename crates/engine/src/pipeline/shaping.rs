//! Interests of faces whose consumers are told a rate: they go on one after the other, as fast as their Data
//! will fit.

use packet::time::Instant;
use packet::{Interest, LinkHeader, NackReason};

use crate::arrival::Arrival;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::limit::{Admission, RateControl, RateControlConfig, ShapedInterest};
use crate::tables::pending::PendingId;
use crate::trigger::Trigger;

impl Engine {
    /// Lets a pending Interest go on, or wait, or turns it away, as the face that it came by allows. True if
    /// it goes on now.
    #[inline(always)]
    pub(super) fn may_go_on(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) -> bool {
        let is_controlled = self.faces.get(arrival.face).is_some_and(|face| face.rate_control.is_some());
        !is_controlled || self.is_its_turn(arrival, interest, id, trigger)
    }

    fn is_its_turn(
        &mut self,
        Arrival { now, face, hashes, header }: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) -> bool {
        let Some(control) = self.faces.rate_control_mut(face) else { return true };
        // Whoever asks again for what waits has nothing to win.
        if trigger.is_of_pending() && control.held().any(|held| held.interest.name() == interest.name()) {
            return false;
        }
        let count = interest.component_count();
        let flow = hashes.prefix(count.saturating_sub(1)).unwrap_or_else(|| hashes.whole());
        match control.handle_interest(now, flow) {
            Admission::Forward => true,
            Admission::Wait => {
                let before = control.next_turn();
                let non_discovery = header.non_discovery;
                control.hold(ShapedInterest { interest: interest.clone(), trigger, non_discovery });
                self.maintenance.turns.set(face, before, control.next_turn());
                false
            }
            Admission::Full => {
                self.drop_packet(face, DropReason::ShaperFull);
                // What was asked before is under way, and its answer will do: a Nack would have it thrown
                // away.
                let entry = self.tables.pending.get(id);
                if trigger.is_of_pending() && entry.is_some_and(|entry| entry.is_under_way(now)) {
                    return false;
                }
                self.nack_one(id, face, NackReason::Congestion);
                if self.tables.pending.get(id).is_some_and(|entry| entry.in_records.is_empty()) {
                    self.finish(now, id);
                }
                false
            }
        }
    }

    /// Forwards the Interests whose turn has come.
    pub(crate) fn take_turns(&mut self, now: Instant) {
        while let Some(face) = self.maintenance.turns.pop_due(now) {
            let Some(control) = self.faces.rate_control_mut(face) else { continue };
            if let Some(held) = control.pop_due(now) {
                let gone = self.go_on(now, face, &held);
                if let Some(control) = self.faces.rate_control_mut(face)
                    && gone
                {
                    control.spend_turn(now);
                }
            }
            let next = self.faces.rate_control_mut(face).and_then(|control| control.next_turn());
            self.maintenance.turns.set(face, None, next);
        }
    }

    /// Changes how a face's rate is computed. What waits goes on at once, for nobody else would wake it.
    pub(crate) fn set_rate_control(&mut self, now: Instant, face: FaceId, config: Option<RateControlConfig>) {
        let Some(slot) = self.faces.get_mut(face) else { return };
        if slot.rate_control.as_ref().map(|control| *control.config()) == config {
            return;
        }
        let old = slot.rate_control.take();
        slot.rate_control = config.map(|config| Box::new(RateControl::new(config, now)));
        let Some(mut old) = old else { return };
        self.maintenance.turns.set(face, old.next_turn(), None);
        for held in old.release_all() {
            self.go_on(now, face, &held);
        }
    }

    /// Forwards an Interest that waited; false if nobody wants it any more, or it has been answered.
    fn go_on(&mut self, now: Instant, face: FaceId, held: &ShapedInterest) -> bool {
        let interest = &held.interest;
        let hashes = self.hasher.hash(interest.dialect(), interest.name().components());
        let waits = |engine: &Engine, id| {
            engine.tables.pending.get(id).is_some_and(|entry| entry.in_records.iter().any(|r| r.face == face))
        };
        let Some(id) = self.tables.find_pending(interest, &hashes).filter(|&id| waits(self, id)) else {
            return false;
        };
        let header = LinkHeader { non_discovery: held.non_discovery, ..LinkHeader::default() };
        let arrival = Arrival { now, face, hashes: &hashes, header: &header };
        let decision = self.ask_strategy(arrival, interest, id, held.trigger);
        self.carry_out_decision(id, interest.clone(), decision);
        true
    }
}
