//! One direction of a link.

use link::{FaultStreams, Faults};
use packet::time::{Duration, Instant};

use super::codel::Managed;
use super::fifo::Fifo;
use super::flights::{Flight, Flights};
use super::{ChannelCounters, LinkConfig, LinkDropReason, QueueLength};
use crate::arena::{ChannelId, EndId, FramedId, LinkId, PacketId};
use crate::events::in_flight::OnLink;
use crate::events::queue::{EventQueue, EventSource, Turn};
use crate::events::rank::Rank;

/// One direction of a link: from one end to the other, or to all others.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) link: LinkId,
    /// The end of the link that packets come from; the first if all ends share the channel.
    pub(crate) end: EndId,
    /// That of the node at that end.
    pub(crate) rank: Rank,
    /// Whether all ends share the channel: then packets are lost for each receiver by itself.
    pub(crate) is_shared: bool,
    /// When something was last put on it, and from which end, if all ends share it.
    last_sent: Option<(Instant, EndId)>,
    /// The services at its ends, if it carries frames.
    pub(crate) framed: Option<FramedId>,
    /// The end that the packets in a queue under CoDel come from.
    pub(crate) from_end: EndId,
    /// When the packet that such a queue is sending will have left.
    pub(crate) departure: Option<Turn>,
    pub(crate) is_up: bool,
    /// Whether taps see what its faces send and receive.
    pub(crate) is_tapped: bool,
    /// Whether the other end belongs to another part, while parts of the network work beside each other.
    pub(crate) leads_away: bool,
    /// How often it was cut: what was under way then does not arrive.
    pub(crate) epoch: u32,
    pub(crate) overhead_bytes: u32,
    delay: Duration,
    transmitter: Transmitter,
    impairment: Option<Box<FaultStreams>>,
    pub(crate) flights: Flights,
    pub(crate) counters: ChannelCounters,
    /// What waited in front of transmitters that others have replaced, packets times nanoseconds.
    waited_before_ns: u128,
}

#[derive(Debug)]
enum Transmitter {
    /// Sends everything at once.
    Immediate,
    Fifo(Box<Fifo>),
    Managed(Box<Managed>),
}

/// What becomes of a packet that is offered to a channel.
pub(crate) enum Offer {
    /// Its last bit leaves then.
    Departs { at: Instant, marked: bool },
    /// It waits in a queue that decides later; the transmitter is idle and wants to be asked.
    Waits { marked: bool, idle: bool },
    /// It is gone.
    Dropped(LinkDropReason),
}

/// When a packet that has left arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    /// Out of order, for it was held back or is a second copy.
    pub(crate) is_reordered: bool,
}

impl Channel {
    pub(crate) fn new(
        link: LinkId,
        end: EndId,
        is_shared: bool,
        framed: Option<FramedId>,
        config: &LinkConfig,
        seed: u64,
    ) -> Self {
        let mut channel = Channel {
            link,
            end,
            rank: Rank::default(),
            is_shared,
            last_sent: None,
            framed,
            from_end: end,
            departure: None,
            is_up: true,
            is_tapped: false,
            leads_away: false,
            epoch: 0,
            overhead_bytes: 0,
            delay: Duration::ZERO,
            transmitter: Transmitter::Immediate,
            impairment: None,
            flights: Flights::default(),
            counters: ChannelCounters::default(),
            waited_before_ns: 0,
        };
        channel.configure(Instant::ZERO, config, seed);
        channel
    }

    /// Changes how it behaves towards packets that join from now on. A queue under CoDel that gets another
    /// kind of queue is emptied: gives what waited.
    pub(crate) fn configure(&mut self, now: Instant, config: &LinkConfig, seed: u64) -> Vec<PacketId> {
        self.overhead_bytes = config.overhead_bytes;
        self.delay = config.delay;
        let faults = config.impairment;
        self.impairment = (faults != Faults::NONE).then(|| Box::new(FaultStreams::new(faults, seed)));
        let mut orphans = Vec::new();
        self.transmitter = match (
            std::mem::replace(&mut self.transmitter, Transmitter::Immediate),
            config.rate_bits_per_second,
        ) {
            (Transmitter::Fifo(mut fifo), Some(rate)) if config.queue.codel.is_none() => {
                fifo.reconfigure(rate, config.bucket_bytes, &config.queue);
                Transmitter::Fifo(fifo)
            }
            (old, rate) => {
                match old {
                    Transmitter::Immediate => {}
                    // Its packets are on their way, each at its time.
                    Transmitter::Fifo(fifo) => self.waited_before_ns += fifo.waited_ns(Instant::NEVER),
                    Transmitter::Managed(mut managed) => {
                        orphans = managed.clear(now);
                        self.waited_before_ns += managed.waited_ns(now);
                    }
                }
                match (rate, config.queue.codel) {
                    (None, _) => Transmitter::Immediate,
                    (Some(rate), None) => {
                        Transmitter::Fifo(Box::new(Fifo::new(rate, config.bucket_bytes, &config.queue)))
                    }
                    (Some(rate), Some(codel)) => {
                        Transmitter::Managed(Box::new(Managed::new(rate, &config.queue, codel)))
                    }
                }
            }
        };
        orphans
    }

    /// Something is put on it from this end: has something else come from another one at this instant? Which
    /// of the two goes first then, nothing in the world says.
    pub(crate) fn meets_another(&mut self, now: Instant, end: EndId) -> bool {
        let before = self.last_sent.replace((now, end));
        before.is_some_and(|(at, other)| at == now && other != end)
    }

    /// Becomes the receiving end of `other`, which is in another part.
    pub(crate) fn stand_in_for(&mut self, other: &Channel) {
        (self.link, self.end, self.epoch) = (other.link, other.end, other.epoch);
    }

    /// Takes a packet in.
    #[inline(always)]
    pub(crate) fn offer(&mut self, now: Instant, carried: OnLink, bare_bytes: u32) -> Offer {
        let size_bytes = bare_bytes + self.overhead_bytes;
        if !self.is_up {
            return self.refuse(LinkDropReason::FaceDown);
        }
        let offer = match &mut self.transmitter {
            Transmitter::Immediate => Offer::Departs { at: now, marked: false },
            Transmitter::Fifo(fifo) => match fifo.offer(now, size_bytes) {
                None => return self.refuse(LinkDropReason::SendQueueFull),
                Some(admission) => Offer::Departs { at: admission.departs, marked: admission.marked },
            },
            Transmitter::Managed(managed) => {
                let OnLink::Packet(id) = carried else { return self.refuse(LinkDropReason::LinkService) };
                match managed.join(now, id, size_bytes) {
                    None => return self.refuse(LinkDropReason::SendQueueFull),
                    Some(marked) => Offer::Waits { marked, idle: managed.sending.is_none() },
                }
            }
        };
        self.counters.packets += 1;
        self.counters.bytes += u64::from(size_bytes);
        if let Offer::Departs { marked: true, .. } | Offer::Waits { marked: true, .. } = offer {
            self.counters.marks += 1;
        }
        offer
    }

    fn refuse(&mut self, reason: LinkDropReason) -> Offer {
        self.counters.drop(reason);
        Offer::Dropped(reason)
    }

    /// The queue that decides late, if there is one.
    pub(crate) fn managed(&mut self) -> Option<&mut Managed> {
        match &mut self.transmitter {
            Transmitter::Managed(managed) => Some(managed),
            _ => None,
        }
    }

    /// When a packet that departs at `departs` arrives, where that is all there is to say: nothing impairs
    /// the link, and its other end is in the same part of the network.
    #[inline(always)]
    pub(crate) fn sure_arrival(&mut self, departs: Instant) -> Option<Instant> {
        if self.impairment.is_some() || self.leads_away {
            return None;
        }
        Some(self.flights.in_order(departs + self.delay))
    }

    /// Lets `flight`, which arrives after all that is under way here, fly. The queue knows the first of each
    /// channel.
    #[inline(always)]
    pub(crate) fn fly(&mut self, number: ChannelId, flight: Flight, queue: &mut EventQueue) {
        if self.flights.is_empty() {
            queue.push(flight.turn, EventSource::Channel(number));
        }
        self.flights.push(flight);
    }

    /// When a packet that departs at `departs` arrives: not at all, once, or twice.
    pub(crate) fn arrivals(&mut self, departs: Instant) -> [Option<Arrival>; 2] {
        let arrival = departs + self.delay;
        let Some(streams) = &mut self.impairment else {
            return [Some(Arrival { at: self.flights.in_order(arrival), is_reordered: false }), None];
        };
        if !self.is_shared && streams.is_lost() {
            self.counters.drop(LinkDropReason::Loss);
            return [None, None];
        }
        let arrivals = streams.arrivals(arrival, &mut self.flights.latest_arrival);
        self.counters.reordered += u64::from(arrivals.is_held_back);
        self.counters.duplicated += u64::from(arrivals.second.is_some());
        [Some(arrivals.first), arrivals.second]
            .map(|arrival| arrival.map(|at| Arrival { at, is_reordered: arrivals.is_held_back }))
    }

    /// Whether one receiver on a shared link misses a packet.
    pub(crate) fn is_missed(&mut self) -> bool {
        let Some(streams) = &mut self.impairment else { return false };
        let missed = self.is_shared && streams.is_lost();
        if missed {
            self.counters.drop(LinkDropReason::Loss);
        }
        missed
    }

    /// Which bit of a frame of so many bytes that arrives now is flipped, if any.
    pub(crate) fn flipped_bit(&mut self, frame_bytes: usize) -> Option<usize> {
        self.impairment.as_mut()?.flipped_bit(frame_bytes)
    }

    /// Packets and bytes that wait in front of the channel.
    pub(crate) fn queue_length(&mut self, now: Instant) -> QueueLength {
        match &mut self.transmitter {
            Transmitter::Immediate => QueueLength::default(),
            Transmitter::Fifo(fifo) => fifo.length(now),
            Transmitter::Managed(managed) => managed.length(),
        }
    }

    /// Packets that waited in front of the channel, times seconds, from time zero to now.
    pub(crate) fn packet_seconds(&self, now: Instant) -> f64 {
        let waited_ns = match &self.transmitter {
            Transmitter::Immediate => 0,
            Transmitter::Fifo(fifo) => fifo.waited_ns(now),
            Transmitter::Managed(managed) => managed.waited_ns(now),
        };
        (self.waited_before_ns + waited_ns) as f64 / 1e9
    }

    /// Loses all that waits and all that is under way; gives what that was.
    pub(crate) fn clear(&mut self, now: Instant) -> Vec<OnLink> {
        self.epoch += 1;
        self.departure = None;
        let mut lost = self.flights.clear();
        match &mut self.transmitter {
            Transmitter::Immediate => {}
            Transmitter::Fifo(fifo) => fifo.clear(now),
            Transmitter::Managed(managed) => lost.extend(managed.clear(now).into_iter().map(OnLink::Packet)),
        }
        for _ in &lost {
            self.counters.drop(LinkDropReason::FaceDown);
        }
        lost
    }
}
