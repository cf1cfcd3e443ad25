//! Ethernet without IP: one socket for all faces of an interface.

use std::collections::HashMap;
use std::io;

use engine::FaceId;
use packet::Dialect;
use packet::ETHERTYPE;

use super::NamedInterface;
use super::train::Outbox;
use crate::drop_reason::{DropCounters, DropReason};
use crate::face_uri::{FaceUri, MacAddress};
use crate::sys::interfaces::Interface;
use crate::sys::packet_ring::PacketRing;

/// The group that all NDN forwarders on a link listen to.
pub(crate) const GROUP: MacAddress = MacAddress([0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa]);

/// An interface, and whom is known on it.
pub(crate) struct EthernetChannel {
    pub(crate) ring: PacketRing,
    pub(crate) place: NamedInterface,
    pub(crate) mac: MacAddress,
    /// The language of whoever is on it.
    pub(crate) dialect: Dialect,
    pub(crate) mtu_bytes: usize,
    peers: HashMap<MacAddress, FaceId>,
    spare: Vec<u8>,
    is_in_group: bool,
}

impl EthernetChannel {
    pub(crate) fn open(interface: &Interface, dialect: Dialect, multicast: bool) -> io::Result<Self> {
        let mac = interface.mac.ok_or_else(|| io::Error::other("the interface has no Ethernet address"))?;
        let mtu_bytes = interface.mtu_bytes;
        let ring = PacketRing::open(ETHERTYPE, interface.index, mtu_bytes)?;
        if multicast {
            ring.join(interface.index, GROUP)?;
        }
        let place = NamedInterface::of(interface);
        let (peers, spare) = (HashMap::new(), Vec::new());
        Ok(EthernetChannel { ring, place, mac, dialect, mtu_bytes, peers, spare, is_in_group: multicast })
    }

    /// Whether frames to the group are received.
    pub(crate) fn is_in_group(&self) -> bool {
        self.is_in_group
    }

    /// Goes on with the socket of another, and keeps whom is known.
    pub(crate) fn replace(&mut self, anew: EthernetChannel) {
        (self.ring, self.mac, self.mtu_bytes) = (anew.ring, anew.mac, anew.mtu_bytes);
    }

    pub(crate) fn uri(&self) -> FaceUri {
        FaceUri::Device(self.place.name.clone())
    }

    /// The face of a peer, or of the group.
    pub(crate) fn face(&self, peer: MacAddress) -> Option<FaceId> {
        self.peers.get(&peer).copied()
    }

    pub(crate) fn add_peer(&mut self, peer: MacAddress, face: FaceId) {
        self.peers.insert(peer, face);
    }

    pub(crate) fn remove_peer(&mut self, peer: MacAddress) {
        self.peers.remove(&peer);
    }

    /// Sends what a face has collected.
    pub(crate) fn send(&mut self, to: MacAddress, outbox: &Outbox, drops: &mut DropCounters) {
        for frame in outbox.iter() {
            match self.ring.send(self.mac, to, ETHERTYPE, frame, &mut self.spare) {
                Ok(()) => {}
                Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => {
                    drops.count(DropReason::TooLargeForPath);
                }
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock
                        || error.raw_os_error() == Some(libc::ENOBUFS) =>
                {
                    drops.count(DropReason::SendQueueFull);
                }
                Err(_) => drops.add(DropReason::SocketError, 1),
            }
        }
    }
}
