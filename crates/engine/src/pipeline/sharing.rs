//! Where a face's link is shared: what waits for others there, and what is taken of what they asked for. See
//! [`sharing`](crate::sharing).

use packet::time::{Duration, Instant};
use packet::{Data, Interest, NameHash, Nonce, Packet, PitToken, PrefixHashes};

use super::answers::DataMatches;
use super::arrived_data::ArrivedData;
use crate::arrival::{Arrival, Reception};
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::scope;
use crate::sharing::flows::{FIRST_INTERESTS, Flow, Forgotten, INTERESTS_FOR_DATA, QueuedInterest};
use crate::sharing::order::{DelayedData, LastComponent, Order, Repeat};
use crate::sharing::{MAX_WAIT, Sharing, part_of};
use crate::tables::content_store::IncomingData;
use crate::tables::pending::{Pending, PendingId};
use crate::transmit::Transmit;

/// Interests that others have asked for and that are passed over when some may go out.
const MAX_PASSED_OVER: usize = 16;
/// Interests that are wanted no more and are forgotten at once; the others are left for the next time.
const MAX_FORGOTTEN: usize = 1024;

/// What became of Data that was on a shared link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedDataOutcome {
    /// It was kept for an application, or is held back.
    Taken,
    /// It goes to whoever waits for it; and after it what was held back of its object, if that is asked for.
    GoesOn(Option<NameHash>),
}

/// What became of an Interest that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Out,
    WaitsOn,
}

impl Engine {
    /// Another node on the link has asked for this name.
    #[inline]
    pub(super) fn overhear_interest(&mut self, arrival: Arrival<'_>, interest: &Interest) {
        let Arrival { now, face, hashes, .. } = arrival;
        if self.is_shared(face)
            && let Some(sharing) = self.shared.get_mut(face)
        {
            let random = &mut self.random;
            let (object, place) = (object_of(hashes), LastComponent::of(interest.name()));
            sharing.note_interest(now, hashes.whole(), object, place, || random.chance(0.5));
        }
    }

    /// Sends an Interest by a face whose link is shared, or lets it wait for what others there have asked
    /// for.
    #[inline(never)]
    pub(super) fn share(&mut self, now: Instant, id: PendingId, nonce: Nonce, transmit: Transmit) {
        let Some(entry) = self.tables.pending.get(id) else { return };
        let hashes = self.hasher.hash(entry.interest.dialect(), entry.name().components());
        let is_local = entry.in_records.iter().any(|record| record.is_local);
        let (expires, lifetime) = (entry.expires, entry.interest.lifetime());
        let place = if is_local { LastComponent::of(entry.name()) } else { None };
        let face = transmit.face;
        let wait = self.random_wait(face);
        let Some(sharing) = self.shared.get_mut(face) else { return };
        let Some(object) = object_of(&hashes) else { return self.send_shared(transmit) };
        let (asked_at, times) = (sharing.asked_at(hashes.whole()), sharing.times());
        let (flow, forgotten) = sharing.flows.enter(now, object);
        if is_local {
            flow.local_until = flow.local_until.max(expires);
        }
        let answer_timeout = flow.in_order.answer_timeout(times);
        let asked_at = asked_at.filter(|at| *at >= flow.entered_at || *at + answer_timeout > now);
        if let Some(place) = &place {
            if let Some(is_own) = flow.in_order.is_under_way(place) {
                flow.in_order.renew(place, id, hashes.whole(), transmit);
                return self.tables.pending.mark_unsent(id, face, !is_own);
            }
            let again_at = asked_at.map_or(Instant::NEVER, |at| (at + answer_timeout).max(now + wait));
            let entry = (id, hashes.whole());
            flow.in_order.enter(place.clone(), entry, transmit.clone(), asked_at, again_at);
        }
        let stands_for = answer_timeout.max(times.longest);
        let asked_until = asked_at.map(|at| at + stands_for).filter(|until| *until > now);
        let waits_until = asked_until.max(flow.turn_at(now, &sharing.config, wait));
        sharing.counters.forgotten += forgotten.count();
        let without_room = match waits_until {
            Some(due) => {
                let give_up_at = now + part_of(lifetime, MAX_WAIT);
                let without_room =
                    sharing.wait(due, QueuedInterest { object, id, nonce, give_up_at, transmit });
                self.shared.wake_at(due);
                self.tables.pending.mark_unsent(id, face, true);
                without_room
            }
            None => {
                sharing.note_own_interest(now, hashes.whole(), object, place);
                self.send_shared(transmit);
                None
            }
        };
        self.release_forgotten(now, face, forgotten, without_room);
        self.shared.wake_for(face, object);
    }

    /// Sends what waited without room, and gives what was held back of an object that is forgotten.
    #[inline]
    fn release_forgotten(
        &mut self,
        now: Instant,
        face: FaceId,
        Forgotten { waiting, held }: Forgotten,
        without_room: Option<QueuedInterest>,
    ) {
        for waiting in waiting.into_iter().chain(without_room) {
            self.send_waiting(now, waiting);
        }
        for held in held {
            self.give_held(now, face, held);
        }
    }

    /// Sends what waited on shared links and is due.
    pub(crate) fn release_shared(&mut self, now: Instant) {
        if self.shared.next_deadline() > now {
            return;
        }
        let mut place = 0;
        while let Some(face) = self.shared.face_at(place) {
            place += 1;
            let (shared, random) = (&mut self.shared, &mut self.random);
            let Some(sharing) = shared.get_mut(face) else { continue };
            let config = sharing.config;
            let draw = || part_of(config.max_wait, random.unit());
            let mut objects = Vec::new();
            for waiting in sharing.flows.release(now, &config, draw, &mut objects) {
                self.send_waiting(now, waiting);
            }
            for object in objects {
                self.begin_to_ask(now, face, object);
            }
            self.release_answers(now, face);
            self.repeat_lost(now, face);
            self.release_all_held(now, face);
        }
        self.shared.look_again();
    }

    /// Asks again for what was lost on a shared link.
    fn repeat_lost(&mut self, now: Instant, face: FaceId) {
        let mut place = 0;
        let pending = &self.tables.pending;
        let is_wanted = |id, name| {
            let entry: Option<&Pending> = pending.get(id).filter(|entry| entry.hash() == name);
            let waits = |entry: &Pending| {
                entry.in_records.iter().any(|record| record.face != face && record.expires > now)
            };
            entry.is_some_and(waits)
        };
        let mut repeats = Vec::new();
        let Some(times) = self.shared.get(face).map(Sharing::times) else { return };
        while let Some(flow) = self.shared.get_mut(face).and_then(|sharing| sharing.flows.at_mut(place)) {
            place += 1;
            let object = flow.object;
            repeats.extend(
                flow.in_order.repeats(now, times, is_wanted).into_iter().map(|repeat| (object, repeat)),
            );
        }
        for (object, Repeat { place, id, name, mut transmit }) in repeats {
            let nonce = Nonce(self.random.next_u32());
            let Packet::Interest(interest) = &mut transmit.packet else { continue };
            if interest.set_nonce(nonce).is_err() {
                continue;
            }
            let Some(entry) = self.tables.pending.get_mut(id) else { continue };
            if let Some(record) = entry.out_record_mut(face) {
                (record.nonce, record.sent_at, record.is_unsent) = (nonce, now, false);
            }
            let Some(sharing) = self.shared.get_mut(face) else { return };
            sharing.note_own_interest(now, name, object, Some(place));
            sharing.counters.repeated += 1;
            self.send_shared(transmit);
        }
    }

    /// Gives Data of an object that was held back to whoever waits for it, where nothing is missing any more.
    pub(super) fn release_held(&mut self, now: Instant, face: FaceId, object: Option<NameHash>) {
        let Some(object) = object else { return };
        while let Some(sharing) = self.shared.get_mut(face)
            && let Some(flow) = sharing.flows.get_mut(object)
            && let Some(held) = flow.in_order.pop_held(now)
        {
            self.give_held(now, face, held);
        }
    }

    /// The same of all objects.
    fn release_all_held(&mut self, now: Instant, face: FaceId) {
        let mut place = 0;
        while let Some(flow) = self.shared.get_mut(face).and_then(|sharing| sharing.flows.at_mut(place)) {
            match flow.in_order.pop_held(now) {
                Some(held) => self.give_held(now, face, held),
                None => place += 1,
            }
        }
    }

    fn give_held(&mut self, now: Instant, face: FaceId, held: DelayedData) {
        match held {
            DelayedData::Answer(answer) => self.send_answer(now, *answer),
            DelayedData::Arrived { name, data, header } => {
                self.take_held(Reception { now, face, header: &header }, name, data);
            }
        }
    }

    fn release_answers(&mut self, now: Instant, face: FaceId) {
        while let Some(sharing) = self.shared.get_mut(face)
            && let Some(answer) = sharing.answers.pop_due(now)
        {
            if sharing.is_answered_since(answer.since, answer.name) {
                sharing.counters.answers_left_to_others += 1;
                continue;
            }
            sharing.note_data(now, answer.name);
            self.send_answer(now, answer.transmit);
        }
    }

    fn send_answer(&mut self, now: Instant, answer: Transmit) {
        let mut explicit_rate = None;
        let Some(face) = self.faces.get_mut(answer.face) else { return };
        if let Packet::Data(data) = &answer.packet {
            face.counters.packets.out_data += 1;
            let control = face.rate_control.as_mut();
            explicit_rate = control.map(|control| control.handle_data(now, data.wire().len(), None));
        }
        self.counters.data_sent += 1;
        self.transmits.push(Transmit { explicit_rate, ..answer });
    }

    /// Sends Interests of an object that wait: a few if this node begins to ask, unless another has begun
    /// meanwhile.
    fn begin_to_ask(&mut self, now: Instant, face: FaceId, object: NameHash) {
        for _ in 0..FIRST_INTERESTS {
            if self.send_next_waiting(now, face, object) != Some(Sent::Out) {
                return;
            }
        }
    }

    /// Sends some more after an answer; those that another has asked for meanwhile wait on.
    fn ask_more(&mut self, now: Instant, face: FaceId, object: NameHash) {
        let (mut out, mut passed) = (0, 0);
        while out < INTERESTS_FOR_DATA && passed < MAX_PASSED_OVER {
            match self.send_next_waiting(now, face, object) {
                Some(Sent::Out) => out += 1,
                Some(Sent::WaitsOn) => passed += 1,
                None => return,
            }
        }
    }

    /// The next Interest that waits and is still wanted; nothing if there is none. What is wanted no more is
    /// forgotten on the way.
    fn send_next_waiting(&mut self, now: Instant, face: FaceId, object: NameHash) -> Option<Sent> {
        for _ in 0..MAX_FORGOTTEN {
            let flow = self.shared.get_mut(face).and_then(|sharing| sharing.flows.get_mut(object));
            let waiting = flow.and_then(Flow::pop_waiting)?;
            if let Some(sent) = self.send_waiting(now, waiting) {
                return Some(sent);
            }
        }
        Some(Sent::WaitsOn)
    }

    /// Sends an Interest that has waited, or lets it wait on if another has asked for the same; nothing if it
    /// was answered meanwhile, or asked again.
    fn send_waiting(&mut self, now: Instant, waiting: QueuedInterest) -> Option<Sent> {
        let face = waiting.transmit.face;
        let hash = self.tables.hash_if_wanted(now, &waiting);
        let sharing = self.shared.get_mut(face)?;
        let stands_for = sharing.stands_for(waiting.object);
        let asked_at = hash.and_then(|hash| sharing.asked_at(hash));
        let due = asked_at.map(|at| at + stands_for).filter(|due| *due > now && waiting.give_up_at > now);
        let Some(due) = due else { return self.send_if_wanted(now, waiting) };
        let without_room = sharing.flows.wait(due, waiting);
        self.shared.wake_at(due);
        if let Some(oldest) = without_room {
            self.send_if_wanted(now, oldest);
        }
        Some(Sent::WaitsOn)
    }

    fn send_if_wanted(&mut self, now: Instant, waiting: QueuedInterest) -> Option<Sent> {
        let hash = self.tables.hash_if_wanted(now, &waiting);
        let face = waiting.transmit.face;
        let sharing = self.shared.get_mut(face)?;
        let Some(hash) = hash else {
            sharing.counters.left_to_others += 1;
            return None;
        };
        let place = match &waiting.transmit.packet {
            Packet::Interest(interest) => LastComponent::of(interest.name()),
            _ => None,
        };
        sharing.note_own_interest(now, hash, waiting.object, place);
        self.tables.pending.mark_unsent(waiting.id, face, false);
        self.send_shared(waiting.transmit);
        Some(Sent::Out)
    }

    /// Holds an answer from the content store back from a local application, if something before it of the
    /// same object was asked for on a shared link and has not come; gives it back if not.
    #[inline(never)]
    pub(super) fn hold_answer(
        &mut self,
        now: Instant,
        hashes: &PrefixHashes,
        answer: Transmit,
    ) -> Option<Transmit> {
        let Packet::Data(data) = &answer.packet else { return Some(answer) };
        let (Some(object), Some(place)) = (object_of(hashes), LastComponent::of(data.name())) else {
            return Some(answer);
        };
        let (shared, random) = (&mut self.shared, &mut self.random);
        let mut at = 0;
        while let Some(face) = shared.face_at(at) {
            at += 1;
            let Some(sharing) = shared.get_mut(face) else { continue };
            let (config, times) = (sharing.config, sharing.times());
            let has_room = sharing.flows.may_hold();
            let Some(flow) = sharing.flows.get_mut(object) else { continue };
            let answer_timeout = flow.in_order.answer_timeout(times);
            let draw = || part_of((answer_timeout / 2).min(config.max_wait), random.unit());
            if !flow.in_order.note_gap(now, &place, now, times, draw) {
                continue;
            }
            if flow.in_order.is_answer_held(&place, &answer) {
                return None;
            }
            if !has_room {
                return Some(answer);
            }
            let back = flow.in_order.hold(now, (place, now), times, DelayedData::Answer(Box::new(answer)));
            sharing.counters.held += u64::from(back.is_none());
            let due = flow.in_order.next_deadline();
            shared.wake_at(due);
            return match back {
                Some(DelayedData::Answer(answer)) => Some(*answer),
                _ => None,
            };
        }
        Some(answer)
    }

    /// Takes note of Data that is on a shared link; keeps it if it belongs to what an application here asks
    /// for, or holds it back.
    #[inline(never)]
    pub(super) fn overhear_data(
        &mut self,
        arrived: ArrivedData<'_>,
        data: &Data,
        found: &DataMatches,
    ) -> SharedDataOutcome {
        let ArrivedData { now, from: face, name, header } = arrived;
        let own = |id: PendingId| {
            let record = self.tables.pending.get(id).and_then(|entry| entry.out_record(face));
            record.is_some_and(|record| !record.is_unsent)
        };
        let (is_wanted, is_own) = (!found.matches.is_empty(), found.matches.iter().any(own));
        let object = match name.hashes {
            Some(hashes) => object_of(hashes),
            None => object_of(&self.hasher.hash(data.dialect(), data.name().components())),
        };
        let (shared, random) = (&mut self.shared, &mut self.random);
        let Some(sharing) = shared.get_mut(face) else { return SharedDataOutcome::GoesOn(None) };
        let answer_time = sharing.answer_time(now, name.hash);
        sharing.note_data(now, name.hash);
        let (config, times) = (sharing.config, sharing.times());
        let has_room = is_wanted && sharing.flows.may_hold();
        let flow = object.and_then(|object| sharing.flows.get_mut(object));
        let Some(flow) = flow else { return SharedDataOutcome::GoesOn(None) };
        let place = LastComponent::of(data.name());
        let is_held = place.as_ref().is_some_and(|place| flow.in_order.is_held(place, data));
        let is_repair = is_held || place.as_ref().is_some_and(|place| flow.in_order.is_lost(place));
        if is_repair {
            // It says nothing about who asks for all.
        } else if is_own {
            flow.note_own_data(now, &config);
        } else if is_wanted || found.known.is_none() {
            flow.note_foreign_data(now, is_wanted);
        }
        // Many have asked for a repair; only who asks for all goes on after it.
        let may_ask_more = is_own && (flow.leads() || !is_repair) && flow.may_go_on(now, &config);
        // What is held back goes to whoever waits in its order, and not before because it came twice.
        let mut waits = is_held && is_wanted;
        if let Some(place) = place {
            let answer_timeout = flow.in_order.answer_timeout(times);
            let draw = || part_of((answer_timeout / 2).min(config.max_wait), random.unit());
            // What answers nobody here may have the name alone of what is asked for.
            let order =
                if is_wanted { flow.in_order.note_data(now, &place, times, draw) } else { Order::None };
            if let (Order::None, Some(answer_time)) = (order, answer_time) {
                flow.in_order.note_answer_time(answer_time);
            }
            if let (Order::Missing(asked_at), true) = (order, has_room) {
                let (data, header) = (data.clone(), header.clone());
                let held = DelayedData::Arrived { name: name.hash, data, header };
                waits = flow.in_order.hold(now, (place, asked_at), times, held).is_none();
                sharing.counters.held += u64::from(waits);
            }
        }
        let wake_at = flow.in_order.next_deadline();
        let keep = !is_wanted && arrived.is_cacheable() && found.known.is_none() && flow.local_until > now;
        if keep {
            sharing.counters.overheard += 1;
            let incoming = IncomingData::at(now, data, name.kept(), found.known);
            self.tables.store.insert(&mut self.tables.index, incoming);
        }
        self.shared.wake_at(wake_at);
        if let Some(object) = object.filter(|_| may_ask_more) {
            self.ask_more(now, face, object);
        }
        if keep || waits { SharedDataOutcome::Taken } else { SharedDataOutcome::GoesOn(object) }
    }

    /// Sends an answer from the content store by a shared link, unless the Data was there just now. A node
    /// that is itself behind the link, as seen from whoever has the Data, gives others a chance before.
    #[inline(never)]
    pub(super) fn share_answer(
        &mut self,
        Arrival { now, face, hashes, .. }: Arrival<'_>,
        interest: &Interest,
        data: Data,
        pit_token: PitToken,
    ) {
        if !self.faces.is_local(face) && scope::is_for_this_host_only(&data) {
            return self.counters.drops.add(DropReason::Scope, 1);
        }
        let incoming_face = Some(FaceId::CONTENT_STORE);
        let answer = Transmit { incoming_face, ..Transmit::plain(face, Packet::Data(data), pit_token) };
        let fib = &self.tables.fibs[interest.dialect() as usize];
        let node = self.tables.longest_match(interest, hashes);
        let is_behind = fib.next_hops(node).first().is_some_and(|hop| hop.face == face);
        let wait = self.random_wait(face);
        let Some(sharing) = self.shared.get_mut(face) else { return };
        let hash = hashes.whole();
        if sharing.is_answered(now, hash) {
            sharing.counters.answers_left_to_others += 1;
            return;
        }
        if is_behind && !sharing.is_asked_in_vain(now, hash, object_of(hashes)) {
            sharing.counters.answers_left_to_others += 1;
            return;
        }
        if !is_behind {
            sharing.note_data(now, hash);
            return self.send_answer(now, answer);
        }
        // Not before those who would have answered at once.
        let due = now + sharing.config.max_wait + wait;
        if sharing.answers.push(hash, now, due, answer) {
            self.shared.wake_at(due);
        } else {
            sharing.counters.answers_left_to_others += 1;
        }
    }

    fn random_wait(&mut self, face: FaceId) -> Duration {
        let max = self.shared.get(face).map_or(Duration::ZERO, |sharing| sharing.config.max_wait);
        part_of(max, self.random.unit())
    }

    fn send_shared(&mut self, interest: Transmit) {
        if let Some(face) = self.faces.get_mut(interest.face) {
            face.counters.packets.out_interests += 1;
        }
        self.counters.interests_sent += 1;
        self.transmits.push(interest);
    }

    #[inline]
    pub(super) fn is_shared(&self, face: FaceId) -> bool {
        // Most nodes have no such face, and need not look at this one.
        !self.shared.is_empty() && self.faces.get(face).is_some_and(|face| face.config.sharing.is_some())
    }
}

/// Hash of the object that a name belongs to: all but the last component.
fn object_of(hashes: &PrefixHashes) -> Option<NameHash> {
    hashes.prefix(hashes.component_count().checked_sub(1).filter(|count| *count > 0)?)
}
