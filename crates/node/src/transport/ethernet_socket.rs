//! Frames of NDN and CCNx on an interface, for programs beside a forwarder.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use packet::ETHERTYPE;

use crate::face_uri::MacAddress;
use crate::sys::interfaces;
use crate::sys::packet_ring::PacketRing;

/// A socket for frames of type 0x8624 on one interface; it needs CAP_NET_RAW.
pub struct EthernetSocket {
    ring: PacketRing,
    mac: MacAddress,
    mtu_bytes: usize,
    spare: Vec<u8>,
}

impl EthernetSocket {
    /// Opens a socket on the interface of this name.
    ///
    /// # Errors
    /// There is no such interface, it is down or has no Ethernet address, or the system refuses.
    pub fn open(name: &str) -> io::Result<Self> {
        let all = interfaces::all()?;
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("there is no interface {name}"));
        let interface = all.iter().find(|interface| interface.name == name).ok_or_else(missing)?;
        if !interface.is_up {
            return Err(io::Error::new(io::ErrorKind::NetworkDown, format!("{name} is down")));
        }
        let mac = interface.mac.ok_or_else(|| io::Error::other(format!("{name} has no Ethernet address")))?;
        let mtu_bytes = interface.mtu_bytes;
        let ring = PacketRing::open(ETHERTYPE, interface.index, mtu_bytes)?;
        ring.take_error()?;
        Ok(EthernetSocket { ring, mac, mtu_bytes, spare: Vec::new() })
    }

    /// The largest payload of a frame.
    pub fn mtu_bytes(&self) -> usize {
        self.mtu_bytes
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// The system does not take it, for now or at all.
    pub fn send(&mut self, to: MacAddress, payload: &[u8]) -> io::Result<()> {
        self.ring.send(self.mac, to, ETHERTYPE, [payload, &[]], &mut self.spare)
    }

    /// Shows the next frame, with its sender, to `visit`; false if there is none. What follows the packet in
    /// a short frame is shown, too.
    pub fn receive(&mut self, visit: impl FnOnce(MacAddress, &[u8])) -> bool {
        self.ring.receive(|frame| visit(frame.from, frame.payload))
    }

    /// The error of the socket, which is none afterwards: an interface that is down or gone says so.
    ///
    /// # Errors
    /// That error.
    pub fn take_error(&self) -> io::Result<()> {
        self.ring.take_error()
    }
}

impl AsFd for EthernetSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}
