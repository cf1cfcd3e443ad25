//! NDNLP v1 beside a forwarder of CCNx, in the way of ndnld (NDN-0006): each link is a face of the forwarder,
//! that of a connection of its own, and what the forwarder sends there goes to the neighbour in packets of
//! NDNLP.
//!
//! ```text
//! forwarder ──(a connection for each link)── adaptor ──(UDP, or frames of Ethernet)── neighbour
//!     └──────(the owner's connection)───────────┘
//! ```
//!
//! One thread does what packets demand (`worker`); the owner's hands it tasks, by what clients ask.

mod face_number;
mod forwarder_face;
mod link;
mod links;
mod sockets;
#[cfg(test)]
mod tests;
mod worker;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use engine::FaceId;
use packet::Interest;
use packet::ccnx::management::NdnldConnection;
use packet::ccnx::{Scope, Ticks};
use trust::ccnx::CcnxSigner;

use self::links::Links;
use self::sockets::{Neighbour, Sockets};
use self::worker::Worker;
use super::{LinkRequest, LinkStatus, LinkTable, answer};

/// What an answer of ours holds beside its name: 8,800 bytes, less signature and key of the longest kind.
const MAX_ANSWER_BYTES: usize = 7300;

/// The forwarder that an adaptor is beside.
pub struct Forwarder {
    /// Which one it is.
    pub ccnd_id: [u8; 32],
    /// Signs what it is asked.
    pub signer: CcnxSigner,
    /// Makes a connection to it, a stream.
    pub connect: Box<dyn Fn() -> io::Result<OwnedFd>>,
}

/// What happened that the owner of an adaptor may want to tell people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A link was made or is gone.
    Link(String),
    /// Something failed.
    Failure(String),
}

/// What an adaptor does with events; its threads wait for it.
pub type Notify = fn(Event);

/// Carries the links of a forwarder that has none of its own. Dropping it ends them.
pub struct Adaptor {
    forwarder: Forwarder,
    worker: Worker,
    notify: Notify,
}

impl Adaptor {
    /// Starts its thread. All links over UDP share a socket that is bound to `udp` when there is one.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn start(udp: SocketAddr, forwarder: Forwarder, notify: Notify) -> io::Result<Self> {
        let worker = Worker::start(Links::new(Sockets::new(udp, notify), notify))?;
        Ok(Adaptor { forwarder, worker, notify })
    }

    /// The content that answers a request of the control protocol, which comes to
    /// [`ndnld_control_prefix`](trust::ccnx::ndnld_control_prefix); `None` for no answer. What keeps a link
    /// from being made is an event.
    pub fn handle_interest(&mut self, interest: &Interest, now: Ticks) -> Option<Vec<u8>> {
        // As links decide whom this host sends to, only its own programs may ask; the forwarder lets no such
        // Interest come from elsewhere.
        let scope = interest.ccnx()?.scope()?;
        if scope > Scope::HOST {
            return None;
        }
        let mut components = interest.name().components().skip(4);
        let (verb, object) = (components.next()?, components.next()?);
        if components.next().is_some() {
            return None;
        }
        let room = MAX_ANSWER_BYTES.saturating_sub(interest.name().canonical().len());
        answer(verb.value, object.value, room, &mut TimedAdaptor { adaptor: self, now })
    }

    fn connect(&mut self, asked: &NdnldConnection<'_>, now: Ticks) -> io::Result<LinkStatus> {
        let wrong = || io::Error::other("the address makes no sense");
        let request = LinkRequest::of(asked).ok_or_else(wrong)?;
        let neighbour = Neighbour::of(&request).ok_or_else(wrong)?;
        let known = neighbour.clone();
        if let Some(link) = self.worker.call(move |links| links.working(&known)).flatten() {
            return Ok(link);
        }
        // The forwarder is not bothered for what cannot be had.
        let checked = neighbour.clone();
        if let Some(outcome) = self.worker.call(move |links| links.prepare(&checked)) {
            outcome?;
        }
        let stream = (self.forwarder.connect)()?;
        let connection = face_number::learn(stream, &self.forwarder, now)?;
        let shown = neighbour.to_string();
        let added = self.worker.call(move |links| links.add(request, neighbour, connection));
        let link = added.ok_or_else(|| io::Error::other("the thread of the links has ended"))??;
        (self.notify)(Event::Link(format!("link {} leads to {shown}", link.face)));
        Ok(link)
    }
}

/// An adaptor, asked for links at this time.
struct TimedAdaptor<'a> {
    adaptor: &'a mut Adaptor,
    now: Ticks,
}

impl LinkTable for TimedAdaptor<'_> {
    fn connect(&mut self, asked: &NdnldConnection<'_>) -> Option<LinkStatus> {
        let made = self.adaptor.connect(asked, self.now);
        let tell = |error: &io::Error| {
            let host = asked.host.unwrap_or_default().escape_debug();
            (self.adaptor.notify)(Event::Failure(format!("no link to {host}: {error}")));
        };
        made.inspect_err(tell).ok()
    }

    fn disconnect(&mut self, face: FaceId) -> Option<LinkStatus> {
        self.adaptor.worker.call(move |links| links.remove(face))?
    }

    fn list(&mut self) -> Vec<LinkStatus> {
        self.adaptor.worker.call(|links| links.list()).unwrap_or_default()
    }
}
