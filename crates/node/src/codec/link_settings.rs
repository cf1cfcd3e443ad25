//! What the links of faces do.

use link::v1::Timings;

use crate::control::CongestionSettings;
use crate::settings::Settings;

/// What a link does beside its transport; see [`crate::control::FaceChanges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkSettings {
    pub(crate) local_fields: bool,
    pub(crate) reliability: bool,
    pub(crate) congestion_marking: bool,
    pub(crate) congestion: CongestionSettings,
    /// The largest frame of the transport; `None` for any.
    pub(crate) transport_mtu_bytes: Option<usize>,
    pub(crate) mtu_override_bytes: Option<usize>,
    pub(crate) multi_access: bool,
    pub(crate) padded_frames: bool,
    /// Whether parity frames are sent and used, on a face with many ends.
    pub(crate) parity: bool,
    /// Whether packets larger than the MTU are cut and put together again.
    pub(crate) fragmentation: bool,
    /// What the receive buffer behind a datagram link holds; the neighbour is sent no more than its own
    /// holds. `None` for links that need no pacing.
    pub(crate) receive_capacity_bytes: Option<u64>,
    /// Whether the path may carry less than the transport's MTU.
    pub(crate) probe_path_mtu: bool,
    /// Whether the peer may turn out to be a link adapter of CCNx, which is the way to other hosts.
    pub(crate) may_be_adapter: bool,
    /// Interests of CCNx leave together as long as a datagram has no more bytes; 0 for each by itself.
    pub(crate) stuffed_bytes: usize,
    /// Whether messages of CCNx travel in packets of NDNLP v1, which are acknowledged if `reliability` is on.
    pub(crate) ndnlp: bool,
    pub(crate) ndnlp1_timings: Timings,
}

impl LinkSettings {
    /// A link on which nothing is lost, and nothing need be cut.
    pub(crate) fn plain(settings: &Settings) -> Self {
        LinkSettings {
            local_fields: false,
            reliability: false,
            congestion_marking: settings.congestion_marking,
            congestion: settings.congestion,
            transport_mtu_bytes: None,
            mtu_override_bytes: None,
            multi_access: false,
            padded_frames: false,
            parity: false,
            fragmentation: false,
            receive_capacity_bytes: None,
            probe_path_mtu: false,
            may_be_adapter: false,
            stuffed_bytes: 0,
            ndnlp: false,
            ndnlp1_timings: Timings::PAPER,
        }
    }
}
