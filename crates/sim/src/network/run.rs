//! Letting time pass.

use engine::batch::{poll_only_transmit, unpack};
use engine::{Arrival, Engine, FaceId, Transmit};
use packet::time::{Duration, Instant};
use packet::{NameHasher, Packet, PacketKind, PrefixHashes};

use crate::application::{Application, Context};
use crate::arena::{AppId, ChannelId, EndId, FrameId, FramedId, Id, NodeId, PacketId};
use crate::core::{Attachment, Core, End, HeldPacket, Stage};
use crate::error::SimError;
use crate::events::in_flight::{InFlight, OnLink};
use crate::events::queue::{Event, EventSource};
use crate::link::services::Delivered;
use crate::link::{Channel, Flight, LinkDropReason};
use crate::network::Network;
use crate::node::processor::{Admitted, QueuedPacket};
use crate::node::{Exit, Peer, Port};

/// More than any sensible network does without time passing.
const MAX_EVENTS_AT_ONE_INSTANT: u64 = 10_000_000;

impl Network {
    /// Lets so much time pass.
    ///
    /// # Errors
    /// Time stands still.
    pub fn run_for(&mut self, span: Duration) -> Result<(), SimError> {
        self.run_until(self.core.now + span)
    }

    /// Lets time pass up to `end`; what happens at that very instant is included.
    ///
    /// # Errors
    /// Time stands still.
    pub fn run_until(&mut self, end: Instant) -> Result<(), SimError> {
        self.start_applications();
        if self.cores.are_several() {
            self.run_on_cores(end)?;
        }
        while let Some(&Event { turn, .. }) = self.core.queue.first()
            && turn.at <= end
        {
            self.step()?;
        }
        if end != Instant::NEVER {
            self.core.now = self.core.now.max(end);
        }
        Ok(())
    }

    /// Lets time pass until nothing is left to happen, or `limit` is over: then it gives false.
    ///
    /// # Errors
    /// Time stands still.
    pub fn run_until_quiet(&mut self, limit: Duration) -> Result<bool, SimError> {
        self.run_while(limit, |_| true)?;
        Ok(self.core.queue.first().is_none())
    }

    /// Lets time pass as long as `goes_on` says so, something is left to happen, and `limit` is not over.
    /// Asked after every event.
    ///
    /// # Errors
    /// Time stands still.
    pub fn run_while(
        &mut self,
        limit: Duration,
        mut goes_on: impl FnMut(&Network) -> bool,
    ) -> Result<(), SimError> {
        let end = self.core.now + limit;
        self.start_applications();
        while goes_on(self)
            && let Some(&Event { turn, .. }) = self.core.queue.first()
            && turn.at <= end
        {
            self.step()?;
        }
        Ok(())
    }

    /// Handles the first event.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), SimError> {
        let Some(&Event { turn, source }) = self.core.queue.first() else { return Ok(()) };
        if turn.at > self.core.now {
            self.core.now = turn.at;
            self.core.events_at_this_instant = 0;
            self.core.ties.begin(source);
        } else if !self.core.ties.any {
            self.core.note_simultaneous(source);
        }
        self.core.events_at_this_instant += 1;
        if self.core.events_at_this_instant > MAX_EVENTS_AT_ONE_INSTANT {
            return Err(SimError::TimeStandsStill(turn.at));
        }
        if let EventSource::Channel(channel) = source {
            let core = &mut self.core;
            let crossed = &mut core.channels[channel];
            match crossed.flights.first() {
                Some(&Flight { turn: due, carried, end }) if due == turn => {
                    crossed.flights.take();
                    match crossed.flights.first() {
                        Some(next) => core.queue.put_off_first(next.turn),
                        None => drop(core.queue.pop()),
                    }
                    core.prepare(channel);
                    self.arrive(channel, end, carried);
                }
                // The link was cut meanwhile.
                _ => drop(core.queue.pop()),
            }
        } else {
            self.core.queue.pop();
            self.handle(Event { turn, source });
        }
        self.deliver_outbox();
        Ok(())
    }

    fn handle(&mut self, Event { turn, source }: Event) {
        let core = &mut self.core;
        match source {
            EventSource::Channel(_) => {}
            EventSource::Departure(channel) => {
                if core.channels[channel].departure == Some(turn) {
                    core.channels[channel].departure = None;
                    core.end_departure(channel);
                }
            }
            EventSource::Engine(node) => {
                let slot = &mut core.nodes[node];
                let Some(engine) = &mut slot.engine else { return };
                if slot.alarm.goes_off(&mut core.queue, turn, source) {
                    engine.advance(slot.engine_clock.reading(core.now));
                    self.settle_engine(node);
                }
            }
            EventSource::Processor(node) => {
                let processor = core.nodes[node].processor.as_mut();
                if let Some((packet_id, face)) = processor.and_then(|processor| processor.take(turn)) {
                    self.process(node, face, packet_id);
                    if let Some(processor) = &mut self.core.nodes[node].processor {
                        processor.looked_at();
                    }
                }
            }
            EventSource::Application(application) => {
                let alarm = &mut core.attachments[application].alarm;
                if alarm.goes_off(&mut core.queue, turn, source) {
                    self.call(application, |application, context| application.handle_timer(context));
                }
            }
            EventSource::Held(place) => {
                let Some(held) = core.held.take(place) else { return };
                if core.channels[held.channel].epoch == held.epoch {
                    self.go_on(held);
                } else {
                    core.in_flight.discard(held.carried);
                }
            }
            EventSource::Framed(number) => {
                if core.framed[number].alarm.goes_off(&mut core.queue, turn, source) {
                    let delivered = core.wake_framed(number);
                    self.deliver(number, delivered);
                }
            }
            EventSource::Plan(number) => self.carry_out(number),
        }
    }

    /// Something has crossed a link.
    #[inline(always)]
    fn arrive(&mut self, number: ChannelId, from: EndId, carried: OnLink) {
        let core = &mut self.core;
        core.hops += 1;
        let packet_id = match carried {
            OnLink::Packet(packet_id) => packet_id,
            OnLink::Frame(frame) => return self.receive_frame(number, from, frame),
        };
        let Channel { link, is_tapped, .. } = core.channels[number];
        let arrived = core.in_flight.get_mut(packet_id);
        arrived.hops += 1;
        core.trace.note_arrival(core.now, link, from, arrived);
        let link = &core.links[link];
        if link.is_shared() {
            return self.arrive_at_all(number, from, packet_id);
        }
        let end = EndId::from_index(1 - (from.index() & 1));
        let End { node, face } = link.ends[end.index()];
        if is_tapped && !self.core.show_received(number, from, end, packet_id) {
            return;
        }
        self.enter(node, face, packet_id);
    }

    /// What was held back goes on.
    fn go_on(&mut self, held: HeldPacket) {
        let HeldPacket { channel, end, carried, stage, .. } = held;
        match (stage, carried) {
            (Stage::Crossing, _) => self.arrive(channel, end, carried),
            (Stage::Leaving, OnLink::Packet(packet_id)) => self.core.put_on_link(channel, end, packet_id),
            (Stage::Leaving, OnLink::Frame(_)) => self.core.put_frame_on_link(channel, end, carried),
            (Stage::Entering(at), OnLink::Packet(packet_id)) => {
                let link = self.core.channels[channel].link;
                let End { node, face } = self.core.links[link].ends[at.index()];
                self.enter(node, face, packet_id);
            }
            (Stage::Entering(at), OnLink::Frame(frame)) => {
                let Some(framed) = self.core.channels[channel].framed else { return };
                let delivered = self.core.receive_held_frame(framed, end, at, frame);
                self.deliver(framed, delivered);
            }
        }
    }

    fn arrive_at_all(&mut self, number: ChannelId, from: EndId, packet_id: PacketId) {
        let link = self.core.channels[number].link;
        for end in 0..self.core.links[link].ends.len() {
            if end == from.index() || self.core.channels[number].is_missed() {
                continue;
            }
            let End { node, face } = self.core.links[link].ends[end];
            let copy = self.core.in_flight.copy_of(packet_id);
            let end = EndId::from_index(end);
            if self.core.channels[number].is_tapped && !self.core.show_received(number, from, end, copy) {
                continue;
            }
            self.enter(node, face, copy);
        }
        self.core.in_flight.release(packet_id);
    }

    fn receive_frame(&mut self, number: ChannelId, from: EndId, frame: FrameId) {
        if let Some(framed) = self.core.channels[number].framed {
            let delivered = self.core.receive_frame(framed, number, from, frame);
            self.deliver(framed, delivered);
        }
    }

    /// Hands on what the services of a link have delivered.
    fn deliver(&mut self, number: FramedId, delivered: Vec<Delivered>) {
        let link = self.core.framed[number].link;
        for Delivered { end, packet, header } in delivered {
            let Some(&End { node, face }) = self.core.links[link].ends.get(end.index()) else { continue };
            let packet_id = self.core.wrap(packet, header);
            self.enter(node, face, packet_id);
        }
    }

    /// A packet enters a node: at once, or by way of its processor.
    #[inline(always)]
    pub(crate) fn enter(&mut self, node: NodeId, face: FaceId, packet_id: PacketId) {
        if self.core.nodes[node].processor.is_some() {
            return self.queue_for_processor(node, face, packet_id);
        }
        self.process(node, face, packet_id);
    }

    fn queue_for_processor(&mut self, node: NodeId, face: FaceId, packet_id: PacketId) {
        let core = &mut self.core;
        let (by, rank) = (core.used(node, face), core.nodes[node].alarm.rank);
        let Some(processor) = &mut core.nodes[node].processor else { return };
        match processor.admit(core.now, by, core.in_flight.get(packet_id).kind()) {
            Some(Admitted { done, slept }) => {
                let turn = core.queue.plan(done, rank, EventSource::Processor(node));
                processor.waiting.push_back(QueuedPacket { turn, packet: packet_id, face, slept });
            }
            None => {
                let reason = LinkDropReason::ProcessorQueueFull;
                core.trace.note_node_drop(core.now, node, reason, core.in_flight.get(packet_id));
                core.in_flight.release(packet_id);
            }
        }
    }

    /// Runs the engine of a node for one packet, and carries away what it sends.
    #[inline]
    fn process(&mut self, number: NodeId, face: FaceId, packet_id: PacketId) {
        let core = &mut self.core;
        let node = &mut core.nodes[number];
        let Some(engine) = &mut node.engine else { return self.process_at_host(number, face, packet_id) };
        let now = node.engine_clock.reading(core.now);
        let slot = core.in_flight.get_mut(packet_id);
        let received = receive(engine, now, face, slot);
        let only = poll_only_transmit(engine, |only| {
            received.names_like(&only.packet)
                && (!node.shares || is_named(&core.hasher, &only.packet, &slot.hashes))
        });
        let Some(only) = only else { return self.carry_away(number, packet_id, received) };
        // What goes out under the name that came in takes its place, so that the hashes need not be copied.
        debug_assert_eq!(
            slot.hashes.whole(),
            core.hasher.hash(only.packet.dialect(), only.packet.name().components()).whole(),
        );
        if received.kind == PacketKind::Interest && matches!(only.packet, Packet::Data(_)) {
            slot.hops = 0;
            if let Some(processor) = &mut node.processor {
                processor.answer(core.now);
            }
        }
        let exit = node.exit(only.face);
        slot.packet = Some(unpack(only, &mut slot.header));
        // The alarm has its turn behind the packet's.
        let alarm_at = node.look_after_engine(core.now);
        self.dispatch(number, exit, packet_id);
        if let Some(at) = alarm_at {
            self.set_engine_alarm(number, at);
        }
    }

    /// Carries away what an engine sends for a packet, if that is anything but one packet of the same name.
    #[inline(never)]
    fn carry_away(&mut self, number: NodeId, packet_id: PacketId, received: Received) {
        match self.poll_engine(number) {
            Some(first) => self.dispatch_several(number, packet_id, received, first),
            None => self.core.in_flight.release(packet_id),
        }
        self.look_after_engine(number);
    }

    fn dispatch_several(&mut self, number: NodeId, packet_id: PacketId, received: Received, first: Transmit) {
        let InFlight { hashes, hops, .. } = *self.core.in_flight.get(packet_id);
        self.core.in_flight.release(packet_id);
        let mut next = Some(first);
        while let Some(transmit) = next {
            let exit = self.core.nodes[number].exit(transmit.face);
            let (packet, header) = transmit.into_parts();
            let core = &mut self.core;
            let is_same = received.names_like(&packet)
                && (!core.nodes[number].shares || is_named(&core.hasher, &packet, &hashes));
            let packet_id =
                if is_same { core.in_flight.add(packet, header, &hashes) } else { core.wrap(packet, header) };
            debug_assert!(core.has_own_hashes(packet_id), "it goes on with the hashes of another name");
            if received.kind == PacketKind::Data {
                self.core.in_flight.get_mut(packet_id).hops = hops;
            }
            self.dispatch(number, exit, packet_id);
            next = self.poll_engine(number);
        }
    }

    fn poll_engine(&mut self, number: NodeId) -> Option<Transmit> {
        self.core.nodes[number].engine.as_mut()?.poll_transmit()
    }

    /// Carries away what an engine sends when no packet came in.
    pub(crate) fn settle_engine(&mut self, number: NodeId) {
        while let Some(transmit) = self.poll_engine(number) {
            let exit = self.core.nodes[number].exit(transmit.face);
            let (packet, header) = transmit.into_parts();
            let packet_id = self.core.wrap(packet, header);
            self.dispatch(number, exit, packet_id);
        }
        self.look_after_engine(number);
    }

    /// Carries away what an engine sends because its owner has changed something.
    pub(crate) fn settle(&mut self, number: NodeId) {
        self.settle_engine(number);
        self.deliver_outbox();
    }

    /// Takes events away and sets the alarm.
    fn look_after_engine(&mut self, number: NodeId) {
        if let Some(at) = self.core.nodes[number].look_after_engine(self.core.now) {
            self.set_engine_alarm(number, at);
        }
    }

    #[inline(never)]
    fn set_engine_alarm(&mut self, number: NodeId, at: Instant) {
        self.core.nodes[number].alarm.set(&mut self.core.queue, at, EventSource::Engine(number));
    }

    /// Takes a packet to where a face leads.
    #[inline(always)]
    fn dispatch(&mut self, number: NodeId, exit: Exit, packet_id: PacketId) {
        if exit.is_charged {
            self.core.charge_sending(number, exit.face, packet_id);
        }
        match exit.peer {
            Some(Peer::Channel { channel, end }) => self.core.transmit(channel, end, packet_id),
            Some(Peer::Application(application)) => self.hand_over(application, packet_id),
            Some(Peer::Gone) | None => {
                let core = &mut self.core;
                core.trace.note_node_drop(
                    core.now,
                    number,
                    LinkDropReason::UnknownFace,
                    core.in_flight.get(packet_id),
                );
                core.in_flight.release(packet_id);
            }
        }
    }

    /// A host passes what its applications send to its links, and what comes by its links to its
    /// applications.
    fn process_at_host(&mut self, number: NodeId, face: FaceId, packet_id: PacketId) {
        let node = &self.core.nodes[number];
        let from_application = matches!(node.ports.get(face), Some(Port { peer: Peer::Application(_), .. }));
        for other in node.ports.ids() {
            let peer = self.core.nodes[number].ports[other].peer;
            match peer {
                Peer::Channel { channel, end } if from_application => {
                    let copy = self.core.in_flight.copy_of(packet_id);
                    self.core.transmit(channel, end, copy);
                }
                Peer::Application(application) if !from_application => {
                    let copy = self.core.in_flight.copy_of(packet_id);
                    self.hand_over(application, copy);
                }
                _ => {}
            }
        }
        self.core.in_flight.release(packet_id);
    }

    /// Gives a packet to an application.
    fn hand_over(&mut self, number: AppId, packet_id: PacketId) {
        let slot = self.core.in_flight.get_mut(packet_id);
        let Some(packet) = slot.packet.take() else { return };
        let header = std::mem::take(&mut slot.header);
        let Some(application) = self.applications.get_mut(number) else { return };
        let mut context = Context::new(&mut self.core, number, Some((packet_id, packet.name())));
        match &packet {
            Packet::Interest(interest) => application.handle_interest(&mut context, interest, &header),
            Packet::Data(data) => application.handle_data(&mut context, data, &header),
            Packet::Nack(interest, reason) => application.handle_nack(&mut context, interest, *reason),
        }
        if context.finish().is_some() {
            self.core.in_flight.release(packet_id);
        }
    }

    /// Calls an application for another reason than a packet.
    pub(crate) fn call(
        &mut self,
        number: AppId,
        action: impl FnOnce(&mut dyn Application, &mut Context<'_>),
    ) {
        if let Some(application) = self.applications.get_mut(number) {
            action(&mut **application, &mut Context::new(&mut self.core, number, None));
        }
    }

    /// Gives engines what applications have sent.
    #[inline(always)]
    fn deliver_outbox(&mut self) {
        if !self.core.outbox.is_empty() {
            self.empty_outbox();
        }
    }

    fn empty_outbox(&mut self) {
        while let Some((application, packet_id)) = self.core.outbox.pop_front() {
            let Attachment { node, face, .. } = self.core.attachments[application];
            self.core.events_at_this_instant += 1;
            if self.core.events_at_this_instant > MAX_EVENTS_AT_ONE_INSTANT {
                // The step that comes next says so.
                self.core.in_flight.release(packet_id);
                continue;
            }
            self.enter(node, face, packet_id);
        }
    }

    fn start_applications(&mut self) {
        if self.started == self.applications.len() {
            return;
        }
        let mut new: Vec<AppId> = self.applications.ids().skip(self.started).collect();
        new.sort_by_key(|number| self.core.attachments[*number].alarm.rank);
        self.started = self.applications.len();
        for number in new {
            self.call(number, |application, context| application.start(context));
            if !self.core.outbox.is_empty() && !self.core.ties.any {
                self.core.note_simultaneous(EventSource::Application(number));
            }
            self.deliver_outbox();
        }
    }
}

/// What an engine was given: enough to know under which name it answers.
#[derive(Clone, Copy)]
struct Received {
    kind: PacketKind,
    component_count: usize,
}

impl Received {
    /// Whether a packet that the engine sends now has the name of the one it was given: surely, if it holds
    /// none back.
    #[inline]
    fn names_like(&self, sent: &Packet) -> bool {
        match (self.kind, sent) {
            (PacketKind::Interest, Packet::Interest(_)) | (PacketKind::Data, Packet::Data(_)) => true,
            // Its name begins with that of the Interest.
            (PacketKind::Interest, Packet::Data(data)) => data.component_count() == self.component_count,
            _ => false,
        }
    }
}

impl Core {
    /// Whether what is kept of a packet's name is of its name.
    fn has_own_hashes(&self, packet_id: PacketId) -> bool {
        let InFlight { packet, hashes, .. } = self.in_flight.get(packet_id);
        packet.as_ref().is_none_or(|packet| is_named(&self.hasher, packet, hashes))
    }
}

/// Whether these are the hashes of a packet's name. Only nodes that share answers ask, so it stays out of the
/// way of the others.
#[cold]
#[inline(never)]
fn is_named(hasher: &NameHasher, packet: &Packet, hashes: &PrefixHashes) -> bool {
    hasher.hash(packet.dialect(), packet.name().components()).whole() == hashes.whole()
}

/// Gives an engine the packet in a slot.
#[inline(always)]
fn receive(engine: &mut Engine, now: Instant, face: FaceId, slot: &mut InFlight) -> Received {
    let component_count = slot.hashes.component_count();
    let received = Received { kind: slot.kind(), component_count };
    if let Some(packet) = slot.packet.take() {
        engine.receive(Arrival { now, face, hashes: &slot.hashes, header: &slot.header }, packet);
    }
    received
}
