//! What a node tells of its faces, and what can be asked of them.

use std::io;
use std::net::{IpAddr, SocketAddr};

use engine::{FaceId, FaceScope};
use packet::time::Duration;
use packet::{Dialect, LinkType, PacketCounts};
use thiserror::Error;

use crate::face_uri::{FaceUri, Purpose};
use crate::transport::inner::InnerLimits;

/// What becomes of a face that is not used or whose socket fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FacePersistency {
    /// Stays until its socket fails. What faces are that somebody asked for.
    Persistent,
    /// Made because a peer appeared; closed when idle, or when its socket fails.
    OnDemand,
    /// Stays; after a failure it tries again, ever more slowly.
    Permanent,
}

impl FacePersistency {
    /// The word used in status output, logs and configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            FacePersistency::Persistent => "persistent",
            FacePersistency::OnDemand => "on-demand",
            FacePersistency::Permanent => "permanent",
        }
    }
}

/// Whether a face can send at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceState {
    /// It can.
    Up,
    /// It is connecting, or waits to try again.
    Down,
}

/// When packets are marked because a face's send queue is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionSettings {
    /// BaseCongestionMarkingInterval.
    pub interval: Duration,
    /// DefaultCongestionThreshold.
    pub threshold_bytes: u64,
}

/// A face to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFace {
    /// The remote end, in canonical form.
    pub remote: FaceUri,
    /// The local end, where one must be chosen: `dev://` for Ethernet.
    pub local: Option<FaceUri>,
    /// Persistent or permanent.
    pub persistency: FacePersistency,
    /// What to change of the settings that such a face has by default.
    pub changes: FaceChanges,
    /// The language the peer speaks.
    pub dialect: Dialect,
}

/// A face inside the process to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateInnerFace {
    /// What it is for; shown as its remote end, `internal://ccnd`.
    pub purpose: Purpose,
    /// The language of its packets.
    pub dialect: Dialect,
    /// What may wait in each direction.
    pub limits: InnerLimits,
}

/// Changes to a face; `None` leaves a thing as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceChanges {
    /// What becomes of the face when it is idle or its socket fails.
    pub persistency: Option<FacePersistency>,
    /// Whether IncomingFaceId and NextHopFaceId are used: on faces of local scope only.
    pub local_fields: Option<bool>,
    /// Whether losses are noticed and repaired: on faces with one peer only.
    pub reliability: Option<bool>,
    /// Whether packets are marked when the send queue is too long.
    pub congestion_marking: Option<bool>,
    /// The interval between marks.
    pub congestion_interval: Option<Duration>,
    /// The queue length from which on packets are marked.
    pub congestion_threshold_bytes: Option<u64>,
    /// Largest frame to send, 64 bytes or more: on faces with an MTU only.
    pub mtu_bytes: Option<u64>,
    /// Whether messages of CCNx travel in packets of NDNLP v1 that are acknowledged; `None` for messages as
    /// they are over UDP, and for what the configuration says over Ethernet. It is chosen when a face is made
    /// and stays.
    pub ndnlp1: Option<bool>,
    /// How often and when packets of NDNLP v1 are sent again, and acknowledged; as in the paper if it is
    /// `None`. It is chosen when a face is made, too.
    pub ndnlp1_timings: Option<link::v1::Timings>,
}

/// A face as it was when somebody asked. Management tells of it what a dataset of NFD has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceSnapshot {
    /// Its number.
    pub id: FaceId,
    /// The remote end.
    pub remote: FaceUri,
    /// The local end.
    pub local: FaceUri,
    /// The language the peer speaks.
    pub dialect: Dialect,
    /// Whether the peer is on this host.
    pub scope: FaceScope,
    /// What becomes of it when idle or failing.
    pub persistency: FacePersistency,
    /// How many peers it reaches.
    pub link_type: LinkType,
    /// Whether it can send.
    pub state: FaceState,
    /// How long until it is closed for being idle, if that can happen.
    pub expires_in: Option<Duration>,
    /// When packets are marked. Present even if marking is off.
    pub congestion: CongestionSettings,
    /// Largest frame sent; `None` for transports that take any.
    pub mtu_bytes: Option<u64>,
    /// Whether IncomingFaceId and NextHopFaceId are used.
    pub local_fields: bool,
    /// Whether losses are repaired.
    pub reliability: bool,
    /// Whether packets are marked.
    pub congestion_marking: bool,
    /// What went through it.
    pub traffic: FaceTraffic,
}

impl FaceSnapshot {
    /// What changes come to for a face that cannot be other than it is: it can be asked for what it has
    /// already.
    ///
    /// # Errors
    /// What the changes ask for that the face has not.
    pub fn refusing(self, changes: &FaceChanges) -> Result<Self, UpdateFaceError> {
        let &FaceChanges { persistency, local_fields, reliability, congestion_marking, mtu_bytes, .. } =
            changes;
        let (interval, threshold) = (changes.congestion_interval, changes.congestion_threshold_bytes);
        let marks_otherwise = interval.is_some_and(|wanted| wanted != self.congestion.interval)
            || threshold.is_some_and(|wanted| wanted != self.congestion.threshold_bytes)
            || congestion_marking.is_some_and(|wanted| wanted != self.congestion_marking);
        let conflicts: Vec<FaceConflict> = [
            (FaceConflict::Persistency, persistency.is_some_and(|wanted| wanted != self.persistency)),
            (FaceConflict::LocalFields, local_fields.is_some_and(|wanted| wanted != self.local_fields)),
            (FaceConflict::Reliability, reliability.is_some_and(|wanted| wanted != self.reliability)),
            (FaceConflict::CongestionMarking, marks_otherwise),
            (FaceConflict::Mtu, mtu_bytes.is_some()),
        ]
        .into_iter()
        .filter_map(|(conflict, is_one)| is_one.then_some(conflict))
        .collect();
        match conflicts.is_empty() {
            true => Ok(self),
            false => Err(UpdateFaceError::Conflict { face: self.id, conflicts }),
        }
    }
}

/// What went through a face, at every layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceTraffic {
    /// Packets by kind and direction.
    pub packets: PacketCounts,
    /// What the engine dropped of the packets that came in.
    pub engine_drops: engine::DropCounters,
    /// Bytes of frames received.
    pub in_bytes: u64,
    /// Bytes of frames sent.
    pub out_bytes: u64,
    /// Frames received.
    pub in_frames: u64,
    /// Frames sent.
    pub out_frames: u64,
    /// Bytes that wait to be sent.
    pub queued_bytes: u64,
    /// What the link service dropped, by the words of [`link::DropReason`]; only reasons that occurred.
    pub link_drops: Vec<(&'static str, u64)>,
    /// What the transport dropped, by the words of the node's own reasons; only reasons that occurred.
    pub transport_drops: Vec<(&'static str, u64)>,
}

/// Something that happened to a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceEvent {
    /// What happened.
    pub kind: FaceEventKind,
    /// The face, as it was then.
    pub face: FaceSnapshot,
    /// Why it is gone, if it is.
    pub why: Option<String>,
}

/// What can happen to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceEventKind {
    /// It was made.
    Created,
    /// It is gone, and its routes in the engine with it.
    Destroyed,
    /// It can send again.
    Up,
    /// It cannot send.
    Down,
}

/// Why a face was not made.
#[derive(Debug, Error)]
pub enum CreateFaceError {
    /// There is one to the same remote end; here it is.
    #[error("face {} leads to {} already", .0.id, .0.remote)]
    Exists(Box<FaceSnapshot>),
    /// The node has no transport for this address, cannot make faces of this kind on request, or none with
    /// these settings.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedFace),
    /// As many faces exist as the configuration allows.
    #[error("the node has as many faces as it may have ({limit})")]
    TooManyFaces {
        /// The limit.
        limit: usize,
    },
    /// The system refused a socket.
    #[error(transparent)]
    Socket(io::Error),
    /// It was made, and its connection failed before it could be told of.
    #[error("the connection failed at once")]
    FailedAtOnce,
    /// The data plane has ended.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// Why a node cannot make a face, whatever else it has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnsupportedFace {
    /// NDNLP v1 was asked for where nobody speaks it.
    #[error("NDNLP v1 carries CCNx over UDP, IP and Ethernet, and nothing else")]
    Ndnlp1,
    /// A face that goes when it is idle was asked for.
    #[error("on-demand faces are made when a peer appears, not on request")]
    OnDemand,
    /// A face to a group of neighbours was asked for.
    #[error("multicast faces are made by the configuration")]
    Multicast,
    /// No face is made to addresses of this scheme.
    #[error("faces to {0}:// cannot be made")]
    Scheme(&'static str),
    /// A local end was given to a face that cannot have one.
    #[error("a face to {0}:// cannot be told its local end: the system's routes decide")]
    LocalEnd(&'static str),
    /// A face over Ethernet was given no local end.
    #[error("an Ethernet face needs the interface as its local end: dev://eth0")]
    NoInterface,
    /// A face over Ethernet was given an interface that the node does not watch.
    #[error("{0} is not among ethernet.interfaces of the configuration")]
    Interface(String),
    /// Nobody is at the address.
    #[error("{0} is the address of no neighbour")]
    NoNeighbour(IpAddr),
    /// More than one neighbour may be at the address.
    #[error("{0} is a broadcast address, or a route prohibits it")]
    Broadcast(IpAddr),
    /// No UDP socket is bound that reaches the neighbour.
    #[error("{}", no_udp_socket(*.dialect, *.peer))]
    NoUdpSocket {
        /// What the face was to speak.
        dialect: Dialect,
        /// The neighbour.
        peer: SocketAddr,
    },
    /// No socket for IP alone is bound that reaches the neighbour.
    #[error(
        "no socket for IP alone is bound from which {peer} can be reached with {dialect}: see ccnx.ip in the \
         configuration"
    )]
    NoIpSocket {
        /// What the face was to speak.
        dialect: Dialect,
        /// The neighbour.
        peer: IpAddr,
    },
    /// Faces to this address cannot have these settings.
    #[error("{}", in_words(.0))]
    Settings(Vec<FaceConflict>),
    /// Each setting is possible, and all of them together are not.
    #[error("the settings do not fit together")]
    SettingsTogether,
}

fn no_udp_socket(dialect: Dialect, peer: SocketAddr) -> String {
    match dialect {
        Dialect::Ndn => format!("no UDP socket is bound from which {peer} can be reached"),
        Dialect::Ccnx => format!("no UDP socket of `[ccnx] udp` is bound that reaches {peer}"),
    }
}

/// Why a face was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UpdateFaceError {
    /// No such face.
    #[error("face {0} does not exist")]
    NoFace(FaceId),
    /// The face cannot have these settings.
    #[error("face {face} cannot have these settings: {}", in_words(.conflicts))]
    Conflict {
        /// The face.
        face: FaceId,
        /// What it cannot have, at least one.
        conflicts: Vec<FaceConflict>,
    },
    /// The data plane has ended.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// A setting that a face cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceConflict {
    /// Its transport does not know this persistency.
    Persistency,
    /// Local fields are for local faces, and the node's own applications always have them.
    LocalFields,
    /// Reliability needs exactly one peer that is somewhere else.
    Reliability,
    /// The face has no queue whose length could be marked.
    CongestionMarking,
    /// The MTU is below 64 bytes, or the transport takes frames of any size.
    Mtu,
}

impl std::fmt::Display for FaceConflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FaceConflict::Persistency => "it cannot have this persistency",
            FaceConflict::LocalFields => {
                "local fields are for local faces only, and always on inside the node"
            }
            FaceConflict::Reliability => "losses can be repaired with exactly one peer only",
            FaceConflict::CongestionMarking => "there is no queue to mark packets in",
            FaceConflict::Mtu => "an MTU has 64 bytes or more, and there is none over connections",
        })
    }
}

/// All of them in a sentence.
pub(crate) fn in_words(conflicts: &[FaceConflict]) -> String {
    conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
