//! What the configuration says to the data plane.

use engine::{RateLimit, SharingConfig};
use packet::time::Duration;

use crate::control::CongestionSettings;

/// What the configuration says about faces.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) faces: FaceLimits,
    pub(crate) memory: MemoryLimits,
    pub(crate) timeouts: Timeouts,
    pub(crate) polling: Polling,
    pub(crate) udp: UdpSettings,
    pub(crate) ccnx: CcnxSettings,
    pub(crate) accept_ethernet: bool,
    /// Web pages whose WebSockets are local if their ends are.
    pub(crate) local_origins: Vec<String>,
    pub(crate) congestion_marking: bool,
    pub(crate) congestion: CongestionSettings,
}

/// How many faces there may be, and what each may ask for.
#[derive(Clone, Debug)]
pub(crate) struct FaceLimits {
    pub(crate) max: usize,
    pub(crate) max_on_demand: usize,
    /// The same for one address, of each of faces over datagrams and connections.
    pub(crate) max_on_demand_per_address: usize,
    /// Connections from other hosts.
    pub(crate) max_remote_connections: usize,
    pub(crate) max_pending_per_face: Option<u32>,
    pub(crate) interest_rate_per_face: Option<RateLimit>,
    /// Whether nodes on a link where all hear each other share what they ask for.
    pub(crate) share_multicast: bool,
}

/// What may be held in memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryLimits {
    /// What everything together may take; shown, and divided before.
    pub(crate) budget_bytes: u64,
    pub(crate) send_queue_bytes: usize,
    pub(crate) all_send_queues_bytes: usize,
    pub(crate) reassembly_bytes: usize,
    /// What may wait over all faces until neighbours can take it.
    pub(crate) all_waiting_bytes: usize,
}

/// After what time a face that does nothing goes.
#[derive(Clone, Debug)]
pub(crate) struct Timeouts {
    pub(crate) idle: Duration,
    /// The same while there are as many faces as there may be.
    pub(crate) crowded_idle: Duration,
    /// The same for faces of an address that has many of them.
    pub(crate) crowd_idle: Duration,
    /// Of a connection whose peer does not read, or does not end a frame.
    pub(crate) stall: Duration,
}

/// How long sockets are looked at without sleeping.
#[derive(Clone, Debug)]
pub(crate) struct Polling {
    /// After any work.
    pub(crate) busy: Duration,
    /// While answers are due.
    pub(crate) answer: Duration,
}

/// Faces over UDP.
#[derive(Clone, Debug)]
pub(crate) struct UdpSettings {
    pub(crate) accept: bool,
    pub(crate) mtu_bytes: usize,
    pub(crate) reliability: bool,
    /// Neighbours that may have a socket of their own, and its receive buffer.
    pub(crate) own_sockets: usize,
    pub(crate) own_receive_bytes: usize,
}

/// Faces that speak CCNx.
#[derive(Clone, Debug)]
pub(crate) struct CcnxSettings {
    /// Interests leave together in datagrams of so many bytes; 0 for each by itself.
    pub(crate) stuffed_bytes: usize,
    /// The largest packet of NDNLP v1 over UDP, and whether packets are to be acknowledged.
    pub(crate) ndnlp_mtu_bytes: usize,
    pub(crate) ndnlp_acknowledged: bool,
    /// Whether whoever comes by TCP is shown the status page.
    pub(crate) status_page: bool,
}

impl FaceLimits {
    /// What the engine is told of a face, with the limits that hold for every face.
    pub(crate) fn limited(&self, face: engine::FaceConfig) -> engine::FaceConfig {
        engine::FaceConfig {
            max_pending: self.max_pending_per_face,
            interest_rate: self.interest_rate_per_face,
            sharing: self.share_multicast.then_some(SharingConfig::LOCAL),
            ..face
        }
    }
}
