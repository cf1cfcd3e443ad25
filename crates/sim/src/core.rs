//! All of a network but its applications: what they, and the run, work with.

use std::collections::VecDeque;
use std::hint;

use engine::FaceId;
use engine::batch::{Upcoming, prefetch};
use packet::random::Random;
use packet::time::Instant;
use packet::{Dialect, LinkHeader, NameHasher, Packet, PrefixHashes};

use crate::arena::{AppId, Arena, ChannelId, EndId, FramedId, HeldId, Id, LinkId, NodeId, PacketId, Pool};
use crate::events::in_flight::{AllInFlight, InFlight, OnLink};
use crate::events::queue::{Alarm, EventQueue, EventSource};
use crate::events::simultaneous::{SimultaneousOrder, Ties};
use crate::link::Departure;
use crate::link::services::Framed;
use crate::link::taps::Taps;
use crate::link::{Channel, Flight, LinkConfig, LinkDropReason, Offer, PREPARED_AT_ONCE};
use crate::node::processor::Use;
use crate::node::{Node, Peer};
use crate::trace::Trace;
use crate::trace::journal::Journal;

/// A link as the network knows it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) ends: Vec<End>,
    /// One for each end, in order; a single one that all share if there are more than two ends.
    pub(crate) channels: Vec<ChannelId>,
    pub(crate) config: LinkConfig,
    pub(crate) is_up: bool,
    /// Its services, if what it carries is frames.
    pub(crate) framed: Option<FramedId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) node: NodeId,
    pub(crate) face: FaceId,
}

impl Link {
    /// One that joins nothing.
    pub(crate) fn nowhere() -> Link {
        let config = LinkConfig::ideal();
        Link { ends: Vec::new(), channels: Vec::new(), config, is_up: false, framed: None }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.ends.len() > 2
    }

    /// The direction that leaves from an end.
    pub(crate) fn channel_from(&self, end: EndId) -> Option<ChannelId> {
        let place = if self.is_shared() { 0 } else { end.index() };
        self.channels.get(place).copied()
    }
}

/// What the network knows of an application.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(crate) node: NodeId,
    pub(crate) face: FaceId,
    /// What its face speaks.
    pub(crate) dialect: Dialect,
    pub(crate) alarm: Alarm,
    pub(crate) random: Random,
}

/// A packet, or a frame, that goes on out of order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldPacket {
    pub(crate) channel: ChannelId,
    pub(crate) epoch: u32,
    /// The end of the link it comes from.
    pub(crate) end: EndId,
    pub(crate) carried: OnLink,
    pub(crate) stage: Stage,
}

/// Where on its way something is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the link, by a tap on the face that sends it.
    Leaving,
    /// On the link, which brings it out of order.
    Crossing,
    /// Behind the link, by a tap on the face at this end.
    Entering(EndId),
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Instant,
    pub(crate) seed: u64,
    pub(crate) hasher: NameHasher,
    pub(crate) queue: EventQueue,
    pub(crate) nodes: Arena<NodeId, Node>,
    pub(crate) links: Arena<LinkId, Link>,
    pub(crate) channels: Arena<ChannelId, Channel>,
    pub(crate) framed: Arena<FramedId, Framed>,
    pub(crate) attachments: Arena<AppId, Attachment>,
    pub(crate) in_flight: AllInFlight,
    /// What applications have sent and engines have not yet received.
    pub(crate) outbox: VecDeque<(AppId, PacketId)>,
    pub(crate) held: Pool<HeldId, Option<HeldPacket>>,
    pub(crate) taps: Taps,
    pub(crate) trace: Trace,
    /// What is done, noted while this is a part of a network.
    pub(crate) journal: Option<Box<Journal>>,
    /// Who is first of those that do something at one instant.
    pub(crate) order: SimultaneousOrder,
    pub(crate) ties: Ties,
    /// Events handled at the present instant.
    pub(crate) events_at_this_instant: u64,
    /// Packets and frames that crossed a link.
    pub(crate) hops: u64,
}

impl Core {
    /// Sends a packet by one end of a link.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, number: ChannelId, end: EndId, packet_id: PacketId) {
        let channel = &mut self.channels[number];
        let slot = self.in_flight.get_mut(packet_id);
        // Local fields do not leave a node, as every link service sees to, too.
        slot.header.incoming_face = None;
        slot.header.next_hop_face = None;
        if channel.framed.is_some() {
            return self.transmit_framed(number, end, packet_id);
        }
        if channel.is_tapped {
            return self.transmit_tapped(number, end, packet_id);
        }
        self.put_on_link(number, end, packet_id);
    }

    /// Offers a packet to the link that its face leads to.
    #[inline]
    pub(crate) fn put_on_link(&mut self, number: ChannelId, end: EndId, packet_id: PacketId) {
        self.note_sending(number, end);
        let channel = &mut self.channels[number];
        let slot = self.in_flight.get_mut(packet_id);
        match channel.offer(self.now, OnLink::Packet(packet_id), slot.size_bytes()) {
            Offer::Departs { at, marked } => {
                if marked {
                    slot.header.congestion_mark = 1;
                }
                self.launch(number, end, at, OnLink::Packet(packet_id));
            }
            Offer::Waits { marked, idle } => {
                if marked {
                    slot.header.congestion_mark = 1;
                }
                channel.from_end = end;
                if idle {
                    self.start_departure(number);
                }
            }
            Offer::Dropped(reason) => {
                self.note_drop(number, reason, packet_id);
                self.in_flight.release(packet_id);
            }
        }
    }

    /// By what a packet comes or leaves that uses a face.
    pub(crate) fn used(&self, node: NodeId, face: FaceId) -> Use {
        match self.nodes[node].ports.get(face).map(|port| port.peer) {
            Some(Peer::Channel { channel, .. }) => Use::Link(self.channels[channel].link),
            Some(Peer::Application(_) | Peer::Gone) | None => Use::Application,
        }
    }

    /// Has a node's processor do what it takes to send a packet, if it has one.
    pub(crate) fn charge_sending(&mut self, node: NodeId, face: FaceId, packet_id: PacketId) {
        let (by, kind) = (self.used(node, face), self.in_flight.get(packet_id).kind());
        if let Some(processor) = &mut self.nodes[node].processor {
            processor.send(self.now, by, kind);
        }
    }

    /// Lets something that leaves a queue at `departs` fly.
    #[inline(always)]
    pub(crate) fn launch(&mut self, number: ChannelId, end: EndId, departs: Instant, carried: OnLink) {
        let channel = &mut self.channels[number];
        let Some(at) = channel.sure_arrival(departs) else {
            return self.launch_uncertain(number, end, departs, carried);
        };
        let turn = self.queue.turn(at, channel.rank);
        channel.fly(number, Flight { turn, carried, end }, &mut self.queue);
    }

    /// The same where something may be lost, late or sent twice, or leads away.
    #[inline(never)]
    fn launch_uncertain(&mut self, number: ChannelId, end: EndId, departs: Instant, carried: OnLink) {
        let channel = &mut self.channels[number];
        let arrivals = channel.arrivals(departs);
        let mut carried = Some(carried);
        let mut second = match arrivals {
            [_, Some(_)] => carried.map(|carried| self.in_flight.duplicate(carried)),
            _ => None,
        };
        for arrival in arrivals.into_iter().flatten() {
            let Some(carried) = carried.take().or_else(|| second.take()) else { break };
            if channel.leads_away {
                let flight = Flight { turn: self.queue.turn(arrival.at, channel.rank), carried, end };
                if let Some(journal) = &mut self.journal {
                    journal.note_crossing(&mut self.in_flight, number, flight, arrival.is_reordered);
                }
                continue;
            }
            if arrival.is_reordered {
                let epoch = channel.epoch;
                let stage = Stage::Crossing;
                let held = self.held.add(Some(HeldPacket { channel: number, epoch, end, carried, stage }));
                self.queue.plan(arrival.at, channel.rank, EventSource::Held(held));
                continue;
            }
            let turn = self.queue.turn(arrival.at, channel.rank);
            channel.fly(number, Flight { turn, carried, end }, &mut self.queue);
        }
        if let Some(lost) = carried {
            if let OnLink::Packet(packet_id) = lost {
                self.note_drop(number, LinkDropReason::Loss, packet_id);
            }
            self.in_flight.discard(lost);
        }
    }

    /// Tells an engine what will soon arrive by a link on which much is under way.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, number: ChannelId) {
        if self.channels[number].flights.want_preparing() {
            self.prepare_some(number);
        }
    }

    #[inline(never)]
    fn prepare_some(&mut self, number: ChannelId) {
        let channel = &mut self.channels[number];
        let Link { ends, framed: None, .. } = &self.links[channel.link] else { return };
        let (&[first, second], Some(flights)) = (ends.as_slice(), channel.flights.next_to_prepare()) else {
            return;
        };
        let mut batch = [None; PREPARED_AT_ONCE];
        for (place, flight) in batch.iter_mut().zip(flights) {
            let OnLink::Packet(packet_id) = flight.carried else { return };
            let InFlight { packet: Some(packet), hashes, .. } = self.in_flight.get(packet_id) else { return };
            // What is read of the packet is fetched by that.
            let upcoming = Upcoming::of(packet, hashes);
            hint::black_box(packet.wire().first());
            *place = Some(upcoming);
        }
        let End { node, .. } = if channel.end == EndId(0) { second } else { first };
        let Some(engine) = &mut self.nodes[node].engine else { return };
        prefetch(engine, batch.iter().flatten().copied());
    }

    /// Asks a queue that decides late for the packet to send next.
    pub(crate) fn start_departure(&mut self, number: ChannelId) {
        let now = self.now;
        loop {
            let channel = &mut self.channels[number];
            let Some(managed) = channel.managed() else { return };
            match managed.poll_departure(now) {
                None => return,
                Some(Departure::Drop { id: packet_id }) => {
                    channel.counters.drop(LinkDropReason::Codel);
                    self.note_drop(number, LinkDropReason::Codel, packet_id);
                    self.in_flight.release(packet_id);
                }
                Some(Departure::Send { id: packet_id, size_bytes, marked }) => {
                    let time = managed.sending_time(size_bytes);
                    managed.sending = Some(packet_id);
                    channel.counters.marks += u64::from(marked);
                    if marked {
                        self.in_flight.get_mut(packet_id).header.congestion_mark = 1;
                    }
                    let rank = channel.rank;
                    let epoch_turn = self.queue.plan(now + time, rank, EventSource::Departure(number));
                    self.channels[number].departure = Some(epoch_turn);
                    return;
                }
            }
        }
    }

    /// The packet that was being sent has left.
    pub(crate) fn end_departure(&mut self, number: ChannelId) {
        let channel = &mut self.channels[number];
        let end = channel.from_end;
        let Some(packet_id) = channel.managed().and_then(|managed| managed.sending.take()) else { return };
        self.launch(number, end, self.now, OnLink::Packet(packet_id));
        self.start_departure(number);
    }

    /// Takes in a packet whose name has still to be hashed.
    pub(crate) fn wrap(&mut self, packet: Packet, header: LinkHeader) -> PacketId {
        let hashes = self.hash(&packet);
        self.in_flight.add(packet, header, &hashes)
    }

    pub(crate) fn hash(&self, packet: &Packet) -> PrefixHashes {
        self.hasher.hash(packet.dialect(), packet.name().components())
    }

    pub(crate) fn note_drop(&mut self, channel: ChannelId, reason: LinkDropReason, packet_id: PacketId) {
        let Channel { link, end, .. } = self.channels[channel];
        self.trace.note_link_drop(self.now, link, end, reason, self.in_flight.get(packet_id));
    }
}
