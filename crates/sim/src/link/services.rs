//! The link services at the ends of a link that carries real frames: those of a face, run here.

use link::v2::EndpointId;
use link::{v1, v2};
use packet::random::Random;
use packet::time::Instant;
use packet::{DecodeError, Dialect, LinkHeader, LinkType, Packet};

use crate::arena::{EndId, LinkId};
use crate::error::SimError;
use crate::events::queue::Alarm;
use crate::link::Framing;

/// The services at the ends of a link.
#[derive(Debug)]
pub(crate) struct Framed {
    pub(crate) link: LinkId,
    pub(crate) services: Vec<Service>,
    pub(crate) alarm: Alarm,
    framing: Framing,
    seed: u64,
    restarts: u64,
}

/// A packet that a service made of frames.
pub(crate) struct Delivered {
    /// At which end of the link.
    pub(crate) end: EndId,
    pub(crate) packet: Packet,
    pub(crate) header: LinkHeader,
}

/// The link service at one end, of either version.
#[derive(Debug)]
pub(crate) enum Service {
    V2(Box<v2::LinkService>),
    V1(Box<v1::LinkService>),
}

impl Service {
    fn new(framing: &Framing, random: Random) -> Result<Self, SimError> {
        Ok(match framing {
            Framing::V2(config) => Service::V2(Box::new(v2::LinkService::new((**config).clone(), random)?)),
            Framing::V1(config) => Service::V1(Box::new(v1::LinkService::new((**config).clone(), random)?)),
        })
    }

    /// The dialect of the packets that it carries.
    fn dialect(&self) -> Dialect {
        match self {
            Service::V2(_) => v2::DIALECT,
            Service::V1(_) => v1::DIALECT,
        }
    }

    /// Tells how much the link has still to send. NDNLP v1 has no congestion marks, and does not ask.
    pub(crate) fn handle_send_queue(&mut self, queued_bytes: Option<u64>) {
        if let Service::V2(service) = self {
            service.handle_send_queue(queued_bytes);
        }
    }

    /// Accepts a packet for sending; false if it was dropped, as one of another dialect is.
    pub(crate) fn send(&mut self, now: Instant, header: LinkHeader, packet: Packet) -> bool {
        if packet.dialect() != self.dialect() {
            return false;
        }
        let nack = packet.nack_reason();
        match self {
            Service::V2(service) => service.send(now, header, nack, packet.into_wire()).is_ok(),
            // Nothing travels beside a message, and there are no Nacks.
            Service::V1(service) => nack.is_none() && service.send(now, packet.into_wire()).is_ok(),
        }
    }

    /// Takes in a frame from another end. What is wrong with it is counted by the service.
    pub(crate) fn receive(&mut self, now: Instant, from: EndId, frame: &[u8]) {
        match self {
            Service::V2(service) => drop(service.receive(now, EndpointId(from.0.into()), frame)),
            Service::V1(service) => drop(service.receive(now, frame)),
        }
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant, frames: &mut Vec<u8>) -> Option<usize> {
        match self {
            Service::V2(service) => service.poll_transmit(now, frames),
            Service::V1(service) => service.poll_transmit(now, frames),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Service::V2(service) => service.handle_timeout(now),
            Service::V1(service) => service.handle_timeout(now),
        }
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        match self {
            Service::V2(service) => service.next_deadline(),
            Service::V1(service) => service.next_deadline(),
        }
    }

    /// The next packet that arrived, with what travelled beside it; an error for one that cannot be read.
    fn poll_deliver(&mut self) -> Option<Result<(Packet, LinkHeader), DecodeError>> {
        let (wire, header, nack) = match self {
            Service::V2(service) => {
                let delivery = service.poll_deliver()?;
                (delivery.packet, delivery.header, delivery.nack)
            }
            Service::V1(service) => (service.poll_deliver()?, LinkHeader::default(), None),
        };
        Some(Packet::decode(self.dialect(), wire, nack).map(|packet| (packet, header)))
    }
}

impl Framed {
    pub(crate) fn new(link: LinkId, ends: usize, framing: &Framing, seed: u64) -> Result<Self, SimError> {
        let many = ends > 2;
        let framing = match framing {
            Framing::V2(config) => {
                let link_type = if many { LinkType::MultiAccess } else { LinkType::PointToPoint };
                let reliability = config.reliability.clone().filter(|_| !many);
                let parity = config.parity.clone().filter(|_| many);
                Framing::V2(Box::new(v2::Config { link_type, reliability, parity, ..(**config).clone() }))
            }
            Framing::V1(_) if many => return Err(SimError::TooManyEnds),
            Framing::V1(config) => Framing::V1(config.clone()),
        };
        let mut framed =
            Framed { link, services: Vec::new(), alarm: Alarm::default(), framing, seed, restarts: 0 };
        for end in 0..ends {
            framed.services.push(framed.service(end)?);
        }
        Ok(framed)
    }

    /// One that stands for this where nobody uses it.
    pub(crate) fn without_services(&self) -> Framed {
        Framed {
            link: self.link,
            services: Vec::new(),
            alarm: Alarm::default(),
            framing: self.framing.clone(),
            seed: self.seed,
            restarts: self.restarts,
        }
    }

    fn service(&self, end: usize) -> Result<Service, SimError> {
        Service::new(&self.framing, Random::derive(self.seed, self.restarts << 32 | end as u64))
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

    pub(crate) fn next_deadline(&self) -> Instant {
        self.services.iter().map(Service::next_deadline).min().unwrap_or(Instant::NEVER)
    }

    /// What the services have for the nodes.
    pub(crate) fn take_deliveries(&mut self) -> (Vec<Delivered>, u64) {
        let (mut delivered, mut undecodable) = (Vec::new(), 0);
        for (end, service) in (0..).map(EndId).zip(&mut self.services) {
            while let Some(delivery) = service.poll_deliver() {
                match delivery {
                    Ok((packet, header)) => delivered.push(Delivered { end, packet, header }),
                    Err(_) => undecodable += 1,
                }
            }
        }
        (delivered, undecodable)
    }
}
