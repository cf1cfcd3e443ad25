//! Incoming Data.

use packet::time::Instant;
use packet::{Buffer, CachePolicy, Data, LinkHeader, NameHash, PitToken, PrefixHashes};
use smallvec::SmallVec;

use super::answers::{DataName, Found};
use super::expiry::is_remembered;
use super::sending::{DataFields, Moment, send_data};
use super::strategy_calls::{Outcome, StrategyEvent};
use crate::batch::DueAnswer;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face::{Face, FaceId, LinkType};
use crate::scope;
use crate::tables::pending::PendingId;

impl Engine {
    /// Takes Data that arrived by `face`.
    ///
    /// `hashes` are those of its name under [`Engine::hasher`]; `header` is what came with it over the link.
    #[inline]
    pub fn receive_data(
        &mut self,
        now: Instant,
        face: FaceId,
        data: Data,
        hashes: &PrefixHashes,
        header: &LinkHeader,
    ) {
        let name = DataName { hash: hashes.whole(), hashes: Some(hashes), asked: None };
        self.take_data(now, face, data, name, header);
    }

    /// Takes Data that arrived by `face` and was recognised as the answer that is due.
    #[inline]
    pub(crate) fn receive_due_answer(
        &mut self,
        now: Instant,
        face: FaceId,
        data: Data,
        due: DueAnswer,
        header: &LinkHeader,
    ) {
        let Some(hash) = self.tables.pending.hash_by_ticket(due.id, due.ticket) else {
            // Something else has answered the Interest meanwhile.
            let hashes = self.hasher.hash(data.dialect(), data.name().components());
            return self.receive_data(now, face, data, &hashes, header);
        };
        self.take_data(now, face, data, DataName { hash, hashes: None, asked: Some(due.id) }, header);
    }

    fn take_data(&mut self, now: Instant, face: FaceId, data: Data, name: DataName<'_>, header: &LinkHeader) {
        if let Err(reason) = self.admit_data(face, &data) {
            return self.drop_packet(face, reason);
        }
        let found = self.look_up_data(face, &data, name);
        self.note_search(face, &found);
        let cacheable = header.cache_policy != Some(CachePolicy::NoCache);
        if found.matches.is_empty() {
            return self.take_unsolicited(now, face, &data, name.hash, &found, cacheable);
        }
        if cacheable {
            self.tables.store.insert(&mut self.tables.index, now, &data, name.hash, found.known);
        }
        match found.matches.as_slice() {
            &[id] => self.satisfy(now, face, data, name, header, id),
            several => self.satisfy_several(now, face, &data, name, header, several),
        }
    }

    /// Whether a pending Interest waits for this Data, and `face` may answer it. `hashes` are those of its
    /// name under [`Engine::hasher`].
    pub fn awaits(&self, face: FaceId, data: &Data, hashes: &PrefixHashes) -> bool {
        let name = DataName { hash: hashes.whole(), hashes: Some(hashes), asked: None };
        !self.look_up_data(face, data, name).matches.is_empty()
    }

    #[inline]
    fn note_search(&mut self, face: FaceId, found: &Found) {
        self.counters.searches_cut_short += u64::from(found.cut_short);
        if found.digested
            && let Some(face) = self.faces.get_mut(face)
        {
            face.digests_due = face.digests_due.saturating_sub(1);
        }
    }

    #[inline]
    fn admit_data(&mut self, face: FaceId, data: &Data) -> Result<(), DropReason> {
        let Some(ingress) = self.faces.get_mut(face) else { return Err(DropReason::UnknownFace) };
        ingress.counters.in_data += 1;
        if ingress.config.dialect != data.dialect() {
            return Err(DropReason::WrongDialect);
        }
        if !ingress.is_local() && scope::is_for_this_host_only(data.name()) {
            return Err(DropReason::Scope);
        }
        Ok(())
    }

    #[inline(never)]
    fn take_unsolicited(
        &mut self,
        now: Instant,
        face: FaceId,
        data: &Data,
        hash: NameHash,
        found: &Found,
        cacheable: bool,
    ) {
        let reason = if found.not_asked { DropReason::NotAsked } else { DropReason::Unsolicited };
        self.drop_packet(face, reason);
        if cacheable && self.welcomes_unsolicited(self.is_local(face)) {
            self.tables.store.insert(&mut self.tables.index, now, data, hash, found.known);
        }
    }

    /// Answers one pending Interest, as its strategy says.
    #[inline(always)]
    fn satisfy(
        &mut self,
        now: Instant,
        from: FaceId,
        data: Data,
        name: DataName<'_>,
        header: &LinkHeader,
        id: PendingId,
    ) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        if entry.watches_data {
            return self.satisfy_with_strategy(now, from, &data, name, header, id);
        }
        let freshness = data.freshness();
        let (mut data, mut others) = (Some(data), entry.in_records.len());
        // Most strategies have no say here, and the entry can leave at once.
        let sent_at = entry.out_record(from).map(|record| record.sent_at);
        let moment = Moment { now, response: sent_at.map(|sent_at| now.saturating_since(sent_at)) };
        for record in &mut entry.in_records {
            // Whoever comes last gets what is there, and the others copies.
            others -= 1;
            let Some(data) = (if others == 0 { data.take() } else { data.clone() }) else { break };
            let Some(target) = self.faces.get_mut(record.face) else { continue };
            target.waits_for_one_less();
            if record.expires > now && may_return(from, record.face, target) {
                let fields = DataFields {
                    pit_token: std::mem::take(&mut record.pit_token),
                    congestion_mark: header.congestion_mark,
                    incoming_face: from,
                    announcement: None,
                    explicit_rate: header.explicit_rate,
                };
                send_data(&mut self.counters, &mut self.transmits, moment, record.face, target, data, fields);
            }
        }
        self.counters.satisfied += 1;
        if is_remembered(&entry.interest, true, freshness, self.settings.dead_nonce_lifetime) {
            for record in &entry.out_records {
                self.tables.dead_nonces.insert(now, entry.hash(), record.nonce);
            }
        }
        self.tables.pending.remove(&mut self.tables.index, id);
    }

    fn satisfy_with_strategy(
        &mut self,
        now: Instant,
        from: FaceId,
        data: &Data,
        name: DataName<'_>,
        header: &LinkHeader,
        id: PendingId,
    ) {
        self.mark_satisfied(now, from, data, id);
        let outcome = self.show_data(now, from, data, name, header, id);
        if outcome.finished {
            return;
        }
        if outcome.data.hold {
            self.counters.drops.count(DropReason::NoAnnouncement);
        } else {
            self.return_data(now, from, data, header, id, outcome.data.announcement.as_ref());
        }
        // A strategy may have asked to keep the entry for a while: for more Data, or for a timer.
        let keep = self.tables.pending.get(id).is_some_and(|entry| entry.expires > now);
        if keep { self.tables.pending.schedule(id) } else { self.finish(now, id) }
    }

    /// Sends the Data to all who wait for one Interest.
    #[inline]
    fn return_data(
        &mut self,
        now: Instant,
        from: FaceId,
        data: &Data,
        header: &LinkHeader,
        id: PendingId,
        announcement: Option<&Buffer>,
    ) {
        let (mut place, moment) = (0, self.moment_of(now, from, id));
        while let Some(record) = self.tables.pending.get(id).and_then(|entry| entry.in_records.get(place)) {
            place += 1;
            let (face, waits) = (record.face, record.expires > now);
            if waits && self.may_return(from, face) {
                let fields = DataFields {
                    pit_token: record.pit_token.clone(),
                    congestion_mark: header.congestion_mark,
                    incoming_face: from,
                    announcement: announcement.map(|announcement| Box::new(announcement.clone())),
                    explicit_rate: header.explicit_rate,
                };
                self.send_data(moment, face, data.clone(), fields);
            }
        }
        self.release_in_records(id);
    }

    /// Shows the Data to the strategy of the Interest's name, which may be shorter than the Data's.
    fn show_data(
        &mut self,
        now: Instant,
        from: FaceId,
        data: &Data,
        name: DataName<'_>,
        header: &LinkHeader,
        id: PendingId,
    ) -> Outcome {
        let event =
            StrategyEvent { announcement: header.prefix_announcement.as_ref(), ..StrategyEvent::OTHER };
        let own_hashes;
        let hashes = match self.tables.pending.get(id) {
            // The strategy may want those of prefixes, too.
            Some(entry) => match name.hashes.filter(|_| entry.hash() == name.hash) {
                Some(hashes) => hashes,
                None => {
                    own_hashes = self.hasher.hash(data.dialect(), entry.name().components());
                    &own_hashes
                }
            },
            None => return Outcome::default(),
        };
        self.call_strategy(now, id, hashes, event, |strategy, context| {
            strategy.after_data(context, from, data);
        })
    }

    /// Answers several pending Interests at once: whoever waits for more than one of them gets the Data once.
    fn satisfy_several(
        &mut self,
        now: Instant,
        from: FaceId,
        data: &Data,
        name: DataName<'_>,
        header: &LinkHeader,
        several: &[PendingId],
    ) {
        let mut waiting: SmallVec<[(FaceId, PitToken); 8]> = SmallVec::new();
        let mut moment = Moment { now, response: None };
        self.round += 1;
        for &id in several {
            moment.response = moment.response.or(self.moment_of(now, from, id).response);
            self.mark_satisfied(now, from, data, id);
            if self.tables.pending.get(id).is_some_and(|entry| entry.watches_data)
                && self.show_data(now, from, data, name, header, id).finished
            {
                continue;
            }
            for record in self.tables.pending.get(id).iter().flat_map(|entry| &entry.in_records) {
                let Some(target) = self.faces.get_mut(record.face) else { continue };
                if record.expires > now && target.round < self.round && may_return(from, record.face, target)
                {
                    target.round = self.round;
                    waiting.push((record.face, record.pit_token.clone()));
                }
            }
            self.finish(now, id);
        }
        for (face, pit_token) in waiting {
            let fields = DataFields {
                pit_token,
                congestion_mark: header.congestion_mark,
                incoming_face: from,
                announcement: None,
                explicit_rate: header.explicit_rate,
            };
            self.send_data(moment, face, data.clone(), fields);
        }
    }

    /// How long ago `from` was asked for what it sends.
    fn moment_of(&self, now: Instant, from: FaceId, id: PendingId) -> Moment {
        let record = self.tables.pending.get(id).and_then(|entry| entry.out_record(from));
        Moment { now, response: record.map(|record| now.saturating_since(record.sent_at)) }
    }

    fn mark_satisfied(&mut self, now: Instant, from: FaceId, data: &Data, id: PendingId) {
        if let Some(entry) = self.tables.pending.get_mut(id) {
            if let Some(record) = entry.out_records.iter_mut().find(|record| record.face == from) {
                record.expires = now;
            }
            entry.satisfied = true;
            entry.data_freshness = data.freshness();
            entry.expires = now;
        }
    }

    /// Nobody waits for the entry any more.
    #[inline]
    pub(crate) fn release_in_records(&mut self, id: PendingId) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        for record in &entry.in_records {
            if let Some(face) = self.faces.get_mut(record.face) {
                face.waits_for_one_less();
            }
        }
        entry.in_records.clear();
    }

    fn may_return(&self, from: FaceId, to: FaceId) -> bool {
        self.faces.get(to).is_some_and(|target| may_return(from, to, target))
    }
}

/// Data does not go back where it came from, except on wireless media, where not everybody heard it.
#[inline]
fn may_return(from: FaceId, to: FaceId, target: &Face) -> bool {
    from != to || target.config.link_type == LinkType::AdHoc
}
