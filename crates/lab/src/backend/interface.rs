//! The ends of a link, as backends with real forwarders give them to drivers.

use std::net::{Ipv4Addr, SocketAddr};

use node::control::{FaceUri, MacAddress};
use packet::ndn::PORT;
use serde::{Deserialize, Serialize};

use crate::experiment::plan::{LinkIndex, LinkKind};

/// One end of a link, as a node sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// The link.
    pub link: LinkIndex,
    /// The interface's name in the node's namespace.
    pub name: String,
    /// Its index there.
    pub index: u32,
    /// This node's address.
    pub local: Ipv4Addr,
    /// The neighbour's address.
    pub remote: Ipv4Addr,
    /// This node's Ethernet address.
    pub local_ether: [u8; 6],
    /// The neighbour's Ethernet address.
    pub remote_ether: [u8; 6],
}

impl Interface {
    /// The address of a face to the neighbour, as NFD writes it.
    pub fn face_uri(&self, kind: LinkKind) -> FaceUri {
        let address = SocketAddr::from((self.remote, PORT));
        match kind {
            LinkKind::Udp => FaceUri::Udp(address),
            LinkKind::Tcp => FaceUri::Tcp(address),
            LinkKind::Ether => FaceUri::Ethernet(MacAddress(self.remote_ether)),
        }
    }
}
