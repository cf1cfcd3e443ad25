//! Where faces lead: to this host or beyond it, and to whom.

use std::net::IpAddr;

use engine::{FaceId, FaceScope};
use system::AddressPrefix;

use crate::face_uri::FaceUri;

/// Where a face leads, as far as it says who is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Origin {
    /// Whoever has this address.
    Address(AddressPrefix),
    /// An interface without IP: whoever is on that link may use any address there.
    Link(usize),
}

/// Who answers for what a face holds: the address of a stranger, and otherwise the face alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    Origin(Origin),
    Face(FaceId),
}

impl Origin {
    /// The origin of a peer; `None` for applications on this host, which are trusted not to crowd others out.
    pub(crate) fn of(local: &FaceUri, remote: &FaceUri) -> Option<Self> {
        match remote {
            FaceUri::Udp(peer) | FaceUri::Ip(peer) => Some(Origin::of_address(peer.ip())),
            FaceUri::Tcp(peer) | FaceUri::WebSocketClient(peer) => {
                let is_remote = scope_of(local, remote) == FaceScope::NonLocal;
                is_remote.then(|| Origin::of_address(peer.ip()))
            }
            _ => None,
        }
    }

    /// The same as a number, for the engine.
    pub(crate) fn to_number(self) -> u64 {
        match self {
            // Below all addresses of IPv6 that neighbours have.
            Origin::Address(AddressPrefix::V4(address)) => 1 << 32 | u64::from(address),
            Origin::Address(AddressPrefix::V6(network)) => network,
            Origin::Link(number) => 2 << 32 | number as u64,
        }
    }

    pub(crate) fn of_address(address: IpAddr) -> Self {
        Origin::Address(AddressPrefix::of(address))
    }
}

/// Whether a connection between these ends stays on this host.
pub(crate) fn scope_of(local: &FaceUri, remote: &FaceUri) -> FaceScope {
    let is_loopback = |uri: &FaceUri| match uri {
        FaceUri::Tcp(address) | FaceUri::WebSocket(address) | FaceUri::WebSocketClient(address) => {
            address.ip().to_canonical().is_loopback()
        }
        FaceUri::Unix(_) | FaceUri::FileDescriptor(_) | FaceUri::Internal(_) => true,
        FaceUri::Udp(_) | FaceUri::Ip(_) | FaceUri::Ethernet(_) | FaceUri::Device(_) => false,
    };
    if is_loopback(local) && is_loopback(remote) { FaceScope::Local } else { FaceScope::NonLocal }
}
