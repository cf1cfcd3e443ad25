//! Incoming Interests.

use packet::{Dialect, Interest, NackReason, NameHash, Nonce, Packet};

use super::sending::{DataFields, Moment, Outlet, Target};
use super::strategy_calls::{Departure, ForwardingDecision};
use crate::arrival::Arrival;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::scope;
use crate::tables::content_store::CachedId;
use crate::tables::entry_id::EntryId;
use crate::tables::pending::{EntryHashes, Full, MAX_RECORDS, MAX_VARIANTS, Pending, PendingId, VariantTag};
use crate::transmit::Transmit;
use crate::trigger::Trigger;

/// Entries that give way for one Interest in a table that is full of bytes: each may be smaller than it.
const MAX_EVICTIONS: usize = 8;

/// What the tables say about an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It was here before and has come back another way.
    Loop,
    /// A kept Data answers it.
    Answered(CachedId),
    /// The same Interest is pending.
    Joined(PendingId),
    /// It is new, and now pending, and its face waits.
    Created(PendingId),
    /// There is no room for it.
    Refused(DropReason),
}

/// What an entry is made of, beside the Interest and how it has come.
struct NewEntry {
    nonce: Nonce,
    tag: VariantTag,
    /// So many the index has for its name.
    candidates: usize,
}

impl Engine {
    /// Takes an Interest that arrived.
    #[inline(always)]
    pub(crate) fn receive_interest(&mut self, arrival: Arrival<'_>, mut interest: Interest) {
        let nonce = match self.admit(arrival, &mut interest) {
            Ok(nonce) => nonce,
            Err(reason) => return self.refuse(arrival, interest, reason),
        };
        self.overhear_interest(arrival, &interest);
        let (id, trigger) = match self.look_up(arrival, &interest, nonce) {
            Verdict::Created(id) => (id, Trigger::New),
            Verdict::Joined(id) => match self.join(arrival, &interest, nonce, id) {
                Ok(trigger) => (id, trigger),
                Err(reason) => return self.refuse(arrival, interest, reason),
            },
            Verdict::Answered(id) => return self.answer(arrival, &interest, id),
            Verdict::Loop => return self.refuse(arrival, interest, DropReason::DuplicateNonce),
            Verdict::Refused(reason) => return self.refuse(arrival, interest, reason),
        };
        let decision = self.decide_forwarding(arrival, &interest, id, trigger);
        self.carry_out_decision(id, interest, decision);
    }

    /// Checks what does not need the tables, and writes what a forwarder must write.
    #[inline]
    fn admit(&mut self, arrival: Arrival<'_>, interest: &mut Interest) -> Result<Nonce, DropReason> {
        let Arrival { now, face, hashes, .. } = arrival;
        let Some(ingress) = self.faces.get_mut(face) else { return Err(DropReason::UnknownFace) };
        ingress.counters.packets.in_interests += 1;
        if ingress.config.dialect != interest.dialect() {
            return Err(DropReason::WrongDialect);
        }
        if ingress.rate.as_mut().is_some_and(|rate| !rate.take(now)) {
            return Err(DropReason::InterestRate);
        }
        let namespaces = &self.tables.namespaces;
        let stays_on_host = || namespaces.stays_on_host(interest.wire_name(), hashes);
        if !scope::interest_may_enter(interest, ingress.is_local(), stays_on_host) {
            return Err(DropReason::Scope);
        }
        match interest.hop_limit() {
            Some(0) => return Err(DropReason::HopLimitZero),
            Some(hops) => interest.set_hop_limit(hops - 1),
            None => {
                if let Some(hops) = self.settings.default_hop_limit {
                    interest.add_hop_limit(hops).map_err(|_| DropReason::NoRoomForField)?;
                }
            }
        }
        match interest.nonce() {
            Some(nonce) => Ok(nonce),
            None => {
                let nonce = Nonce(self.random.next_u32());
                interest.set_nonce(nonce).map_err(|_| DropReason::NoRoomForField)?;
                Ok(nonce)
            }
        }
    }

    /// One look into the index finds the same Interest pending and the Data of just its name.
    #[inline(always)]
    fn look_up(&mut self, arrival: Arrival<'_>, interest: &Interest, nonce: Nonce) -> Verdict {
        let Arrival { now, face, hashes, .. } = arrival;
        let hash = hashes.whole();
        if self.tables.dead_nonces.contains(now, hash, nonce) {
            return Verdict::Loop;
        }
        let tag = self.tables.pending.tag_of(interest);
        let (mut pending, mut exact, mut candidates) = (None, None, 0);
        for id in self.tables.index.candidates(hash) {
            candidates += 1;
            match EntryId::from_raw(id) {
                EntryId::Pending(id) if self.tables.pending.is(id, interest, hash, tag) => pending = Some(id),
                EntryId::Cached(id)
                    if self.tables.store.is(id, interest.dialect(), interest.wire_components(), hash) =>
                {
                    exact = Some(id);
                }
                _ => {}
            }
        }
        if let Some(id) = pending {
            if self.is_duplicate(id, face, nonce) {
                return Verdict::Loop;
            }
            // What was sent nowhere may have been published since.
            let has_gone = |entry: &Pending| !entry.in_records.is_empty() && !entry.out_records.is_empty();
            if self.tables.pending.get(id).is_some_and(has_gone) {
                return Verdict::Joined(id);
            }
        }
        let answer = self.tables.store.answer(&mut self.tables.index, arrival, interest, &self.hasher, exact);
        if let Some(answer) = answer {
            return Verdict::Answered(answer);
        }
        if let Some(id) = pending {
            return Verdict::Joined(id);
        }
        self.create(arrival, interest, NewEntry { nonce, tag, candidates })
    }

    /// Whether the nonce was seen with this pending Interest before. On a point-to-point face the same from
    /// the same is a retransmission, not a loop.
    #[inline]
    fn is_duplicate(&self, id: PendingId, face: FaceId, nonce: Nonce) -> bool {
        let Some(entry) = self.tables.pending.get(id) else { return false };
        let repeated = entry.in_records.iter().any(|record| record.face == face && record.nonce == nonce);
        if repeated && self.faces.get(face).is_some_and(|face| face.is_point_to_point()) {
            return false;
        }
        repeated
            || entry.in_records.iter().any(|record| record.nonce == nonce)
            || entry.out_records.iter().any(|record| record.nonce == nonce)
    }

    /// Makes an entry for an Interest.
    #[inline(always)]
    fn create(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        NewEntry { nonce, tag, candidates }: NewEntry,
    ) -> Verdict {
        let Arrival { now, face, hashes, .. } = arrival;
        let Some(ingress) = self.faces.get(face) else { return Verdict::Refused(DropReason::UnknownFace) };
        if ingress.config.max_pending.is_some_and(|max| ingress.pending >= max) {
            return Verdict::Refused(DropReason::FacePendingLimit);
        }
        let is_local = ingress.is_local();
        let mut evictions = 0..MAX_EVICTIONS;
        while self.tables.pending.is_full_for(interest)
            && evictions.next().is_some()
            && self.evict_for(now, face)
        {}
        // There are hardly ever so many of which some may be of this name.
        if candidates >= MAX_VARIANTS && !self.make_room_for_variant(arrival, interest) {
            return Verdict::Refused(DropReason::TooManyVariants);
        }
        let record = self.settings.in_record(arrival, is_local, interest, nonce);
        let parent = match interest.dialect() {
            Dialect::Ndn => NameHash::UNKNOWN,
            Dialect::Ccnx => hashes.parent().unwrap_or(NameHash::UNKNOWN),
        };
        let hashes = EntryHashes { own: hashes.whole(), parent };
        match self.tables.pending.insert(&mut self.tables.index, interest, hashes, tag, record) {
            Ok(id) => {
                if let Some(ingress) = self.faces.get_mut(face) {
                    ingress.waits_for_one_more();
                }
                self.counters.pending_created += 1;
                Verdict::Created(id)
            }
            Err(Full) => Verdict::Refused(DropReason::PendingTableFull),
        }
    }

    /// Answers from the content store.
    fn answer(&mut self, arrival: Arrival<'_>, interest: &Interest, id: CachedId) {
        let Arrival { now, face, hashes, header } = arrival;
        let marks_stale =
            interest.ccnx_selectors().is_some_and(|view| view.answer_origin_kind().marks_stale());
        if marks_stale {
            self.tables.store.mark_stale(id);
        }
        self.counters.cache_hits += 1;
        let fields = DataFields {
            pit_token: header.pit_token.clone(),
            congestion_mark: 0,
            incoming_face: FaceId::CONTENT_STORE,
            announcement: None,
            explicit_rate: None,
            cache_policy: None,
        };
        let moment = Moment { now, response: None };
        let is_shared = self.is_shared(face);
        if !is_shared
            && !self.shared.is_empty()
            && self.faces.is_local(face)
            && let Some(entry) = self.tables.store.get(id)
        {
            let packet = Packet::Data(entry.data.clone());
            let incoming_face = Some(FaceId::CONTENT_STORE);
            let answer =
                Transmit { incoming_face, ..Transmit::plain(face, packet, fields.pit_token.clone()) };
            if self.hold_answer(now, hashes, answer).is_none() {
                return;
            }
        }
        let Some(target) = self.faces.get_mut(face) else { return };
        if let Some(entry) = self.tables.store.get(id) {
            let data = entry.data.clone();
            if is_shared {
                return self.share_answer(arrival, interest, data, fields.pit_token);
            }
            let to = Target { id: face, face: target };
            let out = Outlet { counters: &mut self.counters, transmits: &mut self.transmits };
            out.send_data(moment, to, &mut Some(data), fields);
        }
    }

    /// Lets the strategy, or the application, decide where an Interest that `face` waits for goes.
    #[inline(always)]
    fn decide_forwarding(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) -> ForwardingDecision {
        let Arrival { face, header, .. } = arrival;
        if let Some(next_hop) = header.next_hop_face {
            self.forward_to_named_face(arrival, next_hop)
        } else if let Some(next_hop) = interest.face_id().filter(|_| self.faces.is_local(face)) {
            self.forward_to_named_face(arrival, next_hop.into())
        } else if self.second_store.is_some() && self.waits_for_store(arrival, interest, id, trigger) {
            // It goes on when the store has answered.
            ForwardingDecision::None
        } else if self.may_go_on(arrival, interest, id, trigger) {
            self.ask_strategy(arrival, interest, id, trigger)
        } else {
            ForwardingDecision::None
        }
    }

    /// Makes `face` wait for an Interest that is pending already, and tells whether it did already.
    fn join(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        nonce: Nonce,
        id: PendingId,
    ) -> Result<Trigger, DropReason> {
        let Arrival { now, face, .. } = arrival;
        let record = self.settings.in_record(arrival, self.faces.is_local(face), interest, nonce);
        let Some(entry) = self.tables.pending.get_mut(id) else { return Ok(Trigger::Again) };
        let is_alone = entry.in_records.is_empty();
        let trigger = match entry.in_records.iter_mut().find(|record| record.face == face) {
            Some(existing) => {
                *existing = record;
                Trigger::Again
            }
            None => {
                let Some(ingress) = self.faces.get_mut(face) else { return Err(DropReason::UnknownFace) };
                if ingress.config.max_pending.is_some_and(|max| ingress.pending >= max) {
                    return Err(DropReason::FacePendingLimit);
                }
                if entry.in_records.len() >= MAX_RECORDS && !self.make_room_for_record(now, face, id) {
                    return Err(DropReason::FacePendingLimit);
                }
                if let Some(ingress) = self.faces.get_mut(face) {
                    ingress.waits_for_one_more();
                }
                if let Some(entry) = self.tables.pending.get_mut(id) {
                    entry.in_records.push(record);
                }
                if is_alone { Trigger::Again } else { Trigger::Joined }
            }
        };
        let Some(entry) = self.tables.pending.get_mut(id) else { return Ok(trigger) };
        entry.satisfied = false;
        entry.expires = entry.in_records.iter().map(|record| record.expires).max().unwrap_or(now);
        self.counters.pending_joined += 1;
        Ok(trigger)
    }

    /// To the face that the application named, whatever routes and strategies say.
    #[cold]
    fn forward_to_named_face(&mut self, arrival: Arrival<'_>, next_hop: u64) -> ForwardingDecision {
        let target = u32::try_from(next_hop).ok().map(FaceId).filter(|&face| self.faces.get(face).is_some());
        let Some(face) = target else {
            self.counters.drops.add(DropReason::NextHopGone, 1);
            return ForwardingDecision::None;
        };
        let (now, congestion_mark) = (arrival.now, arrival.header.congestion_mark);
        ForwardingDecision::Ordered(Departure {
            now,
            face,
            nonce: None,
            non_discovery: false,
            congestion_mark,
        })
    }

    /// Does not take the Interest, and says so to the sender where that helps.
    #[cold]
    fn refuse(&mut self, Arrival { face, header, .. }: Arrival<'_>, interest: Interest, reason: DropReason) {
        self.drop_packet(face, reason);
        let nack = match reason {
            DropReason::DuplicateNonce => NackReason::Duplicate,
            DropReason::InterestRate
            | DropReason::FacePendingLimit
            | DropReason::PendingTableFull
            | DropReason::TooManyVariants => NackReason::Congestion,
            _ => return,
        };
        if interest.dialect() == Dialect::Ndn {
            self.send_nack(face, interest, nack, header.pit_token.clone());
        }
    }
}
