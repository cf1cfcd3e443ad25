//! A face: a codec over a transport, with what management knows about it.

mod table;
mod transport;

use engine::{FaceConfig, FaceCounters, FaceId, FaceScope};
use packet::LinkType;
use packet::time::{Duration, Instant};

use crate::codec::Codec;
use crate::control::{FacePersistency, FaceSnapshot, FaceState, FaceTraffic, FaceUri};
use crate::drop_reason::DropCounters;
use crate::origin::Origin;
use crate::transport::stream::Stream;

pub(crate) use table::Faces;
pub(crate) use transport::{
    DatagramPath, DatagramPort, PING_INTERVAL, Sink, StreamPort, StreamTarget, Transport, WebSocketPort,
};

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
    pub(crate) held: BufferedBytes,
    pub(crate) probation: Probation,
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
pub(crate) struct BufferedBytes {
    /// Of incomplete packets.
    pub(crate) partial_bytes: usize,
    /// Of packets that wait until the neighbour can take them.
    pub(crate) waiting_bytes: usize,
}

/// Who answers for a face, and whether it has proved useful.
pub(crate) struct Probation {
    /// Where he is.
    pub(crate) origin: Option<Origin>,
    /// Frames received after which it is looked at whether the face deserves a socket of its own.
    pub(crate) ends: u64,
}

impl Probation {
    /// Frames after which it is looked at whether a neighbour is useful.
    pub(crate) const FRAMES: u64 = 256;
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
