//! Incoming Data.

use packet::time::Instant;
use packet::{Buffer, CachePolicy, Data, Dialect, LinkHeader, LinkType, NameHash, PrefixHashes};

use super::answers::DataMatches;
use super::arrived_data::{ArrivedData, DataName};
use super::expiry::remember_nonces;
use super::sending::{DataFields, Moment, Outlet, Target};
use super::sharing::SharedDataOutcome;
use super::strategy_calls::DataActions;
use crate::arrival::{Arrival, Reception};
use crate::batch::answers_due::DueAnswer;
use crate::counters::EngineCounters;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face::{Face, FaceTable};
use crate::face_id::FaceId;
use crate::sharing::SharedLinks;
use crate::strategy::StrategyEvent;
use crate::tables::content_store::IncomingData;
use crate::tables::pending::{InRecord, Matches, PendingId};
use crate::transmit::TransmitQueue;

impl Engine {
    /// Takes Data that arrived.
    #[inline]
    pub(crate) fn receive_data(&mut self, Arrival { now, face, hashes, header }: Arrival<'_>, data: Data) {
        let reception = Reception { now, face, header };
        self.take_data(ArrivedData::of(reception, DataName::hashed(hashes)), data);
    }

    /// Takes Data that arrived and was recognised as the answer that is due.
    #[inline]
    pub(crate) fn receive_due_answer(&mut self, reception: Reception<'_>, data: Data, due: DueAnswer) {
        let Some(entry) = self.tables.pending.by_ticket(due.id, due.ticket) else {
            // Something else has answered the Interest meanwhile.
            let hashes = self.hasher.hash_wire_name(data.wire_name());
            return self.receive_data(reception.hashed(&hashes), data);
        };
        let (hash, parent) = (entry.hash(), entry.parent);
        let own_hashes;
        let hashes = if data.dialect() == Dialect::Ccnx && !self.tables.store.has_below(parent) {
            own_hashes = self.hasher.hash_wire_name(data.wire_name());
            Some(&own_hashes)
        } else {
            None
        };
        let name = DataName { hash, hashes, parent, asked: Some(due.id) };
        self.take_data(ArrivedData::of(reception, name), data);
    }

    fn take_data(&mut self, arrived: ArrivedData<'_>, data: Data) {
        let ArrivedData { now, from, name, .. } = arrived;
        if let Err(reason) = self.faces.admit_data(from, &data) {
            return self.drop_packet(from, reason);
        }
        if data.dialect() == Dialect::Ccnx && self.is_kept_out(from, &data, name) {
            return self.drop_packet(from, DropReason::Scope);
        }
        let found = self.look_up_data(from, &data, name);
        self.note_search(from, &found);
        if !self.is_shared(from) {
            return self.accept_data(arrived, &mut Some(data), &found);
        }
        if let SharedDataOutcome::GoesOn(object) = self.overhear_data(arrived, &data, &found) {
            self.accept_data(arrived, &mut Some(data), &found);
            self.release_held(now, from, object);
        }
    }

    /// Takes Data that was held back on a shared link.
    pub(super) fn take_held(&mut self, reception: Reception<'_>, hash: NameHash, data: Data) {
        let hashes = self.hasher.hash(data.dialect(), data.name().components());
        let name = DataName { hash, ..DataName::hashed(&hashes) };
        let found = self.look_up_data(reception.face, &data, name);
        self.accept_data(ArrivedData::of(reception, name), &mut Some(data), &found);
    }

    /// Keeps Data and answers pending Interests with it. It stays on hand until the last who waits gets it:
    /// to hand it down to where that is found would move it at every step.
    #[inline(always)]
    fn accept_data(&mut self, arrived: ArrivedData<'_>, on_hand: &mut Option<Data>, found: &DataMatches) {
        let Some(data) = on_hand.as_ref() else { return };
        let ArrivedData { now, name, .. } = arrived;
        let Some((last, others)) = found.matches.split_last() else {
            return self.take_unsolicited(arrived, data, found);
        };
        if arrived.is_cacheable() && self.came_by_its_name(arrived, data, found) {
            let is_welcome = if self.tables.store.takes_all {
                let index = &mut self.tables.index;
                let incoming = IncomingData::at(now, data, name.kept(), found.known);
                self.tables.store.insert_admitted(index, incoming);
                true
            } else {
                self.place_copy(arrived, data, found)
            };
            if is_welcome
                && let Some(asking) = self.second_store.as_mut().filter(|asking| asking.store.wants(data))
            {
                asking.offer(data);
            }
        }
        if !others.is_empty() {
            self.satisfy_others(arrived, data, others, last);
        }
        self.satisfy(arrived, on_hand, last);
    }

    /// Whether Data came from where its name leads. Who asks decides where a forwarding hint leads, and that
    /// may be to a forger: what he answers is for those who asked so.
    #[inline(always)]
    fn came_by_its_name(&self, arrived: ArrivedData<'_>, data: &Data, found: &DataMatches) -> bool {
        let is_hinted = |id: PendingId| self.tables.pending.get(id).is_some_and(|entry| entry.is_hinted);
        !found.matches.iter().all(is_hinted) || self.leads_to(arrived.from, data)
    }

    /// Whether this face is a next hop for the name of this Data.
    #[inline(never)]
    fn leads_to(&self, face: FaceId, data: &Data) -> bool {
        let hashes = self.hasher.hash(data.dialect(), data.name().components());
        let fib = &self.tables.fibs[data.dialect() as usize];
        let node = fib.longest_match(data.name(), &hashes);
        fib.next_hops(node).iter().any(|next_hop| next_hop.face == face)
    }

    /// Answers these pending Interests with Data from the second store, which strategies have no part in.
    #[inline(never)]
    pub(super) fn satisfy_from_store(
        &mut self,
        now: Instant,
        name: DataName<'_>,
        data: Data,
        matches: &Matches,
    ) {
        let Some((last, others)) = matches.split_last() else { return };
        let arrived = ArrivedData { now, from: FaceId::SECOND_STORE, name, header: &LinkHeader::NONE };
        if !others.is_empty() {
            self.note_first_of_each_face(arrived, others, last);
        }
        for &id in others {
            self.return_data(arrived, &mut Some(data.clone()), id, None);
        }
        self.return_data(arrived, &mut Some(data), last, None);
    }

    /// Whether a pending Interest waits for this Data, and `face` may answer it. `hashes` are those of its
    /// name under [`Engine::hasher`].
    pub fn awaits(&self, face: FaceId, data: &Data, hashes: &PrefixHashes) -> bool {
        let name = DataName::hashed(hashes);
        !self.look_up_data(face, data, name).matches.is_empty()
    }

    #[inline]
    fn note_search(&mut self, face: FaceId, found: &DataMatches) {
        self.counters.searches_cut_short += u64::from(found.cut_short);
        if found.digested
            && let Some(face) = self.faces.get_mut(face)
        {
            face.digests_due = face.digests_due.saturating_sub(1);
        }
    }

    /// Whether this comes from another host and its name is one of this host alone.
    #[inline(never)]
    fn is_kept_out(&self, from: FaceId, data: &Data, name: DataName<'_>) -> bool {
        if !self.tables.namespaces.any_stays() || self.faces.is_local(from) {
            return false;
        }
        let own_hashes;
        let hashes = match name.hashes {
            Some(hashes) => hashes,
            None => {
                own_hashes = self.hasher.hash(data.dialect(), data.name().components());
                &own_hashes
            }
        };
        self.tables.namespaces.stays_on_host(data.wire_name(), hashes)
    }

    #[inline(never)]
    fn take_unsolicited(&mut self, arrived: ArrivedData<'_>, data: &Data, found: &DataMatches) {
        let ArrivedData { now, from, name, .. } = arrived;
        let reason = if found.not_asked { DropReason::NotAsked } else { DropReason::Unsolicited };
        self.drop_packet(from, reason);
        let policy = self.tables.store.config.unsolicited;
        if arrived.is_cacheable() && policy.welcomes(data.dialect(), self.faces.is_local(from)) {
            let incoming = IncomingData::at(now, data, name.kept(), found.known);
            self.tables.store.insert(&mut self.tables.index, incoming);
        }
    }

    /// Answers the first of several pending Interests, all but `last`.
    #[inline(never)]
    fn satisfy_others(
        &mut self,
        arrived: ArrivedData<'_>,
        data: &Data,
        others: &[PendingId],
        last: PendingId,
    ) {
        self.note_first_of_each_face(arrived, others, last);
        for &id in others {
            self.satisfy(arrived, &mut Some(data.clone()), id);
        }
    }

    /// Whoever waits for more than one of these gets the Data for the first alone.
    fn note_first_of_each_face(&mut self, arrived: ArrivedData<'_>, others: &[PendingId], last: PendingId) {
        let ArrivedData { now, from, .. } = arrived;
        self.round += 1;
        for &id in others.iter().chain([&last]) {
            let Some(entry) = self.tables.pending.get_mut(id) else { continue };
            for record in entry.in_records.iter_mut().filter(|record| record.expires > now) {
                let Some(target) = self.faces.get_mut(record.face) else { continue };
                if !may_return(from, record.face, target) {
                    continue;
                }
                if std::mem::replace(&mut target.round, self.round) == self.round {
                    record.expires = now;
                }
            }
        }
    }

    /// Answers one pending Interest.
    #[inline(always)]
    fn satisfy(&mut self, arrived: ArrivedData<'_>, on_hand: &mut Option<Data>, id: PendingId) {
        if self.tables.pending.get(id).is_some_and(|entry| entry.watches_data) {
            return self.satisfy_by_strategy(arrived, on_hand, id);
        }
        self.return_data(arrived, on_hand, id, None);
    }

    /// Asks the strategy of a pending Interest what to do with Data, and does it.
    #[inline(never)]
    fn satisfy_by_strategy(&mut self, arrived: ArrivedData<'_>, on_hand: &mut Option<Data>, id: PendingId) {
        let Some(data) = on_hand.as_ref() else { return };
        match self.show_data(arrived, data, id) {
            // The entry is gone.
            None => {}
            Some(actions) if actions.hold => {
                self.counters.drops.count(DropReason::NoAnnouncement);
                self.keep_or_finish(arrived.now, id);
            }
            actions => self.return_data(arrived, on_hand, id, actions),
        }
    }

    /// Sends the Data to all who wait for one Interest, which is done with then unless its strategy was asked
    /// and wants it kept.
    #[inline(always)]
    fn return_data(
        &mut self,
        arrived: ArrivedData<'_>,
        on_hand: &mut Option<Data>,
        id: PendingId,
        actions: Option<DataActions>,
    ) {
        let Some(data) = on_hand.as_ref() else { return };
        let ArrivedData { now, from, header, .. } = arrived;
        let was_asked = actions.is_some();
        let announcement = actions.and_then(|actions| actions.announcement);
        let cache_policy =
            if was_asked { self.tables.onward_policy(header.cache_policy, data) } else { None };
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        let freshness = data.freshness();
        let sent_at = entry.out_record(from).map(|record| record.sent_at);
        let moment = Moment { now, response: sent_at.map(|sent_at| now.saturating_since(sent_at)) };
        let context = ReturnContext { arrived, moment, announcement: announcement.as_ref(), cache_policy };
        let (faces, shared) = (&mut self.faces, &mut self.shared);
        let (counters, transmits) = (&mut self.counters, &mut self.transmits);
        // Whoever comes last gets what is there, and the others copies.
        if let Some((last, others)) = entry.in_records.split_last_mut() {
            if !others.is_empty() {
                ReturnPath { context, faces, shared, counters, transmits }.send_copies(others, data);
            }
            ReturnPath { context, faces, shared, counters, transmits }.send(last, on_hand);
        }
        if was_asked {
            entry.in_records.clear();
            return self.keep_or_finish(now, id);
        }
        // The entry can leave at once.
        self.counters.satisfied += 1;
        remember_nonces(&mut self.tables.dead_nonces, now, entry, Some(freshness));
        self.tables.pending.remove(&mut self.tables.index, id);
    }

    /// Shows the Data to the strategy of the Interest's name, which may be shorter than the Data's; gives
    /// what it wants done, or `None` if the entry is gone.
    #[inline(never)]
    fn show_data(&mut self, arrived: ArrivedData<'_>, data: &Data, id: PendingId) -> Option<DataActions> {
        let ArrivedData { now, from, name, header } = arrived;
        let entry = self.tables.pending.get_mut(id)?;
        if let Some(record) = entry.out_record_mut(from) {
            record.expires = now;
        }
        (entry.satisfied, entry.data_freshness) = (true, data.freshness());
        entry.expires = now;
        let own_hashes;
        // The strategy may want those of prefixes, too.
        let hashes = match name.hashes.filter(|_| entry.hash() == name.hash) {
            Some(hashes) => hashes,
            None => {
                own_hashes = self.hasher.hash(data.dialect(), entry.name().components());
                &own_hashes
            }
        };
        let announcement = header.prefix_announcement.as_ref();
        let event = StrategyEvent { announcement, ..StrategyEvent::other(now) };
        let outcome = self.call_strategy(id, hashes, event, |strategy, context| {
            strategy.after_data(context, from, data);
        });
        (!outcome.finished).then_some(outcome.data)
    }

    /// A strategy may have asked to keep the entry for a while: for more Data, or for a timer.
    fn keep_or_finish(&mut self, now: Instant, id: PendingId) {
        let keep = self.tables.pending.get(id).is_some_and(|entry| entry.expires > now);
        if keep { self.tables.pending.schedule(id) } else { self.finish(now, id) }
    }
}

/// What is the same for all who wait for one Interest.
#[derive(Clone, Copy)]
struct ReturnContext<'a> {
    arrived: ArrivedData<'a>,
    moment: Moment,
    announcement: Option<&'a Buffer>,
    cache_policy: Option<CachePolicy>,
}

/// The path of Data to those who wait, and what of the engine it goes by. By value, so that for the one who
/// is alone it need not be in memory at all.
struct ReturnPath<'a> {
    context: ReturnContext<'a>,
    faces: &'a mut FaceTable,
    shared: &'a mut SharedLinks,
    counters: &'a mut EngineCounters,
    transmits: &'a mut TransmitQueue,
}

impl ReturnPath<'_> {
    #[inline(never)]
    fn send_copies(self, records: &mut [InRecord], data: &Data) {
        let ReturnPath { context, faces, shared, counters, transmits } = self;
        for record in records {
            ReturnPath { context, faces, shared, counters, transmits }.send(record, &mut Some(data.clone()));
        }
    }

    #[inline(always)]
    fn send(self, record: &mut InRecord, on_hand: &mut Option<Data>) {
        let ReturnContext { arrived, moment, announcement, cache_policy } = self.context;
        let ArrivedData { now, from, header, name } = arrived;
        let Some(target) = self.faces.get_mut(record.face) else { return };
        target.waits_for_one_less();
        if target.config.sharing.is_some()
            && let Some(sharing) = self.shared.get_mut(record.face)
        {
            sharing.note_data(now, name.hash);
        }
        if record.expires <= now || !may_return(from, record.face, target) {
            return;
        }
        let fields = DataFields {
            pit_token: record.pit_token.take(),
            congestion_mark: header.congestion_mark,
            incoming_face: from,
            announcement: announcement.cloned().map(Box::new),
            explicit_rate: header.explicit_rate,
            cache_policy,
        };
        let to = Target { id: record.face, face: target };
        Outlet { counters: self.counters, transmits: self.transmits }.send_data(moment, to, on_hand, fields);
    }
}

/// Data does not go back where it came from, except on wireless media, where not everybody heard it.
#[inline]
fn may_return(from: FaceId, to: FaceId, target: &Face) -> bool {
    from != to || target.config.link_type == LinkType::AdHoc
}
