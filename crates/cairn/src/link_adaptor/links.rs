//! All links of an adaptor, by the numbers of their faces.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use client::Clock;
use engine::FaceId;
use node::LinkRequest;
use node::control::FaceState;
use packet::ccnx::management::Collection;
use packet::random::Random;
use packet::time::Instant;

use super::link::Link;
use super::sockets::{Neighbour, Sockets};

/// Links at once; what is asked for beyond gets no answer, as whatever cannot be done.
const MAX_LINKS: usize = 256;
/// Bytes of a list: what an object holds beside its long name, keys and signature.
const MAX_LIST_BYTES: usize = 6500;

/// The links, and the sockets that they share.
pub(crate) struct Links {
    links: BTreeMap<FaceId, Link>,
    by_neighbour: BTreeMap<Neighbour, FaceId>,
    sockets: Sockets,
}

impl Links {
    pub(crate) fn new(sockets: Sockets) -> Self {
        Links { links: BTreeMap::new(), by_neighbour: BTreeMap::new(), sockets }
    }

    /// What a link to this neighbour was told as, if there is one: whoever asks twice is told of it again.
    pub(crate) fn tell_of(&self, neighbour: &Neighbour) -> Option<Vec<u8>> {
        let face = self.by_neighbour.get(neighbour)?;
        let link = self.links.get(face)?;
        Some(link.asked.tell("connect", *face, link.state()))
    }

    /// Whether another link could be made to this neighbour: there is room and a socket.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn prepare(&mut self, neighbour: &Neighbour) -> io::Result<usize> {
        if self.links.len() >= MAX_LINKS {
            return Err(io::Error::other(format!("there are {MAX_LINKS} links, as many as may be")));
        }
        self.sockets.open_for(neighbour)
    }

    /// Adds a link behind a face of the forwarder; the answer that tells of it.
    ///
    /// # Errors
    /// There is no room, no socket, or the parameters make no sense.
    pub(crate) fn add(
        &mut self,
        face: FaceId,
        asked: LinkRequest,
        neighbour: Neighbour,
        stream: OwnedFd,
    ) -> io::Result<Vec<u8>> {
        let mtu_bytes = self.prepare(&neighbour)?;
        let random = Random::from_seed(Clock::seed());
        let link = Link::new(asked, neighbour.clone(), mtu_bytes, stream, random)?;
        let told = link.asked.tell("connect", face, FaceState::Up);
        if let Some(old) = self.by_neighbour.insert(neighbour, face) {
            self.links.remove(&old);
        }
        self.links.insert(face, link);
        Ok(told)
    }

    /// Removes a link, by which its face of the forwarder goes; the answer that tells of it.
    pub(crate) fn remove(&mut self, face: FaceId) -> Option<Vec<u8>> {
        let link = self.links.remove(&face)?;
        self.by_neighbour.remove(&link.neighbour);
        tell!("link {face} is gone: {}", link.summary());
        Some(link.asked.tell("disconnect", face, link.state()))
    }

    /// All links, as many as one object holds, those of the oldest faces first.
    pub(crate) fn list(&self) -> Vec<u8> {
        let mut bytes = 0;
        let items =
            self.links.iter().map(|(face, link)| link.asked.tell("listconnections", *face, link.state()));
        Collection::encode(items.take_while(|item| {
            bytes += item.len();
            bytes <= MAX_LIST_BYTES
        }))
    }

    /// Takes and sends whatever there is on both sides. `readable` are the faces on which something came.
    pub(super) fn proceed(&mut self, now: Instant, readable: &[FaceId]) {
        let Links { links, by_neighbour, sockets } = self;
        sockets.receive(|from, packet| {
            // Who is no neighbour by a link is not heard.
            if let Some(link) = by_neighbour.get(&from).and_then(|face| links.get_mut(face)) {
                link.handle_packet(now, packet);
            }
        });
        for (face, link) in links {
            // Its interface may have come back.
            if sockets.open_for(&link.neighbour).is_ok() {
                link.proceed(now, readable.contains(face), sockets);
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.links.values().map(Link::next_deadline).min().unwrap_or(Instant::NEVER)
    }

    /// The forwarder's faces of links that work, with their streams and whether something waits to be sent.
    pub(super) fn faces(&self) -> impl Iterator<Item = (FaceId, BorrowedFd<'_>, bool)> {
        self.links.iter().filter_map(|(id, link)| {
            let face = link.face()?;
            Some((*id, face.descriptor(), face.has_outgoing()))
        })
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.descriptors()
    }
}
