//! One link: a face of the forwarder on one side, a neighbour on the other.

use std::io;

use engine::FaceId;
use link::v1::{Config, LinkService};
use packet::random::Random;
use packet::time::Instant;

use super::forwarder_face::ForwarderFace;
use super::sockets::{Neighbour, Sockets};
use super::{LinkRequest, LinkStatus};
use crate::control::FaceState;

/// A link.
pub(super) struct Link {
    asked: LinkRequest,
    pub(super) neighbour: Neighbour,
    /// The forwarder's side; none once the forwarder has gone, or does not speak its language.
    face: Option<ForwarderFace>,
    service: LinkService,
    /// Packets that the network did not take.
    lost: u64,
    /// Messages that the forwarder's side dropped, once it is gone.
    dropped: u64,
}

impl Link {
    pub(super) fn new(
        asked: LinkRequest,
        neighbour: Neighbour,
        mtu_bytes: usize,
        face: ForwarderFace,
        random: Random,
    ) -> io::Result<Self> {
        let config = Config::of_neighbour(&asked.timings(), Some(mtu_bytes), asked.is_acknowledged());
        let service = LinkService::new(config, random).map_err(io::Error::other)?;
        Ok(Link { asked, neighbour, face: Some(face), service, lost: 0, dropped: 0 })
    }

    /// Whether its face of the forwarder is still there.
    pub(super) fn state(&self) -> FaceState {
        if self.face.is_some() { FaceState::Up } else { FaceState::Down }
    }

    /// As clients are told of it, by the number of its face.
    pub(super) fn status(&self, face: FaceId) -> LinkStatus {
        LinkStatus { asked: self.asked.clone(), face, state: self.state() }
    }

    /// Something came from the neighbour; what is wrong with it is counted where it is noticed.
    pub(super) fn handle_packet(&mut self, now: Instant, packet: &[u8]) {
        if self.face.is_some() {
            let _ = self.service.receive(now, packet);
        }
    }

    /// Takes what the forwarder sends, lets time pass, and sends on both sides what there is to send.
    ///
    /// # Errors
    /// The forwarder's side has gone just now.
    pub(super) fn proceed(&mut self, now: Instant, can_read: bool, sockets: &mut Sockets) -> io::Result<()> {
        let Some(face) = &mut self.face else { return Ok(()) };
        let (service, neighbour, lost) = (&mut self.service, &self.neighbour, &mut self.lost);
        let mut packet = Vec::new();
        let mut transmit = |service: &mut LinkService| {
            while service.poll_transmit(now, &mut packet).is_some() {
                // A packet that the network does not take is lost, as it may be on its way.
                *lost += u64::from(sockets.send(neighbour, &packet).is_err());
                packet.clear();
            }
        };
        let mut outcome = Ok(());
        if can_read {
            outcome = face.receive(|message| {
                // Of a message that is not taken the service counts why.
                let _ = service.send(now, message);
                transmit(service);
            });
        }
        if service.next_deadline() <= now {
            service.handle_timeout(now);
        }
        transmit(service);
        while let Some(message) = service.poll_deliver() {
            face.send(&message);
        }
        outcome = outcome.and_then(|()| face.flush());
        if outcome.is_err() {
            self.dropped += face.dropped();
            self.face = None;
        }
        outcome
    }

    /// The forwarder's side, while there is one.
    pub(super) fn face(&self) -> Option<&ForwarderFace> {
        self.face.as_ref()
    }

    pub(super) fn next_deadline(&self) -> Instant {
        if self.face.is_some() { self.service.next_deadline() } else { Instant::NEVER }
    }

    /// In a few words, for when it ends: packets both ways, and messages that were dropped.
    pub(super) fn summary(&self) -> String {
        let counters = self.service.counters();
        let dropped: u64 = self.service.drops().iter().map(|(_, count)| count).sum();
        format!(
            "{} packets sent, {} not taken by the network, {} received, {} messages dropped",
            counters.packets_out.saturating_sub(self.lost),
            self.lost,
            counters.packets_in,
            dropped + self.dropped + self.face.as_ref().map_or(0, ForwarderFace::dropped)
        )
    }
}
