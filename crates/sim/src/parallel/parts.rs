//! Taking a network apart, and putting it together again.
//!
//! A part is a network in which everything has the number that it has in the whole, and in which the places
//! of what belongs to other parts are empty. One direction of a link that joins two parts is in both: what
//! waits for it and is sent by it belongs to the part of the sender, and what is under way on it to that of
//! the receiver. Packets get other numbers, for each part keeps its own.

use std::mem::{swap, take};

use packet::random::Random;

use super::order::{Order, Window};
use super::partition::Partition;
use crate::application::Application;
use crate::arena::{Arena, ChannelId, EndId, LinkId, PacketId, PartId};
use crate::core::{Attachment, Core, HeldPacket, Link, Stage};
use crate::events::in_flight::{AllInFlight, OnLink};
use crate::events::queue::{Alarm, Event, EventSource, STRIDE, Turn};
use crate::events::rank::NUMBERS;
use crate::events::simultaneous::Ties;
use crate::link::{Channel, Flight, LinkConfig};
use crate::network::Network;
use crate::node::Node;
use crate::trace::Trace;
use crate::trace::journal::Crossing;

/// Stands where another part has an application.
struct AbsentApplication;

impl Application for AbsentApplication {}

impl Network {
    /// Whether everything in it is of a kind that can be divided.
    pub(super) fn may_be_divided(&self) -> bool {
        // Those of parts come behind it, a stride from each other.
        self.core.taps.is_empty()
            && self.core.trace.captures().next().is_none()
            && self.core.outbox.is_empty()
            && self.core.queue.turns() < NUMBERS / 2
    }

    /// Takes the network apart. What its owner has planned stays.
    pub(super) fn split(
        &mut self,
        partition: &Partition,
        order: &Order,
        trace: &Trace,
    ) -> Arena<PartId, Network> {
        let mut spare = take(&mut self.cores.parts).into_iter();
        let parts = std::iter::repeat_with(|| spare.next().unwrap_or_else(|| Network::new(self.core.seed)));
        let mut parts: Arena<PartId, Network> = parts.take(partition.parts()).collect();
        for part in &mut parts {
            self.make_room_in(part);
            part.core.now = self.core.now;
            part.core.hops = 0;
            part.core.events_at_this_instant = 0;
            part.core.ties = Ties::after(self.core.ties.any);
            part.core.queue.renumber(order.base() + STRIDE, STRIDE);
            part.core.trace = trace.for_a_part();
            part.core.journal = Some(Box::default());
        }
        for channel in partition.cut_channels() {
            if let Some(part) = parts.get_mut(partition.receiver_of(channel)) {
                part.core.channels[channel].stand_in_for(&self.core.channels[channel]);
                move_flights(&mut self.core, &mut part.core, channel, &|turn| turn);
            }
        }
        for (number, part) in parts.indexed_mut() {
            move_belongings(self, part, partition, number, &|turn| turn);
            for link in partition.cut_links() {
                part.core.links[link] = self.core.links[link].clone();
            }
        }
        for event in self.core.queue.take_all() {
            let part = match event.source {
                EventSource::Held(place) => {
                    self.core.held.get(place).as_ref().map(|held| partition.receiver_of(held.channel))
                }
                source => partition.part_of_source(source),
            };
            match part.and_then(|part| parts.get_mut(part)) {
                Some(part) => move_event(&mut self.core, &mut part.core, event, event.turn),
                None => self.core.queue.push(event.turn, event.source),
            }
        }
        parts
    }

    /// Puts a network together that was taken apart.
    pub(super) fn put_together(
        &mut self,
        mut parts: Arena<PartId, Network>,
        partition: &Partition,
        order: &Order,
    ) {
        for (number, part) in parts.indexed_mut() {
            let exact = |turn| order.exact(number, turn);
            move_belongings(part, self, partition, number, &exact);
            for event in part.core.queue.take_all() {
                move_event(&mut part.core, &mut self.core, event, exact(event.turn));
            }
            self.core.now = self.core.now.max(part.core.now);
            self.core.hops += part.core.hops;
            self.core.ties.any |= part.core.ties.any;
            self.core.trace.add_steps(&part.core.trace);
        }
        for channel in partition.cut_channels() {
            let receiver = partition.receiver_of(channel);
            if let Some(part) = parts.get_mut(receiver) {
                let exact = |turn| order.exact(receiver, turn);
                move_flights(&mut part.core, &mut self.core, channel, &exact);
            }
        }
        self.core.queue.renumber(order.next(), 1);
        self.core.events_at_this_instant = 0;
        self.cores.parts = parts;
    }

    /// Gives a part an empty place for everything.
    fn make_room_in(&self, part: &mut Network) {
        let (whole, core) = (&self.core, &mut part.core);
        while core.nodes.len() < whole.nodes.len() {
            core.nodes.push(Node::host(self.config(), 0));
        }
        while core.links.len() < whole.links.len() {
            core.links.push(Link::nowhere());
        }
        while core.channels.len() < whole.channels.len() {
            core.channels.push(Channel::new(LinkId(0), EndId(0), false, None, &LinkConfig::ideal(), 0));
        }
        while let Some(framed) = whole.framed.get(core.framed.next_id()) {
            core.framed.push(framed.without_services());
        }
        while let Some(Attachment { node, face, dialect, .. }) =
            whole.attachments.get(core.attachments.next_id())
        {
            let (node, face, dialect, alarm) = (*node, *face, *dialect, Alarm::default());
            core.attachments.push(Attachment { node, face, dialect, alarm, random: Random::from_seed(0) });
            part.applications.push(Box::new(AbsentApplication));
        }
    }
}

/// Moves what belongs to a part from one network to another: to the part, or home.
fn move_belongings(
    from: &mut Network,
    to: &mut Network,
    partition: &Partition,
    part: PartId,
    turns: &dyn Fn(Turn) -> Turn,
) {
    let Network { core: from, applications: from_applications, .. } = from;
    let Network { core: to, applications: to_applications, .. } = to;
    let mut renumbering = Renumbering { from: &mut from.in_flight, to: &mut to.in_flight, turns };
    for node in partition.nodes_of(part) {
        let moved = &mut from.nodes[node];
        renumbering.alarm(&mut moved.alarm);
        for waiting in moved.processor.iter_mut().flat_map(|processor| &mut processor.waiting) {
            (waiting.turn, waiting.packet) =
                ((renumbering.turns)(waiting.turn), renumbering.packet(waiting.packet));
        }
        swap(moved, &mut to.nodes[node]);
    }
    for application in partition.applications_of(part) {
        let moved = &mut from.attachments[application];
        renumbering.alarm(&mut moved.alarm);
        swap(moved, &mut to.attachments[application]);
        swap(&mut from_applications[application], &mut to_applications[application]);
    }
    for link in partition.links_within(part) {
        if let Some(framed) = from.links[link].framed {
            renumbering.alarm(&mut from.framed[framed].alarm);
            swap(&mut from.framed[framed], &mut to.framed[framed]);
        }
        swap(&mut from.links[link], &mut to.links[link]);
    }
    for channel in partition.channels_from(part) {
        let moved = &mut from.channels[channel];
        moved.departure = moved.departure.map(turns);
        if let Some(managed) = moved.managed() {
            managed.for_each_packet(|packet_id| *packet_id = renumbering.packet(*packet_id));
        }
        let leads_away = partition.receiver_of(channel) != part;
        if !leads_away {
            moved.flights.for_each(|flight| renumbering.flight(flight));
        }
        moved.leads_away = leads_away && !moved.leads_away;
        swap(moved, &mut to.channels[channel]);
    }
}

/// Moves what is under way on a link between two parts.
fn move_flights(from: &mut Core, to: &mut Core, channel: ChannelId, turns: &dyn Fn(Turn) -> Turn) {
    let mut renumbering = Renumbering { from: &mut from.in_flight, to: &mut to.in_flight, turns };
    let mut under_way = from.channels[channel].flights.take_under_way();
    under_way.iter_mut().for_each(|flight| renumbering.flight(flight));
    to.channels[channel].flights.put_under_way(under_way);
}

/// Moves an event, and what was held back for it.
fn move_event(from: &mut Core, to: &mut Core, event: Event, turn: Turn) {
    let source = match event.source {
        EventSource::Held(place) => {
            let held = from.held.take(place).map(|held| {
                let mut renumbering =
                    Renumbering { from: &mut from.in_flight, to: &mut to.in_flight, turns: &|turn| turn };
                HeldPacket { carried: renumbering.carried(held.carried), ..held }
            });
            EventSource::Held(to.held.add(held))
        }
        source => source,
    };
    to.queue.push(turn, source);
}

/// Gives packets and turns the numbers that they have elsewhere.
struct Renumbering<'a> {
    from: &'a mut AllInFlight,
    to: &'a mut AllInFlight,
    turns: &'a dyn Fn(Turn) -> Turn,
}

impl Renumbering<'_> {
    fn packet(&mut self, packet_id: PacketId) -> PacketId {
        self.to.put(self.from.remove(packet_id))
    }

    fn carried(&mut self, carried: OnLink) -> OnLink {
        match carried {
            OnLink::Packet(packet_id) => OnLink::Packet(self.packet(packet_id)),
            OnLink::Frame(frame) => OnLink::Frame(self.to.frames.add(self.from.frames.take(frame))),
        }
    }

    fn flight(&mut self, flight: &mut Flight) {
        flight.turn = (self.turns)(flight.turn);
        flight.carried = self.carried(flight.carried);
    }

    fn alarm(&self, alarm: &mut Alarm) {
        alarm.renumber(self.turns);
    }
}

impl Core {
    /// Takes in what has come from another part.
    pub(super) fn take_in(&mut self, crossing: Crossing, turn: Turn) {
        let Crossing { channel: number, end, is_reordered, packet, header, hops, .. } = crossing;
        // To hash the name again costs less than to carry all its hashes from one core to another.
        let packet_id = self.wrap(packet, header);
        self.in_flight.get_mut(packet_id).hops = hops;
        let carried = OnLink::Packet(packet_id);
        let channel = &mut self.channels[number];
        if is_reordered {
            let (epoch, stage) = (channel.epoch, Stage::Crossing);
            let held = self.held.add(Some(HeldPacket { channel: number, epoch, end, carried, stage }));
            return self.queue.push(turn, EventSource::Held(held));
        }
        channel.fly(number, Flight { turn, carried, end }, &mut self.queue);
    }

    #[inline]
    pub(super) fn note_done(&mut self, turn: Turn) {
        if let (Some(journal), Some(notes)) = (&mut self.journal, &self.trace.notes) {
            journal.note_done(turn, self.queue.turns(), notes);
        }
    }

    /// Gives what has been noted, and goes on with what is in `window`.
    pub(super) fn swap_notes(&mut self, window: &mut Window) {
        if let (Some(journal), Some(notes)) = (&mut self.journal, &mut self.trace.notes) {
            swap(journal, &mut window.journal);
            swap(notes, &mut window.notes);
        }
    }
}
