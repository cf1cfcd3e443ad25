//! Connections: TCP and unix sockets. Large reads with many packets in each, and vectored writes of the
//! packets' own bytes.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read as _, Write as _};

use packet::Buffer;
use packet::time::{Duration, Instant};
use rustix::event::epoll;
use smallvec::SmallVec;
use system::is_try_again;

use super::FrameSink;
use super::stream_socket::StreamSocket;
use super::websocket;
use crate::sys::options;

/// A connection and what waits at both ends of it.
pub(crate) struct Stream {
    pub(crate) socket: StreamSocket,
    /// The beginning of a frame whose end has not come yet.
    partial: Vec<u8>,
    queue: Queue,
    /// Whether what was read last was large on average: Data rather than Interests.
    pub(crate) brings_large_frames: bool,
    /// Whether the system has been asked to say when more can be written.
    pub(crate) waits_for_room: bool,
    /// Whether it has said so since.
    pub(crate) has_room: bool,
    /// Since when the peer is not read from, or something last left for it meanwhile.
    held_since: Option<Instant>,
    /// Whether the peer reads nothing: to hold it any longer would hold it for ever.
    is_given_up: bool,
    /// Bytes written since the system was asked how much it holds.
    written_since_sample: u64,
    /// Bytes the system held then.
    sampled_bytes: u64,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// So many bytes, with what was left of the read before.
    Bytes(usize),
    /// Nothing at present.
    Nothing,
    /// The peer has closed, or the connection broke.
    Closed,
}

/// What a frame takes beside its bytes.
const FRAME_COST_BYTES: usize = 128;
/// Slices written with one call.
const SLICES: usize = 128;
/// Bytes written in one turn, so that a fast reader does not keep the others waiting.
const BYTES_PER_TURN: usize = 1 << 20;
/// Bytes between two looks at how much the system holds.
const SAMPLE_INTERVAL_BYTES: u64 = 32 << 10;
/// How long a peer is not read from while nothing leaves for it: perhaps it writes and does not read before
/// that is done.
const HOLD_TIMEOUT: Duration = Duration::from_secs(2);

impl Stream {
    pub(crate) fn new(socket: StreamSocket) -> Self {
        Stream {
            socket,
            partial: Vec::new(),
            queue: Queue::default(),
            brings_large_frames: false,
            waits_for_room: false,
            has_room: false,
            held_since: None,
            is_given_up: false,
            written_since_sample: 0,
            sampled_bytes: 0,
        }
    }

    /// Reads up to `most` bytes behind what was left over, into `scratch`.
    pub(crate) fn read(&mut self, scratch: &mut [u8], most: usize) -> ReadOutcome {
        let kept = self.partial.len();
        let Some((head, room)) = scratch.split_at_mut_checked(kept) else { return ReadOutcome::Closed };
        let most = room.len().min(most);
        let room = room.get_mut(..most).unwrap_or_default();
        head.copy_from_slice(&self.partial);
        match (&self.socket).read(room) {
            Ok(0) => ReadOutcome::Closed,
            Ok(read) => {
                self.partial.clear();
                ReadOutcome::Bytes(kept + read)
            }
            Err(error) if is_try_again(&error) => ReadOutcome::Nothing,
            Err(_) => ReadOutcome::Closed,
        }
    }

    /// What the system is asked about the socket.
    pub(crate) fn flags(&self) -> epoll::EventFlags {
        let read = if self.held_since.is_some() { epoll::EventFlags::empty() } else { epoll::EventFlags::IN };
        if self.waits_for_room { read | epoll::EventFlags::OUT } else { read }
    }

    /// Decides whether more is read from a peer, so much having just been written to it: what it asks for
    /// while more than `most` waits for it would only be dropped. Whether that begins now.
    pub(crate) fn hold(&mut self, now: Instant, written: usize, most: usize) -> bool {
        let waits = self.queue_cost();
        if waits <= most / 2 {
            (self.held_since, self.is_given_up) = (None, false);
        } else if self.held_since.is_some() && written > 0 {
            self.held_since = Some(now);
        } else if self.held_since.is_none() && waits > most && !self.is_given_up {
            self.held_since = Some(now);
            return true;
        }
        false
    }

    /// When a peer is read from again that has read nothing meanwhile.
    pub(crate) fn hold_ends(&self) -> Instant {
        self.held_since.map_or(Instant::NEVER, |since| since + HOLD_TIMEOUT)
    }

    /// Reads again from a peer that has read nothing for long enough; whether that is so.
    pub(crate) fn give_up_holding(&mut self, now: Instant) -> bool {
        let is_due = self.hold_ends() <= now;
        if is_due {
            (self.held_since, self.is_given_up) = (None, true);
        }
        is_due
    }

    /// Keeps what is left of a read for the next one.
    pub(crate) fn keep(&mut self, rest: &[u8]) {
        self.partial.extend_from_slice(rest);
        // A large frame in the past is no reason to hold much memory for ever.
        if self.partial.is_empty() && self.partial.capacity() > 0 {
            self.partial = Vec::new();
        }
    }

    /// Whether a frame has begun and not ended.
    pub(crate) fn is_inside_frame(&self) -> bool {
        !self.partial.is_empty()
    }

    pub(crate) fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// What waits takes so much memory, or a little less.
    #[inline]
    pub(crate) fn queue_cost(&self) -> usize {
        self.queue.bytes + self.queue.frames.len() * FRAME_COST_BYTES
    }

    /// Bytes that wait in the process.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.queue.bytes
    }

    /// Bytes before the next frame to be sent, those included that the system holds.
    pub(crate) fn all_queued_bytes(&self) -> u64 {
        self.sampled_bytes + self.queue.bytes as u64
    }

    /// Writes as much as the system takes, within a turn's share. An error means that the connection is gone;
    /// true that something is left.
    pub(crate) fn write(&mut self) -> io::Result<bool> {
        // To gather what waits for somebody who does not read, for each packet that comes for him, would cost
        // more than all the rest of it.
        if !std::mem::take(&mut self.has_room) && self.waits_for_room {
            return Ok(true);
        }
        let mut written = 0;
        while !self.queue.is_empty() && written < BYTES_PER_TURN {
            let result = (&self.socket).write_vectored(&self.queue.slices());
            match result {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    written += bytes;
                    self.queue.consume(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.written_since_sample += written as u64;
        if self.written_since_sample >= SAMPLE_INTERVAL_BYTES || self.sampled_bytes > 0 {
            self.written_since_sample = 0;
            self.sampled_bytes = options::unsent_bytes(&self.socket).unwrap_or(0);
        }
        Ok(!self.queue.is_empty())
    }
}

/// Frames on their way out. A packet is not copied: the queue holds the bytes that stand before it in its
/// frame, and a reference to the packet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    frames: VecDeque<Frame>,
    /// Heads of the frames, in order: those of the first frame start at `heads_start`.
    heads: Vec<u8>,
    heads_start: usize,
    /// How much of `heads` belongs to complete frames.
    heads_complete: usize,
    /// Bytes of the first frame that have been written.
    written: usize,
    /// Bytes to be written.
    bytes: usize,
    /// Whether each frame is a message of a WebSocket, with a header before it.
    pub(crate) as_messages: bool,
}

#[derive(Debug)]
struct Frame {
    head_len: u32,
    packet: Option<Buffer>,
}

impl Frame {
    fn len(&self) -> usize {
        self.head_len as usize + self.packet.as_ref().map_or(0, |packet| packet.len())
    }
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Drops everything; gives how many frames.
    pub(crate) fn clear(&mut self) -> usize {
        let frames = self.frames.len();
        *self = Queue { as_messages: self.as_messages, ..Queue::default() };
        frames
    }

    /// Adds bytes as they are.
    pub(crate) fn push_raw(&mut self, bytes: &[u8]) {
        let as_messages = std::mem::replace(&mut self.as_messages, false);
        self.heads.extend_from_slice(bytes);
        self.end_frame(None);
        self.as_messages = as_messages;
    }

    /// What is to be written first, as much as one call takes.
    fn slices(&self) -> SmallVec<[IoSlice<'_>; SLICES]> {
        let (mut slices, mut head_start, mut skip) = (SmallVec::new(), self.heads_start, self.written);
        for frame in &self.frames {
            if slices.len() + 2 > SLICES {
                break;
            }
            let head = self.heads.get(head_start..head_start + frame.head_len as usize).unwrap_or_default();
            head_start += head.len();
            for part in [head, frame.packet.as_deref().unwrap_or_default()] {
                let Some(part) = part.get(skip..) else {
                    skip -= part.len();
                    continue;
                };
                skip = 0;
                if !part.is_empty() {
                    slices.push(IoSlice::new(part));
                }
            }
        }
        slices
    }

    fn consume(&mut self, mut bytes: usize) {
        self.bytes -= bytes.min(self.bytes);
        bytes += self.written;
        while let Some(frame) = self.frames.front() {
            if bytes < frame.len() {
                break;
            }
            bytes -= frame.len();
            self.heads_start += frame.head_len as usize;
            self.frames.pop_front();
        }
        self.written = bytes;
        if self.frames.is_empty() {
            self.heads.drain(..self.heads_complete);
            (self.heads_start, self.heads_complete) = (0, 0);
        } else if self.heads_start > 64 << 10 {
            self.heads.drain(..self.heads_start);
            self.heads_complete -= self.heads_start;
            self.heads_start = 0;
        }
    }
}

impl FrameSink for Queue {
    #[inline]
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.heads
    }

    #[inline]
    fn end_frame(&mut self, packet: Option<Buffer>) {
        if self.as_messages {
            let length =
                self.heads.len() - self.heads_complete + packet.as_ref().map_or(0, |packet| packet.len());
            let (header, used) = websocket::message_header(length);
            let at = self.heads_complete;
            self.heads.splice(at..at, header.into_iter().take(used));
        }
        // Who does not read must not keep memory that is much larger than what waits for them.
        let packet =
            packet.map(|packet| if packet.is_small_part() { Buffer::copy_from(&packet) } else { packet });
        let frame = Frame { head_len: (self.heads.len() - self.heads_complete) as u32, packet };
        if frame.len() > 0 {
            self.heads_complete = self.heads.len();
            self.bytes += frame.len();
            self.frames.push_back(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_peer_that_reads_slowly_is_held_until_it_has_caught_up_and_one_that_does_not_read_is_let_go() {
        let (near, _far) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(StreamSocket::Unix(near));
        let at = |millis: u64| Instant::from_nanos(millis * 10_000_000);
        let wants_to_read = |stream: &Stream| stream.flags().contains(epoll::EventFlags::IN);
        stream.queue.end_frame(Some(Buffer::from(vec![0; 1000])));
        assert!(!stream.hold(at(0), 0, 2000) && wants_to_read(&stream));
        assert!(stream.hold(at(0), 0, 1000) && !wants_to_read(&stream));
        // As long as it reads something it is held.
        assert!(!stream.hold(at(150), 1, 1000) && !stream.give_up_holding(at(300)));
        assert!(!wants_to_read(&stream));
        assert!(stream.give_up_holding(at(350)) && wants_to_read(&stream));
        // Once let go, it is not held again before it has caught up.
        assert!(!stream.hold(at(400), 1, 1000) && wants_to_read(&stream));
        stream.queue.clear();
        assert!(!stream.hold(at(500), 1000, 1000));
        stream.queue.end_frame(Some(Buffer::from(vec![0; 2000])));
        assert!(stream.hold(at(600), 0, 1000) && !wants_to_read(&stream));
        stream.queue.clear();
        assert!(!stream.hold(at(700), 2000, 1000) && wants_to_read(&stream));
    }

    fn queue() -> (Queue, Vec<u8>) {
        let (mut queue, mut all) = (Queue::default(), Vec::new());
        for number in 0..200u8 {
            let head = vec![number; usize::from(number % 3)];
            let packet = Buffer::from(vec![number ^ 0xff; usize::from(number % 7)]);
            queue.bytes().extend_from_slice(&head);
            let with_packet = number % 5 != 0;
            queue.end_frame(with_packet.then(|| packet.clone()));
            all.extend(head);
            if with_packet {
                all.extend_from_slice(&packet);
            }
        }
        (queue, all)
    }

    #[test]
    fn whatever_the_sizes_of_writes_the_bytes_leave_in_order_and_once() {
        for step in [1, 2, 3, 10, 100, 100_000] {
            let (mut queue, all) = queue();
            assert_eq!(queue.bytes, all.len());
            let mut written = Vec::new();
            while !queue.is_empty() {
                let slices = queue.slices();
                assert!(slices.len() <= SLICES && !slices.spilled());
                let mut taken: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
                taken.truncate(step);
                drop(slices);
                let len = taken.len();
                written.extend(taken);
                queue.consume(len);
                assert!(len > 0, "something is left, so something must leave");
            }
            assert_eq!(written, all);
            assert_eq!((queue.bytes, queue.heads.len()), (0, 0));
        }
    }
}
