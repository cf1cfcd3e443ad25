//! From the sockets to the engine.

use engine::batch::spare_buffer;
use engine::{FaceId, FaceScope};
use rustix::event::epoll;

use crate::codec::{Codec, Framing};
use crate::control::{FacePersistency, FaceState, MacAddress};
use crate::drop_reason::DropReason;
use crate::face::Transport;
use crate::origin::Origin;
use crate::plane::faces::limits::Kind;
use crate::plane::packets::fair_turn::ChargedTo;
use crate::plane::packets::one_frame::Reception;
use crate::plane::{DataPlane, Token};
use crate::sys::datagrams::SLOT_BYTES;
use crate::transport::stream::ReadOutcome;
use crate::transport::websocket::{Event, Step};

/// How often a socket is read from in one turn.
const READS_PER_TURN: usize = 4;
/// Bytes read at once from an application that sends Interests are one in so many parts of what may wait for
/// it: one of 35 bytes may bring more than 8,000, and half of the room is for what was asked before.
const INTERESTS_PART: usize = 512;
/// Whoever sends frames of this size, on average, sends Data.
const LARGE_FRAME_BYTES: usize = 512;
/// … but no fewer than these.
const MIN_READ_BYTES: usize = 4 << 10;
/// Bytes read at once from a connection of another host that sends Interests …
const REMOTE_INTERESTS_BYTES: usize = 4 << 10;
/// … and from one that sends Data.
const REMOTE_READ_BYTES: usize = 64 << 10;
/// Frames received from one interface in one turn.
const FRAMES_PER_TURN: usize = 256;

impl DataPlane {
    /// A socket for datagrams has something to read, or room to write.
    pub(in crate::plane) fn handle_datagrams(&mut self, number: usize, flags: epoll::EventFlags) -> bool {
        let mut has_worked = false;
        if flags.contains(epoll::EventFlags::ERR)
            && let Some(channel) = self.sockets.channels.get(number)
        {
            // Reading it clears it: otherwise the socket would stay ready for ever.
            let error = channel.socket.take_error();
            // A neighbour that is not there is an ordinary thing, and no error of the socket.
            has_worked = channel.main().is_some() && matches!(error, Ok(Some(_)));
        }
        if flags.contains(epoll::EventFlags::OUT) {
            has_worked |= self.write_backlog(number);
        }
        if !flags.contains(epoll::EventFlags::IN) {
            return has_worked;
        }
        let source = self.source_of_datagrams(number);
        if !self.schedule.turn.has_left(source) {
            return true;
        }
        let Some(mut receiver) = self.batch.receiver.take() else { return has_worked };
        let mut began = self.clock.now();
        let is_group = self.sockets.channels.get(number).is_some_and(|channel| channel.is_multicast());
        for read in 0..READS_PER_TURN {
            let Some(channel) = self.sockets.channels.get(number) else { break };
            let most = channel.lone_trains.limit(receiver.trains_within(channel.read_size.bytes()));
            // Errors of a socket without a peer are about some datagram sent long ago.
            let engine = &mut self.engine;
            let received = receiver.receive_with(&channel.socket, most, || spare_buffer(engine, SLOT_BYTES));
            let Ok(count) = received else { break };
            has_worked |= count > 0;
            for index in 0..count {
                self.batch.arrivals.memory = receiver.keep(index);
                let Some((train, bytes)) = receiver.train(index) else { continue };
                let first = bytes.get(..train.stride).unwrap_or(bytes);
                let Some(face) = self.face_of_peer(number, train.from, first) else { continue };
                let from = if is_group { endpoint_of(train.from) } else { 0 };
                if self.receive_frames(face, from, bytes.chunks(train.stride)) {
                    self.consider_own_socket(face);
                }
            }
            self.batch.arrivals.memory = None;
            self.hand_over();
            self.finish_touched();
            let now = self.clock.now();
            let took = now.saturating_since(std::mem::replace(&mut began, now));
            self.schedule.turn.note(source, took);
            if let Some(channel) = self.sockets.channels.get_mut(number) {
                channel.read_size.took(took);
                if read == 0 {
                    channel.lone_trains.came(count);
                }
            }
            // Where one was asked for, more is hardly there, and is told of in the next turn if it is.
            if count < most || most == 1 || !self.schedule.turn.has_left(source) {
                break;
            }
        }
        self.batch.receiver = Some(receiver);
        has_worked
    }

    /// Writes what waits for a socket that has room again; whether any of it went.
    pub(in crate::plane) fn write_backlog(&mut self, number: usize) -> bool {
        let Some(channel) = self.sockets.channels.get_mut(number) else { return false };
        let before = channel.queued_bytes();
        channel.handle_writable(&mut self.gone_counters.drops);
        if !channel.is_waiting() {
            let token = if channel.is_ip() { Token::Ip(number) } else { Token::Datagrams(number) };
            let (epoll, flags) = (&self.sockets.epoll, epoll::EventFlags::IN);
            let _ = epoll::modify(epoll, &channel.socket, token.to_data(), flags);
        }
        channel.queued_bytes() < before
    }

    /// Who is charged for what comes to a socket: a neighbour with one of its own, or all who share it.
    pub(in crate::plane) fn source_of_datagrams(&self, number: usize) -> ChargedTo {
        let owner = self.sockets.channels.get(number).and_then(|channel| channel.owner());
        let origin = owner.and_then(|face| self.faces.get(&face)?.origin_now());
        origin.map_or(ChargedTo::Datagrams(number), ChargedTo::Origin)
    }

    /// An interface has frames.
    pub(in crate::plane) fn handle_ethernet(&mut self, number: usize, flags: epoll::EventFlags) -> bool {
        let mut has_worked = false;
        let source = ChargedTo::Ethernet(number);
        let mut began = self.clock.now();
        for _ in 0..FRAMES_PER_TURN {
            if !self.schedule.turn.has_left(source) {
                break;
            }
            let Some(channel) = self.sockets.ethernet.get_mut(number) else { return has_worked };
            let scratch = &mut self.batch.scratch;
            let mut arrived = None;
            let more = channel.ring.receive(|frame| {
                // What is sent to the group belongs to the group's face, whoever sent it.
                let peer = if frame.to.is_multicast() { frame.to } else { frame.from };
                if let Some(place) = scratch.get_mut(..frame.payload.len()) {
                    place.copy_from_slice(frame.payload);
                    arrived = Some((peer, frame.from, frame.payload.len()));
                }
            });
            if !more {
                break;
            }
            has_worked = true;
            let Some((peer, from, length)) = arrived else { continue };
            let scratch = std::mem::take(&mut self.batch.scratch);
            let frame = scratch.get(..length).unwrap_or_default();
            if let Some(face) = self.face_of_ethernet_peer(number, peer, frame)
                && let Some(face) = self.faces.get_mut(&face)
            {
                self.batch.touch(face);
                let from = from.0.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                Reception::of(self.now, &mut self.engine, &mut self.batch, &mut self.tapping)
                    .receive(face, from, frame);
            }
            self.batch.scratch = scratch;
            if self.batch.arrivals.is_full() {
                self.hand_over();
                let now = self.clock.now();
                self.schedule.turn.note(source, now.saturating_since(std::mem::replace(&mut began, now)));
            }
        }
        self.hand_over();
        if let Some(channel) = self.sockets.ethernet.get_mut(number) {
            channel.ring.note_losses(&mut self.gone_counters.drops);
        }
        if flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP) {
            self.handle_ethernet_error(number);
        }
        has_worked
    }

    fn face_of_ethernet_peer(&mut self, number: usize, peer: MacAddress, frame: &[u8]) -> Option<FaceId> {
        let channel = self.sockets.ethernet.get(number)?;
        if let Some(face) = channel.face(peer) {
            return Some(face);
        }
        let welcome = self.settings.accept_ethernet && Codec::is_welcome(channel.dialect, frame);
        if !welcome || peer.is_multicast() {
            self.gone_counters.drops.count(DropReason::UnknownPeer);
            return None;
        }
        if !self.may_add_on_demand(Some(Origin::Link(number)), Kind::Datagram) {
            return None;
        }
        self.add_ethernet_face(number, peer, FacePersistency::OnDemand, None)
    }

    /// The face of a peer, made if the peer is new and its frame worth it.
    #[inline]
    fn face_of_peer(&mut self, number: usize, peer: std::net::SocketAddr, frame: &[u8]) -> Option<FaceId> {
        let channel = self.sockets.channels.get_mut(number)?;
        if let Some(face) = channel.face(peer) {
            return Some(face);
        }
        // What came to the socket of a neighbour in the moment before it was only his.
        if let Some(main) = channel.main() {
            return self.face_of_peer(main, peer, frame);
        }
        if !self.settings.udp.accept || !Codec::is_welcome(channel.dialect, frame) {
            self.gone_counters.drops.count(DropReason::UnknownPeer);
            return None;
        }
        self.add_datagram_face_on_demand(number, peer, frame)
    }

    /// Receives what came by a face; whether that was the last of its probation.
    #[inline]
    pub(in crate::plane) fn receive_frames<'f>(
        &mut self,
        id: FaceId,
        from: u64,
        mut frames: impl Iterator<Item = &'f [u8]>,
    ) -> bool {
        // Looked up anew after a batch has been handed over, which may do anything to faces.
        while let Some(face) = self.faces.get_mut(&id) {
            self.batch.touch(face);
            loop {
                let Some(frame) = frames.next() else {
                    return face.counters.traffic.in_frames >= face.probation.ends;
                };
                Reception::of(self.now, &mut self.engine, &mut self.batch, &mut self.tapping)
                    .receive(face, from, frame);
                if self.batch.arrivals.is_full() {
                    break;
                }
            }
            self.hand_over();
        }
        false
    }

    /// Something has happened by what belongs to one face only.
    pub(in crate::plane) fn handle_face(&mut self, id: FaceId, flags: epoll::EventFlags) -> bool {
        match self.faces.get(&id).map(|face| &face.transport) {
            Some(Transport::Inner(_)) => {
                self.handle_inner(id);
                // Who is inside is under no suspicion; that two wake-ups fall together is chance.
                true
            }
            _ => self.handle_stream(id, flags),
        }
    }

    /// A connection has something to read, or room to write, or has come about.
    fn handle_stream(&mut self, id: FaceId, flags: epoll::EventFlags) -> bool {
        // One that has ended earlier in this turn is no reason for suspicion.
        let Some(face) = self.faces.get_mut(&id) else { return true };
        if face.state == FaceState::Down {
            self.handle_connected(id);
            return true;
        }
        let mut has_worked = false;
        if flags.contains(epoll::EventFlags::OUT) {
            let before = face.counters.traffic.out_bytes;
            self.handle_writable(id);
            has_worked = self.faces.get(&id).is_none_or(|face| face.counters.traffic.out_bytes != before);
        }
        if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
            has_worked |= self.read_stream(id);
        }
        has_worked
    }

    /// Reads once; false if there was nothing, not even an end.
    fn read_stream(&mut self, id: FaceId) -> bool {
        let Some(face) = self.faces.get_mut(&id) else { return false };
        let source = face.origin_now().map(ChargedTo::Origin);
        let Transport::Stream(port) = &mut face.transport else { return false };
        let Some(stream) = &mut port.stream else { return false };
        if port.ends_when_sent {
            return self.discard_rest(id);
        }
        // An application's Interests are read a few at a time, so that it can be held before too much waits
        // for it.
        let is_held_back =
            face.scope == FaceScope::Local && port.target.is_none() && !stream.brings_large_frames;
        let share = (self.settings.memory.send_queue_bytes / INTERESTS_PART).max(MIN_READ_BYTES);
        let most = match (face.scope, stream.brings_large_frames) {
            (FaceScope::Local, _) if is_held_back => share,
            (FaceScope::Local, _) => usize::MAX,
            (FaceScope::NonLocal, false) => REMOTE_INTERESTS_BYTES,
            (FaceScope::NonLocal, true) => REMOTE_READ_BYTES,
        };
        if source.is_some_and(|source| !self.schedule.turn.has_left(source)) {
            return true;
        }
        let began = source.map(|source| (source, self.clock.now()));
        let mut scratch = std::mem::take(&mut self.batch.scratch);
        let outcome = stream.read(&mut scratch, most);
        match outcome {
            ReadOutcome::Nothing => {}
            ReadOutcome::Closed => self.handle_stream_end(id, "closed by the peer"),
            ReadOutcome::Bytes(count) => {
                let is_websocket = port.websocket.is_some();
                self.batch.touch(face);
                let bytes = scratch.get_mut(..count).unwrap_or_default();
                if is_websocket {
                    self.split_websocket(id, bytes);
                } else {
                    self.split_stream(id, bytes);
                }
                self.hand_over();
            }
        }
        self.batch.scratch = scratch;
        if let Some((source, began)) = began {
            // What answering costs is part of it.
            self.finish_touched();
            self.schedule.turn.note(source, self.clock.now().saturating_since(began));
        }
        outcome != ReadOutcome::Nothing
    }

    /// Takes the frames out of what was read, and keeps the rest.
    fn split_stream(&mut self, id: FaceId, mut bytes: &[u8]) {
        let (length, mut frames) = (bytes.len(), 0);
        loop {
            let Some(face) = self.faces.get_mut(&id) else { return };
            match face.codec.framing(bytes) {
                Framing::Complete(length) => {
                    let Some((frame, rest)) = bytes.split_at_checked(length) else { return };
                    Reception::of(self.now, &mut self.engine, &mut self.batch, &mut self.tapping)
                        .receive(face, 0, frame);
                    bytes = rest;
                    frames += 1;
                }
                Framing::Incomplete => {
                    let Transport::Stream(port) = &mut face.transport else { return };
                    let Some(stream) = &mut port.stream else { return };
                    stream.keep(bytes);
                    if let Some(mean) = (length - bytes.len()).checked_div(frames) {
                        stream.brings_large_frames = mean >= LARGE_FRAME_BYTES;
                    }
                    // A byte now and then is no progress: only the end of a frame is.
                    let since = port.incomplete_since.filter(|_| frames == 0).unwrap_or(self.now);
                    port.incomplete_since = stream.is_inside_frame().then_some(since);
                    // Behind a link adapter there are other hosts, whatever the socket says.
                    if face.codec.is_adapter() && face.scope == FaceScope::Local {
                        self.set_scope(id, FaceScope::NonLocal);
                    }
                    return;
                }
                Framing::StatusRequest(length) => {
                    let request = bytes.get(..length).unwrap_or_default().to_vec();
                    return self.ask_for_status(id, request);
                }
                Framing::Invalid => {
                    face.counters.drops.count(DropReason::BrokenStream);
                    self.hand_over();
                    return self.handle_stream_end(id, "what came is no sequence of frames");
                }
            }
            if self.batch.arrivals.is_full() {
                self.hand_over();
            }
        }
    }

    /// Takes the messages out of what was read from a WebSocket, and keeps the rest.
    fn split_websocket(&mut self, id: FaceId, mut bytes: &mut [u8]) {
        let limit = self.send_queue_limit();
        let mut progress = false;
        loop {
            let Some(face) = self.faces.get_mut(&id) else { return };
            let Transport::Stream(port) = &mut face.transport else { return };
            let (Some(stream), Some(websocket)) = (&mut port.stream, &mut port.websocket) else { return };
            let (used, event) = match websocket.protocol.step(bytes) {
                Step::Used(used, event) => (used, event),
                Step::Incomplete => {
                    stream.keep(bytes);
                    let since = port.incomplete_since.filter(|_| !progress).unwrap_or(self.now);
                    // A request that does not come is as bad as one that does not end.
                    let waits = stream.is_inside_frame() || !websocket.protocol.is_open();
                    port.incomplete_since = waits.then_some(since);
                    return;
                }
                Step::Broken(answer) => {
                    stream.queue().push_raw(&answer);
                    face.counters.drops.count(DropReason::BrokenStream);
                    return self.part_with(id, "what came is no WebSocket");
                }
            };
            progress = true;
            websocket.last_heard = self.now;
            let Some((piece, rest)) = bytes.split_at_mut_checked(used) else { return };
            bytes = rest;
            match event {
                Event::Nothing => {}
                Event::Opened(answer, upgrade) => self.admit_upgrade(id, &answer, &upgrade),
                // Who asks whether we are there, again and again, and does not read what we say.
                Event::Reply(_) if stream.queue_cost() >= limit => {
                    face.counters.drops.count(DropReason::SendQueueFull);
                }
                Event::Reply(reply) => stream.queue().push_raw(&reply),
                Event::Close(answer) => {
                    stream.queue().push_raw(&answer);
                    return self.part_with(id, "closed by the peer");
                }
                event @ (Event::Message(_) | Event::Assembled) => {
                    let assembled;
                    let frame = if let Event::Message(range) = event {
                        piece.get(range).unwrap_or_default()
                    } else {
                        assembled = websocket.protocol.take_message();
                        &assembled
                    };
                    Reception::of(self.now, &mut self.engine, &mut self.batch, &mut self.tapping)
                        .receive(face, 0, frame);
                }
            }
            if self.batch.arrivals.is_full() {
                self.hand_over();
            }
        }
    }

    /// Sends what still waits, as far as it goes at once, and ends the connection.
    fn part_with(&mut self, id: FaceId, why: &str) {
        self.hand_over();
        self.handle_writable(id);
        self.handle_stream_end(id, why);
    }
}

/// Tells senders on one multicast socket apart.
fn endpoint_of(address: std::net::SocketAddr) -> u64 {
    let ip = match address.ip() {
        std::net::IpAddr::V4(ip) => u128::from(ip.to_bits()),
        std::net::IpAddr::V6(ip) => ip.to_bits(),
    };
    // Two senders that fall together could only spoil each other's packets, which they can anyway.
    (ip as u64 ^ (ip >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(address.port())
}
