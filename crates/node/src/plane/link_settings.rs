//! What the links of faces do unless somebody asks for something else: by dialect and transport.

use engine::FaceScope;
use packet::Dialect;

use super::DataPlane;
use crate::codec::LinkSettings;
use crate::control::{FaceUri, MacAddress, Ndnlp1Timings};
use crate::sys::datagrams::MAX_DATAGRAM_BYTES;

/// What is told of the ring behind an Ethernet face: 1,024 frames of 2,304 bytes.
const ETHERNET_CAPACITY_BYTES: u64 = 2304 << 10;

impl DataPlane {
    pub(super) fn udp_link_settings(&self, dialect: Dialect) -> LinkSettings {
        if dialect == Dialect::Ccnx {
            return self.ccnx_datagram_settings();
        }
        LinkSettings {
            reliability: self.settings.udp.reliability,
            transport_mtu_bytes: Some(self.settings.udp.mtu_bytes),
            fragmentation: true,
            receive_capacity_bytes: Some(0),
            probe_path_mtu: true,
            ..self.stream_link_settings()
        }
    }

    /// Messages of CCNx are not cut: the system sends large datagrams in fragments of IP.
    fn ccnx_datagram_settings(&self) -> LinkSettings {
        LinkSettings {
            transport_mtu_bytes: Some(MAX_DATAGRAM_BYTES),
            congestion_marking: false,
            stuffed_bytes: self.settings.ccnx.stuffed_bytes,
            ..self.stream_link_settings()
        }
    }

    /// Messages of CCNx in packets of NDNLP v1, which are no larger than that.
    pub(super) fn ndnlp1_settings(&self, mtu_bytes: usize) -> LinkSettings {
        LinkSettings {
            transport_mtu_bytes: Some(mtu_bytes),
            congestion_marking: false,
            reliability: self.settings.ccnx.ndnlp_acknowledged,
            ndnlp: true,
            ..self.stream_link_settings()
        }
    }

    /// Applications of CCNx may say by which face an Interest shall leave.
    pub(super) fn settings_of_stream(
        &self,
        dialect: Dialect,
        local: &FaceUri,
        scope: FaceScope,
    ) -> LinkSettings {
        match dialect {
            Dialect::Ndn => self.stream_link_settings(),
            Dialect::Ccnx => LinkSettings {
                local_fields: scope == FaceScope::Local,
                congestion_marking: false,
                may_be_adapter: matches!(local, FaceUri::Unix(_)),
                ..self.stream_link_settings()
            },
        }
    }

    pub(super) fn stream_link_settings(&self) -> LinkSettings {
        LinkSettings {
            local_fields: false,
            reliability: false,
            congestion_marking: self.settings.congestion_marking,
            congestion: self.settings.congestion,
            transport_mtu_bytes: None,
            mtu_override_bytes: None,
            multi_access: false,
            padded_frames: false,
            fragmentation: false,
            receive_capacity_bytes: None,
            probe_path_mtu: false,
            may_be_adapter: false,
            stuffed_bytes: 0,
            ndnlp: false,
            ndnlp1_timings: Ndnlp1Timings::USUAL,
        }
    }

    pub(super) fn ethernet_link_settings(
        &self,
        dialect: Dialect,
        mtu_bytes: usize,
        peer: MacAddress,
    ) -> LinkSettings {
        if dialect == Dialect::Ccnx {
            return self.ndnlp1_settings(mtu_bytes);
        }
        LinkSettings {
            transport_mtu_bytes: Some(mtu_bytes),
            fragmentation: true,
            padded_frames: true,
            receive_capacity_bytes: (!peer.is_multicast()).then_some(ETHERNET_CAPACITY_BYTES),
            multi_access: peer.is_multicast(),
            // As in NFD, only where it is asked for.
            congestion_marking: false,
            ..self.stream_link_settings()
        }
    }
}
