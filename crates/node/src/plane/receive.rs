//! From the sockets to the engine.

use engine::FaceId;
use rustix::event::epoll;

use super::send::touch;
use super::{DataPlane, Token};
use crate::codec::{Arrivals, Codec, Framing};
use crate::control::FaceState;
use crate::drop_reason::DropReason;
use crate::face::{Face, Transport};
use crate::transport::stream::ReadOutcome;

/// Trains received from one socket in one turn.
const TRAINS_PER_TURN: usize = 8;

impl DataPlane {
    /// A socket for datagrams has something to read, or room to write.
    pub(super) fn handle_datagrams(&mut self, number: usize, flags: epoll::EventFlags) {
        if flags.contains(epoll::EventFlags::OUT)
            && let Some(channel) = self.channels.get_mut(number)
        {
            channel.handle_writable(&mut self.drops);
            if !channel.is_waiting() {
                let token = Token::Datagrams(number).to_data();
                let _ = epoll::modify(&self.epoll, &channel.socket, token, epoll::EventFlags::IN);
            }
        }
        if !flags.contains(epoll::EventFlags::IN) {
            return;
        }
        let Some(mut receiver) = self.receiver.take() else { return };
        if let Some(channel) = self.channels.get(number)
            // Errors of a socket without a peer are about some datagram sent long ago.
            && let Ok(count) = receiver.receive(&channel.socket, TRAINS_PER_TURN)
        {
            for index in 0..count {
                let Some((train, bytes)) = receiver.train(index) else { continue };
                let first = bytes.get(..train.stride).unwrap_or(bytes);
                let Some(face) = self.face_of_peer(number, train.from, first) else { continue };
                self.receive_frames(face, bytes.chunks(train.stride));
            }
        }
        self.receiver = Some(receiver);
        self.hand_over();
    }

    /// The face of a peer, made if the peer is new and its frame worth it.
    #[inline]
    fn face_of_peer(&mut self, number: usize, peer: std::net::SocketAddr, frame: &[u8]) -> Option<FaceId> {
        if let Some(face) = self.channels.get_mut(number)?.face(peer) {
            return Some(face);
        }
        if !self.settings.accept_udp || !Codec::is_welcome(packet::Dialect::Ndn, frame) {
            self.drops.count(DropReason::Stranger);
            return None;
        }
        self.add_datagram_face_on_demand(number, peer)
    }

    #[inline]
    fn receive_frames<'f>(&mut self, id: FaceId, frames: impl Iterator<Item = &'f [u8]>) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        touch(&mut self.touched, face);
        for frame in frames {
            // Looked up anew after a batch has been handed over, which may do anything to faces.
            let Some(face) = self.faces.get_mut(&id) else { return };
            receive_frame(face, frame, self.now, &self.engine, &mut self.arrivals);
            if self.arrivals.len() >= Arrivals::FULL {
                self.hand_over();
            }
        }
    }

    /// A connection has something to read, or room to write, or has come about.
    pub(super) fn handle_stream(&mut self, id: FaceId, flags: epoll::EventFlags) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        if face.state == FaceState::Down {
            return self.handle_connected(id);
        }
        if flags.contains(epoll::EventFlags::OUT) {
            self.handle_writable(id);
        }
        if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
            self.read_stream(id);
        }
    }

    fn read_stream(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let Transport::Stream(port) = &mut face.transport else { return };
        let Some(stream) = &mut port.stream else { return };
        let mut scratch = std::mem::take(&mut self.scratch);
        match stream.read(&mut scratch) {
            ReadOutcome::Nothing => {}
            ReadOutcome::Closed => self.handle_stream_end(id, "closed by the peer"),
            ReadOutcome::Bytes(count) => {
                touch(&mut self.touched, face);
                self.split_stream(id, scratch.get(..count).unwrap_or_default());
                self.hand_over();
            }
        }
        self.scratch = scratch;
    }

    /// Takes the frames out of what was read, and keeps the rest.
    fn split_stream(&mut self, id: FaceId, mut bytes: &[u8]) {
        let mut ended_a_frame = false;
        loop {
            let Some(face) = self.faces.get_mut(&id) else { return };
            match face.codec.framing(bytes) {
                Framing::Complete(length) => {
                    let Some((frame, rest)) = bytes.split_at_checked(length) else { return };
                    receive_frame(face, frame, self.now, &self.engine, &mut self.arrivals);
                    bytes = rest;
                    ended_a_frame = true;
                }
                Framing::Incomplete => {
                    let Transport::Stream(port) = &mut face.transport else { return };
                    let Some(stream) = &mut port.stream else { return };
                    stream.keep(bytes);
                    // A byte now and then is no progress: only the end of a frame is.
                    let since = port.incomplete_since.filter(|_| !ended_a_frame).unwrap_or(self.now);
                    port.incomplete_since = stream.is_inside_frame().then_some(since);
                    return;
                }
                Framing::Invalid => {
                    face.drops.count(DropReason::BrokenStream);
                    self.hand_over();
                    return self.handle_stream_end(id, "what came is no sequence of frames");
                }
            }
            if self.arrivals.len() >= Arrivals::FULL {
                self.hand_over();
            }
        }
    }

    /// Data that the node itself sends.
    pub(crate) fn receive_internal(&mut self, data: &packet::Data) {
        let hashes = self.engine.hasher().hash(data.dialect(), data.name().components());
        let header =
            packet::LinkHeader { cache_policy: Some(packet::CachePolicy::NoCache), ..Default::default() };
        self.engine.receive_data(self.now, crate::control::INTERNAL_FACE, data, &hashes, &header);
    }
}

#[inline]
fn receive_frame(
    face: &mut Face,
    frame: &[u8],
    now: packet::time::Instant,
    engine: &engine::Engine,
    arrivals: &mut Arrivals,
) {
    face.traffic.in_frames += 1;
    face.traffic.in_bytes += frame.len() as u64;
    arrivals.face = face.id;
    face.codec.receive(now, 0, frame, engine.hasher(), arrivals);
}
