//! All of a network but its applications: what they, and the run, work with.

use std::collections::VecDeque;
use std::hint;

use engine::batch::{Upcoming, prefetch};
use packet::random::Random;
use packet::time::Instant;
use packet::{LinkHeader, NameHasher, Packet, PrefixHashes};

use crate::event_queue::{Alarm, EventQueue, Source};
use crate::framed::Framed;
use crate::link::Departure;
use crate::link::{Channel, Flight, LinkConfig, LinkDropReason, Offer, PREPARED_AT_ONCE};
use crate::node::Node;
use crate::parcel::{Parcel, Parcels};
use crate::trace::Trace;

/// A link as the network knows it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) ends: Vec<End>,
    /// One for each end, in order; a single one that all share if there are more than two ends.
    pub(crate) channels: Vec<u32>,
    pub(crate) config: LinkConfig,
    pub(crate) is_up: bool,
    /// Its services, if what it carries is frames.
    pub(crate) framed: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) node: u32,
    pub(crate) port: u32,
}

impl Link {
    pub(crate) fn is_shared(&self) -> bool {
        self.ends.len() > 2
    }

    /// The direction that leaves from an end.
    pub(crate) fn channel_from(&self, end: usize) -> Option<u32> {
        if self.is_shared() { self.channels.first().copied() } else { self.channels.get(end).copied() }
    }
}

/// What the network knows of an application.
#[derive(Debug)]
pub(crate) struct Residence {
    pub(crate) node: u32,
    pub(crate) port: u32,
    pub(crate) alarm: Alarm,
    pub(crate) random: Random,
}

/// A packet, or a frame, that arrives out of order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Straggler {
    pub(crate) channel: u32,
    pub(crate) epoch: u32,
    pub(crate) end: u32,
    pub(crate) cargo: u32,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Instant,
    pub(crate) seed: u64,
    pub(crate) hasher: NameHasher,
    pub(crate) queue: EventQueue,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) framed: Vec<Framed>,
    pub(crate) residences: Vec<Residence>,
    pub(crate) parcels: Parcels,
    /// Frames under way, for links that carry frames.
    pub(crate) frames: Frames,
    /// What applications have sent and engines have not yet received.
    pub(crate) outbox: VecDeque<(u32, u32)>,
    pub(crate) stragglers: Vec<Option<Straggler>>,
    pub(crate) trace: Trace,
    /// Events handled at the present instant.
    pub(crate) events_at_this_instant: u64,
    /// Packets and frames that crossed a link.
    pub(crate) hops: u64,
}

/// Frames under way, and from which end each came.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    slots: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Frames {
    pub(crate) fn add(&mut self, frame: Vec<u8>) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = frame;
                number
            }
            None => {
                self.slots.push(frame);
                (self.slots.len() - 1) as u32
            }
        }
    }

    pub(crate) fn get(&self, number: u32) -> &[u8] {
        self.slots.get(number as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn take(&mut self, number: u32) -> Vec<u8> {
        self.free.push(number);
        std::mem::take(&mut self.slots[number as usize])
    }
}

impl Core {
    /// Sends a parcel by one end of a link.
    #[inline]
    pub(crate) fn transmit(&mut self, number: u32, end: u32, parcel: u32) {
        let channel = &mut self.channels[number as usize];
        let slot = self.parcels.get_mut(parcel);
        // Local fields do not leave a node, as every link service sees to, too.
        slot.header.incoming_face = None;
        slot.header.next_hop_face = None;
        if channel.framed.is_some() {
            return self.transmit_framed(number, end, parcel);
        }
        match channel.offer(self.now, parcel, slot.size_bytes()) {
            Offer::Departs { at, marked } => {
                if marked {
                    slot.header.congestion_mark = 1;
                }
                self.launch(number, end, at, parcel);
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
                self.note_drop(number, reason, parcel);
                self.parcels.release(parcel);
            }
        }
    }

    /// Lets something that leaves a queue at `departs` fly.
    #[inline]
    pub(crate) fn launch(&mut self, number: u32, end: u32, departs: Instant, cargo: u32) {
        let channel = &mut self.channels[number as usize];
        let mut taken = false;
        for arrival in channel.arrivals(departs).into_iter().flatten() {
            let cargo = match (taken, channel.framed) {
                (false, _) => cargo,
                (true, None) => self.parcels.copy_of(cargo),
                (true, Some(_)) => self.frames.add(self.frames.get(cargo).to_vec()),
            };
            taken = true;
            if arrival.straggles {
                let straggler = Straggler { channel: number, epoch: channel.epoch, end, cargo };
                let place = match self.stragglers.iter().position(Option::is_none) {
                    Some(place) => place,
                    None => {
                        self.stragglers.push(None);
                        self.stragglers.len() - 1
                    }
                };
                self.stragglers[place] = Some(straggler);
                self.queue.plan(arrival.at, Source::Straggler(place as u32));
                continue;
            }
            let turn = self.queue.turn(arrival.at);
            if channel.flights.is_empty() {
                self.queue.push(turn, Source::Channel(number));
            }
            channel.flights.push_back(Flight { turn, cargo, end });
        }
        if !taken {
            if channel.framed.is_some() {
                self.frames.take(cargo);
            } else {
                self.note_drop(number, LinkDropReason::Loss, cargo);
                self.parcels.release(cargo);
            }
        }
    }

    /// Tells an engine what will soon arrive by a link on which much is under way.
    #[inline]
    pub(crate) fn prepare(&mut self, number: u32) {
        let channel = &mut self.channels[number as usize];
        let Link { ends, framed: None, .. } = &self.links[channel.link as usize] else { return };
        let (&[first, second], Some(flights)) = (ends.as_slice(), channel.next_to_prepare()) else { return };
        let mut batch = [None; PREPARED_AT_ONCE];
        for (place, flight) in batch.iter_mut().zip(flights) {
            let Parcel { packet: Some(packet), hashes, .. } = self.parcels.get(flight.cargo) else { return };
            // What is read of the packet is fetched by that.
            let upcoming = Upcoming::of(packet, hashes);
            hint::black_box(packet.wire().first());
            *place = Some(upcoming);
        }
        let End { node, .. } = if channel.end == 0 { second } else { first };
        let Some(engine) = &mut self.nodes[node as usize].engine else { return };
        prefetch(engine, batch.iter().flatten().copied());
    }

    /// Asks a queue that decides late for the packet to send next.
    pub(crate) fn start_departure(&mut self, number: u32) {
        let now = self.now;
        loop {
            let channel = &mut self.channels[number as usize];
            let Some(managed) = channel.managed() else { return };
            match managed.poll_departure(now) {
                None => return,
                Some(Departure::Drop { parcel }) => {
                    channel.counters.drop(LinkDropReason::Codel);
                    self.note_drop(number, LinkDropReason::Codel, parcel);
                    self.parcels.release(parcel);
                }
                Some(Departure::Send { parcel, size_bytes, marked }) => {
                    let time = managed.sending_time(size_bytes);
                    managed.sending = Some(parcel);
                    channel.counters.marks += u64::from(marked);
                    if marked {
                        self.parcels.get_mut(parcel).header.congestion_mark = 1;
                    }
                    let epoch_turn = self.queue.plan(now + time, Source::Departure(number));
                    self.channels[number as usize].departure = Some(epoch_turn);
                    return;
                }
            }
        }
    }

    /// The packet that was being sent has left.
    pub(crate) fn end_departure(&mut self, number: u32) {
        let channel = &mut self.channels[number as usize];
        let end = channel.from_end;
        let Some(parcel) = channel.managed().and_then(|managed| managed.sending.take()) else { return };
        self.launch(number, end, self.now, parcel);
        self.start_departure(number);
    }

    /// A parcel for a packet whose name has still to be hashed.
    pub(crate) fn wrap(&mut self, packet: Packet, header: LinkHeader) -> u32 {
        let hashes = self.hash(&packet);
        self.parcels.add(packet, header, &hashes)
    }

    pub(crate) fn hash(&self, packet: &Packet) -> PrefixHashes {
        self.hasher.hash(packet.dialect(), packet.name().components())
    }

    fn note_drop(&mut self, channel: u32, reason: LinkDropReason, parcel: u32) {
        let Channel { link, end, .. } = self.channels[channel as usize];
        self.trace.note_link_drop(self.now, link, end, reason, self.parcels.get(parcel));
    }
}
