//! The end of pending Interests.

use packet::time::{Duration, Instant};

use crate::engine::Engine;
use crate::strategy::StrategyEvent;
use crate::tables::dead_nonces::DeadNonces;
use crate::tables::pending::{Pending, PendingId};

impl Engine {
    /// An entry's timer has run out: its strategy wants to be called, or nobody waits any longer.
    pub(crate) fn handle_due(&mut self, now: Instant, id: PendingId) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        if entry.expires <= now {
            return self.finish(now, id);
        }
        if entry.strategy_timer <= now {
            entry.strategy_timer = Instant::NEVER;
            let hashes = self.hasher.hash(entry.interest.dialect(), entry.interest.name().components());
            let event = StrategyEvent::other(now);
            let outcome =
                self.call_strategy(id, &hashes, event, |strategy, context| strategy.after_timer(context));
            if outcome.finished {
                return;
            }
        }
        self.tables.pending.schedule(id);
    }

    /// Removes an entry that nobody is to wait for any more.
    pub(crate) fn finish(&mut self, now: Instant, id: PendingId) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        for record in entry.in_records.drain(..) {
            if let Some(face) = self.faces.get_mut(record.face) {
                face.waits_for_one_less();
            }
        }
        let answered = entry.satisfied.then_some(entry.data_freshness);
        match answered {
            Some(_) => self.counters.satisfied += 1,
            None => self.counters.unsatisfied += 1,
        }
        remember_nonces(&mut self.tables.dead_nonces, now, entry, answered);
        self.tables.pending.remove(&mut self.tables.index, id);
    }
}

/// Remembers the nonces of an entry that is done with if a copy of the Interest could still come back as a
/// loop. `answered` is how long the Data stays fresh, if any came: while it does, a looping Interest would be
/// answered from the cache.
#[inline(always)]
pub(super) fn remember_nonces(
    dead_nonces: &mut DeadNonces,
    now: Instant,
    entry: &Pending,
    answered: Option<Duration>,
) {
    let lifetime = dead_nonces.lifetime();
    let stays_fresh = |freshness| !entry.interest.must_be_fresh() || freshness >= lifetime;
    if answered.is_some_and(stays_fresh) {
        return;
    }
    for record in &entry.out_records {
        dead_nonces.insert(now, entry.hash(), record.nonce);
    }
}
