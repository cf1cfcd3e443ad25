//! A face: a codec over a transport, with what management knows about it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd};

use engine::{FaceConfig, FaceCounters, FaceId, FaceScope};
use packet::time::{Duration, Instant};
use packet::{DoublingWait, LinkType};
use rustix::event::epoll::EventFlags;

use crate::codec::Codec;
use crate::control::{FacePersistency, FaceSnapshot, FaceState, FaceTraffic, FaceUri, MacAddress};
use crate::drop_reason::DropCounters;
use crate::origin::Origin;
use crate::transport::FrameSink;
use crate::transport::inner::InnerPort;
use crate::transport::stream::{Queue, Stream};
use crate::transport::train::Outbox;
use crate::transport::websocket::WebSocket;

/// A face of the data plane.
pub(crate) struct Face {
    pub(crate) id: FaceId,
    pub(crate) remote: FaceUri,
    pub(crate) local: FaceUri,
    pub(crate) scope: FaceScope,
    pub(crate) link_type: LinkType,
    pub(crate) persistency: FacePersistency,
    pub(crate) codec: Codec,
    pub(crate) transport: Transport,
    pub(crate) state: FaceState,
    pub(crate) activity: Activity,
    pub(crate) counters: TransportCounters,
    pub(crate) held: HeldBytes,
    pub(crate) stranger: Stranger,
    pub(crate) tapping: FaceTaps,
}

/// When a face was used, and when it is looked after.
pub(crate) struct Activity {
    /// When something last came in or went out.
    pub(crate) last_used: Instant,
    /// When the data plane looks after this face next, whatever happens.
    pub(crate) alarm: Instant,
    /// Whether this turn has something to finish for this face.
    pub(crate) touched: bool,
}

/// What went through a face's transport, and what it dropped.
#[derive(Default)]
pub(crate) struct TransportCounters {
    pub(crate) traffic: Traffic,
    pub(crate) drops: DropCounters,
}

/// What the node believes a face to hold, in its sums over all faces.
#[derive(Default)]
pub(crate) struct HeldBytes {
    /// Of incomplete packets.
    pub(crate) partial_bytes: usize,
    /// Of packets that wait until the neighbour can take them.
    pub(crate) waiting_bytes: usize,
}

/// What is known of a stranger whose face it is.
pub(crate) struct Stranger {
    /// Where he is.
    pub(crate) origin: Option<Origin>,
    /// Frames received after which it is looked at whether the face deserves a socket of its own.
    pub(crate) probation_ends: u64,
}

/// The taps of one face, each with its number.
pub(crate) type Taps = Vec<(u64, Box<dyn link::FrameTap + Send>)>;

/// What watches or changes a face's frames.
pub(crate) struct FaceTaps {
    pub(crate) taps: Taps,
    /// The one among them that makes the link bad on purpose.
    pub(crate) impaired: Option<u64>,
}

/// Frames and bytes that went through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) in_frames: u64,
    pub(crate) in_bytes: u64,
    pub(crate) out_frames: u64,
    pub(crate) out_bytes: u64,
}

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

impl Face {
    /// What the engine is told about the face.
    pub(crate) fn engine_config(&self) -> FaceConfig {
        FaceConfig {
            dialect: self.codec.dialect(),
            scope: self.scope,
            link_type: self.link_type,
            origin: self.origin_now().map(Origin::to_number),
            ..FaceConfig::remote()
        }
    }

    /// Who is behind the face, as it is now. Whoever nobody configured on a link without IP may use any
    /// address there.
    pub(crate) fn origin_now(&self) -> Option<Origin> {
        Origin::of(&self.local, &self.remote).or(match &self.transport {
            Transport::Datagram(DatagramPort { path: DatagramPath::Ethernet { channel, .. }, .. })
                if self.persistency == FacePersistency::OnDemand =>
            {
                Some(Origin::Link(*channel))
            }
            _ => None,
        })
    }

    /// Whether the world is told of the face: one over a WebSocket that is not open yet may still be
    /// anybody's.
    pub(crate) fn is_presentable(&self) -> bool {
        match &self.transport {
            Transport::Stream(StreamPort { websocket: Some(websocket), .. }) => websocket.protocol.is_open(),
            _ => true,
        }
    }

    /// What management is told about the face.
    pub(crate) fn status(
        &self,
        now: Instant,
        engine: FaceCounters,
        idle: Duration,
        queued: u64,
    ) -> FaceSnapshot {
        let settings = self.codec.settings();
        let closes_when_idle =
            self.persistency == FacePersistency::OnDemand && matches!(self.transport, Transport::Datagram(_));
        FaceSnapshot {
            id: self.id,
            remote: self.remote.clone(),
            local: self.local.clone(),
            dialect: self.codec.dialect(),
            scope: self.scope,
            persistency: self.persistency,
            link_type: self.link_type,
            state: self.state,
            expires_in: closes_when_idle.then(|| (self.activity.last_used + idle).saturating_since(now)),
            congestion: settings.congestion,
            mtu_bytes: self.codec.mtu_bytes().map(|mtu| mtu as u64),
            local_fields: settings.local_fields,
            reliability: settings.reliability,
            congestion_marking: settings.congestion_marking,
            traffic: FaceTraffic {
                packets: engine.packets,
                engine_drops: engine.drops,
                in_bytes: self.counters.traffic.in_bytes,
                out_bytes: self.counters.traffic.out_bytes,
                in_frames: self.counters.traffic.in_frames,
                out_frames: self.counters.traffic.out_frames,
                queued_bytes: queued,
                link_drops: self.codec.drops(),
                transport_drops: self.counters.drops.occurred(),
            },
        }
    }

    /// When the link or the connection wants attention. Idleness is not looked at here.
    pub(crate) fn next_deadline(&self, stall_timeout: Duration) -> Instant {
        let codec = self.codec.next_deadline();
        let Transport::Stream(port) = &self.transport else { return codec };
        let ping = port.websocket.as_ref().map_or(Instant::NEVER, |websocket| websocket.ping_at);
        let stalled = port.incomplete_since.map_or(Instant::NEVER, |since| since + stall_timeout);
        let held = port.stream.as_ref().map_or(Instant::NEVER, Stream::hold_ends);
        codec.min(stalled).min(port.attempt_at).min(ping).min(held)
    }
}

/// How often the peer of a WebSocket is asked whether it is still there.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(10);

/// All faces by number.
///
/// The node gives the numbers out itself, one after the other, so they need no hashing.
pub(crate) type Faces = HashMap<FaceId, Box<Face>, BuildHasherDefault<NumberHasher>>;

/// Spreads small numbers over the bits that the map looks at.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(20);
    }
}
