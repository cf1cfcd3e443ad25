//! How the frames of a face travel, and where they wait for it.

use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd};

use packet::DoublingWait;
use packet::time::{Duration, Instant};
use rustix::event::epoll::EventFlags;

use crate::control::{FaceState, MacAddress};
use crate::transport::FrameSink;
use crate::transport::inner::InnerPort;
use crate::transport::stream::{Queue, Stream};
use crate::transport::train::Outbox;
use crate::transport::websocket::WebSocket;

/// How a face's frames travel.
pub(crate) enum Transport {
    /// Through a socket that it shares with other faces.
    Datagram(DatagramPort),
    /// Over a connection of its own.
    Stream(StreamPort),
    /// As packets, to an application inside the process.
    Inner(InnerPort),
}

/// Where frames wait until they are written.
pub(crate) enum Sink<'a> {
    Outbox(&'a mut Outbox),
    Queue(&'a mut Queue),
}

/// One peer, or one group, that a shared socket reaches.
pub(crate) struct DatagramPort {
    /// Frames of this turn, lent for as long as there are any.
    pub(crate) outbox: Option<Outbox>,
    pub(crate) path: DatagramPath,
}

/// The socket and the peer's address on it.
pub(crate) enum DatagramPath {
    Udp {
        /// Number of the channel.
        channel: usize,
        peer: SocketAddr,
        /// Larger frames leave one by one.
        largest_in_train: usize,
    },
    Ethernet {
        /// Number of the channel.
        channel: usize,
        peer: MacAddress,
    },
}

/// A connection, or the want of one.
pub(crate) struct StreamPort {
    /// `None` between attempts to connect.
    pub(crate) stream: Option<Stream>,
    /// Where to connect to; `None` if the peer came to us.
    pub(crate) target: Option<StreamTarget>,
    /// The delays of attempts.
    pub(crate) back_off: DoublingWait,
    /// When the attempt under way has failed, or the next begins.
    pub(crate) attempt_at: Instant,
    /// Since when a frame has been incomplete.
    pub(crate) incomplete_since: Option<Instant>,
    /// Whether nothing more is read, and the connection ends when what waits has been sent.
    pub(crate) ends_when_sent: bool,
    /// What the node believes to wait here, in its sum over all faces.
    pub(crate) noted_queue: usize,
    /// What stands between the connection and its frames, for browsers.
    pub(crate) websocket: Option<Box<WebSocketPort>>,
}

/// How often the peer of a WebSocket is asked whether it is still there.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(10);

/// A WebSocket and when something last came by it.
pub(crate) struct WebSocketPort {
    pub(crate) protocol: WebSocket,
    pub(crate) last_heard: Instant,
    /// When the peer is asked whether it is still there, or given up if it has not answered.
    pub(crate) ping_at: Instant,
}

/// Where a connection leads.
#[derive(Clone, Debug)]
pub(crate) enum StreamTarget {
    Tcp(SocketAddr),
    Unix(std::path::PathBuf),
}

impl Transport {
    /// Whether it leads to an application inside the process.
    pub(crate) fn is_inner(&self) -> bool {
        matches!(self, Transport::Inner(_))
    }

    /// Where its frames wait; `None` if it takes none, for it has no connection or carries packets. `spare`
    /// are outboxes that nobody uses.
    pub(crate) fn sink(&mut self, spare: &mut Vec<Outbox>) -> Option<Sink<'_>> {
        match self {
            Transport::Datagram(port) => {
                Some(Sink::Outbox(port.outbox.get_or_insert_with(|| spare.pop().unwrap_or_default())))
            }
            Transport::Stream(port) => port.stream.as_mut().map(|stream| Sink::Queue(stream.queue())),
            Transport::Inner(_) => None,
        }
    }

    /// The descriptor that belongs to this face alone, if there is one, and what is asked about it.
    pub(crate) fn source(&self, state: FaceState) -> Option<(BorrowedFd<'_>, EventFlags)> {
        match self {
            Transport::Datagram(_) => None,
            Transport::Stream(port) => {
                let stream = port.stream.as_ref()?;
                let is_connecting = state == FaceState::Down;
                let flags = if is_connecting { EventFlags::IN | EventFlags::OUT } else { stream.flags() };
                Some((stream.socket.as_fd(), flags))
            }
            Transport::Inner(port) => Some((port.as_fd(), EventFlags::IN)),
        }
    }
}

impl FrameSink for Sink<'_> {
    fn bytes(&mut self) -> &mut Vec<u8> {
        match self {
            Sink::Outbox(outbox) => outbox.bytes(),
            Sink::Queue(queue) => queue.bytes(),
        }
    }

    fn end_frame(&mut self, packet: Option<packet::Buffer>) {
        match self {
            Sink::Outbox(outbox) => outbox.end_frame(packet),
            Sink::Queue(queue) => queue.end_frame(packet),
        }
    }
}
