//! What links of CCNx do unless somebody asks for something else.

use engine::FaceScope;

use super::super::LinkSettings;
use super::is_ndnlp1;
use crate::face_uri::FaceUri;
use crate::settings::Settings;
use crate::sys::datagrams::MAX_DATAGRAM_BYTES;

/// Applications of CCNx may say by which face an Interest shall leave.
pub(in crate::codec) fn of_stream(settings: &Settings, local: &FaceUri, scope: FaceScope) -> LinkSettings {
    LinkSettings {
        local_fields: scope == FaceScope::Local,
        congestion_marking: false,
        may_be_adapter: matches!(local, FaceUri::Unix(_)),
        ..LinkSettings::plain(settings)
    }
}

/// Messages as they are, or in packets of NDNLP v1 that are acknowledged or not, if that is said.
pub(in crate::codec) fn of_udp(settings: &Settings, ndnlp1: Option<bool>) -> LinkSettings {
    match ndnlp1 {
        Some(acknowledged) => {
            LinkSettings { reliability: acknowledged, ..of_ndnlp1(settings, settings.ccnx.ndnlp_mtu_bytes) }
        }
        None => of_datagrams(settings),
    }
}

/// What the peer speaks, as its first frame shows.
pub(in crate::codec) fn of_udp_peer(settings: &Settings, first: &[u8]) -> LinkSettings {
    match is_ndnlp1(first) {
        true => of_ndnlp1(settings, settings.ccnx.ndnlp_mtu_bytes),
        false => of_datagrams(settings),
    }
}

/// Messages of CCNx are not cut: the system sends large datagrams in fragments of IP.
fn of_datagrams(settings: &Settings) -> LinkSettings {
    LinkSettings {
        transport_mtu_bytes: Some(MAX_DATAGRAM_BYTES),
        congestion_marking: false,
        stuffed_bytes: settings.ccnx.stuffed_bytes,
        ..LinkSettings::plain(settings)
    }
}

/// Messages of CCNx in packets of NDNLP v1, which are no larger than that.
pub(in crate::codec) fn of_ndnlp1(settings: &Settings, mtu_bytes: usize) -> LinkSettings {
    LinkSettings {
        transport_mtu_bytes: Some(mtu_bytes),
        congestion_marking: false,
        reliability: settings.ccnx.ndnlp_acknowledged,
        ndnlp: true,
        ..LinkSettings::plain(settings)
    }
}
