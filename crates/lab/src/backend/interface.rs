//! The ends of a link, as backends with real forwarders give them to drivers.

use std::net::Ipv4Addr;

use packet::Dialect;
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
    pub(crate) fn face_uri(&self, kind: LinkKind, dialect: Dialect) -> String {
        let port = match dialect {
            Dialect::Ndn => packet::ndn::PORT,
            Dialect::Ccnx => packet::ccnx::PORT,
        };
        match kind {
            LinkKind::Udp => format!("udp4://{}:{port}", self.remote),
            LinkKind::Tcp => format!("tcp4://{}:{port}", self.remote),
            LinkKind::Ether => format!("ether://[{}]", node::MacAddress(self.remote_ether)),
        }
    }
}
