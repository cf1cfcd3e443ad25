//! The section about the second dialect: what makes a node a ccnd.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use packet::Dialect;

use super::section::section;
use super::{Config, wildcard};

section! {
    /// The CCNx dialect: clients and neighbours of ccnd, the forwarder of CCNx 0.8.
    CcnxConfig {
        /// Whether the node speaks it. The other keys of this section mean nothing otherwise.
        enabled: bool = false,
        /// Local UDP addresses. Whoever sends packets of NDNLP v1, as ndnld does, is sent such, too; ndnld
        /// expects them at and from port 29695, which must then stand here.
        udp: Vec<SocketAddr> = wildcard(packet::ccnx::PORT),
        /// Local TCP addresses.
        tcp: Vec<SocketAddr> = wildcard(packet::ccnx::PORT),
        /// Paths of unix sockets. CCNx's own tools look for this one, with the port behind it (.9696) where
        /// CCN_LOCAL_PORT is another than 9695.
        unix: Vec<PathBuf> = vec![PathBuf::from("/tmp/.ccnd.sock")],
        /// Interests leave together in datagrams of no more than so many bytes; 0 for each by itself. It is
        /// CCND_MTU of ccnd.
        stuffed_bytes: usize = 0,
        /// Interfaces, by name, on which CCNx is spoken over Ethernet in packets of NDNLP v1, with whoever
        /// sends such. Needs the capability CAP_NET_RAW.
        ethernet: Vec<String> = Vec::new(),
        /// Local addresses, such as 0.0.0.0 and ::, at which CCNx is spoken in packets of NDNLP v1 over IP
        /// alone (protocol 150), with whoever sends such. Needs the capability CAP_NET_RAW.
        ip: Vec<IpAddr> = Vec::new(),
        /// Largest packet of NDNLP v1 over UDP and over IP alone; 64 at least.
        ndnlp_mtu_bytes: usize = link::v1::UDP_MTU_BYTES,
        /// Whether neighbours that speak NDNLP v1 are asked to acknowledge packets, where nothing else is
        /// said of them.
        ndnlp_acknowledged: bool = false,
        /// A file with the key that this node signs with, an RSA key in PKCS#8 (DER), made if there is none:
        /// CCNDID is its digest. Left out, it is ccnx.key in /var/lib/cairn, or in the user's own folder for
        /// such things (XDG_STATE_HOME) where that cannot be written.
        key_file: Option<PathBuf> = None,
        /// Whether the status page is shown to whoever asks for it by TCP. The unix sockets show it always.
        status_page: bool = true,
        /// Prefixes that may be registered by clients at once.
        max_registrations: usize = 4096,
    }
}

impl Config {
    /// What is spoken at the sockets of `[udp]`, `[tcp]`, `[unix]`, `[multicast]` and `[ethernet]`: they are
    /// those at which NDN's applications and neighbours look for a forwarder. CCNx has a section of its own,
    /// without groups and plain Ethernet: ccnd has no Ethernet, and in its groups everybody holds Data back
    /// for a while, which is built for groups of NDN alone.
    pub(crate) const DIALECT: Dialect = Dialect::Ndn;

    /// All UDP addresses to listen at, with what is spoken there.
    pub(crate) fn udp_listeners(&self) -> impl Iterator<Item = (SocketAddr, Dialect)> {
        with_ccnx(&self.udp.listen, &self.ccnx.udp, self.ccnx.enabled).map(|(local, of)| (*local, of))
    }

    /// All TCP addresses to listen at, with what is spoken there.
    pub(crate) fn tcp_listeners(&self) -> impl Iterator<Item = (SocketAddr, Dialect)> {
        with_ccnx(&self.tcp.listen, &self.ccnx.tcp, self.ccnx.enabled).map(|(local, of)| (*local, of))
    }

    /// Interfaces that are named for one dialect alone, with what is spoken there.
    pub(crate) fn ethernet_of_one_dialect(&self) -> impl Iterator<Item = (&String, Dialect)> {
        with_ccnx(&[], &self.ccnx.ethernet, self.ccnx.enabled)
    }

    /// All addresses to listen at for IP alone, with what is spoken there.
    pub(crate) fn ip_listeners(&self) -> impl Iterator<Item = (IpAddr, Dialect)> {
        with_ccnx(&[], &self.ccnx.ip, self.ccnx.enabled).map(|(local, of)| (*local, of))
    }

    /// All paths to listen at that are named, with what is spoken there.
    pub(crate) fn unix_listeners(&self) -> impl Iterator<Item = (&PathBuf, Dialect)> {
        let named = self.unix.listen.as_deref().unwrap_or_default();
        with_ccnx(named, &self.ccnx.unix, self.ccnx.enabled)
    }
}

/// Places of the usual sections, and those of `[ccnx]` if it is spoken.
fn with_ccnx<'a, T>(usual: &'a [T], ccnx: &'a [T], enabled: bool) -> impl Iterator<Item = (&'a T, Dialect)> {
    let ccnx = ccnx.iter().filter(move |_| enabled).map(|place| (place, Dialect::Ccnx));
    usual.iter().map(|place| (place, Config::DIALECT)).chain(ccnx)
}
