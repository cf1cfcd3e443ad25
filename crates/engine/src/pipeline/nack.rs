//! Incoming Nacks.

use packet::{Interest, NackReason, PrefixHashes};

use crate::arrival::Arrival;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::strategy::StrategyEvent;
use crate::tables::pending::PendingId;

impl Engine {
    /// Takes an Interest that came back with a reason.
    pub(crate) fn receive_nack(&mut self, arrival: Arrival<'_>, interest: &Interest, reason: NackReason) {
        let Arrival { now, face, hashes, .. } = arrival;
        match self.accept_nack(face, interest, reason, hashes) {
            Err(drop) => self.drop_packet(face, drop),
            Ok(id) => {
                let event = StrategyEvent::other(now);
                let outcome = self.call_strategy(id, hashes, event, |strategy, context| {
                    strategy.after_nack(context, face, reason);
                });
                if !outcome.finished {
                    self.tables.pending.schedule(id);
                }
            }
        }
    }

    /// Checks that the Nack answers what was sent, and notes it.
    fn accept_nack(
        &mut self,
        face: FaceId,
        interest: &Interest,
        reason: NackReason,
        hashes: &PrefixHashes,
    ) -> Result<PendingId, DropReason> {
        let Some(ingress) = self.faces.get_mut(face) else { return Err(DropReason::UnknownFace) };
        ingress.counters.packets.in_nacks += 1;
        if ingress.config.dialect != interest.dialect() {
            return Err(DropReason::WrongDialect);
        }
        if !ingress.is_point_to_point() {
            return Err(DropReason::NackOnMultiAccess);
        }
        let id = self.tables.find_nacked(interest, hashes).ok_or(DropReason::UnexpectedNack)?;
        let record = self
            .tables
            .pending
            .get_mut(id)
            .and_then(|entry| entry.out_record_mut(face))
            .filter(|record| Some(record.nonce) == interest.nonce())
            .ok_or(DropReason::UnexpectedNack)?;
        record.nacked = Some(reason);
        Ok(id)
    }
}
