//! Interests that wait for the second store, and what it answers.

use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader};

use super::arrived_data::DataName;
use crate::arrival::Arrival;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::second_store::{LookupId, PendingLookup, PendingLookups};
use crate::tables::content_store::IncomingData;
use crate::tables::pending::PendingId;
use crate::trigger::Trigger;

impl Engine {
    /// Whether an Interest that has become pending, or came again, now waits for the second store.
    #[inline(never)]
    pub(super) fn waits_for_store(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) -> bool {
        let (Some(asking), Some(entry)) = (self.second_store.as_mut(), self.tables.pending.get_mut(id))
        else {
            return false;
        };
        if trigger.is_of_pending() && entry.asks_store {
            return true;
        }
        let allowed = interest.ccnx_selectors().is_none_or(|view| view.answer_origin_kind().from_store());
        // What comes again went upstream before, and the store had nothing then; unless it had nowhere to go.
        let is_first = trigger == Trigger::New || entry.out_records.is_empty();
        if !is_first || !allowed || !asking.store.may_have(interest, arrival.hashes) {
            return false;
        }
        let origin = self.faces.get(arrival.face).and_then(|face| face.config.origin);
        let waiting = PendingLookup { id, hash: entry.hash(), origin };
        if asking.store.stands_in(interest) {
            let half = Duration::from_nanos(interest.lifetime().as_nanos() / 2);
            entry.may_turn_to_store = asking.ask_later(arrival.now + half, waiting);
            return false;
        }
        entry.asks_store = asking.ask(arrival.now, waiting, interest);
        entry.asks_store
    }

    /// Upstream has failed a pending Interest: whether the second store is asked now.
    pub(super) fn turns_to_store(&mut self, now: Instant, id: PendingId) -> bool {
        let Some(entry) = self.tables.pending.get_mut(id) else { return false };
        if entry.asks_store {
            return true;
        }
        if !std::mem::take(&mut entry.may_turn_to_store) || entry.satisfied {
            return false;
        }
        // It may be another store than when the Interest came.
        let hashes = self.hasher.hash(entry.interest.dialect(), entry.name().components());
        let may_have = |asking: &&mut Box<PendingLookups>| asking.store.may_have(&entry.interest, &hashes);
        let Some(asking) = self.second_store.as_mut().filter(may_have) else { return false };
        let waits = entry.in_records.iter().find(|record| record.expires > now);
        let Some(face) = waits.map(|record| record.face) else { return false };
        let origin = self.faces.get(face).and_then(|face| face.config.origin);
        entry.asks_store = asking.ask(now, PendingLookup { id, hash: entry.hash(), origin }, &entry.interest);
        entry.asks_store
    }

    /// Asks the second store what upstream has not answered in time.
    pub(crate) fn start_late_lookups(&mut self, now: Instant) {
        while let Some(PendingLookup { id, hash, .. }) =
            self.second_store.as_mut().and_then(|asking| asking.due_later(now))
        {
            if self.tables.pending.get(id).is_some_and(|entry| entry.hash() == hash) {
                self.turns_to_store(now, id);
            }
        }
    }

    /// Takes Data that the second store has found. `fresh_until` is when it stops being fresh by its age in
    /// the store; [`Instant::ZERO`] if it is stale.
    ///
    /// It answers all pending Interests that it can, whoever asked. Those that it cannot, because what is
    /// stored is not what the lookup asked for, go upstream.
    pub fn receive_found(&mut self, now: Instant, lookup: LookupId, data: Data, fresh_until: Instant) {
        let Some(asking) = self.second_store.as_mut() else { return };
        let asked = asking.answered(lookup);
        let hashes = self.hasher.hash(data.dialect(), data.name().components());
        let name = DataName::hashed(&hashes);
        let mut found = self.look_up_data(FaceId::SECOND_STORE, &data, name);
        if fresh_until <= now {
            let takes_stale = |id: PendingId| {
                self.tables.pending.get(id).is_some_and(|entry| !entry.interest.must_be_fresh())
            };
            found.matches.retain(takes_stale);
        }
        let is_what_was_asked = asked.is_none_or(|asked| found.matches.iter().any(|id| id == asked.id));
        if !found.matches.is_empty() {
            if let Some(asking) = self.second_store.as_mut() {
                asking.counters.found += 1;
            }
            let store = &mut self.tables.store;
            let incoming = IncomingData::at(now, &data, name.kept(), found.known).until(fresh_until);
            store.insert(&mut self.tables.index, incoming);
            self.satisfy_from_store(now, name, data, &found.matches);
        }
        if let Some(asked) = asked.filter(|_| !is_what_was_asked) {
            if let Some(asking) = self.second_store.as_mut() {
                asking.counters.absent += 1;
            }
            self.go_upstream(now, asked);
        }
    }

    /// The second store has no answer to a lookup, or cannot be asked.
    pub fn receive_absent(&mut self, now: Instant, lookup: LookupId) {
        let Some(asking) = self.second_store.as_mut() else { return };
        let Some(asked) = asking.answered(lookup) else { return };
        asking.counters.absent += 1;
        self.go_upstream(now, asked);
    }

    /// Sends those upstream that the second store has kept waiting for too long.
    pub(crate) fn give_up_lookups(&mut self, now: Instant) {
        while let Some(waiting) = self.second_store.as_mut().and_then(|asking| asking.overdue(now)) {
            self.go_upstream(now, waiting);
        }
    }

    /// Takes the store away; what waits for it goes upstream.
    pub(crate) fn part_from_store(&mut self, now: Instant, before: PendingLookups) {
        for waiting in before.into_waiting() {
            self.go_upstream(now, waiting);
        }
    }

    /// Does with a pending Interest what would have been done with it without the second store.
    fn go_upstream(&mut self, now: Instant, PendingLookup { id, hash, .. }: PendingLookup) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        if entry.hash() != hash || !entry.asks_store {
            return;
        }
        entry.asks_store = false;
        // It is under way there, and goes on waiting.
        if entry.out_records.iter().any(|record| record.nacked.is_none()) {
            return;
        }
        let Some(record) = entry.in_records.iter().find(|record| record.expires > now) else { return };
        let header = LinkHeader { non_discovery: record.non_discovery, ..LinkHeader::NONE };
        let (face, interest) = (record.face, entry.interest.clone());
        let hashes = self.hasher.hash(interest.dialect(), interest.name().components());
        let arrival = Arrival { now, face, hashes: &hashes, header: &header };
        if self.may_go_on(arrival, &interest, id, Trigger::New) {
            let decision = self.ask_strategy(arrival, &interest, id, Trigger::New);
            self.carry_out_decision(id, interest, decision);
        }
        self.tables.pending.schedule(id);
    }
}
