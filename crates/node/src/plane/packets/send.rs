//! From the engine to the sockets.

use engine::batch::poll_transmit_to;
use engine::{FaceId, FaceScope, Transmit};
use packet::Packet;
use packet::time::Instant;
use rustix::event::epoll;
use system::trains::{MAX_TRAIN_BYTES, MAX_TRAIN_DATAGRAMS};

use crate::codec::Codec;
use crate::control::FaceState;
use crate::drop_reason::DropReason;
use crate::face::{DatagramPath, Face, Faces, Sink, Transport};
use crate::plane::faces::limits::note_queue;
use crate::plane::{DataPlane, Token};

/// An outbox leaves early when it holds this many trains, so that it stays in the cache.
const FULL_FRAMES: usize = 2 * MAX_TRAIN_DATAGRAMS;
const FULL_BYTES: usize = 2 * MAX_TRAIN_BYTES;
/// Outboxes kept for later.
const MAX_SPARE_OUTBOXES: usize = 64;
/// An application for which one in so many parts waits of what may wait is not read from until it has caught
/// up.
const HELD_PART: usize = 4;

impl Faces {
    #[cold]
    fn count_full_queue(&mut self, id: FaceId) {
        if let Some(face) = self.get_mut(&id) {
            face.counters.drops.count(DropReason::SendQueueFull);
        }
    }
}

impl DataPlane {
    /// Hands all arrivals to the engine and sends what comes of them.
    pub(in crate::plane) fn hand_over(&mut self) {
        self.schedule.waking.packets += self.batch.arrivals.len();
        self.batch.arrivals.hand_over(self.now, &mut self.engine);
        self.send_all();
    }

    /// Sends all that the engine has.
    pub(in crate::plane) fn send_all(&mut self) {
        loop {
            while let Some(transmit) = self.engine.poll_transmit() {
                self.send(transmit);
            }
            if !self.turn_to_repositories() {
                return;
            }
        }
    }

    #[inline]
    fn send(&mut self, transmit: Transmit) {
        let id = transmit.face;
        let limit = self.send_queue_limit();
        let Some(face) = self.faces.get_mut(&id) else { return };
        if !face.tapping.taps.is_empty() && face.state == FaceState::Up {
            return self.send_tapped(id, transmit);
        }
        self.schedule.waking.asked |= matches!(transmit.packet, Packet::Interest(_));
        let full = match &mut face.transport {
            Transport::Datagram(_) if face.state == FaceState::Down => {
                face.counters.drops.count(DropReason::FaceDown);
                return;
            }
            Transport::Datagram(port) => {
                let outbox = port.outbox.get_or_insert_with(|| self.batch.outboxes.pop().unwrap_or_default());
                face.codec.send(self.now, transmit, outbox);
                let mut full = outbox.is_full(FULL_FRAMES, FULL_BYTES);
                while !full && let Some(transmit) = poll_transmit_to(&mut self.engine, id) {
                    self.schedule.waking.asked |= matches!(transmit.packet, Packet::Interest(_));
                    face.codec.send(self.now, transmit, outbox);
                    full = outbox.is_full(FULL_FRAMES, FULL_BYTES);
                }
                full
            }
            Transport::Stream(port) => match &mut port.stream {
                Some(stream) if face.state == FaceState::Up => {
                    let waits = stream.queue_cost();
                    if waits >= limit {
                        // What came together in one turn may well find a reader.
                        if waits > 0 && !stream.waits_for_room && self.flush_now(id) {
                            return self.send(transmit);
                        }
                        self.faces.count_full_queue(id);
                        return;
                    }
                    let queue = stream.queue();
                    face.codec.send(self.now, transmit, queue);
                    note_queue(&mut self.occupancy.held.queued_bytes, port);
                    false
                }
                _ => {
                    face.counters.drops.count(DropReason::FaceDown);
                    return;
                }
            },
            Transport::Inner(_) => return self.send_inside(transmit),
        };
        self.batch.touch(face);
        if full {
            self.flush(id);
        }
    }

    /// Writes what waits for a connection; whether any of it went.
    #[cold]
    fn flush_now(&mut self, id: FaceId) -> bool {
        let before = self.occupancy.held.queued_bytes;
        self.flush(id);
        self.occupancy.held.queued_bytes < before
    }

    /// Lets the link of a face act upon time.
    pub(in crate::plane) fn handle_link_timeout(&mut self, id: FaceId) {
        let now = self.now;
        self.with_sink(id, |codec, sink| codec.handle_timeout(now, sink));
    }

    /// Takes the frames that a face's link has ready, such as acknowledgements.
    pub(in crate::plane) fn poll_link(&mut self, id: FaceId) {
        let now = self.now;
        self.with_sink(id, |codec, sink| codec.poll_frames(now, sink));
    }

    fn with_sink(&mut self, id: FaceId, act: impl FnOnce(&mut Codec, &mut Sink<'_>)) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        if !face.tapping.taps.is_empty() {
            return self.emit_tapped(id, |codec, outbox| act(codec, &mut Sink::Outbox(outbox)));
        }
        let Some(mut sink) = face.transport.sink(&mut self.batch.outboxes) else { return };
        act(&mut face.codec, &mut sink);
        self.batch.touch(face);
    }

    /// Writes what the turn has collected, face by face.
    pub(in crate::plane) fn finish_touched(&mut self) {
        let mut touched = std::mem::take(&mut self.batch.touched);
        for id in touched.drain(..) {
            let Some(face) = self.faces.get_mut(&id) else { continue };
            face.activity.touched = false;
            if face.codec.settings().reliability || face.codec.wants_poll() {
                self.poll_link(id);
            }
            self.flush(id);
            self.note_held_packets(id);
            let Some(face) = self.faces.get_mut(&id) else { continue };
            face.activity.touched = false;
            face.activity.last_used = self.now;
            let deadline = face.next_deadline(self.settings.timeouts.stall);
            if deadline < face.activity.alarm {
                self.set_alarm(id, deadline.max(self.now));
            }
        }
        // What flushing touched anew has been flushed already.
        self.batch.touched.clear();
        std::mem::swap(&mut self.batch.touched, &mut touched);
    }

    /// Writes what waits for one face.
    fn flush(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let is_last;
        let ended = match &mut face.transport {
            Transport::Datagram(port) => {
                let Some(mut outbox) = port.outbox.take() else { return };
                if !face.codec.keeps_order() {
                    outbox.group_by_length();
                }
                face.counters.traffic.out_frames += outbox.frames() as u64;
                face.counters.traffic.out_bytes += outbox.len_bytes() as u64;
                match &mut port.path {
                    DatagramPath::Udp { channel, peer, largest_in_train } => {
                        let number = *channel;
                        let Some(channel) = self.sockets.channels.get_mut(number) else { return };
                        let waited = channel.is_waiting();
                        channel.send(*peer, &outbox, largest_in_train, &mut face.counters.drops);
                        face.codec.handle_send_queue(channel.queued_bytes());
                        if !waited && channel.is_waiting() {
                            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT;
                            let token =
                                if channel.is_ip() { Token::Ip(number) } else { Token::Datagrams(number) };
                            let (epoll, token) = (&self.sockets.epoll, token.to_data());
                            let _ = epoll::modify(epoll, &channel.socket, token, flags);
                        }
                    }
                    DatagramPath::Ethernet { channel, peer } => {
                        if let Some(channel) = self.sockets.ethernet.get_mut(*channel) {
                            channel.send(*peer, &outbox, &mut face.counters.drops);
                        }
                    }
                }
                outbox.clear();
                if self.batch.outboxes.len() < MAX_SPARE_OUTBOXES {
                    self.batch.outboxes.push(outbox);
                }
                return;
            }
            Transport::Stream(port) => {
                is_last = port.ends_when_sent;
                let most = self.settings.memory.send_queue_bytes / HELD_PART;
                write_stream(face, &self.sockets.epoll, self.now, most, &mut self.occupancy.held.holds)
            }
            Transport::Inner(port) => return port.wake(),
        };
        if ended {
            return self.handle_stream_end(id, "writing failed");
        }
        self.note_queue(id);
        if is_last {
            self.end_if_all_is_sent(id);
        }
    }

    /// Writes more to a connection that has room again.
    pub(in crate::plane) fn handle_writable(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id)
            && let Transport::Stream(port) = &mut face.transport
            && let Some(stream) = &mut port.stream
        {
            stream.has_room = true;
        }
        self.flush(id);
    }
}

/// Writes what a connection takes; true if it is gone.
fn write_stream(
    face: &mut Face,
    epoll: &std::os::fd::OwnedFd,
    now: Instant,
    most: usize,
    holds: &mut u64,
) -> bool {
    let Transport::Stream(port) = &mut face.transport else { return false };
    let Some(stream) = port.stream.as_mut().filter(|_| face.state == FaceState::Up) else { return false };
    let before = stream.queued_bytes();
    let Ok(more) = stream.write() else { return true };
    let (written, flags) = (before - stream.queued_bytes(), stream.flags());
    face.counters.traffic.out_bytes += written as u64;
    stream.waits_for_room = more;
    // Two nodes that hold each other would both wait.
    if face.scope == FaceScope::Local && port.target.is_none() {
        *holds += u64::from(stream.hold(now, written, most));
    }
    if stream.flags() != flags {
        let _ = epoll::modify(epoll, &stream.socket, Token::Face(face.id).to_data(), stream.flags());
    }
    face.codec.handle_send_queue(stream.all_queued_bytes());
    false
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use engine::FaceId;

    use super::*;
    use crate::control::FaceUri;
    use crate::plane::bench::{Bench, bench};
    use crate::plane::sockets::channels::Listener;

    const FRAME: [u8; 4000] = [0x06; 4000];

    fn push(bench: &mut Bench, face: FaceId) {
        let Transport::Stream(port) = &mut bench.plane.faces.get_mut(&face).unwrap().transport else {
            panic!("no connection")
        };
        port.stream.as_mut().unwrap().queue().push_raw(&FRAME);
        bench.plane.flush(face);
    }

    #[test]
    fn a_connection_that_is_full_is_written_to_again_when_the_system_says_that_there_is_room() {
        let mut bench = bench();
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), packet::Dialect::Ndn).unwrap();
        let FaceUri::Tcp(there) = listener.uri().clone() else { panic!("no address") };
        bench.plane.sockets.add_listener(listener).unwrap();
        let mut peer = std::net::TcpStream::connect(there).unwrap();
        bench.work();
        let face = *bench.plane.faces.keys().max().unwrap();
        let written = |bench: &Bench| bench.plane.faces.get(&face).unwrap().counters.traffic.out_bytes;
        let mut pushed = 0;
        while written(&bench) == pushed {
            push(&mut bench, face);
            pushed += FRAME.len() as u64;
        }
        let full = written(&bench);
        peer.read_exact(&mut vec![0; full as usize]).unwrap();
        // There is room by now, but nobody has said so.
        push(&mut bench, face);
        assert_eq!(written(&bench), full);
        bench.work();
        assert_eq!(written(&bench), pushed + FRAME.len() as u64);
    }
}
