//! Links that carry real frames: each end runs the link service of a face.

use link::v2::{self, EndpointId, LinkService};
use packet::random::Random;
use packet::time::Instant;
use packet::{Dialect, Interest, LinkHeader, Packet};

use crate::core::Core;
use crate::event_queue::{Alarm, Source};
use crate::link::{LinkDropReason, Offer};

/// The services at the ends of a link.
#[derive(Debug)]
pub(crate) struct Framed {
    pub(crate) link: u32,
    pub(crate) services: Vec<LinkService>,
    pub(crate) alarm: Alarm,
    config: v2::Config,
    seed: u64,
    restarts: u64,
}

/// What a service made of frames.
pub(crate) enum Delivered {
    Packet {
        end: u32,
        packet: Packet,
        header: LinkHeader,
    },
    /// The service gave up repeating this Interest.
    Loss {
        end: u32,
        interest: Interest,
    },
}

impl Framed {
    pub(crate) fn new(
        link: u32,
        ends: usize,
        config: &v2::Config,
        seed: u64,
    ) -> Result<Self, v2::ConfigError> {
        let many = ends > 2;
        let link_type = if many { v2::LinkType::MultiAccess } else { v2::LinkType::PointToPoint };
        let reliability = config.reliability.clone().filter(|_| !many);
        let config = v2::Config { link_type, reliability, ..config.clone() };
        let mut framed =
            Framed { link, services: Vec::new(), alarm: Alarm::default(), config, seed, restarts: 0 };
        for end in 0..ends {
            framed.services.push(framed.service(end)?);
        }
        Ok(framed)
    }

    fn service(&self, end: usize) -> Result<LinkService, v2::ConfigError> {
        let random = Random::derive(self.seed, self.restarts << 32 | end as u64);
        LinkService::new(self.config.clone(), random)
    }

    /// Starts all services anew, as when a link has been cut.
    pub(crate) fn reset(&mut self) {
        self.restarts += 1;
        for end in 0..self.services.len() {
            // The configuration was accepted before.
            if let (Ok(fresh), Some(service)) = (self.service(end), self.services.get_mut(end)) {
                *service = fresh;
            }
        }
    }

    fn next_deadline(&self) -> Instant {
        self.services.iter().map(LinkService::next_deadline).min().unwrap_or(Instant::NEVER)
    }

    /// What the services have for the nodes.
    fn take_deliveries(&mut self) -> (Vec<Delivered>, u64) {
        let (mut delivered, mut undecodable) = (Vec::new(), 0);
        for (end, service) in (0..).zip(&mut self.services) {
            while let Some(delivery) = service.poll_deliver() {
                match Packet::decode(Dialect::Ndn, delivery.packet, delivery.nack) {
                    Ok(packet) => {
                        delivered.push(Delivered::Packet { end, packet, header: delivery.header });
                    }
                    Err(_) => undecodable += 1,
                }
            }
            while let Some(v2::Event::LostPacket { kind, packet }) = service.poll_event() {
                if kind == v2::PacketKind::Interest
                    && let Ok(interest) = Interest::decode_ndn(packet)
                {
                    delivered.push(Delivered::Loss { end, interest });
                }
            }
        }
        (delivered, undecodable)
    }
}

impl Core {
    /// Hands a parcel to the link service of an end.
    pub(crate) fn transmit_framed(&mut self, number: u32, end: u32, parcel: u32) {
        let now = self.now;
        let channel = &mut self.channels[number as usize];
        let Some(framed) = channel.framed else { return };
        let slot = self.parcels.get_mut(parcel);
        let header = std::mem::take(&mut slot.header);
        let packet = slot.packet.take();
        self.parcels.release(parcel);
        if !channel.is_up {
            return channel.counters.drop(LinkDropReason::FaceDown);
        }
        let Some(packet) = packet else { return };
        let nack = packet.nack_reason();
        let queued_bytes = channel.queue_length(now).1;
        let Some(service) = self.framed[framed as usize].services.get_mut(end as usize) else { return };
        service.handle_send_queue(Some(queued_bytes));
        if service.send(now, header, nack, packet.into_wire()).is_err() {
            channel.counters.drop(LinkDropReason::LinkService);
        }
        self.send_frames(framed);
    }

    /// Puts on the link what the services have to send.
    fn send_frames(&mut self, number: u32) {
        let now = self.now;
        let link = self.framed[number as usize].link;
        let mut frame = Vec::new();
        for end in 0..self.framed[number as usize].services.len() {
            let Some(channel) = self.links[link as usize].channel_from(end) else { continue };
            while self.framed[number as usize].services[end].poll_transmit(now, &mut frame).is_some() {
                let frame = std::mem::take(&mut frame);
                self.trace.note_frame(now, link, end as u32, &frame);
                match self.channels[channel as usize].offer(now, 0, frame.len() as u32) {
                    Offer::Departs { at, .. } => {
                        let cargo = self.frames.add(frame);
                        self.launch(channel, end as u32, at, cargo);
                    }
                    // Framed links have no queue that decides late: `Network::connect_all` sees to that.
                    Offer::Waits { .. } | Offer::Dropped(_) => {}
                }
            }
        }
        let framed = &mut self.framed[number as usize];
        let deadline = framed.next_deadline();
        framed.alarm.set(&mut self.queue, deadline, Source::Framed(number));
    }

    /// A frame has arrived: gives what came of it.
    pub(crate) fn receive_frame(
        &mut self,
        number: u32,
        channel: u32,
        from: u32,
        cargo: u32,
    ) -> Vec<Delivered> {
        let mut frame = self.frames.take(cargo);
        if let Some(bit) = self.channels[channel as usize].flipped_bit(frame.len())
            && let Some(byte) = frame.get_mut((bit / 8) as usize)
        {
            *byte ^= 1 << (bit % 8);
        }
        let now = self.now;
        let framed = &mut self.framed[number as usize];
        let link = framed.link as usize;
        for (end, service) in (0..).zip(&mut framed.services) {
            let channel = self.links[link].channels.first().copied().unwrap_or(0);
            if end != from && !self.channels[channel as usize].is_missed() {
                // What is wrong with a frame is counted by the service.
                let _ = service.receive(now, EndpointId(from.into()), &frame);
            }
        }
        self.settle_framed(number)
    }

    /// Lets services look at the time: gives what came of it.
    pub(crate) fn wake_framed(&mut self, number: u32) -> Vec<Delivered> {
        let now = self.now;
        for service in &mut self.framed[number as usize].services {
            if service.next_deadline() <= now {
                service.handle_timeout(now);
            }
        }
        self.settle_framed(number)
    }

    fn settle_framed(&mut self, number: u32) -> Vec<Delivered> {
        let (delivered, undecodable) = self.framed[number as usize].take_deliveries();
        let link = self.framed[number as usize].link as usize;
        if let Some(&channel) = self.links[link].channels.first() {
            for _ in 0..undecodable {
                self.channels[channel as usize].counters.drop(LinkDropReason::LinkService);
            }
        }
        self.send_frames(number);
        delivered
    }
}
