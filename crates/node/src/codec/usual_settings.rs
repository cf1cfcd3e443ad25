//! What links do unless somebody asks for something else. Where the dialects differ in that, each says it
//! beside its codec.

use engine::FaceScope;
use packet::Dialect;

use super::{LinkSettings, ccnx, ndn};
use crate::face_uri::{FaceUri, MacAddress};
use crate::settings::Settings;

impl LinkSettings {
    /// A link over a connection whose near end is `local`.
    pub(crate) fn of_stream(
        dialect: Dialect,
        settings: &Settings,
        local: &FaceUri,
        scope: FaceScope,
    ) -> Self {
        match dialect {
            Dialect::Ndn => LinkSettings::plain(settings),
            Dialect::Ccnx => ccnx::link_settings::of_stream(settings, local, scope),
        }
    }

    /// A link over UDP that was asked for: in packets of NDNLP v1, acknowledged or not, if that was said.
    pub(crate) fn of_udp(dialect: Dialect, settings: &Settings, ndnlp1: Option<bool>) -> Self {
        match dialect {
            Dialect::Ndn => ndn::link_settings::of_udp(settings),
            Dialect::Ccnx => ccnx::link_settings::of_udp(settings, ndnlp1),
        }
    }

    /// A link over UDP to somebody who appeared with the frame `first`.
    pub(crate) fn of_udp_peer(dialect: Dialect, settings: &Settings, first: &[u8]) -> Self {
        match dialect {
            Dialect::Ndn => ndn::link_settings::of_udp(settings),
            Dialect::Ccnx => ccnx::link_settings::of_udp_peer(settings, first),
        }
    }

    /// A link over Ethernet to a peer or a group.
    pub(crate) fn of_ethernet(
        dialect: Dialect,
        settings: &Settings,
        mtu_bytes: usize,
        peer: MacAddress,
    ) -> Self {
        match dialect {
            Dialect::Ndn => ndn::link_settings::of_ethernet(settings, mtu_bytes, peer),
            Dialect::Ccnx => ccnx::link_settings::of_ndnlp1(settings, mtu_bytes),
        }
    }
}
