//! What is spoken, and how messages of CCNx are cut and acknowledged on a link.

use std::path::{Path, PathBuf};

use link::v1::{Timings, UDP_MTU_BYTES};
use packet::Dialect;
use packet::time::Duration;
use serde::{Deserialize, Serialize};

/// How a dialect stands in the files of runs.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Dialect")]
pub(crate) enum DialectInFiles {
    Ndn,
    Ccnx,
}

/// What is spoken where a file does not say it.
pub(crate) fn ndn() -> Dialect {
    Dialect::Ndn
}

pub(super) fn is_ndn(dialect: &Dialect) -> bool {
    *dialect == Dialect::Ndn
}

/// The socket for applications that speak a dialect, of a node that is managed at `socket`.
pub(crate) fn application_socket(dialect: Dialect, socket: &Path) -> PathBuf {
    match dialect {
        Dialect::Ndn => socket.to_owned(),
        Dialect::Ccnx => socket.with_extension("ccnd"),
    }
}

/// The headers of IP and UDP, which an MTU counts.
const IP_UDP_BYTES: u32 = 28;

/// NDNLP v1 on a link, the same at both ends. Of its parameters those of NDN-0006, section 3.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ndnlp1Plan {
    /// The largest packet.
    pub mtu_bytes: u32,
    /// Are packets to be acknowledged?
    pub acknowledged: bool,
    /// Packets that are kept to be sent again.
    pub sent_packets: u32,
    /// How often each is sent again at most.
    pub retries: u32,
    /// How long its acknowledgement is waited for.
    pub retransmit_ns: u64,
    /// How long an acknowledgement may wait for others.
    pub acknowledge_ns: u64,
}

impl Ndnlp1Plan {
    /// The largest packet on a link of this MTU.
    pub(in crate::experiment) fn mtu_bytes(is_udp: bool, link_mtu: u32) -> u32 {
        if is_udp { (UDP_MTU_BYTES as u32).min(link_mtu.saturating_sub(IP_UDP_BYTES)) } else { link_mtu }
    }

    /// For the service at an end: that of a daemon's link, paced as there.
    #[must_use]
    pub fn config(&self) -> link::v1::Config {
        let timings = Timings {
            sent_packets_capacity: self.sent_packets,
            retry_count: self.retries,
            retransmit_time: Duration::from_nanos(self.retransmit_ns),
            acknowledge_time: Duration::from_nanos(self.acknowledge_ns),
        };
        link::v1::Config::of_neighbour(&timings, Some(self.mtu_bytes as usize), self.acknowledged)
    }
}
