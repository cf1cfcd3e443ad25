//! The sockets that links share: one for UDP, one for IP of each version, one for each interface of Ethernet.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use link::v1::UDP_MTU_BYTES;

use super::{Event, LinkRequest, Notify};
use crate::control::{FaceUri, MacAddress};
use crate::transport::datagram::{behind_ip_header, ip_socket};
use crate::transport::ethernet_socket::EthernetSocket;

/// Packets that are read from one socket before others have their turn.
const PACKETS_PER_TURN: usize = 64;

/// The other end of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Neighbour {
    /// At an address and port.
    Udp(SocketAddr),
    /// At an address of IP, without ports.
    Ip(IpAddr),
    /// At an address of Ethernet, on an interface.
    Ethernet(String, MacAddress),
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Neighbour::Udp(address) => write!(f, "udp {address}"),
            Neighbour::Ip(address) => write!(f, "ip {address}"),
            Neighbour::Ethernet(name, mac) => write!(f, "ether {mac} on {name}"),
        }
    }
}

impl Neighbour {
    /// Where a link is to lead by what a client asks.
    pub(super) fn of(asked: &LinkRequest) -> Option<Self> {
        match (&asked.remote, &asked.local) {
            (FaceUri::Udp(address), None) => Some(Neighbour::Udp(*address)),
            (FaceUri::Ip(address), None) => Some(Neighbour::Ip(address.ip())),
            (FaceUri::Ethernet(mac), Some(FaceUri::Device(name))) => {
                Some(Neighbour::Ethernet(name.clone(), *mac))
            }
            _ => None,
        }
    }
}

/// The sockets, opened when a link needs them.
pub(super) struct Sockets {
    udp_address: SocketAddr,
    udp: Option<UdpSocket>,
    /// By their local addresses.
    ip: BTreeMap<IpAddr, UdpSocket>,
    ethernet: BTreeMap<String, EthernetSocket>,
    notify: Notify,
}

impl Sockets {
    /// No socket yet; that of UDP is going to be bound to `udp_address`, and that of its version of IP to the
    /// same address.
    pub(super) fn new(udp_address: SocketAddr, notify: Notify) -> Self {
        Sockets { udp_address, udp: None, ip: BTreeMap::new(), ethernet: BTreeMap::new(), notify }
    }

    /// Sees to it that there is a socket to this neighbour; gives the largest packet that it takes.
    pub(super) fn open_for(&mut self, neighbour: &Neighbour) -> io::Result<usize> {
        match neighbour {
            Neighbour::Udp(_) => {
                if self.udp.is_none() {
                    let socket = UdpSocket::bind(self.udp_address)?;
                    socket.set_nonblocking(true)?;
                    self.udp = Some(socket);
                }
                Ok(UDP_MTU_BYTES)
            }
            Neighbour::Ip(address) => {
                let local = self.local_ip_for(*address);
                if let Entry::Vacant(place) = self.ip.entry(local) {
                    place.insert(ip_socket(local)?.into());
                }
                Ok(UDP_MTU_BYTES)
            }
            Neighbour::Ethernet(name, _) => {
                if let Some(socket) = self.ethernet.get(name) {
                    return Ok(socket.mtu_bytes());
                }
                let socket = EthernetSocket::open(name)?;
                let mtu_bytes = socket.mtu_bytes();
                self.ethernet.insert(name.clone(), socket);
                Ok(mtu_bytes)
            }
        }
    }

    pub(super) fn send(&mut self, to: &Neighbour, packet: &[u8]) -> io::Result<()> {
        match to {
            Neighbour::Udp(address) => {
                let Some(socket) = &self.udp else { return Err(io::ErrorKind::NotConnected.into()) };
                socket.send_to(packet, self.as_socket_knows(*address)).map(drop)
            }
            Neighbour::Ip(address) => {
                let socket = self.ip.get(&self.local_ip_for(*address));
                let socket = socket.ok_or(io::ErrorKind::NotConnected)?;
                socket.send_to(packet, SocketAddr::new(*address, 0)).map(drop)
            }
            Neighbour::Ethernet(name, mac) => {
                let Some(socket) = self.ethernet.get_mut(name) else {
                    return Err(io::ErrorKind::NotConnected.into());
                };
                socket.send(*mac, packet)
            }
        }
    }

    /// Shows what has come to `visit`, a bounded part of it at a time.
    pub(super) fn receive(&mut self, mut visit: impl FnMut(Neighbour, &[u8])) {
        let mut packet = [0; 1 << 16];
        if let Some(socket) = &self.udp {
            receive_datagrams(socket, &mut packet, |from, packet| {
                let from = SocketAddr::new(from.ip().to_canonical(), from.port());
                visit(Neighbour::Udp(from), packet);
            });
        }
        for (local, socket) in &self.ip {
            receive_datagrams(socket, &mut packet, |from, packet| {
                // A raw socket of IPv4 shows the header of IP, too.
                let packet = if local.is_ipv4() { behind_ip_header(packet) } else { Some(packet) };
                if let Some(packet) = packet {
                    visit(Neighbour::Ip(from.ip()), packet);
                }
            });
        }
        self.ethernet.retain(|name, socket| {
            for _ in 0..PACKETS_PER_TURN {
                if !socket.receive(|from, packet| visit(Neighbour::Ethernet(name.clone(), from), packet)) {
                    break;
                }
            }
            match socket.take_error() {
                Ok(()) => true,
                Err(error) => {
                    let text = format!("{name}: {error}; it is opened again once it is there");
                    (self.notify)(Event::Failure(text));
                    false
                }
            }
        });
    }

    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let of_ip = self.udp.iter().chain(self.ip.values()).map(AsFd::as_fd);
        of_ip.chain(self.ethernet.values().map(AsFd::as_fd))
    }

    /// The local address of links over IP alone to this one.
    fn local_ip_for(&self, address: IpAddr) -> IpAddr {
        match address {
            _ if self.udp_address.is_ipv4() == address.is_ipv4() => self.udp_address.ip(),
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// A socket of IPv6 knows addresses of IPv4 in its own way.
    fn as_socket_knows(&self, address: SocketAddr) -> SocketAddr {
        match (self.udp_address, address.ip()) {
            (SocketAddr::V6(_), IpAddr::V4(ip)) => {
                SocketAddr::new(ip.to_ipv6_mapped().into(), address.port())
            }
            _ => address,
        }
    }
}

/// Shows what has come to a socket, a bounded part of it at a time.
fn receive_datagrams(socket: &UdpSocket, packet: &mut [u8], mut visit: impl FnMut(SocketAddr, &[u8])) {
    for _ in 0..PACKETS_PER_TURN {
        // An error of an earlier packet, such as a port that is closed, is read here and gone.
        match socket.recv_from(packet) {
            Ok((len, from)) => visit(from, packet.get(..len).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(_) => {}
        }
    }
}
