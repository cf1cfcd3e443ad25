//! All links of an adaptor, by the numbers of their faces.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use engine::FaceId;
use packet::random::Random;
use packet::time::{Duration, Instant};

use super::forwarder_face::ForwarderFace;
use super::link::Link;
use super::sockets::{Neighbour, Sockets};
use super::{Event, LinkRequest, LinkStatus, Notify};
use crate::control::FaceState;
use crate::ndnld::MAX_LINKS;
use crate::sys::random_words;

/// How often an interface that is away is looked for.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);

/// A link's connection to the forwarder.
pub(super) struct Connection {
    /// The forwarder's face.
    pub(super) face: FaceId,
    pub(super) stream: OwnedFd,
    /// What has come by it.
    pub(super) came: Vec<u8>,
}

/// The links, and the sockets that they share.
pub(super) struct Links {
    links: BTreeMap<FaceId, Link>,
    by_neighbour: BTreeMap<Neighbour, FaceId>,
    sockets: Sockets,
    /// When interfaces that were away are looked for next.
    reopen_at: Instant,
    notify: Notify,
}

impl Links {
    pub(super) fn new(sockets: Sockets, notify: Notify) -> Self {
        let (links, by_neighbour) = (BTreeMap::new(), BTreeMap::new());
        Links { links, by_neighbour, sockets, reopen_at: Instant::ZERO, notify }
    }

    /// The link to this neighbour, if there is one that works: whoever asks twice is told of it again.
    pub(super) fn working(&self, neighbour: &Neighbour) -> Option<LinkStatus> {
        let face = *self.by_neighbour.get(neighbour)?;
        self.links.get(&face).map(|link| link.status(face)).filter(|link| link.state == FaceState::Up)
    }

    /// Whether another link could be made to this neighbour: there is room and a socket.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn prepare(&mut self, neighbour: &Neighbour) -> io::Result<usize> {
        let working = self.links.values().filter(|link| link.state() == FaceState::Up).count();
        if working >= MAX_LINKS {
            return Err(io::Error::other(format!("there are {MAX_LINKS} links, as many as may be")));
        }
        self.sockets.open_for(neighbour)
    }

    /// Adds a link behind a face of the forwarder.
    ///
    /// # Errors
    /// There is no room, no socket, or the parameters make no sense.
    pub(super) fn add(
        &mut self,
        asked: LinkRequest,
        neighbour: Neighbour,
        Connection { face, stream, came }: Connection,
    ) -> io::Result<LinkStatus> {
        let mtu_bytes = self.prepare(&neighbour)?;
        let [seed] = random_words()?;
        let random = Random::from_seed(seed);
        let link = Link::new(asked, neighbour.clone(), mtu_bytes, ForwarderFace::new(stream, came)?, random)?;
        let status = link.status(face);
        // What has failed makes room. A forwarder that started again gives out the same numbers again.
        self.links.retain(|_, link| link.state() == FaceState::Up);
        self.links.insert(face, link);
        self.by_neighbour.insert(neighbour, face);
        let Links { links, by_neighbour, .. } = self;
        by_neighbour
            .retain(|neighbour, face| links.get(face).is_some_and(|link| link.neighbour == *neighbour));
        Ok(status)
    }

    /// Removes a link, by which its face of the forwarder goes.
    pub(super) fn remove(&mut self, face: FaceId) -> Option<LinkStatus> {
        let link = self.links.remove(&face)?;
        self.by_neighbour.remove(&link.neighbour);
        (self.notify)(Event::Link(format!("link {face} is gone: {}", link.summary())));
        Some(link.status(face))
    }

    /// All links, those of the oldest faces first.
    pub(super) fn list(&self) -> Vec<LinkStatus> {
        self.links.iter().map(|(face, link)| link.status(*face)).collect()
    }

    /// Neighbours that are heard.
    #[cfg(test)]
    pub(super) fn by_neighbour_count(&self) -> usize {
        self.by_neighbour.len()
    }

    /// Takes and sends whatever there is on both sides. `readable` are the faces on which something came.
    pub(super) fn proceed(&mut self, now: Instant, readable: &[FaceId]) {
        let Links { links, by_neighbour, sockets, reopen_at, notify } = self;
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
            if let Err(error) = link.proceed(now, readable.contains(face), sockets) {
                notify(Event::Failure(format!("the forwarder's face of a link has gone: {error}")));
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.links.values().map(Link::next_deadline).min().unwrap_or(Instant::NEVER)
    }

    /// The forwarder's faces of links that work.
    pub(super) fn faces(&self) -> impl Iterator<Item = (FaceId, &ForwarderFace)> {
        self.links.iter().filter_map(|(id, link)| Some((*id, link.face()?)))
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.descriptors()
    }
}
