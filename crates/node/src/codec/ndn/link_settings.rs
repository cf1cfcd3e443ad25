//! What links of NDN do unless somebody asks for something else.

use super::super::LinkSettings;
use crate::face_uri::MacAddress;
use crate::settings::Settings;

/// What is told of the ring behind an Ethernet face: 1,024 frames of 2,304 bytes.
const ETHERNET_CAPACITY_BYTES: u64 = 2304 << 10;

pub(in crate::codec) fn of_udp(settings: &Settings) -> LinkSettings {
    LinkSettings {
        reliability: settings.udp.reliability,
        transport_mtu_bytes: Some(settings.udp.mtu_bytes),
        fragmentation: true,
        receive_capacity_bytes: Some(0),
        probe_path_mtu: true,
        ..LinkSettings::plain(settings)
    }
}

pub(in crate::codec) fn of_ethernet(settings: &Settings, mtu_bytes: usize, peer: MacAddress) -> LinkSettings {
    LinkSettings {
        transport_mtu_bytes: Some(mtu_bytes),
        fragmentation: true,
        padded_frames: true,
        receive_capacity_bytes: (!peer.is_multicast()).then_some(ETHERNET_CAPACITY_BYTES),
        multi_access: peer.is_multicast(),
        parity: peer.is_multicast() && settings.faces.share_multicast,
        // As in NFD, only where it is asked for.
        congestion_marking: false,
        ..LinkSettings::plain(settings)
    }
}
