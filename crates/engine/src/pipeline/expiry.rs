//! The end of pending Interests.

use packet::Interest;
use packet::time::{Duration, Instant};

use super::strategy_calls::StrategyEvent;
use crate::engine::Engine;
use crate::tables::pending::PendingId;

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
            let outcome = self.call_strategy(now, id, &hashes, StrategyEvent::OTHER, |strategy, context| {
                strategy.after_timer(context);
            });
            if outcome.finished {
                return;
            }
        }
        self.tables.pending.schedule(id);
    }

    /// Removes an entry, remembering its nonces if a copy of the Interest could still come back as a loop.
    pub(crate) fn finish(&mut self, now: Instant, id: PendingId) {
        self.release_in_records(id);
        let Some(entry) = self.tables.pending.get(id) else { return };
        if entry.satisfied {
            self.counters.satisfied += 1;
        } else {
            self.counters.unsatisfied += 1;
        }
        if is_remembered(
            &entry.interest,
            entry.satisfied,
            entry.data_freshness,
            self.settings.dead_nonce_lifetime,
        ) {
            for record in &entry.out_records {
                self.tables.dead_nonces.insert(now, entry.hash(), record.nonce);
            }
        }
        self.tables.pending.remove(&mut self.tables.index, id);
    }
}

/// Whether the nonces of an Interest that is done with are to be remembered. After Data that stays fresh for
/// long, a looping Interest would be answered from the cache.
#[inline]
pub(super) fn is_remembered(
    interest: &Interest,
    satisfied: bool,
    data_freshness: Duration,
    lifetime: Duration,
) -> bool {
    !satisfied || (interest.must_be_fresh() && data_freshness < lifetime)
}
