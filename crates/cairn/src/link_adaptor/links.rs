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
use packet::time::{Duration, Instant};

use super::forwarder_face::ForwarderFace;
use super::link::Link;
use super::sockets::{Neighbour, Sockets};

/// Links at once; what is asked for beyond gets no answer, as whatever cannot be done.
const MAX_LINKS: usize = 256;
/// How often an interface that is away is looked for.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of a list: what an object holds beside its long name, keys and signature.
const MAX_LIST_BYTES: usize = 6500;

/// The links, and the sockets that they share.
pub(crate) struct Links {
    links: BTreeMap<FaceId, Link>,
    by_neighbour: BTreeMap<Neighbour, FaceId>,
    sockets: Sockets,
    /// When interfaces that were away are looked for next.
    reopen_at: Instant,
}

impl Links {
    pub(crate) fn new(sockets: Sockets) -> Self {
        Links { links: BTreeMap::new(), by_neighbour: BTreeMap::new(), sockets, reopen_at: Instant::ZERO }
    }

    /// What a link to this neighbour is told as, if there is one that works: whoever asks twice is told of it
    /// again.
    pub(crate) fn tell_of(&self, neighbour: &Neighbour) -> Option<Vec<u8>> {
        let face = self.by_neighbour.get(neighbour)?;
        let link = self.links.get(face).filter(|link| link.state() == FaceState::Up)?;
        Some(link.asked.tell("connect", *face, link.state()))
    }

    /// Whether another link could be made to this neighbour: there is room and a socket.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn prepare(&mut self, neighbour: &Neighbour) -> io::Result<usize> {
        let working = self.links.values().filter(|link| link.state() == FaceState::Up).count();
        if working >= MAX_LINKS {
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
        came: Vec<u8>,
    ) -> io::Result<Vec<u8>> {
        let mtu_bytes = self.prepare(&neighbour)?;
        let random = Random::from_seed(Clock::seed());
        let link = Link::new(asked, neighbour.clone(), mtu_bytes, ForwarderFace::new(stream, came)?, random)?;
        let told = link.asked.tell("connect", face, FaceState::Up);
        // What has failed makes room. A forwarder that started again gives out the same numbers again.
        self.links.retain(|_, link| link.state() == FaceState::Up);
        self.links.insert(face, link);
        self.by_neighbour.insert(neighbour, face);
        let Links { links, by_neighbour, .. } = self;
        by_neighbour
            .retain(|neighbour, face| links.get(face).is_some_and(|link| link.neighbour == *neighbour));
        Ok(told)
    }

    /// Removes a link, by which its face of the forwarder goes; the answer that tells of it.
    pub(crate) fn remove(&mut self, face: FaceId) -> Option<Vec<u8>> {
        let link = self.links.remove(&face)?;
        self.by_neighbour.remove(&link.neighbour);
        tell!("link {face} is gone: {}", link.summary());
        Some(link.asked.tell("disconnect", face, link.state()))
    }

    /// All links, as many as `room` bytes hold, those of the oldest faces first.
    pub(crate) fn list(&self, room: usize) -> Vec<u8> {
        let mut bytes = 0;
        let items =
            self.links.iter().map(|(face, link)| link.asked.tell("listconnections", *face, link.state()));
        Collection::encode(items.take_while(|item| {
            bytes += item.len();
            bytes <= room.min(MAX_LIST_BYTES)
        }))
    }

    /// Neighbours that are heard.
    #[cfg(test)]
    pub(super) fn by_neighbour_count(&self) -> usize {
        self.by_neighbour.len()
    }

    /// Takes and sends whatever there is on both sides. `readable` are the faces on which something came.
    pub(super) fn proceed(&mut self, now: Instant, readable: &[FaceId]) {
        let Links { links, by_neighbour, sockets, reopen_at } = self;
        sockets.receive(|from, packet| {
            // Who is no neighbour by a link is not heard.
            if let Some(link) = by_neighbour.get(&from).and_then(|face| links.get_mut(face)) {
                link.handle_packet(now, packet);
            }
        });
        let reopens = *reopen_at <= now;
        if reopens {
            *reopen_at = now + REOPEN_INTERVAL;
        }
        for (face, link) in links {
            if reopens {
                // Its interface may have come back; until then what is sent there is lost.
                let _ = sockets.open_for(&link.neighbour);
            }
            link.proceed(now, readable.contains(face), sockets);
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
