//! The link services at the ends of a link that carries real frames: those of a face, run here.

use link::v2::{self, DIALECT, LinkService};
use packet::random::Random;
use packet::time::Instant;
use packet::{LinkHeader, Packet};

use crate::arena::{EndId, LinkId};
use crate::event_queue::Alarm;

/// The services at the ends of a link.
#[derive(Debug)]
pub(crate) struct Framed {
    pub(crate) link: LinkId,
    pub(crate) services: Vec<LinkService>,
    pub(crate) alarm: Alarm,
    config: v2::Config,
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

impl Framed {
    pub(crate) fn new(
        link: LinkId,
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

    pub(crate) fn next_deadline(&self) -> Instant {
        self.services.iter().map(LinkService::next_deadline).min().unwrap_or(Instant::NEVER)
    }

    /// What the services have for the nodes.
    pub(crate) fn take_deliveries(&mut self) -> (Vec<Delivered>, u64) {
        let (mut delivered, mut undecodable) = (Vec::new(), 0);
        for (end, service) in (0..).map(EndId).zip(&mut self.services) {
            while let Some(delivery) = service.poll_deliver() {
                match Packet::decode(DIALECT, delivery.packet, delivery.nack) {
                    Ok(packet) => {
                        delivered.push(Delivered { end, packet, header: delivery.header });
                    }
                    Err(_) => undecodable += 1,
                }
            }
        }
        (delivered, undecodable)
    }
}
