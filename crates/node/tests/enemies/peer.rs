//! The far end of a socket to a node: well-behaved or not, as the test wants.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use packet::ndn::lp::LpPacketView;
use packet::ndn::tlv;
use packet::ndn::{DataView, InterestBuilder};
use packet::{Buffer, Data, Interest, Name};

/// Where a node listens.
#[derive(Clone, Debug)]
pub(crate) enum Listener {
    Unix(PathBuf),
    Tcp(SocketAddr),
    Udp(SocketAddr),
    WebSocket(SocketAddr),
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// A socket to a node.
pub(crate) struct Peer {
    socket: Socket,
    /// What was read and is no whole frame yet.
    read: Vec<u8>,
    /// Whether frames travel as messages of a WebSocket.
    as_messages: bool,
}

/// What a browser says first.
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// A message of a WebSocket's client. The mask is all zeros, which changes nothing and is allowed.
pub(crate) fn message(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![first];
    match payload.len() {
        length @ 0..126 => message.push(0x80 | length as u8),
        length => {
            message.push(0x80 | 126);
            message.extend((length as u16).to_be_bytes());
        }
    }
    message.extend([0; 4]);
    message.extend(payload);
    message
}

/// A wait at a socket, before time is looked at again.
const TIMEOUT: Duration = Duration::from_millis(20);

impl Peer {
    /// Connects from one address of this host.
    pub(crate) fn connect_from(from: IpAddr, place: &Listener) -> io::Result<Self> {
        let socket = match place {
            Listener::Udp(address) => {
                let socket = UdpSocket::bind((from, 0))?;
                socket.connect(address)?;
                Socket::Udp(socket)
            }
            Listener::Tcp(address) => {
                let socket = socket2::Socket::new(
                    socket2::Domain::for_address(*address),
                    socket2::Type::STREAM,
                    None,
                )?;
                socket.bind(&SocketAddr::new(from, 0).into())?;
                socket.connect(&(*address).into())?;
                Socket::Tcp(socket.into())
            }
            Listener::Unix(_) | Listener::WebSocket(_) => return Err(io::ErrorKind::Unsupported.into()),
        };
        match &socket {
            Socket::Tcp(socket) => socket.set_read_timeout(Some(TIMEOUT))?,
            Socket::Udp(socket) => socket.set_read_timeout(Some(TIMEOUT))?,
            Socket::Unix(_) => {}
        }
        Ok(Peer { socket, read: Vec::new(), as_messages: false })
    }

    pub(crate) fn connect(place: &Listener) -> io::Result<Self> {
        let socket = match place {
            Listener::Unix(path) => Socket::Unix(UnixStream::connect(path)?),
            Listener::Tcp(address) | Listener::WebSocket(address) => {
                let socket = TcpStream::connect(address)?;
                socket.set_nodelay(true)?;
                Socket::Tcp(socket)
            }
            Listener::Udp(address) => {
                let socket = UdpSocket::bind("127.0.0.1:0")?;
                socket.connect(address)?;
                Socket::Udp(socket)
            }
        };
        let mut peer = Peer { socket, read: Vec::new(), as_messages: false };
        match &peer.socket {
            Socket::Unix(socket) => socket.set_read_timeout(Some(TIMEOUT))?,
            Socket::Tcp(socket) => socket.set_read_timeout(Some(TIMEOUT))?,
            Socket::Udp(socket) => socket.set_read_timeout(Some(TIMEOUT))?,
        }
        if matches!(place, Listener::WebSocket(_)) {
            peer.send_raw(REQUEST)?;
            peer.receive_answer()?;
            peer.as_messages = true;
        }
        Ok(peer)
    }

    /// Reads what a WebSocket's server answers to the request.
    fn receive_answer(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(end) = self.read.windows(4).position(|end| end == b"\r\n\r\n") {
                self.read.drain(..end + 4);
                return Ok(());
            }
            match self.read_some() {
                Ok(0) => return Err(io::ErrorKind::ConnectionReset.into()),
                Ok(_) => {}
                Err(error) if is_about_time(&error) && Instant::now() < deadline => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a frame.
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if self.as_messages { self.send_raw(&message(0x82, frame)) } else { self.send_raw(frame) }
    }

    /// Sends bytes: one datagram, or a piece of a stream.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.socket {
            Socket::Unix(socket) => socket.write_all(bytes),
            Socket::Tcp(socket) => socket.write_all(bytes),
            Socket::Udp(socket) => socket.send(bytes).map(drop),
        }
    }

    /// Sends a frame to a unix socket if the system takes it at once.
    pub(crate) fn send_if_room(&mut self, frame: &[u8]) -> io::Result<()> {
        let Socket::Unix(socket) = &mut self.socket else { return Err(io::ErrorKind::Unsupported.into()) };
        socket.set_write_timeout(Some(TIMEOUT))?;
        socket.write_all(frame)
    }

    /// Another handle to the same stream, from which nothing has been read yet.
    pub(crate) fn another(&self) -> Peer {
        let socket = match &self.socket {
            Socket::Unix(socket) => Socket::Unix(socket.try_clone().unwrap()),
            Socket::Tcp(socket) => Socket::Tcp(socket.try_clone().unwrap()),
            Socket::Udp(socket) => Socket::Udp(socket.try_clone().unwrap()),
        };
        Peer { socket, read: Vec::new(), as_messages: self.as_messages }
    }

    /// Says that nothing more will be sent over a stream.
    pub(crate) fn finish_sending(&mut self) {
        // One that the node has closed already is finished, too.
        let _ = match &self.socket {
            Socket::Unix(socket) => socket.shutdown(std::net::Shutdown::Write),
            Socket::Tcp(socket) => socket.shutdown(std::net::Shutdown::Write),
            Socket::Udp(_) => Ok(()),
        };
    }

    /// Our address, for faces to be told by.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match &self.socket {
            Socket::Unix(_) => None,
            Socket::Tcp(socket) => socket.local_addr().ok(),
            Socket::Udp(socket) => socket.local_addr().ok(),
        }
    }

    /// Reads once; `Ok(0)` means that the node has closed.
    fn read_some(&mut self) -> io::Result<usize> {
        let mut piece = [0; 16 << 10];
        let read = match &mut self.socket {
            Socket::Unix(socket) => socket.read(&mut piece),
            Socket::Tcp(socket) => socket.read(&mut piece),
            Socket::Udp(socket) => socket.recv(&mut piece),
        }?;
        self.read.extend_from_slice(piece.get(..read).unwrap_or_default());
        Ok(read)
    }

    /// The next frame; `None` when there is none until `deadline`, or the node has closed.
    pub(crate) fn receive(&mut self, deadline: Instant) -> Option<Vec<u8>> {
        loop {
            if self.as_messages {
                if let Some((opcode, payload, end)) = server_message(&self.read) {
                    let payload = payload.to_vec();
                    self.read.drain(..end);
                    if opcode == 2 {
                        return Some(payload);
                    }
                    continue;
                }
            } else if let Ok(Some(first)) = tlv::Reader::new(&self.read, "frame").element() {
                let end = first.end();
                return Some(self.read.drain(..end).collect());
            }
            match self.read_some() {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) if is_about_time(&error) && Instant::now() < deadline => {}
                // A refused datagram is an error of the past.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(_) => return None,
            }
        }
    }

    /// Whether the node closes this connection before `deadline`.
    pub(crate) fn is_closed_by(&mut self, deadline: Instant) -> bool {
        loop {
            match self.read_some() {
                Ok(0) => return true,
                Ok(_) => self.read.clear(),
                Err(error) if is_about_time(&error) => {}
                Err(_) => return true,
            }
            if Instant::now() >= deadline {
                return false;
            }
        }
    }

    /// The next Interest, and whatever stands around it is left aside.
    pub(crate) fn receive_interest(&mut self, deadline: Instant) -> Option<Interest> {
        while let Some(frame) = self.receive(deadline) {
            let fragment =
                LpPacketView::decode(&frame).ok().and_then(|view| view.fragment.map(<[u8]>::to_vec));
            if let Some(Ok(interest)) = fragment.map(|bytes| Interest::decode_ndn(Buffer::from(bytes))) {
                return Some(interest);
            }
        }
        None
    }

    /// Asks for `name` until something answers, at the latest at `deadline`.
    pub(crate) fn ask(&mut self, interest: &InterestBuilder, deadline: Instant) -> Option<Data> {
        let mut nonce = 1;
        while Instant::now() < deadline {
            let interest = interest.clone().nonce(nonce).build().unwrap();
            nonce += 1;
            self.send(interest.wire()).ok()?;
            let try_until = deadline.min(Instant::now() + Duration::from_millis(1000));
            while let Some(frame) = self.receive(try_until) {
                let Ok(LpPacketView { fragment: Some(bytes), nack: None, .. }) = LpPacketView::decode(&frame)
                else {
                    continue;
                };
                if DataView::decode(bytes).is_ok_and(|data| is_answer(interest.name(), data.name())) {
                    return Data::decode_ndn(Buffer::copy_from(bytes)).ok();
                }
            }
        }
        None
    }
}

/// The first message of a WebSocket's server: opcode, payload, and where it ends.
fn server_message(bytes: &[u8]) -> Option<(u8, &[u8], usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    let (length, start) = match second {
        126 => (usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
        short => (usize::from(short), 2),
    };
    Some((first & 15, bytes.get(start..start + length)?, start + length))
}

fn is_answer(asked: packet::NameRef<'_>, got: packet::NameRef<'_>) -> bool {
    asked.is_prefix_of(got)
}

fn is_about_time(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// An Interest for a name that nobody has asked for before.
pub(crate) fn interest(name: &Name) -> InterestBuilder {
    InterestBuilder::new(name.clone()).lifetime(packet::time::Duration::from_secs(4))
}
