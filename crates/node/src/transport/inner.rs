//! Faces inside the process: to management and other services of the node.
//!
//! What is on a socket frames is here packets, decoded and sharing their bytes: nothing is written and read
//! again, and a packet of any dialect crosses alike. Each way has a [ring](super::ring) with limits. What the
//! node sends and finds no room is dropped and counted at the face, as at a socket whose reader is slow; what
//! the application sends and finds no room comes back to it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::FaceId;
use flow::source::AppFace;
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, Packet, time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use system::Clock;
use thiserror::Error;

use super::ring::{Refused, RingEnded, RingLimits, RingReceiver, RingSender, Signal, ring};

/// What may wait in each direction of an inner face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerLimits {
    /// Packets, at least one. Their places are made with the face, some 250 bytes each.
    pub packets: usize,
    /// Bytes of packets, and 128 more for each. One packet that is larger may wait alone.
    pub bytes: usize,
}

impl Default for InnerLimits {
    /// 1,024 packets and 8 MiB.
    fn default() -> Self {
        InnerLimits { packets: 1024, bytes: 8 << 20 }
    }
}

/// A packet on its way between the node and an application inside it.
#[derive(Clone, Debug)]
pub struct InnerPacket {
    /// The packet.
    pub packet: Packet,
    /// What travels with it: to the application, the face it came by and its congestion mark; from the
    /// application, the face to leave by, and whether it may be cached.
    pub header: LinkHeader,
    /// Data that perhaps nobody has asked for: if so it is gone, and that is nobody's mistake.
    pub is_offer: bool,
}

impl InnerPacket {
    /// An Interest, as the node's routes and strategies lead it.
    pub fn interest(interest: Interest) -> Self {
        Packet::Interest(interest).into()
    }

    /// Data that was asked for.
    pub fn data(data: Data) -> Self {
        Packet::Data(data).into()
    }

    /// Its bytes, without what travels with it.
    pub fn wire(&self) -> &Buffer {
        match &self.packet {
            Packet::Interest(packet) | Packet::Nack(packet, _) => packet.wire(),
            Packet::Data(packet) => packet.wire(),
        }
    }

    /// The language it is in.
    pub fn dialect(&self) -> Dialect {
        match &self.packet {
            Packet::Interest(packet) | Packet::Nack(packet, _) => packet.dialect(),
            Packet::Data(packet) => packet.dialect(),
        }
    }

    /// To the application: the face that it came by.
    pub(crate) fn incoming_face(&self) -> Option<FaceId> {
        self.header.incoming_face.and_then(|face| u32::try_from(face).ok()).map(FaceId)
    }

    /// What it counts as in a ring.
    fn cost(&self) -> usize {
        self.wire().len() + PACKET_COST_BYTES
    }
}

impl From<Packet> for InnerPacket {
    fn from(packet: Packet) -> Self {
        InnerPacket { packet, header: LinkHeader::NONE, is_offer: false }
    }
}

/// What a packet takes beside its bytes, about.
const PACKET_COST_BYTES: usize = 128;
// As the limits' documentation says.
const _: () = assert!(size_of::<InnerPacket>() <= 320 && size_of::<InnerPacket>() > 128);

/// Why a packet was not sent. It comes back in the error.
#[derive(Debug, Error)]
pub enum InnerSendError {
    /// As much waits for the node as may: see [`InnerFace::wait_for_room`].
    #[error("as many packets wait for the node as may")]
    Full(Box<InnerPacket>),
    /// The face is gone.
    #[error("the face is gone")]
    Closed(Box<InnerPacket>),
    /// The face speaks another dialect.
    #[error("the face speaks another dialect")]
    OtherDialect(Box<InnerPacket>),
}

/// The face is gone, and all that came by it has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the face is gone")]
pub struct InnerFaceGone;

impl From<RingEnded> for InnerFaceGone {
    fn from(_: RingEnded) -> Self {
        InnerFaceGone
    }
}

/// The application's end of an inner face. Dropping it removes the face from the node.
///
/// It belongs to one thread at a time, and can be given to any. The node never waits for it.
///
/// # Calling order
/// [`send`](Self::send) and [`recv`](Self::recv) never block. When `recv` has given `None`, wait with
/// [`wait`](Self::wait), or until the [descriptor](AsFd::as_fd) is readable, and call `recv` again. When
/// `send` has given [`InnerSendError::Full`], [`wait_for_room`](Self::wait_for_room).
#[derive(Debug)]
pub struct InnerFace {
    id: FaceId,
    dialect: Dialect,
    sender: RingSender<InnerPacket>,
    receiver: RingReceiver<InnerPacket>,
    /// Raised when there is room again.
    room: Arc<Signal>,
    /// Counts from when the face was made.
    clock: Clock,
}

/// The node's end of an inner face.
pub(crate) struct InnerPort {
    /// Whether something was sent that the application has not been woken for.
    is_unflushed: bool,
    sender: RingSender<InnerPacket>,
    receiver: RingReceiver<InnerPacket>,
}

/// Both ends of a face that has no number yet.
pub(crate) fn inner_face(dialect: Dialect, limits: InnerLimits) -> io::Result<(InnerFace, InnerPort)> {
    let (application, room, node) = (Signal::new()?, Signal::new()?, Signal::new()?);
    let limits = RingLimits { items: limits.packets, bytes: limits.bytes };
    let (to_node, from_application) = ring(limits, room.clone(), node.clone());
    // The node asks for no room. That the application has gone wakes it.
    let (to_application, from_node) = ring(limits, node, application);
    let id = FaceId(0);
    let clock = Clock::start();
    let face = InnerFace { id, dialect, sender: to_node, receiver: from_node, room, clock };
    Ok((face, InnerPort { is_unflushed: false, sender: to_application, receiver: from_application }))
}

impl InnerFace {
    /// The same with the number that the node has given it.
    pub(crate) fn numbered(self, id: FaceId) -> Self {
        InnerFace { id, ..self }
    }

    /// Its number, for routes: see [`NodeControl::add_next_hop`](crate::control::NodeControl::add_next_hop).
    pub fn id(&self) -> FaceId {
        self.id
    }

    /// The language that it speaks.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Gives a packet to the node.
    ///
    /// # Errors
    /// Why not; nothing is dropped.
    pub fn send(&mut self, packet: InnerPacket) -> Result<(), InnerSendError> {
        if packet.dialect() != self.dialect {
            return Err(InnerSendError::OtherDialect(Box::new(packet)));
        }
        let cost = packet.cost();
        match self.sender.push(packet, cost) {
            Ok(()) => {
                self.sender.wake();
                Ok(())
            }
            Err(Refused::Full(packet)) => Err(InnerSendError::Full(Box::new(packet))),
            Err(Refused::Closed(packet)) => Err(InnerSendError::Closed(Box::new(packet))),
        }
    }

    /// Gives a packet to the node, and waits for room as long as it takes. Meanwhile nothing is received, and
    /// what finds no room on its way here is dropped.
    ///
    /// # Errors
    /// Why not.
    pub fn send_in_time(&mut self, mut packet: InnerPacket) -> Result<(), InnerSendError> {
        loop {
            match self.send(packet) {
                Err(InnerSendError::Full(back)) => packet = *back,
                other => return other,
            }
            // That it was in vain is seen by the next attempt.
            self.wait_for_room(packet.wire().len(), None);
        }
    }

    /// Takes the next packet from the node; `None` if there is none at present.
    ///
    /// # Errors
    /// The face is gone, and nothing is left.
    pub fn recv(&mut self) -> Result<Option<InnerPacket>, InnerFaceGone> {
        Ok(self.receiver.pop()?.map(|(packet, _)| packet))
    }

    /// Waits until there is something to receive, or the face is gone; `None` for as long as it takes. False
    /// if the time is over.
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        self.receiver.has_items() || is_raised_within(&self.receiver, timeout)
    }

    /// Whether a packet of so many bytes could be sent.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.sender.has_room_for(bytes.saturating_add(PACKET_COST_BYTES))
    }

    /// Waits until a packet of so many bytes could be sent, or the face is gone; `None` for as long as it
    /// takes. False if the time is over.
    pub fn wait_for_room(&self, bytes: usize, timeout: Option<Duration>) -> bool {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            self.room.lower();
            if !self.sender.ask_for_room(bytes.saturating_add(PACKET_COST_BYTES)) {
                return true;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !is_raised_within(&self.room, left) {
                return false;
            }
        }
    }
}

impl AsFd for InnerFace {
    /// Readable when there may be something to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

/// Why a source can be served over an inner face no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InnerServeError {
    /// The node ended, or somebody destroyed the face.
    #[error(transparent)]
    Gone(#[from] InnerFaceGone),
    /// The source answered in a dialect that the face does not speak.
    #[error("the source answers in another dialect than its face speaks")]
    OtherDialect,
}

/// Carries what comes by the routes that lead to it, so that [`serve`](flow::source::serve) serves any source
/// of Data inside the node. What else comes, such as answers to Interests of the application's own, is lost.
impl AppFace for InnerFace {
    type Error = InnerServeError;

    fn now(&self) -> time::Instant {
        self.clock.now()
    }

    fn next_interest(
        &mut self,
        until: time::Instant,
    ) -> Result<Option<(Interest, LinkHeader)>, InnerServeError> {
        let mut has_waited = false;
        loop {
            let left = until.saturating_since(self.clock.now());
            match self.recv()? {
                Some(InnerPacket { packet: Packet::Interest(interest), header, .. }) => {
                    return Ok(Some((interest, header)));
                }
                Some(_) => {}
                // The time is up, or a signal came.
                None if has_waited || left == time::Duration::ZERO => return Ok(None),
                None => {
                    let is_for_ever = until == time::Instant::NEVER;
                    self.wait((!is_for_ever).then(|| Duration::from_nanos(left.as_nanos())));
                    has_waited = true;
                }
            }
        }
    }

    /// Waits for room if the node is slow.
    fn send(&mut self, answer: Packet, asked: &LinkHeader) -> Result<(), InnerServeError> {
        let header = LinkHeader { pit_token: asked.pit_token.clone(), ..LinkHeader::NONE };
        self.send_in_time(InnerPacket { header, ..InnerPacket::from(answer) }).map_err(|error| match error {
            InnerSendError::Full(_) | InnerSendError::Closed(_) => InnerFaceGone.into(),
            InnerSendError::OtherDialect(_) => InnerServeError::OtherDialect,
        })
    }

    /// What was sent is on its way already.
    fn flush(&mut self) -> Result<(), InnerServeError> {
        Ok(())
    }
}

impl InnerPort {
    /// Gives a packet to the application; the bytes of it that count, or `None` if there is no room. The
    /// application is woken by [`wake`](Self::wake).
    pub(crate) fn send(&mut self, packet: InnerPacket) -> Option<usize> {
        let (bytes, cost) = (packet.wire().len(), packet.cost());
        let is_sent = self.sender.push(packet, cost).is_ok();
        self.is_unflushed |= is_sent;
        is_sent.then_some(bytes)
    }

    /// Whether no more than half of what may wait for the application does.
    pub(crate) fn is_half_empty(&self) -> bool {
        self.sender.is_half_empty()
    }

    /// Takes the next packet from the application; `None` if there is none.
    pub(crate) fn recv(&mut self) -> Result<Option<InnerPacket>, InnerFaceGone> {
        Ok(self.receiver.pop()?.map(|(packet, _)| packet))
    }

    /// Wakes the application if it waits for what has been sent.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.is_unflushed) {
            self.sender.wake();
        }
    }

    /// Wakes the application if it waits for room and there is some.
    pub(crate) fn tell_of_room(&self) {
        self.receiver.tell_of_room();
    }

    /// What waits for the application.
    pub(crate) fn queued_bytes(&self) -> u64 {
        self.sender.waiting_bytes() as u64
    }
}

impl AsFd for InnerPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

/// Waits until a descriptor is readable; false if the time is over.
fn is_raised_within(source: &impl AsFd, timeout: Option<Duration>) -> bool {
    // A time that the system cannot count to never ends.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    let mut descriptors = [PollFd::new(source, PollFlags::IN)];
    match poll(&mut descriptors, timeout.as_ref()) {
        Ok(count) => count > 0,
        // Whoever waits looks again anyway.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::InterestBuilder;

    use super::*;

    fn ends(packets: usize, bytes: usize) -> (InnerFace, InnerPort) {
        inner_face(Dialect::Ndn, InnerLimits { packets, bytes }).unwrap()
    }

    fn interest(number: u32) -> InnerPacket {
        let name = format!("/a/{number}").parse().unwrap();
        InnerPacket::interest(InterestBuilder::new(name).nonce(number).build().unwrap())
    }

    #[test]
    fn what_finds_no_room_on_its_way_to_the_node_comes_back_and_the_application_is_told_of_room() {
        let (mut face, mut port) = ends(4, 1 << 20);
        for number in 0..4 {
            face.send(interest(number)).unwrap();
        }
        let Err(InnerSendError::Full(back)) = face.send(interest(4)) else { panic!("it is full") };
        assert_eq!(back.wire(), interest(4).wire());
        assert!(!face.has_room_for(20));
        assert!(!face.wait_for_room(20, Some(Duration::from_millis(1))));
        let waiting = std::thread::spawn(move || {
            face.send_in_time(*back).unwrap();
            face
        });
        let mut taken = 0;
        while taken < 5 {
            match port.recv().unwrap() {
                Some(packet) => {
                    assert_eq!(packet.wire(), interest(taken).wire());
                    taken += 1;
                    port.tell_of_room();
                }
                None => assert!(is_raised_within(&port, Some(Duration::from_secs(20)))),
            }
        }
        drop(waiting.join().unwrap());
        assert!(port.recv().is_err(), "the application has gone");
    }

    #[test]
    fn bytes_are_limited_as_packets_are_both_ways() {
        let cost = interest(0).cost();
        let (mut face, mut port) = ends(100, 2 * cost);
        for number in 0..2 {
            face.send(interest(number)).unwrap();
            assert!(port.send(interest(number)).is_some());
        }
        assert!(matches!(face.send(interest(2)), Err(InnerSendError::Full(_))));
        assert!(port.send(interest(2)).is_none());
        assert_eq!(port.queued_bytes(), 2 * cost as u64);
    }
}
