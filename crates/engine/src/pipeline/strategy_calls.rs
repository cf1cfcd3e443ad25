//! Asking the strategy, and doing what it says.

use packet::time::{Duration, Instant};
use packet::{Buffer, Dialect, Interest, NackReason, NameRef, Nonce, Packet, PitToken, PrefixHashes};
use smallvec::SmallVec;

use crate::arrival::Arrival;
use crate::drop_reason::DropReason;
use crate::engine::Engine;
use crate::face::FaceTable;
use crate::face_id::FaceId;
use crate::scope;
use crate::strategy::{Action, HashedInterest, Routes, Strategy, StrategyContext, StrategyEvent, may_send};
use crate::tables::fib::{FibNode, NextHop};
use crate::tables::pending::{InRecord, MAX_RECORDS, OutRecord, Pending, PendingId};
use crate::transmit::Transmit;
use crate::trigger::Trigger;

/// When and where an Interest is sent, and what goes with it over the link.
#[derive(Clone, Copy)]
pub(crate) struct Departure {
    pub(crate) now: Instant,
    pub(crate) face: FaceId,
    /// In place of its own.
    pub(crate) nonce: Option<Nonce>,
    pub(crate) non_discovery: bool,
    pub(crate) congestion_mark: u64,
}

/// Where an Interest goes at once. Whoever has the Interest sends it there: to hand it down to where that is
/// found out would move it at every step.
#[derive(Clone, Copy)]
pub(crate) enum ForwardingDecision {
    /// By a face that it may go to.
    Open(Departure),
    /// By a face that the strategy or an application has named; whether it may go there is still to be seen.
    Ordered(Departure),
    /// Nowhere, or that has been seen to.
    None,
}

/// An Interest on its way out, but for itself.
struct Outgoing {
    departure: Departure,
    pit_token: PitToken,
    incoming_face: Option<FaceId>,
}

impl Outgoing {
    #[inline(always)]
    fn transmit(self, interest: Interest) -> Transmit {
        let Departure { face, non_discovery, congestion_mark, .. } = self.departure;
        let plain = Transmit::plain(face, Packet::Interest(interest), self.pit_token);
        Transmit { non_discovery, congestion_mark, incoming_face: self.incoming_face, ..plain }
    }
}

/// What a strategy wants.
enum StrategyDecision {
    /// What almost always is all: that the Interest goes on.
    Send(Departure),
    /// Anything else, which has been done.
    Done(Outcome),
}

/// What the strategy said about Data that arrived.
#[derive(Debug, Default)]
pub(crate) struct DataActions {
    pub(crate) hold: bool,
    pub(crate) announcement: Option<Buffer>,
}

/// What came of carrying the strategy's actions out.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The entry is gone.
    pub(crate) finished: bool,
    pub(crate) data: DataActions,
}

/// Digests of a face's Data that may be computed for each Interest it was sent that asks for one by its
/// digest. More than one, for other Data of the same name may come as well; it answers others.
const DIGESTS_PER_INTEREST: u32 = 2;
const MAX_DIGESTS_DUE: u32 = 1 << 16;
/// Longest time a strategy may keep an entry that nobody waits for.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Delegations of a forwarding hint, and components of each, that are looked at. Routes have no more
/// components.
const MAX_DELEGATIONS: usize = 16;
const MAX_DELEGATION_COMPONENTS: usize = PrefixHashes::MAX_PREFIX_COMPONENTS;

/// An Interest's name as the tables know it.
struct Matched<'a> {
    hashes: &'a PrefixHashes,
    /// Its longest match.
    node: FibNode,
}

impl Engine {
    /// Asks the strategy where an Interest that arrived should go, unless that is obvious.
    #[inline(always)]
    pub(super) fn ask_strategy(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) -> ForwardingDecision {
        if interest.dialect() == Dialect::Ccnx && !self.tables.namespaces.is_empty() {
            self.ask_strategy_by_rules(arrival, interest, id, trigger);
            return ForwardingDecision::None;
        }
        self.ask_strategy_alone(arrival, interest, id, trigger)
    }

    /// The same where rules of namespaces hold: what stays on this host is marked, and taps see it as well.
    #[cold]
    #[inline(never)]
    fn ask_strategy_by_rules(
        &mut self,
        arrival: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) {
        let Arrival { now, face, hashes, header } = arrival;
        let stays_on_host = self.tables.namespaces.stays_on_host(interest.wire_name(), hashes);
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        entry.stays_on_host = stays_on_host;
        let fib = &self.tables.fibs[interest.dialect() as usize];
        let route = fib.route_of(fib.longest_match(interest.name(), hashes));
        let taps = route.filter(|_| trigger == Trigger::New);
        let taps = taps.map(|route| self.tables.namespaces.taps(fib.prefix_hash(route))).unwrap_or_default();
        let decision = self.ask_strategy_alone(arrival, interest, id, trigger);
        self.carry_out_decision(id, interest.clone(), decision);
        for tap in taps {
            let Some(entry) = self.tables.pending.get(id) else { return };
            if entry.out_record(tap).is_none() && may_send(&self.faces, interest, entry, Some(face), tap) {
                let (non_discovery, congestion_mark) = (header.non_discovery, header.congestion_mark);
                let departure = Departure { now, face: tap, nonce: None, non_discovery, congestion_mark };
                self.send_interest(id, interest.clone(), departure);
            }
        }
    }

    #[inline(always)]
    fn ask_strategy_alone(
        &mut self,
        Arrival { now, face, hashes, header }: Arrival<'_>,
        interest: &Interest,
        id: PendingId,
        trigger: Trigger,
    ) -> ForwardingDecision {
        let node = self.tables.longest_match(interest, hashes);
        if trigger == Trigger::New
            && let Some(next_hop) = self.obvious_next_hop(face, interest, node, id)
        {
            let (non_discovery, congestion_mark) = (header.non_discovery, header.congestion_mark);
            return ForwardingDecision::Open(Departure {
                now,
                face: next_hop,
                nonce: None,
                non_discovery,
                congestion_mark,
            });
        }
        let event = StrategyEvent {
            now,
            trigger,
            ingress: Some(face),
            non_discovery: header.non_discovery,
            congestion_mark: header.congestion_mark,
            announcement: None,
        };
        let matched = Matched { hashes, node };
        let decision = self.call_strategy_about(id, interest, matched, event, |strategy, context| {
            strategy.after_interest(context);
        });
        match decision {
            StrategyDecision::Send(departure) => ForwardingDecision::Ordered(departure),
            StrategyDecision::Done(_) => ForwardingDecision::None,
        }
    }

    /// Sends an Interest where it was found to go, and sets the timer of its entry, if that is still
    /// there.
    #[inline(always)]
    pub(super) fn carry_out_decision(
        &mut self,
        id: PendingId,
        interest: Interest,
        decision: ForwardingDecision,
    ) {
        match decision {
            ForwardingDecision::Open(departure) => {
                if let Some(outgoing) = self.note_out(id, &interest, departure)
                    && let Some(vacant) = self.transmits.vacant()
                {
                    vacant.fill(outgoing.transmit(interest));
                }
            }
            ForwardingDecision::Ordered(departure) => self.send_interest(id, interest, departure),
            ForwardingDecision::None => {}
        }
        self.tables.pending.schedule(id);
    }

    /// Where an Interest goes that has just become pending and was sent nowhere, if its strategy need not be
    /// asked.
    #[inline(always)]
    fn obvious_next_hop(
        &mut self,
        ingress: FaceId,
        interest: &Interest,
        node: FibNode,
        id: PendingId,
    ) -> Option<FaceId> {
        let fib = &self.tables.fibs[interest.dialect() as usize];
        let (strategy, next_hops) = fib.strategy_and_next_hops(node);
        let instance = self.tables.strategies.get(strategy.0)?;
        if !instance.sends_new_to_first || interest.has_forwarding_hint() {
            return None;
        }
        let entry = self.tables.pending.get_mut(id).filter(|entry| entry.out_records.is_empty())?;
        entry.watches_data = instance.watches_data;
        let (first, others) = next_hops.split_first()?;
        if may_send(&self.faces, interest, entry, Some(ingress), first.face) {
            return Some(first.face);
        }
        first_allowed(&self.faces, interest, entry, ingress, others)
    }

    /// Calls the strategy of a pending Interest and carries out its actions.
    pub(crate) fn call_strategy(
        &mut self,
        id: PendingId,
        hashes: &PrefixHashes,
        event: StrategyEvent<'_>,
        call: impl FnOnce(&mut dyn Strategy, &mut StrategyContext<'_>),
    ) -> Outcome {
        let Some(entry) = self.tables.pending.get(id) else { return Outcome::default() };
        let interest = entry.interest.clone();
        let node = self.tables.longest_match(&interest, hashes);
        match self.call_strategy_about(id, &interest, Matched { hashes, node }, event, call) {
            StrategyDecision::Send(departure) => {
                self.send_interest(id, interest, departure);
                Outcome::default()
            }
            StrategyDecision::Done(outcome) => outcome,
        }
    }

    /// The same about an Interest that arrived, which is sent on: its own nonce and hop limit go upstream.
    fn call_strategy_about(
        &mut self,
        id: PendingId,
        interest: &Interest,
        Matched { hashes, node }: Matched<'_>,
        event: StrategyEvent<'_>,
        call: impl FnOnce(&mut dyn Strategy, &mut StrategyContext<'_>),
    ) -> StrategyDecision {
        let fib = &self.tables.fibs[interest.dialect() as usize];
        let hinted = if interest.has_forwarding_hint() { self.hinted_route(interest) } else { None };
        let route = hinted.unwrap_or(node);
        let Some(entry) = self.tables.pending.get_mut(id) else {
            return StrategyDecision::Done(Outcome::default());
        };
        let mut context = StrategyContext {
            event,
            interest: HashedInterest { interest, hashes, hasher: &self.hasher },
            routes: Routes { next_hops: fib.next_hops(route), fib, route, node },
            entry,
            faces: &self.faces,
            random: &mut self.random,
            actions: &mut self.actions,
        };
        if let Some(instance) = self.tables.strategies.get_mut(fib.strategy(node).0) {
            context.entry.watches_data = instance.watches_data;
            context.entry.is_hinted |= hinted.is_some();
            call(&mut *instance.strategy, &mut context);
        }
        // What almost always happens, apart: the Interest need not be shared with a command that follows.
        if let [Action::Send { face, nonce, non_discovery }] = self.actions[..] {
            self.actions.clear();
            let StrategyEvent { now, congestion_mark, .. } = event;
            return StrategyDecision::Send(Departure { now, face, nonce, non_discovery, congestion_mark });
        }
        StrategyDecision::Done(self.carry_out(id, interest, event))
    }

    /// The node to take next hops from when the Interest has a forwarding hint that counts here.
    fn hinted_route(&self, interest: &Interest) -> Option<FibNode> {
        let hint = interest.ndn()?.forwarding_hint().take(MAX_DELEGATIONS);
        let regions = &self.settings.producer_regions;
        if hint.clone().any(|hint| regions.iter().any(|region| hint.is_prefix_of(region.as_ref()))) {
            return None;
        }
        let fib = &self.tables.fibs[interest.dialect() as usize];
        // The first delegation that leads anywhere; if none does, the last is as good as any.
        let mut last = None;
        for delegation in hint {
            let delegation = delegation.prefix(MAX_DELEGATION_COMPONENTS);
            let hashes = self.hasher.hash(interest.dialect(), delegation.components());
            let node = fib.longest_match(delegation, &hashes);
            if !fib.next_hops(node).is_empty() {
                return Some(node);
            }
            last = Some(node);
        }
        last
    }

    fn carry_out(&mut self, id: PendingId, interest: &Interest, event: StrategyEvent<'_>) -> Outcome {
        let StrategyEvent { now, ingress, congestion_mark, .. } = event;
        let mut actions = std::mem::take(&mut self.actions);
        let (mut outcome, mut refused) = (Outcome::default(), false);
        for action in actions.drain(..) {
            match action {
                Action::Send { face, nonce, non_discovery } => {
                    let departure = Departure { now, face, nonce, non_discovery, congestion_mark };
                    self.send_interest(id, interest.clone(), departure);
                }
                Action::SuppressUpstream { face, span } => {
                    let entry = self.tables.pending.get_mut(id);
                    if let Some(record) = entry.and_then(|entry| entry.out_record_mut(face)) {
                        record.suppress_for = span;
                    }
                }
                Action::NackTo { face, reason } => {
                    refused = true;
                    self.nack_one(id, face, reason);
                }
                Action::NackAll { .. } | Action::Reject { .. } if self.turns_to_store(now, id) => {}
                // CCNx has no Nacks: as at a ccnd, who asked waits on. An application may publish without
                // having been asked.
                Action::NackAll { drop: DropReason::NoNextHop, .. }
                | Action::Reject { drop: DropReason::NoNextHop }
                    if interest.dialect() == Dialect::Ccnx =>
                {
                    self.counters.held_without_route += 1;
                }
                Action::NackAll { reason, drop } => {
                    self.count_drop(ingress, drop);
                    self.nack_all(id, reason);
                    outcome.finished = true;
                }
                Action::Reject { drop } => {
                    self.count_drop(ingress, drop);
                    outcome.finished = true;
                }
                Action::DropArrival { drop } => self.count_drop(ingress, drop),
                Action::CallAt(when) => {
                    if let Some(entry) = self.tables.pending.get_mut(id) {
                        entry.strategy_timer = when;
                    }
                }
                Action::WaitAtLeast(span) => {
                    if let Some(entry) = self.tables.pending.get_mut(id) {
                        entry.expires = entry.expires.max(now + span.min(MAX_WAIT));
                    }
                }
                Action::HoldData => outcome.data.hold = true,
                Action::Announce(announcement) => outcome.data.announcement = Some(*announcement),
                Action::Emit(event) => self.emit(*event),
            }
        }
        self.actions = actions;
        // What nobody waits for any more only keeps others out. Its nonces stay known, so that copies of it
        // are recognised.
        let nobody_waits = |record: &InRecord| record.expires <= now;
        outcome.finished |= refused
            && self.tables.pending.get(id).is_some_and(|entry| entry.in_records.iter().all(nobody_waits));
        if outcome.finished {
            self.finish(now, id);
        }
        outcome
    }

    /// Sends a pending Interest to a face, if scope allows it, and remembers that.
    pub(crate) fn send_interest(&mut self, id: PendingId, mut interest: Interest, departure: Departure) {
        let Some(entry) = self.tables.pending.get(id) else { return };
        let Some(target) = self.faces.get(departure.face) else {
            return self.counters.drops.add(DropReason::UnknownFace, 1);
        };
        if target.config.dialect != interest.dialect() {
            return self.counters.drops.add(DropReason::WrongDialect, 1);
        }
        let from_remote = || entry.in_records.iter().all(|record| !record.is_local);
        let to_local = target.is_local();
        if !scope::interest_may_leave(&interest, from_remote, || entry.stays_on_host, to_local) {
            return self.counters.drops.add(DropReason::Scope, 1);
        }
        if let Some(nonce) = departure.nonce
            && interest.set_nonce(nonce).is_err()
        {
            return self.counters.drops.add(DropReason::NoRoomForField, 1);
        }
        if let Some(outgoing) = self.note_out(id, &interest, departure) {
            self.transmits.push(outgoing.transmit(interest));
        }
    }

    /// Notes that a pending Interest goes to a face that it may go to. It has still to be sent there, unless
    /// that has been seen to.
    #[inline(always)]
    fn note_out(&mut self, id: PendingId, interest: &Interest, departure: Departure) -> Option<Outgoing> {
        let Departure { now, face, non_discovery, .. } = departure;
        let entry = self.tables.pending.get_mut(id)?;
        let record = OutRecord {
            face,
            nonce: interest.nonce().unwrap_or(Nonce(0)),
            sent_at: now,
            expires: now + interest.lifetime().min(self.settings.max_lifetime),
            suppress_for: Duration::ZERO,
            nacked: None,
            non_discovery,
            is_unsent: false,
        };
        if entry.out_records.is_empty() {
            entry.out_records = SmallVec::from_buf([record]);
        } else if !note_another(entry, record) {
            self.counters.drops.add(DropReason::NoNextHop, 1);
            return None;
        }
        let target = self.faces.get_mut(face)?;
        target.answers_due.note(id, record.nonce);
        if interest.implicit_digest().is_some() {
            target.digests_due = (target.digests_due + DIGESTS_PER_INTEREST).min(MAX_DIGESTS_DUE);
        }
        let local = target.is_local();
        let pit_token = if target.config.send_pit_tokens { id.token() } else { PitToken::NONE };
        // An application that a link tells this, and the node's own management, act for the face that asked
        // last.
        let incoming_face = if local {
            let asked_by = entry.in_records.iter().find(|record| Some(record.nonce) == interest.nonce());
            asked_by.or(entry.in_records.last()).map(|record| record.face)
        } else {
            None
        };
        let outgoing = Outgoing { departure, pit_token, incoming_face };
        if target.config.sharing.is_some() {
            // It may wait, and counts when it leaves.
            self.share(now, id, record.nonce, outgoing.transmit(interest.clone()));
            return None;
        }
        target.counters.packets.out_interests += 1;
        self.counters.interests_sent += 1;
        Some(outgoing)
    }

    /// Sends the Interest back to one face that waits, which then waits no more.
    pub(crate) fn nack_one(&mut self, id: PendingId, face: FaceId, reason: NackReason) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        let Some(place) = entry.in_records.iter().position(|record| record.face == face) else { return };
        let record = entry.in_records.remove(place);
        self.nack_record(id, record, reason);
    }

    /// The same to whoever left this record, which is no longer the entry's.
    fn nack_record(&mut self, id: PendingId, record: InRecord, reason: NackReason) {
        let Some(entry) = self.tables.pending.get(id) else { return };
        let (face, mut interest) = (record.face, entry.interest.clone());
        match self.faces.get_mut(face) {
            Some(face) => face.waits_for_one_less(),
            None => return,
        }
        // The downstream knows the Interest by the nonce it sent last.
        if interest.nonce() != Some(record.nonce) && interest.set_nonce(record.nonce).is_err() {
            return;
        }
        self.send_nack(face, interest, reason, record.pit_token);
    }

    /// Sends the Interest back to all who wait.
    pub(crate) fn nack_all(&mut self, id: PendingId, reason: NackReason) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        for record in std::mem::take(&mut entry.in_records) {
            self.nack_record(id, record, reason);
        }
    }

    /// Tells the strategies of all Interests pending under `prefix` that a next hop was added there.
    pub(crate) fn notify_strategies_of_next_hop(
        &mut self,
        now: Instant,
        dialect: Dialect,
        prefix: NameRef<'_>,
        hop: NextHop,
    ) {
        // Interests under the prefix may have a strategy that was chosen for a longer one.
        let wanted = self.tables.strategies.iter().any(|(_, instance)| {
            let chosen_for = instance.prefix.as_ref();
            let overlaps = chosen_for.is_prefix_of(prefix) || prefix.is_prefix_of(chosen_for);
            overlaps && instance.strategy.wants_new_next_hops()
        });
        if !wanted {
            return;
        }
        for id in self.tables.pending.under(dialect, prefix) {
            let Some(entry) = self.tables.pending.get(id) else { continue };
            let hashes = self.hasher.hash(dialect, entry.name().components());
            let event = StrategyEvent::other(now);
            let outcome = self.call_strategy(id, &hashes, event, |strategy, context| {
                strategy.after_new_next_hop(context, hop);
            });
            if !outcome.finished {
                self.tables.pending.schedule(id);
            }
        }
    }

    fn count_drop(&mut self, ingress: Option<FaceId>, reason: DropReason) {
        self.counters.drops.count(reason);
        if let Some(face) = ingress {
            self.faces.count_drop(face, reason);
        }
    }
}

/// Notes that an Interest was sent to one more face, or to one of them again; false if there is no room.
#[inline(never)]
fn note_another(entry: &mut Pending, record: OutRecord) -> bool {
    let has_room = entry.out_records.len() < MAX_RECORDS;
    match entry.out_record_mut(record.face) {
        Some(existing) => *existing = OutRecord { suppress_for: existing.suppress_for, ..record },
        None if has_room => entry.out_records.push(record),
        None => return false,
    }
    true
}

/// The first of these next hops that an Interest may go to. Apart from the first of all, which it almost
/// always may: in one loop what the answer depends on would be worked out before it, all of it.
#[inline(never)]
fn first_allowed(
    faces: &FaceTable,
    interest: &Interest,
    entry: &Pending,
    ingress: FaceId,
    next_hops: &[NextHop],
) -> Option<FaceId> {
    let allowed = next_hops.iter().find(|hop| may_send(faces, interest, entry, Some(ingress), hop.face));
    allowed.map(|hop| hop.face)
}
