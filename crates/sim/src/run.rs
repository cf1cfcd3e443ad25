//! Letting time pass.

use engine::{Arrival, Engine, FaceId, Transmit};
use packet::time::{Duration, Instant};
use packet::{Dialect, Interest, Packet, PacketKind};

use crate::application::{Application, Context};
use crate::core::{End, Residence};
use crate::error::SimError;
use crate::event_queue::{Event, Source};
use crate::framed::Delivered;
use crate::link::{Flight, LinkDropReason};
use crate::network::Network;
use crate::node::{MAX_EVENTS, Peer, Port, face_of, port_of};
use crate::parcel::Parcel;

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
    fn step(&mut self) -> Result<(), SimError> {
        let Some(&Event { turn, source }) = self.core.queue.first() else { return Ok(()) };
        if turn.at > self.core.now {
            self.core.now = turn.at;
            self.core.events_at_this_instant = 0;
        }
        self.core.events_at_this_instant += 1;
        if self.core.events_at_this_instant > MAX_EVENTS_AT_ONE_INSTANT {
            return Err(SimError::TimeStandsStill(turn.at));
        }
        if let Source::Channel(channel) = source {
            let core = &mut self.core;
            let crossed = &mut core.channels[channel as usize];
            match crossed.flights.front() {
                Some(&Flight { turn: due, cargo, end }) if due == turn => {
                    crossed.take_flight();
                    match crossed.flights.front() {
                        Some(next) => core.queue.put_off_first(next.turn),
                        None => drop(core.queue.pop()),
                    }
                    core.prepare(channel);
                    self.arrive(channel, end, cargo);
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
            Source::Channel(_) => {}
            Source::Departure(channel) => {
                if core.channels[channel as usize].departure == Some(turn) {
                    core.channels[channel as usize].departure = None;
                    core.end_departure(channel);
                }
            }
            Source::Engine(node) => {
                let slot = &mut core.nodes[node as usize];
                let Some(engine) = &mut slot.engine else { return };
                if slot.alarm.goes_off(&mut core.queue, turn, source) {
                    engine.advance(slot.engine_clock.reading(core.now));
                    self.settle_engine(node);
                }
            }
            Source::Processor(node) => {
                let waiting = core.nodes[node as usize].processor.as_mut().map(|part| &mut part.waiting);
                if let Some(waiting) = waiting
                    && waiting.front().is_some_and(|(due, ..)| *due == turn)
                    && let Some((_, parcel, port)) = waiting.pop_front()
                {
                    self.process(node, port, parcel);
                }
            }
            Source::Application(application) => {
                let alarm = &mut core.residences[application as usize].alarm;
                if alarm.goes_off(&mut core.queue, turn, source) {
                    self.call(application, |application, context| application.handle_timer(context));
                }
            }
            Source::Straggler(place) => {
                let Some(straggler) = core.stragglers[place as usize].take() else { return };
                let channel = &core.channels[straggler.channel as usize];
                if channel.epoch == straggler.epoch {
                    self.arrive(straggler.channel, straggler.end, straggler.cargo);
                } else if channel.framed.is_some() {
                    core.frames.take(straggler.cargo);
                } else {
                    core.parcels.release(straggler.cargo);
                }
            }
            Source::Framed(number) => {
                if core.framed[number as usize].alarm.goes_off(&mut core.queue, turn, source) {
                    let delivered = core.wake_framed(number);
                    self.deliver(number, delivered);
                }
            }
            Source::Plan(number) => self.carry_out(number),
        }
    }

    /// Something has crossed a link.
    #[inline]
    fn arrive(&mut self, number: u32, from: u32, cargo: u32) {
        let core = &mut self.core;
        core.hops += 1;
        let channel = &core.channels[number as usize];
        if let Some(framed) = channel.framed {
            let delivered = core.receive_frame(framed, number, from, cargo);
            return self.deliver(framed, delivered);
        }
        core.parcels.get_mut(cargo).hops += 1;
        core.trace.note_arrival(core.now, channel.link, from, core.parcels.get(cargo));
        let link = &core.links[channel.link as usize];
        if link.is_shared() {
            return self.arrive_at_all(number, from, cargo);
        }
        let End { node, port } = link.ends[1 - (from as usize & 1)];
        self.enter(node, port, cargo);
    }

    fn arrive_at_all(&mut self, number: u32, from: u32, cargo: u32) {
        let link = self.core.channels[number as usize].link as usize;
        for end in 0..self.core.links[link].ends.len() {
            if end == from as usize || self.core.channels[number as usize].is_missed() {
                continue;
            }
            let End { node, port } = self.core.links[link].ends[end];
            let copy = self.core.parcels.copy_of(cargo);
            self.enter(node, port, copy);
        }
        self.core.parcels.release(cargo);
    }

    /// Hands on what the services of a link have delivered.
    fn deliver(&mut self, number: u32, delivered: Vec<Delivered>) {
        let link = self.core.framed[number as usize].link as usize;
        for delivery in delivered {
            let (Delivered::Packet { end, .. } | Delivered::Loss { end, .. }) = delivery;
            let Some(&End { node, port }) = self.core.links[link].ends.get(end as usize) else { continue };
            match delivery {
                Delivered::Packet { packet, header, .. } => {
                    let parcel = self.core.wrap(packet, header);
                    self.enter(node, port, parcel);
                }
                Delivered::Loss { interest, .. } => self.report_loss(node, port, &interest),
            }
        }
    }

    fn report_loss(&mut self, node: u32, port: u32, interest: &Interest) {
        let hashes = self.core.hasher.hash(interest.dialect(), interest.name().components());
        let slot = &mut self.core.nodes[node as usize];
        let now = slot.engine_clock.reading(self.core.now);
        if let Some(engine) = &mut slot.engine {
            engine.handle_loss(now, face_of(port), interest, &hashes);
        }
        self.settle_engine(node);
    }

    /// A parcel enters a node: at once, or by way of its processor.
    #[inline]
    pub(crate) fn enter(&mut self, node: u32, port: u32, parcel: u32) {
        if self.core.nodes[node as usize].processor.is_some() {
            return self.queue_for_processor(node, port, parcel);
        }
        self.process(node, port, parcel);
    }

    fn queue_for_processor(&mut self, node: u32, port: u32, parcel: u32) {
        let core = &mut self.core;
        let Some(processor) = &mut core.nodes[node as usize].processor else { return };
        match processor.admit(core.now, core.parcels.get(parcel).kind()) {
            Some(done) => {
                let turn = core.queue.plan(done, Source::Processor(node));
                processor.waiting.push_back((turn, parcel, port));
            }
            None => {
                let reason = LinkDropReason::ProcessorQueueFull;
                core.trace.note_node_drop(core.now, node, reason, core.parcels.get(parcel));
                core.parcels.release(parcel);
            }
        }
    }

    /// Runs the engine of a node for one packet, and carries away what it sends.
    #[inline]
    fn process(&mut self, number: u32, port: u32, parcel: u32) {
        let core = &mut self.core;
        let node = &mut core.nodes[number as usize];
        let Some(engine) = &mut node.engine else { return self.process_at_host(number, port, parcel) };
        let now = node.engine_clock.reading(core.now);
        let slot = core.parcels.get_mut(parcel);
        let received = receive(engine, now, port, slot);
        if let Some(first) = engine.poll_transmit() {
            match engine.poll_transmit() {
                // What goes out under the name that came in takes its place, so that the hashes need not be
                // copied.
                None if received.names_like(&first.packet) => {
                    debug_assert_eq!(
                        slot.hashes.whole(),
                        core.hasher.hash(received.dialect, first.packet.name().components()).whole(),
                    );
                    if received.kind == PacketKind::Interest && matches!(first.packet, Packet::Data(_)) {
                        slot.hops = 0;
                    }
                    let face = first.face;
                    let (packet, header) = first.into_parts();
                    slot.packet = Some(packet);
                    slot.header = header;
                    self.dispatch(number, face, parcel);
                }
                second => self.dispatch_several(number, parcel, received, first, second),
            }
        } else {
            core.parcels.release(parcel);
        }
        self.look_after_engine(number);
    }

    #[inline(never)]
    fn dispatch_several(
        &mut self,
        number: u32,
        parcel: u32,
        received: Received,
        first: Transmit,
        second: Option<Transmit>,
    ) {
        let Parcel { hashes, hops, .. } = *self.core.parcels.get(parcel);
        self.core.parcels.release(parcel);
        let mut next = Some(first);
        let mut after = second;
        while let Some(transmit) = next {
            let face = transmit.face;
            let (packet, header) = transmit.into_parts();
            let parcel = match received.names_like(&packet) {
                true => self.core.parcels.add(packet, header, &hashes),
                false => self.core.wrap(packet, header),
            };
            if received.kind == PacketKind::Data {
                self.core.parcels.get_mut(parcel).hops = hops;
            }
            self.dispatch(number, face, parcel);
            next = after.take().or_else(|| self.poll_engine(number));
        }
    }

    fn poll_engine(&mut self, number: u32) -> Option<Transmit> {
        self.core.nodes[number as usize].engine.as_mut()?.poll_transmit()
    }

    /// Carries away what an engine sends when no packet came in.
    pub(crate) fn settle_engine(&mut self, number: u32) {
        while let Some(transmit) = self.poll_engine(number) {
            let face = transmit.face;
            let (packet, header) = transmit.into_parts();
            let parcel = self.core.wrap(packet, header);
            self.dispatch(number, face, parcel);
        }
        self.look_after_engine(number);
    }

    /// Carries away what an engine sends because its owner has changed something.
    pub(crate) fn settle(&mut self, number: u32) {
        self.settle_engine(number);
        self.deliver_outbox();
    }

    /// Takes events away and sets the alarm.
    #[inline]
    fn look_after_engine(&mut self, number: u32) {
        let node = &mut self.core.nodes[number as usize];
        let Some(engine) = &mut node.engine else { return };
        while let Some(event) = engine.poll_event() {
            if node.events.len() < MAX_EVENTS {
                node.events.push(event);
            }
        }
        let deadline = node.engine_clock.when(engine.next_deadline()).max(self.core.now);
        node.alarm.set(&mut self.core.queue, deadline, Source::Engine(number));
    }

    /// Takes a parcel to where a face leads.
    #[inline]
    fn dispatch(&mut self, number: u32, face: FaceId, parcel: u32) {
        match self.core.nodes[number as usize].ports.get(port_of(face) as usize).map(|port| port.peer) {
            Some(Peer::Channel { channel, end }) => self.core.transmit(channel, end, parcel),
            Some(Peer::Application(application)) => self.hand_over(application, parcel),
            Some(Peer::Gone) | None => {
                let core = &mut self.core;
                core.trace.note_node_drop(
                    core.now,
                    number,
                    LinkDropReason::UnknownFace,
                    core.parcels.get(parcel),
                );
                core.parcels.release(parcel);
            }
        }
    }

    /// A host passes what its applications send to its links, and what comes by its links to its
    /// applications.
    fn process_at_host(&mut self, number: u32, port: u32, parcel: u32) {
        let node = &self.core.nodes[number as usize];
        let from_application =
            matches!(node.ports.get(port as usize), Some(Port { peer: Peer::Application(_), .. }));
        for other in 0..node.ports.len() {
            let peer = self.core.nodes[number as usize].ports[other].peer;
            match peer {
                Peer::Channel { channel, end } if from_application => {
                    let copy = self.core.parcels.copy_of(parcel);
                    self.core.transmit(channel, end, copy);
                }
                Peer::Application(application) if !from_application => {
                    let copy = self.core.parcels.copy_of(parcel);
                    self.hand_over(application, copy);
                }
                _ => {}
            }
        }
        self.core.parcels.release(parcel);
    }

    /// Gives a packet to an application.
    fn hand_over(&mut self, number: u32, parcel: u32) {
        let slot = self.core.parcels.get_mut(parcel);
        let Some(packet) = slot.packet.take() else { return };
        let header = std::mem::take(&mut slot.header);
        let Some(application) = self.applications.get_mut(number as usize) else { return };
        let mut context = Context::new(&mut self.core, number, Some((parcel, packet.name())));
        match &packet {
            Packet::Interest(interest) => application.handle_interest(&mut context, interest, &header),
            Packet::Data(data) => application.handle_data(&mut context, data, &header),
            Packet::Nack(interest, reason) => application.handle_nack(&mut context, interest, *reason),
        }
        if context.finish().is_some() {
            self.core.parcels.release(parcel);
        }
    }

    /// Calls an application for another reason than a packet.
    pub(crate) fn call(&mut self, number: u32, action: impl FnOnce(&mut dyn Application, &mut Context<'_>)) {
        if let Some(application) = self.applications.get_mut(number as usize) {
            action(&mut **application, &mut Context::new(&mut self.core, number, None));
        }
    }

    /// Gives engines what applications have sent.
    #[inline]
    fn deliver_outbox(&mut self) {
        while let Some((application, parcel)) = self.core.outbox.pop_front() {
            let Residence { node, port, .. } = self.core.residences[application as usize];
            self.core.events_at_this_instant += 1;
            if self.core.events_at_this_instant > MAX_EVENTS_AT_ONE_INSTANT {
                // The step that comes next says so.
                self.core.parcels.release(parcel);
                continue;
            }
            self.enter(node, port, parcel);
        }
    }

    fn start_applications(&mut self) {
        while (self.started as usize) < self.applications.len() {
            let number = self.started;
            self.started += 1;
            self.call(number, |application, context| application.start(context));
            self.deliver_outbox();
        }
    }
}

/// What an engine was given: enough to know under which name it answers.
#[derive(Clone, Copy)]
struct Received {
    kind: PacketKind,
    dialect: Dialect,
    component_count: usize,
}

impl Received {
    /// Whether a packet that the engine sends now surely has the name of the one it was given.
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

/// Gives an engine the packet in a slot; Interests are taken out of it.
#[inline]
fn receive(engine: &mut Engine, now: Instant, port: u32, slot: &mut Parcel) -> Received {
    let face = face_of(port);
    let component_count = slot.hashes.component_count();
    let mut received = Received { kind: slot.kind(), dialect: Dialect::Ndn, component_count };
    if let Some(packet) = slot.packet.take() {
        received.dialect = packet.dialect();
        engine.receive(Arrival { now, face, hashes: &slot.hashes, header: &slot.header }, packet);
    }
    received
}
